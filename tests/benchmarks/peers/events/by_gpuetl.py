"""The events pipeline: the file beside this one."""

from __future__ import annotations

import os
from pathlib import Path

import gpuetl as ge


def run(data: Path, out: Path) -> None:
    """Read, compute, write."""
    os.environ.update(EVENTS=str(data), OUT=str(out))
    ge.load(Path(__file__).with_name("events.yaml")).run(engine="pandas", keep=[])
