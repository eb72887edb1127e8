"""Comparison of lists, structs and maps, as that of their parts.

Structs are equal if their fields are: in them null equals null, and NaN equals NaN.  Other comparisons are those of texts (ordering.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from gpuetl.expressions.functions.function import TypeMismatch, Typing, scalar_call
from gpuetl.expressions.functions.meeting import comparable
from gpuetl.expressions.functions.ordering import field_of, is_present, order_text
from gpuetl.expressions.ir import Call, Expr, Literal, chained
from gpuetl.messages import coded
from gpuetl.types.common_types import common_nested
from gpuetl.types.data_types import BOOL, NULL, DataType, can_compare, is_floating, type_name, value_kinds
from gpuetl.types.nested_types import is_nested, is_struct, is_tuple


def nested_types(args: Sequence[Expr]) -> list[DataType]:
    """Return the type in which nested values are compared, for each of them."""
    meeting: DataType = NULL
    for arg in args:
        found = common_nested(meeting, arg.dtype)
        if found is None:
            hint = "Cast one of them, or take a part of it."
            if is_struct(meeting) and is_struct(arg.dtype):
                hint = "Structs that are compared have fields of the same names and of types that meet."
            if is_nested(meeting) != is_nested(arg.dtype) and (is_tuple(meeting) or is_tuple(arg.dtype)):
                hint = "Brackets with several values are a row(x, y).  Write x IN (1, 2) to look for a value."
            raise TypeMismatch(f"cannot compare {type_name(meeting)} and {type_name(arg.dtype)}", hint)
        meeting = found
    if not can_compare(meeting):
        raise TypeMismatch(coded("GE1115", f"cannot compare {type_name(meeting)}"), "Take a part of it.")
    return [meeting] * len(args)


def comparable_anyhow(args: Sequence[Expr]) -> Sequence[DataType]:
    """Return the types in which arguments are compared, also where they are nested."""
    if any(is_nested(arg.dtype) for arg in args):
        return nested_types(args)
    opaque = next((arg.dtype for arg in args if not can_compare(arg.dtype)), None)
    if opaque is not None:
        raise TypeMismatch(coded("GE1115", f"does not take {value_kinds(opaque)}"), "Such values are only passed on.")
    return comparable(args)


def compared_anyhow(args: Sequence[Expr]) -> Typing:
    """Arguments that can be compared, nested or not; the result is a boolean."""
    return comparable_anyhow(args), BOOL


def null_unless_equal(args: Sequence[Expr]) -> Typing:
    """Two values that can be compared; the result has the first one's type."""
    types = comparable_anyhow(args)
    return types, types[0]


# What engines compute.


def of_parts(call: Call) -> Expr:
    """Return a comparison of nested values as that of their parts; any other call as it is."""
    x, *others = call.args
    if not is_nested(x.dtype):
        return call
    name = call.function.name
    if name == "in":
        return reduce(either, [equal(x, other) for other in others])
    (y,) = others
    if name == "nullif":
        return scalar_call("case", (is_true(equal(x, y)), Literal(None, x.dtype), x), x.dtype)
    if name in ("equal", "not_equal"):
        return equal(x, y) if name == "equal" else negated(equal(x, y))
    if name in ("is_distinct", "is_not_distinct"):
        return same(x, y) if name == "is_not_distinct" else negated(same(x, y))
    return replace(call, args=(order_text(x), order_text(y)))


def equal(x: Expr, y: Expr) -> Expr:
    """Return `x = y`: null where one is null."""
    if any(isinstance(each, Literal) for each in (x, y)):  # a null
        return Literal(None, BOOL)
    if not is_struct(x.dtype):
        return scalar_call("equal", (order_text(x), order_text(y)), BOOL)
    return scalar_call("case", (both(is_present(x), is_present(y)), same_fields(x, y)), BOOL)


def same(x: Expr, y: Expr) -> Expr:
    """Return `x IS NOT DISTINCT FROM y`: never null."""
    if isinstance(x, Literal) or isinstance(y, Literal):  # a null
        return scalar_call("is_null", (y if isinstance(x, Literal) else x,), BOOL)
    if x.dtype == NULL:
        return Literal(True, BOOL)
    if not is_nested(x.dtype):
        equal_or_null = scalar_call("is_not_distinct", (x, y), BOOL)
        if not is_floating(x.dtype):
            return equal_or_null
        nan = both(*(scalar_call("is_nan", (each,), BOOL) for each in (x, y)))
        return scalar_call("case", (nan, Literal(True, BOOL), equal_or_null), BOOL)
    if not is_struct(x.dtype):
        return scalar_call("is_not_distinct", (order_text(x), order_text(y)), BOOL)
    missing = [scalar_call("is_null", (each,), BOOL) for each in (x, y)]
    return scalar_call("case", (missing[0], missing[1], missing[1], Literal(False, BOOL), same_fields(x, y)), BOOL)


def same_fields(x: Expr, y: Expr) -> Expr:
    """Return whether the fields of two structs are equal; null equals null."""
    pairs = [(field_of(x, field.name, field.type), field_of(y, field.name, field.type)) for field in x.dtype]
    always: Expr = Literal(True, BOOL)
    return reduce(both, [same(*pair) for pair in pairs], always)


def both(x: Expr, y: Expr) -> Expr:
    """Return `x AND y`."""
    if isinstance(x, Literal):
        return y
    return scalar_call("and", (*chained("and", x), *chained("and", y)), BOOL)


def either(x: Expr, y: Expr) -> Expr:
    """Return `x OR y`."""
    return scalar_call("or", (*chained("or", x), *chained("or", y)), BOOL)


def negated(x: Expr) -> Expr:
    """Return `NOT x`."""
    return scalar_call("not", (x,), BOOL)


def is_true(x: Expr) -> Expr:
    """Return whether a condition is true: null is not."""
    return scalar_call("coalesce", (x, Literal(False, BOOL)), BOOL)
