"""Jobs of the comparison: a folder is a suite, each of its YAML files a job, by_*.py and *.sql the same job by a peer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
SUITES = ("events", "groupby", "join", "asof", "criteo", "pdsh")


@dataclass(frozen=True)
class Job:
    """A job of a suite."""

    suite: str
    name: str

    def __str__(self) -> str:
        return f"{self.suite}/{self.name}"

    def file(self, suffix: str) -> Path:
        """Return the job's own file, such as its pipeline."""
        return HERE / self.suite / f"{self.name}{suffix}"


def jobs(wanted: list[str]) -> list[Job]:
    """Return the jobs of suites (`events`) and single ones (`events/q1`); raise `SystemExit` for what there is not."""
    everything = [Job(suite, name) for suite in SUITES for name in _names(suite)]
    known = {*SUITES, *map(str, everything)}
    if unknown := [name for name in wanted if name not in known]:
        raise SystemExit(f"no job {', '.join(unknown)}.  have: {', '.join(sorted(known))}")
    return [job for job in everything if job.suite in wanted or str(job) in wanted]


def _names(suite: str) -> list[str]:
    return sorted((path.stem for path in (HERE / suite).glob("*.yaml")), key=lambda name: (len(name), name))
