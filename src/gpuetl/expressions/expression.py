"""Expressions in Python: operators and methods that build what SQL text builds.  Immutable."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date, time, timedelta
from decimal import Decimal
from functools import partial, reduce
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, Never, TypeAlias

from gpuetl.errors import GpuetlError, InvalidExpression, InvalidType, MisusedExpression, UnknownMethod, suggestion
from gpuetl.expressions.functions import ALIASES, INSTEAD
from gpuetl.expressions.methods import Methods
from gpuetl.expressions.operands import IntoExpression, Names, Scalar
from gpuetl.expressions.syntax import (
    AS_JSON,
    ASSOCIATIVE,
    ORDER_BY,
    ORDER_TEXT,
    SORT_KEY,
    SUBSCRIPT,
    TRY_AS_JSON,
    Apply,
    CastTo,
    Constant,
    Lambda,
    Name,
    Over,
    Syntax,
    Variable,
)
from gpuetl.messages import coded, cut, one_line
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType, parse_type
from gpuetl.types.missing_types import MISSING_TYPES

TypeName: TypeAlias = str  # `str` is an accessor inside the class
Closed: TypeAlias = Literal["both", "left", "right", "none"]


@dataclass(frozen=True, eq=False, repr=False)
class Expression(Methods):
    """An expression under construction.

    Operators are SQL's; `&`, `|` and `~` are AND, OR and NOT.  `**` is the power, `^` is xor, `<<` and `>>` move bits.
    Every function of the table is a method:
    `col("ts").hour()` is `hour(ts)`; `.dt` and `.str` may stand in between.  Constants that come first stay first:
    `col("ts").dt.date_trunc("month")` is `date_trunc('month', ts)`.
    """

    syntax: Syntax

    if not TYPE_CHECKING:  # to a type checker, what is not here is an error

        def __getattr__(self, name: str) -> Never:
            if name.startswith("_"):
                raise AttributeError(name)
            raise UnknownMethod("an expression", name, method_hint(name))

        @staticmethod
        def _call(
            function: str, required: tuple[object, ...], optional: tuple[object, ...] = (), **named: object
        ) -> Any:
            return call(function, required, optional, **named)

    @property
    def dt(self) -> Expression:
        """The same expression: `col("ts").dt.hour()` reads like pandas."""
        return self

    @property
    def str(self) -> Expression:
        """The same expression: `col("name").str.upper()` reads like pandas."""
        return self

    def is_in(self, values: Iterable[Expression | Scalar | None]) -> Expression:
        """`x IN (…)`: null if x is null, or if it is not found and a value is null."""
        return apply("in", self, *values)

    def is_not_null(self) -> Expression:
        """`x IS NOT NULL`."""
        return ~apply("is_null", self)

    def between(self, low: IntoExpression, high: IntoExpression) -> Expression:
        """`low <= x AND x <= high`."""
        return apply("and", self >= low, self <= high)

    def is_between(self, lower_bound: Operand, upper_bound: Operand, closed: Closed = "both") -> Expression:
        """Whether x is in a range; `closed` says which ends belong to it.

        Strings are refused: write `lit("a")` for the string, or `col("a")` for the column.
        """
        low, high = refuse_string("is_between", lower_bound), refuse_string("is_between", upper_bound)
        if closed not in ("both", "left", "right", "none"):
            message = coded("GE1106", f"is_between takes one of both, left, right, none as closed, got {closed!r}")
            raise InvalidExpression(message)
        above = self >= low if closed in ("both", "left") else self > low
        return apply("and", above, self <= high if closed in ("both", "right") else self < high)

    def fill_null(self, value: IntoExpression) -> Expression:
        """`coalesce(x, value)`."""
        return apply("coalesce", self, value)

    def alias(self, name: TypeName) -> NamedExpression:
        """Name a column where a step takes expressions by place: `with_columns((col("a") + 1).alias("b"))`."""
        return NamedExpression(name, self)

    def over(self, *by: Names | Expression, order_by: Names | Expression = ()) -> Expression:
        """Compute aggregates or window functions over the rows with the same values of `by`, for each of the rows.

        `col("x").sum().over("k")` is the group's sum in each row, and `row_number().over("k", order_by="ts desc")` the
        place of each row.  Groups and orders are columns or expressions: `.over(col("ts").month())`.  It stands in
        `with_columns`, `select` and `filter`.
        """
        return Expression(Over(self.syntax, _flat_names(by), _flat_names((order_by,))))

    def cast(self, dtype: TypeName) -> Expression:
        """CAST to a type by name: exact, or an error.

        Raises
        ------
        InvalidExpression
            For a constant text that is no date or timestamp.
        """
        from gpuetl.expressions.constants import converted

        if dtype.lower() == "json":
            return apply(AS_JSON, self)
        target = type_named(dtype)
        try:
            return Expression(converted(self.syntax, target) or CastTo(self.syntax, target))
        except ValueError as error:
            raise InvalidExpression(str(error)) from None

    def try_cast(self, dtype: TypeName) -> Expression:
        """TRY_CAST to a type by name: exact, or null."""
        if dtype.lower() == "json":
            return apply(TRY_AS_JSON, self)
        return Expression(CastTo(self.syntax, type_named(dtype), lenient=True))

    def field(self, name: TypeName) -> Expression:
        """A field of a struct: `col("s").field("a")` is `s.a`."""
        return apply("struct_extract", self, name)

    def struct_insert(self, **fields: IntoExpression) -> Expression:
        """The struct with more fields: `col("s").struct_insert(b=1)` is `struct_insert(s, b := 1)`."""
        return apply("struct_insert", self, **fields)

    def struct_update(self, **fields: IntoExpression) -> Expression:
        """The struct with other values in fields, or with more fields: `col("s").struct_update(a=1)`."""
        return apply("struct_update", self, **fields)

    def __getitem__(self, key: TypeName) -> Expression:
        """A field of a struct, or the value of a map's key: `col("s")["a"]`.  Elements of lists: `list_get(0)`."""
        if not isinstance(key, (str, Expression)):
            message = coded("GE1217", f"takes the name of a field, or a key of a map, got {key!r}")
            raise MisusedExpression(message, hint="Write list_get(n), counted from 0, for an element of a list.")
        return apply(SUBSCRIPT, self, key)

    def __repr__(self) -> TypeName:
        """Return the expression as SQL."""
        return f"<Expression {_shown(self.syntax)}>"

    def _repr_html_(self) -> TypeName:
        from html import escape

        return f"<code>{escape(_shown(self.syntax))}</code>"

    __iter__ = None

    def __bool__(self) -> bool:
        message = coded("GE1217", "an expression cannot be used as a Python boolean: use & | ~ instead of and, or, not")
        raise MisusedExpression(message, hint="Write (a > 1) & (a < 3) for 1 < a < 3.")

    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> Expression:
        return apply("negate", self)

    def __invert__(self) -> Expression:
        return apply("not", self)

    def __eq__(self, other: IntoExpression) -> Expression:  # type: ignore[override]
        return apply("equal", self, other)

    def __ne__(self, other: IntoExpression) -> Expression:  # type: ignore[override]
        return apply("not_equal", self, other)

    def __lt__(self, other: IntoExpression) -> Expression:
        return apply("less", self, other)

    def __le__(self, other: IntoExpression) -> Expression:
        return apply("less_equal", self, other)

    def __gt__(self, other: IntoExpression) -> Expression:
        return apply("greater", self, other)

    def __ge__(self, other: IntoExpression) -> Expression:
        return apply("greater_equal", self, other)

    def __add__(self, other: IntoExpression) -> Expression:
        return apply("add", self, other)

    def __sub__(self, other: IntoExpression) -> Expression:
        return apply("subtract", self, other)

    def __mul__(self, other: IntoExpression) -> Expression:
        return apply("multiply", self, other)

    def __truediv__(self, other: IntoExpression) -> Expression:
        return apply("divide", self, other)

    def __floordiv__(self, other: IntoExpression) -> Expression:
        return apply("int_divide", self, other)

    def __mod__(self, other: IntoExpression) -> Expression:
        return apply("modulo", self, other)

    def __pow__(self, other: IntoExpression) -> Expression:
        return apply("power", self, other)

    def __lshift__(self, other: IntoExpression) -> Expression:
        return apply("shift_left", self, other)

    def __rshift__(self, other: IntoExpression) -> Expression:
        return apply("shift_right", self, other)

    def __xor__(self, other: IntoExpression) -> Expression:
        return apply("bit_xor", self, other)

    def __and__(self, other: IntoExpression) -> Expression:
        return apply("and", self, other)

    def __or__(self, other: IntoExpression) -> Expression:
        return apply("or", self, other)

    def __radd__(self, other: IntoExpression) -> Expression:
        return apply("add", other, self)

    def __rsub__(self, other: IntoExpression) -> Expression:
        return apply("subtract", other, self)

    def __rmul__(self, other: IntoExpression) -> Expression:
        return apply("multiply", other, self)

    def __rtruediv__(self, other: IntoExpression) -> Expression:
        return apply("divide", other, self)

    def __rfloordiv__(self, other: IntoExpression) -> Expression:
        return apply("int_divide", other, self)

    def __rmod__(self, other: IntoExpression) -> Expression:
        return apply("modulo", other, self)

    def __rpow__(self, other: IntoExpression) -> Expression:
        return apply("power", other, self)

    def __rlshift__(self, other: IntoExpression) -> Expression:
        return apply("shift_left", other, self)

    def __rrshift__(self, other: IntoExpression) -> Expression:
        return apply("shift_right", other, self)

    def __rxor__(self, other: IntoExpression) -> Expression:
        return apply("bit_xor", other, self)

    def __rand__(self, other: IntoExpression) -> Expression:
        return apply("and", other, self)

    def __ror__(self, other: IntoExpression) -> Expression:
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


