"""Casts in CUDA: one function of casts.cuh for each pair of families of types, which gives an `Outcome`."""

from __future__ import annotations

from gpuetl.backends.cudf.expressions.device_types import c_type
from gpuetl.backends.cudf.expressions.functions.device import Device
from gpuetl.expressions.ir import Cast, can_fail
from gpuetl.expressions.types import is_floating, is_integer


def cast_device(cast: Cast) -> Device | None:
    """Return how a cast is written; None where the value stays as it is."""
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


def with_outcome(cast: Cast, text: str) -> Device:
    """Return the device function of a conversion that gives an `Outcome`; `{}` stands for its operand."""
    if cast.lenient:
        return Device(lambda _, args: f"lenient({text.format(*args)})", gives="maybe")
    return Device(lambda _, args: f"strict(at, {text.format(*args)})", fails=True)


def cast_headers(cast: Cast) -> tuple[str, ...]:
    """Return the headers that a cast needs."""
    return ("casts.cuh",)
