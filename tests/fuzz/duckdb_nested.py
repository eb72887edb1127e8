"""Functions of structs and maps in DuckDB's SQL."""

from fuzz.duckdb_text import Text, constant_of, quoted
from fuzz.duckdb_types import sql_type
from gpuetl.expressions.ir import Call
from gpuetl.types.common_types import common_nested
from gpuetl.types.nested_types import is_map


def packed(call: Call, *args: str) -> str:
    """A struct, by the names of its fields."""
    fields = (f"{quoted(field.name)} := {arg}" for field, arg in zip(call.dtype, args, strict=True))
    return f"struct_pack({', '.join(fields)})"


def changed(call: Call, struct: str, *pairs: str) -> str:
    """A struct with more fields, or with others."""
    names = (str(constant_of(call, place)) for place in range(1, len(call.args), 2))
    fields = (f"{quoted(name)} := {value}" for name, value in zip(names, pairs[1::2], strict=True))
    return f"{call.function.name}({', '.join([struct, *fields])})"


def searched(call: Call, struct: str, value: str) -> str:
    """A struct without names, of the fields whose types meet the value's; others are NULL."""
    name, dtype = call.function.name, call.args[1].dtype
    is_position, same, branches = name == "struct_position", "", []
    for place, field in enumerate(call.args[0].dtype, 1):
        if common_nested(field.type, dtype) is None:
            continue
        same = f"{struct}.{quoted(field.name)} IS NOT DISTINCT FROM {value}"
        branches.append(f"WHEN {same} THEN {place if is_position else 'true'}")
    missing = f"{struct} IS NULL" if is_position else f"{struct} IS NULL OR {value} IS NULL"
    return f"(CASE WHEN {missing} THEN NULL {' '.join(branches)} ELSE {'NULL' if is_position else 'false'} END)"


def made_map(call: Call, keys: str, values: str) -> str:
    """A map of lists, null where one of them is."""
    lists = (f"CAST({x} AS {sql_type(arg.dtype)})" for x, arg in zip((keys, values), call.args, strict=True))
    return f"(CASE WHEN {keys} IS NOT NULL AND {values} IS NOT NULL THEN map({', '.join(lists)}) END)"


NESTED: dict[str, Text] = {
    "list_length": lambda call, x: f"CAST({'cardinality' if is_map(call.args[0].dtype) else 'len'}({x}) AS BIGINT)",
    "struct_extract": "struct_extract({0}, {1})",
    "struct_pack": packed,
    "row": lambda call, *args: f"CAST(row({', '.join(args)}) AS {sql_type(call.dtype)})",
    "struct_values": lambda call, x: f"CAST(struct_values({x}) AS {sql_type(call.dtype)})",
    "struct_extract_at": "struct_extract_at({0}, {1})",
    "struct_position": searched,
    "struct_contains": searched,
    "map_contains_entry": "map_contains_entry({0}, {1}, {2})",
    "struct_insert": changed,
    "struct_update": changed,
    "struct_concat": lambda call, *args: f"struct_concat({', '.join(args)})",
    "struct_keys": "struct_keys({0})",
    "map": made_map,
    "map_from_entries": "map_from_entries({0})",
    "map_entries": "(CASE WHEN {0} IS NOT NULL THEN map_entries({0}) END)",
    "map_extract": "map_extract({0}, {1})",
    "map_contains": "map_contains({0}, {1})",
    "map_contains_value": "map_contains_value({0}, {1})",
    "map_concat": lambda call, *args: f"map_concat({', '.join(args)})",
    "map_get": "(CASE WHEN {1} IS NOT NULL THEN map_extract({0}, {1})[1] END)",
    "map_keys": "(CASE WHEN {0} IS NOT NULL THEN map_keys({0}) END)",
    "map_values": "(CASE WHEN {0} IS NOT NULL THEN map_values({0}) END)",
}
