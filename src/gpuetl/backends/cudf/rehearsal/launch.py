"""A launch as twins of kernels see it: the arguments by the names that the kernel's text gives them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from gpuetl.records import dataclass

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
    """A kernel's text, its arguments by name, and what is known of launches before.

    `own` is the text from the kernel on, `structs` what is generated before it.
    """

    structs: str
    own: str
    named: Mapping[str, Any]
    rehearsed: Rehearsed

    @classmethod
    def of(cls, source: str, entry: str, arguments: Sequence[Any], rehearsed: Rehearsed) -> Launch:
        """Name the arguments."""
        structs, _, own = source.partition(f"\nKERNEL {entry}(")
        names = (re.split(r"[\s*]", each.strip())[-1] for each in own[: own.index(")")].split(","))
        return cls(structs, own, dict(zip(names, arguments, strict=True)), rehearsed)

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

    def text_of(self, pattern: str) -> str:
        """Return what follows a pattern in the text, up to a semicolon; nothing where it is not there."""
        found = re.search(pattern + "([^;]*);", self.own) or re.search(pattern + "([^;]*);", self.structs)
        return found[1] if found else ""

    def valid_in(self, columns: Collection[int] | None = None) -> Rows:
        """Return which rows (bool) are valid in some of the columns that are read, or in all of them."""
        rows = self.named["rows"]
        valid = np.ones(rows, bool)
        for place, words in self.like("bits"):
            if (columns is None or place in columns) and len(words) * 32 >= rows:  # others are of constants
                valid &= set_bits(words)[:rows]
        return valid


def set_bits(words: Any) -> Rows:
    """Return validity words as truth values."""
    return np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool)


def set_valid(words: Any, valid: Rows) -> None:
    """Write truth values as validity words."""
    packed = np.packbits(valid, bitorder="little")
    words.view(np.uint8)[: len(packed)] = packed
