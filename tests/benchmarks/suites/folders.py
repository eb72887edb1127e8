"""Folders of data that are there as a whole, or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path


def make_whole(folder: Path, make: Callable[[Path], object]) -> None:
    """Make a folder unless it is there, under another name until it is complete."""
    if folder.exists():
        return
    begun = folder.with_suffix(".begun")
    shutil.rmtree(begun, ignore_errors=True)
    make(begun)
    begun.rename(folder)
