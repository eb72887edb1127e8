"""Commits on object stores, stopped after each request: sinks are old or new, and readers of lists see no mixture.

The store is obstore's own in memory.  Tests with servers are in `test_object_sinks.py`.
"""

import subprocess
import sys
import tempfile
from contextlib import suppress
from itertools import pairwise
from pathlib import Path, PurePosixPath

import obstore
import pytest
from obstore.store import MemoryStore

from gpuetl.errors import RunFailed, SinkExists
from gpuetl.places.objects.commit import bucket as requests
from gpuetl.places.objects.commit import commit_sinks as commit_module
from gpuetl.places.objects.commit.bucket import Bucket
from gpuetl.places.objects.commit.commit_sinks import commit_sinks, finish_dead_runs, unfinished_commit
from gpuetl.places.objects.commit.leases import LockedTooLong, ObjectLease, lock, locked
from gpuetl.places.objects.commit.readers import visible_objects
from gpuetl.places.objects.commit.staged_sink import ObjectStagedSink
from gpuetl.places.paths import StorePath, is_hidden
from gpuetl.places.publishing import FilesRead, RunIdentity, WrittenFile
from gpuetl.places.target import Target

FIRST, SECOND, THIRD = (f"20260101T00000{number}-0000000{number}" for number in range(3))
CHANGES = ("put", "copy", "delete")


def read(bucket, folder, lists=True):
    """Return the objects that a reader takes, of gpuetl or of another tool, by their names."""
    objects = visible_objects(bucket, folder) if lists else bucket.objects_below(folder)
    names = {one.key.removeprefix(f"{folder}/"): one.key for one in objects}
    return {name: bucket.get(key) for name, key in names.items() if not is_hidden(name.split("/"))}


def path(key):
    return StorePath("s3", PurePosixPath("lake", key))


def staged(bucket, key, run_id, files, **options):
    """Return a sink with files that are staged; `files` are texts by their names."""
    target = Target(key, "csv", path(key), file_suffix=".csv", **options)
    sink = ObjectStagedSink(target, RunIdentity(run_id), bucket)
    sink.prepare()
    for name, text in files.items():
        sink.path_of(name).write_text(text)
        sink.files.append(WrittenFile(name, sink.keep(name), 0.0))
    return sink


def run(bucket, run_id, sinks, **options):
    """Write sinks and commit them; `sinks` are the files of each by its key."""
    made = [staged(bucket, key, run_id, files, **options) for key, files in sinks.items()]
    try:
        commit_sinks(made, lambda: None)
    finally:
        for sink in reversed(made):
            sink.close()


def copy_of(bucket):
    """Return a bucket with the same objects."""
    store = MemoryStore()
    for batch in obstore.list(bucket.store):
        for one in batch:
            obstore.put(store, one["path"], obstore.get(bucket.store, one["path"]).bytes())
    return Bucket(store)


@pytest.fixture
def bucket():
    return Bucket(MemoryStore())


@pytest.fixture
def snapshots(bucket, monkeypatch):
    """Copies of the bucket after each request that changed it."""
    made = []

    def watched(change):
        original = getattr(obstore, change)

        def request(store, *arguments, **options):
            result = original(store, *arguments, **options)
            if store is bucket.store:
                made.append(copy_of(bucket))
            return result

        return request

    for change in CHANGES:
        monkeypatch.setattr(requests.obstore, change, watched(change))
    monkeypatch.setattr(requests, "REQUESTS", 1)
    yield made
    monkeypatch.undo()


