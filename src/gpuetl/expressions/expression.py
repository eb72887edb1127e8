"""Expressions in Python: operators and methods that build what SQL text builds.  Immutable."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial, reduce
from typing import Any, TypeAlias

from gpuetl.errors import GpuetlError, InvalidExpression, suggestion
from gpuetl.expressions.functions import ALIASES, INSTEAD, find_function, function_names
from gpuetl.expressions.functions.function import Kind
from gpuetl.expressions.syntax import ASSOCIATIVE, SUBSCRIPT, Apply, CastTo, Constant, Syntax
from gpuetl.messages import cut, one_line
from gpuetl.records import dataclass
from gpuetl.types.data_types import parse_type

TypeName: TypeAlias = str  # `str` is an accessor inside the class
_ALL_KINDS: tuple[Kind, ...] = ("scalar", "aggregate", "window")


@dataclass(frozen=True, eq=False, repr=False)
class Expression:
    """An expression under construction.

    Operators are SQL's; `&`, `|` and `~` are AND, OR and NOT.  Every function of the table is a method:
    `col("ts").hour()` is `hour(ts)`; `.dt` and `.str` may stand in between.  Constants that come first stay first:
    `col("ts").dt.date_trunc("month")` is `date_trunc('month', ts)`.
    """

    syntax: Syntax

    def __getattr__(self, name: str) -> Callable[..., Expression]:
        if name.startswith("_") or name not in {*function_names(_ALL_KINDS), *ALIASES}:
            hint = INSTEAD.get(name) or suggestion(name, function_names(_ALL_KINDS))
            raise AttributeError(f"no function '{name}'.  {hint or 'docs/functions.md lists the functions'}")
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

    def field(self, name: TypeName) -> Expression:
        """A field of a struct: `col("s").field("a")` is `s.a`."""
        return apply("struct_extract", self, name)

    def __getitem__(self, key: TypeName) -> Expression:
        """A field of a struct, or the value of a map's key: `col("s")["a"]`.  Elements of lists: `list_get(0)`."""
        if not isinstance(key, (str, Expression)):
            raise TypeError("write list_get(n), counted from 0, for an element of a list")
        return apply(SUBSCRIPT, self, key)

    def __repr__(self) -> TypeName:
        """Return the expression as SQL."""
        return f"<Expression {_shown(self.syntax)}>"

    def _repr_html_(self) -> TypeName:
        from html import escape

        return f"<code>{escape(_shown(self.syntax))}</code>"

    __iter__ = None

    def __bool__(self) -> bool:
        raise TypeError("an expression cannot be used as a Python boolean: use & | ~ instead of and, or, not")

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


def _shown(syntax: Syntax) -> str:
    """Return the SQL of an expression, or its parts where SQL cannot say it, such as a constant of a strange type."""
    from gpuetl.expressions.unparse import to_sql

    try:
        return cut(one_line(to_sql(syntax)), 1_000)
    except RecursionError:
        return "… more operators than can be shown …"
    except (GpuetlError, TypeError, ValueError):
        return cut(one_line(repr(syntax)), 1_000)


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
