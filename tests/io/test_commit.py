"""Sinks: what they write where, and that nothing changes at a target before all is written."""

import os
from concurrent.futures import Executor, Future
from datetime import date, datetime
from decimal import Decimal

import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from gpuetl import InvalidPipeline, Pipeline, RunFailed, RunOptions, SinkExists, col
from gpuetl.io.staging import FileWriter, SinkWriter
from gpuetl.places.target import Target
from gpuetl.testing import assert_tables_equal
from messages import without_place
from sink_files import OF_EARLIER_VERSION, leftovers, refuse_moves
from sink_files import sink_files as files
from tables import NAN, table, write_source

TYPES = {"k": "string", "x": "int64"}
ROWS = [("a", 1), ("b", 2), ("a", 3), (None, 4), ("b", 5)]


@pytest.fixture
def t(source):
    return source(table(TYPES, *ROWS))


def run(t, **options):
    return t.pipeline.run(engine="pandas", options=RunOptions(partition_rows=2, **options))


def rewritten(pipeline, name, rows, **sink):
    """Return a pipeline beside another, which writes other rows to the same targets."""
    other = Pipeline("other", root=pipeline.root)
    write_source(other, name, rows).write_parquet("out", **sink)
    return other


def test_a_path_with_the_format_s_suffix_is_one_file(t, tmp_path):
    t.write_parquet("out", "deep/out.parquet")
    report = run(t).report.sinks[0]
    assert_tables_equal(pq.read_table(tmp_path / "deep/out.parquet"), table(TYPES, *ROWS), ordered=True)
    assert (report.name, report.rows, report.files) == ("out", 5, 1)
    assert not leftovers(tmp_path)


def test_another_path_is_a_folder_with_a_file_a_partition(t, tmp_path):
    t.write_parquet("out", "out")
    report = run(t).report.sinks[0]
    assert (report.rows, report.files) == (5, 3)
    assert len(files(tmp_path / "out")) == 3
    assert_tables_equal(pq.read_table(tmp_path / "out"), table(TYPES, *ROWS), ordered=True)


class LastFirst(Executor):
    """Does the second of two things before the first."""

    def __init__(self):
        self.waiting = []

    def submit(self, function, *arguments):
        future = Future()
        self.waiting.insert(0, (future, function, arguments))
        for found, waiting, given in self.waiting if len(self.waiting) == 2 else ():
            found.set_result(waiting(*given))
        return future


def test_files_are_known_in_the_order_of_their_rows(tmp_path):
    """Whichever is written first: on a cluster the driver numbers them anew."""
    files = FileWriter(lambda text, path: path.write_text(text), parts=str.split)
    writer = SinkWriter(Target("out", "csv", tmp_path / "out"), "run", files, LastFirst())
    writer.prepare()
    writer.write("first second", 2)
    writer.finish()
    assert [(writer.staged.new / file.name).read_text() for file in writer.files] == ["first", "second"]
    assert [file.size for file in writer.files] == [5, 6]


@pytest.mark.parametrize("path", ["out.parquet", "out"])
def test_zero_rows_are_written_with_their_schema(source, tmp_path, path):
    t = source(table(TYPES))
    t.write_parquet("out", path)
    run(t)
    assert_tables_equal(pq.read_table(tmp_path / path), table(TYPES))


def test_sort_by_orders_the_rows(t, tmp_path):
    t.write_parquet("out", "out.parquet", sort_by="x desc")
    run(t)
    assert pq.read_table(tmp_path / "out.parquet").column("x").to_pylist() == [5, 4, 3, 2, 1]


def test_csv_has_a_header_and_tells_null_from_an_empty_string(source, tmp_path):
    t = source(table(TYPES, ("a", 1), (None, None), ("", 2), ('quo"te, comma\nline', 3)))
    t.write_csv("out", "out.csv")
    run(t)
    assert (tmp_path / "out.csv").read_text() == '"k","x"\n"a",1\n,\n"",2\n"quo""te, comma\nline",3\n'


