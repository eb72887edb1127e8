"""A file of this machine: its state, as the system reports it, and the file that is open for reading."""

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import suppress
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError, FileState, shortened, size_and_time_difference
from gpuetl.records import dataclass

KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe (FIFO)",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}
"""What a path can be instead of a file, by the type in its mode."""


class LocalFileState(NamedTuple):
    """What the system says of a file: see `FileState`.

    `difference` leaves out `ctime_ns`, which a new hard link or other permissions change, too.

    An inode means the same file only on one machine and one mounted file system: file systems in user space number
    their files anew for each mount.  So it is compared only where `machine` and `device` are the same.
    """

    size: int
    mtime_ns: int
    inode: int
    device: int
    ctime_ns: int
    machine: str

    @classmethod
    def of(cls, found: os.stat_result) -> LocalFileState:
        """Return the state that the system reports."""
        return cls(found.st_size, found.st_mtime_ns, found.st_ino, found.st_dev, found.st_ctime_ns, this_machine())

    @property
    def identity(self) -> tuple[str, int, int]:
        """What is equal for two paths of one file."""
        return self.machine, self.device, self.inode

    @property
    def guards_reads(self) -> bool:
        """Return False: a file that is open may be changed."""
        return False

    def is_settled(self, least_ns: int) -> bool:
        """Tell whether the file last changed longer ago than this.

        One that changed just now may change again within one tick of its file system's clock, unseen.
        """
        return time.time_ns() - max(self.mtime_ns, self.ctime_ns) > least_ns

    def difference(self, now: FileState) -> str:
        """Say what is different now, in words; nothing where the file is the same."""
        assert isinstance(now, LocalFileState)
        moved = (self.machine, self.device) == (now.machine, now.device) and self.inode != now.inode
        return ", ".join(["another file took its place"] * moved + size_and_time_difference(self, now))


@cache
def this_machine() -> str:
    """Return what tells this machine, since it was started, from others."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    return os.uname().nodename


@dataclass(frozen=True)
class LocalFile:
    """A local file that is open: see `OpenFile`."""

    path: Path
    state: LocalFileState
    descriptor: int = field(compare=False)

    def __str__(self) -> str:
        return str(self.path)

    @classmethod
    def open_path(cls, path: Path) -> LocalFile:
        """Open a file to read it, and wait for no pipe; raise `DatasetError` for what is no file."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            if error.errno == errno.ENXIO:  # a socket, or a device without a driver
                refuse_other_kinds(path, path.stat().st_mode)
            raise
        try:
            found = os.fstat(descriptor)
            refuse_other_kinds(path, found.st_mode)
            return cls(path, LocalFileState.of(found), descriptor)
        except BaseException:
            os.close(descriptor)
            raise

    def open(self) -> BinaryIO:
        """Return the file from its beginning.  Two of them at a time would share their position."""
        os.lseek(self.descriptor, 0, os.SEEK_SET)
        return os.fdopen(os.dup(self.descriptor), "rb")

    def read_at(self, start: int, size: int) -> bytes:
        """Return up to `size` bytes from a place on; threads may read at the same time."""
        pieces = []
        while size > 0 and (piece := os.pread(self.descriptor, size, start)):
            pieces.append(piece)
            start, size = start + len(piece), size - len(piece)
        return b"".join(pieces)

    def read_into(self, memory: memoryview, start: int) -> None:
        """Fill bytes with those of the file from a place on; threads may read at the same time."""
        while memory:
            size = os.preadv(self.descriptor, [memory], start)
            if not size:
                raise shortened(self.path)
            memory, start = memory[size:], start + size

    def read_bytes(self) -> bytes:
        """Return all bytes."""
        with self.open() as file:
            return file.read()

    def for_arrow(self) -> Any:
        """Return the file as Arrow's, which reads without the interpreter; the caller closes it.

        Arrow takes no descriptor, so it opens the one that is open by its name in `/proc`; where there is none, the
        path, of which `opened` looks once more after the reading.
        """
        import pyarrow as pa

        try:
            return pa.OSFile(f"/proc/self/fd/{self.descriptor}")
        except OSError:
            return pa.OSFile(str(self.path))

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self.descriptor)


def refuse_other_kinds(path: Path, mode: int) -> None:
    """Raise `DatasetError` for a pipe, a device or a folder, by its mode."""
    if not stat.S_ISREG(mode):
        raise DatasetError(
            coded("GE1421", f"{path} is {kind_of(mode)}, and gpuetl reads files"),
            "Write the rows to a file, or take it out of the source's path.",
        )


def kind_of(mode: int) -> str:
    """Say what a path is instead of a file; nothing for a file."""
    return KINDS.get(stat.S_IFMT(mode), "" if stat.S_ISREG(mode) else "not a file")
