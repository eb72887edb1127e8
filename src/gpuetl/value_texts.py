"""Values as text, for reports and messages, also dates and timestamps outside of Python's years 1 to 9999."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa

MICROS_OF_A_DAY = 86_400_000_000


def shown(value: pa.Scalar) -> str:
    """Return a value's text; null is "None", as in Python."""
    try:
        return str(value.as_py())
    except (OverflowError, ValueError):
        return far_shown(value)


def far_shown(value: pa.Scalar) -> str:
    """Return the text of a date or timestamp in a year that Python does not have, or of a list with one."""
    if isinstance(value, pa.MapScalar):
        return "{" + ", ".join(f"{shown(key)}: {shown(item)}" for key, item in _entries(value)) + "}"
    if isinstance(value, pa.StructScalar):
        return "{" + ", ".join(f"{name}: {shown(item)}" for name, item in value.items()) + "}"
    if isinstance(value, pa.ListScalar | pa.LargeListScalar):
        return f"[{', '.join(shown(item) if item.is_valid else 'null' for item in value.values)}]"
    days, micros = (value.value, 0) if pa.types.is_date(value.type) else divmod(value.value, MICROS_OF_A_DAY)
    clock = f" {timedelta(microseconds=micros)}" if micros else ""
    year, month, day = str(np.datetime64(days, "D")).rsplit("-", 2)
    sign = "-" * year.startswith("-")
    return f"{sign}{year.lstrip('-'):0>4}-{month}-{day}{clock}"


def _entries(value: pa.MapScalar) -> list[tuple[Any, Any]]:
    """Return the keys and values of a map as scalars."""
    return [(entry["key"], entry["value"]) for entry in value.values] if value.is_valid else []


def values_of(column: pa.Array | pa.ChunkedArray) -> Sequence[Any]:
    """Return the values of a column as Python's; where one is in a year that Python does not have, all as text.

    Null is None.
    """
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError):
        return [shown(value) if value.is_valid else None for value in column]