def test_partition_columns_are_folders_and_not_in_the_files(t, tmp_path):
    t.write_parquet("out", "out", partition_by="k")
    run(t)
    folders = {name.split("/")[0] for name in files(tmp_path / "out")}
    assert folders == {"k=a", "k=b", "k=__HIVE_DEFAULT_PARTITION__"}
    found = {
        folder: sorted(pq.read_table(tmp_path / "out" / folder, partitioning=None).column("x").to_pylist())
        for folder in folders
    }
    assert found == {"k=a": [1, 3], "k=b": [2, 5], "k=__HIVE_DEFAULT_PARTITION__": [4]}


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("string", ["a/b", "..", "", " ", "é=%", "__HIVE_DEFAULT_PARTITION__", "_hidden", ".", "a:b*?"]),
        ("int64", [1, -2, 2**63 - 1]),
        ("float64", [0.5, -1e300, NAN, 0.1]),
        ("bool", [True, False]),
        ("date", [date(2024, 2, 29), date(1, 1, 1)]),
        ("timestamp", [datetime(2024, 1, 1, 12, 30, 0, 1), datetime(1969, 12, 31)]),
        ("decimal(10,2)", [Decimal("1.50"), Decimal("-100.00")]),
    ],
)
def test_partition_values_of_every_type_come_back(pipeline, tmp_path, dtype, values):
    types = {"x": "int64", "k": dtype}
    rows = [(i, value) for i, value in enumerate([*values, None])]
    write_source(pipeline, "t", table(types, *rows)).write_parquet("out", "out", partition_by="k")
    pipeline.run(engine="pandas", options=RunOptions(partition_rows=2))
    again = Pipeline("again", root=tmp_path)
    again.read_parquet("back", "out", partitions={"k": dtype}).select("x", "k").stage("s")
    assert_tables_equal(again.run(engine="pandas")["s"].to_arrow(), table(types, *rows))


@pytest.mark.parametrize("name", ["_k", ".k", "__", "..", "_"])
def test_a_partition_column_s_name_hides_no_file(source, pipeline, tmp_path, name):
    """Readers leave out what begins with a dot, and with an underscore but for partitions."""
    rows = table({"x": "int64", name: "string"}, (1, "a"), (2, ".b"), (3, "_c"), (4, None))
    source(rows).write_parquet("out", "out", partition_by=name)
    pipeline.run(engine="pandas")
    back = Pipeline("back", root=tmp_path)
    back.read_parquet("out", "out", partitions={name: "string"}).select("x", name).stage("all")
    assert_tables_equal(back.run(engine="pandas")["all"].to_arrow(), rows)


def test_several_partition_columns_nest_and_their_names_may_hold_anything(source, pipeline, tmp_path):
    types = {"a/b": "int64", "c=d": "string", "x": "int64"}
    rows = [(1, "p", 1), (1, None, 2), (None, "p", 3)]
    source(table(types, *rows)).write_parquet("out", "out", partition_by=["a/b", "c=d"])
    pipeline.run(engine="pandas")
    again = Pipeline("again", root=tmp_path)
    back = again.read_parquet("back", "out", partitions={"a/b": "int64", "c=d": "string"})
    back.select("a/b", "c=d", "x").stage("s")
    assert_tables_equal(again.run(engine="pandas")["s"].to_arrow(), table(types, *rows))


@pytest.mark.parametrize("path", ["out.parquet", "out"])
def test_mode_error_refuses_a_target_that_exists(t, tmp_path, path):
    t.write_parquet("out", path)
    run(t)
    before = files(tmp_path)
    with pytest.raises(
        SinkExists,
        match=r"sink 'out': .*out.* exists\.  Choose mode: overwrite, append or replace_partitions",
    ):
        run(t)
    assert files(tmp_path) == before
    assert not leftovers(tmp_path)


@pytest.mark.parametrize("path", ["out.parquet", "out"])
@pytest.mark.parametrize("partition_by", [(), ("k",)])
def test_mode_overwrite_leaves_only_the_new_rows(t, pipeline, tmp_path, path, partition_by):
    t.write_parquet("out", path, mode="overwrite", partition_by=partition_by)
    run(t)
    new = rewritten(pipeline, "u", table(TYPES, ("c", 9)), path=path, mode="overwrite", partition_by=partition_by)
    new.run(engine="pandas")
    assert pq.read_table(tmp_path / path).column("x").to_pylist() == [9]
    assert not leftovers(tmp_path)


@pytest.mark.parametrize("partition_by", [(), ("k",)])
def test_mode_append_adds_files(t, pipeline, tmp_path, partition_by):
    t.write_parquet("out", "out", mode="append", partition_by=partition_by)
    run(t)
    before = files(tmp_path / "out")
    new = rewritten(pipeline, "u", table(TYPES, ("a", 9)), path="out", mode="append", partition_by=partition_by)
    new.run(engine="pandas")
    assert set(before) < set(files(tmp_path / "out"))
    assert sorted(pq.read_table(tmp_path / "out").column("x").to_pylist()) == [1, 2, 3, 4, 5, 9]
    assert not leftovers(tmp_path)


