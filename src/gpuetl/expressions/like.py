"""Patterns of LIKE: `%` is any text, `_` one code point, and the escape character, if there is one, takes that away."""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from gpuetl.messages import coded


class Wildcard(Enum):
    """What stands for characters that are not written."""

    ONE = "_"
    ANY = "%"


Part: TypeAlias = str | Wildcard


class InvalidLike(ValueError):
    """An escape that is not one character, or a pattern in which it escapes nothing."""


def parse_like(pattern: str, escape: str | None = None) -> tuple[Part, ...]:
    """Return the pattern's texts and wildcards; texts are whole, and no two `%` follow each other.

    Raises
    ------
    InvalidLike
        With what is wrong.
    """
    if escape is not None and len(escape) != 1:
        raise InvalidLike(coded("GE1106", f"takes one character as escape, got '{escape}'"))
    parts: list[Part] = []
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            _add(parts, _escaped(escape, next(characters, "")))
        else:
            _add(parts, Wildcard(character) if character in "%_" else character)
    return tuple(parts)


def _escaped(escape: str, character: str) -> str:
    if character not in ("%", "_", escape):
        raise InvalidLike(coded("GE1113", f"takes %, _ or {escape} after the escape {escape}, got '{character}'"))
    return character


def _add(parts: list[Part], part: Part) -> None:
    last = parts[-1] if parts else None
    if isinstance(part, str) and isinstance(last, str):
        parts[-1] = last + part
    elif not part is last is Wildcard.ANY:
        parts.append(part)
