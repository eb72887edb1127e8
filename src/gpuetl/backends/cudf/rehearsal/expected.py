"""What a rehearsal tells of kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class Expected(Protocol):
    """Takes the kernels that a run will ask for."""

    def source(self, source: str) -> None:
        """Expect that a text will be `compiled`."""

    def user_kernel(self, source: str, path: Path, entry: str) -> None:
        """Expect a call of `Machine.user_kernel`."""

    def end(self) -> None:
        """There are no more."""
