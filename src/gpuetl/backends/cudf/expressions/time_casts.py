"""Casts among times, and between times and integers, in CUDA."""

from __future__ import annotations

from gpuetl.backends.cudf.expressions.functions.device import Device
from gpuetl.expressions.ir import Cast


def time_cast(cast: Cast) -> Device | None:
    """Return how a cast from or to a time, not of a text, is written; None where the value stays as it is."""
    raise NotImplementedError(f"cast {cast}")


def time_cast_headers(cast: Cast) -> tuple[str, ...]:
    """Return the headers that a cast from or to a time needs."""
    raise NotImplementedError(f"cast {cast}")
