"""Avro: files state their schema; blocks are the pieces, which fastavro decodes on the CPU."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from gpuetl.formats.avro_types import AvroSchema, column_of, columns_of, is_other, plain_schema
from gpuetl.formats.described_files import DescribedFiles, FileDescription, described
from gpuetl.formats.extra_packages import extra_package
from gpuetl.formats.format import Format, Piece
from gpuetl.io.data_file import DataFile
from gpuetl.places.filesystem import OpenFile
from gpuetl.places.open_file import opened
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset

SYNC_BYTES, MOST_VARINT_BYTES = 16, 20
MOST_PIECES = 1 << 12
"""Of a file: blocks of some 16 kB follow each other, and of more of them several are a piece."""
OWN_CODECS = frozenset(("snappy", "zstandard"))
"""Those that Arrow decodes here: fastavro would need further packages."""


class Blocks(NamedTuple):
    """Blocks of a file that follow each other: where they begin and end, and their rows."""

    start: int
    end: int
    rows: int


@dataclass(frozen=True)
class AvroFile(FileDescription):
    """The description of an Avro file: also its schema, codec and mark between blocks, and the place of each piece."""

    schema: AvroSchema
    codec: str
    sync: bytes
    blocks: Sequence[Blocks]


class AvroFormat(Format):
    """Avro's object container files.  gpuetl does not write them."""

    name = "avro"
    title = "Avro"
    suffixes = (".avro",)
    writes = False

    def metadata(self) -> DescribedFiles:
        """Return the schemas and blocks."""
        return DescribedFiles()

    def stored(self, dataset: Dataset, file: DataFile) -> Mapping[str, DataType]:
        """Return the Arrow types of the fields."""
        return described(dataset, file, describe).types

    def pieces(self, dataset: Dataset, file: DataFile) -> Sequence[Piece]:
        """Return the blocks of a file."""
        return described(dataset, file, describe).pieces

    def read(self, dataset: Dataset, file: DataFile, pieces: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """Read columns of blocks.

        Raises
        ------
        pyarrow.ArrowInvalid
            For a block that is damaged.
        """
        known = described(dataset, file, describe)
        assert isinstance(known, AvroFile)
        names = [name for name in columns if name in known.types and not is_other(known.types[name])]
        chunks = list[pa.Table]()
        with opened(file.path, file.state) as source:
            for piece in pieces:
                own = known.blocks[piece]
                rows = records(known, source.read_at(own.start, own.end - own.start))
                if len(rows) != own.rows:
                    raise pa.ArrowInvalid(f"blocks have {len(rows):,} rows, and declare {own.rows:,}")
                chunks.append(table_of(rows, {name: known.types[name] for name in names}))
        return pa.concat_tables(chunks) if chunks else pa.schema({n: known.types[n] for n in names}).empty_table()


def table_of(rows: Sequence[Mapping[str, Any]], types: Mapping[str, DataType]) -> pa.Table:
    """Return columns of records."""
    if not types:
        return pa.table({":row": pa.nulls(len(rows))})
    return pa.table({name: column_of([row[name] for row in rows], dtype) for name, dtype in types.items()})


def describe(source: OpenFile) -> AvroFile:
    """Return the schema of a file, and where its blocks are: of each, the size is read, and not the rows."""
    fastavro = extra_package("fastavro", "fastavro", "avro", "Avro files")
    with source.open() as file:
        try:
            reader = fastavro.block_reader(file)
            schema, codec, start = reader.writer_schema, reader.codec, file.tell()
            columns = columns_of(schema)
        except (KeyError, TypeError, AttributeError, RecursionError, fastavro.schema.SchemaParseException) as error:
            raise ValueError(f"its schema is damaged: {error}") from None
    sync = source.read_at(start - SYNC_BYTES, SYNC_BYTES)  # the end of the header
    blocks = list(blocks_of(source, start, sync))
    together = -(-len(blocks) // MOST_PIECES) or 1
    pieces = [blocks[start : start + together] for start in range(0, len(blocks), together)]
    joined = [Blocks(own[0].start, own[-1].end, sum(block.rows for block in own)) for own in pieces]
    return AvroFile(
        columns, [Piece(own.rows, {"": own.end - own.start}) for own in joined], schema, codec, sync, joined
    )


def blocks_of(source: OpenFile, start: int, sync: bytes) -> Iterator[Blocks]:
    """Yield the blocks of a file, whose first begins at a place.

    Raises
    ------
    ValueError
        For a file that ends within a block, and for a block without its mark.
    """
    size = source.state.size
    while start < size:
        head = source.read_at(start, MOST_VARINT_BYTES)
        rows, at = varint(head, 0)
        length, at = varint(head, at)
        end = start + at + length + SYNC_BYTES
        if rows < 0 or length < 0 or end > size:
            raise ValueError(f"its block at byte {start:,} has no end")
        if source.read_at(end - SYNC_BYTES, SYNC_BYTES) != sync:
            raise ValueError(f"its block at byte {start:,} does not end in the mark of the file")
        yield Blocks(start, end, rows)
        start = end


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number in zigzag form, and the place after it."""
    value = shift = 0
    while at < len(data):
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value >> 1 ^ -(value & 1), at
    raise ValueError("it ends within a block")


def encoded(number: int) -> bytes:
    """Return a number of at least zero in zigzag form."""
    left, found = number << 1, bytearray()
    while left > 127:
        found.append(left & 127 | 128)
        left >>= 7
    return bytes((*found, left))


def records(file: AvroFile, blocks: bytes) -> list[dict[str, Any]]:
    """Return the records in blocks, with values as they are stored.

    Raises
    ------
    pyarrow.ArrowInvalid
        For blocks that are damaged.
    """
    fastavro, codec, text = extra_package("fastavro", "fastavro", "avro", "Avro files"), file.codec, io.BytesIO()
    try:
        if codec in OWN_CODECS:
            codec, blocks = "null", b"".join(unpacked(file, blocks))
        fastavro.writer(text, plain_schema(file.schema), [], codec=codec, sync_marker=file.sync)
        text.write(blocks)
        text.seek(0)
        return list(fastavro.reader(text))
    except (ValueError, EOFError, IndexError, KeyError, TypeError, OSError, zlib.error) as error:
        raise pa.ArrowInvalid(f"a block is damaged: {error or type(error).__name__}") from None


def unpacked(file: AvroFile, blocks: bytes) -> Iterator[bytes]:
    """Yield blocks without compression."""
    at, unpack = 0, UNPACK[file.codec]
    while at < len(blocks):
        rows, at = varint(blocks, at)
        length, at = varint(blocks, at)
        data = unpack(blocks[at : at + length])
        at += length + SYNC_BYTES
        yield encoded(rows) + encoded(len(data)) + data + file.sync


def unpack_snappy(data: bytes) -> bytes:
    """Return what a block of Snappy holds: its length stands before it, and its checksum after it."""
    length = shift = 0
    for byte in data:
        length |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            break
    text = pa.Codec("snappy").decompress(data[:-4], decompressed_size=length, asbytes=True)
    if zlib.crc32(text) != int.from_bytes(data[-4:], "big"):
        raise ValueError("its checksum does not match")
    return bytes(text)


def unpack_zstd(data: bytes) -> bytes:
    """Return what a block of Zstandard holds."""
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as text:
        return bytes(text.read())


UNPACK = {"snappy": unpack_snappy, "zstandard": unpack_zstd}
