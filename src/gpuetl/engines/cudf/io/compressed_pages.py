"""Pages that are encoded on the device, compressed by threads of the host.

A device compresses with nvCOMP, which libcudf's own writer calls and does not hand out.  Threads of the host take an
encoded page each, while the device encodes the next batch: libraries compress without the lock of the interpreter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.cudf.io.parquet_metadata import LZ4_RAW, SNAPPY, ZSTD, ChunkPlace
from gpuetl.engines.cudf.io.row_groups import Groups, Page
from gpuetl.engines.cudf.machine import Machine
from gpuetl.formats.compression import Compression
from gpuetl.threads import in_threads

CODECS: Mapping[str, tuple[str, int]] = {
    "zstd": ("zstd", ZSTD),
    "snappy": ("snappy", SNAPPY),
    "lz4": ("lz4_raw", LZ4_RAW),
}
"""By the name that users write: what Arrow calls it, and its number in Parquet."""


class Compressed(NamedTuple):
    """Row groups as they are stored, from a place in a file on: their bytes, and their column chunks."""

    start: int
    data: bytes
    places: list[list[ChunkPlace]]

    @property
    def end(self) -> int:
        """The place after the last byte."""
        return self.start + len(self.data)


class Stored(NamedTuple):
    """The bytes of a page as it lies in the file, and the size of its header without compression."""

    header: bytes
    body: Any

    @property
    def size(self) -> int:
        """The bytes of the page."""
        return len(self.header) + len(self.body)


def compressed(groups: Groups, compression: Compression, start: int, machine: Machine) -> Compressed:
    """Return row groups with compressed pages, which are to lie in a file from a place on.

    Host memory is needed for all bytes of the row groups, and for what they are compressed to, twice for a moment.
    """
    name, number = CODECS[compression.codec]
    memory = on_host(groups, machine)
    pages = list(located(groups))
    stored = in_threads(partial(compressed_page, memory, name, compression.level), pages)
    left, places, at = iter(stored), list[list[ChunkPlace]](), start
    for group_places, group_pages in zip(groups.places, groups.pages, strict=True):
        places.append([])
        for place, own in zip(group_places, group_pages, strict=True):
            sizes = [next(left).size for _ in own]
            dictionary = sizes[0] if own and own[0].encoding is None else 0
            places[-1].append(
                place._replace(
                    start=at, size=sum(sizes), dictionary_size=dictionary, codec=number, plain_size=place.size
                )
            )
            at += sum(sizes)
    return Compressed(start, b"".join(part for page in stored for part in page), places)


def on_host(groups: Groups, machine: Machine) -> NDArray[np.uint8]:
    """Copy the bytes of row groups."""
    assert groups.data is not None
    array, start, size = groups.data
    memory = np.empty(size, np.uint8)
    machine.to_host([array[start : start + size]], memory)
    return memory


def located(groups: Groups) -> Iterator[tuple[int, Page]]:
    """Yield the pages of row groups, each with the place where its content begins."""
    at = 0
    for page in (page for group in groups.pages for chunk in group for page in chunk):
        yield at + page.header_size, page
        at += page.header_size + page.size


def compressed_page(memory: NDArray[np.uint8], codec: str, level: int | None, place: tuple[int, Page]) -> Stored:
    """Compress the content of a page, and make its header."""
    start, page = place
    compressor = pa.Codec(codec) if level is None else pa.Codec(codec, level)
    body = compressor.compress(pa.py_buffer(memory[start : start + page.size]))
    return Stored(page.header(body.size), body)
