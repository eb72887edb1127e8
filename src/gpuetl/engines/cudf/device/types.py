"""How values of the language are spelled in CUDA."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa

from gpuetl.engines.cudf.vector import Vector, storage_type
from gpuetl.types.data_types import BOOL, DATE, NULL, STRING, DataType, is_floating, is_list
from gpuetl.types.decimal_types import MAX_DIGITS, is_decimal

STORED = {"uint8": "uint8_t", "float32": "float", "float64": "double", "V16": "int128_t"}
EPOCH, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
EXACT = Context(prec=MAX_DIGITS)


def stored_c_type(dtype: DataType) -> str:
    """Return the C++ type in which values of a fixed width lie in memory."""
    name = storage_type(dtype)
    return STORED.get(name, f"{name}_t")


def c_type(dtype: DataType) -> str:
    """Return the C++ type with which values are calculated: decimals are unscaled int128."""
    if dtype == STRING:
        return "Text"
    if dtype in (NULL, BOOL):
        return "bool"
    if is_list(dtype):
        return "NoList"  # a null: others have the type of their column
    return "int128_t" if is_decimal(dtype) else stored_c_type(dtype)


def accessor_type(vector: Vector) -> str:
    """Return the C++ type that reads a column's rows."""
    if is_list(vector.dtype):
        assert vector.elements is not None
        return f"Lists<{accessor_type(vector.elements)}>"
    if vector.dictionary is not None:
        return f"CodedTexts<{accessor_type(vector.dictionary)}>"
    if vector.dtype == STRING:
        return f"Texts<{'int64_t' if vector.offsets.dtype.itemsize == 8 else 'int32_t'}>"
    return f"Fixed<{c_type(vector.dtype)}, {stored_c_type(vector.dtype)}>"


def c_constant(value: Any, dtype: DataType) -> str:
    """Return the C++ text of a constant that is not null."""
    if dtype == STRING:
        return c_text(value)
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
    """Return the integer that stands for an integer, date (days), timestamp or duration (microseconds)."""
    if isinstance(value, datetime):
        return (value.replace(tzinfo=value.tzinfo or UTC) - EPOCH) // MICROSECOND
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
    """Return the text of a `Text` of any bytes; each byte that C++ could read in another way is written in octal."""
    plain = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in data)
    return f'Text{{"{plain}", {len(data)}}}'


def c_words(values: Iterable[int]) -> str:
    """Return the text of constant words of 32 bits, as a `const char32_t*`."""
    return 'U"' + "".join(f"\\x{value:x}" for value in values) + '"'
