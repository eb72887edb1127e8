"""List functions on Arrow values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.backends.pandas.columns.column import list_parts, repeated, whole
from gpuetl.backends.pandas.columns.gather import take_or_null
from gpuetl.backends.pandas.columns.masked import Masked, to_masked


def over_columns(handler: Callable[..., Any]) -> Callable[..., Any]:
    """Return a handler for which scalars become columns."""

    def handle(*values: Any) -> Any:
        rows = next((len(value) for value in values if not isinstance(value, pa.Scalar)), 1)
        result = handler(*(repeated(v, rows) if isinstance(v, pa.Scalar) else whole(v) for v in values))
        return result[0] if all(isinstance(value, pa.Scalar) for value in values) else result

    return handle


def contains_value(lists: Any, value: Any) -> Any:
    """Whether an element equals the row's value; null where the list or the value is null."""
    parts = list_parts(lists)
    rows = np.repeat(np.arange(len(lists)), parts.lengths)
    equal = pc.fill_null(pc.equal(parts.values, value.take(pa.array(rows))), False)
    found = np.bincount(rows[equal.to_numpy(zero_copy_only=False)], minlength=len(lists)) > 0
    known = pc.and_(lists.is_valid(), value.is_valid())
    return pc.if_else(known, pa.array(found), pa.scalar(None, pa.bool_()))


def element_at(lists: Any, index: Any) -> Any:
    """The element at the row's index, from the end where it is negative."""
    parts, asked = list_parts(lists), to_masked(index)
    position = np.where(asked.values < 0, asked.values + parts.lengths, asked.values)
    inside = asked.valid & (position >= 0) & (position < parts.lengths)
    return take_or_null(parts.values, Masked(np.where(inside, parts.starts + position, 0), inside))


def split_text(text: Any, separator: Any) -> Any:
    """Cut at every separator."""
    return pc.split_pattern(text, pattern=separator.as_py())


HANDLERS: dict[str, Callable[..., Any]] = {
    "list_length": pc.list_value_length,
    "list_contains": over_columns(contains_value),
    "list_get": over_columns(element_at),
    "split": split_text,
}
