"""The filesystem of a path, by the scheme that the user wrote."""

from __future__ import annotations

import re
from errno import EIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gpuetl.places.file_state import DatasetError
from gpuetl.places.filesystem import Filesystem
from gpuetl.places.local.local_filesystem import LocalFilesystem
from gpuetl.places.objects.object_filesystem import HTTP_SERVERS, OBJECT_STORES
from gpuetl.places.paths import FilePath, ImpossiblePath, Scheme, StorePath

if TYPE_CHECKING:
    from gpuetl.places.publishing import Publisher

LOCAL: Filesystem = LocalFilesystem()
FILE_SCHEME = "file"
ONE_SLASH = re.compile(r"(?P<scheme>s3|gs|az|https?|file):/(?!/)", re.IGNORECASE)
"""How paths begin that lack a slash: as local paths they would be in a folder named `s3:`."""
FILESYSTEMS: dict[str, Filesystem] = {
    "": LOCAL,
    FILE_SCHEME: LOCAL,
    **dict.fromkeys(("s3", "gs", "az"), OBJECT_STORES),
    **dict.fromkeys(("https", "http"), HTTP_SERVERS),
}
"""By scheme; paths without a scheme have the scheme ''."""


def filesystem_of(path: FilePath) -> Filesystem:
    """Return the filesystem of a path."""
    return FILESYSTEMS[path.scheme] if isinstance(path, StorePath) else LOCAL


def check_store(path: FilePath) -> None:
    """Make the client of an object store, which takes no request.

    Raises
    ------
    DatasetError
        For options, of the pipeline or the environment, that the client does not take.
    """
    if isinstance(path, StorePath) and filesystem_of(path) in (OBJECT_STORES, HTTP_SERVERS):
        from gpuetl.places.objects.clients import client_of

        client_of(path)


def publisher_of(path: FilePath) -> Publisher:
    """Return how sinks in the store of a path change; the store is one that gpuetl writes to."""
    publisher = filesystem_of(path).publisher()
    assert publisher is not None, path  # `scheme_problem` has refused others
    return publisher


def local_path(path: FilePath) -> Path | None:
    """Return the path by which this process itself finds a file or folder; None where there is none."""
    return filesystem_of(path).local_path(path)


def path_of(text: str, folder: FilePath) -> FilePath:
    """Return a path as the user wrote it; one without a scheme is relative to `folder`, which may be that of a store.

    The scheme has a filesystem: `scheme_problem` tells of others.

    Raises
    ------
    ImpossiblePath
        For a path that no file can have.
    """
    scheme, rest = Scheme.of(text)
    if isinstance(folder, StorePath):
        if not scheme and not rest.startswith("/"):
            return folder.joined(rest)
        folder = Path("/")
    return FILESYSTEMS[scheme].path_of(scheme, rest, folder)


def folder_of(root: str | FilePath) -> FilePath:
    """Return the folder that relative paths start at, which may be one of a store.

    Raises
    ------
    ImpossiblePath
        For a path that no folder can have, and one of a store that gpuetl does not support.
    """
    if isinstance(root, StorePath | Path) or not Scheme.of(root).name:
        return root if isinstance(root, StorePath) else Path(root)
    if problem := scheme_problem(root):
        raise ImpossiblePath(problem[0])
    return path_of(root, Path())


def read_small(path: FilePath) -> bytes:
    """Return all bytes of a file that is text: of a pipeline, a kernel, a header.

    Raises
    ------
    OSError
        For a file that cannot be read.
    """
    if isinstance(path, Path):
        return path.read_bytes()
    try:
        file = filesystem_of(path).open(path)
        try:
            return file.read_bytes()
        finally:
            file.close()
    except DatasetError as error:
        raise OSError(EIO, str(error), str(path)) from None


def path_exists(path: FilePath) -> bool:
    """Tell whether there is a file at a path, or also a folder on this machine; raise `OSError` where that fails.

    Stores deny a look at what is not there to users without the right to list the bucket.
    """
    if isinstance(path, Path):
        return path.exists()
    try:
        filesystem_of(path).info(path)
    except (FileNotFoundError, PermissionError):
        return False
    except DatasetError as error:
        raise OSError(EIO, str(error), str(path)) from None
    return True


Use = Literal["read", "write"]
"""What a path is for: a source, or a sink."""


def scheme_problem(text: str, use: Use = "read") -> tuple[str, str] | None:
    """Return what is wrong with the scheme of a path, and the next step; None where gpuetl supports it.

    A sink needs a store to which gpuetl writes.
    """
    scheme, _ = Scheme.of(text)
    if slash := ONE_SLASH.match(text):
        right = f"{slash['scheme'].lower()}://{text[slash.end() :]}"
        return f"'{text}' has one slash after the scheme", f"Did you mean '{right}'?  ./{text} is a local path."
    schemes = [name for name, one in FILESYSTEMS.items() if use == "read" or one.writes]
    if scheme in schemes:
        return None
    supported = ", ".join(f"{name}://" for name in schemes if name)
    message = f"gpuetl does not support the scheme '{scheme}' of '{text}'"
    return f"{message}; it supports local paths and {supported}", ELSEWHERE


ELSEWHERE = "Copy the files to this machine, or mount their store, and give the local path."
