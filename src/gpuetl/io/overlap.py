"""Whether a sink would replace, or be read as, files that are not its own."""

from __future__ import annotations

import glob
import os
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Generic, Protocol, TypeVar

from gpuetl.places.filesystem import Listing
from gpuetl.places.local.folders import plain_part
from gpuetl.places.local.listing import is_visible
from gpuetl.places.local.local_file import LocalFileState
from gpuetl.places.paths import FilePath, StorePath, is_hidden
from gpuetl.places.registry import local_path
from gpuetl.places.target import Target
from gpuetl.records import dataclass

# Whether a sink would replace, or be read as, files that are not its own, by whatever names they are reached.
#
# Paths are compared as they are written, with their links resolved, and by the device and inode of their folders: a
# bind
# mount shows one folder under two paths.


class SourceFiles(Protocol):
    """A source, as far as its files are found."""

    @property
    def name(self) -> str:
        """The source's name."""

    @property
    def path(self) -> FilePath:
        """A file, a glob or a folder."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """How names of files end that are read of a folder."""

    @property
    def listing(self) -> Listing:
        """The files that the path names."""


Files = TypeVar("Files", bound=SourceFiles)
LINKED = ", through a link or a mount"


@dataclass(frozen=True)
class Location:
    """Where a path leads.

    Parameters
    ----------
    written
        The path from the root, without `.` and `..`; links stay as they are.
    resolved
        The path without links.
    identities
        Device and inode of `resolved` and of each folder above it, None for what does not exist.
    """

    written: Path
    resolved: Path
    identities: tuple[tuple[int, int] | None, ...]

    @classmethod
    def of(cls, path: FilePath) -> Location:
        """Look at a path.

        One of a store has one name, and lies where no local path does.  Buckets of different endpoints are different.
        """
        if isinstance(path, StorePath):
            server = ";".join(path.storage.server(path.scheme)).replace("/", "|")
            place = Path("//", path.scheme, server, *path.parts)
            return cls(place, place, (None,) * len(place.parts))
        resolved = Path(os.path.realpath(path))
        identities = tuple(identity(one) for one in (resolved, *resolved.parents))
        return cls(Path(os.path.normpath(path.absolute())), resolved, identities)

    def below(self, folder: Location) -> Inside | None:
        """Return how the path lies in a folder, or is it; None where it is elsewhere."""
        if self.written.is_relative_to(folder.written):
            return Inside(self.written.relative_to(folder.written).parts)
        if self.resolved.is_relative_to(folder.resolved):
            return Inside(self.resolved.relative_to(folder.resolved).parts, LINKED)
        same = folder.identities[0]
        depth = self.identities.index(same) if same is not None and same in self.identities else None
        return None if depth is None else Inside(self.resolved.parts[len(self.resolved.parts) - depth :], LINKED)


@dataclass(frozen=True)
class Inside:
    """The parts of a path below a folder, none for the folder itself; `how` says if it leads there by another name."""

    parts: tuple[str, ...]
    how: str = ""


class Locations(dict[FilePath, Location]):
    """Where paths lead, looked up once each."""

    def __missing__(self, path: FilePath) -> Location:
        self[path] = Location.of(path)
        return self[path]


def identity(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of a path, None where it does not exist or cannot be looked at."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def conflicts(
    target: Target, others: Sequence[Target], sources: Sequence[SourceFiles], folder: FilePath, at: Locations
) -> list[str]:
    """Word what writing a sink would change besides it: other sinks, sources, the pipeline's own folder."""
    place = at[target.path]
    found = [message for other in others if (message := overlap(place, at[other.path], other.name))]
    if inside := at[folder].below(place):
        found.append(f"writes over the pipeline's own folder{inside.how}")
    for source in sources:
        path = local_path(source.path) or source.path
        plain = at[fixed_part(path)]
        if inside := plain.below(place):
            found.append(f"writes over source '{source.name}'{inside.how}")
        elif (inside := place.below(plain)) and feeds_source(target, path, source.suffixes, inside.parts):
            found.append(f"writes into its own source '{source.name}'{inside.how}")
    return found


def overlap(path: Location, other: Location, name: str) -> str:
    """Word how a sink's path lies to another's, which is named; nothing where they are apart."""
    if inside := path.below(other):
        return f"writes {'inside the path of' if inside.parts else 'the same path as'} sink '{name}'{inside.how}"
    holds = other.below(path)
    return f"has a path that holds that of sink '{name}'{holds.how}" if holds else ""


