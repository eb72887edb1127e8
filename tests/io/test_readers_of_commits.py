"""Sources that read a sink while another run commits to it: they list all files of that run, or none."""

import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from gpuetl.io.commit import commit_sinks
from gpuetl.io.staging import close_writers
from gpuetl.places.local.commit import moves
from gpuetl.places.local.listing import list_files
from gpuetl.places.target import Target
from sinks_by_mode import NEW_RUN, OLD_RUN, writer_of

pytestmark = pytest.mark.slow

CHANGES = {"os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.link"}
LOOK_S = 0.2
"""A listing that has not ended after this many seconds waits for the commit."""
OLD, NEW = {"a": ["old"], "b": ["old"], "c": ["old"]}, {"a": ["new"], "b": ["new"], "d": ["new"]}
MODES = {
    "append": {"mode": "append"},
    "run_key": {"mode": "append", "run_key": ("day",), "mark": "0123456789ab"},
    "replace_partitions": {"mode": "replace_partitions"},
    "overwrite": {"mode": "overwrite"},
}


def commit(folder, run_id, mode, rows):
    """Write a partitioned sink and commit it, as a run does."""
    threads = ThreadPoolExecutor(1)
    target = Target("sink", "csv", folder / "sink", ("k",), **MODES[mode])
    writer = writer_of(target, run_id, threads)
    try:
        writer.prepare()
        for name, texts in rows.items():
            writer.write([(f"k={name}", text) for text in texts], len(texts))
        writer.finish()
        commit_sinks([writer])
    finally:
        close_writers([writer], threads)


def after(mode):
    """Return what the sink holds after both runs."""
    if mode == "append":
        return {name: sorted(OLD.get(name, []) + NEW.get(name, [])) for name in {**OLD, **NEW}}
    return {**OLD, **NEW} if mode == "replace_partitions" else NEW


def partitions(rows, path):
    """Return the partitions that a path names."""
    return {"a": rows["a"]} if "k=a" in path else rows


def found(path):
    """Read what a source lists, by partition."""
    texts = {}
    for file, _ in list_files(path, ".csv").files:
        texts.setdefault(file.parent.name.removeprefix("k="), []).append(file.read_text())
    return {name: sorted(listed) for name, listed in texts.items()}


class PausedCommit:
    """A commit in a child process, which stops before each change of the disk until it is let go on."""

    def __init__(self, action):
        asks, says = os.pipe()
        waits, self.goes = os.pipe()
        self.child = os.fork()
        if self.child:
            os.close(says)
            os.close(waits)
            self.asks = asks
            return

        def pause(event, arguments):
            if event in CHANGES:
                os.write(says, b"?")
                os.read(waits, 1)

        rename = moves._renameat2
        moves._renameat2 = lambda *arguments: (pause("os.rename", ()), rename(*arguments))[1]
        sys.addaudithook(pause)
        try:
            action()
        except BaseException:
            os._exit(1)
        os._exit(0)

    def stopped(self) -> bool:
        """Wait until the commit stops; return whether it has not ended."""
        return bool(os.read(self.asks, 1))

    def go_on(self) -> None:
        os.write(self.goes, b"!")

    def end(self) -> int:
        os.close(self.asks)
        os.close(self.goes)
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])


class Look:
    """A listing on a thread of its own, which may have to wait."""

    def __init__(self, path):
        self.result = None
        self.thread = threading.Thread(target=self.run, args=(path,))
        self.thread.start()

    def run(self, path):
        self.result = found(path)

    def has_ended(self, seconds: float = LOOK_S) -> bool:
        self.thread.join(seconds)
        return not self.thread.is_alive()


