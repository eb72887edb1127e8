"""Maps: a column of type `map<K, V>` holds keys with values, in the order in which they were written.

Maps are read, passed on, united and written, not compared.  `m['key']` is a value.  `list_length` counts the entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pyarrow as pa

from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing
from gpuetl.expressions.functions.meeting import meet
from gpuetl.expressions.ir import Column, Expr
from gpuetl.types.data_types import NULL, DataType, type_name
from gpuetl.types.nested_types import is_map

MapFunction = partial(Function, nested=True)


def map_of(arg: Expr) -> DataType:
    """Return the type of a map."""
    if not is_map(arg.dtype):
        raise TypeMismatch(f"takes a map, got {type_name(arg.dtype)}")
    return arg.dtype


def keys(args: Sequence[Expr]) -> Typing:
    """A map, whose keys are a list."""
    return [map_of(args[0])], pa.list_(args[0].dtype.key_type)


def values(args: Sequence[Expr]) -> Typing:
    """A map, whose values are a list."""
    return [map_of(args[0])], pa.list_(args[0].dtype.item_type)


def looked_up(args: Sequence[Expr]) -> Typing:
    """A map, and a value that widens to the type of its keys."""
    if args[0].dtype == NULL:
        return [arg.dtype for arg in args], NULL
    key = map_of(args[0]).key_type
    if meet([Column("", key), args[1]], "compare") != key:
        raise TypeMismatch(f"cannot look for {type_name(args[1].dtype)} in {type_name(args[0].dtype)}")
    return [args[0].dtype, key], args[0].dtype.item_type


FUNCTIONS = (
    MapFunction("map_get", "x key", looked_up, "`x[key]`: the value of the key, of equal keys the first; null where there "
                "is none.", "map_get(m, 'b')", 2),
    MapFunction("map_keys", "x", keys, "The keys, as a list.", "map_keys(m)", ["a", "b"]),
    MapFunction("map_values", "x", values, "The values, as a list.", "map_values(m)", [1, 2]),
)  # fmt: skip
"""The examples are over m, a map<string, int64> of 1 for 'a' and 2 for 'b'."""
