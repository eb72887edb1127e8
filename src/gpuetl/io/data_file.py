"""A file of a source: its state, its row groups, limits of their values, and the error of an unreadable one."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from gpuetl.records import dataclass

# The error of a source whose files are missing, have changed, or are not what the source says.


class DatasetError(Exception):
    """A source whose files are missing or are not what it says; worded for the user, without the place."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.hint = hint
        super().__init__(message)

    def __reduce__(self) -> tuple[type[DatasetError], tuple[str, str]]:
        """Keep the hint on the way from a worker."""
        return type(self), (self.args[0], self.hint)


# The state of a file: what tells that it is still the file, with the content, that a plan was made for.


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


# A file of a source, its row groups, and what is known of their values.


NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class DataFile:
    """One file and the values of the partition columns in its path, as written there.

    `state` is that in which the plan saw the file.  It goes where the file is read, and is compared there.
    """

    path: Path
    partition: Mapping[str, str | None]
    state: FileState | None = None


@dataclass(frozen=True)
class RowGroup:
    """A piece of a file that is read as a whole; a CSV file is one piece with an unknown number of rows.

    `ranges` has the smallest and largest value and the number of nulls, for the columns that state them.
    """

    file: DataFile
    index: int
    rows: int
    file_bytes: Mapping[str, int]
    ranges: Mapping[str, tuple[Any, Any, int]]

    @property
    def without_ranges(self) -> RowGroup:
        """The piece as what reads it wants it."""
        return RowGroup(self.file, self.index, self.rows, self.file_bytes, {})


class ColumnValues(NamedTuple):
    """What a footer tells of a column of texts or lists: values a row, bytes of a text with its offset, distinct texts.

    Each is what a few row groups have; `distinct` is infinite where nothing tells.
    """

    a_row: float
    text_bytes: float
    distinct: float = inf
