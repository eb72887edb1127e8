"""What gpuetl asks of a kind of store: to list files, to tell their states, and to read ranges of their bytes.

The names are those of fsspec (`info`, `open`), of pyarrow.fs (a filesystem for each scheme) and of obstore (ranged
reads, states with ETags).  Errors of a filesystem are `OSError`s with an `errno`, and `FileNotFoundError` for a file
that does not exist.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, NamedTuple, Protocol

from gpuetl.places.file_state import FileState
from gpuetl.places.paths import FilePath
from gpuetl.records import dataclass

if TYPE_CHECKING:
    from gpuetl.places.publishing import Publisher


class ListedFile(NamedTuple):
    """A file of a source, and its state when it was listed."""

    path: FilePath
    state: FileState


@dataclass(frozen=True)
class Listing:
    """What a path names.

    Parameters
    ----------
    path, suffix
        The path, and how the names of files end that are read of a folder: one ending, or several.
    files
        The files that are read, in the order of their paths: folder by folder.
    is_folder, is_glob
        Whether the path is a folder, or a glob.
    others
        Visible files below a folder that have another suffix.
    folders
        Folders that a glob matches, whose files it does not match by that.
    file_links
        The files that are links.
    links
        Links to folders that are not followed, and lead out of the folder in which the walk began.
    """

    path: FilePath
    suffix: str | tuple[str, ...]
    files: tuple[ListedFile, ...]
    is_folder: bool = False
    is_glob: bool = False
    others: tuple[FilePath, ...] = ()
    folders: tuple[FilePath, ...] = ()
    file_links: tuple[Path, ...] = ()
    links: tuple[Path, ...] = ()

    @cached_property
    def by_identity(self) -> dict[Hashable, FilePath]:
        """The first path of each file, by what is the same for all of its names."""
        return {state.identity: path for path, state in reversed(self.files)}


class OpenFile(Protocol):
    """A file that is open and in a known state.

    It stands in for its path: whatever it opens reads the same file, also where another one has taken its place
    meanwhile.  Two of them are equal for one path in one state, so that they can be keys of a cache.
    """

    @property
    def path(self) -> FilePath:
        """The path of the file."""

    @property
    def state(self) -> FileState:
        """The state of the file when it was opened."""

    def open(self) -> BinaryIO:
        """Return the file from its beginning.  Two of them at a time may share their position."""

    def read_at(self, start: int, size: int) -> bytes:
        """Return up to `size` bytes from a place on; threads may read at the same time."""

    def read_into(self, memory: memoryview, start: int) -> None:
        """Fill writable bytes with those of the file from a place on; threads may read at the same time.

        Raises
        ------
        DatasetError
            For a file that ends before the memory is full.
        """

    def read_bytes(self) -> bytes:
        """Return all bytes."""

    def for_arrow(self) -> Any:
        """Return the file as a `pyarrow.NativeFile`; the caller closes it."""

    def close(self) -> None:
        """Let go of the file."""


class Filesystem(Protocol):
    """A kind of store.  It has no state of its own, and threads share it.

    Attributes
    ----------
    writes
        Whether sinks can be there: then `publisher` has one.
    """

    writes: ClassVar[bool]

    def path_of(self, scheme: str, rest: str, folder: Path) -> FilePath:
        """Return a path as the user wrote it: its scheme, if it has one, and what follows `://`.

        A path without a scheme is relative to `folder`.

        Raises
        ------
        ImpossiblePath
            For a path that no file can have.
        """

    def list_files(self, path: FilePath, suffix: str | tuple[str, ...]) -> Listing:
        """Return the files that a path, a glob or a folder names; a path that does not exist names nothing.

        Raises
        ------
        DatasetError
            For a folder that cannot be listed, and for what would be read and is no file.
        """

    def info(self, path: FilePath) -> FileState:
        """Return the state of a file; raise `OSError` where it cannot be told."""

    def open(self, path: FilePath, planned: FileState | None = None) -> OpenFile:
        """Open a file to read it.

        If a state that guards reads is `planned`, the file is opened in it without a look at the store.

        Raises
        ------
        DatasetError
            For what is no file.
        OSError
            For a file that cannot be opened.
        """

    def local_path(self, path: FilePath) -> Path | None:
        """Return the path by which this process itself finds a file or folder; None where there is none."""

    def publisher(self) -> Publisher | None:
        """Return how sinks in the store change; None for a store that is only read."""
