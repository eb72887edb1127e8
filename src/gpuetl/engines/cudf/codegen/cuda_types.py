"""How types and columns of the language are spelled in CUDA: values, parameters, accessors that read a row."""

from __future__ import annotations

import math
import struct
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Context, Decimal
from typing import Any, TypeVar

import pyarrow as pa

from gpuetl.engines.cudf.columns.vector import Vector, has_bytes, storage_type
from gpuetl.engines.cudf.machine import Array
from gpuetl.records import dataclass
from gpuetl.types.calendar_intervals import CalendarInterval
from gpuetl.types.data_types import BOOL, DATE, NULL, DataType, is_floating
from gpuetl.types.decimal_types import MAX_DIGITS, is_decimal
from gpuetl.types.nested_types import is_nested, is_struct

# How values of the language are spelled in CUDA.


STORED = {"uint8": "uint8_t", "float32": "float", "float64": "double", "V16": "int128_t"}
EPOCH, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
EXACT = Context(prec=MAX_DIGITS)


def stored_c_type(dtype: DataType) -> str:
    """Return the C++ type in which values of a fixed width lie in memory."""
    name = storage_type(dtype)
    return STORED.get(name, f"{name}_t")


def c_type(dtype: DataType) -> str:
    """Return the C++ type with which values are calculated: decimals are unscaled int128."""
    if has_bytes(dtype):
        return "String"
    if dtype in (NULL, BOOL) or is_struct(dtype):
        return "bool"
    if is_nested(dtype):
        return "NoList"  # a null: others have the type of their column
    return "int128_t" if is_decimal(dtype) else stored_c_type(dtype)


def accessor_type(vector: Vector) -> str:
    """Return the C++ type that reads a column's rows."""
    if is_struct(vector.dtype):
        return "Structs"
    if vector.elements is not None:
        return f"Lists<{accessor_type(vector.elements)}>"
    if vector.dictionary is not None:
        return f"CodedStrings<{accessor_type(vector.dictionary)}>"
    if vector.holds_bytes:
        return f"Strings<{'int64_t' if vector.required_offsets.dtype.itemsize == 8 else 'int32_t'}>"
    return f"Fixed<{c_type(vector.dtype)}, {stored_c_type(vector.dtype)}>"


def c_constant(value: Any, dtype: DataType) -> str:
    """Return the C++ code of a constant that is not null."""
    if isinstance(value, CalendarInterval):
        return f"Interval{{{value.months}, {value.days}, {value.microseconds}LL}}"
    if has_bytes(dtype):
        return c_text(value) if isinstance(value, str) else c_bytes(value)
    if dtype == BOOL:
        return "true" if value else "false"
    if is_floating(dtype):
        return c_float(float(value), dtype)
    if is_decimal(dtype):
        return c_int128(unscaled(value, dtype))
    return f"{c_type(dtype)}({c_int(whole_number(value, dtype))})"


def unscaled(value: Any, dtype: DataType) -> int:
    """Return the units that a decimal is counted in."""
    return int(Decimal(value).scaleb(dtype.scale, EXACT))


def whole_number(value: Any, dtype: DataType) -> int:
    """Return the integer that stands for an integer, date (days), timestamp, time or duration (microseconds)."""
    if isinstance(value, datetime):
        return (value.replace(tzinfo=value.tzinfo or UTC) - EPOCH) // MICROSECOND
    if isinstance(value, time):
        value = datetime.combine(EPOCH, value) - datetime.combine(EPOCH, time())
    if isinstance(value, timedelta):
        return value // MICROSECOND
    if isinstance(value, date):
        days = value.toordinal() - EPOCH.toordinal()
        return days if dtype == DATE else days * 86_400_000_000
    return int(value)


def c_int(value: int) -> str:
    """Return an integer's text; the least int64 has no literal of its own."""
    if value >= 1 << 63:
        return f"{value}ULL"
    return f"{value}LL" if value > -(1 << 63) else "INT64_LEAST"


def c_int128(value: int) -> str:
    """Return the text of a 128-bit integer."""
    if -(1 << 63) < value < 1 << 63:
        return f"int128_t({value}LL)"
    bits = value & ((1 << 128) - 1)
    return f"int128_t(uint128_t({bits >> 64}ULL) << 64 | {bits & ((1 << 64) - 1)}ULL)"


def c_float(value: float, dtype: DataType) -> str:
    """Return the text of a float, exact in hexadecimal; of infinities and NaN by their bits."""
    single = dtype == pa.float32()
    if math.isfinite(value):
        return f"{value.hex()}{'f' if single else ''}"
    bits = (
        struct.unpack("<I", struct.pack("<f", value))[0] if single else struct.unpack("<Q", struct.pack("<d", value))[0]
    )
    return f"float_of_bits({bits}u)" if single else f"double_of_bits({bits}ULL)"


def c_text(value: str) -> str:
    """Return the text of UTF-8 bytes."""
    return c_bytes(value.encode())


