"""Formats of `format('{:.2f}', x)` and `printf('%.2f', x)`: text, and how each value is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import TypeAlias

from gpuetl.messages import coded
from gpuetl.records import dataclass

MOST_DIGITS, MOST_WIDTH = 15, 1000
"""After the point, and in all."""


@dataclass(frozen=True)
class Field:
    """How a value is written.

    `align` is `<`, `>`, `^` or nothing for what is usual; `precision` is -1 where none is given, `kind` the letter.
    `separator` stands between thousands.  `bits` says that a negative integer is written as the 64 bits that it has.
    """

    place: int
    fill: str = " "
    align: str = ""
    plus: bool = False
    zeros: bool = False
    width: int = 0
    separator: str = ""
    precision: int = -1
    kind: str = ""
    bits: bool = False

    @property
    def written(self) -> str:
        """The field as a constant, which `parse_field` reads."""
        signs = "+" * self.plus + "0" * self.zeros
        precision = f".{self.precision}" if self.precision >= 0 else ""
        kind = self.kind + "~" * self.bits
        return f"{self.fill}{self.align or '='}{signs}{self.width or ''}{self.separator}{precision}{kind}"


Piece: TypeAlias = str | Field


class InvalidFormat(ValueError):
    """A format that is none, or has what is not supported."""


_SPEC = re.compile(
    r"(?:(?P<fill>.)?(?P<align>[<>^=]))?(?P<plus>\+)?(?P<zeros>0)?(?P<width>[1-9][0-9]*)?(?P<separator>[,_'])?"
    r"(?:\.(?P<precision>[0-9]+))?(?P<kind>[sdfxXob])?",
    re.DOTALL,
)
_C_SPEC = re.compile(
    r"(?P<flags>[-+0,_']*)(?P<width>[1-9][0-9]*)?(?:\.(?P<precision>[0-9]*))?(?:ll|l)?(?P<kind>[sdifxXob])"
)
_BRACES = re.compile(r"\{\{|\}\}|\{(?P<index>[0-9]*)(?::(?P<spec>[^{}]*))?\}|[{}]")


def field_of(spec: str, place: int, whole: str) -> Field:
    """Return the field of what stands behind the colon."""
    found = _SPEC.fullmatch(spec)
    if found is None:
        raise InvalidFormat(coded("GE1113", f"does not support '{{:{spec}}}' in a format"))
    precision = -1 if found["precision"] is None else int(found["precision"])
    align = "" if found["align"] in (None, "=") else found["align"]
    field = Field(
        place, found["fill"] or " ", align, bool(found["plus"]), bool(found["zeros"]), int(found["width"] or 0),
        found["separator"] or "", precision, found["kind"] or "",
    )  # fmt: skip
    return checked(field, whole)


BASES = {"x": 16, "X": 16, "o": 8, "b": 2}
"""Kinds of integers that are no decimal numbers."""


@cache
def parse_field(written: str) -> Field:
    """Return the field that `written` gives."""
    field = field_of(written.removesuffix("~"), 0, written)
    return replace(field, bits=written.endswith("~"))


def checked(field: Field, whole: str) -> Field:
    """Refuse what is too wide, and combinations that databases write in different ways."""
    if field.width > MOST_WIDTH or field.precision > MOST_DIGITS:
        what = f"takes a width up to {MOST_WIDTH:,}, and up to {MOST_DIGITS} digits after the point, got '{whole}'"
        raise InvalidFormat(coded("GE1106", what))
    if field.separator and field.kind in BASES:
        raise InvalidFormat(coded("GE1113", f"does not support separators in numbers to base 16, 8 or 2, in '{whole}'"))
    if (field.separator and field.width) or (field.zeros and field.align) or len(field.fill.encode()) > 4:
        raise InvalidFormat(
            coded("GE1113", f"does not support separators with a width, or zeros with an alignment, in '{whole}'")
        )
    return field


def wrong(form: str, why: str) -> InvalidFormat:
    """Return the error of a format as a whole."""
    return InvalidFormat(coded("GE1113", f"cannot take the format '{form}': {why}"))


@cache
def parse_braces(text: str) -> tuple[Piece, ...]:
    """Return the pieces of a format such as `{} of {:.2f}`; raise `InvalidFormat` for what is none."""
    pieces: list[Piece] = []
    at = automatic = manual = 0
    for found in _BRACES.finditer(text):
        pieces.append(text[at : found.start()])
        at = found.end()
        if found[0] in ("{{", "}}"):
            pieces.append(found[0][0])
            continue
        if found["index"] is None:
            raise InvalidFormat(
                coded("GE1113", f"cannot take the format '{text}': a brace is not closed, or not opened")
            )
        manual, automatic = manual + bool(found["index"]), automatic + (not found["index"])
        if manual and automatic:
            raise InvalidFormat(
                coded("GE1113", f"cannot take the format '{text}': some fields are numbered, and some not")
            )
        pieces.append(field_of(found["spec"] or "", int(found["index"] or automatic - 1), text))
    return (*pieces, text[at:])


@cache
def parse_percents(text: str) -> tuple[Piece, ...]:
    """Return the pieces of a format such as `%s of %.2f`; raise `InvalidFormat` for what is none."""
    pieces: list[Piece] = []
    start, place = 0, 0
    while (at := text.find("%", start)) >= 0:
        pieces.append(text[start:at])
        if text.startswith("%%", at):
            pieces.append("%")
            start = at + 2
            continue
        found = _C_SPEC.match(text, at + 1)
        if found is None:
            raise InvalidFormat(coded("GE1113", f"does not support '{text[at : at + 4]}' in a format"))
        flags, precision = found["flags"], found["precision"]
        kind = {"i": "d"}.get(found["kind"], found["kind"])
        separators = [flag for flag in flags if flag in ",_'"]
        if len(separators) > 1 or (precision == "" and kind != "f"):
            raise InvalidFormat(coded("GE1113", f"does not support '%{found[0]}' in a format"))
        left, zeros = "-" in flags, "0" in flags and "-" not in flags
        align = "<" if left else "" if zeros else ">"
        digits = -1 if precision is None else int(precision or 0)
        separator = "".join(separators)
        width = int(found["width"] or 0)
        field = Field(place, " ", align, "+" in flags, zeros, width, separator, digits, kind, kind in BASES)
        pieces.append(checked(field, text))
        place, start = place + 1, found.end()
    return (*pieces, text[start:])


PARSERS: dict[str, Callable[[str], Sequence[Piece]]] = {"format": parse_braces, "printf": parse_percents}
