"""What the keys of a pipeline hold, with the place that it was read from: names, expressions, sort keys."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Protocol

from gpuetl.errors import InvalidExpression, Place, Span
from gpuetl.expressions.syntax import MAX_OPERATORS, ORDER_TEXT, Syntax, parts, refuse_depth
from gpuetl.messages import coded
from gpuetl.plan.node import SortKey
from gpuetl.records import dataclass


class Located(Protocol):
    """Something that stands in a file: a node, a key of a map, a part of a text."""

    def place(self, span: Span | None = None) -> Place:
        """Return where it stands, or where a part of its text does."""


@dataclass(frozen=True)
class KeyPlace:
    """Where a key of a map stands."""

    key: Place

    def place(self, span: Span | None = None) -> Place:
        """Return the key's place."""
        return self.key


@dataclass(frozen=True)
class PartPlace:
    """Where a part of a text stands."""

    whole: Located
    part: Span | None

    def place(self, span: Span | None = None) -> Place:
        """Return the part's place."""
        return self.whole.place(self.part)


class BadValue(Exception):
    """A value that its key does not take; `usable` is what to go on with, so that the rest is checked, if anything."""

    usable: Any = None

    def __init__(self, message: str, node: Located | None, hint: str = "") -> None:
        self.message, self.node, self.hint = message, node, hint
        super().__init__(message)

    @property
    def each(self) -> Sequence[BadValue]:
        """The errors: this one."""
        return (self,)


class BadExpression(BadValue):
    """Text that is no expression; its place points into it."""

    def __init__(self, error: InvalidExpression, node: Located) -> None:
        super().__init__(error.message, PartPlace(node, error.span), error.hint)


class BadValues(BadValue):
    """Several values that their key does not take."""

    def __init__(self, errors: Sequence[BadValue], usable: Any = None) -> None:
        super().__init__(errors[0].message, errors[0].node, errors[0].hint)
        self.errors, self.usable = errors, usable

    @property
    def each(self) -> Sequence[BadValue]:
        """The errors."""
        return self.errors


class Text(str):
    """A name or path from a file, which remembers its node; equal to the plain string."""

    node: Located | None
    __slots__ = ("node",)

    def __new__(cls, text: str, node: Located | None = None) -> Text:
        """Keep the node beside the text."""
        self = super().__new__(cls, text)
        self.node = node
        return self


def as_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return one name, or several, as a tuple; what is no name is left to be refused by what reads it."""
    return tuple(names) if isinstance(names, Iterable) and not isinstance(names, str) else (names,)


def node_of(value: object) -> Located | None:
    """Return the node that a value was read from, if it came from a file."""
    return value if isinstance(value, PartPlace) else getattr(value, "node", None)


@dataclass(frozen=True)
class Formula:
    """A written expression and the node of its text.

    `string` is a string from Python that stands without `lit`: a constant, which was perhaps meant as a column.
    """

    syntax: Syntax
    node: Located | None = dataclasses.field(default=None, compare=False, repr=False)
    string: str | None = dataclasses.field(default=None, compare=False, repr=False)

    @cached_property
    def parts(self) -> tuple[Syntax, ...]:
        """The expression and all parts of it, from left to right."""
        return tuple(parts(self.syntax))

    def refuse_depth(self) -> None:
        """Refuse an expression that is deeper than text may be.

        Raises
        ------
        InvalidExpression
            Where too many operators build on each other.
        """
        if len(self.parts) > MAX_OPERATORS - 1:  # each level has a part at least
            refuse_depth(self.syntax)


@dataclass(frozen=True)
class UntypedConstant:
    """A constant as it is written, whose type is not known yet, and its node."""

    value: Any
    node: Located | None = dataclasses.field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Order(SortKey):
    """A sort key and the node of its text."""

    node: Located | None = dataclasses.field(default=None, compare=False, repr=False)


_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_identifier(name: object) -> bool:
    """Return whether a parameter, source, stage or sink may have this name."""
    return isinstance(name, str) and _IDENTIFIER.fullmatch(name) is not None


_MISSPELT = re.compile(r"\s(ascending|descending)\b", re.IGNORECASE)


def parse_order(text: str, node: Located | None = None) -> Order:
    """Read `column [asc | desc] [nulls first | last]`."""
    match = ORDER_TEXT.fullmatch(text.strip())
    if match is None:
        raise BadValue(coded("GE1008", "takes a column, then asc or desc"), node)
    if wrong := _MISSPELT.search(match["column"]):
        way = wrong[1].lower()[: 4 if wrong[1].lower().startswith("d") else 3]
        raise BadValue(
            coded("GE1008", f"takes a column, then asc or desc, got '{text}'"), node, f"Write {way}, not {wrong[1]}."
        )
    descending = (match["way"] or "").lower() == "desc"
    return Order(match["column"], descending, (match["nulls"] or "").lower() == "first", node)
