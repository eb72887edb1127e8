"""Object stores, and files of HTTP servers, as filesystems.

What makes requests is imported by the first one: obstore takes 15 ms, and most pipelines are local.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import translate
from glob import has_magic
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import unquote

from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError, FileState
from gpuetl.places.filesystem import ListedFile, Listing
from gpuetl.places.paths import FilePath, ImpossiblePath, StorePath, is_hidden

if TYPE_CHECKING:
    from gpuetl.places.objects.commit.bucket import StoredObject
    from gpuetl.places.objects.object_file import ObjectFile, ObjectState
    from gpuetl.places.publishing import Publisher

ANY_DEPTH = "**"


class ObjectFilesystem:
    """The objects of S3, Google or Azure: see `Filesystem`."""

    writes: ClassVar[bool] = True

    def path_of(self, scheme: str, rest: str, folder: FilePath) -> StorePath:
        """Return a path: the bucket, and a key without a slash at its ends."""
        bucket, _, key = rest.partition("/")
        if not bucket:
            raise ImpossiblePath(f"'{scheme}://{rest}' has no bucket: write {scheme}://bucket/key")
        if any(part in (".", "..") for part in key.split("/")):
            raise ImpossiblePath(f"'{scheme}://{rest}' has '.' or '..', which keys do not have")
        return StorePath(scheme, PurePosixPath(bucket, *filter(None, key.split("/"))))

    def list_files(self, path: FilePath, suffix: str | tuple[str, ...]) -> Listing:
        """Return what a path names: an object, those that a glob matches, or those below a prefix."""
        path = of_store(path)
        try:
            return self._listed(path, suffix)
        except OSError as error:
            message = coded("GE1422", f"cannot list {path}: {error.strerror}")
            raise DatasetError(message, "Check the path and the credentials.") from None

    def _listed(self, path: StorePath, suffix: str | tuple[str, ...]) -> Listing:
        looks_like_file = path.name.endswith(suffix)
        if looks_like_file and (found := self._object_at(path)):
            return Listing(path, suffix, (found,))
        if has_magic(str(path.key)):
            return self._glob(path, suffix)
        objects = self._below(path)
        if not objects and not looks_like_file and (found := self._object_at(path)):
            return Listing(path, suffix, (found,))
        depth = len(path.parts)
        visible = [one for one in objects if not is_hidden(one.path.parts[depth:])]
        files = tuple(one for one in visible if one.path.name.endswith(suffix))
        others = tuple(one.path for one in visible if not one.path.name.endswith(suffix))
        return Listing(path, suffix, files, is_folder=bool(objects), others=others)

    def _glob(self, path: StorePath, suffix: str | tuple[str, ...]) -> Listing:
        parts = path.parts
        plain = next(number for number, part in enumerate(parts) if has_magic(part))
        if plain == 0:
            raise DatasetError(coded("GE1401", f"{path} has a pattern as its bucket"), "Name the bucket.")
        root, patterns = replace(path, key=PurePosixPath(*parts[:plain])), parts[plain:]
        objects = [one for one in self._below(root) if matches(one.path.parts[plain:], patterns)]
        folders: tuple[FilePath, ...] = ()
        if not objects:
            above = {parent for one in self._below(root) for parent in parents_below(one.path, plain)}
            folders = tuple(sorted(one for one in above if matches(one.parts[plain:], patterns)))
        return Listing(path, suffix, tuple(objects), is_glob=True, folders=folders)

    def _below(self, path: StorePath) -> list[ListedFile]:
        """Return the objects below a prefix in the order of their paths; commits under way are not seen."""
        from gpuetl.places.objects.commit.bucket import bucket_of
        from gpuetl.places.objects.commit.readers import visible_objects

        found = visible_objects(bucket_of(path), "/".join(path.parts[1:]))
        marks = folder_marks(found, "/".join(path.parts[1:]))
        listed = [listed_file(path, one) for one in found if one.key not in marks]
        return sorted(listed, key=lambda one: one.path.parts)

    def _object_at(self, path: StorePath) -> ListedFile | None:
        try:
            return ListedFile(path, self.info(path))
        except FileNotFoundError:
            return None

    def info(self, path: FilePath) -> ObjectState:
        """Return the state of an object."""
        from gpuetl.places.objects.object_file import look_at

        return look_at(of_store(path))

    def open(self, path: FilePath, planned: FileState | None = None) -> ObjectFile:
        """Open an object to read it, in a planned state without a request."""
        from gpuetl.places.objects.object_file import ObjectFile

        return ObjectFile.open_path(of_store(path), planned)

    def local_path(self, path: FilePath) -> Path | None:
        """Return None: this process finds no object by a path."""
        return None

    def publisher(self) -> Publisher | None:
        """Return how sinks on object stores change."""
        from gpuetl.places.objects.commit.publisher import OBJECT_PUBLISHER

        return OBJECT_PUBLISHER


class HttpFilesystem(ObjectFilesystem):
    """Files of HTTP servers, one at a time: servers have no lists, and take no files."""

    writes: ClassVar[bool] = False

    def path_of(self, scheme: str, rest: str, folder: FilePath) -> StorePath:
        """Return a path: the host, and the path on it; `%20` is a space."""
        host, _, key = rest.partition("/")
        if not host or not key.strip("/"):
            raise ImpossiblePath(f"'{scheme}://{rest}' names no file: write {scheme}://host/path")
        if "?" in key or "@" in host:
            raise ImpossiblePath(
                f"the URL of {scheme}://{host.rpartition('@')[2]} has a query or a password, which may be secret"
            )
        return StorePath(scheme, PurePosixPath(host, *filter(None, unquote(key).split("/"))))

    def list_files(self, path: FilePath, suffix: str | tuple[str, ...]) -> Listing:
        """Return the file that a path names."""
        path = of_store(path)
        if has_magic(str(path.key)):
            message = coded("GE1422", f"{path} is a glob, and HTTP servers have no lists of files")
            raise DatasetError(message, "Name each file by a source of its own, or read them from an object store.")
        try:
            found = self._object_at(path)
        except OSError as error:
            message = coded("GE1422", f"cannot look at {path}: {error.strerror}")
            raise DatasetError(message, "Check the address and the credentials.") from None
        return Listing(path, suffix, (found,) if found else ())

    def publisher(self) -> Publisher | None:
        """Return None: HTTP servers are only read."""
        return None


def of_store(path: FilePath) -> StorePath:
    """Return the path, which is one of a store."""
    assert isinstance(path, StorePath)
    return path


def listed_file(below: StorePath, found: StoredObject) -> ListedFile:
    """Return an object that was listed, in the bucket of a path."""
    from gpuetl.places.objects.object_file import state_of

    path = StorePath(below.scheme, PurePosixPath(below.parts[0], found.key), below.storage)
    return ListedFile(path, state_of(path, found.size, found.time.timestamp(), found.e_tag))


def folder_marks(found: Sequence[StoredObject], prefix: str) -> set[str]:
    """Return the keys of empty objects that stand for folders, as consoles of clouds make them.

    Their keys end with a slash, which obstore takes away.
    """
    empty = {one.key for one in found if not one.size}
    if not empty:
        return empty
    folders = {prefix, *(str(parent) for one in found for parent in PurePosixPath(one.key).parents)}
    return empty & folders


def parents_below(path: FilePath, depth: int) -> Sequence[StorePath]:
    """Return the prefixes above an object that have more than `depth` parts."""
    path = of_store(path)
    return [replace(path, key=PurePosixPath(*path.parts[:count])) for count in range(depth + 1, len(path.parts))]


def matches(parts: Sequence[str], patterns: Sequence[str]) -> bool:
    """Tell whether names match the parts of a glob; `**` is any number of visible folders."""
    if not patterns:
        return not parts
    if patterns[0] == ANY_DEPTH:
        depth = next((place for place, part in enumerate(parts) if is_hidden((part,))), len(parts))
        if len(patterns) == 1:
            return bool(parts) and depth == len(parts)
        return any(matches(parts[start:], patterns[1:]) for start in range(depth + 1))
    return bool(parts) and matches_part(parts[0], patterns[0]) and matches(parts[1:], patterns[1:])


def matches_part(name: str, pattern: str) -> bool:
    """Tell whether a name matches a part: a hidden one only if the part begins with the same character."""
    visible = name[0] == pattern[0] or not is_hidden((name,))
    return visible and bool(re.fullmatch(translate(pattern), name))


OBJECT_STORES = ObjectFilesystem()
HTTP_SERVERS = HttpFilesystem()
