"""What a verification found."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from gpuetl.records import dataclass
from gpuetl.verify.compare import Difference


@dataclass(frozen=True)
class StageVerdict:
    """One stage: its rows on the engine and on the oracle, the seconds of each, and how they differ.

    `plan` says which run differs: the one that keeps every stage, or the one that computes the results alone, in which
    the optimizer may go across stages.
    """

    name: str
    rows: int
    expected_rows: int
    columns: int
    seconds: float
    expected_seconds: float
    keys: tuple[str, ...]
    order: tuple[str, ...]
    difference: Difference | None = None
    plan: str = "stage by stage"

    @property
    def same(self) -> bool:
        """Whether the engine gave the oracle's rows."""
        return self.difference is None


@dataclass(frozen=True)
class VerifyReport:
    """A pipeline on an engine against the oracle.

    `device` says where the engine's operations ran, as in the report of a run; `sample` what was taken of each source,
    and which groups are not whole by it; `notes` are the remarks of both runs.
    """

    pipeline: str
    engine: str
    reason: str
    device: str
    oracle: str
    stages: tuple[StageVerdict, ...]
    sample: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether every stage has the oracle's rows."""
        return all(stage.same for stage in self.stages)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {"same": self.same, **asdict(self), "stages": [{"same": s.same, **asdict(s)} for s in self.stages]}

    def to_json(self) -> str:
        """Return the report as JSON, in which floats that it has not, NaN and infinities, are texts."""
        return json.dumps(_finite(self.to_dict()), indent=2, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
