"""Casts in CUDA: one function of casts.cuh for each pair of families of types, which gives an `Outcome`."""

from __future__ import annotations

import pyarrow as pa

from gpuetl.engines.cudf.codegen.clocks import format_statement, zone_of
from gpuetl.engines.cudf.codegen.cuda_types import c_int128, c_type
from gpuetl.engines.cudf.codegen.functions.device_function import Device, with_outcome
from gpuetl.expressions.ir import UINT64, Cast
from gpuetl.types.data_types import (
    BINARY,
    BOOL,
    DATE,
    DURATION,
    NULL,
    STRING,
    TIME,
    TIMESTAMP_NS,
    UUID,
    DataType,
    is_binary,
    is_floating,
)
from gpuetl.types.decimal_types import is_decimal

# Casts from and to strings in CUDA.


def text_cast(cast: Cast) -> Device:
    """Return how a cast from or to a text is written; one to a text writes it."""
    if cast.dtype == UUID:
        return read_bytes(cast, "uuid")
    if cast.dtype == BINARY:
        return read_bytes(cast, "escaped")
    if cast.dtype == STRING:
        text = writer(cast.operand.dtype)
        return Device(lambda _, args: text.format(*args), result_form="text")
    return with_outcome(cast, reader(cast.dtype))


def read_bytes(cast: Cast, form: str) -> Device:
    """Return how the bytes of a text are written, or nothing where it is of another form."""
    if cast.lenient:
        return Device(lambda _, args: f"read_{form}(out, {args[0]})", result_form="maybe_text")
    return Device(lambda _, args: f"strict_{form}(out, at, {args[0]})", result_form="text", fails=True)


def bytes_cast(cast: Cast) -> Device:
    """Return how bytes of any length are written as so many, or the reverse."""
    if cast.dtype == BINARY:
        return Device("put_bytes", result_form="text")
    count = cast.dtype.byte_width
    if cast.lenient:
        return Device(lambda _, args: f"put_so_many(out, {args[0]}, {count})", result_form="maybe_text")
    return Device(lambda _, args: f"strict_so_many(out, at, {args[0]}, {count})", result_form="text", fails=True)


def writer(source: DataType) -> str:
    """Return the C++ call that writes a value as a text."""
    if is_decimal(source):
        return f"write_decimal(out, {{}}, {c_int128(10**source.scale)}, {source.scale})"
    if is_floating(source):
        return "write_float(out, {})"
    if source == UUID:
        return "write_uuid(out, {})"
    if source == BINARY:
        return "write_escaped(out, {})"
    return "write_bool(out, {})" if source == BOOL else "write_integer(out, {})"


def reader(target: DataType) -> str:
    """Return the C++ call that reads a value from a text, as an `Outcome`."""
    if is_decimal(target):
        return f"read_decimal(without_spaces({{}}), {target.precision}, {target.scale})"
    if is_floating(target):
        return f"read_float<{c_type(target)}>(without_spaces({{}}))"
    return "read_bool({})" if target == BOOL else f"read_integer<{c_type(target)}>(without_spaces({{}}))"


def text_cast_headers(cast: Cast) -> tuple[str, ...]:
    """Return the headers that a cast from or to a text needs."""
    if is_binary(cast.operand.dtype) or is_binary(cast.dtype):
        return ("binary.cuh",)
    if is_floating(cast.dtype):
        return ("float_reading.cuh",)
    return ("float_text.cuh",) if is_floating(cast.operand.dtype) else ("number_text.cuh",)


# Casts of times in CUDA: among each other, and from and to integers and strings.


def time_cast(cast: Cast) -> Device | None:
    """Return how a cast from or to a time is written; None where the value stays as it is."""
    source, target = cast.operand.dtype, cast.dtype
    if target == TIMESTAMP_NS:
        return with_outcome(cast, "nanoseconds_cast({})")
    if source == TIMESTAMP_NS:
        if target == STRING:
            return Device("write_nanoseconds", result_form="text")
        return with_outcome(cast, "date_of_nanoseconds({})" if target == DATE else "microseconds_cast({})")
    if DURATION in (source, target) and STRING in (source, target):
        return (
            with_outcome(cast, "read_duration({})")
            if source == STRING
            else Device("write_duration", result_form="text")
        )
    if target == TIME:
        return with_outcome(cast, "time_cast({})")
    if target == STRING:
        return to_text(cast)
    if c_type(source) == c_type(target):
        return None
    if target == DATE:
        return with_outcome(cast, "date_cast({})")
    zoned = f", {str(bool(zone_of(target))).lower()}" if source == STRING else ""
    return with_outcome(cast, f"timestamp_cast({{}}{zoned})")


