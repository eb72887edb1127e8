"""Values of JSON lines in the types that a source has: by Arrow where all lines are good, else line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json

from gpuetl.engines.pandas.io.csv_values import values_of
from gpuetl.engines.pandas.io.json_rows import JsonRows
from gpuetl.errors import EvaluationError
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.json_options import json_options
from gpuetl.formats.json_text import NEWLINE, part_text
from gpuetl.formats.rejected import COLUMNS, RejectedRows
from gpuetl.io.data_file import DataFile
from gpuetl.messages import coded
from gpuetl.places.open_file import opened
from gpuetl.types.data_types import STRING, DataType, is_floating, is_temporal
from gpuetl.types.nested_types import is_list

BLOCK_BYTES = 1 << 22
OPEN_BRACE = ord("{")
MOST_ODD_LINES = 1 << 16


def read_json(dataset: Dataset, file: DataFile, parts: Sequence[int], columns: Sequence[str]) -> pa.Table:
    """Read columns of parts of a file; a key that a line lacks is null there.

    Raises
    ------
    DatasetError
        For the first bad line, where the source does not allow them.
    """
    source = dataset.source if isinstance(dataset, RejectedRows) else dataset
    types = source.own_schema
    if not json_options(source).quarantines and not source.refuses_extra:
        types = {name: dtype for name, dtype in types.items() if name in columns}
    with opened(file.path, file.state) as stored:
        tables = [
            part_rows(dataset, source, JsonRows(source, file, stored, part, part_text(stored, part), types))
            for part in parts
        ]
    rows = pa.concat_tables(tables)
    names = [name for name in columns if name in rows.column_names]
    return rows.select(names) if names else pa.table({":row": pa.nulls(rows.num_rows)})


def part_rows(dataset: Dataset, source: Dataset, part: JsonRows) -> pa.Table:
    """Return the rows of a part of a file, or those that go to quarantine."""
    known = dict(part.types)
    if source.refuses_extra and source.excluded:
        stored = source.stored(part.file)
        known |= {name: stored[name] for name in stored if name in source.excluded}
    rows = clean_rows(part.text, known, source.refuses_extra)
    if isinstance(dataset, RejectedRows):
        return part.rejected(dataset.run_id) if rows is None else COLUMNS.to_arrow().empty_table()
    return part.allowed() if rows is None else rows


def clean_rows(text: bytes, types: Mapping[str, DataType], all_keys: bool) -> pa.Table | None:
    """Return the columns of lines, by Arrow; None where it takes one for bad, or for something else than it is.

    Arrow reads numbers beyond float64 as infinite, and NaN, which JSON does not have; and lines with several values.
    With `all_keys` a key that is no column is bad.
    """
    expected = objects_in(text)
    if expected is None:
        return None
    if expected == 0:
        return with_row(pa.schema(types).empty_table(), 0)
    read_types = {name: text_type(dtype) for name, dtype in types.items()}
    if any(dtype is None for dtype in read_types.values()):
        return None
    schema = pa.schema([*read_types.items()]) if read_types else pa.schema([(":row", pa.null())])
    try:
        rows = read_text(text, schema, all_keys)
        if rows.num_rows != expected:
            return None
        rows.validate(full=True)  # strings are UTF-8, and decimals have no more digits than their type
        columns = {name: typed(rows.column(name), dtype) for name, dtype in types.items()}
    except (pa.ArrowException, EvaluationError, UnicodeDecodeError):
        return None
    if any(map(has_infinite, columns.values())):
        return None
    return with_row(pa.table(columns, schema=pa.schema(types)), expected)


def with_row(rows: pa.Table, count: int) -> pa.Table:
    """Return rows with a column that counts them, where they have none."""
    return rows if rows.num_columns else pa.table({":row": pa.nulls(count)})


def read_text(text: bytes, schema: pa.Schema, all_keys: bool) -> pa.Table:
    """Read lines by Arrow, in blocks that hold the longest line."""
    parse = json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error" if all_keys else "ignore")
    try:
        read = json.ReadOptions(block_size=BLOCK_BYTES)
        return json.read_json(pa.BufferReader(text), read_options=read, parse_options=parse)
    except pa.ArrowInvalid as error:
        if "straddl" not in str(error) or len(text) >= 1 << 31:
            raise
        read = json.ReadOptions(block_size=len(text) + 1)
        return json.read_json(pa.BufferReader(text), read_options=read, parse_options=parse)


def objects_in(text: bytes) -> int | None:
    """Count the lines that begin with an object; None where one begins with something else, or is too odd."""
    data = np.frombuffer(text, np.uint8)
    starts = np.concatenate([np.zeros(1, np.int64), np.flatnonzero(data == NEWLINE) + 1])
    starts = starts[starts < len(data)]
    odd = starts[data[starts] != OPEN_BRACE]
    if len(odd) > MOST_ODD_LINES:
        return None
    empty = 0
    for start in odd.tolist():
        end = text.find(b"\n", start)
        line = text[start : end if end >= 0 else len(text)].strip()
        if line and not line.startswith(b"{"):
            return None
        empty += not line
    return len(starts) - empty


def text_type(dtype: DataType) -> DataType | None:
    """Return the type in which Arrow reads a column: times are strings; None where Arrow does not read it."""
    if is_temporal(dtype):
        return STRING
    if is_list(dtype):
        element = text_type(dtype.value_type)
        return None if element is None else pa.list_(element)
    if pa.types.is_struct(dtype):
        fields = [(field.name, text_type(field.type)) for field in dtype]
        return None if any(each is None for _, each in fields) else pa.struct(fields)
    plain = pa.types.is_primitive(dtype) or pa.types.is_decimal128(dtype) or dtype == STRING
    return dtype if plain and not pa.types.is_duration(dtype) and not pa.types.is_time(dtype) else None


def typed(column: pa.ChunkedArray, dtype: DataType) -> pa.ChunkedArray:
    """Return a column in its type, to which strings are cast as CAST does.

    Raises
    ------
    EvaluationError, pyarrow.ArrowInvalid
        For a string that is no value of the type.
    """
    if column.type == dtype:
        return column
    if is_temporal(dtype):
        values, bad = values_of(column, dtype)
        if bad is not None:
            raise EvaluationError(coded("GE1410", f"a string is not a valid {dtype}"))
        return values
    return pa.chunked_array([typed_array(chunk, dtype) for chunk in column.chunks], dtype)


def typed_array(array: pa.Array, dtype: DataType) -> pa.Array:
    """Return a nested array in its type."""
    if array.type == dtype:
        return array
    if is_list(dtype):
        values = typed_array(array.values, dtype.value_type)
        mask = array.is_null() if array.null_count else None
        return pa.ListArray.from_arrays(array.offsets, values, type=dtype, mask=mask)
    if pa.types.is_struct(dtype):
        own = [typed_array(array.field(place), field.type) for place, field in enumerate(dtype)]
        return pa.StructArray.from_arrays(own, fields=list(dtype), mask=array.is_null())
    return typed(pa.chunked_array([array]), dtype).combine_chunks()


def has_infinite(column: pa.ChunkedArray) -> bool:
    """Tell whether a column of floats has a value that JSON does not have, at any depth."""
    dtype = column.type
    if is_list(dtype):
        return any(has_infinite(pa.chunked_array([chunk.flatten()])) for chunk in column.chunks)
    if pa.types.is_struct(dtype):
        return any(has_infinite(pc.struct_field(column, place)) for place in range(dtype.num_fields))
    return is_floating(dtype) and not pc.all(pc.is_finite(column), skip_nulls=True).as_py()