@dataclass(frozen=True, eq=False)
class NamedExpression:
    """An expression and the name of the column that it gives; `alias` makes one, as the last call."""

    name: str
    expression: Expression

    if not TYPE_CHECKING:  # to a type checker, what is not here is an error

        def __getattr__(self, name: str) -> Never:
            if name.startswith("_"):
                raise AttributeError(name)
            raise UnknownMethod("a named expression", name, f"Call alias last: .{name}(…).alias({self.name!r}).")


Operand: TypeAlias = Expression | bool | int | float | date | time | timedelta | Decimal | None
"""An expression, or a constant that is no string."""


def as_syntax(value: object) -> Syntax:
    """Return the written form of an expression, or of a Python constant."""
    if isinstance(value, NamedExpression):
        message = coded("GE1212", f"the name '{value.name}' cannot stand inside an expression")
        raise InvalidExpression(message, hint="Call alias last, or give the name as a keyword.")
    if callable(value) and not isinstance(value, Expression):
        return lambda_syntax(value)
    if isinstance(value, list | tuple):
        return Apply("list_value", tuple(map(as_syntax, value)))
    return value.syntax if isinstance(value, Expression) else Constant(value)


def lambda_syntax(function: Callable[..., object]) -> Lambda:
    """Return what a Python function of an element, and perhaps of its place, gives: its parameters are the names."""
    names = tuple(signature(function).parameters)
    return Lambda(names, as_syntax(function(*(Expression(Variable(name)) for name in names))))


