"""Tables of code points, as constants of C++: what `expressions/characters.py` says of them, by Python's Unicode."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from gpuetl.engines.cudf.device.types import c_words
from gpuetl.expressions.characters import in_word, to_lower, to_upper

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
    """Return `Members`: the code points of words, in runs."""
    runs: list[list[int]] = []
    for block in blocks():
        whole = block.isalnum()
        for point in (ord(character) for character in block if whole or in_word(character)):
            if runs and runs[-1][1] == point - 1:
                runs[-1][1] = point
            else:
                runs.append([point, point])
    return f"Members{{{c_words(word for run in runs for word in run)}, {len(runs)}}}"
