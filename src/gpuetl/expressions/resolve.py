"""Typing: a written expression and a schema give a typed one, or an error that points into the text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import Any

import pyarrow as pa

from gpuetl.errors import InvalidExpression, UnknownColumn, have_hint
from gpuetl.expressions import ir
from gpuetl.expressions.advice import SIGNS, cast_hint, mismatch, mismatch_hint, shown_name
from gpuetl.expressions.bins import cut_as_case
from gpuetl.expressions.constants import EXTRACT_PARTS
from gpuetl.expressions.expression import Expression
from gpuetl.expressions.format_lists import PARSERS, one_format_each
from gpuetl.expressions.functions import (
    ALIASES,
    FUNCTIONS,
    Function,
    Kind,
    TypeMismatch,
    find_function,
    unknown_function,
)
from gpuetl.expressions.functions.aggregates import ORDERABLE, SORT_KEY_FUNCTION
from gpuetl.expressions.functions.function import Argument
from gpuetl.expressions.functions.timestamps import unit_named
from gpuetl.expressions.ir import (
    ABSENT,
    Call,
    Cast,
    Column,
    Expr,
    Literal,
    RunId,
    branch_places,
    chained,
    columns_of,
    substitute,
)
from gpuetl.expressions.lambdas import LAMBDA_FUNCTIONS, lambda_call, reduced
from gpuetl.expressions.list_calls import BY_NAME, named_aggregate
from gpuetl.expressions.months import MAKERS, Months, alone, is_plain_sum, months_of, moved
from gpuetl.expressions.nested_casts import castable
from gpuetl.expressions.nested_constants import is_nested_constant, of_constant, spelled_out
from gpuetl.expressions.numbers import constant_literal, folded, loses_digits, single
from gpuetl.expressions.quantile_lists import QUANTILES, quantile_list
from gpuetl.expressions.struct_calls import changed, packed, prefixed_column
from gpuetl.expressions.subscripts import part_of, text_slice
from gpuetl.expressions.syntax import (
    ASSOCIATIVE,
    CHANGED_STRUCTS,
    ORDER_BY,
    RUN_ID,
    SCALAR,
    STRUCT,
    SUBSCRIPT,
    Apply,
    CastTo,
    Constant,
    Lambda,
    Name,
    Over,
    ParameterName,
    Selected,
    Syntax,
    Unreadable,
    Variable,
    operands,
)
from gpuetl.expressions.unparse import constant_text
from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.types.calendar_intervals import CalendarInterval
from gpuetl.types.data_types import (
    DATE,
    FLOAT64,
    NULL,
    STRING,
    TIMESTAMP,
    UNKNOWN,
    DataType,
    can_be_key,
    is_floating,
    is_integer,
    type_name,
    value_kinds,
)
from gpuetl.types.decimal_types import constant_decimal, in_scale, is_decimal
from gpuetl.types.nested_types import children_of, is_list, is_map, is_struct

SCALARS: tuple[Kind, ...] = ("scalar",)
AGGREGATES: tuple[Kind, ...] = ("aggregate", "scalar")
WINDOWS: tuple[Kind, ...] = ("window", "scalar")
GROUP_WINDOWS: tuple[Kind, ...] = ("window", "aggregate", "scalar")

NAMED_VALUES = {
    **dict.fromkeys(("none", "nil", "na", "nat", "undefined"), "Write NULL, and x IS NULL to look for it."),
    "nan": "Write CAST('nan' AS float64), and is_nan(x) to look for it.",
    **dict.fromkeys(("inf", "infinity"), "Write CAST('inf' AS float64)."),
}
"""What to write for names that other languages give to constants."""
SELECTOR_PLACES = "A selector stands in select, with_columns and drop, by place: with_columns(cs.numeric().round(2))."
OVER_PLACES = "It stands in with_columns, select and filter."
PRESENT = (
    "getdate",
    "sysdate",
    "getutcdate",
    "now",
    "today",
    "current_date",
    "current_time",
    "current_timestamp",
    "localtime",
    "localtimestamp",
)


@dataclass(frozen=True)
class Scope:
    """What an expression may name: columns, parameters (bound ones are literals) and kinds of functions.

    In an `open` scope any column may be named: the schema is unknown since an earlier step is wrong.
    `inside` is the aggregate or window function whose argument this is, `run_id` what `run_id()` gives, and `errors`
    collects what is wrong; `hints` says whether an unknown column's error lists those that there are.  `variables` are
    those of lambdas around the expression.
    """

    columns: Mapping[str, DataType]
    parameters: Mapping[str, Expr]
    kinds: tuple[Kind, ...] = SCALARS
    open: bool = False
    inside: Function | None = None
    run_id: str = "plan"
    hints: bool = True
    variables: Mapping[str, ir.Variable] = field(default_factory=dict)
    errors: list[InvalidExpression] = field(default_factory=list, compare=False, repr=False)

    def within(
        self, function: Function | None, kinds: tuple[Kind, ...], errors: list[InvalidExpression] | None = None
    ) -> Scope:
        """Return the scope of an argument of a function, perhaps with other errors."""
        errors = self.errors if errors is None else errors  # no `replace`: this is done for every expression
        return Scope(
            self.columns, self.parameters, kinds, self.open, function, self.run_id, self.hints, self.variables, errors
        )


EMPTY_MAP = Apply("map", (Apply("list_value"),) * 2)
"""`MAP {}`, which has a type in a CAST alone."""
WRONG = Literal(None, UNKNOWN)
"""Stands for an expression that is wrong; its error is reported."""


def resolve(syntax: Syntax, scope: Scope) -> Expr:
    """Give `syntax` its types.

    Raises
    ------
    InvalidExpression
        For an unknown name, a function outside the table or outside its place, or types that do not fit: the first.
    """
    expr, errors = resolve_all(syntax, scope)
    if errors:
        raise errors[0]
    return expr


def resolve_all(syntax: Syntax, scope: Scope) -> tuple[Expr, list[InvalidExpression]]:
    """Give `syntax` its types, and return all that is wrong; an expression that is wrong is `WRONG`."""
    fresh = scope.within(scope.inside, scope.kinds, [])
    expr = _resolve(syntax, fresh)
    try:
        return spelled_out(expr, syntax), fresh.errors
    except InvalidExpression as error:
        return WRONG, [*fresh.errors, error]


def _resolve(syntax: Syntax, scope: Scope) -> Expr:
    """Return the typed expression; an error is kept, and hides none of the other operands'."""
    try:
        return _typed(syntax, scope)
    except InvalidExpression as error:
        scope.errors.append(error)
        return WRONG


