"""Footers of Parquet files: schema, row groups, column chunks.

Source: github.com/apache/parquet-format, parquet.thrift; the numbers are those of its fields.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import lru_cache
from itertools import starmap
from typing import NamedTuple

import pyarrow as pa

from gpuetl.engines.cudf.sinks.stored import FIXED, stored_as
from gpuetl.engines.cudf.sinks.thrift import BINARY, I32, STRUCT, Value, binary, fields, i16, i32, i64, list_of, struct
from gpuetl.types.decimal_types import is_decimal
from gpuetl.version import __version__

MAGIC = b"PAR1"
OPTIONAL = 1
PLAIN, RLE, DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY, RLE_DICTIONARY = 0, 3, 5, 6, 8
UNCOMPRESSED = 0
Limits = tuple[bytes, bytes]


class ChunkPlace(NamedTuple):
    """Where a column chunk lies in the file, and what is known of it."""

    dtype: pa.DataType
    name: str
    rows: int
    nulls: int
    encoding: int
    limits: Limits | None
    start: int
    size: int
    dictionary_size: int

    def metadata(self) -> Value:
        """Return the struct ColumnChunk."""
        size, coded = i64(self.size), self.dictionary_size > 0
        placed = fields(
            {
                5: i64(self.rows),
                6: size,
                7: size,
                9: i64(self.start + self.dictionary_size),
                11: i64(self.start) if coded else None,
                12: self.statistics(),
            },
            after=4,
        )
        return Value(STRUCT, b"".join((chunk_head(self.dtype, self.name, self.encoding, coded), placed, b"\0\0")))

    def statistics(self) -> Value:
        """Return the struct Statistics, with limits where they are known."""
        least, greatest = self.limits or (None, None)
        return struct({
            3: i64(self.nulls),
            5: None if greatest is None else binary(greatest),
            6: None if least is None else binary(least),
        })  # fmt: skip


@lru_cache(1 << 12)
def chunk_head(dtype: pa.DataType, name: str, encoding: int, dictionary: bool) -> bytes:
    """Return how the struct ColumnChunk begins, with the first fields of its struct ColumnMetaData."""
    metadata = fields({
        1: i32(stored_as(dtype).physical),
        2: encodings(encoding, dictionary),
        3: list_of(BINARY, [binary(name.encode())]),
        4: i32(UNCOMPRESSED),
    })  # fmt: skip
    return fields({2: i64(0), 3: Value(STRUCT, metadata)})


def encodings(values: int, dictionary: bool) -> Value:
    """Return the encodings in a chunk: of a dictionary, of levels, of values."""
    return list_of(I32, [i32(encoding) for encoding in ([PLAIN, RLE] if dictionary else [RLE]) + [values]])


def row_group(ordinal: int, chunks: Sequence[ChunkPlace]) -> Value:
    """Return the struct RowGroup."""
    size = sum(chunk.size for chunk in chunks)
    return struct({
        1: list_of(STRUCT, [chunk.metadata() for chunk in chunks]),
        2: i64(size),
        3: i64(chunks[0].rows),
        5: i64(chunks[0].start),
        6: i64(size),
        7: i16(ordinal) if ordinal < 1 << 15 else None,
    })  # fmt: skip


def footer(schema: pa.Schema, rows: int, row_groups: Sequence[Sequence[ChunkPlace]]) -> bytes:
    """Return what follows the last page: the struct FileMetaData, its size, and the format's mark."""
    elements = [struct({4: binary(b"schema"), 5: i32(len(schema))}), *map(schema_element, schema)]
    arrow = base64.b64encode(schema.serialize().to_pybytes())
    metadata = struct({
        1: i32(2),
        2: list_of(STRUCT, elements),
        3: i64(rows),
        4: list_of(STRUCT, list(starmap(row_group, enumerate(row_groups)))),
        5: list_of(STRUCT, [struct({1: binary(b"ARROW:schema"), 2: binary(arrow)})]),
        6: binary(f"gpuetl version {__version__}".encode()),
        7: list_of(STRUCT, [struct({1: struct({})})] * len(schema)),
    }).data  # fmt: skip
    return metadata + len(metadata).to_bytes(4, "little") + MAGIC


def schema_element(field: pa.Field) -> Value:
    """Return the struct SchemaElement of a column."""
    stored, decimal = stored_as(field.type), is_decimal(field.type)
    return struct({
        1: i32(stored.physical),
        2: i32(16) if stored.physical == FIXED else None,
        3: i32(OPTIONAL),
        4: binary(field.name.encode()),
        6: None if stored.converted is None else i32(stored.converted),
        7: i32(field.type.scale) if decimal else None,
        8: i32(field.type.precision) if decimal else None,
        10: stored.logical,
    })  # fmt: skip
