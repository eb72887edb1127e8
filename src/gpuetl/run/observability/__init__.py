"""What operations see of a run: logs, traces, metrics and lineage, each by an observer that is off by default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuetl.run.observers import Observers

if TYPE_CHECKING:
    from gpuetl.run.account import Account


def observers_of(account: Account) -> Observers:
    """Return the observers of a run."""
    return Observers([])
