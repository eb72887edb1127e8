"""The Python way to write expressions: `col("amount") * 2 > lag(col("amount"))`.  Immutable; builds what SQL builds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, TypeAlias

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.functions import ALIASES, INSTEAD, find_function, function_names
from gpuetl.expressions.functions.function import Kind
from gpuetl.expressions.syntax import ASSOCIATIVE, Apply, CastTo, Constant, Name, ParameterName, Syntax
from gpuetl.expressions.types import parse_type

TypeName: TypeAlias = str  # `str` is an accessor inside the class
_ALL_KINDS: tuple[Kind, ...] = ("scalar", "aggregate", "window")


@dataclass(frozen=True, eq=False)
class Expression:
    """An expression under construction.

    Operators are SQL's; `&`, `|` and `~` are AND, OR and NOT.  Every function of the table is a method:
    `col("ts").hour()` is `hour(ts)`; `.dt` and `.str` may stand in between.  Constants that come first stay first:
    `col("ts").dt.date_trunc("month")` is `date_trunc('month', ts)`.
    """

    syntax: Syntax

    def __getattr__(self, name: str) -> Callable[..., Expression]:
        if name.startswith("_") or name not in {*function_names(_ALL_KINDS), *ALIASES}:
            hint = INSTEAD.get(name, "docs/functions.md lists the functions")
            raise AttributeError(f"no function '{name}'.  {hint}")
        before = _constants_before_column(name)
        return lambda *args, **keywords: apply(name, *args[:before], self, *args[before:], **keywords)

    @property
    def dt(self) -> Expression:
        """The same expression: `col("ts").dt.hour()` reads like pandas."""
        return self

    @property
    def str(self) -> Expression:
        """The same expression: `col("name").str.upper()` reads like pandas."""
        return self

    def is_in(self, values: Iterable[Any]) -> Expression:
        """`x IN (…)`."""
        return apply("in", self, *values)

    def is_not_null(self) -> Expression:
        """`x IS NOT NULL`."""
        return ~apply("is_null", self)

    def between(self, low: Any, high: Any) -> Expression:
        """`low <= x AND x <= high`."""
        return apply("and", self >= low, self <= high)

    def fill_null(self, value: Any) -> Expression:
        """`coalesce(x, value)`."""
        return apply("coalesce", self, value)

    def cast(self, dtype: TypeName) -> Expression:
        """CAST to a type by name: exact, or an error.

        Raises
        ------
        InvalidExpression
            For a constant text that is no date or timestamp.
        """
        from gpuetl.expressions.constants import converted

        target = parse_type(dtype)
        try:
            return Expression(converted(self.syntax, target) or CastTo(self.syntax, target))
        except ValueError as error:
            raise InvalidExpression(str(error)) from None

    def try_cast(self, dtype: TypeName) -> Expression:
        """TRY_CAST to a type by name: exact, or null."""
        return Expression(CastTo(self.syntax, parse_type(dtype), lenient=True))

    def __bool__(self) -> bool:
        raise TypeError("an expression has no truth value: use & | ~ instead of and, or, not")

    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> Expression:
        return apply("negate", self)

    def __invert__(self) -> Expression:
        return apply("not", self)

    def __eq__(self, other: Any) -> Expression:  # type: ignore[override]
        return apply("equal", self, other)

    def __ne__(self, other: Any) -> Expression:  # type: ignore[override]
        return apply("not_equal", self, other)

    def __lt__(self, other: Any) -> Expression:
        return apply("less", self, other)

    def __le__(self, other: Any) -> Expression:
        return apply("less_equal", self, other)

    def __gt__(self, other: Any) -> Expression:
        return apply("greater", self, other)

    def __ge__(self, other: Any) -> Expression:
        return apply("greater_equal", self, other)

    def __add__(self, other: Any) -> Expression:
        return apply("add", self, other)

    def __sub__(self, other: Any) -> Expression:
        return apply("subtract", self, other)

    def __mul__(self, other: Any) -> Expression:
        return apply("multiply", self, other)

    def __truediv__(self, other: Any) -> Expression:
        return apply("divide", self, other)

    def __floordiv__(self, other: Any) -> Expression:
        return apply("int_divide", self, other)

    def __mod__(self, other: Any) -> Expression:
        return apply("modulo", self, other)

    def __and__(self, other: Any) -> Expression:
        return apply("and", self, other)

    def __or__(self, other: Any) -> Expression:
        return apply("or", self, other)

    def __radd__(self, other: Any) -> Expression:
        return apply("add", other, self)

    def __rsub__(self, other: Any) -> Expression:
        return apply("subtract", other, self)

    def __rmul__(self, other: Any) -> Expression:
        return apply("multiply", other, self)

    def __rtruediv__(self, other: Any) -> Expression:
        return apply("divide", other, self)

    def __rfloordiv__(self, other: Any) -> Expression:
        return apply("int_divide", other, self)

    def __rmod__(self, other: Any) -> Expression:
        return apply("modulo", other, self)

    def __rand__(self, other: Any) -> Expression:
        return apply("and", other, self)

    def __ror__(self, other: Any) -> Expression:
        return apply("or", other, self)


def as_syntax(value: Any) -> Syntax:
    """Return the written form of an expression, or of a Python constant."""
    return value.syntax if isinstance(value, Expression) else Constant(value)


def apply(function: str, *args: Any, **keywords: Any) -> Expression:
    """Call a function of the table by name; AND and OR of many are chains of two, as in SQL."""
    if function in ASSOCIATIVE and len(args) > 2:
        chain: Expression = reduce(partial(apply, function), args)
        return chain
    named = tuple((key, as_syntax(value)) for key, value in keywords.items())
    return Expression(Apply(function, tuple(map(as_syntax, args)), named))


def _constants_before_column(name: str) -> int:
    """Return how many constants a method takes before its own expression's place: one for `date_trunc(unit, x)`."""
    function = find_function(name, _ALL_KINDS)
    constants = [argument.constant for argument in function.arguments] if function else []
    return constants.index(False) if False in constants else 0


