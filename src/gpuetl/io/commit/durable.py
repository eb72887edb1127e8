"""Files and folders brought to disk: what is there after a power failure."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from gpuetl.threads import in_threads

SYNCING_THREADS = 16
"""A file system syncs files that are asked for at the same time together."""


def sync(path: Path) -> None:
    """Wait until a file's bytes, or a folder's names, are on disk; some file systems cannot sync folders."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        if not path.is_dir():
            raise
    finally:
        os.close(descriptor)


def sync_all(paths: Iterable[Path]) -> None:
    """Sync files and folders, several at a time."""
    in_threads(sync, dict.fromkeys(paths), SYNCING_THREADS)


def folders_below(folder: Path) -> list[Path]:
    """Return a folder and those below it; links are not followed."""
    return [Path(place) for place, _, _ in os.walk(folder)]


def write_atomically(path: Path, text: str, durable: bool) -> None:
    """Write a file that is there whole or not at all."""
    temporary = path.with_name(f"{path.name}.tmp")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        if durable:
            os.fsync(file.fileno())
    temporary.replace(path)
