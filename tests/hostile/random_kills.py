"""Runs that are killed after a random time, as real processes: the run alone, one of its workers, or all of them.

A run on `dask` starts a cluster of its own, which takes seconds.  On a standing cluster of two workers, whose nannies
start killed workers again, runs are forked from this process and take a fraction of a second.  The workers outlive the
runs that are killed, and may still write for them.
"""

from __future__ import annotations

import gc
import importlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from clusters import is_worker, living, processes, send
from gpuetl.cli import execute
from hostile.kill_checks import (
    HAS_RECOVER,
    Bench,
    Tally,
    check_exit,
    check_next_run,
    check_readers,
    check_recovery,
)
from hostile.kill_scenarios import SCENARIOS
from hostile.system_calls import Stopped

Victim = Literal["run", "worker", "all"]
FORKED = ("pandas",)
"""Engines whose runs are forked from this process, which has imported all that they need."""
CLUSTERED = ("dask", "dask-cuda")
BEFORE_STAGING = 0.1
"""The share of kills at any time of the run; the others come when its staging folders are there."""
MOST_RUNS = 4
"""For each kill that is wanted: some runs end before the time comes."""
LONGEST_RUN_S, LONGEST_END_S = 300.0, 60.0


@dataclass(frozen=True)
class StandingCluster:
    """A cluster that outlives the runs: the scheduler's address, and the nannies, which lead a session each."""

    address: str
    nannies: tuple[int, ...]

    def workers(self) -> list[int]:
        """Return the processes that do the work."""
        return [pid for nanny in self.nannies for pid in living(nanny) if pid != nanny and is_worker(pid)]


@contextmanager
def standing_cluster(folder: Path) -> Iterator[StandingCluster]:
    """Start a scheduler and two workers with nannies; wait until both are there."""
    folder.mkdir()
    with processes(folder, 2, "--nanny") as (address, started):
        cluster = StandingCluster(address, tuple(process.pid for process in started[1:]))
        until = time.monotonic() + LONGEST_END_S
        while len(cluster.workers()) < len(cluster.nannies):
            if time.monotonic() > until:
                raise SystemExit(f"the cluster has not started:\n{(folder / 'cluster.log').read_text()}")
            time.sleep(0.05)
        yield cluster


class Process:
    """One `gpuetl run`, in a session of its own; what it prints goes to a file."""

    def __init__(self, bench: Bench, engine: str, cluster: StandingCluster | None = None) -> None:
        words = bench.run_words(engine=engine)
        if cluster:
            words += ("--cluster", cluster.address)
        elif engine in CLUSTERED:
            words += ("--workers", "2")
        self.cluster = cluster
        self.output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed with the process
        self.began = time.monotonic()
        self.exit_code: int | None = None
        if engine in FORKED or cluster:
            self.pid = os.fork() or self.run_forked(words)
        else:
            command = [sys.executable, "-m", "gpuetl", *words]
            self.process = subprocess.Popen(command, stdout=self.output, stderr=self.output, start_new_session=True)
            self.pid = self.process.pid

    def run_forked(self, words: tuple[str, ...]) -> int:
        """Run the command in the forked process, and end it."""
        code = 70
        try:
            os.setsid()
            os.dup2(self.output.fileno(), 1)
            os.dup2(self.output.fileno(), 2)
            execute(words)
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        finally:
            os._exit(code)

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended; then its exit code is known."""
        if self.exit_code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.exit_code = os.waitstatus_to_exitcode(status)
        return self.exit_code is not None

    def wait(self, seconds: float) -> bool:
        """Wait for the end; return whether it came."""
        until = time.monotonic() + seconds
        while not self.has_ended and time.monotonic() < until:
            time.sleep(0.002)
        return self.has_ended

    def wait_for_staging(self, bench: Bench) -> None:
        """Wait until a staging folder is there, or the process has ended."""
        places = {(bench.root / sink.path).parent for sink in bench.scenario.sinks}
        while not self.has_ended and time.monotonic() < self.began + LONGEST_RUN_S:
            for place in places:
                with suppress(OSError):
                    if any(entry.name[0] == "." for entry in os.scandir(place)):
                        return
            time.sleep(0.0005)

    def others(self) -> list[int]:
        """Return the other processes of the session: workers, and what starts them."""
        return [pid for pid in session_of(self.pid) if pid != self.pid]

    def kill(self, victim: Victim, draw: random.Random) -> bool:
        """Kill the run, a worker or all of them; return whether the run was killed."""
        workers = self.cluster.workers() if self.cluster else self.others()
        others = workers if victim != "run" else []
        if victim == "worker" and others:
            send(draw.choice(others), signal.SIGKILL)
            return False
        if not self.has_ended:
            send(self.pid, signal.SIGKILL)
        for pid in others:
            send(pid, signal.SIGKILL)
        return True

    @property
    def text(self) -> str:
        """What the process has printed."""
        self.output.seek(0)
        return self.output.read().decode(errors="replace")


def session_of(session: int) -> Iterator[int]:
    """Yield the living processes of a session."""
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):
                fields = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == session and fields[0] != "Z":
                    yield int(entry.name)


def staged_seconds(bench: Bench, engine: str, cluster: StandingCluster | None) -> tuple[float, float]:
    """Return how long a run takes until its staging folders are there, and from then to its end: the median of 3."""
    before, after = [], []
    for _ in range(3):
        bench.reset()
        process = Process(bench, engine, cluster)
        process.wait_for_staging(bench)
        before.append(time.monotonic() - process.began)
        if not process.wait(LONGEST_RUN_S) or process.exit_code:
            raise SystemExit(f"{bench.scenario.name}: a run that nothing stops fails:\n{process.text}")
        after.append(time.monotonic() - process.began - before[-1])
    return sorted(before)[1], sorted(after)[1]


def kill_at_random(
    count: int, engine: str, seed: int, folder: Path, names: list[str] | None, standing: bool = False
) -> list[Tally]:
    """Kill so many runs, those of the scenarios in turn; on a `standing` cluster if asked for."""
    with standing_cluster(folder / "cluster") if standing else nullcontext() as cluster:
        if cluster:
            import_for_clusters()
        draw, tallies = random.Random(seed), []
        scenarios = [one for one in SCENARIOS if one.name in (names or [one.name])]
        for place, scenario in enumerate(scenarios):
            bench, tally = Bench(scenario, folder / scenario.name), Tally(scenario.name, engine, "random")
            tallies.append(tally)
            began, seconds = time.monotonic(), staged_seconds(bench, engine, cluster)
            wanted = count // len(scenarios) + (place < count % len(scenarios))
            for number in range(MOST_RUNS * wanted):
                if tally.kills < wanted:
                    one_kill(bench, tally, draw, seconds, f"run {number} of seed {seed}", cluster)
            tally.seconds = time.monotonic() - began
            print("  ".join(tally.cells), file=sys.stderr, flush=True)
        return tallies


def import_for_clusters() -> None:
    """Import what a run on a cluster imports, so that forked processes need not."""
    for name in ("distributed", "gpuetl.executors.dask.cluster_run", "gpuetl.executors.dask.cluster"):
        importlib.import_module(name)
    gc.freeze()


def one_kill(
    bench: Bench,
    tally: Tally,
    draw: random.Random,
    seconds: tuple[float, float],
    where: str,
    cluster: StandingCluster | None = None,
) -> None:
    """Start a run, kill it after a random time, and look at what is left.  A run that ends before counts as no kill."""
    bench.reset()
    victim: Victim = draw.choice(("run", "run", "worker", "all")) if tally.engine in CLUSTERED else "run"
    process = Process(bench, tally.engine, cluster)
    if draw.random() < BEFORE_STAGING:
        process.wait(draw.uniform(0, sum(seconds)))
    else:
        process.wait_for_staging(bench)
        process.wait(draw.uniform(0, seconds[1] * 1.05))
    ended = process.has_ended
    killed_one = not ended
    killed = killed_one and process.kill(victim, draw)
    where = f"{where} after {time.monotonic() - process.began:.3f} s, {victim}"
    if not process.wait(LONGEST_END_S if killed else LONGEST_RUN_S):
        tally.problem("hung", where)
        process.kill("all", draw)
        process.wait(LONGEST_END_S)
    check_orphans(process, tally, where)
    tally.kills += killed_one
    if not killed:
        check_exit(bench, tally, Stopped(process.exit_code or 0, text=process.text), where)
    check_readers(bench, tally, where)
    if HAS_RECOVER and draw.random() < 0.5:
        check_recovery(bench, tally, f"{where}, then recover")
    check_next_run(bench, tally, where)
    process.output.close()


def check_orphans(process: Process, tally: Tally, where: str) -> None:
    """Workers end when the run is gone; end those that do not."""
    until = time.monotonic() + LONGEST_END_S
    while (left := process.others()) and time.monotonic() < until:
        time.sleep(0.05)
    if left:
        tally.problem("processes outlive the run", f"{where}: {len(left)}")
        for pid in left:
            send(pid, signal.SIGKILL)
