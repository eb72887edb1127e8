"""Values as texts whose bytes compare as the values do, row by row."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from itertools import repeat as forever
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.expressions.functions.marked_text import VALUE, pieces_of
from gpuetl.expressions.functions.ordering import MISSING, THERE
from gpuetl.types.data_types import BOOL, STRING, DataType, integer_limits, is_floating, is_integer
from gpuetl.types.decimal_types import is_decimal

DIGIT_BITS = 6
DECIMAL_BITS = 128


def digits(number: int, bits: int) -> str:
    """Return an unsigned number of so many bits in base 64, the highest digit first."""
    count = -(-bits // DIGIT_BITS)
    return "".join(chr(ord(THERE) + (number >> DIGIT_BITS * place & 63)) for place in reversed(range(count)))


def float_bits(value: float, form: str, bits: int) -> int:
    """Return the bits of a float as a number that compares as the float; one zero, and one NaN, the greatest."""
    if value != value:
        return (1 << bits) - 1
    (number,) = struct.unpack(f">{form.upper()}", struct.pack(f">{'d' if bits == 64 else 'f'}", value or 0.0))
    sign = 1 << (bits - 1)
    return int((1 << bits) - 1 - number if number & sign else number | sign)


def writer_of(dtype: DataType) -> Callable[[Any], str]:
    """Return what writes a value, which is not null, of a flat type."""
    if dtype == STRING:
        return lambda text: THERE + text.replace("\x01", "\x01\x02").replace("\x00", "\x01\x01") + "\x00"
    if dtype == BOOL:
        return lambda value: digits(int(value), 1)
    if is_floating(dtype):
        bits, form = (64, "q") if dtype == pa.float64() else (32, "i")
        return lambda value: digits(float_bits(value, form, bits), bits)
    if is_decimal(dtype):
        half = 1 << (DECIMAL_BITS - 1)
        return lambda value: digits(int(value.scaleb(dtype.scale)) + half, DECIMAL_BITS)
    least, _ = integer_limits(dtype)
    return lambda value: digits(value - least, dtype.bit_width)


def as_numbers(values: Any) -> Any:
    """Return dates, timestamps, times and durations as the integers that they are."""
    dtype = values.type
    if dtype in (STRING, BOOL) or is_integer(dtype) or is_floating(dtype) or is_decimal(dtype):
        return values
    return pc.cast(values, pa.int32() if dtype.bit_width == 32 else pa.int64())


def written(mark: str, values: Any) -> Iterator[str]:
    """Yield the text of each value; a constant repeats."""
    if mark == VALUE:
        values = as_numbers(values)
    write = writer_of(values.type) if mark == VALUE else str
    if isinstance(values, pa.Scalar):
        return forever(MISSING if not values.is_valid else write(values.as_py()))
    return (MISSING if value is None else write(value) for value in values.to_pylist())


def joined(form: Any, *values: Any) -> Any:
    """Texts and values in the places of their marks."""
    pieces = pieces_of(form.as_py())
    rows = next((len(value) for value in values if not isinstance(value, pa.Scalar)), None)
    parts: list[Iterator[str]] = [forever(pieces[0])]
    for mark, value, text in zip(pieces[1::2], values, pieces[2::2], strict=True):
        parts += [written(mark, value), forever(text)]
    count = 1 if rows is None else rows
    made = ["".join(row) for row, _ in zip(zip(*parts, strict=False), range(count), strict=False)]
    return pa.scalar(made[0], STRING) if rows is None else pa.array(made, STRING)


HANDLERS: dict[str, Callable[..., Any]] = {"order_join": joined}
