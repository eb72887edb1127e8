"""Operators on durations and timestamps: those of their microseconds; the result is cast back where it is one of them.

Arrow's own checked ones look at what lies behind nulls, too; those of integers do not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.types.data_types import DURATION, FLOAT64, INT64, DataType

OPERATORS = {
    "add": INT64, "subtract": INT64, "multiply": INT64, "divide": FLOAT64, "int_divide": INT64, "modulo": INT64,
    "negate": INT64, "abs": INT64,
}  # fmt: skip
"""The type in which each computes; Arrow's `divide` is the integers' where both are."""


def in_microseconds(handler: Callable[..., Any], dtype: DataType) -> Callable[..., Any]:
    """Return the handler, which takes durations and timestamps as numbers of `dtype`."""

    def converted(value: Any) -> Any:
        counts = value.type == DURATION or pa.types.is_timestamp(value.type)
        return pc.cast(pc.cast(value, INT64), dtype, safe=False) if counts else value

    return lambda *values: handler(*map(converted, values))