OLD = {
    "out/a": {"x=1/part-1.csv": "a1", "x=2/part-key-1.csv": "a2"},
    "out/b": {"part-key-1.csv": "b1"},
    "out/c.csv": {"c.csv": "c1"},
}
NEW = {
    "out/a": {"x=2/part-key-2.csv": "A2", "x=3/part-key-2.csv": "A3"},
    "out/b": {"part-key-2.csv": "B1"},
    "out/c.csv": {"c.csv": "C1"},
}
AFTER = {
    "overwrite": [NEW["out/a"], NEW["out/b"], b"C1"],
    "replace_partitions": [{"x=1/part-1.csv": "a1", **NEW["out/a"]}, NEW["out/b"]],
    "append": [{**OLD["out/a"], **NEW["out/a"]}, {**OLD["out/b"], **NEW["out/b"]}],
    "run_key": [{"x=1/part-1.csv": "a1", **NEW["out/a"]}, NEW["out/b"]],
    "upsert": [NEW["out/a"], NEW["out/b"]],
}
READ_BY_UPSERT = {"out/a": frozenset(("x=1", "x=2", "x=3")), "out/b": frozenset(("",))}
"""The partitions that the second run rewrites; x=1 becomes empty."""


def write_second(bucket, mode, run_id=SECOND, new=None):
    """Make the second run, in a mode."""
    sinks = sinks_of(mode, new or NEW)
    if mode == "run_key":
        options = {"mode": "append", "run_key": ("day",), "mark": "key"}
    else:
        options = {"mode": mode, **({"on": ("id",), "partition_by": ("x",)} if mode == "upsert" else {})}
    made = [staged(bucket, key, run_id, files, **options) for key, files in sinks.items()]
    for sink in made if mode == "upsert" else ():
        sink.files_read = FilesRead(sink.current_versions(), READ_BY_UPSERT[sink.keys.target])
    try:
        commit_sinks(made, lambda: None)
    finally:
        for sink in reversed(made):
            sink.close()


def sinks_of(mode, run):
    return {key: files for key, files in run.items() if mode == "overwrite" or not key.endswith(".csv")}


def seen(bucket, mode, lists=True):
    """Return what readers see of all sinks."""
    folders = [read(bucket, key, lists) for key in ("out/a", "out/b")]
    texts = [{name: text.decode() for name, text in one.items()} for one in folders]
    return [*texts, bucket.get("out/c.csv")] if mode == "overwrite" else texts


@pytest.mark.parametrize("mode", AFTER)
def test_a_commit_changes_all_sinks(bucket, mode):
    run(bucket, FIRST, OLD)
    write_second(bucket, mode)
    assert seen(bucket, mode) == seen(bucket, mode, lists=False) == AFTER[mode]
    assert [one.key for one in bucket.objects_below("out/.gpuetl-runs")] == []


@pytest.mark.parametrize("mode", AFTER)
def test_a_run_that_dies_at_any_request_leaves_old_sinks_or_new_ones(bucket, snapshots, monkeypatch, mode):
    """A reader of lists sees a folder as it was or as it is after the commit, before anything is recovered, too."""
    run(bucket, FIRST, OLD)
    before, after = seen(bucket, mode), AFTER[mode]
    snapshots.clear()
    write_second(bucket, mode)
    stopped = list(snapshots)
    monkeypatch.setattr(ObjectLease, "is_over", True)
    results = []
    for one in stopped:
        assert seen(one, mode)[0] in (before[0], after[0])
        for key in sinks_of(mode, NEW):
            finish_dead_runs(path(key), one, RunFailed)
        results.append(seen(one, mode))
        assert results[-1] == seen(one, mode, lists=False)
        assert [left.key for left in one.objects_below("out/.gpuetl-runs")] == []
    assert all(result in (before, after) for result in results)
    assert results[0] == before
    assert results[-1] == after
    changes = [one != other for one, other in pairwise(results)]
    assert changes.count(True) == 1  # once, by the record


