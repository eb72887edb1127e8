"""Typing: a written expression and a schema give a typed one, or an error that points into the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pyarrow as pa

from gpuetl.errors import InvalidExpression, UnknownColumn
from gpuetl.expressions.advice import mismatch, mismatch_hint, shown_name
from gpuetl.expressions.argument_binding import (
    bound_arguments,
    interval_argument,
    is_ends,
    part_hint,
    refuse_nested,
    refuse_null_constants,
)
from gpuetl.expressions.coercion import cast_to, coerce
from gpuetl.expressions.expression import Expression
from gpuetl.expressions.functions import FUNCTIONS, OF_LISTS, Function, Kind, TypeMismatch, find_function
from gpuetl.expressions.functions.aggregates import ORDERABLE, SORT_KEY_FUNCTION
from gpuetl.expressions.functions.json_writing import compact, holds_strings, is_json
from gpuetl.expressions.functions.ordering import order_text
from gpuetl.expressions.ir import ABSENT, Call, Cast, Column, Expr, Literal, chained, columns_of, substitute
from gpuetl.expressions.months import alone
from gpuetl.expressions.nested_constants import is_nested_constant, of_constant, spelled_out
from gpuetl.expressions.numbers import constant_literal, folded
from gpuetl.expressions.scope import SCALARS, WRONG, Scope
from gpuetl.expressions.special_calls import Resolver, special_of
from gpuetl.expressions.struct_calls import prefixed_column
from gpuetl.expressions.syntax import (
    ASSOCIATIVE,
    ORDER_BY,
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
from gpuetl.expressions.unknown_names import (
    PRESENT_TIME,
    instead_of_column,
    misplaced,
    present_time,
    unknown_call,
    unknown_parameter,
)
from gpuetl.messages import coded
from gpuetl.types.calendar_intervals import CalendarInterval
from gpuetl.types.data_types import BOOL, NULL, UNKNOWN, DataType, can_compare, type_name, value_kinds
from gpuetl.types.nested_types import children_of, is_list, is_map, is_nested

EMPTY_MAP = Apply("map", (Apply("list_value"),) * 2)
"""`MAP {}`, which has a type in a CAST alone."""


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
                raise unknown_parameter(syntax, scope)
            return _declared(scope.parameters[syntax.name])
        case CastTo():
            return _cast(syntax, scope)
        case Apply():
            special = special_of(syntax)
            return special(syntax, scope, _RESOLVER) if special else _function_call(syntax, scope)
        case Variable():
            return scope.variables[syntax.name]
        case Unreadable():
            return WRONG
        case Selected() | Over() | Lambda():
            raise misplaced(syntax)
    raise TypeError(syntax)


def _cast(syntax: CastTo, scope: Scope) -> Expr:
    if is_map(syntax.dtype) and syntax.operand == EMPTY_MAP:
        lists = (Call(FUNCTIONS["scalar", "list_value"], (), pa.list_(dtype)) for dtype in children_of(syntax.dtype))
        return Call(FUNCTIONS["scalar", "map"], tuple(lists), syntax.dtype)
    operand = _resolve(syntax.operand, scope)
    if is_nested(syntax.dtype) and is_json(operand):
        operand = _json_to_nested(operand, syntax)
    return WRONG if operand.dtype == UNKNOWN else cast_to(operand, syntax)


def _json_to_nested(json: Expr, syntax: CastTo) -> Expr:
    """Return JSON that CAST reads as a text of lists and structs: its strings have other escapes than texts."""
    if syntax.lenient or holds_strings(syntax.dtype):
        what = "TRY_CAST does not read JSON" if syntax.lenient else "CAST does not read the strings of JSON"
        message = coded("GE1103", f"{what} into {type_name(syntax.dtype)}")
        raise InvalidExpression(message, syntax.span, "Write from_json(x, 'STRUCT(a VARCHAR)'), or another structure.")
    return compact(json)


def _declared(parameter: Expr) -> Expr:
    return replace(parameter, declared=True) if isinstance(parameter, Literal) else parameter


def _column(syntax: Name, scope: Scope) -> Expr:
    if syntax.name in scope.columns:
        return Column(syntax.name, scope.columns[syntax.name])
    if scope.open:
        return WRONG
    if syntax.name.lower() in PRESENT_TIME:
        raise present_time(syntax.name, syntax)
    have = scope.columns if scope.hints else ()
    raise UnknownColumn(syntax.name, have, syntax.span, instead_of_column(syntax, scope))


def _constant(syntax: Constant) -> Expr:
    if isinstance(syntax.value, CalendarInterval):
        raise alone(syntax)
    try:
        return constant_literal(syntax.value)
    except ValueError as error:
        raise InvalidExpression(str(error), syntax.span) from None


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
        bound = syntax.args if is_whole else bound_arguments(function, syntax)
    except InvalidExpression as error:
        scope.errors.append(error)
        return _wrong_call(syntax, inner)
    args: list[Expr] = []
    for place, argument in enumerate(bound):  # no call in between: expressions may be as deep as Python's stack
        interval = interval_argument(function, place, argument) if isinstance(argument, Constant) else None
        args.append(interval or (ABSENT if argument is None else _resolve(argument, inner)))
    for arg in args:
        if arg.dtype == UNKNOWN:
            return WRONG
    return _typed_call(function, args, syntax, order, inner)


def _typed_call(function: Function, args: Sequence[Expr], syntax: Apply, order: Sequence[Syntax], inner: Scope) -> Expr:
    """Return the call of a function with typed arguments, cast to what its rule takes."""
    if function.name in OF_LISTS and any(is_list(arg.dtype) for arg in args):
        return _call_of_lists(function, args, syntax, order, inner)
    refuse_null_constants(function, args, syntax)
    refuse_nested(function, args, syntax)
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


def _call_of_lists(
    function: Function, args: Sequence[Expr], syntax: Apply, order: Sequence[Syntax], inner: Scope
) -> Expr:
    """Return the call of what a function is for lists; `x || y` is null where a list is."""
    call = _typed_call(FUNCTIONS["scalar", OF_LISTS[function.name]], args, syntax, order, inner)
    if function.name != "concat":
        return call
    if any(arg.dtype == NULL for arg in args):
        return Cast(Literal(None, NULL), call.dtype)
    columns = [arg for arg in args if not isinstance(arg, Literal)]
    is_null, case = FUNCTIONS["scalar", "is_null"], FUNCTIONS["scalar", "case"]
    missing = [part for arg in columns for part in (Call(is_null, (arg,), BOOL), Literal(None, call.dtype))]
    return Call(case, (*missing, call), call.dtype) if missing else call


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
    if not can_compare(expr.dtype):
        message = coded("GE1115", f"ORDER BY does not take {value_kinds(expr.dtype)}")
        raise InvalidExpression(message, key.span, part_hint(expr))
    if not columns_of(expr):
        message = coded("GE1840", "ORDER BY takes an expression over columns, got a constant")
        raise InvalidExpression(message, key.span, "Leave it out, or name a column.")
    if function.name.endswith("_distinct") and expr != operands[0]:
        message = coded("GE1840", f"{name} of DISTINCT values is ordered by the values alone")
        raise InvalidExpression(message, key.span, "Order by the first argument, or leave out DISTINCT.")
    expr = order_text(expr) if is_nested(expr.dtype) else expr
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
    if find_function(syntax.function, everywhere) is None and syntax.function not in PRESENT_TIME:
        from gpuetl.expressions.macros import macro_named  # few expressions have any

        if macro := macro_named(syntax.function, syntax.span):
            return _typed(macro.expanded(syntax), scope)
    scope.errors.append(unknown_call(syntax, scope))
    return _wrong_call(syntax, replace(scope, kinds=everywhere, inside=None))


def _part_of_constant(
    function: Function, args: Sequence[Expr], types: Sequence[DataType], syntax: Apply
) -> Expr | None:
    """Return a part of a list, struct or map that is a parameter; None for a call of another kind."""
    if function.kind != "scalar" or not args or not is_nested_constant(args[0]):
        return None
    return of_constant(function.name, [args[0], *map(coerce, args[1:], types[1:])], syntax)


_RESOLVER = Resolver(_resolve, _typed, _function_call, _typed_call)


def _wrong_call(syntax: Apply, scope: Scope) -> Expr:
    """Keep the errors of the arguments of a call that is wrong itself."""
    call, order = _without_order(syntax)
    for operand in (*operands(call), *(key.args[0] for key in order if isinstance(key, Apply))):
        _resolve(operand, scope)
    return WRONG


# Typed expressions that the planner makes, written as in Python.


def formula(expression: Expression, **operands: Expr) -> Expr:
    """Type an expression over named operands, and put these in."""
    scope = Scope({name: operand.dtype for name, operand in operands.items()}, {})
    return substitute(resolve(expression.syntax, scope), operands)
