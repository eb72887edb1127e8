"""The pages of column chunks, by their headers: whether they are as another reader than Arrow takes for granted.

A header is read by itself, and of a page only what a check needs: 20 µs a page.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from gpuetl.formats.parquet_chunks import Chunk, Leaf
from gpuetl.formats.thrift_reader import FALSE, INTEGER32, Field, MalformedThrift, read_unsigned, struct

DATA_PAGE, INDEX_PAGE, DICTIONARY_PAGE, DATA_PAGE_V2 = range(4)
UNCOMPRESSED, SNAPPY, GZIP, LZO, BROTLI, LZ4, ZSTD, LZ4_RAW = range(8)
ARROW_CODECS = {SNAPPY: "snappy", GZIP: "gzip", ZSTD: "zstd", LZ4_RAW: "lz4_raw"}
HEADER_BYTES = 256
"""Bytes that are read at first for a header: one with long statistics takes more."""
MOST_HEADER_BYTES = 16 << 20
MOST_PAGE_BYTES = 256 << 20
GZIP_MEMBER = 31
"""zlib's window for data in one gzip member."""
MEMBER_START = 4096
GZIP_LEAST_BYTES = 18

PAGE_HEADER = struct({
    1: INTEGER32, 2: INTEGER32, 3: INTEGER32, 4: INTEGER32,
    5: struct({1: INTEGER32}),
    8: struct({1: INTEGER32, 5: INTEGER32, 6: INTEGER32, 7: Field(FALSE, lambda data, at: (False, at))}),
})  # fmt: skip


class Page(NamedTuple):
    """A page: where its bytes lie in the file, and what its header says of them.

    In version 2 levels come first, `repetition_bytes` and `definition_bytes` of them, and are never compressed.
    """

    kind: int
    offset: int
    stored_bytes: int
    uncompressed_bytes: int
    checksum: int | None
    values: int
    repetition_bytes: int = 0
    definition_bytes: int = 0
    compressed: bool = True

    @property
    def level_bytes(self) -> int:
        """Bytes before what is compressed."""
        return self.repetition_bytes + self.definition_bytes


class BadPages(ValueError):
    """Pages that are not what their headers, or the footer, say."""


def pages_of(descriptor: int, chunk: Chunk) -> Iterator[Page]:
    """Yield the pages of a chunk in an open file, until they have as many values as the chunk.

    Raises
    ------
    BadPages
        For a header that cannot be read, or pages that go beyond the chunk.
    """
    at, end, values = chunk.start, chunk.start + chunk.compressed_bytes, 0
    while values < chunk.values:
        page = page_at(descriptor, at, end)
        if page.kind in (DATA_PAGE, DATA_PAGE_V2):
            values += page.values
        yield page
        at = page.offset + page.stored_bytes
    if values > chunk.values:
        raise BadPages(f"its pages have {values:,} values, and its metadata declares {chunk.values:,}")


def page_at(descriptor: int, at: int, end: int) -> Page:
    """Return the page whose header begins at a position; the chunk ends at another one."""
    size = HEADER_BYTES
    while True:
        data = os.pread(descriptor, min(size, max(0, end - at)), at)
        try:
            found, length = PAGE_HEADER.read(data, 0)
            break
        except (IndexError, MalformedThrift) as error:
            if len(data) < size or size > MOST_HEADER_BYTES:
                raise BadPages(f"the header of a page cannot be read: {error}") from None
            size *= 16
    if any(found.get(number) is None or (number > 1 and found[number] < 0) for number in (1, 2, 3)):
        raise BadPages("the header of a page has no size")
    page = Page(found[1], at + length, found[3], found[2], found.get(4), **values_of(found))
    if page.offset + page.stored_bytes > end or min(page.values, page.repetition_bytes, page.definition_bytes) < 0:
        raise BadPages("a page goes beyond its column chunk")
    if page.level_bytes > min(page.stored_bytes, page.uncompressed_bytes):
        raise BadPages("the levels of a page are longer than the page")
    return page


