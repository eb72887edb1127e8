"""Rows without a result: the reasons that kernels give, in words, with the values that have none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from gpuetl.backends.cudf.columns.gather import take
from gpuetl.backends.cudf.expressions.prepare import as_written
from gpuetl.backends.cudf.interchange import to_arrow
from gpuetl.backends.cudf.machine import Machine
from gpuetl.backends.cudf.vector import Vector
from gpuetl.backends.no_result import NoResult
from gpuetl.expressions.ir import Expr, children, columns_of
from gpuetl.expressions.types import type_name

Evaluate: TypeAlias = Callable[[Mapping[str, Expr], Mapping[str, Vector], int, Machine], Mapping[str, Vector]]

REASONS = (
    "",
    "overflow",
    "{dtype} does not hold it exactly",
    "it is no {dtype}",
    "the result is beyond the range of dates",
    "the result is beyond the range of timestamps",
    "not a valid date",
    "not a valid date and time",
    "not a date and time of this form",
    "the year must have 4 digits",
    "more microseconds than int64 holds",
    "the zone's clock shows it twice; see assume_zone's ambiguous",
    "the zone's clock never shows it; see assume_zone's nonexistent",
    "the zone's clock was then ahead by minutes and seconds; convert_zone it to UTC",
    "it is neither 0 nor 1",
    "it has a time of day; use to_date",
    "it is beyond {dtype}",
    "it is no number",
    "it has more digits than {dtype}",
)
"""What `Reason` in rows.cuh stands for, in its order; `dtype` is that of the result."""


def no_result(expr: Expr, fault: int, columns: Mapping[str, Vector], machine: Machine, evaluate: Evaluate) -> NoResult:
    """Return the error of what a kernel told: the row and the reason, beside the expression's arguments there."""
    row, reason = row_and_reason(fault)
    there = take(columns, machine.arrays.full(1, row, "int64"), machine, missing=False)
    values = [value_of(arg, there, machine, evaluate) for arg in children(expr)]
    written, words = as_written(expr), REASONS[reason].format(dtype=type_name(expr.dtype))
    return NoResult(written, row if columns_of(written) else None, values, words)


def row_and_reason(fault: int) -> tuple[int, int]:
    """Return what a kernel's `Fault` holds: the first row without a result, and the number of its reason."""
    bits = ~fault & 0xFFFFFFFFFFFFFFFF
    return bits >> 8, 255 - (bits & 255)


def value_of(expr: Expr, row: Mapping[str, Vector], machine: Machine, evaluate: Evaluate) -> Any:
    """Return an expression's value in a frame of one row, as a `pyarrow.Scalar`."""
    return to_arrow(evaluate({"": expr}, row, 1, machine)[""], machine)[0]
