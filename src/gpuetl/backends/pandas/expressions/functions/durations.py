"""Operators on durations: those of their microseconds, to which the result is cast back where it is a duration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow.compute as pc

from gpuetl.expressions.types import DURATION, FLOAT64, INT64, DataType

OPERATORS = {"multiply": INT64, "divide": FLOAT64, "int_divide": INT64, "modulo": INT64, "negate": INT64, "abs": INT64}
"""The type in which each computes; Arrow's `divide` is the integers' where both are."""


def in_microseconds(handler: Callable[..., Any], dtype: DataType) -> Callable[..., Any]:
    """Return the handler, which takes durations as numbers of `dtype`."""

    def converted(value: Any) -> Any:
        return pc.cast(pc.cast(value, INT64), dtype, safe=False) if value.type == DURATION else value

    return lambda *values: handler(*map(converted, values))
