"""Expressions as written: names, constants, calls.  No types yet, and no schema.

SQL text and the Python interface both build these; `resolve` gives them types, `unparse` writes them as SQL.
`span` is where a node stood in its text and takes no part in equality.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from operator import is_
from typing import Any

from gpuetl.errors import InvalidExpression, Span
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType

MAX_OPERATORS = 200  # below each other: a chain of `+` is as deep as it is long
RUN_ID = "run_id"
"""A function of no engine: typing puts the run's id in its place."""
SCALAR = "scalar"
"""`scalar(stage.column)`, which is a column by the time that an expression is typed."""
SUBSCRIPT, STRUCT = "subscript", "struct_pack"
"""`x[k]`, which typing makes the function of a list, a map or a struct; and the function whose keywords are fields."""
AS_JSON, TRY_AS_JSON = "as_json", "try_as_json"
"""`CAST(x AS json)` and `TRY_CAST(x AS json)`: JSON is no type here, but a form of strings."""
CHANGED_STRUCTS = ("struct_insert", "struct_update")
"""Functions of a struct and of fields, which are keywords."""
SORT_KEY, ORDER_BY = "sort_key", "order_by"
"""The function of an expression, whether it is descending and whether nulls come first; the keyword of its calls."""
ORDER_TEXT = re.compile(r"(?P<column>.+?)(?:\s+(?P<way>asc|desc))?(?:\s+nulls\s+(?P<nulls>first|last))?", re.IGNORECASE)
"""A key of an order, as steps and Python write it."""
ASSOCIATIVE = ("and", "or")  # chains of these are the same wherever their brackets are


@dataclass(frozen=True, kw_only=True)
class Syntax:
    """The base of all written nodes."""

    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Name(Syntax):
    """A column by name; `quoted` where it stood in double quotes."""

    name: str
    quoted: bool = field(default=False, compare=False, kw_only=True)


@dataclass(frozen=True)
class StageName(Name):
    """A stage by name, in Python, and the pipeline that has it."""

    pipeline: Any = field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Constant(Syntax):
    """A constant: None, bool, int, float, Decimal, str, date, datetime, time, timedelta or CalendarInterval."""

    value: Any

    def __eq__(self, other: object) -> bool:
        """Compare type and value: True is not 1, and 1 is not 1.0."""
        if not isinstance(other, Constant) or type(other.value) is not type(self.value):
            return False
        return repr(other.value) == repr(self.value)

    def __hash__(self) -> int:
        return hash((type(self.value), repr(self.value)))


@dataclass(frozen=True)
class ParameterName(Syntax):
    """A parameter of the pipeline, `$name`: bound as a typed value, never as text."""

    name: str


@dataclass(frozen=True)
class Variable(Syntax):
    """What a lambda calls an element, or its place."""

    name: str


@dataclass(frozen=True)
class Lambda(Syntax):
    """`lambda x: x + 1`: an expression of each element of a list, and perhaps of its place."""

    parameters: tuple[str, ...]
    body: Syntax


@dataclass(frozen=True)
class Unreadable(Syntax):
    """Text that is no expression, or a part of one: its error is reported where it was read."""


@dataclass(frozen=True)
class Apply(Syntax):
    """A function or operator by its name in the function table; `keywords` are `name => value` pairs."""

    function: str
    args: tuple[Syntax, ...] = ()
    keywords: tuple[tuple[str, Syntax], ...] = ()


@dataclass(frozen=True)
class CastTo(Syntax):
    """CAST, or TRY_CAST where `lenient`."""

    operand: Syntax
    dtype: DataType
    lenient: bool = False


@dataclass(frozen=True)
class Over(Syntax):
    """Aggregates or window functions over groups of rows, in Python; a table makes steps of it: `over_columns.py`."""

    operand: Syntax
    by: tuple[str, ...]
    order_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Selected(Syntax):
    """Stands for each of the columns that `matches` takes by name and type, in Python; `text` is how it is written."""

    matches: Callable[[str, DataType], bool] = field(compare=False)
    text: str


def operands(node: Syntax) -> list[Syntax]:
    """Return what a node is built on."""
    if isinstance(node, Apply):
        return [*node.args, *[value for _, value in node.keywords]] if node.keywords else list(node.args)
    if isinstance(node, Lambda):
        return [node.body]
    return [node.operand] if isinstance(node, CastTo | Over) else []


def rebuilt(node: Syntax, change: Callable[[Syntax], Syntax | None]) -> Syntax:
    """Return an expression with those of its parts changed for which `change` gives another one, outermost first."""
    if (changed := change(node)) is not None:
        return changed
    own = operands(node)
    changes = [rebuilt(operand, change) for operand in own]
    if all(map(is_, own, changes)):
        return node
    if isinstance(node, Apply):
        count = len(node.args)
        keywords = zip((key for key, _ in node.keywords), changes[count:], strict=True)
        return replace(node, args=tuple(changes[:count]), keywords=tuple(keywords))
    (inner,) = changes
    if isinstance(node, Lambda):
        return replace(node, body=inner)
    return replace(node, operand=inner) if isinstance(node, CastTo | Over) else node


def operands_of(function: str, node: Syntax) -> list[Syntax]:
    """Return the operands of a chain of one function, wherever its brackets are; of another node, that alone."""
    if isinstance(node, Apply) and node.function == function:
        return [part for arg in node.args for part in operands_of(function, arg)]
    return [node]


def parts(node: Syntax) -> Iterator[Syntax]:
    """Yield an expression and all parts of it, from left to right; one that Python has put in twice comes once."""
    if isinstance(node, Name | Constant):
        yield node
        return
    stack, seen = [node], set[int]()
    while stack:
        found = stack.pop()
        if id(found) not in seen:
            seen.add(id(found))
            stack += reversed(operands(found))
            yield found


def names_in(node: Syntax) -> frozenset[str]:
    """Return the names of the columns that an expression reads."""
    return frozenset(part.name for part in parts(node) if isinstance(part, Name))


def refuse_depth(node: Syntax) -> None:
    """Refuse an expression that is deeper than text may be; Python builds one in a loop.

    Raises
    ------
    InvalidExpression
        Where more than `MAX_OPERATORS` build on each other.
    """
    level = [node]
    for _ in range(MAX_OPERATORS - 1):  # sqlglot's tree has a level more for a column: what Python takes, YAML does
        level = list({id(child): child for parent in level for child in operands(parent)}.values())  # shared parts once
        if not level:
            return
    raise InvalidExpression.too_deep(MAX_OPERATORS)
