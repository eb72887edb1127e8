"""Metadata of Parquet files that are written: Thrift's compact protocol, stored types, footers."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import starmap
from typing import Final, NamedTuple

import pyarrow as pa

from gpuetl.engines.cudf.columns.vector import storage_type
from gpuetl.records import dataclass
from gpuetl.types.data_types import BOOL, STRING, DataType, is_integer
from gpuetl.types.decimal_types import is_decimal
from gpuetl.version import __version__

# Thrift's compact protocol, as far as Parquet's footers and page headers need it.
#
# Source: github.com/apache/thrift, doc/specs/thrift-compact-protocol.md.


TRUE, FALSE, BYTE, I16, I32, I64, BINARY, LIST, STRUCT = 1, 2, 3, 4, 5, 6, 8, 9, 12

BYTES = [bytes([number]) for number in range(256)]


class Value(NamedTuple):
    """A value as it is written, and its kind, which stands in what holds it."""

    kind: int
    data: bytes


def varint(number: int) -> bytes:
    """Return a number of at least zero, seven bits a byte, the lowest first."""
    if number < 128:
        return BYTES[number]
    groups = []
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    groups.append(number)
    return bytes(groups)


def zigzag(number: int) -> bytes:
    """Return a signed number of up to 64 bits as a varint that is short where the number is small."""
    return varint(number << 1 if number >= 0 else ~(number << 1))


def boolean(value: bool) -> Value:
    """Return a truth value of a struct: its kind says it all."""
    return Value(TRUE if value else FALSE, b"")


def byte(number: int) -> Value:
    """Return an integer of 8 bits."""
    return Value(BYTE, number.to_bytes(1, "little", signed=True))


def i16(number: int) -> Value:
    """Return an integer of 16 bits."""
    return Value(I16, zigzag(number))


@lru_cache(1 << 12)
def i32(number: int) -> Value:
    """Return an integer of 32 bits, or a member of an enumeration."""
    return Value(I32, zigzag(number))


@lru_cache(1 << 12)
def i64(number: int) -> Value:
    """Return an integer of 64 bits."""
    return Value(I64, zigzag(number))


def binary(data: bytes) -> Value:
    """Return bytes, or the UTF-8 of a text."""
    return Value(BINARY, varint(len(data)) + data)


def list_of(kind: int, values: Sequence[Value]) -> Value:
    """Return a list of values of one kind, which are no truth values."""
    size = len(values)
    head = bytes([size << 4 | kind]) if size < 15 else bytes([0xF0 | kind]) + varint(size)
    return Value(LIST, head + b"".join(value.data for value in values))


def struct(numbered: Mapping[int, Value | None]) -> Value:
    """Return a struct of fields by their numbers."""
    return Value(STRUCT, fields(numbered) + b"\0")


def fields(numbered: Mapping[int, Value | None], after: int = 0) -> bytes:
    """Return a part of a struct: fields that follow one by their numbers, which ascend by at most 15; None is left out.

    A struct is its parts and a zero.
    """
    parts, last = list[bytes](), after
    for number, value in numbered.items():
        if value is not None:
            kind, data = value
            parts += BYTES[number - last << 4 | kind], data
            last = number
    return b"".join(parts)


# How types are stored in Parquet: as pyarrow stores them, but for decimals of up to 18 digits (INT64).


BOOLEAN, INT32, INT64, FLOAT, DOUBLE, BYTE_ARRAY, FIXED = 0, 1, 2, 4, 5, 6, 7
"""The format's physical types."""
NUMBERS: Final = {"float32": FLOAT, "float64": DOUBLE, "V16": FIXED, "int64": INT64, "uint64": INT64}
CONVERTED: Final = {
    pa.string(): 0, pa.date32(): 6, pa.uint8(): 11, pa.uint16(): 12, pa.uint32(): 13, pa.uint64(): 14,
    pa.int8(): 15, pa.int16(): 16,
}  # fmt: skip
"""What older readers know a type by."""
CONVERTED_DECIMAL, CONVERTED_TIMESTAMP = 5, 10


