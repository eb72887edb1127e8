"""A run that is out of memory begins again, with smaller partitions."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from gpuetl.errors import OutOfMemory
from gpuetl.out_of_memory import is_out_of_memory, let_go
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Scan
from gpuetl.plan.graph import walk_graph
from gpuetl.telemetry.recorder import Recorder

Result = TypeVar("Result")
SHARE = 4
"""Partitions get a quarter of the rows: half would be nearer to what fits, and take twice as many attempts."""


def until_it_fits(
    physical: PhysicalPlan,
    lowered: Callable[[int], PhysicalPlan],
    execute: Callable[[PhysicalPlan], Result],
    recorder: Recorder,
    seconds: dict[str, float],
) -> tuple[PhysicalPlan, Result]:
    """Execute a plan, again with smaller partitions where memory runs out; return the plan that fitted, and its result.

    Nothing was committed, and operations are functions of their rows: another plan for the same rows does what one
    operation in smaller parts could not do, since it aggregates in phases and exchanges what must meet.

    Parameters
    ----------
    physical
        The first plan to try.
    lowered
        Gives the plan in which partitions of sources have at most so many rows.
    execute
        Leaves nothing behind where it fails.
    recorder
        Begins anew with each attempt, but for its notes.
    seconds
        Gets the wall time of the attempts that were in vain.

    Raises
    ------
    OutOfMemory
        Where the step that it was raised in would get as many rows of smaller partitions, or there are none.
    """
    before: OutOfMemory | None = None
    while True:
        start = time.perf_counter()
        try:
            return physical, execute(physical)
        except Exception as error:
            if not (isinstance(error, OutOfMemory) or is_out_of_memory(error)):
                raise
            let_go(error)
            failed = error if isinstance(error, OutOfMemory) else OutOfMemory.during("run", str(error))
        seconds["out of memory"] = seconds.get("out of memory", 0.0) + time.perf_counter() - start
        rows = fewer_rows(physical, failed, before)
        recorder.begin_again(f"{failed.what}: begun again with partitions of at most {rows:,} rows of a source")
        before, physical = failed, lowered(rows)


def fewer_rows(physical: PhysicalPlan, failed: OutOfMemory, before: OutOfMemory | None) -> int:
    """Return how many rows partitions shall have; raise the error, with what to do, where fewer do not help."""
    if failed.gathered or (before and before.where == failed.where and 0 < before.rows <= failed.rows):
        raise failed.advised("Smaller partitions give this step no fewer rows.  Give it fewer before, or fewer columns")
    scans = (node for node in walk_graph(*physical.roots) if isinstance(node, Scan))
    parts = [part for scan in scans for part in scan.parts if len(part) > 1]
    if not parts:
        raise failed.advised(
            "Partitions are single row groups.  Write the sources in smaller row groups, or read fewer columns"
        )
    return max(1, max(sum(max(group.rows, 0) for group in part) for part in parts) // SHARE)
