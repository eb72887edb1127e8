"""Where compiled kernels are kept."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder of compiled kernels: GPUETL_KERNEL_CACHE, or one in the user's cache."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("GPUETL_KERNEL_CACHE") or Path(home) / "gpuetl" / "kernels")
