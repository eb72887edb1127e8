"""Classes of characters: of Perl, POSIX and Unicode's general categories, and characters that differ in case."""

from __future__ import annotations

import sys
import unicodedata
from collections import defaultdict
from functools import cache

from gpuetl.expressions.regex.tree import MAX_POINT, Ranges, complement, merged

DIGIT: Ranges = ((48, 57),)
WORD: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
SPACE: Ranges = ((9, 10), (12, 13), (32, 32))
PERL = {"d": DIGIT, "w": WORD, "s": SPACE, "D": complement(DIGIT), "W": complement(WORD), "S": complement(SPACE)}
UPPER, LOWER = ((65, 90),), ((97, 122),)
POSIX: dict[str, Ranges] = {
    "alnum": (*DIGIT, *UPPER, *LOWER), "alpha": (*UPPER, *LOWER), "ascii": ((0, 127),), "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)), "digit": DIGIT, "graph": ((33, 126),), "lower": LOWER, "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)), "space": ((9, 13), (32, 32)), "upper": UPPER, "word": WORD,
    "xdigit": (*DIGIT, (65, 70), (97, 102)),
}  # fmt: skip
SURROGATES = (0xD800, 0xDFFF)


@cache
def category(name: str) -> Ranges | None:
    """Return the characters of a general category, such as `L` or `Lu`, by Python's data; None of another name."""
    if name == "Any":
        return ((0, MAX_POINT),)
    found = [c for c in _by_category() if c == name or (len(name) == 1 and c[0] == name)]
    return merged(tuple(r for c in found for r in _by_category()[c])) if found else None


@cache
def _by_category() -> dict[str, list[tuple[int, int]]]:
    runs: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for point in range(sys.maxunicode + 1):
        of = runs[unicodedata.category(chr(point))]
        if of and of[-1][1] == point - 1:
            of[-1] = (of[-1][0], point)
        else:
            of.append((point, point))
    for name in ("Cs", "Cn"):  # no text has the first, and RE2 does not know the second
        runs.pop(name, None)
    return dict(runs)


def in_any_case(ranges: Ranges) -> Ranges:
    """Return the characters and those that differ from them in case alone."""
    others = (
        (other, other)
        for point, same in _cases().items()
        if any(first <= point <= last for first, last in ranges)
        for other in same
    )
    return merged((*ranges, *others))


@cache
def _cases() -> dict[int, tuple[int, ...]]:
    """Return, for each character that has one in another case, all that are equal to it: Unicode's simple folding."""
    equal: dict[str, list[int]] = defaultdict(list)
    for point in range(0x1F000):
        character = chr(point)
        if character.lower() != character or character.upper() != character or character.casefold() != character:
            equal[_folded(character)].append(point)
    return {point: tuple(points) for points in equal.values() if len(points) > 1 for point in points}


def _folded(character: str) -> str:
    """Return the character that stands for all of its cases, where that is one."""
    for folded in (character.casefold(), character.lower()):
        if len(folded) == 1:
            return folded
    return character
