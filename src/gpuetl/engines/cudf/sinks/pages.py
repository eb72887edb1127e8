"""Column chunks laid out: page headers, levels, values."""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa

from gpuetl.engines.cudf.sinks.encoded import Dictionary, Encoded
from gpuetl.engines.cudf.sinks.footer import PLAIN, RLE, RLE_DICTIONARY, ChunkPlace
from gpuetl.engines.cudf.sinks.levels import Levels
from gpuetl.engines.cudf.sinks.pieces import Piece, piece_bytes, total_bytes
from gpuetl.engines.cudf.sinks.thrift import boolean, fields, i32, struct

DATA_PAGE, DICTIONARY_PAGE = 0, 2


def data_header(rows: int, size: int, encoding: int) -> bytes:
    """Return the header of a data page."""
    known = i32(size)
    return fields({1: i32(DATA_PAGE), 2: known, 3: known}) + page_of(rows, encoding)


@lru_cache(1 << 10)
def page_of(rows: int, encoding: int) -> bytes:
    """Return the end of a header, with the struct DataPageHeader: those of most pages are equal."""
    header = struct({1: i32(rows), 2: i32(encoding), 3: i32(RLE), 4: i32(RLE)})
    return fields({5: header}, after=3) + b"\0"


def dictionary_pieces(dictionary: Dictionary) -> list[Piece]:
    """Return a dictionary page."""
    size = i32(piece_bytes(dictionary.data))
    page = struct({1: i32(dictionary.entries), 2: i32(PLAIN), 3: boolean(True)})
    return [struct({1: i32(DICTIONARY_PAGE), 2: size, 3: size, 7: page}).data, dictionary.data]


def chunk(field: pa.Field, encoded: Encoded, levels: Levels, group: int, offset: int) -> tuple[list[Piece], ChunkPlace]:
    """Return the column chunk of a row group, which is to lie at an offset of the file."""
    found, pages = encoded.dictionary(group), levels.pages_of(group)
    pieces, encoding = (dictionary_pieces(found), RLE_DICTIONARY) if found else (list[Piece](), encoded.encoding)
    size = dictionary_size = total_bytes(pieces)
    for page in pages:
        content = levels.pieces(page) + encoded.pages[page]
        page_size = total_bytes(content)
        header = data_header(levels.rows_of(page), page_size, encoding)
        pieces += (header, *content)
        size += len(header) + page_size
    rows = levels.rows_before(pages.stop) - levels.rows_before(pages.start)
    nulls = rows - levels.starts[pages.stop] + levels.starts[pages.start]
    limits = encoded.limits_between(pages)
    return pieces, ChunkPlace(field.type, field.name, rows, nulls, encoding, limits, offset, size, dictionary_size)
