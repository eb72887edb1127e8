"""What a check of a kernel found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar

from gpuetl.records import dataclass


@dataclass(frozen=True)
class Row:
    """A row, or of a reduction a group, that differs."""

    row: int
    inputs: Mapping[str, Any]
    got: Any
    expected: Any


@dataclass(frozen=True)
class Mismatch:
    """What is wrong in one case; `rows` are the first that differ."""

    case: str
    what: str
    rows: tuple[Row, ...] = ()


@dataclass(frozen=True)
class KernelCheck:
    """One kernel's outcome: cases compared, values compared, and values on which rounding says nothing."""

    stage: str
    step: int
    kernel: str
    file: str
    cases: int
    compared: int
    unsteady: int
    mismatches: tuple[Mismatch, ...]
    agreement: ClassVar[str] = "equal to its twin"
    difference: ClassVar[str] = "differs from its twin"

    @property
    def ok(self) -> bool:
        """Whether nothing differs."""
        return not self.mismatches

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return {"ok": self.ok, **asdict(self)}
