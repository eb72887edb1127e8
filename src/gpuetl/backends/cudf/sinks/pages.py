"""Column chunks laid out: page headers, levels, values."""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa

from gpuetl.backends.cudf.sinks.encoded import Dictionary, Encoded
from gpuetl.backends.cudf.sinks.footer import PLAIN, RLE, RLE_DICTIONARY, ChunkPlace
from gpuetl.backends.cudf.sinks.levels import Levels
from gpuetl.backends.cudf.sinks.pieces import Piece, piece_bytes, total_bytes
from gpuetl.backends.cudf.sinks.statistics import merged
from gpuetl.backends.cudf.sinks.thrift import Value, boolean, i32, struct

DATA_PAGE, DICTIONARY_PAGE = 0, 2


@lru_cache(1 << 10)
def data_header(rows: int, size: int, encoding: int) -> bytes:
    """Return the header of a data page."""
    return struct({1: i32(DATA_PAGE), 2: i32(size), 3: i32(size), 5: page_of(rows, encoding)}).data


@lru_cache(1 << 10)
def page_of(rows: int, encoding: int) -> Value:
    """Return the struct DataPageHeader: those of most pages are equal."""
    return struct({1: i32(rows), 2: i32(encoding), 3: i32(RLE), 4: i32(RLE)})


def dictionary_pieces(dictionary: Dictionary) -> list[Piece]:
    """Return a dictionary page."""
    size = i32(piece_bytes(dictionary.data))
    page = struct({1: i32(dictionary.entries), 2: i32(PLAIN), 3: boolean(True)})
    return [struct({1: i32(DICTIONARY_PAGE), 2: size, 3: size, 7: page}).data, dictionary.data]


def page_pieces(encoded: Encoded, encoding: int, levels: Levels, page: int) -> list[Piece]:
    """Return a data page."""
    content = [*levels.pieces(page), *encoded.pages[page]]
    return [data_header(levels.rows_of(page), total_bytes(content), encoding), *content]


def chunk(field: pa.Field, encoded: Encoded, levels: Levels, group: int, offset: int) -> tuple[list[Piece], ChunkPlace]:
    """Return the column chunk of a row group, which is to lie at an offset of the file."""
    found, pages = encoded.dictionary(group), levels.pages_of(group)
    dictionary, encoding = (dictionary_pieces(found), RLE_DICTIONARY) if found else ([], encoded.encoding)
    pieces = [*dictionary, *(piece for page in pages for piece in page_pieces(encoded, encoding, levels, page))]
    rows = sum(map(levels.rows_of, pages))
    ends = None if encoded.ranges is None else merged(encoded.ranges[pages.start : pages.stop])
    limits = encoded.limits(*ends) if encoded.limits and ends else None
    place = ChunkPlace(
        field.type,
        field.name,
        rows,
        rows - levels.valid_rows_of(group),
        encoding,
        limits,
        offset,
        total_bytes(pieces),
        total_bytes(dictionary),
    )
    return pieces, place
