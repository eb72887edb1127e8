"""What a plan promises of a stage's rows, and where a run finds how many rows break it."""

from __future__ import annotations

from dataclasses import field

from gpuetl.errors import Place
from gpuetl.plan.node import Node
from gpuetl.records import dataclass

ROWS, REMOVED = ":rows", ":removed"
"""Columns of a stage's own counts: its rows, and those that a rule drops or puts in quarantine."""


@dataclass(frozen=True)
class Check:
    """One rule of a stage.

    The column of its name in the relation `counts`, one of `Plan.checks`, has the number of rows that break it; that
    named as the stage has the number of its rows.  A rule for the number of rows has `bounds` instead.  `shown` are the
    rows that break it, which only a run computes that needs them.
    """

    stage: str
    rule: str
    on_fail: str
    counts: str
    max_fraction: float = 0.0
    bounds: tuple[int | None, int | None] | None = None
    shown: Node | None = field(default=None, repr=False, compare=False)
    place: Place | None = field(default=None, compare=False)

    @property
    def content(self) -> tuple[object, ...]:
        """What makes rules differ, besides what is counted."""
        return self.on_fail, self.max_fraction, self.bounds