def test_mode_replace_partitions_replaces_only_those_that_it_writes(t, pipeline, tmp_path):
    t.write_parquet("out", "out", mode="replace_partitions", partition_by="k")
    run(t)
    rows = table(TYPES, ("a", 9), (None, 8))
    rewritten(pipeline, "u", rows, path="out", mode="replace_partitions", partition_by=["k"]).run(engine="pandas")
    assert sorted(pq.read_table(tmp_path / "out").column("x").to_pylist()) == [2, 5, 8, 9]
    assert not leftovers(tmp_path)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"path": "out", "mode": "replace_partitions"}, "mode replace_partitions needs partition_by"),
        ({"path": "out.parquet", "mode": "append"}, "mode append needs a folder"),
        ({"path": "out", "partition_by": ["k", "x"]}, "partition_by takes every column"),
        ({"path": "out", "partition_by": ["z"]}, "unknown column 'z'"),
        ({"path": "out", "sort_by": ["z"]}, "unknown column 'z'"),
    ],
)
def test_keys_that_do_not_fit_are_refused(t, keys, message):
    t.write_parquet("out", **keys)
    with pytest.raises(InvalidPipeline, match=message):
        t.pipeline.plan()


def test_two_sinks_of_one_path_are_refused(t):
    t.write_parquet("one", "out")
    t.write_parquet("two", "out")
    with pytest.raises(InvalidPipeline, match="writes the same path as sink 'one'"):
        t.pipeline.plan()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("out.parquet", "is a folder, and the sink writes a file"),
        ("out", "is a file, and the sink writes a folder"),
    ],
)
def test_a_file_and_a_folder_do_not_replace_each_other(t, tmp_path, path, message):
    (tmp_path / path).mkdir() if path.endswith("parquet") else (tmp_path / path).write_text("mine")
    t.write_parquet("out", path, mode="overwrite")
    with pytest.raises(RunFailed, match=message):
        run(t)


def test_nothing_changes_at_any_target_when_a_later_sink_fails(t, tmp_path):
    (tmp_path / "first.parquet").write_text("before")
    t.write_parquet("first", "first.parquet", mode="overwrite")
    t.write_parquet("second", "second")
    t.with_columns(y=col("k").cast("int64")).write_parquet("third", "third")
    with pytest.raises(RunFailed, match="column 'y'"):
        run(t)
    assert (tmp_path / "first.parquet").read_text() == "before"
    assert files(tmp_path) == ["first.parquet", "t.parquet"]
    assert not leftovers(tmp_path)


def test_a_sink_that_exists_stops_the_run_before_any_other_is_written(t, tmp_path):
    (tmp_path / "second.parquet").write_text("before")
    t.write_parquet("first", "first.parquet")
    t.write_parquet("second", "second.parquet")
    with pytest.raises(SinkExists):
        run(t)
    assert files(tmp_path) == ["second.parquet", "t.parquet"]
    assert not leftovers(tmp_path)


def test_a_folder_that_cannot_be_made_is_told(t, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    t.write_parquet("out", "file/out.parquet")
    with pytest.raises(RunFailed, match=r"sink 'out': cannot write beside .*out\.parquet: "):
        run(t)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_told(t, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    t.write_parquet("out", "locked/out.parquet")
    with pytest.raises(RunFailed, match="cannot write beside"):
        run(t)


def test_null_and_its_folder_s_name_are_two_partitions(source, pipeline, tmp_path):
    source(table(TYPES, (None, 1), ("__HIVE_DEFAULT_PARTITION__", 2))).write_parquet("out", "out", partition_by="k")
    pipeline.run(engine="pandas")
    assert {name.split("/")[0] for name in files(tmp_path / "out")} == {
        "k=__HIVE_DEFAULT_PARTITION__", "k=%5F%5FHIVE%5FDEFAULT%5FPARTITION%5F%5F",
    }  # fmt: skip


def test_a_run_s_report_has_the_first_rows_of_each_sink(t):
    t.write_parquet("out", "out.parquet")
    head = run(t, head_rows=3).report.head["out"]
    assert_tables_equal(head, table(TYPES, *ROWS[:3]), ordered=True)


def test_csv_files_read_back_by_others(t, tmp_path):
    t.write_csv("out", "out.csv")
    run(t)
    back = csv.read_csv(
        tmp_path / "out.csv", convert_options=csv.ConvertOptions(strings_can_be_null=True, null_values=[""])
    )
    assert_tables_equal(back, table(TYPES, *ROWS), ordered=True)


@pytest.fixture
def second_is_blocked(t, pipeline, tmp_path):
    """Two sinks whose targets exist; the second cannot be committed, since a file stands where a folder belongs."""
    t.write_parquet("first", "first", mode="overwrite")
    run(t)
    (tmp_path / "second").mkdir()
    (tmp_path / "second/k=b").write_text("in the way")
    (tmp_path / "second/k=a").mkdir()
    (tmp_path / "second/k=a" / OF_EARLIER_VERSION).write_text("before")
    return Pipeline("again", root=tmp_path)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"mode": "overwrite"}, {"mode": "append"}),
        ({"mode": "append"}, {"mode": "replace_partitions"}),
        ({"mode": "replace_partitions", "partition_by": ["k"]}, {"mode": "append"}),
        ({"path": "deep/new/first.parquet"}, {"mode": "append"}),
    ],
)
def test_no_sink_changes_when_the_commit_of_a_later_one_fails(second_is_blocked, tmp_path, first, second):
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    t = write_source(second_is_blocked, "t", table(TYPES, *ROWS))
    t.write_parquet("first", **{"path": "first", **first})
    t.write_parquet("second", "second", partition_by=["k"], **second)
    with pytest.raises(RunFailed, match=r"sink 'second': cannot move the files to .*second: .*\.  No sink has changed"):
        run(t)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "second", "t.parquet"]
    assert not leftovers(tmp_path)


