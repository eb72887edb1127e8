"""Scratch folders of local clusters: one a run, for its owner alone, removed with the run.

A run that is killed cannot remove its folder.  A small process of the system's shell does: it waits until the run has
ended.  Where that was killed as well, the next run removes the folder.  A run holds a lock on its own folder, which the
system releases when the run ends.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import dask

PREFIX = "gpuetl-workers-"
REMOVE = 'read -r line; for second in 1 2 3; do rm -rf -- "$1"; sleep "$second"; done; rm -rf -- "$1"'
"""Reads until the run has ended; workers that end just then may still write."""


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a new folder that only this user can open, and remove it at the end with all that is in it.

    It is in dask's `temporary-directory`, if that is set, else where the system has temporary files.
    """
    base = Path(dask.config.get("temporary-directory", None) or tempfile.gettempdir())
    remove_dead(base)
    folder, lock = new_folder(base)
    try:
        with removed_if_killed(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


@contextmanager
def removed_if_killed(folder: Path) -> Iterator[None]:
    """Have another process remove a folder where this one ends before the block does."""
    try:
        remover = subprocess.Popen(
            ["/bin/sh", "-c", REMOVE, "sh", str(folder)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True, cwd="/",
        )  # fmt: skip
    except OSError:  # no shell: the next run removes it
        yield
        return
    try:
        yield
    finally:
        remover.kill()
        remover.communicate()


def new_folder(base: Path) -> tuple[Path, int]:
    """Make a folder and lock it; return both.  Another run may take it for dead before it is locked."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
        if (lock := locked(folder)) is not None:
            if folder.is_dir():
                return folder, lock
            os.close(lock)


def remove_dead(base: Path) -> None:
    """Remove the folders of this user whose runs have ended; those of others, and of other users, stay."""
    for folder in base.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if folder.lstat().st_uid == os.getuid() and (lock := locked(folder)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def locked(folder: Path) -> int | None:
    """Lock a folder; return the lock, which closing it releases, or None where another process has it."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock
