"""Maps: a column of type `map<K, V>` holds keys with values, in the order in which they were written.

`MAP {'a': 1}` makes a map, and `m['key']` is a value.  Maps are read, passed on, united, compared and written.
`list_length` counts the entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa

from gpuetl.expressions.functions.function import Function, TypeMismatch, Typing, scalar_call
from gpuetl.expressions.functions.meeting import meet
from gpuetl.expressions.ir import Call, Column, Expr, Lambda, Literal, Variable
from gpuetl.types.data_types import BOOL, NULL, STRING, DataType, can_be_key, type_name
from gpuetl.types.nested_types import is_list, is_map, is_struct, struct_of

MapFunction = partial(Function, nested=True)


def map_of(arg: Expr) -> DataType:
    """Return the type of a map."""
    if not is_map(arg.dtype):
        raise TypeMismatch(f"takes a map, got {type_name(arg.dtype)}")
    return arg.dtype


def keys(args: Sequence[Expr]) -> Typing:
    """A map, whose keys are a list."""
    if args[0].dtype == NULL:
        return [NULL], NULL
    return [map_of(args[0])], pa.list_(args[0].dtype.key_type)


def values(args: Sequence[Expr]) -> Typing:
    """A map, whose values are a list."""
    if args[0].dtype == NULL:
        return [NULL], NULL
    return [map_of(args[0])], pa.list_(args[0].dtype.item_type)


def looked_up(args: Sequence[Expr]) -> Typing:
    """A map, and a value that widens to the type of its keys."""
    if args[0].dtype == NULL:
        return [arg.dtype for arg in args], NULL
    key = map_of(args[0]).key_type
    if meet([Column("", key), args[1]], "compare") != key:
        raise TypeMismatch(f"cannot look for {type_name(args[1].dtype)} in {type_name(args[0].dtype)}")
    return [args[0].dtype, key], args[0].dtype.item_type


def made(args: Sequence[Expr]) -> Typing:
    """A list of keys, and one of as many values."""
    for arg in args:
        if arg.dtype != NULL and not is_list(arg.dtype):
            raise TypeMismatch(f"takes a list of keys and a list of values, got {type_name(arg.dtype)}")
    if any(arg.dtype == NULL for arg in args):
        return [arg.dtype for arg in args], NULL
    key, value = (arg.dtype.value_type for arg in args)
    return [arg.dtype for arg in args], pa.map_(compared_key(key), value)


def compared_key(key: DataType) -> DataType:
    """Return the type of keys, which are compared."""
    if key == NULL:
        raise TypeMismatch(
            "takes keys of a type, got null", "Write CAST(MAP {} AS map<string, int64>) for an empty map."
        )
    if not can_be_key(key):
        raise TypeMismatch(f"compares keys, and values of {type_name(key)} are not compared")
    return key


def made_of_entries(args: Sequence[Expr]) -> Typing:
    """A list of structs of a key and a value."""
    dtype = args[0].dtype
    if not is_list(dtype) or not is_struct(dtype.value_type) or dtype.value_type.num_fields != 2:
        raise TypeMismatch(f"takes a list of structs of a key and a value, got {type_name(dtype)}")
    key, value = dtype.value_type
    return [dtype], pa.map_(compared_key(key.type), value.type)


def parts_of_entries(call: Call) -> Expr:
    """Return `map_from_entries` as a map of two lists."""
    (entries,) = call.args
    entry = Variable(":entry", entries.dtype.value_type)
    parts = []
    for field in entry.dtype:
        part = scalar_call("struct_extract", (entry, Literal(field.name, STRING)), field.type)
        parts.append(scalar_call("list_transform", (entries, Lambda((entry,), part)), pa.list_(field.type)))
    return scalar_call("map", tuple(parts), call.dtype)


def entries(args: Sequence[Expr]) -> Typing:
    """A map, whose entries are structs."""
    if args[0].dtype == NULL:
        return [NULL], NULL
    dtype = map_of(args[0])
    return [dtype], pa.list_(struct_of({"key": dtype.key_type, "value": dtype.item_type}))


def looked_up_as_list(args: Sequence[Expr]) -> Typing:
    """A map and a key: a list of the value, if there is one."""
    types, dtype = looked_up([Column("", map_of(args[0])), args[1]])
    return types, pa.list_(dtype)


def value_as_list(call: Call) -> Expr:
    """Return `map_extract` as a list of the value, or an empty one."""
    m, key = call.args
    value = scalar_call("list_value", (scalar_call("map_get", (m, key), call.dtype.value_type),), call.dtype)
    conditions = (
        scalar_call("is_null", (m,), BOOL), Literal(None, call.dtype),
        scalar_call("map_contains", (m, key), BOOL), value, scalar_call("list_value", (), call.dtype),
    )  # fmt: skip
    return scalar_call("case", conditions, call.dtype)


def has_key(args: Sequence[Expr]) -> Typing:
    """A map, and a value that widens to the type of its keys."""
    return looked_up([Column("", map_of(args[0])), args[1]])[0], BOOL


def has_value(args: Sequence[Expr]) -> Typing:
    """A map, and a value that widens to the type of its values."""
    value = map_of(args[0]).item_type
    if not can_be_key(value) or meet([Column("", value), args[1]], "compare") != value:
        raise TypeMismatch(f"cannot look for {type_name(args[1].dtype)} in the values of {type_name(args[0].dtype)}")
    return [args[0].dtype, value], BOOL


def among_keys(call: Call) -> Expr:
    """Return `map_contains` as `list_contains` of the keys."""
    m, key = call.args
    return scalar_call("list_contains", (scalar_call("map_keys", (m,), pa.list_(m.dtype.key_type)), key), BOOL)


def among_values(call: Call) -> Expr:
    """Return `map_contains_value` as `list_contains` of the values."""
    m, value = call.args
    return scalar_call("list_contains", (scalar_call("map_values", (m,), pa.list_(m.dtype.item_type)), value), BOOL)


def has_pair(args: Sequence[Expr]) -> Typing:
    """A map, and values that widen to the types of its keys and of its values."""
    return [*has_key(args[:2])[0], has_value([args[0], args[2]])[0][1]], BOOL


def among_entries(call: Call) -> Expr:
    """Return `map_contains_entry`: the key is there, and its value is the one given, or null as it is."""
    m, key, value = call.args
    found = scalar_call("map_get", (m, key), m.dtype.item_type)
    same = scalar_call("is_not_distinct", (found, value), BOOL)
    return scalar_call("and", (scalar_call("map_contains", (m, key), BOOL), same), BOOL)


def united(args: Sequence[Expr]) -> Typing:
    """Maps of one type; a null may be any."""
    types = list(dict.fromkeys(map_of(arg) for arg in args if arg.dtype != NULL))
    if len(types) > 1:
        raise TypeMismatch(f"takes maps of one type, got {type_name(types[0])} and {type_name(types[1])}")
    dtype = types[0] if types else NULL
    if types:
        compared_key(dtype.key_type)
    return [dtype] * len(args), dtype


def by_pairs(call: Call) -> Call:
    """Return `map_concat` of many maps as that of two, and so on."""
    first, *rest = call.args
    for other in rest:
        first = replace(call, args=(first, other))
    return first if isinstance(first, Call) and rest else replace(call, args=(call.args[0], Literal(None, call.dtype)))


FUNCTIONS = (
    MapFunction("map", "keys values", made, "`MAP {'a': 1, k: v}`, or a list of keys and one of as many values.  A null key, and "
                "one that stands twice, is an error.", "map_values(map(['a', 'b'], [1, 2]))", [1, 2], can_fail=True),
    MapFunction("map_from_entries", "x", made_of_entries, "The map of a list of structs, of a key and a value each.",
                "map_keys(map_from_entries([struct_pack(k := 'a', v := 1)]))", ["a"], can_fail=True, expansion=parts_of_entries),
    MapFunction("map_entries", "x", entries, "The entries, as a list of structs of `key` and `value`.",
                "map_entries(m)", [{"key": "a", "value": 1}, {"key": "b", "value": 2}]),
    MapFunction("map_get", "x key", looked_up, "`x[key]`: the value of the key, of equal keys the first; null where there "
                "is none.", "map_get(m, 'b')", 2),
    MapFunction("map_extract", "x key", looked_up_as_list, "A list of the key's value, empty where there is none; `x[key]` is the value.",
                "map_extract(m, 'b')", [2], nulls="own", expansion=value_as_list),
    MapFunction("map_contains", "x key", has_key, "Whether the map has the key.", "map_contains(m, 'b')", True,
                expansion=among_keys),
    MapFunction("map_contains_value", "x value", has_value, "Whether a key has this value.", "map_contains_value(m, 2)", True,
                expansion=among_values),
    MapFunction("map_contains_entry", "x key value", has_pair, "Whether the map has the key with this value; a null value is one.",
                "map_contains_entry(m, 'b', 2)", True, nulls="own", expansion=among_entries),
    MapFunction("map_concat", "x y*", united, "The entries of all maps; of a key in several the last value, in the place of the first.  A "
                "null map has none; null where all are.", "map_values(map_concat(m, MAP {'c': 3, 'a': 4}))", [4, 2, 3], nulls="own",
                rewrite=by_pairs),
    MapFunction("map_keys", "x", keys, "The keys, as a list.", "map_keys(m)", ["a", "b"]),
    MapFunction("map_values", "x", values, "The values, as a list.", "map_values(m)", [1, 2]),
)  # fmt: skip
"""The examples are over m, a map<string, int64> of 1 for 'a' and 2 for 'b'."""
