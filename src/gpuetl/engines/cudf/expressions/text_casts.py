"""Casts from and to texts in CUDA."""

from __future__ import annotations

from gpuetl.engines.cudf.device.types import c_int128, c_type
from gpuetl.engines.cudf.expressions.functions.device import Device, with_outcome
from gpuetl.expressions.ir import Cast
from gpuetl.types.data_types import BOOL, STRING, DataType, is_floating
from gpuetl.types.decimal_types import is_decimal


def text_cast(cast: Cast) -> Device:
    """Return how a cast from or to a text is written; one to a text writes it."""
    if cast.dtype == STRING:
        text = writer(cast.operand.dtype)
        return Device(lambda _, args: text.format(*args), gives="text")
    return with_outcome(cast, reader(cast.dtype))


def writer(source: DataType) -> str:
    """Return the C++ call that writes a value as a text."""
    if is_decimal(source):
        return f"write_decimal(out, {{}}, {c_int128(10**source.scale)}, {source.scale})"
    if is_floating(source):
        return "write_float(out, {})"
    return "write_bool(out, {})" if source == BOOL else "write_integer(out, {})"


def reader(target: DataType) -> str:
    """Return the C++ call that reads a value from a text, as an `Outcome`."""
    if is_decimal(target):
        return f"read_decimal({{}}, {target.precision}, {target.scale})"
    if is_floating(target):
        return f"read_float<{c_type(target)}>({{}})"
    return "read_bool({})" if target == BOOL else f"read_integer<{c_type(target)}>({{}})"


def text_cast_headers(cast: Cast) -> tuple[str, ...]:
    """Return the headers that a cast from or to a text needs."""
    if is_floating(cast.dtype):
        return ("float_reading.cuh",)
    return ("float_text.cuh",) if is_floating(cast.operand.dtype) else ("number_text.cuh",)
