"""Rows as JSON lines: each column becomes the text of its values by Arrow's functions, and each row an object."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.formats.compression import Compression
from gpuetl.types.data_types import BOOL, STRING, DataType, is_floating, is_integer, is_temporal
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.nested_types import is_list

ROWS_AT_A_TIME = 1 << 16
TEXT = pa.large_string()
SPECIAL = r'["\\\x00-\x1f]'
"""The characters that JSON escapes in a string."""
ESCAPED = {"\\": "\\\\", '"': '\\"', **{chr(code): json.dumps(chr(code))[1:-1] for code in range(32)}}
FIRST_TIME, LAST_TIME = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)


class NoJson(ValueError):
    """A value that JSON does not have."""


def write_lines(table: pa.Table, path: Path, compression: Compression) -> None:
    """Write a file of one object a row.

    Raises
    ------
    NoJson
        For a float that is NaN or infinite, and for a time outside of the years 1 to 9999.
    """
    codec = None if compression.codec == "none" else pa.Codec(*compression)
    with pa.OSFile(str(path), "wb") as file:
        for start in range(0, table.num_rows, ROWS_AT_A_TIME):
            lines = lines_of(table.slice(start, ROWS_AT_A_TIME))
            file.write(lines if codec is None else codec.compress(lines))  # a file may have several frames
        if codec is not None and not table.num_rows:
            file.write(codec.compress(b""))


def lines_of(rows: pa.Table) -> pa.Buffer:
    """Return rows as lines."""
    parts = list[pa.Array | pa.Scalar]()
    for place, (name, column) in enumerate(zip(rows.column_names, rows.columns, strict=True)):
        parts.append(text(("," if place else "{") + json.dumps(name, ensure_ascii=False) + ":"))
        try:
            parts.append(json_texts(column.combine_chunks()))
        except NoJson as error:
            raise NoJson(f"column '{name}' has {error}, which JSON does not have.  Replace such values first") from None
    lines = pc.binary_join_element_wise(*parts, text("}\n"), text(""))  # the last one separates
    return lines.buffers()[2]


def text(value: str) -> pa.Scalar:
    """Return a text that stands in each row."""
    return pa.scalar(value, TEXT)


def json_texts(values: pa.Array) -> pa.Array:
    """Return the JSON of each value, `null` of nulls.

    Raises
    ------
    NoJson
        For a value that JSON does not have.
    """
    found = valid_texts(values, values.type)
    return pc.fill_null(found, text("null")) if found.null_count else found


def valid_texts(values: pa.Array, dtype: DataType) -> pa.Array:
    """Return the JSON of each value, null of nulls."""
    if is_list(dtype):
        return bracketed("[", joined_lists(values, json_texts(values.flatten())), "]")
    if pa.types.is_map(dtype):
        return bracketed("{", joined_lists(values, entries(values)), "}")
    if pa.types.is_struct(dtype):
        return object_texts(values)
    if dtype == STRING:
        return bracketed('"', escaped(values.cast(TEXT)), '"')
    if is_temporal(dtype):
        return bracketed('"', time_texts(values), '"')
    if is_floating(dtype):
        return float_texts(values)
    if is_integer(dtype) or is_decimal(dtype) or dtype in (BOOL, pa.null()):
        return values.cast(TEXT)
    raise NoJson(f"values of type {dtype}")


def bracketed(begin: str, values: pa.Array, end: str) -> pa.Array:
    """Return texts between two others; null stays null."""
    return pc.binary_join_element_wise(text(begin), values, text(end), text(""))


def joined_lists(lists: pa.Array, texts: pa.Array) -> pa.Array:
    """Return the texts of each list's or map's values, with commas between them; null of a null."""
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(lengths(lists))])
    whole = pa.LargeListArray.from_arrays(offsets, texts)
    joined = pc.binary_join(whole, text(","))
    return pc.if_else(lists.is_valid(), joined, pa.scalar(None, TEXT)) if lists.null_count else joined


def lengths(lists: pa.Array) -> pa.Array:
    """Return how many values each list or map has, 0 of a null."""
    ends, starts = lists.offsets[1:].cast(pa.int64()), lists.offsets[:-1].cast(pa.int64())
    return pc.if_else(lists.is_valid(), pc.subtract(ends, starts), pa.scalar(0, pa.int64()))


def entries(maps: pa.Array) -> pa.Array:
    """Return the members of maps; keys that are not strings become strings."""
    pairs = pa.ListArray.from_arrays(maps.offsets, pa.StructArray.from_arrays([maps.keys, maps.items], ["k", "v"]))
    own = pairs.filter(maps.is_valid()).flatten()
    keys, values = own.field(0), own.field(1)
    names = escaped(keys.cast(TEXT)) if keys.type == STRING else json_texts(keys)
    return pc.binary_join_element_wise(bracketed('"', names, '"'), json_texts(values), text(":"))


def object_texts(structs: pa.Array) -> pa.Array:
    """Return structs as objects."""
    if not structs.type.num_fields:
        return pc.if_else(structs.is_valid(), text("{}"), pa.scalar(None, TEXT))
    parts = list[pa.Array | pa.Scalar]()
    for place, field in enumerate(structs.type):
        parts.append(text(("," if place else "{") + json.dumps(field.name, ensure_ascii=False) + ":"))
        parts.append(json_texts(pc.struct_field(structs, [place])))
    found = pc.binary_join_element_wise(*parts, text("}"), text(""))
    return pc.if_else(structs.is_valid(), found, pa.scalar(None, TEXT)) if structs.null_count else found


def escaped(texts: pa.Array) -> pa.Array:
    """Return strings with the escapes of JSON."""
    special = pc.match_substring_regex(texts, SPECIAL)
    if not pc.any(special, min_count=0).as_py():
        return texts
    data = texts.filter(special).buffers()[2]
    present = set(bytes(data or b"")) & set(b"".join(each.encode() for each in ESCAPED))
    for character, escape in ESCAPED.items():
        if ord(character) in present:
            texts = pc.replace_substring(texts, character, escape)
    return texts


def time_texts(values: pa.Array) -> pa.Array:
    """Return dates and timestamps as ISO 8601 writes them; those of a zone are in UTC.

    Raises
    ------
    NoJson
        For one outside of the years 1 to 9999.
    """
    zone = values.type.tz if pa.types.is_timestamp(values.type) else None
    plain = values.cast(pa.timestamp("us", "UTC")).cast(pa.timestamp("us")) if zone else values
    first, last = (pa.scalar(time, pa.timestamp("us")).cast(plain.type, safe=False) for time in (FIRST_TIME, LAST_TIME))
    outside = pc.or_(pc.less(plain, first), pc.greater(plain, last))
    if pc.any(outside, min_count=0).as_py():
        raise NoJson("a time outside of the years 1 to 9999")
    texts = pc.replace_substring(plain.cast(TEXT), " ", "T")
    return pc.binary_join_element_wise(texts, text("Z"), text("")) if zone else texts


def float_texts(values: pa.Array) -> pa.Array:
    """Return floats with as many digits as tell them apart, whole ones with a point.

    Raises
    ------
    NoJson
        For NaN and infinities.
    """
    if not pc.all(pc.is_finite(values), min_count=0).as_py():
        raise NoJson("NaN or an infinite number")
    return pc.replace_substring_regex(values.cast(TEXT), r"^(-?[0-9]+)$", r"\1.0")