def fixed_part(path: FilePath) -> FilePath:
    """Return the part of a path that is no glob; all of a local path that exists as it stands."""
    if isinstance(path, Path):
        return plain_part(path)
    parts = path.key.parts
    fixed = next((number for number, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    return replace(path, key=PurePosixPath(*parts[:fixed]))


def feeds_source(target: Target, path: FilePath, suffixes: Sequence[str], below: Sequence[str]) -> bool:
    """Tell whether files that the sink writes may be files of a source; `below` is where it lies there."""
    glob_parts = path.parts[len(fixed_part(path).parts) :]
    return any(feeds_glob(target, glob_parts or ("**", f"*{suffix}"), below) for suffix in suffixes)


def feeds_glob(target: Target, rest: Sequence[str], below: Sequence[str]) -> bool:
    """Tell whether files that the sink writes may match a glob."""
    if target.is_file:
        return _matches(below, rest)
    ending = Path(rest[-1]).suffix
    other_files = bool(ending) and not target.suffix.endswith(ending) and not glob.has_magic(ending)
    return not other_files and _may_hold(below, rest)


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Tell whether a path matches a glob, in which `**` is any number of folders that are not hidden."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        depth = next((place for place, part in enumerate(parts) if is_hidden((part,))), len(parts))
        return any(_matches(parts[i:], pattern[1:]) for i in range(depth + 1)) or (
            len(pattern) == 1 and depth == len(parts)
        )
    return bool(parts) and _matches_one(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def _may_hold(folder: Sequence[str], pattern: Sequence[str]) -> bool:
    """Tell whether a path below the folder may match a glob."""
    if not pattern:
        return False
    if not folder:
        return True
    if pattern[0] == "**":
        return _may_hold(folder, pattern[1:]) or (not is_hidden((folder[0],)) and _may_hold(folder[1:], pattern))
    return _matches_one(folder[0], pattern[0]) and _may_hold(folder[1:], pattern[1:])


def _matches_one(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) and is_visible(name, pattern)


def reached_by_another_name(target: Target, datasets: Iterable[Files]) -> Iterator[tuple[Files, str]]:
    """Yield the sources whose files a sink would change under another name, with words for how.

    The sink's file may be a hard link, the folder of a partition may be a link to a source, or a file of a source may
    be a link to what the sink replaces.  Paths that overlap are told by `conflicts`.

    Raises
    ------
    DatasetError
        Where the files of a source cannot be listed.
    """
    if isinstance(target.path, StorePath):
        return  # stores have no links
    links = linked_folders(target.path, len(target.partition_by))
    replaced = replaced_file(target)
    for dataset in datasets:
        if target.is_file and replaced is None:
            continue
        for file in linked_files(target, dataset, replaced):
            yield dataset, f"{target.path} is {file} of"
        for link in links:
            if leads_to(link, target, dataset):
                yield dataset, f"{link} leads to"


def replaced_file(target: Target) -> LocalFileState | None:
    """Return the state of the local file that a sink replaces; None where there is none."""
    try:
        return LocalFileState.of(Path(str(target.path)).stat()) if target.is_file else None
    except OSError:
        return None


def linked_files(target: Target, dataset: SourceFiles, replaced: LocalFileState | None) -> Iterator[FilePath]:
    """Yield the files of a source that are the file which a sink replaces, or links to one that it replaces."""
    if replaced is not None:
        yield from filter(None, [dataset.listing.by_identity.get(replaced.identity)])
    elif target.mode != "append" and dataset.listing.file_links:
        place = Location.of(target.path)
        yield from (path for path in dataset.listing.file_links if Location.of(path.resolve()).below(place))


def linked_folders(folder: Path, depth: int) -> list[Path]:
    """Return the links among the folders of a sink's partitions, which lie so many levels below each other."""
    links, folders = list[Path](), [folder]
    for _ in range(depth):
        entries = [entry for folder in folders for entry in folder_entries(folder)]
        folders = [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
        links += [Path(entry.path) for entry in entries if entry.is_symlink()]
    return links


def leads_to(link: Path, target: Target, dataset: SourceFiles) -> bool:
    """Tell whether what a sink writes below a link may be files of a source, or replaces some."""
    path = local_path(dataset.path)
    if path is None:
        return False
    plain, place = Location.of(plain_part(path)), Location.of(link.resolve())
    inside = place.below(plain)
    return bool(plain.below(place) or (inside and feeds_source(target, path, dataset.suffixes, inside.parts)))


def folder_entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return what is in a folder; nothing where it does not exist or cannot be listed."""
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


# Places in the tree of folders: which of many lie at, above or below another one, by whatever names.


T = TypeVar("T")


class PathIndex(Generic[T]):
    """Items by their locations, looked up in the time that the answer takes and not in that of all items.

    A location has several keys: its path as written, its path without links, and its device and inode.

    `most` limits how many items are kept of one place, and below one folder; None keeps all.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._at: dict[Hashable, list[tuple[int, T]]] = {}
        self._below: dict[Hashable, list[tuple[int, T]]] = {}
        self._count = 0

    def add(self, location: Location, item: T) -> None:
        """Add an item."""
        entry = self._count, item
        self._count += 1
        for key in keys_at(location):
            self._keep(self._at, key, entry)
        for key in keys_above(location):
            self._keep(self._below, key, entry)

    def _keep(self, places: dict[Hashable, list[tuple[int, T]]], key: Hashable, entry: tuple[int, T]) -> None:
        entries = places.setdefault(key, [])
        if self._most is None or len(entries) < self._most:
            entries.append(entry)

    def near(self, location: Location) -> Iterator[T]:
        """Yield the items at a location, at a folder that holds it, or below it, in the order they were added."""
        found: dict[int, T] = {}
        for key in keys_at(location):
            found.update(self._below.get(key, ()))
        for key in (*keys_at(location), *keys_above(location)):
            found.update(self._at.get(key, ()))
        return (found[number] for number in sorted(found))


def keys_at(location: Location) -> Iterable[Hashable]:
    """Return the keys of a location."""
    keys = {str(location.written), str(location.resolved), location.identities[0]}
    return keys - {None}


def keys_above(location: Location) -> Iterable[Hashable]:
    """Return the keys of all folders that hold a location."""
    paths = (str(folder) for path in {location.written, location.resolved} for folder in path.parents)
    return {*paths, *location.identities[1:]} - {None}
