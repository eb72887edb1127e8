"""Structs and maps: fields, values of keys, and structs made of columns, on Arrow values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.pandas.columns.column import ListParts, Masked, list_parts, over_columns, repeated, take_or_null
from gpuetl.types.nested_types import field_names


def field_of(struct: Any, name: Any) -> Any:
    """The field, null where the struct is."""
    place = field_names(struct.type).index(name.as_py())
    return over_columns(lambda column: pc.struct_field(column, [place]), struct)


def packed(dtype: pa.DataType, *values: Any) -> Any:
    """Return structs of these values."""
    fields = list(dtype)

    def struct(*columns: Any) -> Any:
        rows = max((len(column) for column in columns if len(column) != 1), default=len(columns[0]))
        if any(not len(column) for column in columns):
            rows = 0
        whole = [column if len(column) == rows else repeated(column[0], rows) for column in columns]
        return pa.StructArray.from_arrays(whole, fields=fields)

    return over_columns(struct, *values)


def map_parts(maps: Any) -> tuple[ListParts, Any]:
    """Return the keys of an array of maps, taken apart, and the values beside them."""
    entry = pa.struct([("key", maps.type.key_type), ("value", maps.type.item_type)])
    parts = list_parts(maps.cast(pa.list_(entry)))
    keys, values = parts.values.field(0), parts.values.field(1)
    return ListParts(parts.starts, parts.lengths, keys), values


def value_of(maps: Any, key: Any) -> Any:
    """The value of the key, of equal ones the first."""
    return over_columns(_found, maps, key)


def _found(maps: Any, key: Any) -> Any:
    count = len(key) if len(maps) == 1 else len(maps)
    maps, key = (repeated(column[0], count) if len(column) == 1 else column for column in (maps, key))
    parts, values = map_parts(maps)
    rows = np.repeat(np.arange(count), parts.lengths)
    equal = pc.fill_null(pc.equal(parts.values, key.take(pa.array(rows))), False).to_numpy(zero_copy_only=False)
    places = np.flatnonzero(equal)
    there, first = np.unique(rows[places], return_index=True)
    found, chosen = np.zeros(count, np.bool_), np.zeros(count, np.int64)
    found[there], chosen[there] = True, places[first]
    return take_or_null(values, Masked(chosen, found))


def keys_of(maps: Any) -> Any:
    """The keys, as lists."""
    return over_columns(lambda column: _as_lists(column, 0), maps)


def values_of(maps: Any) -> Any:
    """The values, as lists."""
    return over_columns(lambda column: _as_lists(column, 1), maps)


def _as_lists(maps: Any, place: int) -> Any:
    children: Sequence[Any] = (maps.keys, maps.items)
    buffers, child = maps.buffers()[:2], children[place]
    return pa.Array.from_buffers(
        pa.list_(child.type), len(maps), buffers, maps.null_count, maps.offset, children=[child]
    )


HANDLERS: dict[str, Callable[..., Any]] = {
    "struct_extract": field_of,
    "struct_pack": packed,
    "map_get": value_of,
    "map_keys": keys_of,
    "map_values": values_of,
}
"""`struct_pack` takes the type of the structs first: it has the names of the fields."""