def _typed(syntax: Syntax, scope: Scope) -> Expr:
    match syntax:
        case Name():
            return _column(syntax, scope)
        case Constant():
            return _constant(syntax)
        case ParameterName():
            if syntax.name not in scope.parameters:
                raise _unknown_parameter(syntax, scope)
            return _declared(scope.parameters[syntax.name])
        case CastTo():
            return _cast(syntax, scope)
        case Apply():
            return (_special_of(syntax) or _function_call)(syntax, scope)
        case Variable():
            return scope.variables[syntax.name]
        case Unreadable():
            return WRONG
        case Selected() | Over() | Lambda():
            raise _misplaced(syntax)
    raise TypeError(syntax)


def _cast(syntax: CastTo, scope: Scope) -> Expr:
    if is_map(syntax.dtype) and syntax.operand == EMPTY_MAP:
        lists = (Call(FUNCTIONS["scalar", "list_value"], (), pa.list_(dtype)) for dtype in children_of(syntax.dtype))
        return Call(FUNCTIONS["scalar", "map"], tuple(lists), syntax.dtype)
    operand = _resolve(syntax.operand, scope)
    return WRONG if operand.dtype == UNKNOWN else cast_to(operand, syntax)


def _misplaced(syntax: Selected | Over | Lambda) -> InvalidExpression:
    """Word what stands in other places only."""
    if isinstance(syntax, Selected):
        return InvalidExpression(coded("GE1216", f"{syntax.text} cannot stand here"), syntax.span, SELECTOR_PLACES)
    if isinstance(syntax, Over):
        return InvalidExpression(coded("GE1213", "over cannot stand here"), syntax.span, OVER_PLACES)
    message = coded("GE1107", "a lambda cannot stand here")
    return InvalidExpression(message, syntax.span, "It is an argument of list_transform, list_filter and list_reduce.")