def col(name: str) -> Expression:
    """A column."""
    return Expression(Name(name))


def lit(value: Any) -> Expression:
    """A constant."""
    return Expression(Constant(value))


def param(name: str) -> Expression:
    """A parameter of the pipeline, `$name`."""
    return Expression(ParameterName(name))


def expr(sql: str) -> Expression:
    """An expression in SQL; raises `InvalidExpression` where it does not parse."""
    from gpuetl.expressions.parse import parse_expression

    return Expression(parse_expression(sql))


@dataclass(frozen=True)
class When:
    """A CASE under construction; ends with `otherwise(value)`, or `end()`, which gives null for the rest."""

    branches: tuple[tuple[Any, Any], ...]

    def when(self, condition: Expression, value: Any) -> When:
        """Add a branch."""
        return When((*self.branches, (condition, value)))

    def otherwise(self, value: Any) -> Expression:
        """Close with the value for the rows that no branch takes."""
        return apply("case", *(part for branch in self.branches for part in branch), value)

    def end(self) -> Expression:
        """Close with null for the rows that no branch takes."""
        return apply("case", *(part for branch in self.branches for part in branch))


def when(condition: Expression, value: Any) -> When:
    """Begin `CASE WHEN condition THEN value`."""
    return When(((condition, value),))


def count(x: Expression | None = None) -> Expression:
    """`count(*)`, or the number of values of `x` that are not null."""
    return apply("count_rows") if x is None else apply("count", x)


def row_number() -> Expression:
    """The row's place in its window's group, from 1."""
    return apply("row_number")


def rank() -> Expression:
    """1 more than the rows before it in its window's group; rows that tie share it."""
    return apply("rank")


def dense_rank() -> Expression:
    """1 more than the distinct keys before it in its window's group; rows that tie share it."""
    return apply("dense_rank")


def percent_rank() -> Expression:
    """(rank - 1) / (rows - 1) in its window's group."""
    return apply("percent_rank")


def cume_dist() -> Expression:
    """The share of its window's group that comes no later in order."""
    return apply("cume_dist")


def ntile(n: Any) -> Expression:
    """The tile, from 1, when the rows of its window's group are dealt to n equal tiles."""
    return apply("ntile", n)


def lag(x: Expression, *offset: Any, **options: Any) -> Expression:
    """The x of `offset` (1) rows before in the window's group; `default` and `ignore_nulls` as in SQL."""
    return apply("lag", x, *offset, **options)


def lead(x: Expression, *offset: Any, **options: Any) -> Expression:
    """The x of `offset` (1) rows after in the window's group; `default` and `ignore_nulls` as in SQL."""
    return apply("lead", x, *offset, **options)


def session_id(gap: Any) -> Expression:
    """How many gaps longer than `gap` the window's group has had so far."""
    return apply("session_id", gap=gap)
