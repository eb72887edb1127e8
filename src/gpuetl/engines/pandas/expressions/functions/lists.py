"""List functions on Arrow values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.pandas.columns.column import (
    Masked,
    from_masked,
    list_parts,
    over_columns,
    repeated,
    take_or_null,
    to_masked,
)
from gpuetl.engines.pandas.expressions.functions import text_rows
from gpuetl.types.data_types import INT64, STRING
from gpuetl.types.nested_types import is_map


def contains_value(lists: Any, value: Any) -> Any:
    """Whether an element equals the row's value; null where the list or the value is null."""
    return over_columns(_contained, lists, value)


def _contained(lists: Any, value: Any) -> Any:
    count = len(value) if len(lists) == 1 else len(lists)
    lists, value = (repeated(column[0], count) if len(column) == 1 else column for column in (lists, value))
    parts = list_parts(lists)
    rows = np.repeat(np.arange(count), parts.lengths)
    equal = pc.fill_null(pc.equal(parts.values, value.take(pa.array(rows))), False)
    found = np.bincount(rows[equal.to_numpy(zero_copy_only=False)], minlength=count) > 0
    known = pc.and_(lists.is_valid(), value.is_valid())
    return pc.if_else(known, pa.array(found), pa.scalar(None, pa.bool_()))


def element_at(lists: Any, index: Any) -> Any:
    """The element at the row's index, from the end where it is negative."""
    return over_columns(_element, lists, index)


def element_from_one(lists: Any, index: Any) -> Any:
    """The element at the row's index, where the first has 1, from the end where it is negative."""
    return over_columns(_element_from_one, lists, index)


def _element_from_one(lists: Any, index: Any) -> Any:
    asked = to_masked(index)
    beyond = np.iinfo(np.int64).max  # for 0, which is no element's
    places = np.where(asked.values > 0, asked.values - 1, np.where(asked.values < 0, asked.values, beyond))
    return _element(lists, from_masked(Masked(places, asked.valid), INT64))


def length_of(lists: Any) -> Any:
    """The number of elements, or of the entries of a map."""
    return pc.list_value_length(lists) if not is_map(lists.type) else over_columns(_map_lengths, lists)


def _map_lengths(maps: Any) -> Any:
    entry = pa.struct([("key", maps.type.key_type), ("value", maps.type.item_type)])
    return pc.list_value_length(maps.cast(pa.list_(entry)))


def _element(lists: Any, index: Any) -> Any:
    parts, asked = list_parts(lists), to_masked(index)
    position = np.where(asked.values < 0, asked.values + parts.lengths, asked.values)
    inside = asked.valid & (position >= 0) & (position < parts.lengths)
    return take_or_null(parts.values, Masked(np.where(inside, parts.starts + position, 0), inside))


def split_text(text: Any, separator: Any) -> Any:
    """Cut at every separator; an empty one parts all characters."""
    if isinstance(separator, pa.Scalar) and separator.as_py():
        return pc.split_pattern(text, pattern=separator.as_py())
    return text_rows.by_row(text_rows.split, pa.list_(STRING))(text, separator)


HANDLERS: dict[str, Callable[..., Any]] = {
    "list_length": length_of,
    "list_extract": element_from_one,
    "list_contains": contains_value,
    "list_get": element_at,
    "split": split_text,
}
