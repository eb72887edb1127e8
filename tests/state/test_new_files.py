"""`incremental: {new_files: true}`: each run reads the files that no successful run has read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pytest

from gpuetl import Pipeline, RunFailed, RunOptions, loads
from gpuetl.places.filesystem import ListedFile
from gpuetl.places.local.local_file import LocalFileState
from gpuetl.places.objects.object_file import ObjectState
from gpuetl.places.paths import StorePath
from gpuetl.state.source_state import FilesState
from gpuetl.state.taken_files import (
    MOST_FILES,
    compared,
    difference,
    entries,
    from_bytes,
    joined,
    latest,
    next_files,
    to_bytes,
)
from state.every_day import EveryDay, ids_in, rows, ts


@pytest.fixture(params=["parquet", "csv"])
def daily(request: pytest.FixtureRequest, tmp_path: Path, engine: str, layout: RunOptions) -> EveryDay:
    """A pipeline over new files."""
    return EveryDay(tmp_path, engine, request.param, options=layout)


@pytest.fixture
def one(tmp_path: Path) -> EveryDay:
    """The same on pandas, in Parquet."""
    return EveryDay(tmp_path, "pandas")


@pytest.mark.part(2)
def test_each_file_is_read_once(daily: EveryDay) -> None:
    daily.arrives("a", rows([1, 2, 3], [ts(1)] * 3))
    daily.arrives("b", rows([4], [ts(1)]))
    daily.run()
    assert daily.ids == daily.latest == [1, 2, 3, 4]
    daily.arrives("c", rows([5, 6], [ts(2)] * 2))
    report = daily.run()
    assert report.notes[:1] == ("source 'landing': 1 of 3 files is new",)
    assert daily.ids == [1, 2, 3, 4, 5, 6]
    assert daily.latest == [5, 6]
    assert daily.state.version == 2


def test_a_run_without_new_files_changes_nothing(daily: EveryDay) -> None:
    daily.arrives("a", rows([1, 2, 3], [ts(1)] * 3))
    daily.run()
    before = (daily.store.files.read("state.json"), sorted((daily.folder / "out").rglob("*")))
    report = daily.run()
    assert report.nothing_new
    assert report.sinks == ()
    assert "nothing new" in report.summary
    assert report.notes == ("source 'landing': nothing new: runs have read the file",)
    assert (daily.store.files.read("state.json"), sorted((daily.folder / "out").rglob("*"))) == before
    assert daily.ids == daily.latest == [1, 2, 3]


def test_a_table_of_a_source_without_new_files_has_its_columns_and_no_row(daily: EveryDay) -> None:
    daily.arrives("a", rows([1, 2, 3], [ts(1)] * 3))
    assert daily.pipeline.table("clean").collect(engine=daily.engine).to_arrow()["twice"].to_pylist() == [2, 4, 6]
    daily.run()
    found = daily.pipeline.table("clean").collect(engine=daily.engine).to_arrow()
    assert found.num_rows == 0
    assert found.schema.names == ["id", "ts", "twice"]
    assert daily.state.version == 1


def test_the_columns_are_those_of_all_files(one: EveryDay) -> None:
    one.arrives("a", rows([1], [ts(1)]))
    one.run()
    one.arrives("b", pa.table({"id": pa.array([2], pa.int64())}))
    with pytest.raises(RunFailed, match=r"b\.parquet has no column 'ts', and .*a\.parquet does"):
        one.run()
    assert one.ids == [1]


def test_a_failed_run_has_read_nothing(one: EveryDay) -> None:
    one.arrives("a", rows([1], [ts(1)]))
    (one.folder / "out/latest.parquet").mkdir(parents=True)  # a folder where a file is to go
    with pytest.raises(RunFailed):
        one.run()
    assert one.state.version == 0
    (one.folder / "out/latest.parquet").rmdir()
    one.run()
    assert one.ids == one.latest == [1]


# Files that change after they were read.


def test_a_file_that_has_changed_is_an_error(one: EveryDay) -> None:
    path = one.arrives("a", rows([1], [ts(1)]))
    run_id = one.run().run_id
    one.arrives("a", rows([1, 2, 3], [ts(1)] * 3))
    with pytest.raises(RunFailed) as caught:
        one.run()
    assert f"source 'landing': {path} has changed since run {run_id} read it, " in str(caught.value)
    assert "UTC: it had " in str(caught.value)
    assert "Put new rows in new files. Or set changed: take" in str(caught.value)
    assert one.ids == [1]


def test_a_file_with_another_time_has_changed(one: EveryDay) -> None:
    path = one.arrives("a", rows([1], [ts(1)]))
    one.run()
    os.utime(path, ns=(1, 1))
    with pytest.raises(RunFailed, match="it was modified later"):
        one.run()


def test_changed_files_are_read_again_as_a_whole(one: EveryDay) -> None:
    one.arrives("a", rows([1], [ts(1)]))
    one.run()
    path = one.arrives("a", rows([1, 2], [ts(1)] * 2))
    one.incremental = "{new_files: true, changed: take}"
    report = one.run()
    what = "1 file has changed since a run read it, and is read again as a whole (changed: take)"
    assert report.warnings == (f"source 'landing': {what}: {path}",)
    assert one.latest == [1, 2]
    assert one.ids == [1, 1, 2]
    assert one.run().nothing_new


def test_changed_files_are_left(one: EveryDay) -> None:
    one.arrives("a", rows([1], [ts(1)]))
    one.run()
    path = one.arrives("a", rows([1, 2], [ts(1)] * 2))
    one.incremental = "{new_files: true, changed: skip}"
    for _ in range(2):  # it is told each time
        report = one.run()
        what = "1 file has changed since a run read it, and is not read again (changed: skip)"
        assert report.warnings == (f"source 'landing': {what}: {path}",)
        assert report.nothing_new
    one.arrives("b", rows([3], [ts(1)]))
    one.run()
    assert one.ids == [1, 3]


def test_a_file_that_is_gone_and_comes_back_is_not_new(one: EveryDay) -> None:
    path = one.arrives("a", rows([1], [ts(1)]))
    one.arrives("b", rows([2], [ts(1)]))
    one.run()
    path.rename(one.folder / "kept")
    assert one.run().nothing_new
    (one.folder / "kept").rename(path)
    assert one.run().nothing_new


# Several sources, sinks, quarantines.


TWO = """\
gpuetl: 1
name: two
sources:
  a: {csv: a, schema: {id: int64}, incremental: {new_files: true}}
  b: {csv: b, schema: {id: int64}, incremental: {new_files: true}}
  names: {csv: names.csv, schema: {id: int64, name: string}}
