"""Sinks that get no rows: what becomes of their targets, and what the report says of them."""

import pyarrow.parquet as pq
import pytest

from gpuetl import InvalidPipeline, Pipeline, RunFailed, RunOptions, SinkExists, col, loads
from sink_files import leftovers, refuse_moves
from tables import table, write_source

TYPES = {"k": "string", "x": "int64"}
ROWS = [("a", 1), ("b", 2), ("a", 3)]
TARGETS = [
    ("out.parquet", {"mode": "overwrite"}),
    ("out", {"mode": "overwrite"}),
    ("out", {"mode": "overwrite", "partition_by": "k"}),
    ("out", {"mode": "append"}),
    ("out", {"mode": "replace_partitions", "partition_by": "k"}),
]


@pytest.fixture
def empty_run(pipeline, tmp_path, engine):
    """Writes rows to a sink, and another sink beside it; then runs again with none for the first."""

    def run(path, **keys):
        first = Pipeline("first", root=tmp_path)
        keys = {"partition_by": (), **keys}
        write_source(first, "t", table(TYPES, *ROWS)).write_parquet("out", path, **keys | {"on_empty": "write"})
        first.run(engine="pandas")
        t = write_source(pipeline, "t", table(TYPES, *ROWS))
        t.filter(col("x") > 5).write_parquet("out", path, **keys)
        t.write_parquet("other", "other")
        return pipeline.run(engine=engine, keep=[], options=RunOptions(partition_rows=2)).report

    return run


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rows_at(path):
    files = [path] if path.is_file() else sorted(path.rglob("*.parquet"))
    return sum(pq.read_table(file, partitioning=None).num_rows for file in files)


@pytest.mark.part(4)
@pytest.mark.parametrize(
    ("path", "keys", "left", "told"),
    [
        (*TARGETS[0], 0, "{out} is empty now.  Set on_empty: keep"),
        (*TARGETS[1], 0, "{out} is empty now.  Set on_empty: keep"),
        (*TARGETS[2], 0, "{out} is empty now.  Set on_empty: keep"),
        (*TARGETS[3], 3, "none were added to {out}.  Set on_empty: keep"),
        (*TARGETS[4], 3, "no partition of {out} has changed.  Set on_empty: error"),
    ],
)
def test_a_sink_without_rows_is_written_with_a_warning(empty_run, tmp_path, path, keys, left, told):
    report = empty_run(path, **keys)
    (warning,) = report.warnings
    assert warning.startswith(f"sink 'out' got no rows: {told.format(out=tmp_path / path)}")
    assert rows_at(tmp_path / path) == left
    assert rows_at(tmp_path / "other") == 3
    assert [sink.written for sink in report.sinks] == [keys["mode"] != "replace_partitions", True]


@pytest.mark.part(2)
@pytest.mark.parametrize(("path", "keys"), TARGETS)
def test_keep_leaves_the_target_and_writes_the_other_sinks(empty_run, tmp_path, path, keys):
    report = empty_run(path, on_empty="keep", **keys)
    assert f"sink 'out' got no rows: {tmp_path / path} was left as it is (on_empty: keep)" in report.notes
    assert not report.warnings
    assert rows_at(tmp_path / path) == 3
    assert rows_at(tmp_path / "other") == 3
    assert next((sink.name, sink.rows, sink.files, sink.written) for sink in report.sinks) == ("out", 0, 0, False)
    assert not leftovers(tmp_path)


@pytest.mark.part(2)
@pytest.mark.parametrize(("path", "keys"), TARGETS)
def test_error_ends_the_run_before_any_sink_changes(empty_run, tmp_path, path, keys):
    with pytest.raises(RunFailed, match=r"sink 'out': got no rows, and has on_empty: error\.  No sink has changed"):
        empty_run(path, on_empty="error", **keys)
    assert rows_at(tmp_path / path) == 3
    assert not (tmp_path / "other").exists()
    assert not leftovers(tmp_path)


def test_keep_makes_no_target(source, pipeline, tmp_path, engine):
    source(table(TYPES)).write_parquet("out", "deep/out", on_empty="keep")
    report = pipeline.run(engine=engine, keep=[]).report
    assert report.notes == (f"sink 'out' got no rows: {tmp_path}/deep/out was not made (on_empty: keep)",)
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


def test_keep_changes_nothing_where_a_later_sink_cannot_be_moved(pipeline, tmp_path, monkeypatch):
    t = write_source(pipeline, "t", table(TYPES, *ROWS))
    t.filter(col("x") > 5).write_parquet("out", "out", on_empty="keep")
    t.write_parquet("other", "other")
    refuse_moves(monkeypatch, lambda old, new: new.name == "other")
    with pytest.raises(RunFailed, match="No sink has changed"):
        pipeline.run(engine="pandas")
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


def test_a_header_alone_is_an_input_without_rows(tmp_path):
    (tmp_path / "in.csv").write_text("x\n")
    text = """
        gpuetl: 1
        name: p
        sources: {t: {csv: in.csv, schema: {x: int64}}}
        sinks: {out: {from: t, csv: out.csv, on_empty: write}}
        """
    report = loads(text, tmp_path).run(engine="pandas", keep=[]).report
    assert report.warnings[0].startswith(f"sink 'out' got no rows: {tmp_path}/out.csv is empty now")
    assert (tmp_path / "out.csv").read_text() == '"x"\n'


def test_mode_error_refuses_a_target_whatever_is_to_be_written(source, pipeline, tmp_path):
    (tmp_path / "out").mkdir()
    source(table(TYPES)).write_parquet("out", "out", on_empty="keep")
    with pytest.raises(SinkExists):
        pipeline.run(engine="pandas")


def test_on_empty_takes_one_of_three_words(source):
    with pytest.raises(InvalidPipeline, match="on_empty: takes one of write, keep, error, got 'skip'"):
        source(table(TYPES)).write_parquet("out", "out", on_empty="skip")


def test_a_folder_of_which_partitions_are_replaced_holds_no_other_files(source, pipeline, tmp_path):
    (tmp_path / "out/k=a").mkdir(parents=True)
    (tmp_path / "out/k=a/notes.txt").write_text("mine")
    source(table(TYPES, *ROWS)).write_parquet("out", "out", mode="replace_partitions", partition_by="k")
    with pytest.raises(
        RunFailed,
        match=r"/out holds 1 file that gpuetl did not write, or that changed since: k=a/notes\.txt\.  Set keep_f",
    ):
        pipeline.run(engine="pandas")
    assert (tmp_path / "out/k=a/notes.txt").read_text() == "mine"
