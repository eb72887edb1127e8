"""Window functions that add decimals, exactly: 128-bit integers as four limbs of 32 bits, summed by themselves.

A limb's sum stays below 2^63 for fewer than 2^31 rows; carries are added up afterwards.  Rows come sorted; a column
is an Arrow array of decimals with a value a row.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import Masked, from_masked
from gpuetl.engines.pandas.expressions.decimals import WIDE_DIGITS, add_or_subtract
from gpuetl.engines.pandas.expressions.means import decimal_limbs, nearest_floats
from gpuetl.engines.pandas.relational.frame_rows import FrameRows, Frames
from gpuetl.engines.pandas.relational.segmented_scans import Ints
from gpuetl.engines.pandas.relational.window_rows import WindowRows, previous_value
from gpuetl.errors import EvaluationError
from gpuetl.types.data_types import FLOAT64, INT64, type_name
from gpuetl.types.decimal_types import MAX_DIGITS, total_type

LIMB = 0xFFFFFFFF
GREATEST = divmod(10**MAX_DIGITS - 1, 1 << 64)
LEAST = divmod(1 - 10**MAX_DIGITS, 1 << 64)


def running_decimal_sum(rows: WindowRows, x: Any, nulls: str = "keep") -> Any:
    """Return the sum of `x` so far; nulls are skipped and stay null, or what was before is carried on."""
    return _totals("cum_sum", x, rows.segments.first_row, pa.array(_has_result(rows, x, nulls)))


def frame_decimal_sum(rows: WindowRows, x: Any, frame_starts: Frames) -> Any:
    """Return the sum of each row's frame, nulls skipped; null where the frame has no value."""
    valid = x.is_valid().to_numpy(zero_copy_only=False)
    return _totals("rolling_sum", x, frame_starts, pa.array(FrameRows.of(frame_starts).sums(valid) > 0))


def running_decimal_mean(rows: WindowRows, x: Any, nulls: str = "keep") -> Any:
    """Return the float64 mean of `x` so far; nulls as in a sum."""
    return _means(x, rows.segments.first_row, _has_result(rows, x, nulls))


def _has_result(rows: WindowRows, x: Any, nulls: str) -> NDArray[np.bool_]:
    """Return where there is a value, or, if results are carried on, where one has been."""
    valid: NDArray[np.bool_] = x.is_valid().to_numpy(zero_copy_only=False)
    return FrameRows.of(rows.segments.first_row).sums(valid) > 0 if nulls == "carry" else valid


def frame_decimal_mean(rows: WindowRows, x: Any, frame_starts: Frames) -> Any:
    """Return the float64 mean of each row's frame, nulls skipped; null where the frame has no value."""
    return _means(x, frame_starts)


def decimal_difference(rows: WindowRows, x: Any, offset: int = 1) -> Any:
    """Return `x` less the `x` of `offset` rows before in the segment; null where either is.

    Raise `OverflowError` at the first row that takes 39 digits.
    """
    numbers = np.arange(len(x))
    before = previous_value(rows, Masked.all_valid(numbers), offset)
    earlier = x.take(pa.array(before.values, INT64, mask=~before.valid))
    try:
        return add_or_subtract(pc.subtract)(x, earlier)
    except EvaluationError as error:
        wide = pa.decimal256(WIDE_DIGITS - 1, x.type.scale)
        apart = pc.abs(pc.subtract(x.cast(wide), earlier.cast(wide)))
        limit = pa.scalar(Decimal(10) ** (MAX_DIGITS - x.type.scale), apart.type)
        row = pc.index(pc.greater_equal(apart, limit), True).as_py()
        raise OverflowError(f"diff: {error.what}; cast the column to float64", row) from None


def _means(x: Any, frame_starts: Frames, valid: NDArray[np.bool_] | None = None) -> Any:
    counts = FrameRows.of(frame_starts).sums(x.is_valid().to_numpy(zero_copy_only=False))
    means = nearest_floats(_sums(x, frame_starts), np.maximum(counts, 1), x.type.scale)
    return from_masked(Masked(means, counts > 0 if valid is None else valid), FLOAT64)


def _totals(name: str, x: Any, frame_starts: Frames, valid: Any) -> Any:
    """Sum the rows from `frame_starts` up to each row; raise `OverflowError` at the first that takes 39 digits."""
    dtype = total_type(x.type)
    limbs = _sums(x, frame_starts)
    for lower, upper in ((0, 1), (1, 2), (2, 3)):
        limbs[upper] += limbs[lower] >> 32
        limbs[lower] &= LIMB
    low = (limbs[1] << 32 | limbs[0]).view(np.uint64)
    high = limbs[3] << 32 | limbs[2]
    overflows = (limbs[3] != limbs[3].astype(np.int32)) | _beyond(high, low)
    if overflows.any():
        row = int(overflows.argmax())
        raise OverflowError(f"{name} leaves {type_name(dtype)} at row {row}; cast the column to float64", row)
    words = np.stack([low, high.view(np.uint64)], axis=1)
    return pc.if_else(valid, _decimals(words, dtype), pa.scalar(None, dtype))


def _sums(x: Any, frame_starts: Frames) -> list[Ints]:
    return [FrameRows.of(frame_starts).sums(limb) for limb in decimal_limbs(x)]


def _beyond(high: Ints, low: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Tell which 128-bit integers, in two words, have more than 38 digits."""
    above = (high > GREATEST[0]) | ((high == GREATEST[0]) & (low > np.uint64(GREATEST[1])))
    below = (high < LEAST[0]) | ((high == LEAST[0]) & (low < np.uint64(LEAST[1])))
    beyond: NDArray[np.bool_] = above | below
    return beyond


def _decimals(words: NDArray[np.uint64], dtype: pa.DataType) -> Any:
    return pa.Array.from_buffers(dtype, len(words), [None, pa.py_buffer(words)])


DECIMAL_WINDOWS: dict[str, Callable[..., Any]] = {
    "cum_sum": running_decimal_sum,
    "cum_mean": running_decimal_mean,
    "rolling_sum": frame_decimal_sum,
    "rolling_mean": frame_decimal_mean,
    "diff": decimal_difference,
}
