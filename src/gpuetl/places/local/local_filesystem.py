"""The disks of this machine, and what is mounted there, as a filesystem."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import unquote

from gpuetl.places.file_state import FileState
from gpuetl.places.filesystem import Listing
from gpuetl.places.local.folders import checked_path
from gpuetl.places.local.listing import list_files
from gpuetl.places.local.local_file import LocalFile, LocalFileState
from gpuetl.places.paths import FilePath, ImpossiblePath

if TYPE_CHECKING:
    from gpuetl.places.publishing import Publisher


class LocalFilesystem:
    """The files of this machine: see `Filesystem`."""

    writes: ClassVar[bool] = True

    def path_of(self, scheme: str, rest: str, folder: Path) -> Path:
        """Return a path that a file can have; `file:///a%20b` is `/a b`.

        Raises
        ------
        ImpossiblePath
            For one that is too long, holds what is no character of a name, or is a URL of another machine.
        """
        if not scheme:
            return checked_path(folder / rest)
        host, slash, path = rest.partition("/")
        if not slash or host not in ("", "localhost"):
            raise ImpossiblePath(f"'{scheme}://{rest}' is not a path of this machine: write {scheme}:///{rest}")
        return checked_path(Path(unquote(f"/{path}")))

    def list_files(self, path: FilePath, suffix: str | tuple[str, ...]) -> Listing:
        """Return what a path names, found by one walk."""
        return list_files(local(path), suffix)

    def info(self, path: FilePath) -> LocalFileState:
        """Return the state of a file; a link is followed."""
        return LocalFileState.of(local(path).stat())

    def open(self, path: FilePath, planned: FileState | None = None) -> LocalFile:
        """Open a file to read it, and wait for no pipe."""
        return LocalFile.open_path(local(path))

    def local_path(self, path: FilePath) -> Path:
        """Return the path."""
        return local(path)

    def publisher(self) -> Publisher:
        """Return how sinks in folders change."""
        from gpuetl.places.local.commit.publisher import LOCAL_PUBLISHER  # a plan writes nothing

        return LOCAL_PUBLISHER


def local(path: FilePath) -> Path:
    """Return the path, which is one of this machine."""
    assert isinstance(path, Path)
    return path