@pytest.mark.part(10)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("path", ["sink", "", "*/*/*.csv", "sink/*/*.csv", "*/k=a/*.csv", "sink/k=a"])
def test_a_source_lists_all_of_a_run_or_none_before_each_change(tmp_path, mode, path):
    commit(tmp_path, OLD_RUN, mode, OLD)
    paused = PausedCommit(lambda: commit(tmp_path, NEW_RUN, mode, NEW))
    looks, look, waited = [], None, 0
    waits = mode in ("run_key", "replace_partitions")  # an append never keeps readers waiting
    while paused.stopped():
        look = look or Look(tmp_path / path)
        if look.has_ended(LOOK_S / 10 if waits else LOOK_S):
            looks.append(look.result)
            look = None
        else:
            waited += 1
        paused.go_on()
    assert paused.end() == 0
    if look:
        look.thread.join()
        looks.append(look.result)
    ends = [partitions(OLD, path), partitions(after(mode), path)]
    assert [one for one in looks if one not in ends] == []
    order = [ends.index(one) for one in looks]
    assert order == sorted(order)
    assert set(order) == {0, 1}
    assert bool(waited) == waits


@pytest.mark.part(2)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("at", range(1, 7))
@pytest.mark.parametrize("path", ["sink", "", "*/*/*.csv"])
def test_a_source_lists_all_of_a_run_that_commits_between_two_looks(tmp_path, monkeypatch, mode, at, path):
    commit(tmp_path, OLD_RUN, mode, OLD)
    look, looks = os.scandir, []

    def scandir(folder):
        looks.append(folder)
        if len(looks) == at:
            monkeypatch.setattr(os, "scandir", look)
            commit(tmp_path, NEW_RUN, mode, NEW)
        return look(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    assert found(tmp_path / path) in (OLD, after(mode))


def test_the_first_list_of_a_folder_comes_with_one_of_what_was_there(tmp_path):
    """Files of others, and those of a gpuetl without lists: the run's files are told from them."""
    (tmp_path / "sink/k=a").mkdir(parents=True)
    (tmp_path / "sink/k=a/theirs.csv").write_text("theirs")
    (tmp_path / f"sink/k=a/part-{OLD_RUN}-00000.csv").write_text("old")
    before = {"a": ["old", "theirs"]}
    paused = PausedCommit(lambda: commit(tmp_path, NEW_RUN, "append", NEW))
    looks = []
    while paused.stopped():
        looks.append(found(tmp_path / "sink"))
        paused.go_on()
    assert paused.end() == 0
    ends = [before, {"a": ["new", "old", "theirs"], "b": ["new"], "d": ["new"]}]
    assert [one for one in looks if one not in ends] == []
    assert found(tmp_path / "sink") == ends[1]
    assert len(list((tmp_path / "sink/.gpuetl").iterdir())) == 1


def test_a_source_does_not_wait_for_a_commit_of_a_dead_run(tmp_path):
    """What it makes of that is for the run to say: GE1515."""
    commit(tmp_path, OLD_RUN, "replace_partitions", OLD)
    paused = PausedCommit(lambda: commit(tmp_path, NEW_RUN, "replace_partitions", NEW))
    while paused.stopped() and not (tmp_path / "sink/k=d").exists():
        paused.go_on()
    assert len(list((tmp_path / "sink/.gpuetl").iterdir())) == 2
    os.kill(paused.child, 9)
    assert paused.end() == -9
    look = Look(tmp_path / "sink")
    assert look.has_ended()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_reads_a_sink_while_a_run_writes_to_it(tmp_path):
    """It may not look into the run's folder; the sink's lists tell whether a commit has begun."""
    commit(tmp_path, OLD_RUN, "append", OLD)
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    code = """
        import os
        from pathlib import Path
        from gpuetl.places.local.commit.commit_sinks import unfinished_commit
        from gpuetl.formats.dataset import Dataset
        os.setuid(65534)
        print(bool(unfinished_commit(Path("sink"))))
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    said = []
    paused = PausedCommit(lambda: commit(tmp_path, NEW_RUN, "append", NEW))
    while paused.stopped():
        lists = tmp_path / "sink/.gpuetl"
        half = len(list(lists.iterdir())) > 1
        if any(tmp_path.glob(".sink.*")) and half not in [one for one, _ in said]:
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, env=here)
            said.append((half, done.stdout.strip()))
        paused.go_on()
    assert paused.end() == 0
    assert said == [(False, "False"), (True, "True")]