@pytest.mark.part(2)
@pytest.mark.parametrize("mode", [mode for mode in AFTER if mode != "append"])
def test_the_same_run_again_after_one_that_died_doubles_nothing(bucket, snapshots, monkeypatch, mode):
    """The dead run is finished or undone first, as each run does; the files of the second one have other names."""
    run(bucket, FIRST, OLD)
    snapshots.clear()
    write_second(bucket, mode)
    stopped = list(snapshots)
    monkeypatch.setattr(ObjectLease, "is_over", True)
    again = {key: renamed(files) for key, files in NEW.items()} | {"out/c.csv": NEW["out/c.csv"]}
    expected = [renamed(files) if isinstance(files, dict) else files for files in AFTER[mode]]
    for one in stopped:
        for key in sinks_of(mode, NEW):
            finish_dead_runs(path(key), one, RunFailed)
        write_second(one, mode, THIRD, again)
        assert seen(one, mode) == seen(one, mode, lists=False) == expected


def renamed(files):
    """Return files as a third run calls them."""
    return {name.replace("-2.", "-3."): text for name, text in files.items()}


@pytest.mark.part(8)
@pytest.mark.parametrize("mode", AFTER)
def test_a_request_that_fails_leaves_old_sinks_or_a_commit_that_goes_on(bucket, monkeypatch, mode):
    for failing in range(200):
        one, count = Bucket(MemoryStore()), [0]
        run(one, FIRST, OLD)
        before = seen(one, mode)
        with monkeypatch.context() as patch:

            def refusing(change, count=count, failing=failing):
                original = getattr(obstore, change)

                def request(*arguments, **options):
                    count[0] += 1
                    if count[0] == failing:
                        raise PermissionError("no")
                    return original(*arguments, **options)

                return request

            for change in CHANGES:
                patch.setattr(requests.obstore, change, refusing(change))
            with suppress(RunFailed, OSError):
                write_second(one, mode)
        for key in sinks_of(mode, NEW):
            finish_dead_runs(path(key), one, RunFailed)
        assert seen(one, mode) == seen(one, mode, lists=False)
        assert seen(one, mode) in (before, AFTER[mode])
        if count[0] < failing:
            return
    raise AssertionError("the loop should have ended")


def test_a_run_that_is_taken_for_dead_cannot_decide(bucket, monkeypatch):
    """Another process undoes its commit; then it fails, and changes nothing."""
    run(bucket, FIRST, OLD)
    before = seen(bucket, "overwrite")
    sinks = [staged(bucket, key, SECOND, files, mode="overwrite") for key, files in NEW.items()]
    stage_all = commit_module.stage_all

    def staging(commits, deliver):
        stage_all(commits, deliver)
        with monkeypatch.context() as patch:
            patch.setattr(ObjectLease, "is_dead", lambda self, written, now: True)
            finish_dead_runs(path("out/a"), bucket, RunFailed)

    monkeypatch.setattr(commit_module, "stage_all", staging)
    with pytest.raises(RunFailed, match="took this run for dead"):
        commit_sinks(sinks, lambda: None)
    for sink in sinks:
        sink.close()
    assert seen(bucket, "overwrite") == before


def test_objects_of_others_are_not_removed(bucket):
    run(bucket, FIRST, {"out/b": {"part-1.csv": "b1"}})
    bucket.put("out/b/mine.csv", b"mine")
    with pytest.raises(RunFailed, match=r"s3://lake/out/b holds 1 file that gpuetl did not write.*: mine\.csv"):
        run(bucket, SECOND, {"out/b": {"part-2.csv": "b2"}}, mode="overwrite")
    run(bucket, THIRD, {"out/b": {"part-3.csv": "b3"}}, mode="overwrite", keep_foreign=True)
    assert read(bucket, "out/b") == {"mine.csv": b"mine", "part-3.csv": b"b3"}


def test_an_object_that_changed_since_is_of_others(bucket):
    run(bucket, FIRST, {"out/b": {"part-1.csv": "b1"}})
    bucket.put("out/b/part-1.csv", b"edited")
    with pytest.raises(RunFailed, match=r"or that changed since: part-1\.csv"):
        run(bucket, SECOND, {"out/b": {"part-2.csv": "b2"}}, mode="overwrite")


