"""LIKE and ILIKE, and tables of code points as constants of C++."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from gpuetl.engines.cudf.codegen.cuda_types import c_text, c_words
from gpuetl.engines.cudf.codegen.functions.device_function import Device, Library
from gpuetl.expressions.ir import Call, Literal
from gpuetl.expressions.text_rules import (
    Part,
    Wildcard,
    has_accents,
    in_word,
    parse_like,
    to_lower,
    to_upper,
    without_accent,
)

# Tables of code points, as constants of C++: what `expressions/text_rules.py` says of them, by Python's Unicode.


ASSIGNED = (range(0x34000), range(0xE0000, 0xE0200))
"""Where letters, digits and marks are, or may come to be; the rest is not assigned, or private."""


def mapping(change: Callable[[str], str]) -> str:
    """Return a `Mapping`: the code points that change, in runs of every one or every second with one difference."""
    runs: list[list[int]] = []
    cased = (character for block in blocks() if block.upper() != block or block.lower() != block for character in block)
    for character in cased:
        if (changed := change(character)) != character:
            _add(runs, ord(character), (ord(changed) - ord(character)) % (1 << 32))
    return f"Mapping{{{c_words(word for run in runs for word in run)}, {len(runs)}}}"


def _add(runs: list[list[int]], point: int, added: int) -> None:
    """Put a code point into the last run (first, last, step, added) if it continues it, else into one of its own."""
    if runs:
        first, last, step, same = runs[-1]
        if same == added and (point - last == step or (first == last and point - last <= 2)):
            runs[-1] = [first, point, point - last, added]
            return
    runs.append([point, point, 1, added])


def blocks() -> Iterator[str]:
    """Yield the code points that may have a case, or be part of a word, 256 at a time: most blocks are all alike."""
    return ("".join(map(chr, range(start, start + 256))) for points in ASSIGNED for start in points[::256])


@cache
def upper_case() -> str:
    """Return the upper case of code points."""
    return mapping(to_upper)


@cache
def lower_case() -> str:
    """Return the lower case of code points."""
    return mapping(to_lower)


@cache
def word_members() -> str:
    """Return the code points of words."""
    return members(
        ord(character)
        for block in blocks()
        for whole in [block.isalnum()]
        for character in block
        if whole or in_word(character)
    )


def members(points: Iterable[int]) -> str:
    """Return `Members`: sorted code points in runs."""
    runs: list[list[int]] = []
    for point in points:
        if runs and runs[-1][1] == point - 1:
            runs[-1][1] = point
        else:
            runs.append([point, point])
    return f"Members{{{c_words(word for run in runs for word in run)}, {len(runs)}}}"


@cache
def accents() -> str:
    """Return the code points that are marks, and what others are without theirs: two arguments."""
    changed = [
        (character, without_accent(character)) for block in blocks() if has_accents(block) for character in block
    ]
    runs: list[list[int]] = []
    for character, plain in changed:
        if plain and plain != character:
            _add(runs, ord(character), (ord(plain) - ord(character)) % (1 << 32))
    mapping = f"Mapping{{{c_words(word for run in runs for word in run)}, {len(runs)}}}"
    return f"{members(ord(character) for character, plain in changed if not plain)}, {mapping}"


# LIKE and ILIKE: the pattern is read here, and its frequent forms need no wildcards.


WILDCARD_CODES = {Wildcard.ONE: 0x110000, Wildcard.ANY: 0x110001}
"""As in like.cuh."""


def parts_of(call: Call) -> Sequence[Part]:
    """Return the constant pattern's literal parts and wildcards."""
    return parse_like(*(arg.value for arg in call.args[1:] if isinstance(arg, Literal)))


def has_pattern(call: Call) -> bool:
    """Return whether the pattern is a constant."""
    return isinstance(call.args[1], Literal) and call.args[1].value is not None


def like(call: Call, args: Sequence[str]) -> str:
    """Compare bytes where there is a `%` at the ends only."""
    if not has_pattern(call):
        return f"like_text({args[0]}, {args[1]}, AsWritten{{}})"
    match parts_of(call):
        case []:
            return f"byte_length({args[0]}) == 0"
        case [str(whole)]:
            return f"same_text({args[0]}, {c_text(whole)})"
        case [str(prefix), Wildcard.ANY]:
            return f"starts_with({args[0]}, {c_text(prefix)})"
        case [Wildcard.ANY, str(suffix)]:
            return f"ends_with({args[0]}, {c_text(suffix)})"
        case [Wildcard.ANY, str(part), Wildcard.ANY]:
            return f"contains({args[0]}, {c_text(part)})"
    return f"like({args[0]}, {pattern_of(parts_of(call))}, AsWritten{{}})"


def ilike(call: Call, args: Sequence[str]) -> str:
    """Compare with the pattern in lower case; the text is put in lower case as it is read."""
    if not has_pattern(call):
        return f"like_text({args[0]}, {args[1]}, InLowerCase{{{lower_case()}}})"
    lowered = ["".join(map(to_lower, part)) if isinstance(part, str) else part for part in parts_of(call)]
    return f"like({args[0]}, {pattern_of(lowered)}, InLowerCase{{{lower_case()}}})"


def pattern_of(parts: Sequence[Part]) -> str:
    """Return a `LikePattern`."""
    words = [word for part in parts for word in (map(ord, part) if isinstance(part, str) else [WILDCARD_CODES[part]])]
    return f"LikePattern{{{c_words(words)}, {len(words)}}}"


HEADER = "like.cuh"
FUNCTIONS: dict[str, Device | Library] = {"like": Device(like), "ilike": Device(ilike)}
