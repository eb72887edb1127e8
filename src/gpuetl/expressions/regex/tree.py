r"""The tree of a regular expression, and its text in the few forms that RE2 and libcudf read alike.

Classes become sorted ranges of characters, and counted repetitions are written out: libcudf's `\d`, `\w` and `\s`
follow Unicode where RE2's are ASCII, and it numbers groups anew inside `{n,m}`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from gpuetl.records import dataclass

MAX_POINT = 0x10FFFF
Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Code points from first to last, both included; sorted, apart from each other."""


@dataclass(frozen=True)
class Characters:
    """One character out of `ranges`."""

    ranges: Ranges


@dataclass(frozen=True)
class Anchor:
    """The start of the text, or its very end."""

    end: bool


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
            return node.low == 0


def size(node: Node) -> int:
    """Return how many characters the node is written with, repetitions written out."""
    match node:
        case Characters() | Anchor():
            return 1
        case Group():
            return size(node.body)
        case Sequence():
            return sum(map(size, node.items))
        case Choice():
            return sum(map(size, node.options))
        case Repeat():
            return size(node.item) * max(node.low if node.high is None else node.high, 1)


def repeated_groups(node: Node, inside: bool = False) -> frozenset[int]:
    """Return the numbers of the groups that can match more than once; an optional one cannot."""
    match node:
        case Group():
            own = {node.number} if inside and node.number else set()
            return repeated_groups(node.body, inside) | own
        case Sequence():
            return frozenset().union(*(repeated_groups(item, inside) for item in node.items))
        case Choice():
            return frozenset().union(*(repeated_groups(option, inside) for option in node.options))
        case Repeat():
            return repeated_groups(node.item, inside or node.high != 1)
    return frozenset()


def pattern_text(node: Node, open_group: Callable[[int], str], end: str) -> str:
    r"""Return the text of the node.

    Parameters
    ----------
    node
        The tree.
    open_group
        Gives the bracket that opens a numbered group.
    end
        The engine's word for the very end: `$` in RE2, `\Z` in libcudf, whose `$` also stops before a last newline.
    """
    match node:
        case Characters():
            return _characters(node.ranges)
        case Anchor():
            return end if node.end else "^"
        case Group():
            opened = open_group(node.number) if node.number else "(?:"
            return f"{opened}{pattern_text(node.body, open_group, end)})"
        case Sequence():
            return "".join(pattern_text(item, open_group, end) for item in node.items)
        case Choice():
            return "|".join(pattern_text(option, open_group, end) for option in node.options)
        case Repeat():
            return _repeated(node, pattern_text(node.item, open_group, end))


def _repeated(node: Repeat, item: str) -> str:
    lazy = "?" if node.lazy else ""
    if node.high is None:
        return f"{item * max(node.low - 1, 0)}{item}{'+' if node.low else '*'}{lazy}"
    optional = ""
    for _ in range(node.high - node.low):
        optional = f"(?:{item}{optional})?{lazy}" if optional else f"{item}?{lazy}"
    return item * node.low + optional


def _characters(ranges: Ranges) -> str:
    if ranges == DOT:
        return "."
    if ranges == ALL:
        return "(?:.|\n)"
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _escaped(chr(ranges[0][0]), "\\^$.|?*+()[{}")
    if ranges[0][0] == 0:  # a pattern cannot hold the character 0: libcudf's ends there
        return f"[^{_class_body(complement(ranges))}]"
    return f"[{_class_body(ranges)}]"


def _class_body(ranges: Ranges) -> str:
    parts = []
    for first, last in ranges:
        low, high = (_escaped(chr(point), "\\^-]") for point in (first, last))
        parts.append(low if first == last else low + high if last == first + 1 else f"{low}-{high}")
    return "".join(parts)


def _escaped(character: str, special: str) -> str:
    return f"\\{character}" if character in special else character
