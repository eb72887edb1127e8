"""What each worker of a cluster did, and how evenly they shared the work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from gpuetl.records import dataclass
from gpuetl.telemetry.hardware_limits import Link
from gpuetl.telemetry.recorder import WorkerWork


@dataclass(frozen=True)
class WorkerReport:
    """One worker: its tasks and their seconds, bytes read from files, and what exchanges brought to it.

    `received_bytes` count rows that stayed on the worker, too.  `spilled` has the bytes over each link.
    """

    address: str
    tasks: int
    seconds: float
    file_bytes: int
    received_rows: int
    received_bytes: int
    spilled: Mapping[Link, int] = field(default_factory=dict)

    @property
    def spilled_bytes(self) -> int:
        """The bytes over all links."""
        return sum(self.spilled.values())


def worker_reports(workers: Iterable[WorkerWork]) -> tuple[WorkerReport, ...]:
    """Return the reports of workers, in the order of their addresses."""
    return tuple(
        WorkerReport(
            one.address, one.tasks, one.seconds, one.file_bytes, one.received_rows, one.received_bytes,
            dict(one.spilled),
        )
        for one in sorted(workers, key=lambda one: one.address)
    )  # fmt: skip


def skew(amounts: Sequence[float]) -> float:
    """Return the largest amount as a multiple of the mean: 1 where all are equal, or none has anything."""
    total = sum(amounts)
    return max(amounts) * len(amounts) / total if total else 1.0
