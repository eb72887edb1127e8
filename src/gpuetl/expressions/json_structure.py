"""What `from_json` is told of a type: a type as CAST takes it, or JSON as DuckDB takes it."""

from __future__ import annotations

import json
import re
from typing import Any

import pyarrow as pa

from gpuetl.messages import coded
from gpuetl.types.data_types import DataType, parse_type
from gpuetl.types.nested_types import split_arguments, struct_of


def parse_structure(text: str) -> DataType:
    """Return the type that is written in one of the forms.

    These are `STRUCT(a BIGINT, b VARCHAR[])`, `struct<a: int64, b: list<string>>`, and
    `{"a": "BIGINT", "b": ["VARCHAR"]}`.

    Raises
    ------
    ValueError
        Worded, for any other text.
    """
    if not text.lstrip().startswith(("{", "[", '"')):
        return parse_sql_type(text)
    try:
        return _of_json(json.loads(text, object_pairs_hook=_fields))
    except json.JSONDecodeError:
        raise ValueError(coded("GE1861", f"'{text}' is not JSON")) from None


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError(coded("GE1861", "the structure names a field twice"))
    return dict(pairs)


def _of_json(form: Any) -> DataType:
    if isinstance(form, str):
        return parse_sql_type(form)
    if isinstance(form, dict) and form:
        return struct_of({name: _of_json(inner) for name, inner in form.items()})
    if isinstance(form, list) and len(form) == 1:
        return pa.list_(_of_json(form[0]))
    raise ValueError(coded("GE1861", f"{json.dumps(form)} is not the structure of a value"))


_FIELD = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([A-Za-z_]\w*))\s+(.+)', re.DOTALL)


def parse_sql_type(text: str) -> DataType:
    """Return a type as CAST takes it, with SQL's `T[]` and `STRUCT(a T, b T)` beside `list<T>` and `struct<a: T>`."""
    name = text.strip()
    if name.endswith("[]"):
        return pa.list_(parse_sql_type(name[:-2]))
    if (found := re.fullmatch(r"(?i:struct|row)\s*\((.*)\)", name, re.DOTALL)) is None:
        return parse_type(name)
    fields = [_FIELD.fullmatch(part) for part in split_arguments(found[1])]
    if not all(fields):
        raise ValueError(coded("GE1025", f"unknown type '{text}'"))
    names = [(field[1] or field[2]).replace('""', '"') for field in fields if field]
    if len(set(names)) < len(names):
        raise ValueError(coded("GE1861", "the structure names a field twice"))
    return struct_of({name: parse_sql_type(field[3]) for name, field in zip(names, fields, strict=True) if field})