def c_bytes(data: bytes) -> str:
    """Return the text of a `String` of any bytes; each byte that C++ could read in another way is written in octal."""
    plain = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in data)
    return f'String{{"{plain}", {len(data)}}}'


def c_words(values: Iterable[int]) -> str:
    """Return the text of constant words of 32 bits, as a `const char32_t*`."""
    return 'U"' + "".join(f"\\x{value:x}" for value in values) + '"'


def c_short_words(values: Iterable[int]) -> str:
    """Return the text of constant words of 16 bits, as a `const char16_t*`."""
    return "u" + c_words(values)[1:]


# Columns as kernels take them: parameters, the arguments that go with them, and accessors that read a row.


MOST_BUFFERS = 360
"""Of columns that one kernel reads and writes: older drivers pass 4 KB of arguments, of which a third may be others."""
Result = TypeVar("Result", bound=Hashable)


@dataclass(frozen=True)
class ColumnKinds:
    """What a kernel's text says of the columns that it reads: their types, but not whether they have nulls.

    Columns of equal kinds are read by the same text.
    """

    names: tuple[str, ...]
    parameters: tuple[str, ...]
    accessors: str

    @classmethod
    def of(cls, columns: Mapping[str, Vector]) -> ColumnKinds:
        """Return the kinds of columns."""
        return cls(tuple(columns), tuple(column_parameters(columns)), accessors(columns))


def column_parameters(columns: Mapping[str, Vector]) -> list[str]:
    """Return the parameters of the columns' buffers: as `buffers_of` gives them."""
    return [text for place, vector in enumerate(columns.values()) for text in _parameters(f"{place}", vector)]


def _parameters(name: str, vector: Vector) -> list[str]:
    bits = f"const uint32_t* __restrict__ bits{name}"
    if vector.elements is not None:
        return [f"const int32_t* __restrict__ offsets{name}", bits, *_parameters(f"{name}_", vector.elements)]
    if vector.dictionary is not None:
        return [f"const int32_t* __restrict__ numbers{name}", bits, *_string_arguments(f"{name}_", vector.dictionary)]
    if vector.holds_bytes:
        return [*_string_arguments(name, vector), bits]
    if is_struct(vector.dtype):
        return [bits]
    return [f"const {stored_c_type(vector.dtype)}* __restrict__ data{name}", bits]


def _string_arguments(name: str, vector: Vector) -> list[str]:
    offset = "int64_t" if vector.required_offsets.dtype.itemsize == 8 else "int32_t"
    return [f"const char* __restrict__ data{name}", f"const {offset}* __restrict__ offsets{name}"]


def accessors(columns: Mapping[str, Vector]) -> str:
    """Return the statements that make the columns' accessors, `c0`, `c1`, and so on."""
    declarations = (
        f"    const {accessor_type(v)} c{place}{_accessor_arguments(str(place), v)};"
        for place, v in enumerate(columns.values())
    )
    return "\n".join(declarations)


def _accessor_arguments(name: str, vector: Vector) -> str:
    if vector.elements is not None:
        inner = f"{accessor_type(vector.elements)}{_accessor_arguments(f'{name}_', vector.elements)}"
        return f"{{{inner}, offsets{name}, bits{name}}}"
    if vector.dictionary is not None:
        accessor = f"{accessor_type(vector.dictionary)}{{data{name}_, offsets{name}_, nullptr}}"
        return f"{{{accessor}, numbers{name}, bits{name}}}"
    if is_struct(vector.dtype):
        return f"{{bits{name}}}"
    offsets = f"offsets{name}, " if vector.holds_bytes else ""
    return f"{{data{name}, {offsets}bits{name}}}"


def buffers_of(columns: Mapping[str, Vector]) -> list[Array | int]:
    """Return the arguments that go with `column_parameters`; 0 stands for the validity of a column without nulls."""
    return [buffer for vector in columns.values() for buffer in _buffers(vector)]


def in_kernels(results: Mapping[Result, Collection[str]], columns: Mapping[str, Vector]) -> Iterator[list[Result]]:
    """Yield results, by as many as one kernel may write with the columns that these read, by name.

    A result is values and validity words.  One that reads more columns than a kernel may is alone.
    """
    some, read, count = list[Result](), set[str](), 0
    for result, names in results.items():
        more = 2 + len(buffers_of({name: columns[name] for name in names if name not in read}))
        if some and count + more > MOST_BUFFERS:
            yield some
            some, read, count = [], set(), 0
            more = 2 + len(buffers_of({name: columns[name] for name in names}))
        some.append(result)
        read.update(names)
        count += more
    if some:
        yield some


def _buffers(vector: Vector) -> list[Array | int]:
    bits = 0 if vector.valid is None else vector.valid
    if vector.elements is not None:
        return [vector.required_offsets, bits, *_buffers(vector.elements)]
    if vector.dictionary is not None:
        return [vector.data, bits, vector.dictionary.data, vector.dictionary.required_offsets]
    if is_struct(vector.dtype):
        return [bits]
    return [vector.data, *([vector.required_offsets] if vector.holds_bytes else []), bits]