def as_option(name: str, value: object) -> Syntax:
    """Return the value of a keyword; of `rows` and `range`, both ends of a frame as one constant."""
    return Constant(tuple(value)) if name in FRAMES and isinstance(value, list | tuple) else as_syntax(value)


FRAMES = ("rows", "range")


def apply(function: str, *args: object, **keywords: object) -> Expression:
    """Call a function of the table by name; AND and OR of many are chains of two, as in SQL."""
    if function in ASSOCIATIVE and len(args) > 2:
        first, second, *rest = args
        return reduce(partial(apply, function), rest, apply(function, first, second))
    named = tuple((key, as_option(key, value)) for key, value in keywords.items())
    return Expression(Apply(function, tuple(map(as_syntax, args)), named))


def call(function: str, required: tuple[object, ...], optional: tuple[object, ...] = (), **named: object) -> Expression:
    """Call a function of the table as its method in Python does; options that are None are not given."""
    given = [option for option in optional if option is not None]
    order = [sort_key(key) for key in names_in_order(named.pop(ORDER_BY, None))]
    made = apply(function, *required, *given, **{key: value for key, value in named.items() if value is not None})
    if not order:
        return made
    assert isinstance(made.syntax, Apply)
    return Expression(replace(made.syntax, keywords=(*made.syntax.keywords, *order)))


