"""Rules for text that hold on every engine: single characters, LIKE patterns, formats of dates and times."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from enum import Enum
from functools import cache
from itertools import pairwise
from typing import TypeAlias

from gpuetl.messages import coded
from gpuetl.records import dataclass

# What single characters are: white space, their upper and lower case, parts of words.  The same on every engine.
#
# An engine's own tables differ in the version of Unicode and in what they do where one character becomes several
# (`ß`); these are Python's, and a character whose other case is not one character stays as it is.


WHITE_SPACE = " \t\n\v\f\r"


def to_upper(character: str) -> str:
    """Return the character's upper case where that is one character, else itself."""
    upper = character.upper()
    return upper if len(upper) == 1 else character


def to_lower(character: str) -> str:
    """Return the character's lower case where that is one character, else itself."""
    lower = character.lower()
    return lower if len(lower) == 1 else character


def without_accent(character: str) -> str:
    """Return the character without the marks on it, and nothing of a mark: that is at most one character."""
    parts = unicodedata.normalize("NFD", character)
    return unicodedata.normalize(
        "NFC", "".join(part for part in parts if not unicodedata.category(part).startswith("M"))
    )


def has_accents(text: str) -> bool:
    """Return whether a text may have a mark, or a character that is made of several."""
    return unicodedata.normalize("NFD", text) != text or any(unicodedata.category(c).startswith("M") for c in text)


class WithoutAccents(dict[int, str]):
    """What `str.translate` asks for each code point that it meets first."""

    def __missing__(self, point: int) -> str:
        """Find the character without accents."""
        found = self[point] = without_accent(chr(point))
        return found


WITHOUT_ACCENTS = WithoutAccents()


def strip_accents(text: str) -> str:
    """Return the text without marks; parts of Hangul syllables that stand together then become one."""
    return text if text.isascii() else unicodedata.normalize("NFC", text.translate(WITHOUT_ACCENTS))


def in_word(character: str) -> bool:
    """Return whether the character is a letter, a digit, or a mark on one."""
    return character.isalnum() or unicodedata.category(character).startswith("M")


# Patterns of LIKE: `%` is any text, `_` one code point, and the escape character, if there is one, takes that away.


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


# Patterns of GLOB: `*` is any text, `?` one code point, `[a-c]` one of some, `[!a]` one of all others.


class InvalidGlob(ValueError):
    """A pattern of GLOB in which a bracket is not closed, or that ends in an escape."""


def regex_of_glob(pattern: str) -> str:
    """Return the regular expression that matches what a pattern of GLOB does, with the option `s`.

    Raises
    ------
    InvalidGlob
        With what is wrong.
    """
    written, at = "", 0
    while at < len(pattern):
        sign = pattern[at]
        at += 1
        if sign == "[":
            members, at = _members(pattern, at)
            written += members
        elif sign == "\\":
            if at == len(pattern):
                raise InvalidGlob(coded("GE1113", f"GLOB cannot take the pattern '{pattern}': it ends in an escape"))
            written, at = written + _plain(pattern[at]), at + 1
        else:
            written += {"*": ".*", "?": "."}.get(sign) or _plain(sign)
    return written


def _members(pattern: str, start: int) -> tuple[str, int]:
    """Return the class of the characters in brackets, and the place behind them; `]` may stand first."""
    begin = start + pattern.startswith("!", start)
    end = pattern.find("]", begin + 1)
    if end < 0:
        raise InvalidGlob(coded("GE1113", f"GLOB cannot take the pattern '{pattern}': a bracket is not closed"))
    inside = "".join(sign if sign == "-" else _plain(sign) for sign in pattern[begin:end])
    return f"[{'^' * (begin > start)}{inside}]", end + 1


def _plain(sign: str) -> str:
    """Return a character as regular expressions have it."""
    return f"\\{sign}" if sign in r"\.+*?()|[]{}^$-" else sign


# Formats of dates and times: the closed set of specifiers of `strftime` and `strptime`.
#
# Every specifier but a name has a fixed width, so that a text is read in one way only, on any engine and in any
# locale.


MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

