"""Change the type of a typed expression: casts that the user wrote, and casts to a wider type."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.advice import cast_hint
from gpuetl.expressions.ir import Call, Cast, Expr, Literal, branch_places
from gpuetl.expressions.nested_casts import castable
from gpuetl.expressions.nested_constants import spelled_out
from gpuetl.expressions.numbers import loses_digits, single
from gpuetl.expressions.syntax import CastTo
from gpuetl.messages import coded
from gpuetl.types.data_types import DATE, FLOAT64, NULL, TIMESTAMP, DataType, is_floating, is_integer, type_name
from gpuetl.types.decimal_types import constant_decimal, in_scale, is_decimal
from gpuetl.types.nested_types import is_list


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
    if is_list(dtype) and isinstance(expr, Call) and expr.function.name == "list_value":
        return replace(expr, args=tuple(coerce(arg, dtype.value_type) for arg in expr.args), dtype=dtype)
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
