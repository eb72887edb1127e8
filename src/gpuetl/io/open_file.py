"""Files of sources, opened for reading and compared with what the plan saw, before and after they are read."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from gpuetl.io.data_file import DatasetError, FileState, kind_of
from gpuetl.messages import coded
from gpuetl.records import dataclass

if TYPE_CHECKING:
    from gpuetl.io.data_file import DataFile

AGAIN = "Run again when no other program changes the files of the source."


@dataclass(frozen=True)
class OpenFile:
    """A file that is open and in a known state.

    It stands in for its path: whatever it opens reads the same file, also where another one has taken its place
    meanwhile.  Two of them are equal for one path in one state, so that they can be keys of a cache.
    """

    path: Path
    state: FileState
    descriptor: int = field(compare=False)

    def __str__(self) -> str:
        return str(self.path)

    def open(self, mode: str = "rb") -> BinaryIO:
        """Return the file from its beginning.  Two of them at a time would share their position."""
        assert mode == "rb"
        os.lseek(self.descriptor, 0, os.SEEK_SET)
        return os.fdopen(os.dup(self.descriptor), "rb")

    def read_at(self, start: int, size: int) -> bytes:
        """Return up to `size` bytes from a place on; threads may read at the same time."""
        pieces = []
        while size > 0 and (piece := os.pread(self.descriptor, size, start)):
            pieces.append(piece)
            start, size = start + len(piece), size - len(piece)
        return b"".join(pieces)

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


@contextmanager
def opened(path: Path, planned: FileState | None = None) -> Iterator[OpenFile]:
    """Open a file for the block; compare it with the state that the plan saw, if that is known, and once more after.

    Costs about 10 µs.  An error of the block gives way to that of a change, which is its likely cause.

    Raises
    ------
    DatasetError
        For a file that is gone or has changed, and for a pipe, which is never waited for, a device or a folder.
    OSError
        For a file that cannot be opened otherwise.
    """
    descriptor = open_descriptor(path, planned)
    try:
        found = os.fstat(descriptor)
        refuse_other_kinds(path, found.st_mode)
        state = FileState.of(found)
        refuse_change(path, planned, state)
        with unchanged([(path, state)]):
            yield OpenFile(path, state, descriptor)
    finally:
        os.close(descriptor)


def open_descriptor(path: Path, planned: FileState | None) -> int:
    """Open a file to read it, and wait for no pipe; one that the plan saw and that is gone is an error."""
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket, or a device without a driver
            refuse_other_kinds(path, path.stat().st_mode)
        if planned is not None and is_gone(error):
            raise deleted(path) from None
        raise


@contextmanager
def unchanged(files: Iterable[tuple[Path, FileState | None]]) -> Iterator[None]:
    """Let the block read files, which are checked when it ends, also when it fails.

    Raises
    ------
    DatasetError
        For the first file that has changed.
    """
    files = list(files)
    try:
        yield
    except Exception:
        check_unchanged(files)
        raise
    check_unchanged(files)


@contextmanager
def read_by_path(files: Iterable[DataFile]) -> Iterator[None]:
    """Let the block read files by their paths, as libraries do that take no open file; check them before and after.

    Raises
    ------
    DatasetError
        For the first file that has changed.
    """
    states = [(file.path, file.state) for file in files]
    check_unchanged(states)
    with unchanged(states):
        yield


def check_unchanged(files: Iterable[tuple[Path, FileState | None]]) -> None:
    """Raise `DatasetError` for the first file that is not in the state that is given, where one is."""
    for path, planned in files:
        if planned is None:
            continue
        try:
            found = path.stat()
        except OSError as error:
            if not is_gone(error):
                raise
            raise deleted(path) from None
        refuse_change(path, planned, FileState.of(found))


def refuse_change(path: Path, planned: FileState | None, now: FileState) -> None:
    """Raise `DatasetError` for a file that is not what the plan saw."""
    if planned is not None and (what := planned.difference(now)):
        raise DatasetError(coded("GE1420", f"{path} changed during the run: {what}"), AGAIN)


def refuse_other_kinds(path: Path, mode: int) -> None:
    """Raise `DatasetError` for a pipe, a device or a folder, by its mode."""
    if not stat.S_ISREG(mode):
        raise DatasetError(
            coded("GE1421", f"{path} is {kind_of(mode)}, and gpuetl reads files"),
            "Write the rows to a file, or take it out of the source's path.",
        )


def deleted(path: Path) -> DatasetError:
    """Word a file that is not there any more."""
    return DatasetError(coded("GE1420", f"{path} was deleted or moved during the run"), AGAIN)


def is_gone(error: OSError) -> bool:
    """Tell whether an error means that there is no such file; ESTALE is that of a network file system."""
    return error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)
