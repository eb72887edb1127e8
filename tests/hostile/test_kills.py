"""The short form of `python -m hostile.kills`: some kills of each kind, and what the harness itself must find."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from hostile.kill_scenarios import Sink
from hostile.kills import SKIPPED
from hostile.system_calls import Fault
from left_to_full import after, in_full

TESTS = Path(__file__).parents[1]


def kills(tmp_path, *words):
    """Run the harness in a process of its own, which has no threads to fork; return its counts by scenario."""
    results = tmp_path / "results.json"
    path = os.pathsep.join([str(TESTS.parent / "src"), str(TESTS)])
    here = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "hostile.kills", *words, f"--results={results}"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=here, timeout=300)
    if done.returncode == SKIPPED:
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(results.read_text())


EVERY = [
    "--fault=SIGKILL --step=83", "--fault=ENOSPC --step=79", "--fault=SIGKILL --step=37", "--fault=ENOSPC --step=61",
]  # fmt: skip


@pytest.mark.parametrize("words", after(1, EVERY, "runs that are stopped at more system calls"))
def test_a_run_that_is_stopped_at_a_system_call_loses_nothing(tmp_path, words):
    tallies = kills(tmp_path, "--every", *words.split(), "--scenario=mixed", "--scenario=overwrite")
    assert [tally["scenario"] for tally in tallies] == ["overwrite", "mixed"]
    assert all(tally["kills"] > 2 and not tally["problems"] for tally in tallies)


def test_runs_that_are_killed_at_random_lose_nothing(tmp_path):
    count = in_full(8, 5)
    (tally,) = kills(tmp_path, f"--random={count}", "--scenario=replace_partitions", "--seed=1")
    assert tally["kills"] == count
    assert not tally["problems"]


def at_work(folder):
    (folder / "a").write_text("1")
    (folder / "a").rename(folder / "b")
    return 3


def test_a_process_is_killed_before_each_call_and_the_files_are_as_they_were(tmp_path):
    """In a process without threads, since it forks."""
    code = f"""
from pathlib import Path
from hostile.system_calls import run_stopped, why_not
from hostile.test_kills import at_work
folder = Path({str(tmp_path)!r})
if why_not():
    raise SystemExit("skipped: " + why_not())
for at in range(1, 5):
    done = run_stopped(lambda: at_work(folder), folder, at)
    there = sorted((path.name, path.read_text()) for path in folder.iterdir())
    print(done.exit_code, done.fault_at.split(" ")[0], there)
    [path.unlink() for path in folder.iterdir()]
"""
    here = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS.parent / "src"), str(TESTS)])}
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, env=here)
    if done.stderr.startswith("skipped"):
        pytest.skip(done.stderr)
    assert done.stdout.splitlines() == [
        "-9 openat []", "-9 write [('a', '')]", "-9 rename [('a', '1')]", "3  [('b', '1')]",
    ], done.stderr  # fmt: skip


OLD, NEW = Counter({("a", 1, 1): 1, ("b", 2, 2): 1}), Counter({("a", 1, 1): 1, ("b", 2, 3): 1})


@pytest.mark.parametrize(
    ("mode", "found", "state"),
    [
        ("overwrite", OLD, "old"),
        ("overwrite", NEW, "new"),
        ("overwrite", Counter(), "less"),
        ("overwrite", OLD | NEW, "more"),
        ("overwrite", None, "torn"),
        ("replace_partitions", Counter({("a", 1, 1): 1}), "less"),
        ("replace_partitions", OLD | NEW, "more"),
        ("run_key", OLD | NEW, "between"),
        ("run_key", Counter({("a", 1, 1): 1}), "less"),
        ("run_key", OLD + NEW, "more"),
    ],
)
def test_what_a_reader_finds_is_distinguished(mode, found, state):
    assert Sink("s", "s", mode).state(found, OLD, NEW) == state


def test_faults_have_the_names_of_signals_and_errors():
    assert Fault.named("SIGTERM").signal == 15
    assert Fault.named("ENOSPC").error == 28