SPECIFIERS = {
    "Y": r"\d{4}", "m": r"\d{2}", "d": r"\d{2}", "H": r"\d{2}", "I": r"\d{2}", "M": r"\d{2}", "S": r"\d{2}",
    "f": r"\d{6}", "j": r"\d{3}", "y": r"\d{2}", "G": r"\d{4}", "V": r"\d{2}", "u": r"\d", "w": r"\d", "p": "AM|PM",
    "b": "|".join(name[:3] for name in MONTHS), "B": "|".join(MONTHS),
    "a": "|".join(name[:3] for name in DAYS), "A": "|".join(DAYS),
    "z": r"[+-](?:[01]\d|2[0-3])[0-5]\d", "g": r"\d{3}", "n": r"\d{9}", "U": r"\d{2}", "W": r"\d{2}",
    **{f"-{letter}": r"\d{1,2}" for letter in "dmyHIMS"}, "-j": r"\d{1,3}",
}  # fmt: skip
"""Each specifier with the regular expression of what stands for it: a letter, after `-` without zeros in front."""
SHORTHANDS = {"c": "%Y-%m-%d %H:%M:%S", "x": "%Y-%m-%d", "X": "%H:%M:%S"}
"""What stands for several specifiers."""

_DATES = {
    "month": ({"Y", "y"}, {"m", "b", "B"}, {"d"}), "day_of_year": ({"Y", "y"}, {"j"}),
    "iso_week": ({"G"}, {"V"}, {"u", "w", "a", "A"}),
    "sunday_week": ({"Y", "y"}, {"U"}, {"u", "w", "a", "A"}), "monday_week": ({"Y", "y"}, {"W"}, {"u", "w", "a", "A"}),
}  # fmt: skip
"""The ways in which fields lead to a day; the first one that a format has is taken."""
_DIGITS = frozenset("0123456789")


@dataclass(frozen=True)
class Field:
    """A specifier, by its letter, which follows `-` where a number has no zeros in front."""

    letter: str

    @property
    def base(self) -> str:
        """The letter alone."""
        return self.letter.removeprefix("-")

    @property
    def is_short(self) -> bool:
        """Whether a number has no zeros in front."""
        return self.letter.startswith("-")


@cache
def parse_format(text: str) -> tuple[Field | str, ...]:
    """Return the fields of a format and the text between them; raise `ValueError`, worded, for one that is none."""
    parts: list[Field | str] = []
    letters = iter(text)
    for letter in letters:
        if letter != "%":
            parts.append(letter)
            continue
        named = next(letters, "")
        if named == "-":
            named += next(letters, "")
        if named in SHORTHANDS:
            parts += parse_format(SHORTHANDS[named])
            continue
        if named != "%" and named not in SPECIFIERS:
            raise ValueError(coded("GE1113", f"does not support '%{named}' in a format"))
        parts.append("%" if named == "%" else Field(named))
    if not any(isinstance(part, Field) for part in parts):
        raise ValueError(coded("GE1113", f"takes a format such as '%Y-%m-%d', got '{text}'"))
    return tuple(parts)


def letters_of(text: str) -> list[str]:
    """Return the letters of a format's fields, in their order; whether they have zeros in front is not told."""
    return [part.base for part in parse_format(text) if isinstance(part, Field)]


def way_of(letters: Collection[str]) -> str | None:
    """Return the way in which fields lead to a day; None where they say none."""
    given = set(letters)
    return next((way for way, needed in _DATES.items() if all(given & choice for choice in needed)), None)


def check_readable(text: str) -> None:
    """Raise `ValueError`, worded, for a format in which a text does not say one moment."""
    letters = letters_of(text)
    given = set(letters)
    if len(given) < len(letters):
        twice = next(letter for letter in letters if letters.count(letter) > 1)
        raise ValueError(coded("GE1113", f"cannot read '%{twice}' twice, in '{text}'"))
    parts = parse_format(text)
    for part, following in pairwise(parts):
        digits = following in _DIGITS if isinstance(following, str) else following.base not in "abABpz"
        if isinstance(part, Field) and part.is_short and digits:
            raise ValueError(coded("GE1113", f"cannot read '%{part.letter}' before another number, in '{text}'"))
    if way_of(given) is None:
        raise ValueError(
            coded(
                "GE1113", f"needs a year, a month and a day, or %Y and %j, or %G, %V and %u, to read a date by '{text}'"
            )
        )
    if "I" in given and not given & {"p", "H"}:
        raise ValueError(coded("GE1113", f"needs %p with %I, in '{text}'"))
