"""Nested Arrow arrays taken apart into the arrays of their children, and put together again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from gpuetl.types.nested_types import field_names, is_list, is_map, is_struct

ArrowArray = Any
"""A `pyarrow.Array`; pyarrow has no type stubs."""


def child_arrays(array: ArrowArray) -> list[ArrowArray]:
    """Return the fields of a struct, row by row; else elements, or keys and values, to which the offsets point."""
    if is_struct(array.type):
        return [array.field(place) for place in range(array.type.num_fields)]
    return [array.keys, array.items] if is_map(array.type) else [array.values]


def rebuilt(array: ArrowArray, children: Sequence[ArrowArray]) -> ArrowArray:
    """Return a nested array with other children, each as long as the one in its place; nulls and offsets stay.

    Lists have offsets of 32 bits.
    """
    if is_struct(array.type):
        fields = [pa.field(name, child.type) for name, child in zip(field_names(array.type), children, strict=True)]
        mask = array.is_null() if array.null_count else None
        if not fields:
            return array
        return pa.StructArray.from_arrays(list(children), fields=fields, mask=mask)
    if is_map(array.type):
        key, value = pa.field("key", children[0].type, nullable=False), pa.field("value", children[1].type)
        dtype = pa.map_(key.type, value.type)
        inner = pa.StructArray.from_arrays(list(children), fields=[key, value])
    else:
        dtype, inner = pa.list_(children[0].type), children[0]
    return pa.Array.from_buffers(
        dtype, len(array), array.buffers()[:2], array.null_count, array.offset, children=[inner]
    )


def with_leaves(array: ArrowArray, change: Callable[[ArrowArray], ArrowArray]) -> ArrowArray:
    """Return an array with the flat arrays in it changed; a list of another kind becomes one with 32-bit offsets."""
    if is_list(array.type) and not pa.types.is_list(array.type):
        array = array.cast(pa.list_(array.type.value_type))
    if not (is_list(array.type) or is_struct(array.type) or is_map(array.type)):
        return change(array)
    return rebuilt(array, [with_leaves(child, change) for child in child_arrays(array)])


def leaf_arrays(array: ArrowArray) -> list[ArrowArray]:
    """Return the flat arrays in an array, also what stands under nulls."""
    found: list[ArrowArray] = []

    def note(leaf: ArrowArray) -> ArrowArray:
        found.append(leaf)
        return leaf

    with_leaves(array, note)
    return found


def in_type(column: Any, dtype: pa.DataType) -> Any:
    """Return a column of stored values in a type of the language, to which they are converted without loss.

    Raises
    ------
    pyarrow.ArrowInvalid
        For a value that the type does not hold.
    """
    if column.type == dtype:
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([in_type(chunk, dtype) for chunk in column.chunks], dtype)
    if pa.types.is_run_end_encoded(column.type):
        import pyarrow.compute as pc

        return in_type(pc.run_end_decode(column), dtype)
    if isinstance(column.type, pa.BaseExtensionType):
        return in_type(column.storage, dtype)
    if is_struct(dtype) and is_struct(column.type):
        types = [field.type for field in dtype]
        children = [in_type(child, each) for child, each in zip(child_arrays(column), types, strict=True)]
        return rebuilt(column, children)
    if is_map(dtype) and is_map(column.type):
        keys, items = child_arrays(column)
        return rebuilt(column, [in_type(keys, dtype.key_type), in_type(items, dtype.item_type)])
    if pa.types.is_list(column.type) and is_list(dtype):
        return rebuilt(column, [in_type(column.values, dtype.value_type)])
    if is_list(column.type) and is_list(dtype):  # of a fixed size, of 64-bit offsets, or a view
        return in_type(column.cast(pa.list_(column.type.value_type)), dtype)
    return column.cast(dtype)
