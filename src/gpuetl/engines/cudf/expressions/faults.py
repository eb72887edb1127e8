"""Rows without a result: the reasons that kernels give, in words, with the values that have none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from gpuetl.engines.cudf.columns.arrays import filled
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.expressions.prepare import as_written
from gpuetl.engines.cudf.interchange import to_arrow
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.vector import Vector
from gpuetl.engines.no_result import (
    BEYOND_DATES,
    BEYOND_MICROSECONDS,
    BEYOND_TIMESTAMPS,
    NEVER_SHOWN,
    OF_ANOTHER_FORM,
    OFFSET_SECONDS,
    OVERFLOW,
    SHOWN_TWICE,
    YEAR_DIGITS,
    NoResult,
    not_valid,
)
from gpuetl.expressions.ir import Expr, children, columns_of
from gpuetl.messages import recoded
from gpuetl.types.data_types import type_name

Evaluate: TypeAlias = Callable[[Mapping[str, Expr], Mapping[str, Vector], int, Machine], Mapping[str, Vector]]

REASONS = (
    "",
    OVERFLOW,
    "{dtype} does not hold it exactly",
    "it is no {dtype}",
    BEYOND_DATES,
    BEYOND_TIMESTAMPS,
    not_valid("date"),
    not_valid("date and time"),
    OF_ANOTHER_FORM,
    YEAR_DIGITS,
    BEYOND_MICROSECONDS,
    SHOWN_TWICE,
    NEVER_SHOWN,
    OFFSET_SECONDS,
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
    words = recoded(REASONS[reason].format(dtype=type_name(expr.dtype)), REASONS[reason])
    return no_result_of(expr, row, words, columns, machine, evaluate)


def no_result_of(
    expr: Expr, row: int, reason: str, columns: Mapping[str, Vector], machine: Machine, evaluate: Evaluate
) -> NoResult:
    """Return the error of a row, for a reason in words, beside the expression's arguments there."""
    there = take(columns, filled(1, row, "int64", machine), machine, missing=False)
    values = [value_of(arg, there, machine, evaluate) for arg in children(expr)]
    written = as_written(expr)
    return NoResult(written, row if columns_of(written) else None, values, reason)


def row_and_reason(fault: int) -> tuple[int, int]:
    """Return what a kernel's `Fault` holds: the first row without a result, and the number of its reason."""
    bits = ~fault & 0xFFFFFFFFFFFFFFFF
    return bits >> 8, 255 - (bits & 255)


def value_of(expr: Expr, row: Mapping[str, Vector], machine: Machine, evaluate: Evaluate) -> Any:
    """Return an expression's value in a frame of one row, as a `pyarrow.Scalar`."""
    return to_arrow(evaluate({"": expr}, row, 1, machine)[""], machine)[0]