def _unknown_parameter(syntax: ParameterName, scope: Scope) -> InvalidExpression:
    have = (f"${name}" for name in scope.parameters)
    hint = have_hint(f"${syntax.name}", have, noun="Parameters") if scope.hints else ""
    if syntax.name in scope.columns:
        hint = f"'{syntax.name}' is a column: write {syntax.name} without $."
    return InvalidExpression(coded("GE1021", f"unknown parameter '${syntax.name}'"), syntax.span, hint)


def cast_to(operand: Expr, syntax: CastTo) -> Cast | Call:
    """Return the cast that the user wrote; types between which there is none are an error."""
    if is_list(syntax.dtype) and operand.dtype == pa.list_(NULL) and isinstance(operand, Call) and not operand.args:
        return Call(operand.function, (), syntax.dtype)
    if not castable(operand.dtype, syntax.dtype, syntax.lenient):
        message = coded("GE1110", f"cannot cast {type_name(operand.dtype)} to {type_name(syntax.dtype)}")
        raise InvalidExpression(message, syntax.span, cast_hint(operand.dtype, syntax.dtype))
    if isinstance(operand, Literal) and not is_floating(syntax.dtype) and loses_digits(operand):
        assert operand.number is not None
        operand = coerce(operand, constant_decimal(operand.number))
    return Cast(spelled_out(operand, syntax), syntax.dtype, syntax.lenient)


def coerce(expr: Expr, dtype: DataType) -> Expr:
    """Return `expr` as `dtype`, to which it widens without loss; constants change in place, the rest gets a cast."""
    if expr.dtype == dtype:
        return expr
    if isinstance(expr, Literal):
        return replace(expr, value=_widened(expr.value if expr.number is None else expr.number, dtype), dtype=dtype)
    narrows = is_decimal(dtype) or dtype == pa.float32()
    if narrows and expr.dtype == FLOAT64 and isinstance(expr, Call):  # CASE or coalesce of numbers in the text
        places = branch_places(expr)
        args = [coerce(arg, dtype) if place in places else arg for place, arg in enumerate(expr.args)]
        return replace(expr, args=tuple(args), dtype=dtype)
    return Cast(expr, dtype, implicit=True)


def _widened(value: Any, dtype: DataType) -> Any:
    if is_integer(dtype) and isinstance(value, Decimal):
        return int(value)
    if dtype == pa.float32() and isinstance(value, Decimal):
        return single(value)
    if dtype == FLOAT64 and isinstance(value, int | Decimal):
        return float(value)
    if is_decimal(dtype):
        return in_scale(value, dtype)
    if dtype == DATE and isinstance(value, datetime):  # a midnight
        return value.date()
    if dtype == TIMESTAMP and type(value) is date:
        return datetime(value.year, value.month, value.day)
    return value


def _declared(parameter: Expr) -> Expr:
    return replace(parameter, declared=True) if isinstance(parameter, Literal) else parameter


def _column(syntax: Name, scope: Scope) -> Expr:
    if syntax.name in scope.columns:
        return Column(syntax.name, scope.columns[syntax.name])
    if scope.open:
        return WRONG
    if syntax.name.lower() in PRESENT:
        raise _present(syntax.name, syntax)
    have = scope.columns if scope.hints else ()
    raise UnknownColumn(syntax.name, have, syntax.span, _instead_of_column(syntax, scope))


def _instead_of_column(syntax: Name, scope: Scope) -> str:
    """Return what to write for a name that is no column, and that may stand for something else."""
    if syntax.name.lower() in NAMED_VALUES:
        return NAMED_VALUES[syntax.name.lower()]
    if syntax.name in scope.parameters:
        return f"'{syntax.name}' is a parameter: write ${syntax.name}."
    return f"Text is written in single quotes: {constant_text(syntax.name)}." if syntax.quoted else ""


def is_ends(function: Function, arg: Expr) -> bool:
    """Return whether an argument is both ends of a frame, which a window function takes as they are."""
    return function.kind == "window" and isinstance(arg, Literal) and isinstance(arg.value, tuple)


def _constant(syntax: Constant) -> Expr:
    if isinstance(syntax.value, CalendarInterval):
        raise alone(syntax)
    try:
        return constant_literal(syntax.value)
    except ValueError as error:
        raise InvalidExpression(str(error), syntax.span) from None