stages:
  both: {from: a, steps: [{union: b}]}
  named: {from: a, steps: [{join: {with: names, on: id}}], expect: [{rows: {min: 1}}]}
sinks:
  both: {from: both, csv: out/both, mode: append}
  a: {from: named, csv: out/a.csv, mode: overwrite}
  b: {from: b, csv: out/b.csv, mode: overwrite}
  names: {from: names, csv: out/names.csv, mode: overwrite}
"""


def test_sinks_whose_sources_have_nothing_new_stay_as_they_are(tmp_path: Path, engine: str) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.csv").write_text("id\n1\n")
    (tmp_path / "names.csv").write_text("id,name\n1,one\n2,two\n")
    loads(TWO, tmp_path).run(engine=engine)
    (tmp_path / "b/2.csv").write_text("id\n2\n")
    report = loads(TWO, tmp_path).run(engine=engine).report
    assert "sink 'a' was left as it is: its incremental sources have nothing new" in report.notes
    assert [sink.name for sink in report.sinks] == ["both", "b", "names"]
    assert (tmp_path / "out/a.csv").read_text() == '"id","name"\n1,"one"\n'
    assert (tmp_path / "out/b.csv").read_text() == '"id"\n2\n'
    found = sorted(file.read_text() for file in (tmp_path / "out/both").glob("*.csv"))
    assert sum(text.count("1") for text in found) == 2
    assert sum(text.count("2") for text in found) == 1
    assert loads(TWO, tmp_path).run(engine=engine).report.nothing_new


QUARANTINE = """\
gpuetl: 1
name: rejects
sources:
  a: {csv: a, schema: {id: int64}, on_bad_row: quarantine, incremental: {new_files: true}}
sinks:
  good: {from: a, csv: out/good, mode: append}
  bad: {from: a.rejected, csv: out/bad, mode: append}