@dataclass(frozen=True)
class Stored:
    """A type in a file: the physical type, and what its values stand for, in the words of old and of new readers."""

    physical: int
    converted: int | None = None
    logical: Value | None = None


def stored_as(dtype: DataType) -> Stored:
    """Return how values of a type that `writes` is true for are stored."""
    if dtype == STRING:
        return Stored(BYTE_ARRAY, CONVERTED[dtype], struct({1: struct({})}))
    if dtype == BOOL:
        return Stored(BOOLEAN)
    physical = NUMBERS.get(storage_type(dtype), INT32)
    if is_decimal(dtype):
        return Stored(physical, CONVERTED_DECIMAL, struct({5: struct({1: i32(dtype.scale), 2: i32(dtype.precision)})}))
    if pa.types.is_date(dtype):
        return Stored(physical, CONVERTED[dtype], struct({6: struct({})}))
    if pa.types.is_timestamp(dtype):
        instant = dtype.tz is not None
        logical = struct({8: struct({1: boolean(instant), 2: struct({2: struct({})})})})
        return Stored(physical, CONVERTED_TIMESTAMP if instant else None, logical)
    if is_integer(dtype) and dtype in CONVERTED:
        signed = boolean(pa.types.is_signed_integer(dtype))
        return Stored(physical, CONVERTED[dtype], struct({10: struct({1: byte(dtype.bit_width), 2: signed})}))
    return Stored(physical)


# Footers of Parquet files: schema, row groups, column chunks.
#
# Source: github.com/apache/parquet-format, parquet.thrift; the numbers are those of its fields.


MAGIC = b"PAR1"
OPTIONAL = 1
PLAIN, RLE, DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY, RLE_DICTIONARY = 0, 3, 5, 6, 8
UNCOMPRESSED, SNAPPY, ZSTD, LZ4_RAW = 0, 1, 6, 7
Limits = tuple[bytes, bytes]


class ChunkPlace(NamedTuple):
    """Where a column chunk lies in the file, and what is known of it; `nulls` is -1 without statistics."""

    dtype: pa.DataType
    name: str
    rows: int
    nulls: int
    encoding: int
    limits: Limits | None
    start: int
    size: int
    dictionary_size: int
    codec: int = UNCOMPRESSED
    plain_size: int = -1
    """The size without compression, if that is another one."""

    @property
    def uncompressed_size(self) -> int:
        """The size of the pages without compression."""
        return self.size if self.plain_size < 0 else self.plain_size

    def metadata(self) -> Value:
        """Return the struct ColumnChunk."""
        coded = self.dictionary_size > 0
        placed = fields(
            {
                5: i64(self.rows),
                6: i64(self.uncompressed_size),
                7: i64(self.size),
                9: i64(self.start + self.dictionary_size),
                11: i64(self.start) if coded else None,
                12: self.statistics(),
            },
            after=4,
        )
        return Value(
            STRUCT, b"".join((chunk_head(self.dtype, self.name, self.encoding, coded, self.codec), placed, b"\0\0"))
        )

    def statistics(self) -> Value | None:
        """Return the struct Statistics, with limits where they are known; None where none are to be written."""
        if self.nulls < 0:
            return None
        least, greatest = self.limits or (None, None)
        return struct({
            3: i64(self.nulls),
            5: None if greatest is None else binary(greatest),
            6: None if least is None else binary(least),
        })  # fmt: skip


@lru_cache(1 << 12)
def chunk_head(dtype: pa.DataType, name: str, encoding: int, dictionary: bool, codec: int) -> bytes:
    """Return how the struct ColumnChunk begins, with the first fields of its struct ColumnMetaData."""
    metadata = fields({
        1: i32(stored_as(dtype).physical),
        2: encodings(encoding, dictionary),
        3: list_of(BINARY, [binary(name.encode())]),
        4: i32(codec),
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
        2: i64(sum(chunk.uncompressed_size for chunk in chunks)),
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