def _special_of(syntax: Apply) -> Callable[[Apply, Scope], Expr] | None:
    """Return what types a call in a way of its own; None for most."""
    special = _SPECIAL.get(ALIASES.get(syntax.function, syntax.function))
    return None if special is _moved and is_plain_sum(syntax) else special


def _function_call(syntax: Apply, scope: Scope) -> Expr:
    is_field = syntax.function == "struct_extract" and not scope.open
    if is_field and (wrong := prefixed_column(syntax, scope.columns, scope.hints)):
        raise wrong
    function = find_function(syntax.function, scope.kinds)
    if function is None:
        return _call_of_plugin(syntax, scope)
    inner = scope if function.kind == "scalar" else scope.within(function, SCALARS)
    syntax, order = _without_order(syntax)
    is_whole = len(syntax.args) == len(function.arguments) and not (syntax.keywords or function.takes_constants)
    try:
        bound = syntax.args if is_whole else _bind(function, syntax)
    except InvalidExpression as error:
        scope.errors.append(error)
        return _wrong_call(syntax, inner)
    args: list[Expr] = []
    for place, argument in enumerate(bound):  # no call in between: expressions may be as deep as Python's stack
        interval = _interval_argument(function, place, argument) if isinstance(argument, Constant) else None
        args.append(interval or (ABSENT if argument is None else _resolve(argument, inner)))
    for arg in args:
        if arg.dtype == UNKNOWN:
            return WRONG
    return _typed_call(function, args, syntax, order, inner)


def _interval_argument(function: Function, place: int, argument: Constant) -> Expr | None:
    """Return an interval of months where a function takes a constant one; None for any other argument."""
    if isinstance(argument.value, CalendarInterval):
        slot = function.arguments[min(place, len(function.arguments) - 1)]
        if slot.constant and slot.name in ("interval", "width"):
            return constant_literal(argument.value)
    return None


def _typed_call(function: Function, args: Sequence[Expr], syntax: Apply, order: Sequence[Syntax], inner: Scope) -> Expr:
    """Return the call of a function with typed arguments, cast to what its rule takes."""
    _check_constants(function, args, syntax)
    _check_nested(function, args, syntax)
    if function.kind == "scalar" and (number := folded(function.name, args)):
        return number
    try:
        types, dtype = function.rule(args)
    except TypeMismatch as error:
        hint = error.hint or mismatch_hint(function, args)
        raise InvalidExpression(mismatch(function, str(error)), syntax.span, hint) from None
    if (part := _part_of_constant(function, args, types, syntax)) is not None:
        return part
    operands = [
        coerce(spelled_out(arg, syntax) if isinstance(arg, Literal) and not is_ends(function, arg) else arg, to)
        for arg, to in zip(args, types, strict=True)
    ]
    if order:
        operands += [_sort_key(key, function, operands, inner) for key in order]
    return _made(function, operands, dtype)


def _made(function: Function, operands: list[Expr], dtype: DataType) -> Expr:
    """Return a call of typed operands, in the form that engines have handlers for."""
    if function.name in ASSOCIATIVE:
        operands = [part for operand in operands for part in chained(function.name, operand)]
    if function.definition:
        return _defined(function, operands)
    call = Call(function, tuple(operands), dtype)
    return function.rewrite(call) if function.rewrite else call


def _without_order(syntax: Apply) -> tuple[Apply, list[Syntax]]:
    """Return a call without the keys of its ORDER BY, and these."""
    order = [value for name, value in syntax.keywords if name == ORDER_BY] if syntax.keywords else []
    if not order:
        return syntax, order
    return replace(syntax, keywords=tuple(pair for pair in syntax.keywords if pair[0] != ORDER_BY)), order


