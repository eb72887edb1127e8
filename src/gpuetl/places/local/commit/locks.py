"""Locks of folders while a commit changes them, and the lease of a run on its staging folders."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from gpuetl.records import dataclass

# A lock on folders while a commit changes what is in them: runs of this machine commit one after the other.
#
# The lock is on the folder that holds a sink, so it leaves no file behind and ends with the process.  On NFS, which
# has
# no locks of folders, runs of one sink at the same time are not kept apart.


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


# The lease of a run: a locked file in each of its staging folders, which says who writes there.
#
# The system frees the lock when the process ends, however it ends.  A lease without a lock belongs to a dead run if it
# was this machine's.  Other machines may share the folder without sharing locks: their runs are never taken for dead.


LEASE = "lease.json"
Status = Literal["live", "dead", "elsewhere", "unknown"]
"""`elsewhere` is a run of another host, `unknown` a folder without a readable lease."""


@cache
def boot_id() -> str:
    """Return what is the same until the machine starts again, in all of its containers; empty where it is not known."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


@dataclass(frozen=True)
class Lease:
    """Who writes to a staging folder.

    `made` counts the folders above the staging folder that the run made.
    """

    run_id: str
    target: str
    pipeline: str
    host: str
    boot: str
    pid: int
    started: str
    made: int = 0

    @property
    def is_here(self) -> bool:
        """Whether it is a run of this machine."""
        return self.host == socket.gethostname() or (bool(self.boot) and self.boot == boot_id())

    @classmethod
    def read(cls, text: bytes) -> Lease | None:
        """Return the lease that a file holds; None for one that was not written whole."""
        try:
            lease = cls(**json.loads(text))
            return lease if isinstance(lease.made, int) else None
        except (ValueError, TypeError):
            return None


class Holder(NamedTuple):
    """What is known of the run that a staging folder belongs to."""

    status: Status
    lease: Lease | None = None


def hold(staging: Path, lease: Lease) -> int:
    """Write a lease to a staging folder and lock it; return the descriptor, which is closed to let go of it."""
    descriptor = os.open(staging / LEASE, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # another run may look at it for a moment
        os.write(descriptor, json.dumps(asdict(lease)).encode())
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def holder_of(staging: Path) -> Holder:
    """Tell whether the run that a staging folder belongs to is alive.

    A folder in which nothing is but an empty lease is of a run that died when it began.
    """
    try:
        descriptor = os.open(staging / LEASE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # a pipe is not waited for
    except OSError:
        return Holder("dead" if _is_empty(staging) else "unknown")
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return Holder("unknown")
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        lease = Lease.read(os.read(descriptor, 1 << 16))
    except BlockingIOError:
        return Holder("live", Lease.read(os.read(descriptor, 1 << 16)))
    except OSError:
        return Holder("unknown")
    finally:
        os.close(descriptor)
    if lease is None:
        return Holder("dead" if _is_empty(staging) else "unknown")
    return Holder("dead" if lease.is_here else "elsewhere", lease)


def _is_empty(staging: Path) -> bool:
    try:
        return all(name == LEASE for name in os.listdir(staging))  # noqa: PTH208
    except OSError:
        return False
