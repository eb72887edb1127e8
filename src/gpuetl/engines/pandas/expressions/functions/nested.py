"""Structs and maps: fields, values of keys, and structs made of columns, on Arrow values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.no_result import EQUAL_KEYS, LENGTHS_DIFFER, NULL_KEY
from gpuetl.engines.pandas.columns.column import ListParts, Masked, list_parts, over_columns, repeated, take_or_null
from gpuetl.engines.pandas.columns.keys import encode_keys
from gpuetl.engines.pandas.columns.lists import Elements, Flags, Ints, beside, flags
from gpuetl.errors import EvaluationError
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


def entries_of(maps: Any) -> Any:
    """The entries, as lists of structs."""
    entry = pa.struct([("key", maps.type.key_type), ("value", maps.type.item_type)])
    return over_columns(lambda column: column.cast(pa.list_(entry)), maps)


def made(dtype: pa.DataType, keys: Any, values: Any) -> Any:
    """Return maps of lists of keys and values."""
    return over_columns(lambda *lists: _made(dtype, *beside(*lists)), keys, values)


def _made(dtype: pa.DataType, keys: Any, values: Any) -> Any:
    valid = flags(pc.and_(keys.is_valid(), values.is_valid()))
    keys, values = (
        Elements.of(pc.if_else(pa.array(valid), lists, pa.scalar(None, lists.type))) for lists in (keys, values)
    )
    if (keys.parts.lengths != values.parts.lengths).any():
        raise EvaluationError(LENGTHS_DIFFER)
    if keys.values.null_count:
        raise EvaluationError(NULL_KEY)
    groups = encode_keys([pa.array(keys.rows), keys.values], len(keys.rows)) if len(keys.rows) else None
    if groups is not None and len(groups.first_rows) < len(keys.rows):
        raise EvaluationError(EQUAL_KEYS)
    return maps_of(dtype, keys.values, values.values, keys.parts.lengths, valid)


def maps_of(dtype: pa.DataType, keys: Any, values: Any, lengths: Ints, valid: Flags) -> Any:
    """Return maps of so many keys and values each, one after the other; null where not valid."""
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    mask = None if valid.all() else pa.array(~valid)
    return pa.MapArray.from_arrays(pa.array(offsets), keys, values, dtype, mask=mask)


def united(dtype: pa.DataType, *maps: Any) -> Any:
    """Return the entries of two maps: of a key in both, the second one's value in the first one's place."""
    return over_columns(lambda *columns: _united(dtype, *beside(*columns)), *maps)


def _united(dtype: pa.DataType, first: Any, second: Any) -> Any:
    valid = flags(pc.or_(first.is_valid(), second.is_valid()))
    sides = [map_parts(column) for column in (first, second)]
    keys, values = (pa.concat_arrays([side[0].values if at == 0 else side[1] for side in sides]) for at in (0, 1))
    counts = [side[0].lengths for side in sides]
    rows = np.concatenate([np.repeat(np.arange(len(valid)), lengths) for lengths in counts])
    groups = encode_keys([pa.array(rows), keys], len(rows))
    last = np.zeros(len(groups.first_rows), np.int64)
    last[groups.codes] = np.arange(len(rows))  # the last of equal places stays
    order = np.lexsort((groups.first_rows, rows[groups.first_rows]))
    chosen = groups.first_rows[order]
    lengths = np.bincount(rows[chosen], minlength=len(valid))
    return maps_of(dtype, keys.take(pa.array(chosen)), values.take(pa.array(last[order])), lengths, valid)


HANDLERS: dict[str, Callable[..., Any]] = {
    "struct_extract": field_of,
    "struct_pack": packed,
    "map_get": value_of,
    "map": made,
    "map_concat": united,
    "map_entries": entries_of,
    "map_keys": keys_of,
    "map_values": values_of,
}
"""What makes structs and maps takes their type first: see TYPED in `evaluate`."""