def _sort_key(key: Syntax, function: Function, operands: Sequence[Expr], scope: Scope) -> Expr:
    """Type a key of a call's own order."""
    name = shown_name(function)
    if function.kind != "aggregate" or function.name not in ORDERABLE:
        hint = "A window step has one order_by." if function.kind == "window" else "Leave it out."
        raise InvalidExpression(coded("GE1840", f"{name} does not take ORDER BY"), key.span, hint)
    assert isinstance(key, Apply)
    expr, *ways = (_resolve(part, scope) for part in key.args)
    if expr.dtype == UNKNOWN:
        return WRONG
    if not can_be_key(expr.dtype):
        message = coded("GE1115", f"ORDER BY does not take {value_kinds(expr.dtype)}")
        raise InvalidExpression(message, key.span, _part_hint(expr))
    if not columns_of(expr):
        message = coded("GE1840", "ORDER BY takes an expression over columns, got a constant")
        raise InvalidExpression(message, key.span, "Leave it out, or name a column.")
    if function.name.endswith("_distinct") and expr != operands[0]:
        message = coded("GE1840", f"{name} of DISTINCT values is ordered by the values alone")
        raise InvalidExpression(message, key.span, "Order by the first argument, or leave out DISTINCT.")
    return Call(SORT_KEY_FUNCTION, (expr, *ways), expr.dtype)


def _defined(function: Function, args: Sequence[Expr]) -> Expr:
    """Return the expression that stands for a function, over its arguments."""
    named = dict(zip((slot.name for slot in function.arguments), args, strict=True))
    scope = Scope({name: arg.dtype for name, arg in named.items()}, {}, (function.kind, "scalar"))
    return substitute(resolve(_body(function.definition), scope), named)


@cache
def _body(definition: str) -> Syntax:
    from gpuetl.expressions.parse import parse_expression  # which few expressions need

    return parse_expression(definition)


def _call_of_plugin(syntax: Apply, scope: Scope) -> Expr:
    """Type the expression that a function of a plugin stands for; a name that no plugin has is an error."""
    everywhere: tuple[Kind, ...] = ("scalar", "aggregate", "window")
    if find_function(syntax.function, everywhere) is None and syntax.function not in PRESENT:
        from gpuetl.expressions.macros import macro_named  # few expressions have any

        if macro := macro_named(syntax.function, syntax.span):
            return _typed(macro.expanded(syntax), scope)
    scope.errors.append(_unknown(syntax, scope))
    return _wrong_call(syntax, replace(scope, kinds=everywhere, inside=None))


def _part_of_constant(
    function: Function, args: Sequence[Expr], types: Sequence[DataType], syntax: Apply
) -> Expr | None:
    """Return a part of a list, struct or map that is a parameter; None for a call of another kind."""
    if function.kind != "scalar" or not args or not is_nested_constant(args[0]):
        return None
    return of_constant(function.name, [args[0], *map(coerce, args[1:], types[1:])], syntax)


def _check_nested(function: Function, args: Sequence[Expr], syntax: Apply) -> None:
    """Refuse values that are not compared, which few functions take."""
    if function.nested:
        return
    for arg in args:
        if not can_be_key(arg.dtype) and not is_ends(function, arg) and not _is_interval(arg):
            message = coded("GE1115", f"{shown_name(function)} does not take {value_kinds(arg.dtype)}")
            raise InvalidExpression(message, syntax.span, _part_hint(arg))


def _is_interval(arg: Expr) -> bool:
    return isinstance(arg, Literal) and isinstance(arg.value, CalendarInterval)


def _part_hint(nested: Expr) -> str:
    """Return how to get a value of a type that is compared."""
    name = nested.name if isinstance(nested, Column) else "x"
    if is_struct(nested.dtype):
        first = f"{name}.{nested.dtype[0].name}" if nested.dtype.num_fields else f"{name}.field"
        return f"Take a field of the struct: {first}."
    if is_map(nested.dtype):
        return f"Take a value of the map: {name}['key']."
    if is_list(nested.dtype):
        return "Explode the list in a step before, or take list_get, list_contains or list_length of it."
    return "Such values are only passed on."


def _struct(syntax: Apply, scope: Scope) -> Expr:
    """Type `struct_pack(a := x)`: the keywords are the fields."""
    args = [_resolve(value, scope) for _, value in syntax.keywords]
    return WRONG if any(arg.dtype == UNKNOWN for arg in args) else packed(syntax, args)


def _changed_struct(syntax: Apply, scope: Scope) -> Expr:
    """Type `struct_insert(s, a := x)` and `struct_update(s, a := x)`."""
    args = [_resolve(value, scope) for value in operands(syntax)]
    if not args or any(arg.dtype == UNKNOWN for arg in args):
        return WRONG if args else _function_call(syntax, scope)
    return changed(syntax, args[0], args[len(syntax.args) :])


