"""Columns as Arrow holds them and as arrays with masks, and rows taken by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.records import dataclass
from gpuetl.threads import in_threads
from gpuetl.types.data_types import FLOAT64, INT64, STRING, DataType, is_floating

# Columns as Arrow holds them: repeated, taken apart, put into a frame.


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
    """Return the bytes of a string or binary array, where each value starts in them, and how many are its own."""
    if pa.types.is_fixed_size_binary(column.type):
        width, rows = column.type.byte_width, len(column)
        start = column.offset * width
        own = np.frombuffer(column.buffers()[1] or b"", np.uint8)[start : start + rows * width]
        return own, np.arange(rows, dtype=np.int64) * width, np.full(rows, width, np.int64)
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


def entries_list(maps: Column) -> Column:
    """Return maps as lists of structs of keys and values, on the same memory."""
    entries = pa.StructArray.from_arrays([maps.keys, maps.items], names=["key", "value"])
    buffers = maps.buffers()[:2]
    return pa.Array.from_buffers(
        pa.list_(entries.type), len(maps), buffers, maps.null_count, maps.offset, children=[entries]
    )


def arange(count: int) -> NDArray[np.int64]:
    """Return the row numbers of `count` rows."""
    return np.arange(count, dtype=np.int64)


def with_column(frame: pa.Table, name: str, column: Column) -> pa.Table:
    """Return the frame with the column in place of one of that name, or at the end."""
    if name in frame.column_names:
        return frame.set_column(frame.column_names.index(name), name, column)
    return frame.append_column(name, column)


# Arrays with masks: columns of numbers, booleans and times as NumPy computes with them.


INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


@dataclass(frozen=True, eq=False)
class Masked:
    """A column: `values` and, of the same length, `valid`; what `values` has under a null is unspecified."""

    values: NDArray[Any]
    valid: NDArray[np.bool_]

    def __post_init__(self) -> None:
        if self.values.shape != self.valid.shape or self.values.ndim != 1:
            shapes = f"values {self.values.shape} and valid {self.valid.shape}"
            raise ValueError(f"{shapes} must have one dimension and the same length")

    @classmethod
    def all_valid(cls, values: NDArray[Any]) -> Masked:
        """Return `values` without a null."""
        return cls(values, np.ones(len(values), np.bool_))


def storage_type(dtype: DataType) -> DataType:
    """Return the number type in which NumPy holds a column: times are integers of their unit."""
    if pa.types.is_temporal(dtype):
        return pa.int32() if dtype.bit_width == 32 else INT64
    return dtype


def has_numbers(dtype: DataType) -> bool:
    """Return whether a column is an array of numbers, booleans or times."""
    return bool(pa.types.is_primitive(dtype)) and not pa.types.is_decimal(dtype)


def to_masked(column: Column) -> Masked:
    """Return values and validity; the value under a null is zero.

    Raises
    ------
    TypeError
        For a column that is no array of numbers.
    """
    array = whole(column)
    if not has_numbers(array.type):
        raise TypeError(f"{array.type} has no NumPy form")
    storage = array.cast(storage_type(array.type)) if pa.types.is_temporal(array.type) else array
    valid = np.ones(len(array), bool) if array.null_count == 0 else array.is_valid().to_numpy(zero_copy_only=False)
    if array.null_count:
        storage = pc.fill_null(storage, pa.scalar(0).cast(storage.type))
    return Masked(storage.to_numpy(zero_copy_only=False), valid)


def from_masked(column: Masked, dtype: DataType) -> Column:
    """Return an Arrow array of `dtype`, null where `column` is not valid."""
    mask = None if column.valid.all() else ~column.valid
    storage = pa.array(column.values, storage_type(dtype), mask=mask)
    return storage if storage.type == dtype else storage.cast(dtype)


def to_words(column: Column) -> Masked:
    """Return values as 64 bits each: floats as canonical float64, uint64 as it is, all others as int64.

    Equal integers of any width have equal words; the word under a null is zero.
    """
    array = canonical(whole(column).cast(FLOAT64)) if is_floating(column.type) else column
    masked = to_masked(array)
    values = masked.values if masked.values.itemsize == 8 else masked.values.astype(np.int64)
    return Masked(values.view(np.uint64), masked.valid)


def least_of(dtype: np.dtype[Any]) -> Any:
    """Return what is never greater than a value of `dtype`."""
    if dtype.kind == "f":
        return -np.inf
    return False if dtype.kind == "b" else np.iinfo(dtype).min


def greatest_of(dtype: np.dtype[Any]) -> Any:
    """Return what is never less than a value of `dtype`: for floats that is NaN."""
    if dtype.kind == "f":
        return np.nan
    return True if dtype.kind == "b" else np.iinfo(dtype).max


# Rows by their numbers, column by column.


SAMPLE_ROWS, DISTINCT_IN_SAMPLE = 1 << 13, 1 << 10


def take_rows(frame: pa.Table, rows: NDArray[np.int64]) -> pa.Table:
    """Return the rows of a frame that has columns, in the order of `rows`."""
    numbers = pa.array(rows)
    columns = in_threads(lambda column: take_column(column, numbers), frame.columns)
    return pa.table(columns, schema=frame.schema)


def take_or_null(column: Column, rows: Masked) -> Column:
    """Return the values at `rows`, null where `rows` is not valid."""
    return take_column(column, from_masked(rows, INT64))


def take_column(column: Column, rows: Any) -> Column:
    """Return the values at `rows`, an Arrow array; one array, since Arrow is slow in many pieces.

    Strings that repeat are moved as numbers of a dictionary: Arrow moves strings one by one.
    """
    values = whole(column)
    if values.type != STRING or len(rows) < SAMPLE_ROWS or not _repeats(values):
        return pc.take(values, rows, boundscheck=False)
    encoded = values.dictionary_encode()
    return encoded.dictionary.take(encoded.indices.take(rows))


def _repeats(values: Any) -> bool:
    return bool(pc.count_distinct(values[:SAMPLE_ROWS]).as_py() <= DISTINCT_IN_SAMPLE)
