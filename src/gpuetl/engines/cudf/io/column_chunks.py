"""Column chunks of row groups: their pages, the headers of these, and where they lie in a file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa

from gpuetl.engines.cudf.io.definition_levels import Levels
from gpuetl.engines.cudf.io.encoded_columns import Encoded
from gpuetl.engines.cudf.io.parquet_metadata import (
    I32,
    PLAIN,
    RLE,
    RLE_DICTIONARY,
    ChunkPlace,
    Value,
    boolean,
    fields,
    i32,
    struct,
    zigzag,
)
from gpuetl.engines.cudf.io.threaded_file import Piece, piece_bytes, total_bytes

DATA_PAGE, DICTIONARY_PAGE = 0, 2
NEXT_I32 = fields({1: Value(I32, b"")})
"""What stands before a field that follows the one before it by its number."""
BEFORE_SIZE = fields({1: i32(DATA_PAGE)}) + NEXT_I32


class Page(NamedTuple):
    """A page of a column chunk: its values, their encoding, and what follows its header, without compression.

    The encoding of a dictionary's page is None.  `size` is that of the content.
    """

    values: int
    encoding: int | None
    content: list[Piece]
    size: int

    def header(self, stored_size: int) -> bytes:
        """Return its header, given the size of the content as it is stored."""
        if self.encoding is None:
            return dictionary_header(self.values, self.size, stored_size)
        return data_header(self.values, self.size, stored_size, self.encoding)


class StoredPage(NamedTuple):
    """A page as it lies in a file: its pieces, the size of these, and what it would be without compression."""

    pieces: list[Piece]
    size: int
    plain_size: int


def stored_page(page: Page, body: list[Piece], size: int) -> StoredPage:
    """Return a page whose content is stored as `body`; `size` is its bytes."""
    header = page.header(size)
    return StoredPage([header, *body], len(header) + size, len(header) + page.size)


def data_header(rows: int, size: int, stored_size: int, encoding: int) -> bytes:
    """Return the header of a data page, of a size without compression and as it is stored.

    There are many pages where they are compressed, so the fields that all headers have are here as bytes.
    """
    return b"".join((BEFORE_SIZE, zigzag(size), NEXT_I32, zigzag(stored_size), page_of(rows, encoding)))


@lru_cache(1 << 10)
def page_of(rows: int, encoding: int) -> bytes:
    """Return the end of a header, with the struct DataPageHeader: those of most pages are equal."""
    header = struct({1: i32(rows), 2: i32(encoding), 3: i32(RLE), 4: i32(RLE)})
    return fields({5: header}, after=3) + b"\0"


def dictionary_header(entries: int, size: int, stored_size: int) -> bytes:
    """Return the header of a dictionary page."""
    page = struct({1: i32(entries), 2: i32(PLAIN), 3: boolean(True)})
    return struct({1: i32(DICTIONARY_PAGE), 2: i32(size), 3: i32(stored_size), 7: page}).data


def chunk_pages(encoded: Encoded, levels: Levels, group: int) -> list[Page]:
    """Return the pages of a column chunk in a row group, the dictionary first."""
    found, pages = encoded.dictionary(group), list[Page]()
    if found:
        pages.append(Page(found.entries, None, [found.data], piece_bytes(found.data)))
    encoding = RLE_DICTIONARY if found else encoded.encoding
    for page in levels.pages_of(group):
        content = levels.pieces(page) + encoded.pages[page]
        pages.append(Page(levels.rows_of(page), encoding, content, total_bytes(content)))
    return pages


def described_chunk(field: pa.Field, encoded: Encoded, levels: Levels, group: int, statistics: bool) -> ChunkPlace:
    """Return what is known of a column chunk before its pages are stored: `placed_chunk` says where it lies."""
    pages = levels.pages_of(group)
    rows = levels.rows_before(pages.stop) - levels.rows_before(pages.start)
    nulls = rows - levels.starts[pages.stop] + levels.starts[pages.start] if statistics else -1
    limits = encoded.limits_between(pages) if statistics else None
    encoding = RLE_DICTIONARY if encoded.dictionary(group) else encoded.encoding
    return ChunkPlace(field.type, field.name, rows, nulls, encoding, limits, 0, 0, 0)


def placed_chunk(described: ChunkPlace, pages: Sequence[StoredPage], start: int, codec: int) -> ChunkPlace:
    """Return where a column chunk lies whose stored pages begin at a place of the file."""
    coded = described.encoding == RLE_DICTIONARY
    return described._replace(
        start=start,
        size=sum(page.size for page in pages),
        dictionary_size=pages[0].size if coded else 0,
        codec=codec,
        plain_size=sum(page.plain_size for page in pages),
    )
