"""Folders for temporary files of one process, which the next run removes where the process was killed.

A process holds a lock on its own folder.  The system releases the lock when the process ends.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class ScratchFolder(NamedTuple):
    """A folder that only this user can open, and the descriptor that holds its lock."""

    path: Path
    lock: int

    def remove(self) -> None:
        """Remove the folder with all that is in it, and release the lock."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.lock)


def new_folder(prefix: str, base: Path) -> ScratchFolder:
    """Make a folder and lock it.  Another run may take it for dead before it is locked."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=base))
        if (lock := locked(folder)) is not None:
            if folder.is_dir():
                return ScratchFolder(folder, lock)
            os.close(lock)


def remove_dead(prefix: str, base: Path) -> None:
    """Remove the folders of this user whose processes have ended; those of others, and of other users, stay."""
    for folder in base.glob(f"{prefix}*"):
        with suppress(OSError):
            if folder.lstat().st_uid == os.getuid() and (lock := locked(folder)) is not None:
                ScratchFolder(folder, lock).remove()


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
