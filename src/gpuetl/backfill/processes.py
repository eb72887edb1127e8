"""Runs of a backfill as processes: several at a time, in the order of their values, ended cleanly with the backfill."""

from __future__ import annotations

import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from gpuetl.records import dataclass

POLL_S = 0.05
MOST_ATTEMPTS = 5
"""How often a value runs whose run was too late for another one to the same sink."""
TOO_LATE = ("GE1567", "GE1574")
"""Codes of runs that changed nothing because another run was faster; running them again helps."""

WRITTEN = "all sinks are written"
"""What a run says that was interrupted when its sinks were in place."""

Outcome = Literal["done", "failed", "stopped"]


@dataclass(frozen=True)
class EndedRun:
    """The run of one value: what became of it, its seconds, and what it printed."""

    value: str
    outcome: Outcome
    seconds: float
    output: str


@dataclass
class RunningProcess:
    """A run that has begun."""

    value: str
    process: subprocess.Popen[bytes]
    log: Path
    start: float

    def ended(self, outcome: Outcome) -> EndedRun:
        """Return what it has left."""
        output = self.log.read_text(encoding="utf-8", errors="replace")
        self.log.unlink()
        return EndedRun(self.value, outcome, time.perf_counter() - self.start, output)


@dataclass
class Processes:
    """Runs the command of each value; at most `parallel` at a time.

    Each process is in a session of its own, so that Ctrl-C in a terminal reaches the backfill alone.  It then sends the
    signal on to the runs, once, and waits until they have ended: `stopped` has what became of them.
    """

    command: Callable[[str], Sequence[str]]
    parallel: int = 1
    running: list[RunningProcess] = field(default_factory=list)
    attempts: dict[str, int] = field(default_factory=dict)
    stopped: list[EndedRun] = field(default_factory=list)

    def run(self, values: Sequence[str], goes_on: Callable[[EndedRun], bool]) -> Generator[EndedRun, None, None]:
        """Yield runs as they end.  Where `goes_on` says so of one, no other begins; those that run end first."""
        left = deque(values)
        with TemporaryDirectory(prefix="gpuetl-backfill-") as folder, self.stopped_at_the_end():
            while left or self.running:
                while left and len(self.running) < self.parallel:
                    self.begin(left.popleft(), Path(folder))
                for ended in self.ended():
                    if self.runs_again(ended):
                        left.append(ended.value)
                        continue
                    if not goes_on(ended):
                        left.clear()
                    yield ended
                time.sleep(POLL_S)

    def begin(self, value: str, folder: Path) -> None:
        """Begin the run of a value."""
        self.attempts[value] = self.attempts.get(value, 0) + 1
        log = folder / f"{sum(self.attempts.values())}.txt"
        with log.open("wb") as output:
            process = subprocess.Popen(
                self.command(value), stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )
        self.running.append(RunningProcess(value, process, log, time.perf_counter()))

    def ended(self) -> list[EndedRun]:
        """Return the runs that have ended since the last look."""
        over = [one for one in self.running if one.process.poll() is not None]
        self.running = [one for one in self.running if one not in over]
        return [one.ended("failed" if one.process.returncode else "done") for one in over]

    def runs_again(self, ended: EndedRun) -> bool:
        """Tell whether a run failed because another one was faster."""
        late = ended.outcome == "failed" and any(f"[{code}]" in ended.output for code in TOO_LATE)
        return late and self.parallel > 1 and self.attempts[ended.value] < MOST_ATTEMPTS

    @contextmanager
    def stopped_at_the_end(self) -> Iterator[None]:
        """End what still runs when the block ends: by a signal to which a run answers, and at a second one at once."""
        try:
            yield
        finally:
            try:
                for one in self.running:
                    one.process.send_signal(signal.SIGINT)
                for one in self.running:
                    one.process.wait()
            finally:
                for one in self.running:
                    if one.process.poll() is None:
                        one.process.kill()
                        one.process.wait()
                for one in self.running:
                    ended = one.ended("stopped" if one.process.returncode else "done")
                    late = WRITTEN in ended.output  # the signal came after the commit
                    self.stopped.append(replace(ended, outcome="done") if late else ended)
                self.running = []
