"""Selectors: the columns of a table by type or name, `import gpuetl.selectors as cs`.

    t.select(cs.numeric() - cs.by_name("id"))
    t.with_columns(cs.string().trim())
    t.drop(cs.starts_with("tmp_"))

A selector looks at the columns that the table has when you declare the step.  The metadata of files is read then.  The
pipeline, also as YAML, has the names.  `|`, `&`, `-` and `~` combine selectors.  A function of a selector is computed
for each of the columns, and replaces it.
"""

from __future__ import annotations

import re

from gpuetl.expressions.expression import type_named
from gpuetl.expressions.selector import Selector
from gpuetl.types.data_types import (
    BOOL,
    DATE,
    DURATION,
    STRING,
    TIME,
    DataType,
    is_binary,
    is_floating,
    is_integer,
    is_number,
    is_temporal,
)
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.nested_types import is_list, is_map, is_struct

__all__ = [
    "Selector", "all", "binary", "boolean", "by_dtype", "by_name", "contains", "date", "decimal", "duration",
    "ends_with", "float", "integer", "list", "map", "matches", "numeric", "starts_with", "string", "struct",
    "temporal", "timestamp",
]  # fmt: skip


def all() -> Selector:
    """Select all columns."""
    return Selector.of("all()", lambda name, dtype: True)


def by_name(*names: str) -> Selector:
    """Select columns by name; those that the table does not have are left out."""
    return Selector.of(f"by_name({_quoted(names)})", lambda name, dtype: name in names)


def by_dtype(*dtypes: str) -> Selector:
    """Select columns of types, by their names: `by_dtype("int64", "decimal(9,2)")`; raise `InvalidType` for others."""
    wanted = [type_named(dtype) for dtype in dtypes]
    return Selector.of(f"by_dtype({_quoted(dtypes)})", lambda name, dtype: dtype in wanted)


def starts_with(*prefixes: str) -> Selector:
    """Select columns whose names begin with one of the prefixes."""
    text = f"starts_with({_quoted(prefixes)})"
    return Selector.of(text, lambda name, dtype: name.startswith(prefixes))


def ends_with(*suffixes: str) -> Selector:
    """Select columns whose names end with one of the suffixes."""
    text = f"ends_with({_quoted(suffixes)})"
    return Selector.of(text, lambda name, dtype: name.endswith(suffixes))


def contains(*parts: str) -> Selector:
    """Select columns whose names contain one of the strings."""
    text = f"contains({_quoted(parts)})"
    return Selector.of(text, lambda name, dtype: any(part in name for part in parts))


def matches(pattern: str) -> Selector:
    """Select columns in whose names a regular expression, of Python's `re`, is found."""
    found = re.compile(pattern)
    return Selector.of(f"matches({pattern!r})", lambda name, dtype: found.search(name) is not None)


def numeric() -> Selector:
    """Select integers, floats and decimals."""
    return Selector.of("numeric()", lambda name, dtype: is_number(dtype))


def integer() -> Selector:
    """Select integers, signed and unsigned."""
    return Selector.of("integer()", lambda name, dtype: is_integer(dtype))


def float() -> Selector:
    """Select float32 and float64."""
    return Selector.of("float()", lambda name, dtype: is_floating(dtype))


def decimal() -> Selector:
    """Select decimals."""
    return Selector.of("decimal()", lambda name, dtype: is_decimal(dtype))


def string() -> Selector:
    """Select strings."""
    return _of_type("string()", STRING)


def boolean() -> Selector:
    """Select booleans."""
    return _of_type("boolean()", BOOL)


def binary() -> Selector:
    """Select binary columns, of fixed width too."""
    return Selector.of("binary()", lambda name, dtype: is_binary(dtype))


def date() -> Selector:
    """Select dates."""
    return _of_type("date()", DATE)


def timestamp() -> Selector:
    """Select timestamps, naive and zoned."""
    return Selector.of("timestamp()", lambda name, dtype: is_temporal(dtype) and dtype != DATE)


def duration() -> Selector:
    """Select durations."""
    return _of_type("duration()", DURATION)


def temporal() -> Selector:
    """Select dates, timestamps, times and durations."""
    return Selector.of("temporal()", lambda name, dtype: is_temporal(dtype) or dtype in (TIME, DURATION))


def list() -> Selector:
    """Select lists."""
    return Selector.of("list()", lambda name, dtype: is_list(dtype))


def struct() -> Selector:
    """Select structs."""
    return Selector.of("struct()", lambda name, dtype: is_struct(dtype))


def map() -> Selector:
    """Select maps."""
    return Selector.of("map()", lambda name, dtype: is_map(dtype))


def _of_type(text: str, wanted: DataType) -> Selector:
    return Selector.of(text, lambda name, dtype: dtype == wanted)


def _quoted(values: tuple[str, ...]) -> str:
    return ", ".join(repr(value) for value in values)