"""


def test_bad_rows_of_new_files_are_in_quarantine_once(tmp_path: Path, engine: str) -> None:
    (tmp_path / "a").mkdir()
    for day in (1, 2):
        (tmp_path / f"a/{day}.csv").write_text(f"id\n{day}\nbad{day}\n")
        loads(QUARANTINE, tmp_path).run(engine=engine)
    bad = "".join(file.read_text() for file in (tmp_path / "out/bad").glob("*.csv"))
    assert [bad.count(f'"bad{day}"') for day in (1, 2)] == [1, 1]


def test_a_source_that_no_sink_reads_does_not_move(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/1.csv").write_text("id\n1\n")
    text = QUARANTINE.replace("on_bad_row: quarantine, ", "").partition("sinks:")[0]
    for _ in range(2):
        run = loads(text + "stages: {s: {from: a, steps: [{filter: id > 0}]}}\n", tmp_path).run(engine="pandas")
        assert run["s"].to_arrow()["id"].to_pylist() == [1]
    assert not (tmp_path / ".gpuetl").exists()


# The lists of files.


def state_of(number: int) -> LocalFileState:
    return LocalFileState(number, number, 1, 1, 1, "machine")


def test_lists_of_files_become_one_when_there_are_many(one: EveryDay) -> None:
    for day in range(MOST_FILES + 2):
        one.arrives(f"{day:02}", rows([day], [ts(1)]))
        one.run()
        listed = one.state.sources["landing"]
        assert len(listed["files"]) == (day % MOST_FILES + 1 if day < MOST_FILES else day - MOST_FILES + 1)
        assert listed["count"] == day + 1
        assert one.store.files.names("sources") == sorted(listed["files"])  # others are removed
    assert one.ids == list(range(MOST_FILES + 2))


def test_the_latest_entry_of_a_file_counts(tmp_path: Path) -> None:
    files = [ListedFile(tmp_path / name, state_of(1)) for name in "ab"]
    old, new = entries(files, tmp_path, "1"), entries([ListedFile(tmp_path / "a", state_of(2))], tmp_path, "2")
    known = joined([new, old])
    assert from_bytes(to_bytes(known)).equals(known.combine_chunks())
    found = compared([*files, ListedFile(tmp_path / "c", state_of(1))], known, tmp_path)
    assert [file.path.name for file in found.new] == ["c"]
    assert [(one.file.path.name, one.run_id) for one in found.changed] == [("a", "2")]
    assert found.known == 1
    assert latest(known).select(["path", "size"]).to_pydict() == {"path": ["a", "b"], "size": [2, 1]}
    state = next_files(FilesState("in", tuple("x" * MOST_FILES), 9), old, new, "name").state
    assert state == FilesState("in", ("name",), 2)


def test_paths_below_the_pipeline_are_relative_so_that_both_can_move(one: EveryDay, tmp_path: Path) -> None:
    one.arrives("a", rows([1], [ts(1)]))
    one.run()
    moved = tmp_path.with_name(tmp_path.name + "-moved")
    tmp_path.rename(moved)
    there = EveryDay(moved, "pandas")
    assert there.run().nothing_new
    assert ids_in(moved / "out/all") == [1]


@pytest.mark.parametrize(
    ("now", "what"),
    [
        (ObjectState(1, 5, "x", "a"), ""),
        (ObjectState(1, 6, "x", "a"), ""),
        (ObjectState(2, 5, "x", "a"), "it had 1 bytes and has 2 now"),
        (ObjectState(1, 5, "y", "a"), "its ETag is another one now"),
        (ObjectState(1, 5, "", "a"), ""),
        (ObjectState(1, 6, "W/z", "a"), "it was modified later"),
    ],
)
def test_an_etag_stands_for_the_content_of_an_object(now: ObjectState, what: str) -> None:
    assert difference(1, 5, "x", now) == what
    assert isinstance(StorePath, type)


@pytest.mark.parametrize("damage", [None, b"", b"ARROW1"])
def test_a_list_that_is_gone_or_damaged_is_an_error(one: EveryDay, damage: bytes | None) -> None:
    one.arrives("a", rows([1], [ts(1)]))
    one.run()
    (name,) = one.state.sources["landing"]["files"]
    one.store.files.delete(name)
    if damage is not None:
        one.store.files.write(name, damage)
    with pytest.raises(RunFailed, match=r"cannot use .*\.arrow, which lists files that were read: .*"):
        one.run()


def test_an_entry_that_is_damaged_is_an_error(one: EveryDay) -> None:
    one.arrives("a", rows([1], [ts(1)]))
    one.run()
    content = json.loads(one.store.files.read("state.json") or b"")
    del content["sources"]["landing"]["path"]
    one.store.files.write("state.json", json.dumps(content).encode())
    with pytest.raises(RunFailed, match="source 'landing': cannot use its state: it is damaged"):
        one.run()


def test_a_file_whose_name_is_not_utf_8_is_read_once(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / os.fsdecode(b"in/\xff.csv")).write_text("id\n1\n")
    pipeline = Pipeline("p", root=tmp_path)
    rows = pipeline.read_csv("rows", "in", {"id": "int64"}, incremental={"new_files": True})
    rows.write_parquet("out", "out", mode="append")
    assert pipeline.run(engine="pandas").report.sinks[0].rows == 1
    assert pipeline.run(engine="pandas").report.nothing_new
