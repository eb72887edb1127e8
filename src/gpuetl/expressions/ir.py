"""Typed expressions: what plans hold, the optimizer rewrites and backends evaluate.

Seven kinds of node, all immutable and compared by value.  Every call's arguments already have the types that its
handler expects: `resolve` put the casts in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from gpuetl.records import dataclass
from gpuetl.types.data_types import DATE, NAMED, NULL, TIMESTAMP, DataType, is_integer

if TYPE_CHECKING:
    from gpuetl.expressions.functions import Function

UINT64 = NAMED["uint64"]


@dataclass(frozen=True)
class Column:
    """A column of the input frame."""

    name: str
    dtype: DataType

    def __hash__(self) -> int:
        return hash(self.name)  # Arrow writes a type as text to hash it


@dataclass(frozen=True, eq=False)
class Literal:
    """A constant; `value` is a Python object of `dtype`, or None.

    A parameter's value has the type that was `declared` for it, also where a number in the text would adapt.  A number
    in the text, or what is calculated of some, has its exact `number`: its type is that of what it stands beside.
    """

    value: Any
    dtype: DataType
    declared: bool = field(default=False, repr=False)
    number: Decimal | None = field(default=None, repr=False)

    def _key(self) -> tuple[str, str]:
        # repr tells -0.0 from 0.0 and makes NaN equal to itself
        return type(self.value).__name__, repr(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self.dtype == other.dtype and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


@dataclass(frozen=True, eq=False, repr=False)
class RunId(Literal):
    """The id of the run, a constant; plans that differ in it alone do the same, and have one fingerprint."""

    def __repr__(self) -> str:
        return "RunId()"


@dataclass(frozen=True)
class Parameter:
    """A parameter of the pipeline whose value is not bound yet."""

    name: str
    dtype: DataType


@dataclass(frozen=True)
class Variable:
    """What a lambda calls an element, or its place: no column."""

    name: str
    dtype: DataType


@dataclass(frozen=True)
class Lambda:
    """An expression of each element of a list, and perhaps of its place; of the type of its body."""

    parameters: tuple[Variable, ...]
    body: Expr

    @property
    def dtype(self) -> DataType:
        """The type of what it gives of an element."""
        return self.body.dtype


@dataclass(frozen=True)
class Cast:
    """A conversion; exact or an error, or null where `lenient`.  `implicit` ones were put in by the typing rules."""

    operand: Expr
    dtype: DataType
    lenient: bool = False
    implicit: bool = False

    def __hash__(self) -> int:
        return hash((self.operand, self.lenient))


@dataclass(frozen=True)
class Call:
    """A function of the closed table, applied.

    Optional arguments that are left out at the end are not in `args`; of aggregates and windows, those before one that
    is given are null.
    """

    function: Function
    args: tuple[Expr, ...]
    dtype: DataType

    def __hash__(self) -> int:
        return hash((self.function, self.args))


Expr: TypeAlias = Column | Literal | Parameter | Variable | Lambda | Cast | Call


ABSENT = Literal(None, NULL)
"""An optional argument that is left out before one that is given."""


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the direct operands of `expr`."""
    if isinstance(expr, Call):
        return expr.args
    if isinstance(expr, Lambda):
        return (expr.body,)
    return (expr.operand,) if isinstance(expr, Cast) else ()


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield `expr` and everything below it, parents first."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(children(node))


def transform(expr: Expr, rewrite: Callable[[Expr], Expr]) -> Expr:
    """Rebuild `expr` bottom-up, each node replaced by `rewrite` of it; what it returns as it is stays as it is."""
    if isinstance(expr, Call):
        args = tuple(transform(arg, rewrite) for arg in expr.args)
        if any(new is not old for new, old in zip(args, expr.args, strict=True)):
            expr = replace(expr, args=args)
    elif isinstance(expr, Lambda):
        body = transform(expr.body, rewrite)
        if body is not expr.body:
            expr = replace(expr, body=body)
    elif isinstance(expr, Cast):
        operand = transform(expr.operand, rewrite)
        if operand is not expr.operand:
            expr = replace(expr, operand=operand)
    return rewrite(expr)


def columns_of(*exprs: Expr) -> frozenset[str]:
    """Return the names of the columns that the expressions read."""
    return frozenset(node.name for expr in exprs for node in walk(expr) if isinstance(node, Column))


def substitute(expr: Expr, columns: Mapping[str, Expr]) -> Expr:
    """Replace columns by the expressions that compute them; other columns stay."""
    return transform(expr, lambda node: columns.get(node.name, node) if isinstance(node, Column) else node)


def over_elements(function: Lambda) -> Expr:
    """Return a lambda's body over a frame of elements, in which a column has each variable: see `element_column`."""
    names = {variable.name for variable in function.parameters}

    def as_column(node: Expr) -> Expr:
        known = isinstance(node, Variable) and node.name in names
        return Column(element_column(node.name), node.dtype) if known else node  # type: ignore[union-attr]

    return transform(function.body, as_column)


def element_column(variable: str) -> str:
    """Return the name of the column that has a lambda's variable."""
    return f":{variable}"


def branch_places(call: Call) -> list[int]:
    """Return the places of the arguments that CASE or coalesce choose from; none of another function."""
    if call.function.name == "case":
        count = len(call.args)
        return [*range(1, count, 2), *([count - 1] if count % 2 else [])]
    return list(range(len(call.args))) if call.function.name == "coalesce" else []


def conjuncts(predicate: Expr) -> list[Expr]:
    """Split a predicate at its top-level ANDs; a row passes all parts exactly where it passes the whole."""
    return chained("and", predicate)


def chained(name: str, expr: Expr) -> list[Expr]:
    """Return the operands of a chain of AND or OR, wherever its brackets are; both are associative."""
    if isinstance(expr, Call) and expr.function.name == name:
        return [part for arg in expr.args for part in chained(name, arg)]
    return [expr]


def can_fail(expr: Expr) -> bool:
    """Return whether evaluating `expr` can raise for some value: checked arithmetic and strict, narrowing casts."""
    return any(
        (isinstance(node, Call) and node.function.fails_for(node.args)) or (isinstance(node, Cast) and _narrows(node))
        for node in walk(expr)
    )


def _narrows(cast: Cast) -> bool:
    if not cast.implicit:
        return not cast.lenient
    if cast.operand.dtype == UINT64:
        return is_integer(cast.dtype)  # arithmetic is done in int64
    return bool(cast.operand.dtype == DATE and cast.dtype == TIMESTAMP)  # timestamps end after 292,000 years


def calls_of(kind: str, exprs: Iterable[Expr]) -> list[Call]:
    """Return the distinct calls of functions of `kind`, in order of first appearance."""
    found = [node for expr in exprs for node in walk(expr) if isinstance(node, Call) and node.function.kind == kind]
    return list(dict.fromkeys(found)) if len(found) > 1 else found
