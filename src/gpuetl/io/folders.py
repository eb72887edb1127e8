"""Folders made, and removed with what is in them."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from gpuetl.threads import in_threads

REMOVERS = 16


def make_folders(folder: Path) -> list[Path]:
    """Make a folder and those above it that are missing; return the ones that were made, outermost first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    made: list[Path] = []
    try:
        for path in reversed(missing):
            path.mkdir()
            made.append(path)
    except OSError:
        for path in reversed(made):
            path.rmdir()
        raise
    return made


def remove_folder(folder: Path) -> None:
    """Remove a folder and what is in it, if it is there, as far as that can be done; symbolic links are not followed.

    Threads remove the files: one takes 80 ms to give back a gigabyte of the page cache.  They are more than Arrow's,
    of which there is one where OMP_NUM_THREADS says so, as dask does to a process that starts workers.
    """
    if folder.is_symlink():
        return
    files = [Path(place, name) for place, _, names in os.walk(folder) for name in names]
    with suppress(RuntimeError):  # no thread can be had, where there are too many or the interpreter ends
        in_threads(_remove, files, REMOVERS)
    shutil.rmtree(folder, ignore_errors=True)


def _remove(file: Path) -> None:
    with suppress(OSError):
        file.unlink()
