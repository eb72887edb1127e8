"""Files of sources that change while a run goes on: no run mixes what was planned with what is there later."""

import os
import pickle
import re
from pathlib import Path
from threading import Lock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import InvalidPipeline, Pipeline, RunFailed, expr, loads
from gpuetl.engines.registry import load_backend
from gpuetl.executors.execution import Execution
from gpuetl.formats import footers, parquet_rows
from gpuetl.io.data_file import DataFile
from gpuetl.places import file_state
from gpuetl.places.file_state import DatasetError
from gpuetl.places.local.local_file import LocalFileState
from gpuetl.places.open_file import opened, read_by_path

TYPES = {"x": "int64", "y": "int64"}
OTHER = 10**6
LONG_AGO_NS = 1_600_000_000_123_456_789


def write(path, first):
    """Write 8 rows, in two row groups; files of equally many digits have one size."""
    rows = pa.table({"x": range(first, first + 8), "y": [1] * 8}, pa.schema({"x": pa.int64(), "y": pa.int64()}))
    if path.suffix == ".csv":
        path.write_text("x,y\n" + "".join(f"{x},1\n" for x in rows.column("x").to_pylist()))
    else:
        pq.write_table(rows, path, row_group_size=4, compression="none")


def replaced(path):
    """Put another file in its place, of the same size and time: only the inode differs."""
    before, new = path.stat(), path.with_name("new")
    write_as(path.suffix, new, OTHER)
    os.utime(new, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert new.stat().st_size == before.st_size
    new.replace(path)


def write_as(suffix, path, first):
    written = path.with_name(f"written{suffix}")
    write(written, first)
    written.rename(path)


def rewritten(path):
    """Write other rows into the same file, of the same size."""
    write(Path(f"{path}.new{path.suffix}"), OTHER)
    path.write_bytes(Path(f"{path}.new{path.suffix}").read_bytes())
    Path(f"{path}.new{path.suffix}").unlink()


def appended(path):
    with path.open("ab") as file:
        file.write(b"9,9\n")


def truncated(path):
    os.truncate(path, path.stat().st_size // 2)


def linked(path):
    """Put a link to another file in its place."""
    write_as(path.suffix, path.with_name("elsewhere"), OTHER)
    path.unlink()
    path.symlink_to(path.with_name("elsewhere"))


CHANGES = {
    replaced: r"changed during the run: another file took its place$",
    rewritten: r"changed during the run: it was last modified at 20\d\d-.* UTC and is from 20\d\d-.* UTC now$",
    appended: r"changed during the run: its size was [\d,]+ bytes and is [\d,]+ now, it was last modified at ",
    truncated: r"changed during the run: its size was [\d,]+ bytes and is [\d,]+ now, it was last modified at ",
    linked: r"changed during the run: another file took its place, it was last modified at ",
    Path.unlink: r"was deleted or moved during the run$",
}


def by_name(value):
    return getattr(value, "__name__", None)


@pytest.fixture
def lake(tmp_path):
    """Return a function that makes a pipeline of three files and a sink that is there already."""

    def make(suffix):
        folder = tmp_path / "lake"
        folder.mkdir()
        for number in range(3):
            path = folder / f"{number}.{suffix}"
            write(path, OTHER + 100 * (number + 1))
            os.utime(path, ns=(0, LONG_AGO_NS))  # clocks of file systems have ticks of some milliseconds
        pq.write_table(pa.table({"x": [0]}), tmp_path / "out.parquet")
        pipeline = Pipeline("test", root=tmp_path)
        read = pipeline.read_csv if suffix == "csv" else pipeline.read_parquet
        read("s", "lake", schema=TYPES).write_parquet("out", "out.parquet", mode="overwrite")
        return pipeline, folder

    return make


@pytest.fixture
def after_planning(monkeypatch):
    """Do something when a run is planned and nothing is read yet."""
    whole = Execution.run_to_fit

    def hook(action):
        def run(self, *arguments):
            action()
            return whole(self, *arguments)

        monkeypatch.setattr(Execution, "run_to_fit", run)

    return hook


def paths(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def refused(run, folder, name, message):
    """Assert that a run ends with the file's name and leaves nothing behind."""
    before = (folder / "out.parquet").read_bytes()
    with pytest.raises(RunFailed) as caught:
        run()
    first, *_, hint = str(caught.value).splitlines()
    assert re.search(rf"source 's': .*lake/{re.escape(name)} {message}", first)
    assert hint == "Run again when no other program changes the files of the source."
    assert (folder / "out.parquet").read_bytes() == before
    assert not [path for path in paths(folder) if "/." in f"/{path}"]


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("change", CHANGES, ids=by_name)
def test_a_file_that_changes_after_it_was_planned_ends_the_run(lake, after_planning, tmp_path, suffix, change):
    pipeline, folder = lake(suffix)
    after_planning(lambda: change(folder / f"2.{suffix}"))
    refused(lambda: pipeline.run(engine="pandas"), tmp_path, f"2.{suffix}", CHANGES[change])


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("change", [replaced, Path.unlink], ids=by_name)
def test_every_engine_compares_files_where_it_opens_them(
    lake, after_planning, engine, layout, tmp_path, suffix, change
):
    pipeline, folder = lake(suffix)
    after_planning(lambda: change(folder / f"1.{suffix}"))
    refused(lambda: pipeline.run(engine=engine, options=layout), tmp_path, f"1.{suffix}", CHANGES[change])


def after_reading(engine, monkeypatch, action):
    """Do something, once, when the engine has read rows of a file and not yet looked at it again."""
    if engine == "pandas":
        owner, name = parquet_rows.Reader, "columns"
    else:
        owner, name = type(load_backend(engine).machine), "read_parquet"
    whole, lock, done = getattr(owner, name), Lock(), []

    def read(*arguments, **options):
        rows = whole(*arguments, **options)
        with lock:  # threads read ahead
            if not done:
                done.append(action())
        return rows

    monkeypatch.setattr(owner, name, read)


@pytest.mark.parametrize("change", [rewritten, appended, truncated], ids=by_name)
def test_a_file_that_changes_while_it_is_read_ends_the_run(lake, local_engine, layout, monkeypatch, tmp_path, change):
    pipeline, folder = lake("parquet")
    for number in range(2):
        (folder / f"{number}.parquet").unlink()
    after_reading(local_engine, monkeypatch, lambda: change(folder / "2.parquet"))
    refused(lambda: pipeline.run(engine=local_engine, options=layout), tmp_path, "2.parquet", CHANGES[change])


@pytest.mark.parametrize("change", [appended, truncated], ids=by_name)
def test_an_error_of_the_reader_gives_way_to_the_change_that_caused_it(lake, monkeypatch, tmp_path, change):
    pipeline, folder = lake("parquet")

    def columns(*arguments):
        change(folder / "0.parquet")
        raise OSError("Unexpected end of stream")

    monkeypatch.setattr(parquet_rows.Reader, "columns", columns)
    refused(lambda: pipeline.run(engine="pandas"), tmp_path, "0.parquet", CHANGES[change])


@pytest.mark.parametrize("on_bad_row", ["fail", "null", "quarantine"])
def test_a_csv_file_that_becomes_shorter_while_bad_rows_are_looked_for_ends_the_run(
    lake, monkeypatch, tmp_path, on_bad_row
):
    """Mapped memory beyond the end of a file ends the process."""
    from gpuetl.formats.csv_records import CsvRecords

    _, folder = lake("csv")
    with (folder / "1.csv").open("a") as file:
        file.write("x\n" + "1,1\n" * 100_000)
    pipeline = Pipeline("test", root=tmp_path)
    s = pipeline.read_csv("s", "lake", TYPES, on_bad_row=on_bad_row)
    s.write_parquet("out", "out.parquet", mode="overwrite")
    if on_bad_row == "quarantine":
        pipeline.table("s.rejected").write_csv("bad", "bad.csv")
    whole = CsvRecords.is_utf8

    def is_utf8(self):
        os.truncate(folder / "1.csv", 10)
        return whole(self)

    monkeypatch.setattr(CsvRecords, "is_utf8", is_utf8)
    refused(lambda: pipeline.run(engine="pandas"), tmp_path, "1.csv", CHANGES[truncated])


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_file_that_vanishes_between_listing_and_opening_is_told(lake, suffix):
    pipeline, folder = lake(suffix)
    plan = pipeline.plan()
    (read,) = (node for node in plan.nodes if hasattr(node, "dataset"))
    assert len(read.dataset.files) == 3
    (folder / f"1.{suffix}").unlink()
    with pytest.raises(DatasetError, match=rf"lake/1\.{suffix} was deleted or moved during the run"):
        _ = read.dataset.row_groups


def test_a_kept_plan_is_for_files_in_their_state(lake, after_planning, monkeypatch, tmp_path):
    monkeypatch.setattr(footers, "SETTLED_NS", 0)
    pipeline, folder = lake("parquet")
    for _ in range(2):
        pipeline.run(engine="pandas")
    rewritten(folder / "0.parquet")
    pipeline.run(engine="pandas")
    assert pq.read_table(tmp_path / "out.parquet").column("x").to_pylist()[0] == OTHER
    after_planning(lambda: replaced(folder / "0.parquet"))
    refused(lambda: pipeline.run(engine="pandas"), tmp_path, "0.parquet", CHANGES[replaced])


def test_what_leaves_the_rows_as_they_are_is_no_change(lake, after_planning, tmp_path):
    pipeline, folder = lake("parquet")

    def touch():
        (folder / "0.parquet").chmod(0o600)
        os.link(folder / "0.parquet", tmp_path / "link")
        (folder / "1.parquet").read_bytes()
        write(folder / "3.parquet", OTHER)  # it was not there when the files were listed

    after_planning(touch)
    pipeline.run(engine="pandas")
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 24


def test_verify_compares_both_engines_on_the_same_files(lake, monkeypatch):
    from gpuetl.verify import verification

    pipeline, folder = lake("parquet")
    pipeline.table("s").filter(expr("x > 0")).stage("some")
    whole, done = verification.answers, []

    def answers(*arguments):
        if done:
            replaced(folder / "0.parquet")
        done.append(1)
        return whole(*arguments)

    monkeypatch.setattr(verification, "answers", answers)
    with pytest.raises(RunFailed, match=r"0\.parquet changed during the run: another file took its place"):
        pipeline.verify(engine="pandas")


def test_an_open_file_is_read_to_its_end_whatever_takes_its_place(tmp_path):
    path, rows = tmp_path / "a.parquet", []
    write(path, OTHER)
    before = path.read_bytes()

    def read():
        with opened(path) as file:
            write_as(".parquet", tmp_path / "new", 0)
            (tmp_path / "new").replace(path)
            rows.append(file.read_bytes())
            with file.open() as again:
                rows.append(again.read())
            with file.for_arrow() as source:
                rows.append(source.read())

    with pytest.raises(DatasetError, match="another file took its place"):
        read()
    assert rows == [before] * 3


def test_a_file_is_read_by_its_path_where_there_is_no_proc(tmp_path, monkeypatch):
    write(tmp_path / "a.parquet", OTHER)
    opening = pa.OSFile
    missing = lambda path: opening(path.replace("/proc/", "/nowhere/"))  # noqa: E731
    monkeypatch.setattr(pa, "OSFile", missing)
    with opened(tmp_path / "a.parquet") as file, file.for_arrow() as source:
        assert pq.read_table(source).num_rows == 8


def test_files_read_by_their_paths_are_compared_before_and_after(tmp_path):
    path = tmp_path / "a.csv"
    write(path, OTHER)
    file = DataFile(path, {}, LocalFileState.of(path.stat()))
    with read_by_path([file]):
        pass
    with pytest.raises(DatasetError, match="its size was"), read_by_path([file]):
        appended(path)
    with pytest.raises(DatasetError, match="its size was"), read_by_path([file]):
        pytest.fail("it has changed before")


STATE = LocalFileState(10, 5, 7, 1, 5, "here")


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (STATE, ""),
        (STATE._replace(ctime_ns=9), ""),
        (STATE._replace(inode=8), "another file took its place"),
        (STATE._replace(inode=8, device=2), ""),
        (STATE._replace(inode=8, machine="there"), ""),
        (STATE._replace(size=1234, machine="there"), "its size was 10 bytes and is 1,234 now"),
        (
            STATE._replace(mtime_ns=86_400_000_001_000),
            "it was last modified at 1970-01-01 00:00:00.000000 UTC and is from 1970-01-02 00:00:00.000001 UTC now",
        ),
    ],
)
def test_an_inode_counts_on_one_file_system_of_one_machine(other, difference):
    assert STATE.difference(other) == difference
    assert pickle.loads(pickle.dumps(STATE)).difference(other) == difference


def test_an_error_of_a_worker_keeps_its_hint():
    error = pickle.loads(pickle.dumps(file_state.deleted(Path("a"))))
    assert str(error) == "a was deleted or moved during the run"
    assert error.hint == file_state.AGAIN
    assert error.args[0].code == "GE1420"


def test_a_source_that_changes_between_listing_and_its_footer_is_no_plan(lake, monkeypatch):
    _, folder = lake("parquet")
    pipeline = Pipeline("test", root=folder.parent)
    pipeline.read_parquet("s", "lake")
    whole = footers.footer_of

    def footer_of(path, *given):
        appended(path)
        return whole(path, *given)

    monkeypatch.setattr(footers, "footer_of", footer_of)
    with pytest.raises(InvalidPipeline, match=r"0\.parquet changed during the run: its size was"):
        pipeline.plan()


TWIN = "def k(x):\n    return {'y': x + ADDED}\n"
WITH_TWIN = """\
gpuetl: 1
name: p
sources: {t: {parquet: t.parquet}}
stages: {out: {from: t, steps: [kernel: {body: y = x + 10;, inputs: x, outputs: {y: int64}, reference: 'k.py:k'}]}}
"""


def test_a_twin_that_changes_during_a_run_computes_all_partitions_as_it_was(tmp_path, after_planning, layout):
    pq.write_table(pa.table({"x": [1, 2, 3, 4]}), tmp_path / "t.parquet", row_group_size=2)
    (tmp_path / "k.py").write_text(TWIN.replace("ADDED", "10"))
    pipeline = loads(WITH_TWIN, tmp_path)
    fingerprint = pipeline.fingerprint
    after_planning(lambda: (tmp_path / "k.py").write_text(TWIN.replace("ADDED", "70")))
    assert pipeline.run(engine="pandas", options=layout)["out"].to_arrow().column("y").to_pylist() == [11, 12, 13, 14]
    again = pipeline.run(engine="pandas", options=layout)["out"].to_arrow()
    assert again.column("y").to_pylist() == [71, 72, 73, 74]
    assert pipeline.fingerprint == fingerprint
