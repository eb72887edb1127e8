"""Parquet files written by hand: one column of int64, and whatever the tests want to be wrong."""

import gzip
from collections.abc import Sequence

import numpy as np

from gpuetl.engines.cudf.io.parquet_metadata import BINARY, I32, STRUCT, Value, binary, i32, i64, list_of, struct

INT64 = 2
GZIP = 2


def element(name: bytes, children: int | None = None, physical: int | None = None, repetition: int = 0) -> Value:
    """Return an element of a schema: a group with children, or a column."""
    return struct({
        1: None if physical is None else i32(physical),
        3: i32(repetition),
        4: binary(name),
        5: None if children is None else i32(children),
    })  # fmt: skip


def footer(elements: Sequence[Value], groups: Sequence[Value] = (), rows: int = 0) -> bytes:
    """Return what follows the pages of a file."""
    metadata = struct({1: i32(2), 2: list_of(STRUCT, elements), 3: i64(rows), 4: list_of(STRUCT, groups)}).data
    return metadata + len(metadata).to_bytes(4, "little") + b"PAR1"


def chunk(
    size: int, values: int, physical: int = INT64, codec: int = 0, statistics: Value | None = None, **fields: Value
) -> Value:
    """Return a column chunk `x` whose page begins behind the file's first mark; `fields` are those of the chunk."""
    metadata = struct({
        1: i32(physical), 2: list_of(I32, [i32(0)]), 3: list_of(BINARY, [binary(b"x")]), 4: i32(codec),
        5: i64(values), 6: i64(size), 7: i64(size), 9: i64(4), 12: statistics,
    })  # fmt: skip
    return struct({2: i64(0), 3: metadata, **{int(name.strip("_")): value for name, value in fields.items()}})


def group(chunks: Sequence[Value], rows: int) -> Value:
    """Return a row group."""
    return struct({1: list_of(STRUCT, chunks), 2: i64(0), 3: i64(rows)})


def file_of(
    chunks: Sequence[Value] | None = None, pages: bytes = b"", rows: int = 0, elements: Sequence[Value] | None = None
) -> bytes:
    """Return a file of one row group; by default with the required column `x`."""
    elements = elements or [element(b"schema", 1), element(b"x", None, INT64)]
    return b"PAR1" + pages + footer(elements, [group(chunks if chunks is not None else [chunk(0, 0)], rows)], rows)


def gzip_file(*members: Sequence[int]) -> bytes:
    """Return a file whose one page is several gzip members, each with some of the values."""
    data = b"".join(gzip.compress(np.array(values, "<i8").tobytes()) for values in members)
    rows = sum(map(len, members))
    header = struct(
        {1: i32(0), 2: i32(8 * rows), 3: i32(len(data)), 5: struct({1: i32(rows), 2: i32(0), 3: i32(3), 4: i32(3)})}
    )
    page = header.data + data
    return file_of([chunk(len(page), rows, codec=GZIP)], page, rows)
