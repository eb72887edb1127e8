"""The keys of sources, steps and sinks, declared as dataclass fields that know how to be read and written.

    class Limit(Step):
        count: int = key(INTEGER)

A field's reader gives a value or raises `BadValue` at the node that is wrong; its writer gives plain data for YAML.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass
from typing import Any, Generic, TypeVar

from gpuetl.errors import InvalidExpression, Place, Problems, have_hint, suggestion
from gpuetl.expressions.syntax import Constant, Name, Syntax
from gpuetl.expressions.types import NAMED, DataType, parse_type, type_name
from gpuetl.plan.node import SortKey
from gpuetl.spec.document import Node

T = TypeVar("T")


class BadValue(Exception):
    """A value that its key does not take."""

    def __init__(self, message: str, node: Node | None, hint: str = "") -> None:
        self.message, self.node, self.hint = message, node, hint
        super().__init__(message)


class Text(str):
    """A name or path from a file, which remembers its node; equal to the plain string."""

    node: Node | None
    __slots__ = ("node",)

    def __new__(cls, text: str, node: Node | None = None) -> Text:
        """Keep the node beside the text."""
        self = super().__new__(cls, text)
        self.node = node
        return self


def node_of(value: object) -> Node | None:
    """Return the node that a value was read from, if it came from a file."""
    return getattr(value, "node", None)


@dataclass(frozen=True)
class Formula:
    """A written expression and the node of its text."""

    syntax: Syntax
    node: Node | None = dataclasses.field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Order(SortKey):
    """A sort key and the node of its text."""

    node: Node | None = dataclasses.field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Field(Generic[T]):
    """How a key's value is read from a node, and written back."""

    what: str
    read: Callable[[Node], T]
    write: Callable[[T], Any] = lambda value: value