def test_a_failed_run_leaves_no_folder_behind(t, tmp_path):
    t.write_parquet("one", "deep/er/one.parquet")
    t.with_columns(y=col("k").cast("int64")).write_parquet("two", "deep/er/still/two")
    with pytest.raises(RunFailed, match="column 'y'"):
        run(t)
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


@pytest.mark.parametrize("path", ["keep.yaml", "deep/er/notes.txt"])
def test_a_folder_that_holds_other_files_is_not_overwritten(t, tmp_path, path):
    (tmp_path / "out" / path).parent.mkdir(parents=True)
    (tmp_path / "out" / path).write_text("mine")
    t.write_parquet("out", "out", mode="overwrite")
    with pytest.raises(
        RunFailed,
        match=rf"sink 'out': .*/out holds 1 file that gpuetl did not write, or that changed since: {path}\.  Set keep_f",
    ):
        run(t)
    assert (tmp_path / "out" / path).read_text() == "mine"
    assert not leftovers(tmp_path)


@pytest.mark.parametrize(("path", "exists"), [("out.parquet", True), ("out.parquet", False), ("out", True)])
def test_a_link_is_written_through(t, tmp_path, path, exists):
    (tmp_path / "far").mkdir()
    (tmp_path / path).symlink_to(tmp_path / "far" / path)
    if exists:
        t.write_parquet("out", f"far/{path}")
        run(t)
    again = Pipeline("again", root=tmp_path)
    again.read_parquet("t", "t.parquet").limit(1).write_parquet("out", path, mode="overwrite")
    again.run(engine="pandas")
    assert (tmp_path / path).is_symlink()
    assert pq.read_table(tmp_path / "far" / path).num_rows == 1
    assert [file.name for file in (tmp_path / "far").iterdir()] == [path]
    assert not leftovers(tmp_path)


@pytest.fixture
def disk_that_fails(t, tmp_path, monkeypatch):
    """Two sinks over old files; the second cannot be moved, nor can anything be moved back from then on."""
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / OF_EARLIER_VERSION).write_text("before")
    t.write_parquet("first", "first", mode="overwrite")
    t.write_parquet("second", "second")
    broken = []

    def is_broken(old, new):
        broken.extend([new] * (new.name == "second"))
        return bool(broken)

    refuse_moves(monkeypatch, is_broken)
    return t


def test_an_undo_that_fails_says_where_the_old_files_are(disk_that_fails, tmp_path):
    with pytest.raises(RunFailed) as caught:
        run(disk_that_fails)
    (kept,) = tmp_path.glob(".first.*/new")
    assert (kept / OF_EARLIER_VERSION).read_text() == "before"
    assert without_place(str(caught.value)) == (
        f"sink 'second': cannot move the files to {tmp_path}/second: Input/output error.  "
        f"Putting things back failed as well: {tmp_path}/first: Input/output error.  "
        f"Nothing is lost: the next run, or gpuetl recover {tmp_path}/first {tmp_path}/second, goes on with it"
    )


def test_the_next_run_goes_on_with_an_undo_that_failed(disk_that_fails, tmp_path, monkeypatch):
    with pytest.raises(RunFailed):
        run(disk_that_fails)
    monkeypatch.undo()
    assert not (tmp_path / "first" / OF_EARLIER_VERSION).exists()
    (warning,) = run(disk_that_fails).report.warnings
    assert "died while it changed its sinks.  Its commit was undone" in warning
    assert pq.read_table(tmp_path / "second").num_rows == 5
    assert not leftovers(tmp_path)
