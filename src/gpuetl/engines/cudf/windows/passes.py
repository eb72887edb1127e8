"""Passes over all rows: scans of a direction, and in the same kernel what is a function of each row and of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

from gpuetl.engines.cudf.vector import Vector
from gpuetl.engines.cudf.windows.rows import WindowRows
from gpuetl.engines.cudf.windows.steps import Fold, Output, PerRow, PresentRows, Scan, Step
from gpuetl.records import dataclass

Known: TypeAlias = Mapping[Scan | PresentRows, list[Any]]
"""The arguments that stand for what all rows are known to have: an array, or of rows that are present all three."""


@dataclass(frozen=True, eq=False)
class Pass:
    """Outputs of scans in a direction, and of functions of what these and `known` scans give for a row."""

    outputs: Sequence[Output]
    backward: bool
    known: Known
    rows: WindowRows

    @cached_property
    def steps(self) -> list[Step]:
        """What the outputs are of, each once."""
        return list(dict.fromkeys(output.step for output in self.outputs))

    @cached_property
    def reads(self) -> list[Scan | PresentRows]:
        """What the steps are, or read."""
        return list(dict.fromkeys(each for step in self.steps for each in reads_of(step)))

    @cached_property
    def scans(self) -> list[Scan]:
        """The scans that run."""
        return [each for each in self.reads if isinstance(each, Scan) and each not in self.known]

    @property
    def folds(self) -> list[Fold]:
        """What they fold."""
        return [scan.fold for scan in self.scans]

    @cached_property
    def calls(self) -> list[PerRow]:
        """The functions of each row."""
        return [step for step in self.steps if isinstance(step, PerRow)]

    @property
    def read_known(self) -> list[Scan | PresentRows]:
        """What is read of all that is known."""
        return [each for each in self.reads if each in self.known]

    @cached_property
    def columns(self) -> dict[str, Vector]:
        """The columns that are read."""
        return self.rows.read_by([*self.folds, *self.calls, *self.outputs])


def reads_of(step: Step) -> tuple[Scan | PresentRows, ...]:
    """Return what a step reads of scans, which is itself where it is one."""
    if isinstance(step, PerRow):
        return (*step.reads, *step.reads_all)
    assert isinstance(step, Scan)
    return (step,)
