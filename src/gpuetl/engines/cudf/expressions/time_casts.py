"""Casts of times in CUDA: among each other, and from and to integers and texts."""

from __future__ import annotations

from gpuetl.engines.cudf.device.types import c_type
from gpuetl.engines.cudf.expressions.clocks import written, zone_of
from gpuetl.engines.cudf.expressions.functions.device import Device, with_outcome
from gpuetl.expressions.ir import Cast
from gpuetl.types.data_types import DATE, STRING, DataType


def time_cast(cast: Cast) -> Device | None:
    """Return how a cast from or to a time is written; None where the value stays as it is."""
    source, target = cast.operand.dtype, cast.dtype
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
        return Device(lambda _, args: f"{written(iso_form(source), source, args[0])}.lenient()", gives="maybe_text")
    return Device(lambda _, args: f"{written(iso_form(source), source, args[0])}.strict(at)", gives="text", fails=True)


def iso_form(dtype: DataType) -> str:
    """Return the format in which times of a type are cast to text."""
    if dtype == DATE:
        return "%Y-%m-%d"
    return "%Y-%m-%d %H:%M:%S.%f" + {None: "", "UTC": "Z"}.get(zone_of(dtype), "%z")


def time_cast_headers(cast: Cast) -> tuple[str, ...]:
    """Return the headers that a cast from or to a time needs."""
    return ("formats.cuh",) if cast.dtype == STRING else ("time_casts.cuh",)
