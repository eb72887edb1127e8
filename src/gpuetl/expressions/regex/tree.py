r"""The tree of a regular expression, and its text for RE2.

Classes become sorted ranges of characters, in which cases are equal where the pattern says so: a pattern means the same
whatever version of Unicode an engine has.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TypeAlias

from gpuetl.records import dataclass

MAX_POINT = 0x10FFFF
Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Code points from first to last, both included; sorted, apart from each other."""


@dataclass(frozen=True)
class Characters:
    """One character out of `ranges`."""

    ranges: Ranges


class Place(Enum):
    """A place between characters, as RE2 writes it: a bound of the text, a line or a word of ASCII, or no bound."""

    START = "^"
    END = "$"
    LINE_START = "(?m:^)"
    LINE_END = "(?m:$)"
    WORD_BOUND = r"\b"
    NO_WORD_BOUND = r"\B"


@dataclass(frozen=True)
class Anchor:
    """A place between characters."""

    place: Place


@dataclass(frozen=True)
class Group:
    """`(…)` with its number from 1, or `(?:…)` without one."""

    body: Node
    number: int | None


@dataclass(frozen=True)
class Sequence:
    """One after the other."""

    items: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    """The first that leads to a match."""

    options: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """From `low` to `high` times, or any number from `low`; as few as possible where `lazy`."""

    item: Node
    low: int
    high: int | None
    lazy: bool


Node: TypeAlias = Characters | Anchor | Group | Sequence | Choice | Repeat


def merged(ranges: Ranges) -> Ranges:
    """Return the same code points, sorted and apart."""
    result: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if result and first <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(last, result[-1][1]))
        else:
            result.append((first, last))
    return tuple(result)


def complement(ranges: Ranges) -> Ranges:
    """Return the code points that are not in `ranges`."""
    bounds = [-1, *(bound for first, last in merged(ranges) for bound in (first, last)), MAX_POINT + 1]
    gaps = ((bounds[i] + 1, bounds[i + 1] - 1) for i in range(0, len(bounds), 2))
    return tuple((first, last) for first, last in gaps if first <= last)


ALL: Ranges = ((0, MAX_POINT),)
DOT = complement(((10, 10),))


def can_be_empty(node: Node) -> bool:
    """Return whether the empty text is among those that `node` matches."""
    match node:
        case Characters():
            return False
        case Anchor():
            return True
        case Group():
            return can_be_empty(node.body)
        case Sequence():
            return all(map(can_be_empty, node.items))
        case Choice():
            return any(map(can_be_empty, node.options))
        case Repeat():
            return node.low == 0 or can_be_empty(node.item)


def has_place(node: Node, place: Place) -> bool:
    """Return whether a place is asked for anywhere."""
    match node:
        case Characters():
            return False
        case Anchor():
            return node.place is place
        case Group():
            return has_place(node.body, place)
        case Sequence():
            return any(has_place(item, place) for item in node.items)
        case Choice():
            return any(has_place(option, place) for option in node.options)
        case Repeat():
            return has_place(node.item, place)


def size(node: Node) -> int:
    """Return how many characters the node is written with, repetitions written out."""
    match node:
        case Characters() | Anchor():
            return 1
        case Group():
            return size(node.body)
        case Sequence():
            return max(sum(map(size, node.items)), 1)
        case Choice():
            return sum(map(size, node.options))
        case Repeat():
            return size(node.item) * max(node.low if node.high is None else node.high, 1)


def pattern_text(node: Node, open_group: Callable[[int], str]) -> str:
    """Return the text of the node; `open_group` gives the bracket that opens a numbered group."""
    match node:
        case Characters():
            return _characters(node.ranges)
        case Anchor():
            return node.place.value
        case Group():
            opened = open_group(node.number) if node.number else "(?:"
            return f"{opened}{pattern_text(node.body, open_group)})"
        case Sequence():
            return "".join(pattern_text(item, open_group) for item in node.items) or "(?:)"
        case Choice():
            return "|".join(pattern_text(option, open_group) for option in node.options)
        case Repeat():
            item = pattern_text(node.item, open_group)
            whole = f"(?:{item})" if isinstance(node.item, Anchor) else item
            return f"{whole}{_SIGNS.get((node.low, node.high)) or _counts(node)}{'?' * node.lazy}"


_SIGNS = {(0, None): "*", (1, None): "+", (0, 1): "?"}


def _counts(node: Repeat) -> str:
    if node.low == node.high:
        return f"{{{node.low}}}"
    return f"{{{node.low},{'' if node.high is None else node.high}}}"


def _characters(ranges: Ranges) -> str:
    if ranges == DOT:
        return "."
    if ranges == ALL:
        return "(?:.|\n)"
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _escaped(chr(ranges[0][0]), "\\^$.|?*+()[{}")
    if ranges[0][0] == 0 and complement(ranges):
        return f"[^{_class_body(complement(ranges))}]"
    return f"[{_class_body(ranges)}]"


def _class_body(ranges: Ranges) -> str:
    parts = []
    for first, last in ranges:
        low, high = (_escaped(chr(point), "\\^-]") for point in (first, last))
        parts.append(low if first == last else low + high if last == first + 1 else f"{low}-{high}")
    return "".join(parts)


def _escaped(character: str, special: str) -> str:
    if character == "\0" or "\ud800" <= character <= "\udfff":
        return f"\\x{{{ord(character):x}}}"
    return f"\\{character}" if character in special else character
