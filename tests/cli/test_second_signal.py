"""A second signal ends a command at once, says what is left behind, and leaves nothing that recovery cannot repair."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cli.slow_runs import write_slow_run
from command import environment_without_coverage, gpuetl

AGAIN_S = 0.7
"""Between two signals: nearer ones count as one."""
SECONDS = 60
RUN = ["run", "slow.yaml", "--engine", "pandas", "--no-report", "--partition-rows", "10"]
STUCK = """\
import ctypes, threading
def slowly(x):
    lock, lib = ctypes.create_string_buffer(64), ctypes.CDLL(None)
    lib.pthread_mutex_lock(lock)
    threading.Timer(0.2, lambda: open("reached", "w").close()).start()
    lib.pthread_mutex_lock(lock)
"""
"""A twin that waits for ever in native code, where no handler written in Python runs; another thread says so then."""
COMMIT = """\
import os, signal, sys, time
from gpuetl.cli.ending import run_and_end
from gpuetl.places.local.commit import commit_sinks, journal

def twice():
    os.kill(os.getpid(), {first})
    time.sleep(AGAIN)
    os.kill(os.getpid(), {second})
    time.sleep(5)

decide, apply, count = commit_sinks.decide, journal.Journal.apply, [0]

def deciding(staging, way, durable):
    if {point!r} == f"before {{way}}":
        twice()
    decide(staging, way, durable)
    if {point!r} == f"after {{way}}":
        twice()

def applying(self):
    count[0] += 1
    if {point!r} == f"before sink {{count[0]}}":
        twice()
    apply(self)

commit_sinks.decide, journal.Journal.apply = deciding, applying
if __name__ == "__main__":
    run_and_end()
