"""A lock on folders while a commit changes what is in them: runs of this machine commit one after the other.

The lock is on the folder that holds a sink, so it leaves no file behind and ends with the process.  On NFS, which has
no locks of folders, runs of one sink at the same time are not kept apart.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

WAIT_S = 300.0
POLL_S = 0.02
NOT_LOCKABLE = frozenset((errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS))


class LockedTooLong(Exception):
    """A folder that another run has locked for a long time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        super().__init__(str(folder))


def nothing() -> None:
    """Do nothing while waiting."""


@contextmanager
def locked(folders: Iterable[Path], waiting: Callable[[], None] = nothing, shared: bool = False) -> Iterator[None]:
    """Lock folders, in the order of their inodes, so that two runs never wait for each other.

    `waiting` is called again and again while another run holds a lock; it may raise.  With `shared`, only commits are
    kept out: others that read may hold the lock, too.

    Raises
    ------
    LockedTooLong
        After five minutes.
    """
    found = {(status.st_dev, status.st_ino): folder for folder in folders if (status := _status(folder))}
    with ExitStack() as locks:
        for _, folder in sorted(found.items()):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            locks.callback(os.close, descriptor)
            _lock(descriptor, folder, waiting, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield


def _lock(descriptor: int, folder: Path, waiting: Callable[[], None], kind: int) -> None:
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise LockedTooLong(folder) from None
            waiting()
            time.sleep(POLL_S)
        except OSError as error:
            if error.errno not in NOT_LOCKABLE:
                raise
            return
        else:
            return


def _status(folder: Path) -> os.stat_result | None:
    try:
        return folder.stat()
    except OSError:
        return None