def names_in_order(value: Any) -> Iterable[Any]:
    """Return the keys of an order, of which one may be given alone."""
    return () if value is None else (value,) if isinstance(value, str | Expression) else value


def sort_key(key: Expression | str) -> tuple[str, Syntax]:
    """Return a key of the order of a call: an expression, or text such as `ts desc nulls first`."""
    if isinstance(key, Expression):
        return ORDER_BY, Apply(SORT_KEY, (key.syntax, Constant(False), Constant(False)))
    found = ORDER_TEXT.fullmatch(key.strip())
    if found is None:
        raise InvalidExpression(coded("GE1008", "order_by takes a column, then asc or desc"))
    descending, nulls_first = (found["way"] or "").lower() == "desc", (found["nulls"] or "").lower() == "first"
    return ORDER_BY, Apply(SORT_KEY, (Name(found["column"]), Constant(descending), Constant(nulls_first)))


def function_call(
    function: str, required: tuple[object, ...], optional: tuple[object, ...] = (), **named: object
) -> Expression:
    """Call a function of the table as its function in Python does.

    Raises
    ------
    InvalidExpression
        For a string where no argument is an expression: elsewhere, `sum("x")` is the sum of a column.
    """
    texts = [value for value in required if isinstance(value, str)]
    if texts and not any(isinstance(value, Expression | list) for value in (*required, *optional, *named.values())):
        raise ambiguous_string(function, texts[-1])
    return call(function, required, optional, **named)


def refuse_string(function: str, value: Operand) -> Operand:
    """Return a value; raise `InvalidExpression` for a string, which Polars takes for the name of a column."""
    if isinstance(value, str):
        raise ambiguous_string(function, value)
    return value


def ambiguous_string(function: str, text: str) -> InvalidExpression:
    """Word a string that may be meant as a column."""
    message = coded("GE1215", f"{function} got the string {text!r}, which may be a column or a constant")
    return InvalidExpression(message, hint=f"Write col({text!r}) for the column, or lit({text!r}) for the string.")


def type_named(name: str) -> DataType:
    """Return the type of a name; raise `InvalidType` where it is none."""
    try:
        return parse_type(name)
    except ValueError as error:
        hint = getattr(error, "hint", "") or MISSING_TYPES.get(name.lower(), "")
        raise InvalidType(error.args[0], hint=hint) from None


OF_POLARS = {
    "len": "Write count() for the number of rows, or length() for that of characters.",
    "sort": "An order is text: sort('x desc').",
    "name": "Write alias('name').",
    "list": "Write list_get(0), list_length() or another function of lists.",
    "weekday": "Write isodow(), Monday is 1, or dayofweek(), Sunday is 0.",
    "unique": "Write count_distinct(), or a distinct step.",
    **dict.fromkeys(("months", "to_months"), "Write add_months(n), or expr(\"d + INTERVAL '1 month'\")."),
    **dict.fromkeys(("years", "to_years"), "Write add_months(12 * n), or expr(\"d + INTERVAL '1 year'\")."),
}
"""What to write for methods of Polars that mean something else, or are not there."""


def method_hint(name: str) -> str:
    """Return what to write in place of a method that expressions do not have."""
    if name in OF_POLARS:
        return OF_POLARS[name]
    if name in ALIASES:
        return f"Write {ALIASES[name]}()."
    known = [name for name in dir(Expression) if not name.startswith("_")]
    return INSTEAD.get(name) or suggestion(name, known) or "docs/functions.md lists the functions."


def _flat_names(names: tuple[Names | Expression, ...]) -> tuple[str, ...]:
    """Return names of columns, and expressions as SQL."""
    from gpuetl.expressions.unparse import to_sql

    each = (name for one in names for name in ((one,) if isinstance(one, str | Expression) else one))
    return tuple(to_sql(name.syntax) if isinstance(name, Expression) else name for name in each)
