"""Nested types: lists, structs and maps.  What they are made of, and how their names are taken apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

_LISTS = {
    made.id for made in (pa.list_(pa.null()), pa.large_list(pa.null()), pa.list_(pa.null(), 1), pa.list_view(pa.null()))
} | {pa.large_list_view(pa.null()).id}
_STRUCT, _MAP = pa.struct([]).id, pa.map_(pa.bool_(), pa.null()).id
_NESTED = _LISTS | {_STRUCT, _MAP}
_OPENING = {"<": ">", "(": ")", "[": "]"}


def is_list(dtype: pa.DataType) -> bool:
    """Return whether `dtype` is a list, of any length or of a fixed one."""
    return dtype.id in _LISTS


def is_struct(dtype: pa.DataType) -> bool:
    """Return whether `dtype` is a struct: named fields, each of its own type."""
    return bool(dtype.id == _STRUCT)


def is_map(dtype: pa.DataType) -> bool:
    """Return whether `dtype` is a map: a list of keys with values."""
    return bool(dtype.id == _MAP)


def is_nested(dtype: pa.DataType) -> bool:
    """Return whether `dtype` is a list, a struct or a map.  Their values are not compared."""
    return dtype.id in _NESTED


def children_of(dtype: pa.DataType) -> tuple[pa.DataType, ...]:
    """Return the types that a nested type is made of: elements, fields, or key and value; none of a flat type."""
    if is_list(dtype):
        return (dtype.value_type,)
    if is_map(dtype):
        return dtype.key_type, dtype.item_type
    return tuple(field.type for field in dtype) if is_struct(dtype) else ()


def type_parts(dtype: pa.DataType) -> Iterator[pa.DataType]:
    """Yield `dtype`, and all types that it is made of."""
    yield dtype
    for child in children_of(dtype):
        yield from type_parts(child)


def field_type(dtype: pa.DataType, name: str) -> pa.DataType | None:
    """Return the type of a struct's field; None where it has none of that name."""
    return next((field.type for field in dtype if field.name == name), None)


def field_names(dtype: pa.DataType) -> list[str]:
    """Return the names of a struct's fields, in order."""
    return [field.name for field in dtype]


def struct_of(fields: dict[str, pa.DataType]) -> pa.DataType:
    """Return the struct of these fields; each may be null."""
    return pa.struct(list(fields.items()))


def tuple_of(types: Iterable[pa.DataType]) -> pa.DataType:
    """Return the struct of values without names: its fields are element1, element2 and so on, as in DuckDB's Arrow."""
    return pa.struct([(f"element{place}", dtype) for place, dtype in enumerate(types, 1)])


def is_tuple(dtype: pa.DataType) -> bool:
    """Return whether `dtype` is a struct of values without names: see `tuple_of`."""
    return is_struct(dtype) and dtype.num_fields > 0 and dtype == tuple_of(field.type for field in dtype)


def leaf_paths(path: str, dtype: pa.DataType) -> list[str]:
    """Return the paths of what structs in a column hold, with dots: `s.a`, `s.b.c`; a list is not taken apart."""
    if not is_struct(dtype):
        return [path]
    return [leaf for field in dtype for leaf in leaf_paths(f"{path}.{field.name}", field.type)]


def narrowed_type(stored: pa.DataType, planned: pa.DataType) -> pa.DataType:
    """Return a stored struct with only the fields of the planned one, at any depth; any other type as it is."""
    if not (is_struct(stored) and is_struct(planned)):
        return stored
    own = {field.name: field for field in stored}
    if any(field.name not in own for field in planned):
        return stored
    return pa.struct([(field.name, narrowed_type(own[field.name].type, field.type)) for field in planned])


def split_arguments(text: str) -> list[str]:
    """Split what stands in the brackets of a type's name at its commas: `a: int64, b: map<string, int64>` is two.

    Raises
    ------
    ValueError
        Where a bracket or a quote is not closed.
    """
    return [part.strip() for part in _split(text, ",")]


def split_field(text: str) -> tuple[str, str]:
    """Split `name: type`; a name in double quotes may have any characters, a quote in it is written twice.

    Raises
    ------
    ValueError
        Where there is no name, or no type.
    """
    name, *rest = _split(text, ":")
    name, dtype = name.strip(), ":".join(rest).strip()
    if name.startswith('"') and name.endswith('"') and len(name) > 1:
        name = name[1:-1].replace('""', '"')
    if not name or not dtype:
        raise ValueError(text)
    return name, dtype


def quoted_field(name: str) -> str:
    """Return a field's name as `split_field` reads it."""
    return name if name.isidentifier() else '"' + name.replace('"', '""') + '"'


def _split(text: str, separator: str) -> list[str]:
    """Split at separators that stand in no bracket and no quotes."""
    parts, start, closing, quoted = [], 0, list[str](), False
    for place, sign in enumerate(text):
        if sign == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif sign in _OPENING:
            closing.append(_OPENING[sign])
        elif sign in _OPENING.values():
            if not closing or closing.pop() != sign:
                raise ValueError(text)
        elif sign == separator and not closing:
            parts.append(text[start:place])
            start = place + 1
    if closing or quoted:
        raise ValueError(text)
    return [*parts, text[start:]]