def _element(syntax: Apply, scope: Scope) -> Expr:
    """Type `x[k]`: an element of a list, a value of a map, a field of a struct, or a character of a text."""
    operand = _resolve(syntax.args[0], replace(scope, errors=[]))
    return _typed(part_of(syntax.args[0], syntax.args[1], operand.dtype, syntax), scope)


def _slice(syntax: Apply, scope: Scope) -> Expr:
    """Type `x[a:b]`: elements of a list, or characters of a text."""
    if len(syntax.args) == 3 and _resolve(syntax.args[0], replace(scope, errors=[])).dtype == STRING:
        return _typed(text_slice(*syntax.args, syntax), scope)
    return _function_call(syntax, scope)


def _moved(syntax: Apply, scope: Scope) -> Expr:
    """Type a sum or a difference; with an interval of months it is a call of `date_add`, or of `add_months`."""
    found = moved(syntax)
    if months_of(syntax):
        raise alone(syntax)
    if found is None:
        is_sum = syntax.function == "date_add" and len(syntax.args) == 2
        return _function_call(replace(syntax, function="add") if is_sum else syntax, scope)
    x, months = found
    if months.count is None:
        written = Apply("date_add", (x, Constant(months.interval, span=syntax.span)), span=syntax.span)
        return _function_call(written, scope)
    return _moved_by_column(x, months, months.count, syntax, scope)


def _moved_by_column(x: Syntax, months: Months, count: Syntax, syntax: Apply, scope: Scope) -> Expr:
    """Type `x + n * INTERVAL '1 month'`: a timestamp, as of a constant n."""
    if not months.interval.is_of_months:
        message = coded("GE1850", f"'{months.interval}' times a column has no one length")
        hint = "Write x + n * INTERVAL '1 month' + n * INTERVAL '1 day'."
        raise InvalidExpression(message, syntax.span, hint)
    several = count if months.interval.months == 1 else Apply("multiply", (count, Constant(months.interval.months)))
    start, number = _resolve(x, scope), _resolve(several, scope)
    if UNKNOWN in (start.dtype, number.dtype):
        return WRONG
    function = find_function("add_months", SCALARS)
    assert function is not None
    return _typed_call(
        function, [coerce(start, TIMESTAMP) if start.dtype == DATE else start, number], syntax, (), scope
    )


def _date_part(syntax: Apply, scope: Scope) -> Expr:
    """Type `date_part('year', x)`, which is extract(year FROM x)."""
    name = syntax.args[0].value if len(syntax.args) == 2 and isinstance(syntax.args[0], Constant) else None
    part = EXTRACT_PARTS.get((unit_named(name) or str(name)).upper())
    if part is None or syntax.keywords:
        message = coded("GE1106", f"date_part takes the name of a part and a date or timestamp, got {name!r}")
        have = ", ".join(sorted(known.lower() for known in EXTRACT_PARTS))
        raise InvalidExpression(message, syntax.span, f"Write date_part('year', x).  Parts: {have}.")
    return _function_call(Apply(part, syntax.args[1:], span=syntax.span), scope)


def _timezone(syntax: Apply, scope: Scope) -> Expr:
    """Type `timezone(zone, x)`, which is x AT TIME ZONE zone."""
    if len(syntax.args) != 2 or syntax.keywords:
        message = coded("GE1104", "timezone takes a zone and a timestamp")
        raise InvalidExpression(message, syntax.span, "Write x AT TIME ZONE 'Europe/Berlin'.")
    return _function_call(Apply("at_time_zone", syntax.args[::-1], span=syntax.span), scope)


def _cut(syntax: Apply, scope: Scope) -> Expr:
    """Type `cut(x, breaks, labels)`, which is a CASE."""
    return _resolve(cut_as_case(syntax), scope)


def _parsed(syntax: Apply, scope: Scope) -> Expr:
    """Type `strptime(x, ['%Y', …])`, which tries the formats in turn."""
    several = one_format_each(syntax) if syntax.args else None
    return _function_call(syntax, scope) if several is None else _resolve(several, scope)


