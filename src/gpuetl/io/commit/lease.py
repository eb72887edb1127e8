"""The lease of a run: a locked file in each of its staging folders, which says who writes there.

The system frees the lock when the process ends, however it ends.  A lease without a lock belongs to a dead run if it
was this machine's.  Other machines may share the folder without sharing locks: their runs are never taken for dead.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import stat
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from gpuetl.records import dataclass

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
