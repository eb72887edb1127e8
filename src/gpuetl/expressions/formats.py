"""Formats of dates and times: the closed set of specifiers of `strftime` and `strptime`.

Every specifier but a name has a fixed width, so that a text is read in one way only, on any engine and in any locale.
"""

from __future__ import annotations

from functools import cache

from gpuetl.messages import coded
from gpuetl.records import dataclass

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
    "z": r"[+-](?:[01]\d|2[0-3])[0-5]\d",
}  # fmt: skip
"""Each letter with the regular expression of what stands for it."""

_DATES = ({"Y", "y"}, {"m", "b", "B"}, {"d"}), ({"Y", "y"}, {"j"}), ({"G"}, {"V"}, {"u", "a", "A"})


@dataclass(frozen=True)
class Field:
    """A specifier, by its letter."""

    letter: str


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
        if named != "%" and named not in SPECIFIERS:
            raise ValueError(coded("GE1113", f"takes no '%{named}' in a format"))
        parts.append("%" if named == "%" else Field(named))
    if not any(isinstance(part, Field) for part in parts):
        raise ValueError(coded("GE1113", f"takes a format such as '%Y-%m-%d', got '{text}'"))
    return tuple(parts)


def letters_of(text: str) -> list[str]:
    """Return the letters of a format's fields, in their order."""
    return [part.letter for part in parse_format(text) if isinstance(part, Field)]


def check_readable(text: str) -> None:
    """Raise `ValueError`, worded, for a format in which a text does not say one moment."""
    letters = letters_of(text)
    given = set(letters)
    if len(given) < len(letters):
        twice = next(letter for letter in letters if letters.count(letter) > 1)
        raise ValueError(coded("GE1113", f"cannot read '%{twice}' twice, in '{text}'"))
    if not any(all(given & choice for choice in needed) for needed in _DATES):
        raise ValueError(
            coded(
                "GE1113", f"needs a year, a month and a day, or %Y and %j, or %G, %V and %u, to read a date by '{text}'"
            )
        )
    if "I" in given and not given & {"p", "H"}:
        raise ValueError(coded("GE1113", f"needs %p beside %I, in '{text}'"))