def key(form: Field[Any], default: Any = MISSING, *, name: str = "") -> Any:
    """Declare a dataclass field that is a key of the language; without a default it must be given."""
    metadata = {"form": form, "key": name}
    if default is not MISSING and isinstance(default, dict | list):
        return dataclasses.field(default_factory=type(default), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def keys_of(cls: Any) -> dict[str, dataclasses.Field[Any]]:
    """Return the declared keys of a dataclass, by the names that users write."""
    declared = (f for f in dataclasses.fields(cls) if "form" in f.metadata)
    return {f.metadata["key"] or f.name: f for f in declared}


def read_keys(cls: type[T], node: Node, problems: Problems, within: str, **given: Any) -> T | None:
    """Read a mapping into a dataclass; returns None, with every problem kept, where a key is wrong or missing.

    `given` are the dataclass's fields that are no keys.
    """
    declared = keys_of(cls)
    if not isinstance(node.value, dict):
        problems.add(f"takes a map, got {node.kind}", f"keys: {', '.join(declared)}.", node.place(), within)
        return None
    values: dict[str, Any] = {}
    meant = ""
    count = len(problems.found)
    for name, value in node.items():
        if name not in declared:
            meant += suggestion(name, declared)
            problems.add(
                f"unknown key '{name}'",
                f"keys: {', '.join(declared)}.  {suggestion(name, declared)}".rstrip(),
                node.keys[name],
                within,
            )
            continue
        try:
            values[declared[name].name] = declared[name].metadata["form"].read(value)
        except BadExpression as error:
            problems.add(error.message, error.hint, error.node.place() if error.node else None, within)
        except BadValue as error:
            named = f"{name}: " if node.keys[name] != value.place() else ""  # a bare value has no key
            problems.add(f"{named}{error.message}", error.hint, (error.node or value).place(), within)
    for name, f in declared.items():
        if f"'{name}'" in meant:
            continue  # misspelt, and told
        if name not in node.value and f.default is MISSING and f.default_factory is MISSING:
            problems.add(f"the key '{name}' is missing", f"It takes {f.metadata['form'].what}.", node.place(), within)
    return cls(**given, **values) if len(problems.found) == count else None


def write_keys(value: Any) -> dict[str, Any]:
    """Return a dataclass's keys as plain data, without those at their default."""
    written: dict[str, Any] = {}
    for name, f in keys_of(type(value)).items():
        own = getattr(value, f.name)
        default = f.default if f.default_factory is MISSING else f.default_factory()
        if own != default:
            written[name] = f.metadata["form"].write(own)
    return written


def _scalar(node: Node, kind: type | tuple[type, ...], what: str) -> Any:
    wrong = isinstance(node.value, bool) and kind is not bool
    if wrong or not isinstance(node.value, kind):
        shown = (
            f" '{node.value}'" if isinstance(node.value, str | int | float) and not isinstance(node.value, bool) else ""
        )
        raise BadValue(f"takes {what}, got {node.kind}{shown}", node)
    return node.value


def read_name(node: Node) -> Text:
    """Read a name; numbers and truth values are not names."""
    text = _scalar(node, str, "a name")
    if not text.strip():
        raise BadValue("takes a name, got an empty text", node)
    return Text(text, node)


def read_names(node: Node) -> tuple[Text, ...]:
    """Read a name, or a list of them without repeats."""
    nodes = node.value if isinstance(node.value, tuple) else (node,)
    names = tuple(read_name(item) for item in nodes)
    for index, name in enumerate(names):
        if name in names[:index]:
            raise BadValue(f"'{name}' is named twice", name.node)
    return names


def read_mapping(read: Callable[[Node], T]) -> Callable[[Node], dict[str, T]]:
    """Return the reader of a map whose values `read` reads."""

    def reader(node: Node) -> dict[str, T]:
        if not isinstance(node.value, dict) or not node.value:
            raise BadValue(f"takes a map of names, got {node.kind}", node)
        return {Text(name, _At(node.keys[name])): read(value) for name, value in node.items()}  # type: ignore[arg-type]

    return reader


@dataclass(frozen=True)
class _At:
    """The place of a map's key, with a node's `place`."""

    key: Place

    def place(self) -> Place:
        return self.key


def read_formula(node: Node) -> Formula:
    """Read an expression: SQL text, or a number or truth value as it is."""
    from gpuetl.expressions.parse import parse_expression

    if node.value is None or isinstance(node.value, bool | int | float):
        return Formula(Constant(node.value), node)
    try:
        return Formula(parse_expression(_scalar(node, str, "an SQL expression")), node)
    except InvalidExpression as error:
        raise BadExpression(error, node) from None


class BadExpression(BadValue):
    """Text that is no expression; `place` points into it."""

    def __init__(self, error: InvalidExpression, node: Node) -> None:
        super().__init__(error.message, _Part(node, error.span), error.hint)  # type: ignore[arg-type]


class _Part:
    """A part of a node's text, with a node's `place`."""

    def __init__(self, node: Node, span: Any) -> None:
        self._node, self._span = node, span

    def place(self) -> Any:
        return self._node.place(self._span)


def write_formula(formula: Formula) -> Any:
    """Write an expression as SQL text, or a number or truth value as it is."""
    from gpuetl.expressions.unparse import to_sql

    if isinstance(formula.syntax, Constant) and isinstance(formula.syntax.value, bool | int | float):
        return formula.syntax.value
    return to_sql(formula.syntax)


def read_selection(node: Node) -> dict[str, Formula]:
    """Read the columns of a select: names in a list, or a map of names to expressions."""
    if isinstance(node.value, dict):
        return read_mapping(read_formula)(node)
    return {name: Formula(Name(str(name)), name.node) for name in read_names(node)}


def write_selection(columns: Mapping[str, Formula]) -> Any:
    """Write a list of names where every column is only named, else a map."""
    if all(formula.syntax == Name(str(name)) for name, formula in columns.items()):
        return [str(name) for name in columns]
    return {str(name): write_formula(formula) for name, formula in columns.items()}


def read_type(node: Node) -> DataType:
    """Read a type by name."""
    text = _scalar(node, str, "a type")
    try:
        return parse_type(text)
    except ValueError as error:
        names = [*NAMED, "decimal(p,s)", "timestamp[ZONE]"]
        raise BadValue(str(error), node, have_hint(text, names)) from None


_ORDER = re.compile(r"(?P<column>.+?)(?:\s+(?P<way>asc|desc))?(?:\s+nulls\s+(?P<nulls>first|last))?", re.IGNORECASE)


def parse_order(text: str, node: Node | None = None) -> Order:
    """Read `column [asc | desc] [nulls first | last]`."""
    match = _ORDER.fullmatch(text.strip())
    if match is None:
        raise BadValue("takes a column, then asc or desc", node)
    descending = (match["way"] or "").lower() == "desc"
    return Order(match["column"], descending, (match["nulls"] or "").lower() == "first", node)


def read_order(node: Node) -> tuple[Order, ...]:
    """Read one sort key or a list of them."""
    nodes = node.value if isinstance(node.value, tuple) else (node,)
    return tuple(parse_order(read_name(item), item) for item in nodes)


def _one_or_list(values: tuple[Any, ...]) -> Any:
    return str(values[0]) if len(values) == 1 else [str(value) for value in values]


def choice(*options: str) -> Field[str]:
    """Return the field of a name that is one of `options`."""

    def read(node: Node) -> str:
        text = str(_scalar(node, str, f"one of {', '.join(options)}"))
        if text not in options:
            raise BadValue(f"takes one of {', '.join(options)}, got '{text}'", node, suggestion(text, options))
        return text

    return Field(f"one of {', '.join(options)}", read)


def read_count(node: Node) -> int:
    """Read a whole number from 0."""
    number = _scalar(node, int, "a whole number")
    if number < 0:
        raise BadValue(f"takes a whole number from 0, got {number}", node)
    return int(number)


def _plain(values: Mapping[str, Any], write: Callable[[Any], Any]) -> dict[str, Any]:
    return {str(name): write(value) for name, value in values.items()}


def read_texts(node: Node) -> tuple[str, ...]:
    """Read a text, or a list of them; empty ones count."""
    nodes = node.value if isinstance(node.value, tuple) else (node,)
    return tuple(str(_scalar(item, str, "a text")) for item in nodes)


NAME = Field("a name", read_name, str)
TEXTS = Field("a text or a list of texts", read_texts, _one_or_list)
NAMES = Field("a name or a list of names", read_names, _one_or_list)
EXPRESSION = Field("an SQL expression", read_formula, write_formula)
EXPRESSIONS = Field("a map of columns to expressions", read_mapping(read_formula), lambda v: _plain(v, write_formula))
SELECTION = Field("a list of columns, or a map of columns to expressions", read_selection, write_selection)
RENAMES = Field("a map of old names to new ones", read_mapping(read_name), lambda v: _plain(v, str))
TYPES = Field("a map of columns to types", read_mapping(read_type), lambda v: _plain(v, type_name))
ORDER = Field("a column or a list of columns, each with asc or desc", read_order, _one_or_list)
COUNT = Field("a whole number", read_count)
BOOLEAN = Field("true or false", lambda node: bool(_scalar(node, bool, "true or false")))
