"""The steps of all calls, each once: scans in both directions, then functions of each row, then frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gpuetl.backends.cudf.columns.validity import valid_rows
from gpuetl.backends.cudf.vector import Vector
from gpuetl.backends.cudf.windows.frames import run_frames
from gpuetl.backends.cudf.windows.per_row import run_per_row
from gpuetl.backends.cudf.windows.rows import WindowRows
from gpuetl.backends.cudf.windows.scans import run_scans
from gpuetl.backends.cudf.windows.steps import Framed, PerRow, PresentRows, Scan, Step

STEPS_PER_KERNEL = 8
"""More would take more registers than threads have, and more parameters than a kernel."""
Item = TypeVar("Item")


@dataclass
class Results:
    """What steps gave, and the first fault of each, 0 where there is none."""

    columns: dict[Step, Vector] = field(default_factory=dict)
    faults: dict[Step, int] = field(default_factory=dict)

    def add(self, steps: Sequence[Step], given: tuple[Sequence[Vector], Sequence[int]]) -> None:
        """Keep what some steps gave."""
        self.columns.update(zip(steps, given[0], strict=True))
        self.faults.update(zip(steps, given[1], strict=True))


def compute_steps(steps: Iterable[Step], rows: WindowRows) -> Results:
    """Compute steps, and those that they read."""
    wanted, results = list(dict.fromkeys(steps)), Results()
    framed = [step for step in wanted if isinstance(step, Framed)]
    per_row = list(dict.fromkeys([s for s in wanted if isinstance(s, PerRow)] + [step.start for step in framed]))
    read = list(dict.fromkeys(read for step in per_row for read in step.reads))
    scans = list(dict.fromkeys(step for step in [*wanted, *read] if isinstance(step, Scan)))
    for backward in (True, False):
        for some in pieces([scan for scan in scans if scan.backward == backward]):
            results.add(some, run_scans([scan.fold for scan in some], backward, rows))
    reads = {step: arguments_read(step, results, rows) for step in read}
    for chosen in pieces(per_row):
        results.add(chosen, run_per_row(chosen, reads, rows))
    for start in dict.fromkeys(step.start for step in framed):
        for frames in pieces([step for step in framed if step.start == start]):
            folds, first_row = [step.fold for step in frames], results.columns[start].data
            results.add(frames, run_frames(folds, first_row, frames[0].longest, rows))
    return results


def pieces(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Yield as many at a time as a kernel takes."""
    for place in range(0, len(items), STEPS_PER_KERNEL):
        yield items[place : place + STEPS_PER_KERNEL]


def arguments_read(step: Scan | PresentRows, results: Results, rows: WindowRows) -> list[Any]:
    """Return the arguments that stand for what a step gave."""
    if isinstance(step, Scan):
        return [results.columns[step].data]
    arrays, valid = rows.machine.arrays, valid_rows(rows.columns[step.column], rows.machine)
    before = arrays.cumsum(valid, dtype="int32") - valid
    present = arrays.nonzero(valid)[0].astype("int32")
    return [before, present, len(present)]
