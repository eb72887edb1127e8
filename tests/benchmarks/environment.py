"""Where and with what a benchmark ran."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


def today() -> str:
    """Return the date, in UTC."""
    return datetime.datetime.now(tz=datetime.UTC).date().isoformat()


def described(packages: Iterable[str]) -> dict[str, Any]:
    """Return the date, the hardware that this process may use, and the versions of packages."""
    return {
        "date": today(),
        "hardware": {"processor": processor(), "cores": len(os.sched_getaffinity(0))},
        "versions": {"python": platform.python_version(), **{name: version_of(name) for name in packages}},
    }


def version_of(package: str) -> str:
    """Return the version of a package; gpuetl may be on the path without being installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def processor() -> str:
    """Return the processor's name, where the system tells it."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if Path("/proc/cpuinfo").exists() else []
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor()
    )