def _stray(syntax: Apply, scope: Scope) -> Expr:
    """Refuse what makes an interval of months, beside no date."""
    raise alone(syntax)


def _run_id(syntax: Apply, scope: Scope) -> Expr:
    if operands(syntax):
        raise InvalidExpression(coded("GE1104", "run_id takes no arguments"), syntax.span, "Write run_id().")
    return RunId(scope.run_id, STRING, declared=True)


def _scalar(syntax: Apply, scope: Scope) -> Expr:
    """Refuse `scalar(stage.column)` where no step has put a column in its place."""
    path = syntax.args[0] if len(syntax.args) == 1 and not syntax.keywords else None
    if isinstance(path, Apply) and path.function == "struct_extract":
        message = coded("GE1810", "scalar is for the expressions of steps")
        raise InvalidExpression(message, syntax.span, "Use it in a step, such as filter or with_columns.")
    message = coded("GE1810", "scalar takes a stage and one of its columns")
    raise InvalidExpression(message, syntax.span, "Write scalar(stage.column).")


def _list_aggregate(syntax: Apply, scope: Scope) -> Expr:
    """Type `list_aggregate(x, 'median')`."""
    return _typed(named_aggregate(syntax), scope)


def _quantile(syntax: Apply, scope: Scope) -> Expr:
    """Type `quantile(x, [0.25, 0.5])`: a list of the quantiles, null where a group has no values."""
    listed = quantile_list(syntax)
    return _function_call(syntax, scope) if listed is None else _typed(listed, scope)


def _over_elements(syntax: Apply, scope: Scope) -> Expr:
    """Type `list_transform(x, lambda e: …)`."""
    function = find_function(syntax.function, SCALARS)
    assert function is not None

    def type_body(body: Syntax, variables: tuple[ir.Variable, ...]) -> Expr:
        known = {**scope.variables, **{variable.name: variable for variable in variables}}
        return _resolve(body, replace(scope, kinds=SCALARS, variables=known))

    lists = _resolve(syntax.args[0], scope) if syntax.args else WRONG
    if function.name == "list_reduce":
        initial = _resolve(syntax.args[2], scope) if len(syntax.args) == 3 else None
        return reduced(syntax, lists, initial, tuple(scope.variables), type_body, coerce) or WRONG
    return lambda_call(function, syntax, lists, tuple(scope.variables), type_body) or WRONG


_SPECIAL: dict[str, Callable[[Apply, Scope], Expr]] = {
    RUN_ID: _run_id, SCALAR: _scalar, STRUCT: _struct, SUBSCRIPT: _element, "list_slice": _slice,
    **dict.fromkeys(CHANGED_STRUCTS, _changed_struct),
    **dict.fromkeys(LAMBDA_FUNCTIONS, _over_elements),
    **dict.fromkeys(("add", "subtract", "date_add"), _moved), **dict.fromkeys(MAKERS, _stray),
    **dict.fromkeys(("date_part", "datepart"), _date_part), "timezone": _timezone, "cut": _cut,
    **dict.fromkeys(PARSERS, _parsed),
    **dict.fromkeys(QUANTILES, _quantile),
    **dict.fromkeys(BY_NAME, _list_aggregate),
}  # fmt: skip
"""What is typed in a way of its own, by name."""


def _wrong_call(syntax: Apply, scope: Scope) -> Expr:
    """Keep the errors of the arguments of a call that is wrong itself."""
    for operand in operands(syntax):
        _resolve(operand, scope)
    return WRONG


def _unknown(syntax: Apply, scope: Scope) -> InvalidExpression:
    for kind, step in (("window", "a window"), ("aggregate", "an aggregate")):
        if found := find_function(syntax.function, (kind,)):  # type: ignore[arg-type]
            if scope.inside:
                return _nested(found, scope.inside, syntax)
            message = coded("GE1107", f"{_written_name(syntax)} is {step} function and cannot stand here")
            return InvalidExpression(message, syntax.span, f"Use it directly in {step} step.")
    if syntax.function in PRESENT:
        return _present(syntax.function, syntax)
    return unknown_function(syntax.function, syntax.span, scope.kinds)


def _written_name(syntax: Apply) -> str:
    return SIGNS.get(syntax.function, syntax.function)


