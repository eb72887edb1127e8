"""Places in the tree of folders: which of many lie at, above or below another one, by whatever names."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from gpuetl.io.overlap import Location

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