@pytest.mark.parametrize("key", ["out/b", "out/c.csv"])
def test_a_sink_that_exists_is_refused(bucket, key):
    run(bucket, FIRST, {key: OLD[key]})
    with pytest.raises(SinkExists, match=f"s3://lake/{key} exists"):
        run(bucket, SECOND, {key: NEW[key]})


def test_a_file_and_a_folder_are_told_apart(bucket):
    bucket.put("out/b", b"a file")
    bucket.put("out/c.csv/part.csv", b"in a folder")
    with pytest.raises(RunFailed, match="out/b is a file, and the sink writes a folder"):
        run(bucket, FIRST, {"out/b": OLD["out/b"]}, mode="overwrite")
    with pytest.raises(RunFailed, match=r"out/c\.csv is a folder, and the sink writes a file"):
        run(bucket, FIRST, {"out/c.csv": OLD["out/c.csv"]}, mode="overwrite")


def test_a_run_key_replaces_the_files_of_its_earlier_run(bucket):
    options = {"mode": "append", "run_key": ("day",), "mark": "0123456789ab"}
    run(bucket, FIRST, {"out/b": {"part-0123456789ab-1.csv": "old"}}, **options)
    run(bucket, SECOND, {"out/b": {"part-ffffffffffff-1.csv": "other"}}, mode="append", mark="ffffffffffff")
    run(bucket, THIRD, {"out/b": {"part-0123456789ab-2.csv": "new"}}, **options)
    assert read(bucket, "out/b") == {"part-0123456789ab-2.csv": b"new", "part-ffffffffffff-1.csv": b"other"}


def test_a_target_that_stays_as_it_is(bucket):
    run(bucket, FIRST, {"out/b": OLD["out/b"]})
    sink = staged(bucket, "out/b", SECOND, {}, mode="overwrite", on_empty="keep")
    sink.unchanged = True
    commit_sinks([sink], lambda: None)
    sink.close()
    assert read(bucket, "out/b") == {"part-key-1.csv": b"b1"}


def test_a_lock_of_a_live_run_is_waited_for(bucket, monkeypatch):
    mine = ObjectLease.of_this_process(FIRST, "b", "")
    theirs = ObjectLease.of_this_process(SECOND, "b", "")
    monkeypatch.setattr("gpuetl.places.objects.commit.leases.WAIT_S", 0.2)
    with locked([(bucket, "out/b.lock")], mine), pytest.raises(LockedTooLong, match=r"out/b\.lock"):
        lock(bucket, "out/b.lock", theirs, lambda: None)
    with locked([(bucket, "out/b.lock")], theirs):
        assert ObjectLease.read(bucket.get("out/b.lock")) == theirs
    assert bucket.get("out/b.lock") is None


def test_a_lock_of_a_dead_run_is_taken_over(bucket):
    bucket.put("out/b.lock", ObjectLease(FIRST, "b", "", "another-host", "", 1, "", ended=True).text)
    mine = ObjectLease.of_this_process(SECOND, "b", "")
    lock(bucket, "out/b.lock", mine, lambda: None)
    assert ObjectLease.read(bucket.get("out/b.lock")) == mine


def test_a_source_of_one_file_hears_of_a_commit_that_has_not_ended(bucket, monkeypatch):
    sink = staged(bucket, "out/c.csv", FIRST, OLD["out/c.csv"])
    monkeypatch.setattr(Bucket, "copy_all", lambda self, copies: exec("raise OSError(5, 'cut')"))
    with pytest.raises(RunFailed, match="has not ended: cut"):
        commit_sinks([sink], lambda: None)
    sink.close()
    assert "a run died while it changed s3://lake/out/c.csv" in unfinished_commit(path("out/c.csv"), bucket)
    monkeypatch.undo()
    finish_dead_runs(path("out/c.csv"), bucket, RunFailed)
    assert bucket.get("out/c.csv") == b"c1"
    assert unfinished_commit(path("out/c.csv"), bucket) is None


