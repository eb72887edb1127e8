"""Commas of expressions in `{ }`: YAML ends a value at each of them; here the pieces are put together again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ruamel.yaml.nodes import Node, ScalarNode

Entry = tuple[Node, Node]
HINT = "Quote the expression, or write it on a line of its own."


def whole_entries(entries: Sequence[Entry]) -> Iterator[tuple[Entry, str]]:
    """Give the entries of a map in `{ }` as they are meant, each with what YAML took for its value where it cut that.

    `{x: coalesce(a, b)}` has the keys `x`, of the value `coalesce(a`, and `b)`, of none.  A plain value that leaves a
    parenthesis or quote open takes the keys without a value that follow, up to the one that closes it.
    """
    index = 0
    while index < len(entries):
        key, value = entries[index]
        pieces = _pieces(entries, index)
        yield (key, _joined(pieces)) if pieces else (key, value), pieces[0].value if pieces else ""
        index += max(1, len(pieces))


def _pieces(entries: Sequence[Entry], index: int) -> list[ScalarNode]:
    """Return the scalars of which the value of an entry is made; none where it was not cut."""
    first = entries[index][1]
    if not isinstance(first, ScalarNode) or first.style:
        return []
    pieces, opened = [first], _Opened().after(first)
    for place in range(index + 1, len(entries)) if opened else ():
        key, value = entries[place]
        if not (isinstance(key, ScalarNode) and isinstance(value, ScalarNode)) or value.value or value.style:
            return []
        pieces.append(key)
        opened = opened.after(key)
        if not opened:
            return pieces
    return []


class _Opened(NamedTuple):
    """What a text leaves open: so many parentheses, and a quote."""

    parentheses: int = 0
    quote: str = ""

    def __bool__(self) -> bool:
        return self.parentheses > 0 or bool(self.quote)

    def after(self, piece: ScalarNode) -> _Opened:
        """Return what is open after a further piece."""
        parentheses, quote = self
        for mark in re.findall(r"""[()'"]""", _written(piece)):
            if quote or mark in "'\"":
                quote = (quote if mark != quote else "") if quote else mark
            else:
                parentheses += 1 if mark == "(" else -1
        return _Opened(parentheses, quote)


def _written(piece: ScalarNode) -> str:
    quote = piece.style or ""
    return f"{quote}{piece.value}{quote}"


def _joined(pieces: Sequence[ScalarNode]) -> ScalarNode:
    first, last = pieces[0], pieces[-1]
    text = _written(first)
    for before, piece in pairwise(pieces):
        gap = piece.start_mark.column - before.end_mark.column - 1  # so that places in it are those of the file
        text += "," + " " * (gap if piece.start_mark.line == before.end_mark.line else 1) + _written(piece)
    return ScalarNode("tag:yaml.org,2002:str", text, first.start_mark, last.end_mark)
