"""Sums of each group's values: exact for integers, durations and decimals, also where they are added up in parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.no_result import sum_overflow
from gpuetl.engines.pandas.aggregates.grouped_rows import grouped, reduced
from gpuetl.engines.pandas.columns.keys import Groups
from gpuetl.engines.pandas.columns.masked import from_masked, to_masked
from gpuetl.engines.pandas.expressions.decimals import halves, joined_halves
from gpuetl.errors import EvaluationError
from gpuetl.types.data_types import DURATION, INT64, DataType
from gpuetl.types.decimal_types import MAX_DIGITS

WIDE = pa.decimal128(MAX_DIGITS, 0)


def total(groups: Groups, values: Any) -> Any:
    """Sum each group's values, one after the other; integers exactly, whatever the order."""
    if pa.types.is_duration(values.type):
        return narrowed(lambda: total_integers(groups, values.cast(INT64)), DURATION)
    if pa.types.is_decimal(values.type):
        return narrowed(lambda: decimal_total(groups, values), sum_of(values.type))
    if values.type == INT64:
        return narrowed(lambda: total_integers(groups, values), INT64)
    return from_masked(reduced(groups, to_masked(values), np.add, 0), values.type)


def narrowed(sums: Callable[[], Any], dtype: DataType) -> Any:
    """Return sums as `dtype`; raise `EvaluationError` where one leaves it, which Arrow or `joined_halves` tells."""
    try:
        found = sums()
        return found if found.type == dtype else found.cast(INT64).cast(dtype)
    except (pa.ArrowInvalid, EvaluationError):
        raise sum_overflow(dtype) from None


def sum_of(dtype: DataType) -> DataType:
    """Return the type of a sum of decimals."""
    return pa.decimal128(MAX_DIGITS, dtype.scale)


def total_integers(groups: Groups, values: Any) -> Any:
    """Sum int64 values: as they are where no sum can leave int64, else in 38 decimal digits."""
    if fits_int64(values):
        return from_masked(reduced(groups, to_masked(values), np.add, 0), INT64)
    return grouped(groups, values.cast(WIDE), "sum")


def decimal_total(groups: Groups, values: Any) -> Any:
    """Sum decimals; in 76 digits where 38 might not hold the sum, since Acero wraps there and the cast raises."""
    sums = decimal_sums(groups, values)
    return sums if sums.type.bit_width == 128 else sums.cast(sum_of(values.type))


def decimal_sums(groups: Groups, values: Any) -> Any:
    """Sum decimals in 38 digits where that surely holds the sums, else in 76."""
    digits, scale = values.type.precision, values.type.scale
    if digits + len(str(len(values))) <= MAX_DIGITS:
        return grouped(groups, values, "sum")
    return grouped(groups, values.cast(pa.decimal256(2 * MAX_DIGITS, scale)), "sum")


def fits_int64(values: Any) -> bool:
    """Tell whether no sum of any of the values can leave int64."""
    limits = pc.min_max(values).as_py()
    greatest = max(abs(limits["min"] or 0), abs(limits["max"] or 0))
    return bool(greatest * len(values) < 1 << 63)


def wide_total(groups: Groups, values: Any) -> Any:
    """Sum integers, or durations in microseconds, in 38 decimal digits."""
    return total_integers(groups, values.cast(INT64)).cast(WIDE)


def half_total(which: int) -> Callable[[Groups, Any], Any]:
    """Return the handler that sums the high (0) or the low (1) halves of decimals."""
    return lambda groups, values: grouped(groups, halves(values)[which], "sum")


def total_of_parts(dtype: DataType) -> Callable[[Groups, Any], Any]:
    """Return the handler that adds up what `wide_total` gave of parts, as `dtype`."""
    return lambda groups, parts: narrowed(lambda: grouped(groups, parts, "sum").cast(INT64), dtype)


def total_of_halves(groups: Groups, high: Any, low: Any) -> Any:
    """Add up what `half_total` gave of parts."""
    sums = [grouped(groups, half, "sum") for half in (high, low)]
    return narrowed(lambda: joined_halves(*sums), low.type)


SUMS: dict[str, Callable[..., Any]] = {
    "sum": total,
    "wide_sum": wide_total,
    "high_sum": half_total(0),
    "low_sum": half_total(1),
    "sum_of_wide": total_of_parts(INT64),
    "duration_of_wide": total_of_parts(DURATION),
    "sum_of_halves": total_of_halves,
}
