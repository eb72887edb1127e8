"""Partitions as large as memory allows: sources are cut into smaller ones until what is expected fits."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from gpuetl.errors import RunFailed
from gpuetl.physical.layout import Layout
from gpuetl.physical.lower import PhysicalPlan, lower
from gpuetl.physical.memory import MemoryEstimate, expected_memory
from gpuetl.physical.nodes import Exchange, Scan
from gpuetl.physical.size_estimates import read_rows
from gpuetl.physical.working_sets import DEVICE, WorkingSets
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass

BROADCAST_SHARE = 8
"""A side that goes to every partition takes at most this part of the memory, for it stays there."""

EVERY_PARTITION = 1 << 62
LEAST_WAITING = 4
"""Of the memory, the share that frames that wait may always take."""


@dataclass(frozen=True)
class FittedPlan:
    """A physical plan and the memory that it is expected to need.

    Parameters
    ----------
    plan
        What runs.
    expected
        What it needs.
    budget
        The bytes that it may take: what is free, or less where the user says so.
    at_once
        What it would need in as few partitions as the engine likes, where it was cut into more; else None.
    most_ahead
        As many partitions as what runs it may read before they are asked for.
    uses_exchange_budget
        Whether it was asked how many bytes an exchange may hold, which is more or less with other memory.
    most_waiting
        The bytes that frames that wait may take, where the user says so.
    """

    plan: PhysicalPlan
    expected: MemoryEstimate
    budget: int
    at_once: MemoryEstimate | None = None
    most_ahead: int = EVERY_PARTITION
    uses_exchange_budget: bool = False
    most_waiting: int | None = None

    @property
    def fits(self) -> bool:
        """Whether one partition fits, with what stays beside it."""
        return self.expected.bytes <= self.budget

    @property
    def fits_ahead(self) -> bool:
        """Whether it fits beside the next partition of a source, and tables that are being written."""
        return self.expected.ahead + self.expected.writing <= self.budget

    @property
    def excess(self) -> int:
        """The bytes that are lacking: where one partition fits, beside tables that are being written."""
        return max(0, self.expected.bytes + self.expected.writing * self.fits - self.budget)

    @property
    def suits_any_memory(self) -> bool:
        """Whether the plan is the same for any memory in which it fits: it is not cut and has no exchange budget."""
        return self.at_once is None and not self.uses_exchange_budget

    @property
    def reads_ahead(self) -> bool:
        """Whether a source has several partitions, so that the next one may be read while one is computed."""
        return self.most_ahead > 0 and self.expected.bytes < self.expected.ahead and self.fits_ahead

    @cached_property
    def partitions_ahead(self) -> int:
        """How many partitions of sources may be read before they are asked for: all of them, one, or none."""
        scans = sum(node.partitions for node in walk_graph(*self.plan.roots) if isinstance(node, Scan))
        if 1 < scans <= self.most_ahead and self.expected.together + self.expected.writing <= self.budget:
            return scans
        return int(self.reads_ahead)

    @property
    def working_bytes(self) -> int:
        """The bytes that one partition needs at most, with what is read ahead; more may wait or be written."""
        if self.partitions_ahead > 1:
            return self.expected.together
        return self.expected.ahead if self.partitions_ahead else self.expected.bytes

    @property
    def expected_memory(self) -> int:
        """The bytes that the run is expected to take at most: what `gpuetl plan` and the run's report name."""
        return max((needs + beside for needs, beside in self.phases), default=self.working_bytes)

    @property
    def phases(self) -> list[tuple[int, int]]:
        """Of each phase the bytes that one partition needs, and what there is room for beside it."""
        several = self.partitions_ahead > 1
        found = list[tuple[int, int]]()
        for phase in self.expected.phases:
            needs = phase.bytes + (phase.together if several else phase.ahead * self.partitions_ahead)
            room = max(self.budget - needs, self.budget // LEAST_WAITING)
            waiting = phase.waiting if self.most_waiting is None else min(phase.waiting, self.most_waiting)
            found.append((needs, min(waiting + phase.writing, room)))
        return found

    @property
    def resident_bytes(self) -> int:
        """What frames that wait may take: what the rest leaves, or the least share, for the model is a bound."""
        if self.most_waiting is not None:
            return self.most_waiting
        return max(self.budget - self.working_bytes, self.budget // LEAST_WAITING)


def fitted(plan: Plan, layout: Layout, budget: int, fixed: bool = False, sets: WorkingSets = DEVICE) -> FittedPlan:
    """Lower a plan for so much memory; `fixed` leaves the layout as it is, `sets` says what the engine works with.

    Partitions are halved, down to a row group each, until one of them fits beside the next one, which is read ahead.
    If none is small enough, it is the plan that needs least: rows that must be in one place do not get fewer.
    """
    exchanged, uses_exchange_budget = layout.exchanged_bytes or (lambda: budget // LEAST_WAITING), False

    def exchanged_bytes() -> int:
        nonlocal uses_exchange_budget
        uses_exchange_budget = True
        return exchanged()

    layout = replace(layout, exchanged_bytes=exchanged_bytes)
    tried = [attempt(plan, layout, budget, sets)]
    small = replace(layout, broadcast_bytes=min(layout.broadcast_bytes, budget // BROADCAST_SHARE))
    if not fixed:
        tried += halvings(plan, small, tried[0], sets)
    if not fixed and not tried[-1].fits_ahead and sends_everywhere(tried[-1].plan):
        tried.append(attempt(plan, replace(layout, broadcast_bytes=0), budget, sets))
        tried += halvings(plan, replace(layout, broadcast_bytes=0), tried[-1], sets)
    best = min(tried, key=lambda one: (not one.fits_ahead, not one.fits, one.excess))
    return replace(
        best, at_once=None if best is tried[0] else tried[0].expected, uses_exchange_budget=uses_exchange_budget
    )


def halvings(plan: Plan, layout: Layout, first: FittedPlan, sets: WorkingSets) -> list[FittedPlan]:
    """Return the plans with half as many rows a partition each, until one fits beside the next partition."""
    tried = [first]
    while not tried[-1].fits_ahead and (rows := halved(tried[-1].plan)):
        try:
            tried.append(attempt(plan, replace(layout, partition_rows=rows), first.budget, sets))
        except RunFailed:  # smaller partitions would be too many
            break
    return tried[1:]


def sends_everywhere(plan: PhysicalPlan) -> bool:
    """Return whether rows go to every partition of others."""
    nodes = walk_graph(*plan.roots)
    return any(isinstance(node, Exchange) and node.route == "broadcast" for node in nodes)


def attempt(plan: Plan, layout: Layout, budget: int, sets: WorkingSets) -> FittedPlan:
    """Lower a plan, and look what it needs."""
    physical = lower(plan, layout)
    return FittedPlan(physical, expected_memory(physical, sets), budget)


def halved(plan: PhysicalPlan) -> int:
    """Return half of the rows of the largest partition that has several row groups; 0 where none has."""
    parts = (part for node in walk_graph(*plan.roots) if isinstance(node, Scan) for part in node.parts)
    return max((read_rows(part) for part in parts if len(part) > 1), default=0) // 2
