"""The state of a file: what tells that it is still the file, with the content, that a plan was made for."""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe (FIFO)",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}
"""What a path can be instead of a file, by the type in its mode."""


class FileState(NamedTuple):
    """What the system says of a file, as far as a change of its content changes it.

    Two states are equal if nothing at all has changed, which is what a cache needs.  `difference` is what ends a run.
    It leaves out `ctime_ns`, which a new hard link or other permissions change, too.

    An inode means the same file only on one machine and one mounted file system: file systems in user space number
    their files anew for each mount.  So it is compared only where `machine` and `device` are the same.  A state of an
    object in a store would carry its ETag instead of the inode.
    """

    size: int
    mtime_ns: int
    inode: int
    device: int
    ctime_ns: int
    machine: str

    @classmethod
    def of(cls, found: os.stat_result) -> FileState:
        """Return the state that the system reports."""
        return cls(found.st_size, found.st_mtime_ns, found.st_ino, found.st_dev, found.st_ctime_ns, this_machine())

    @property
    def identity(self) -> tuple[str, int, int]:
        """What is equal for two paths of one file."""
        return self.machine, self.device, self.inode

    def is_settled(self, least_ns: int) -> bool:
        """Tell whether the file last changed longer ago than this.

        One that changed just now may change again within one tick of its file system's clock, unseen.
        """
        return time.time_ns() - max(self.mtime_ns, self.ctime_ns) > least_ns

    def difference(self, now: FileState) -> str:
        """Say what is different now, in words; nothing where the file is the same."""
        parts = []
        if (self.machine, self.device) == (now.machine, now.device) and self.inode != now.inode:
            parts.append("another file took its place")
        if self.size != now.size:
            parts.append(f"its size was {self.size:,} bytes and is {now.size:,} now")
        if self.mtime_ns != now.mtime_ns:
            parts.append(f"it was last modified at {utc(self.mtime_ns)} and is from {utc(now.mtime_ns)} now")
        return ", ".join(parts)


@cache
def this_machine() -> str:
    """Return what tells this machine, since it was started, from others."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    return os.uname().nodename


def kind_of(mode: int) -> str:
    """Say what a path is instead of a file; nothing for a file."""
    return KINDS.get(stat.S_IFMT(mode), "" if stat.S_ISREG(mode) else "not a file")


def utc(time_ns: int) -> str:
    """Return a time of a file system in words."""
    try:
        return f"{datetime.fromtimestamp(time_ns / 1e9, UTC):%Y-%m-%d %H:%M:%S.%f} UTC"
    except (OverflowError, ValueError, OSError):  # a time that Python's calendar does not have
        return f"{time_ns:,} ns after 1970"
