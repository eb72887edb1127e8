"""Staging folders of other runs: dead ones are recovered and removed, live ones and those of other hosts stay."""

import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from command import gpuetl
from gpuetl import Pipeline, RunFailed
from gpuetl.places.local.commit import moves
from gpuetl.places.local.commit.locks import LEASE, holder_of, locked
from gpuetl.places.local.commit.moves import staging_folder
from gpuetl.places.local.commit.recovery import stagings_beside
from messages import without_place
from sink_files import leftovers, sink_files
from sinks_by_mode import NEW, NEW_RUN, OLD, OLD_RUN, rows_of, state, targets, write, writer_of
from tables import table, write_source

TYPES = {"x": "int64"}
WRITE = """
import os, sys
from pathlib import Path
from sinks_by_mode import *
from gpuetl.places.local.commit import commit_sinks
from gpuetl.places.local.commit import moves

def stop(*arguments):
    print("there", flush=True)
    sys.stdin.read()
    os._exit(9)

{before}
write(Path(sys.argv[1]), NEW_RUN)
"""
HERE = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
BEFORE_THE_COMMIT, IN_THE_COMMIT = "commit_sinks.begin = stop", "moves.Remove.apply = stop"


def stopped(folder, before):
    """Return a process that stands in the middle of a run, holds its leases, and dies when it is told to."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE.format(before=before), str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=HERE,
    )  # fmt: skip
    assert process.stdout.readline() == "there\n"
    return process


def end(process):
    process.communicate("")
    assert process.returncode == 9


def dead(folder, before):
    end(stopped(folder, before))


def of_another_host(folder):
    """Let all leases be those of another host."""
    for path in folder.rglob(LEASE):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"host": "node7", "boot": "other"}))


def daily(folder, path, **keys):
    pipeline = Pipeline("daily", root=folder)
    write_source(pipeline, "t", table(TYPES, (1,))).write_csv("daily", path, **keys)
    return pipeline


def test_staging_is_only_for_its_user_and_says_whose_it_is(tmp_path):
    writer = writer_of(targets(tmp_path)[1], NEW_RUN, ThreadPoolExecutor(1))
    writer.prepare()
    assert writer.staged.staging == tmp_path / f".whole.{NEW_RUN}"
    assert writer.staged.staging.stat().st_mode & 0o777 == 0o700
    status, lease = holder_of(writer.staged.staging)
    assert (status, lease.pid, lease.target, lease.run_id) == ("live", os.getpid(), "whole", NEW_RUN)
    writer.close()
    assert not leftovers(tmp_path)


def test_a_long_name_is_cut_and_found(tmp_path):
    path = tmp_path / ("ä" * 127)
    folder = staging_folder(path, NEW_RUN)
    assert len(folder.name.encode()) <= 255
    folder.mkdir()
    assert stagings_beside(path) == [folder]
    assert stagings_beside(tmp_path / "other") == []


def test_the_next_run_removes_what_a_dead_one_left_before_its_commit(tmp_path):
    write(tmp_path, OLD_RUN)
    dead(tmp_path, BEFORE_THE_COMMIT)
    assert state(tmp_path) == OLD
    report = daily(tmp_path, "deep/file.csv", mode="overwrite").run(engine="pandas", keep=[]).report
    assert report.warnings == ()
    assert (
        report.notes[0]
        == f"removed {removed(report)} that run {NEW_RUN}, which died, left beside {tmp_path}/deep/file.csv"
    )
    assert sorted(path.name for path in leftovers(tmp_path)) == [
        f".{name}.{NEW_RUN}" for name in ("facts", "parts", "rows", "whole")
    ]


def removed(report):
    return re.match(r"removed (\S+ \w+)", report.notes[0])[1]


def test_the_next_run_finishes_the_commit_of_a_dead_one_in_all_sinks(tmp_path, engine):
    write(tmp_path, OLD_RUN)
    dead(tmp_path, IN_THE_COMMIT)
    assert state(tmp_path) not in (OLD, NEW)
    report = daily(tmp_path, "whole", mode="append").run(engine=engine, keep=[]).report
    warning = report.warnings[0]
    sinks = ", ".join(f"{tmp_path}/{name}" for name in ("deep/file.csv", "whole", "parts", "facts", "rows"))
    assert warning == (
        f"run {NEW_RUN} died while it changed its sinks.  Its commit was finished: {sinks} have that run's rows now"
    )
    found = state(tmp_path)
    assert found.pop("whole") == ['"x"\n1\n', "new 0", "new 1"]
    assert found == {name: rows for name, rows in NEW.items() if name != "whole"}
    assert not leftovers(tmp_path)


def test_a_source_whose_commit_has_not_ended_is_refused(tmp_path):
    write(tmp_path, OLD_RUN)
    dead(tmp_path, IN_THE_COMMIT)
    for path in ("facts", "facts/*.csv", "parts/k=a", "deep/file.csv"):
        pipeline = Pipeline("reads", root=tmp_path)
        pipeline.read_csv("s", path, schema={"new": "string"}).stage("all")
        with pytest.raises(
            RunFailed, match=r"some files may be old and some new\.  Run it again, or use: gpuetl recover /"
        ):
            pipeline.run(engine="pandas")
    assert gpuetl("recover", tmp_path).exit_code == 0
    assert pipeline.run(engine="pandas")["all"].to_arrow().num_rows == 0


def test_a_live_run_and_one_of_another_host_are_left_alone(tmp_path):
    process = stopped(tmp_path, BEFORE_THE_COMMIT)
    before = sorted(tmp_path.rglob("*"))
    done = gpuetl("clean", tmp_path)
    assert f"left {tmp_path}/.whole.{NEW_RUN}: process {process.pid} is writing there.\n" in done.stdout
    assert done.stdout.endswith("removed 0 B of 0 dead runs; left 5\n")
    end(process)
    of_another_host(tmp_path)
    done = gpuetl("clean", tmp_path)
    assert (
        done.stdout.count(
            f"it belongs to process {process.pid} of host node7, which may be alive.  If it is dead: --host node7"
        )
        == 5
    )
    assert sorted(tmp_path.rglob("*")) == before
    done = gpuetl("clean", tmp_path, "--host", "node7")
    assert (done.exit_code, done.stdout.splitlines()[-1].split(" of ")[1]) == (0, "1 dead run; left 0")
    assert not leftovers(tmp_path)


def test_a_commit_that_another_host_has_begun_is_not_touched(tmp_path):
    write(tmp_path, OLD_RUN)
    dead(tmp_path, IN_THE_COMMIT)
    of_another_host(tmp_path)
    before = sink_files(tmp_path)
    with pytest.raises(RunFailed) as caught:
        daily(tmp_path, "whole", mode="overwrite").run(engine="pandas")
    assert without_place(str(caught.value)) == (
        f"sink 'daily': a run of host node7 has begun to change {tmp_path}/whole, and has not ended: "
        f"{tmp_path}/.whole.{NEW_RUN}.  Wait for it.  If that run is dead: gpuetl recover --host node7 {tmp_path}/whole"
    )
    assert set(before) <= set(sink_files(tmp_path))
    assert gpuetl("recover", tmp_path / "whole").exit_code == 1
    done = gpuetl("recover", "--host", "node7", tmp_path / "whole")
    assert done.stdout.startswith(f"finished the commit of run {NEW_RUN}, and removed ")
    assert state(tmp_path) == NEW
    assert not leftovers(tmp_path)


def test_recover_says_what_it_did_and_clean_does_it_too(tmp_path):
    write(tmp_path, OLD_RUN)
    assert gpuetl("recover", tmp_path).stdout == "no commit is unfinished\n"
    dead(tmp_path, IN_THE_COMMIT)
    done = gpuetl("clean", tmp_path)
    assert done.stdout.startswith(f"finished the commit of run {NEW_RUN}, and removed ")
    assert done.stdout.endswith(" of 1 dead run; left 0\n")
    assert state(tmp_path) == NEW


def test_recover_names_what_removes_the_folders_of_a_run_that_died_before_its_commit(tmp_path):
    dead(tmp_path, BEFORE_THE_COMMIT)
    done = gpuetl("recover", tmp_path)
    hint = f"Dead runs left 5 folders, which this removes: gpuetl clean {tmp_path}"
    assert (done.exit_code, done.stdout) == (0, f"no commit is unfinished.  {hint}\n")


def test_what_is_left_of_one_commit_is_told_once(tmp_path):
    """Each of its folders names the one that is not to be touched."""
    write(tmp_path, OLD_RUN)
    dead(tmp_path, IN_THE_COMMIT)
    lease = tmp_path / f".whole.{NEW_RUN}" / LEASE
    lease.write_text(json.dumps(json.loads(lease.read_text()) | {"host": "node7", "boot": "other"}))
    for command in ("recover", "clean"):
        lines = gpuetl(command, tmp_path).stdout.splitlines()
        assert len([line for line in lines if line.startswith(f"left {lease.parent}: ")]) == 1
    assert lines[-1] == "removed 0 B of 0 dead runs; left 1"


def test_a_disk_that_can_only_be_read_is_named(tmp_path, monkeypatch):
    """The lease of a dead run can be read there, and locked for reading."""
    write(tmp_path, OLD_RUN)
    dead(tmp_path, IN_THE_COMMIT)
    system = os.open

    def refusing(path, flags, *arguments, **keys):
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(30, os.strerror(30), str(path))
        return system(path, flags, *arguments, **keys)

    def refused(*arguments):
        raise OSError(30, os.strerror(30))

    monkeypatch.setattr(os, "open", refusing)
    monkeypatch.setattr(moves, "rename_to_free", refused)
    monkeypatch.setattr(moves, "exchange", refused)
    done = gpuetl("recover", tmp_path)
    assert done.exit_code == 1
    assert done.stderr.endswith(f"cannot recover {tmp_path}/.facts.{NEW_RUN}: Read-only file system\n")


def test_recover_of_a_path_where_nothing_is(tmp_path):
    done = gpuetl("recover", tmp_path / "nothing")
    assert (done.exit_code, done.stderr) == (
        1, f"error: {tmp_path}/nothing does not exist, and no run left anything next to it\n",
    )  # fmt: skip


def test_a_state_that_is_not_clear_is_told_and_nothing_is_lost(tmp_path):
    """The record is gone: whether the run had decided is not known."""
    write(tmp_path, OLD_RUN)
    dead(tmp_path, IN_THE_COMMIT)
    next(tmp_path.glob("deep/.*/commit.forward")).unlink()
    appending = daily(tmp_path, "parts", mode="append")
    before = sorted(tmp_path.rglob("*"))
    done = gpuetl("recover", tmp_path / "parts")
    assert done.exit_code == 1
    record = f"{tmp_path}/deep/.file.csv.{NEW_RUN}"
    assert done.stderr == (
        f"error: {tmp_path}/.parts.{NEW_RUN} is in an unclear state.  {tmp_path}/.parts.{NEW_RUN} is part of a "
        f"commit that {record} decides, and no record is there.  Put the folder back, or remove "
        f"{tmp_path}/.parts.{NEW_RUN} if {tmp_path}/parts is as it should be\n"
    )
    with pytest.raises(RunFailed, match="in a state that is not clear"):
        appending.run(engine="pandas")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_target_that_someone_replaced_is_told(tmp_path):
    write(tmp_path, OLD_RUN)
    dead(tmp_path, IN_THE_COMMIT)
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "mine").replace(tmp_path / "deep/file.csv")
    done = gpuetl("recover", tmp_path / "deep/file.csv")
    assert f"should go to {tmp_path}/deep/file.csv, and is at neither place" in done.stderr
    assert (tmp_path / "deep/file.csv").read_text() == "mine"


def test_folders_may_be_moved_together_before_the_recovery(tmp_path):
    write(tmp_path / "here", OLD_RUN)
    dead(tmp_path / "here", IN_THE_COMMIT)
    (tmp_path / "here").rename(tmp_path / "there")
    assert gpuetl("recover", tmp_path / "there").exit_code == 0
    assert state(tmp_path / "there") == NEW


def test_a_commit_waits_for_another_one(tmp_path):
    write(tmp_path, OLD_RUN)
    with ThreadPoolExecutor(1) as threads:
        with locked([tmp_path]):
            waiting = threads.submit(write, tmp_path, NEW_RUN)
            time.sleep(0.1)
            assert not waiting.done()
            assert state(tmp_path) == OLD
        waiting.result(30)
    assert state(tmp_path) == NEW


MANY = """
import sys
from pathlib import Path
from sinks_by_mode import *
folder, number = Path(sys.argv[1]), int(sys.argv[2])
for turn in range(15):
    run_id = f"202601{number:02}T{turn:06}-0000000{number}"
    threads = ThreadPoolExecutor(1)
    two = targets(folder)[:2], Target("added", "csv", folder / "added", mode="append")
    writers = [writer_of(target, run_id, threads) for target in (*two[0], two[1])]
    for writer in writers:
        writer.prepare()
        writer.write(f"{run_id}" if writer.target.is_file else [run_id, run_id], 1)
        writer.finish()
    commit_sinks(writers)
    close_writers(writers, threads)
"""


def test_processes_that_write_the_same_sinks_at_once_do_not_mix(tmp_path):
    """Each commit wins wholly: the file and the folder are of one run in the end, and appended files are all there."""
    processes = [subprocess.Popen([sys.executable, "-c", MANY, str(tmp_path), str(n)], env=HERE) for n in (1, 2)]
    assert [process.wait(60) for process in processes] == [0, 0]
    found = state(tmp_path)
    assert found["whole"] == [found["deep/file.csv"]] * 2
    assert len(found["added"]) == 2 * 15 * 2
    (listed,) = (tmp_path / "added/.gpuetl").iterdir()
    added = {path.name: path.stat().st_size for path in (tmp_path / "added").glob("*.csv")}
    assert json.loads(listed.read_text())["files"] == added
    assert not leftovers(tmp_path)


def test_rows_of_the_sinks_are_as_expected(tmp_path):
    write(tmp_path, OLD_RUN)
    assert state(tmp_path) == OLD
    write(tmp_path, NEW_RUN)
    assert state(tmp_path) == NEW
    assert rows_of(targets(tmp_path)[0], NEW_RUN) == "new"
