"""Where compiled kernels are kept."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

MOST_BYTES = 1 << 30
"""Of all kernels that are kept: tens of thousands."""


def cache_folder() -> Path:
    """Return the folder of compiled kernels: GPUETL_KERNEL_CACHE, or one in the user's cache."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("GPUETL_KERNEL_CACHE") or Path(home) / "gpuetl" / "kernels")


def forget_oldest(folder: Path, most: int = MOST_BYTES) -> None:
    """Remove the files that were made or used longest ago, but for so many bytes; others may do so, too."""
    kept = 0
    with suppress(OSError):
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.stat().st_mtime, reverse=True):
            kept += entry.stat().st_size
            if kept > most:
                with suppress(OSError):
                    Path(entry.path).unlink()