def values_of(found: dict[int, Any]) -> dict[str, Any]:
    """Return what a header says of the values of a data page."""
    kind = found[1]
    own = found.get({DATA_PAGE: 5, DATA_PAGE_V2: 8}.get(kind, 0), {})
    if kind in (DATA_PAGE, DATA_PAGE_V2) and 1 not in own:
        raise BadPages("the header of a data page does not say how many values it has")
    return {
        "values": own.get(1, 0), "definition_bytes": own.get(5, 0), "repetition_bytes": own.get(6, 0),
        "compressed": own.get(7, True),
    }  # fmt: skip


def check_gzip_members(descriptor: int, chunk: Chunk) -> None:
    """Raise `BadPages` where a page of a gzip chunk is not one gzip member of the declared size.

    A member ends with its size.  One that is followed by others has less than the page, or nothing.
    """
    for page in pages_of(descriptor, chunk):
        expected, size = page.uncompressed_bytes - page.level_bytes, page.stored_bytes - page.level_bytes
        if not page.compressed or not expected:
            continue
        start = page.offset + page.level_bytes
        ending = os.pread(descriptor, 4, start + size - 4) if size >= GZIP_LEAST_BYTES else b""
        if int.from_bytes(ending, "little") != expected or is_empty_member(os.pread(descriptor, MEMBER_START, start)):
            raise BadPages("a page is not one gzip member")


def is_empty_member(data: bytes) -> bool:
    """Tell whether compressed data begins with a gzip member that holds nothing, or with none."""
    member = zlib.decompressobj(GZIP_MEMBER)
    try:
        return not member.decompress(data, 1) and member.eof
    except zlib.error:
        return True


def check_first_repetition(descriptor: int, chunk: Chunk, leaf: Leaf) -> None:
    """Raise `BadPages` where the first value of a chunk of lists goes on with a list that did not begin."""
    for page in pages_of(descriptor, chunk):
        if page.kind in (DATA_PAGE, DATA_PAGE_V2) and page.values:
            if first_level(repetition_levels(descriptor, chunk, page), leaf.most_repetitions.bit_length()):
                raise BadPages("its first value goes on with a list that did not begin")
            return


def repetition_levels(descriptor: int, chunk: Chunk, page: Page) -> bytes:
    """Return the repetition levels with which a page begins."""
    if page.kind == DATA_PAGE_V2:
        return os.pread(descriptor, page.repetition_bytes, page.offset)
    if max(page.stored_bytes, page.uncompressed_bytes) > MOST_PAGE_BYTES:
        raise BadPages("its first page is very large")
    data = os.pread(descriptor, page.stored_bytes, page.offset)
    if chunk.codec != UNCOMPRESSED:
        try:
            data = pa.decompress(data, page.uncompressed_bytes, ARROW_CODECS[chunk.codec], asbytes=True)
        except (pa.ArrowException, OSError, KeyError) as error:
            raise BadPages(f"a page cannot be decompressed: {error}") from None
    return data[4 : 4 + int.from_bytes(data[:4], "little")]


def first_level(levels: bytes, bits: int) -> int:
    """Return the first level of some that are written as runs, or packed."""
    try:
        _, at = read_unsigned(levels, 0)
        return levels[at] & ((1 << bits) - 1)
    except (IndexError, MalformedThrift):
        raise BadPages("the levels of a page cannot be read") from None


def check_checksums(descriptor: int, chunk: Chunk) -> None:
    """Raise `BadPages` for the first page with another checksum than its header has; all bytes are read.

    zlib releases the interpreter, so chunks can be checked in threads.
    """
    for number, page in enumerate(pages_of(descriptor, chunk)):
        if page.checksum is not None:
            data = os.pread(descriptor, page.stored_bytes, page.offset)
            if zlib.crc32(data) != page.checksum & 0xFFFFFFFF:
                raise BadPages(f"CRC checksum verification failed for page {number}")
