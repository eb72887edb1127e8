"""Paths of this machine, and folders that are made and removed."""

from __future__ import annotations

import glob
import os
import shutil
from contextlib import suppress
from pathlib import Path

from gpuetl.places.paths import ImpossiblePath
from gpuetl.threads import in_threads

# Which paths are possible, and where a glob begins.


MAX_NAME_BYTES, MAX_PATH_BYTES = 255, 4096


def checked_path(path: Path) -> Path:
    """Return a path that a file can have.

    Raises
    ------
    ImpossiblePath
        For one that is too long, or holds what is no character of a name.
    """
    try:
        names = [os.fsencode(part) for part in path.parts]
    except UnicodeEncodeError:
        raise ImpossiblePath("half of a character cannot stand in a path") from None
    if any(b"\0" in name for name in names):
        raise ImpossiblePath("the character NUL cannot stand in a path")
    longest = max((len(name) for name in names), default=0)
    if longest > MAX_NAME_BYTES:
        raise ImpossiblePath(f"a name in the path has {longest:,} bytes; {MAX_NAME_BYTES} are possible")
    if (length := len(os.fsencode(path))) >= MAX_PATH_BYTES:
        raise ImpossiblePath(f"the path has {length:,} bytes; fewer than {MAX_PATH_BYTES:,} are possible")
    return path


def plain_part(path: Path) -> Path:
    """Return the part of the path that is no glob; all of it where it exists as it stands."""
    if path.exists():
        return path
    parts = path.parts
    return Path(*parts[: next((i for i, part in enumerate(parts) if glob.has_magic(part)), len(parts))])


# Folders made, and removed with what is in them.


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
