"""Casts in CUDA: one function of casts.cuh for each pair of families of types, which gives an `Outcome`."""

from __future__ import annotations

import pyarrow as pa

from gpuetl.backends.cudf.expressions.device_types import c_type
from gpuetl.backends.cudf.expressions.functions.device import Device, with_outcome
from gpuetl.backends.cudf.expressions.text_casts import text_cast, text_cast_headers
from gpuetl.backends.cudf.expressions.time_casts import time_cast, time_cast_headers
from gpuetl.expressions.ir import Cast, can_fail
from gpuetl.expressions.types import NULL, STRING, is_floating, is_integer


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
    return text_cast_headers(cast) if STRING in types else ("casts.cuh",)


def number_cast(cast: Cast) -> Device | None:
    """Return how a cast among truth values, integers, floats and decimals is written."""
    source, target = cast.operand.dtype, cast.dtype
    if c_type(source) == c_type(target):
        return None
    if cast.implicit and is_integer(source) and is_integer(target) and not can_fail(cast):
        return Device(lambda _, args: f"{c_type(target)}({args[0]})")
    if is_integer(source) and is_integer(target):
        return with_outcome(cast, f"integer_cast<{c_type(target)}>({{}})")
    if cast.implicit and is_floating(target):
        return Device(lambda _, args: f"{c_type(target)}({args[0]})")
    raise NotImplementedError(f"cast {cast}")
