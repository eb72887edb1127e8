"""A launch as twins of kernels see it: the arguments by the names that the kernel's text gives them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Rows = Any
"""An array of an item a row."""


@dataclass(eq=False)
class Rehearsed:
    """What twins know of more than their launch.

    Parameters
    ----------
    tables
        The keys of each table that was built, and their slots, by the address of its `owners`, beside these.
    rows_a_row
        How many rows of a run each row that is looked up in a join stands for: keys range so much more narrowly here.
    sizes
        The bytes of arrays by their addresses, where these were asked for.
    """

    tables: dict[int, tuple[Rows, dict[Any, int]]] = field(default_factory=dict)
    rows_a_row: int = 1
    sizes: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Launch:
    """A launch's arguments by name, and what is known of launches before."""

    named: Mapping[str, Any]
    rehearsed: Rehearsed

    @classmethod
    def of(cls, source: str, entry: str, arguments: Sequence[Any], rehearsed: Rehearsed) -> Launch:
        """Name the arguments."""
        own = source[source.index(f"\nKERNEL {entry}(") :]
        own = own[own.index("(") + 1 :]
        names = (re.split(r"[\s*]", each.strip())[-1] for each in own[: own.index(")")].split(","))
        return cls(dict(zip(names, arguments, strict=True)), rehearsed)

    def __contains__(self, name: str) -> bool:
        """Tell whether the kernel has a parameter."""
        return name in self.named

    def __getitem__(self, name: str) -> Any:
        """Return an argument."""
        return self.named[name]

    def like(self, prefix: str) -> Iterator[tuple[int, Any]]:
        """Yield the arguments that are called by a prefix and a number, with that number."""
        for name, argument in self.named.items():
            if name.startswith(prefix) and name[len(prefix) :].isdigit():
                yield int(name[len(prefix) :]), argument

    def valid_in(self) -> Rows:
        """Return which rows (bool) are valid in all columns that are read."""
        rows = self.named["rows"]
        valid = np.ones(rows, bool)
        for _, words in self.like("bits"):
            if not isinstance(words, int) and len(words) * 32 >= rows:  # shorter ones are of constants
                valid &= set_bits(words)[:rows]
        return valid


def set_bits(words: Any) -> Rows:
    """Return validity words as truth values."""
    return np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool)


def set_valid(words: Any, valid: Rows) -> None:
    """Write truth values as validity words."""
    packed = np.packbits(valid, bitorder="little")
    words.view(np.uint8)[: len(packed)] = packed
