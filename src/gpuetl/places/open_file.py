"""Files of sources, opened for reading and compared with what the plan saw, before and after they are read."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

from gpuetl.places.file_state import FileState, deleted, refuse_change
from gpuetl.places.filesystem import OpenFile
from gpuetl.places.paths import FilePath
from gpuetl.places.registry import filesystem_of


class PlannedFile(Protocol):
    """A file of a source, and the state in which the plan saw it."""

    @property
    def path(self) -> FilePath:
        """Where it is."""

    @property
    def state(self) -> FileState | None:
        """Its state, if that is known."""


@contextmanager
def opened(path: FilePath, planned: FileState | None = None) -> Iterator[OpenFile]:
    """Open a file for the block; compare it with the state that the plan saw, if that is known, and once more after.

    Costs about 10 µs for a local file.  An error of the block gives way to that of a change, which is its likely cause.

    Raises
    ------
    DatasetError
        For a file that is gone or has changed, and for a pipe, which is never waited for, a device or a folder.
    OSError
        For a file that cannot be opened otherwise.
    """
    try:
        file = filesystem_of(path).open(path, planned)
    except OSError as error:
        if planned is not None and is_gone(error):
            raise deleted(path) from None
        raise
    try:
        refuse_change(path, planned, file.state)
        with unchanged([(path, file.state)]):
            yield file
    finally:
        file.close()


@contextmanager
def opened_to_look(path: FilePath, planned: FileState | None = None) -> Iterator[OpenFile]:
    """Open a file as `opened` does, for a plan that looks at what a run reads again.

    What the block reads of an object of a store is kept, so that the run does not ask for it again.
    """
    with opened(path, planned) as file:
        yield getattr(file, "to_look", lambda: file)()


@contextmanager
def unchanged(files: Iterable[tuple[FilePath, FileState | None]]) -> Iterator[None]:
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
def read_by_path(files: Iterable[PlannedFile]) -> Iterator[None]:
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


def check_unchanged(files: Iterable[tuple[FilePath, FileState | None]]) -> None:
    """Raise `DatasetError` for the first file that is not in the state that is given, where one is."""
    for path, planned in files:
        if planned is None or planned.guards_reads:
            continue
        try:
            now = filesystem_of(path).info(path)
        except OSError as error:
            if not is_gone(error):
                raise
            raise deleted(path) from None
        refuse_change(path, planned, now)


def is_gone(error: OSError) -> bool:
    """Tell whether an error means that there is no such file; ESTALE is that of a network file system."""
    return error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)