def to_text(cast: Cast) -> Device:
    """Return what writes a time in its ISO form."""
    source = cast.operand.dtype
    if cast.lenient:
        return Device(
            lambda _, args: f"{format_statement(iso_form(source), source, args[0])}.lenient()", result_form="maybe_text"
        )
    return Device(
        lambda _, args: f"{format_statement(iso_form(source), source, args[0])}.strict(at)",
        result_form="text",
        fails=True,
    )


def iso_form(dtype: DataType) -> str:
    """Return the format in which times of a type are cast to text."""
    if dtype == DATE:
        return "%Y-%m-%d"
    if dtype == TIME:
        return "%H:%M:%S.%f"
    return "%Y-%m-%d %H:%M:%S.%f" + {None: "", "UTC": "Z"}.get(zone_of(dtype), "%z")


def time_cast_headers(cast: Cast) -> tuple[str, ...]:
    """Return the headers that a cast from or to a time needs."""
    if {cast.operand.dtype, cast.dtype} == {DURATION, STRING}:
        return ("duration_text.cuh",)
    return ("formats.cuh",) if cast.dtype == STRING else ("time_casts.cuh",)


def cast_device(cast: Cast) -> Device | None:
    """Return how a cast is written; None where the value stays as it is."""
    types = {cast.operand.dtype, cast.dtype}
    if len(types) == 1:
        return None
    if any(map(pa.types.is_temporal, types)):
        return time_cast(cast)
    if all(map(is_binary, types)):
        return bytes_cast(cast)
    return text_cast(cast) if STRING in types else number_cast(cast)


def cast_headers(cast: Cast) -> tuple[str, ...]:
    """Return the headers that a cast needs."""
    types = {cast.operand.dtype, cast.dtype}
    if len(types) == 1 or NULL in types:
        return ()
    if any(map(pa.types.is_temporal, types)):
        return time_cast_headers(cast)
    if STRING in types or BINARY in types:
        return text_cast_headers(cast)
    shortest = is_floating(cast.operand.dtype) and is_decimal(cast.dtype)
    return ("decimal_of_float.cuh",) if shortest else ("casts.cuh",)


def number_cast(cast: Cast) -> Device:
    """Return how a cast among booleans, integers, floats and decimals is written."""
    source, target = cast.operand.dtype, cast.dtype
    if (plain := always_held(cast)) is not None:
        return Device(lambda _, args: plain.format(*args))
    if is_decimal(source) or is_decimal(target):
        return with_outcome(cast, decimal_conversion(source, target))
    return with_outcome(cast, conversion(source, target))


def always_held(cast: Cast) -> str | None:
    """Return the text of a conversion that has a result for every value, None of one that has not."""
    source, target = cast.operand.dtype, cast.dtype
    if is_decimal(source) and is_floating(target):
        return f"float_of_decimal<{c_type(target)}, {source.scale}>({{}})"
    if (source == BOOL and not is_decimal(target)) or (cast.implicit and is_floating(target)):
        return f"{c_type(target)}({{}})"
    if not cast.implicit or source == UINT64:
        return None
    gained = target.scale - scale_of(source) if is_decimal(target) else 0
    return f"{c_type(target)}({{}})" + (f" * int128_t(ten_to_the({gained}))" if gained else "")


def conversion(source: DataType, target: DataType) -> str:
    """Return the text of what converts booleans, integers and floats."""
    if target == BOOL:
        return "truth_cast({})"
    if is_floating(target):
        return f"{'narrow_cast' if is_floating(source) else 'float_cast'}<{c_type(target)}>({{}})"
    return f"{'whole_cast' if is_floating(source) else 'integer_cast'}<{c_type(target)}>({{}})"


def decimal_conversion(source: DataType, target: DataType) -> str:
    """Return the text of what converts from or to a decimal, not to a float."""
    if target == BOOL:
        return f"truth_of_decimal<{source.scale}>({{}})"
    if not is_decimal(target):
        return f"integer_of_decimal<{c_type(target)}, {source.scale}>({{}})"
    if is_floating(source):
        return f"decimal_of_float<{target.precision}, {target.scale}>({{}})"
    return f"decimal_cast<{target.precision}, {target.scale - scale_of(source)}>({{}})"


def scale_of(dtype: DataType) -> int:
    """Return how many digits an exact number has after the point."""
    return int(dtype.scale) if is_decimal(dtype) else 0