""".replace("AGAIN", str(AGAIN_S))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_slow_run(tmp_path, partitions=3, seconds=0.0)
    return tmp_path


def started(folder: Path, *command: str, **streams: int) -> subprocess.Popen[str]:
    streams = streams or {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [sys.executable, *command], cwd=folder, text=True, env=environment_without_coverage(), **streams
    )


def wait_for(file: Path) -> None:
    end = time.monotonic() + SECONDS
    while not file.exists():
        assert time.monotonic() < end, f"{file} never came"
        time.sleep(0.01)


def rows_of(folder: Path) -> tuple[int, str]:
    """Return the rows of one sink, and the text of the other."""
    return pq.read_table(folder / "out/all").num_rows, (folder / "out/total.csv").read_text()


def left_over(folder: Path) -> list[Path]:
    return [path for path in (folder / "out").rglob(".*") if path.name != ".gpuetl"]


OTHER_SIGNALS = pytest.mark.full(reason="the same with another signal")


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, 130),
        pytest.param(signal.SIGTERM, 143, marks=OTHER_SIGNALS),
        pytest.param(signal.SIGHUP, 129, marks=OTHER_SIGNALS),
    ],
)
def test_a_second_signal_ends_a_run_that_does_not_react_to_the_first(folder, number, code):
    (folder / "twin.py").write_text(STUCK)
    process = started(folder, "-m", "gpuetl", *RUN)
    wait_for(folder / "reached")
    process.send_signal(number)
    time.sleep(AGAIN_S)
    assert process.poll() is None
    begun = time.monotonic()
    process.send_signal(number)
    _, errors = process.communicate(timeout=SECONDS)
    assert time.monotonic() - begun < 2.0
    assert process.returncode == code
    assert errors.strip() == (
        f"ended at once (second signal, {number.name}): no sink has changed.  The files that the run has written stay "
        "hidden next to its sinks until the next run to them.  To remove them now: gpuetl clean out/total.csv out/all"
    )
    assert not (folder / "out/total.csv").exists()
    assert not (folder / "out/all").exists()
    assert left_over(folder)
    assert gpuetl("clean", "out/total.csv", "out/all").exit_code == 0
    assert left_over(folder) == []


def test_two_signals_at_the_same_time_are_one(folder):
    """A terminal sends one to the whole group, and a program between passes it on."""
    (folder / "twin.py").write_text(STUCK)
    process = started(folder, "-m", "gpuetl", *RUN)
    wait_for(folder / "reached")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.3)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_one_signal_ends_a_run_as_before(folder):
    (folder / "stop_here").touch()
    process = subprocess.Popen(
        [sys.executable, "-m", "gpuetl", *RUN], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**environment_without_coverage(), "SLOW_S": "30"},
    )  # fmt: skip
    wait_for(folder / "reached")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=SECONDS)
    assert (process.returncode, errors) == (130, "interrupted (SIGINT): no sink has changed\n")
    assert left_over(folder) == []


MORE = "a second signal at further points of a commit"
POINTS = ("before forward", "after forward", "before sink 1", "before sink 2", "before done", "after done")


@pytest.mark.part(3)
@pytest.mark.parametrize(
    "point",
    [POINTS[3], *(pytest.param(one, marks=pytest.mark.full(reason=MORE)) for one in POINTS if one != POINTS[3])],
)
@pytest.mark.parametrize("by", ["recover", "run"])
def test_a_second_signal_in_a_commit_leaves_what_recovery_repairs(folder, point, by):
    """All sinks are old or all are new after it, by the command and by the next run."""
    first = "SIGINT" if by == "run" else "SIGTERM"
    before = gpuetl("run", folder / "slow.yaml", "--engine", "pandas", "--no-report")
    assert before.exit_code == 0, before.output
    old = rows_of(folder)
    write_slow_run(folder, partitions=5, seconds=0.0)
    (folder / "commit.py").write_text(COMMIT.format(point=point, first=f"signal.{first}", second="signal.SIGINT"))
    process = started(folder, "commit.py", *RUN)
    _, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, errors
    assert "ended at once (second signal, SIGINT): the sinks were being changed." in errors
    command = re.search(r"To do it now: gpuetl (recover .*)", errors)
    assert command, errors
    if by == "run":
        done = gpuetl("run", folder / "slow.yaml", "--engine", "pandas", "--no-report")
        assert done.exit_code == 0, done.output
    else:
        done = gpuetl(*command[1].split())
        assert done.exit_code == 0, done.output
    new = (50, '"k","n"\n0,17\n1,17\n2,16\n')
    assert old == (30, '"k","n"\n0,10\n1,10\n2,10\n')
    assert rows_of(folder) == (old if by == "recover" and point == "before forward" else new)
    assert gpuetl("clean", folder / "out").exit_code == 0
    assert left_over(folder) == []


def test_on_a_terminal_the_cursor_comes_back(folder):
    (folder / "twin.py").write_text(STUCK)
    ours, its = pty.openpty()
    process = started(folder, "-m", "gpuetl", *RUN, stdin=its, stdout=its, stderr=its)
    os.close(its)
    wait_for(folder / "reached")
    process.send_signal(signal.SIGINT)
    time.sleep(AGAIN_S)
    process.send_signal(signal.SIGINT)
    process.wait(SECONDS)
    fcntl.fcntl(ours, fcntl.F_SETFL, os.O_NONBLOCK)
    written = b""
    try:
        while part := os.read(ours, 1 << 16):
            written += part
    except OSError:
        pass
    assert process.returncode == 130
    assert written.rindex(b"\x1b[?25h") > written.rindex(b"\x1b[?25l")
    assert b"ended at once (second signal, SIGINT): no sink has changed." in written


def test_a_child_of_a_twin_does_not_signal_its_parent(folder):
    """A pool of processes ends its workers by SIGTERM, which they inherit the parent's pipe for."""
    (folder / "twin.py").write_text(
        "import os, signal, time\n"
        "def slowly(x):\n"
        "    for _ in range(3):\n"
        "        if not (child := os.fork()):\n"
        "            time.sleep(30)\n"
        "            os._exit(0)\n"
        "        time.sleep(0.6)\n"
        "        os.kill(child, signal.SIGTERM)\n"
        "        os.kill(child, signal.SIGKILL)\n"
        "        os.waitpid(child, 0)\n"
        "    return {'y': x * 2}\n"
    )
    process = started(folder, "-W", "ignore", "-m", "gpuetl", *RUN[:-2])
    _, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, errors


@pytest.mark.full(reason="a second signal to a run on a cluster")
def test_on_a_cluster_of_the_run_no_process_stays(folder):
    """Its workers end when the driver does."""
    (folder / "twin.py").write_text(STUCK.replace("reached", str(folder / "reached")))  # workers are in another folder
    environment = {**environment_without_coverage(), "MARK_OF_THIS_TEST": str(folder)}
    command = [sys.executable, "-m", "gpuetl", *RUN, "--workers", "2"]
    command[command.index("pandas")] = "dask"
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, env=environment)
    wait_for(folder / "reached")
    process.send_signal(signal.SIGINT)
    time.sleep(AGAIN_S)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, errors
    end = time.monotonic() + 30
    while left := processes_with(f"MARK_OF_THIS_TEST={folder}"):
        assert time.monotonic() < end, left
        time.sleep(0.2)


def processes_with(variable: str) -> list[str]:
    """Return the processes that have a variable in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if variable.encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append(process.name)
        except OSError:
            continue
    return found
