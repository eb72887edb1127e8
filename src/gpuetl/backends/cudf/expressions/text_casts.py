"""Casts from and to texts in CUDA."""

from __future__ import annotations

from gpuetl.backends.cudf.expressions.functions.device import Device
from gpuetl.expressions.ir import Cast


def text_cast(cast: Cast) -> Device:
    """Return how a cast from or to a text is written; one to a text writes it."""
    raise NotImplementedError(f"cast {cast}")


def text_cast_headers(cast: Cast) -> tuple[str, ...]:
    """Return the headers that a cast from or to a text needs."""
    raise NotImplementedError(f"cast {cast}")
