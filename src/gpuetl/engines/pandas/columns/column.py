"""Columns as Arrow holds them: repeated, taken apart, put into a frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.records import dataclass
from gpuetl.types.data_types import is_floating

Column = Any
"""A `pyarrow.Array` or `ChunkedArray`; pyarrow has no type stubs."""

MAX_ROWS = (1 << 31) - 1
"""As many rows as a frame may have: libcudf counts them in 32 bits."""


def whole(column: Column) -> Column:
    """Return the column as one array."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def repeated(value: pa.Scalar, rows: int) -> Column:
    """Return a column of one value; Arrow does not repeat lists no times."""
    return pa.repeat(value, rows) if rows else pa.nulls(0, value.type)


def over_columns(compute: Callable[..., Column], *values: Any) -> Any:
    """Return `compute` of the values as arrays; scalars become one row, to be broadcast, and alone give a scalar."""
    columns = (repeated(value, 1) if isinstance(value, pa.Scalar) else whole(value) for value in values)
    result = compute(*columns)
    return result[0] if all(isinstance(value, pa.Scalar) for value in values) else result


def canonical(column: Column) -> Column:
    """Return a float column with one zero and one NaN, so that equal keys have equal bits; others as they are."""
    if not is_floating(column.type):
        return column
    nan, zero = pa.scalar(float("nan"), column.type), pa.scalar(0, column.type)
    return pc.if_else(pc.is_nan(column), nan, pc.add(column, zero))


def text_bytes(column: Column) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Return the UTF-8 bytes of a string array, where each value starts in them, and how many are its own."""
    _, offsets, data = column.buffers()
    if not len(column):  # there may be no offsets
        return np.zeros(0, np.uint8), np.zeros(0, np.int64), np.zeros(0, np.int64)
    ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1].astype(np.int64)
    return np.frombuffer(data or b"", np.uint8)[ends[0] : ends[-1]], ends[:-1] - ends[0], np.diff(ends)


@dataclass(frozen=True)
class ListParts:
    """A list array taken apart: where each row's elements start in `values`, and how many they are; null has none."""

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    values: Column


def list_parts(lists: Column) -> ListParts:
    """Return the elements of a list array, below each other; what stands under a null is left out."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return ListParts(np.cumsum(lengths) - lengths, lengths, lists.flatten())


def arange(count: int) -> NDArray[np.int64]:
    """Return the row numbers of `count` rows."""
    return np.arange(count, dtype=np.int64)


def with_column(frame: pa.Table, name: str, column: Column) -> pa.Table:
    """Return the frame with the column in the place of one of that name, or at the end."""
    if name in frame.column_names:
        return frame.set_column(frame.column_names.index(name), name, column)
    return frame.append_column(name, column)
