"""A column in device memory, as generated kernels and pylibcudf see it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, cached_property
from typing import TypeAlias, cast

import pyarrow as pa

from gpuetl.engines.cudf.machine import Array
from gpuetl.records import dataclass
from gpuetl.types.data_types import NULL, OPAQUE, STRING, DataType, is_binary
from gpuetl.types.decimal_types import MAX_DIGITS, is_decimal
from gpuetl.types.nested_types import is_list, is_map, is_nested, is_struct

Buffer: TypeAlias = Array
"""An array of the machine's array module: CuPy's on a GPU, NumPy's in tests on a CPU."""
NO_DATA: Buffer = cast("Buffer", None)
"""The `data` of a column of lists, which has offsets and elements alone, and of a kind of column without memory."""


@dataclass(frozen=True, eq=False)
class Vector:
    """Values of one type, with no offset into their buffers.

    Parameters
    ----------
    dtype
        The Arrow type of the language.
    rows
        How many.
    data
        The values as in `storage_type`.  Of strings the bytes, or their codes in the dictionary (int32; of nulls any).
        `NO_DATA` for lists, maps and structs.
    valid
        Words of 32 validity bits, the first row's the lowest; None where there is no null.
    nulls
        How many rows are null.
    offsets
        Of strings (int32 or int64), lists and maps (int32): rows + 1 places in `data` or in `elements`.
    elements
        The elements of lists; of maps structs of keys and values.
    fields
        The fields of structs, each of as many rows.  A field may be valid where the struct is null.
    dictionary
        Distinct strings without nulls, in the order of their bytes.  A column of few strings has only their codes.
    """

    dtype: DataType
    rows: int
    data: Buffer
    valid: Buffer | None = None
    nulls: int = 0
    offsets: Buffer | None = None
    elements: Vector | None = None
    dictionary: Vector | None = None
    fields: tuple[Vector, ...] = ()

    @cached_property
    def nbytes(self) -> int:
        """The device memory that the column takes."""
        own = sum(buffer.nbytes for buffer in (self.data, self.valid, self.offsets) if buffer is not None)
        return int(own) + sum(inner.nbytes for inner in (self.elements, self.dictionary, *self.fields) if inner)

    @property
    def holds_bytes(self) -> bool:
        """Whether each row has any number of bytes in `data`: strings that no dictionary codes, and binary values."""
        return self.offsets is not None and self.elements is None

    @property
    def is_fixed(self) -> bool:
        """Whether `data` has a value of the same width for each row: numbers, times and dictionary codes."""
        return self.offsets is None and not is_struct(self.dtype)

    @property
    def required_offsets(self) -> Buffer:
        """The offsets of strings without a dictionary, or of lists: columns that always have them."""
        assert self.offsets is not None
        return self.offsets

    @property
    def required_valid(self) -> Buffer:
        """The validity words of a column that has some: one with nulls."""
        assert self.valid is not None
        return self.valid

    @property
    def codes(self) -> Vector:
        """The dictionary codes of strings, which sort as the strings do; a column without a dictionary as it is."""
        return replace(self, dtype=pa.int32(), dictionary=None) if self.dictionary else self

    def as_codes_of(self, dictionary: Vector | None) -> Vector:
        """Return the strings that these codes stand for in a dictionary; without one the column as it is."""
        return replace(self, dtype=STRING, dictionary=dictionary) if dictionary else self


@cache
def storage_type(dtype: DataType) -> str:
    """Return the name of the NumPy type in which a fixed-width column lies in memory.

    Booleans are bytes, times integers of their unit, decimals of up to 18 digits int64 and longer ones pairs of
    int64, the lower one first.  So are intervals.  A column of the type null has booleans, all of them null.
    """
    if dtype in (NULL, pa.bool_()):
        return "uint8"
    if dtype in OPAQUE:
        return "V16"
    if pa.types.is_timestamp(dtype) or pa.types.is_duration(dtype) or pa.types.is_time(dtype):
        return "int64"
    if is_decimal(dtype) and dtype.precision <= MAX_DIGITS:
        return "int64" if dtype.precision <= 18 else "V16"
    if pa.types.is_date(dtype):
        return "int32"
    if has_bytes(dtype) or is_nested(dtype):
        raise TypeError(f"{dtype} has no fixed width")
    return str(dtype.to_pandas_dtype().__name__)


@cache
def has_bytes(dtype: DataType) -> bool:
    """Return whether values lie in memory as bytes behind offsets: strings, binary values of any and of a fixed length.

    So do decimals of more than 38 digits, which only pass.
    """
    return dtype == STRING or is_binary(dtype) or (is_decimal(dtype) and dtype.precision > MAX_DIGITS)


def element_type(dtype: DataType) -> DataType | None:
    """Return the type of the elements of lists, and that of the entries of maps, a struct; None of other types."""
    if is_map(dtype):
        return pa.struct([("key", dtype.key_type), ("value", dtype.item_type)])
    return dtype.value_type if is_list(dtype) else None


def field_types(dtype: DataType) -> tuple[DataType, ...]:
    """Return the types of the fields of structs; none of other types."""
    return tuple(field.type for field in dtype) if is_struct(dtype) else ()