def test_files_of_attempts_are_committed_where_the_driver_took_them(bucket):
    sink = staged(bucket, "out/b", FIRST, {})
    for name, text in (("lost", "b0"), ("kept", "b1")):
        attempt = sink.attempt(name)
        attempt.prepare()
        attempt.path_of("part-0.csv").write_text(text)
        attempt.keep("part-0.csv")
        attempt.close()
    sink.take("kept", "part-0.csv", "part-7.csv")
    sink.files.append(WrittenFile("part-7.csv", 2, 0.0))
    commit_sinks([sink], lambda: None)
    sink.close()
    assert read(bucket, "out/b") == {"part-7.csv": b"b1"}
    assert [one.key for one in bucket.objects_below("out/.gpuetl-runs")] == []


def test_a_reader_begins_again_where_a_commit_is_decided_while_it_lists(bucket, monkeypatch):
    """It has listed the objects before the new ones were there, and looked at the record after it was written."""
    run(bucket, FIRST, {"out/b": {"part-1.csv": "b1"}})
    listed, looks = Bucket.objects_below, []

    def listing(self, prefix):
        found = list(listed(self, prefix))
        if prefix == "out/b":
            looks.append(found)
            if len(looks) == 2:
                monkeypatch.setattr(Bucket, "objects_below", listed)
                run(self, SECOND, {"out/b": {"part-2.csv": "b2"}}, mode="overwrite")
                monkeypatch.setattr(Bucket, "objects_below", listing)
        return iter(found)

    monkeypatch.setattr(Bucket, "objects_below", listing)
    assert [one.key for one in visible_objects(bucket, "out/b") if "/." not in one.key] == ["out/b/part-2.csv"]
    assert len(looks) == 3


def test_a_partition_is_read_by_the_lists_of_its_sink(bucket, monkeypatch):
    run(bucket, FIRST, {"out/a": {"x=1/part-1.csv": "old"}})
    sink = staged(bucket, "out/a", SECOND, {"x=1/part-2.csv": "new"}, mode="overwrite")
    monkeypatch.setattr(commit_module, "decide_and_finish", lambda commit: None)
    commit_sinks([sink], lambda: None)
    assert read(bucket, "out/a/x=1", lists=False) == {"part-1.csv": b"old", "part-2.csv": b"new"}
    assert read(bucket, "out/a/x=1") == {"part-1.csv": b"old"}


DIES = """
import os, sys
from pathlib import PurePosixPath
from obstore.store import MemoryStore
from gpuetl.places.objects.commit.bucket import Bucket
from gpuetl.places.objects.commit.staged_sink import ObjectStagedSink
from gpuetl.places.paths import StorePath
from gpuetl.places.publishing import RunIdentity
from gpuetl.places.target import Target

target = Target("out", "csv", StorePath("s3", PurePosixPath("lake", "out")), file_suffix=".csv")
sink = ObjectStagedSink(target, RunIdentity("20260101T000000-00000000"), Bucket(MemoryStore()))
sink.path_of("x=1/part.csv").write_text("rows")
print(sink.scratch, flush=True)
sys.stdin.read()
"""


def test_files_of_a_killed_run_that_wait_for_their_upload_are_removed_by_the_next_run(bucket, tmp_path, monkeypatch):
    """Those of a run that lives stay."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    command = [sys.executable, "-c", DIES]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        left = Path(process.stdout.readline().strip())
        run(bucket, FIRST, {"other": {"a.csv": "1"}})
        assert (left / "x=1/part.csv").read_text() == "rows"
        process.kill()
    run(bucket, SECOND, {"other": {"a.csv": "2"}}, mode="overwrite")
    assert list(tmp_path.iterdir()) == []
