"""Casts in CUDA: one function of casts.cuh for each pair of families of types, which gives an `Outcome`."""

from __future__ import annotations

import pyarrow as pa

from gpuetl.engines.cudf.device.types import c_type
from gpuetl.engines.cudf.expressions.functions.device import Device, with_outcome
from gpuetl.engines.cudf.expressions.text_casts import text_cast, text_cast_headers
from gpuetl.engines.cudf.expressions.time_casts import time_cast, time_cast_headers
from gpuetl.expressions.ir import UINT64, Cast
from gpuetl.types.data_types import BOOL, NULL, STRING, DataType, is_floating
from gpuetl.types.decimal_types import is_decimal


def cast_device(cast: Cast) -> Device | None:
    """Return how a cast is written; None where the value stays as it is."""
    types = {cast.operand.dtype, cast.dtype}
    if len(types) == 1:
        return None
    if any(map(pa.types.is_temporal, types)):
        return time_cast(cast)
    return text_cast(cast) if STRING in types else number_cast(cast)


def cast_headers(cast: Cast) -> tuple[str, ...]:
    """Return the headers that a cast needs."""
    types = {cast.operand.dtype, cast.dtype}
    if len(types) == 1 or NULL in types:
        return ()
    if any(map(pa.types.is_temporal, types)):
        return time_cast_headers(cast)
    if STRING in types:
        return text_cast_headers(cast)
    shortest = is_floating(cast.operand.dtype) and is_decimal(cast.dtype)
    return ("decimal_of_float.cuh",) if shortest else ("casts.cuh",)


def number_cast(cast: Cast) -> Device:
    """Return how a cast among truth values, integers, floats and decimals is written."""
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
    if source == BOOL or (cast.implicit and is_floating(target)):
        return f"{c_type(target)}({{}})"
    if not cast.implicit or source == UINT64:
        return None
    gained = target.scale - scale_of(source) if is_decimal(target) else 0
    return f"{c_type(target)}({{}})" + (f" * int128_t(ten_to_the({gained}))" if gained else "")


def conversion(source: DataType, target: DataType) -> str:
    """Return the text of what converts truth values, integers and floats."""
    if target == BOOL:
        return "truth_cast({})"
    if is_floating(target):
        return f"{'narrow_cast' if is_floating(source) else 'float_cast'}<{c_type(target)}>({{}})"
    return f"{'whole_cast' if is_floating(source) else 'integer_cast'}<{c_type(target)}>({{}})"


def decimal_conversion(source: DataType, target: DataType) -> str:
    """Return the text of what converts from or to a decimal, not to a float."""
    if not is_decimal(target):
        return f"integer_of_decimal<{c_type(target)}, {source.scale}>({{}})"
    if is_floating(source):
        return f"decimal_of_float<{target.precision}, {target.scale}>({{}})"
    return f"decimal_cast<{target.precision}, {target.scale - scale_of(source)}>({{}})"


def scale_of(dtype: DataType) -> int:
    """Return how many digits an exact number has after the point."""
    return int(dtype.scale) if is_decimal(dtype) else 0
