"""Arrays with masks: columns of numbers, truth values and times as NumPy computes with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import Column, canonical, whole
from gpuetl.records import dataclass
from gpuetl.types.data_types import FLOAT64, INT64, DataType, is_floating

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
    """Tell whether a column is an array of numbers, truth values or times."""
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
