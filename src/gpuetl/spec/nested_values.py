"""Values of parameters that are lists, structs or maps: from a file's nodes, from Python, or from a command line.

    params:
      regions: {type: list<string>, default: [EU, US]}
      limits:  {type: "struct<least: float64, most: float64>", default: {least: 0, most: 1e6}}

A list is a tuple of values; a struct and a map are dicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuetl.errors import Problems, have_hint
from gpuetl.spec.document import Node, plain_node, read_document
from gpuetl.spec.parameters import parse_value, parse_written
from gpuetl.types.data_types import DataType, type_name
from gpuetl.types.nested_types import field_names, is_list, is_map, is_nested


def parse_node(node: Node, dtype: DataType) -> Any:
    """Return a node's value as a Python object of `dtype`; digits of decimals are those that are written.

    Raises
    ------
    ValueError
        For a value that is not of this type, with the element or field that is wrong.
    """
    if node.value is None:
        return None
    if not is_nested(dtype):
        if isinstance(node.value, dict | tuple):
            raise ValueError(f"takes a {type_name(dtype)}, got {node.kind}")
        return parse_written(node.value, node.written, dtype)
    if is_list(dtype):
        if not isinstance(node.value, tuple):
            raise ValueError(f"{shown(node)} is not a valid {type_name(dtype)}")
        parts = (within(f"element {n}", part, dtype.value_type) for n, part in enumerate(node.value, 1))
        return tuple(parts)
    if not isinstance(node.value, dict):
        raise ValueError(f"{shown(node)} is not a valid {type_name(dtype)}")
    if is_map(dtype):
        return {
            parse_value(name, dtype.key_type): within(f"key '{name}'", part, dtype.item_type)
            for name, part in node.items()
        }
    return struct_value(node, dtype)


def struct_value(node: Node, dtype: DataType) -> dict[str, Any]:
    """Return a struct's value: every field has a value, which may be null."""
    names = field_names(dtype)
    for name in node.value:
        if name not in names:
            raise ValueError(f"unknown field '{name}' of {type_name(dtype)}. {have_hint(name, names, noun='Fields')}")
    for name in names:
        if name not in node.value:
            raise ValueError(f"the field '{name}' of {type_name(dtype)} is missing")
    return {name: within(f"field '{name}'", node.value[name], dtype.field(name).type) for name in names}


def within(part: str, node: Node, dtype: DataType) -> Any:
    """Return the value of a part, which errors name."""
    try:
        return parse_node(node, dtype)
    except ValueError as error:
        raise ValueError(f"{part}: {error}") from None


def shown(node: Node) -> str:
    """Return a value as a message shows it."""
    return node.kind if isinstance(node.value, dict | tuple) else f"'{node.written or node.value}'"


def parse_nested(value: object, dtype: DataType) -> Any:
    """Return a value of Python, or the text of a command line, which is YAML: `[EU, US]`, `{least: 0}`."""
    if not isinstance(value, str):
        return parse_python(value, dtype)
    problems = Problems()
    node = read_document(value, "value", problems)
    if node is None or problems.found or not isinstance(node.value, dict | tuple):
        example = "[a, b]" if is_list(dtype) else "{name: value}"
        raise ValueError(f"'{value}' is not a valid {type_name(dtype)}: write it as in YAML, {example}")
    return parse_node(node, dtype)


def parse_python(value: Any, dtype: DataType) -> Any:
    """Return a list, tuple or dict of Python in which values have their types."""
    if value is None:
        return None
    if not is_nested(dtype):
        return parse_value(value, dtype)
    if is_list(dtype) and isinstance(value, list | tuple):
        return tuple(parse_python(part, dtype.value_type) for part in value)
    if is_map(dtype) and isinstance(value, Mapping):
        return {parse_value(name, dtype.key_type): parse_python(part, dtype.item_type) for name, part in value.items()}
    if is_list(dtype) or not isinstance(value, Mapping):
        raise ValueError(f"'{value}' is not a valid {type_name(dtype)}")
    struct_value(plain_node(dict.fromkeys(value)), dtype)  # every field, and no other
    return {name: parse_python(value[name], dtype.field(name).type) for name in field_names(dtype)}