def _present(name: str, syntax: Syntax) -> InvalidExpression:
    hint = "Pass it as a parameter, such as $run_date: a run can then be repeated with the same answer."
    return InvalidExpression(coded("GE1102", f"gpuetl does not support the current time, '{name}'"), syntax.span, hint)


def _nested(inner: Function, outer: Function, syntax: Apply) -> InvalidExpression:
    article = "an" if inner.kind == "aggregate" else "a"
    message = coded(
        "GE1107", f"{shown_name(inner)} is {article} {inner.kind} function and cannot stand inside {outer.name}"
    )
    steps = f"{outer.kind} steps" if inner.kind == outer.kind else "steps"
    hint = f"Use two {steps}: {shown_name(inner)} in the first, {outer.name} in the second."
    return InvalidExpression(message, syntax.span, hint)


def _check_constants(function: Function, args: Sequence[Expr], syntax: Apply) -> None:
    """Refuse null, written or as a parameter's value, where a function takes a constant."""
    if not function.takes_constants:
        return
    for slot, arg in zip(function.arguments, args, strict=False):
        if slot.constant and arg is not ABSENT and isinstance(arg, Literal) and arg.value is None:
            message = coded("GE1105", f"{shown_name(function)} takes a constant that is not null as {slot.name}")
            raise InvalidExpression(message, syntax.span, "A parameter needs a value or a default here.")


def _bind(function: Function, syntax: Apply) -> list[Syntax | None]:
    """Order positional and keyword arguments by the function's parameters; None for one left out before another."""
    slots = function.arguments
    if slots and slots[-1].repeats:
        if len(syntax.args) < sum(not slot.optional for slot in slots) or syntax.keywords:
            raise _arity(function, syntax)
        for slot, argument in zip(slots, syntax.args, strict=False):
            _check_constant(function, slot, argument, syntax)
        return list(syntax.args)
    given: dict[str, Syntax] = dict(zip((slot.name for slot in slots), syntax.args, strict=False))
    for name, value in syntax.keywords:
        if name in given or name not in {slot.name for slot in slots}:
            raise InvalidExpression(
                coded("GE1104", f"{function.name} has no open argument '{name}'"), syntax.span, _signature(function)
            )
        given[name] = value
    missing = any(slot.name not in given and not slot.optional for slot in slots)
    if missing or len(syntax.args) > len(slots):
        raise _arity(function, syntax)
    for slot in slots:
        if slot.name in given:
            _check_constant(function, slot, given[slot.name], syntax)
    last = max((index for index, slot in enumerate(slots) if slot.name in given), default=-1)
    bound = [given.get(slot.name) for slot in slots[: last + 1]]
    if None in bound and function.kind == "scalar":
        message = coded(
            "GE1104", f"{function.name} needs {slots[bound.index(None)].name} where {slots[last].name} is given"
        )
        raise InvalidExpression(message, syntax.span, _signature(function))
    return bound


def _check_constant(function: Function, slot: Argument, argument: Syntax, syntax: Apply) -> None:
    if slot.constant and not isinstance(argument, Constant | ParameterName | Unreadable):
        message = coded("GE1105", f"{shown_name(function)} takes a constant or a $parameter as {slot.name}")
        other = {"min_n": "least", "max_n": "greatest"}.get(function.name)
        hint = f"Write {other}(a, b) to choose among columns." if other else ""
        raise InvalidExpression(message, argument.span or syntax.span, hint)


def _arity(function: Function, syntax: Apply) -> InvalidExpression:
    count = len(syntax.args) + len(syntax.keywords)
    return InvalidExpression(
        coded("GE1104", f"{shown_name(function)} got {count} argument{'s' * (count != 1)}"),
        syntax.span,
        _signature(function),
    )


def _signature(function: Function) -> str:
    words = [slot.name + ("…" if slot.repeats else "?" if slot.optional else "") for slot in function.arguments]
    rows = "  count(*) counts rows." if function.name == "count" else ""
    return f"It is {shown_name(function)}({', '.join(words)}).{rows}"


# Typed expressions that the planner makes, written as in Python.


def formula(expression: Expression, **operands: Expr) -> Expr:
    """Type an expression over named operands, and put these in."""
    scope = Scope({name: operand.dtype for name, operand in operands.items()}, {})
    return substitute(resolve(expression.syntax, scope), operands)
