"""How far a run is: rows and bytes read of its sources, and the share of its planned work that is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from gpuetl.records import dataclass

if TYPE_CHECKING:
    from gpuetl.telemetry.recorder import Work

MOST_BEFORE_END = 0.99
"""The largest share of a run that has not ended: its sinks are still to be committed."""


class RunTotals(NamedTuple):
    """What a run has read: rows, bytes of files, and the bytes that it will read in all; `share` of its work is done.

    `share` is None while nothing is known of it.
    """

    rows: int = 0
    file_bytes: int = 0
    planned_bytes: int = 0
    share: float | None = None


@dataclass(frozen=True)
class PlannedStep:
    """One operation of a physical plan: how often it runs, and the rows and bytes that file metadata lets expect.

    `work` is the id under which its work is recorded.  `input_bytes` are those of its input's rows, of a source the
    bytes of its files and rows.  `source` is the number of the step that its rows come from, if there is one.
    """

    work: int
    partitions: int
    rows: int
    input_bytes: float
    source: int | None
    is_source: bool = False


@dataclass(frozen=True)
class PlannedWork:
    """The steps of a physical plan, each after its source, and the bytes of files that it reads."""

    steps: tuple[PlannedStep, ...] = ()
    file_bytes: int = 0

    def totals(self, recorded: Mapping[int, Work]) -> RunTotals:
        """Return the totals of a run, given the work that is recorded."""
        sources = [recorded[step.work] for step in self.steps if step.is_source and step.work in recorded]
        rows, read = sum(work.rows_out for work in sources), sum(work.file_bytes for work in sources)
        return RunTotals(rows, read, max(read, self.file_bytes), self.share(recorded))

    def share(self, recorded: Mapping[int, Work]) -> float | None:
        """Return the share of the work that is done, by bytes that operations take in.

        Rows that a filter has dropped, or a join has added, change what is expected of the operations after it.
        """
        growth: list[float] = []
        done = planned = 0.0
        for step in self.steps:
            work = recorded.get(step.work)
            partitions = min(work.partitions, step.partitions) if work else 0
            grown = 1.0 if step.source is None else growth[step.source]
            planned += step.input_bytes * grown
            done += step.input_bytes * grown * partitions / step.partitions
            expected = step.rows * partitions / step.partitions
            growth.append(work.rows_out / expected if work and expected else grown)
        return min(MOST_BEFORE_END, done / planned) if planned else None
