"""What was found, and what is wrong."""

from __future__ import annotations

from gpuetl.records import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    section: str
    name: str
    value: str


@dataclass(frozen=True)
class Ailment:
    """One thing that is wrong, and the line that mends it; `stops` names the engine that cannot run before that."""

    problem: str
    fix: str
    stops: str = ""


Found = Finding | Ailment
