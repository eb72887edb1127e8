"""Pages that are encoded on the device, compressed there, or by threads of the host where the device cannot.

A device compresses many chunks at a time, each by a few threads, so pages are short where there is a codec: see
`row_groups.COMPRESSED`.  The host compresses pages for which the device has no codec, no room, or no level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.cudf.columns.arrays import host_copies
from gpuetl.engines.cudf.io.column_chunks import Page, StoredPage, stored_page
from gpuetl.engines.cudf.io.parquet_metadata import LZ4_RAW, SNAPPY, UNCOMPRESSED, ZSTD
from gpuetl.engines.cudf.io.threaded_file import Piece, Span, assembled, piece_bytes
from gpuetl.engines.cudf.machine import Array, CompressedChunks, Machine
from gpuetl.formats.compression import Compression
from gpuetl.records import dataclass
from gpuetl.telemetry.recorder import note
from gpuetl.threads import in_threads

CODECS: Mapping[str, tuple[str, int]] = {
    "none": ("uncompressed", UNCOMPRESSED),
    "zstd": ("zstd", ZSTD),
    "snappy": ("snappy", SNAPPY),
    "lz4": ("lz4_raw", LZ4_RAW),
}
"""By the name that users write: what Arrow calls it, and its number in Parquet."""
DEVICE_LEVELS = (None, 1)
"""The levels of zstd that the device's stands for: it has one, whose files are about as large as those of level 1."""
ALIGNMENT = 16
"""Each page's content begins at a multiple of these bytes; a codec of the device asks for 4."""
PADDING = [bytes(size) for size in range(ALIGNMENT)]


def reason_for_host(compression: Compression, machine: Machine) -> str:
    """Return why the host compresses all pages; nothing where the device does, or where there is no codec."""
    if compression.codec == "none":
        return ""
    if compression.level not in DEVICE_LEVELS:
        return f"the GPU compresses as {compression.codec}(1) only, not as {compression}"
    return "" if machine.compressor(compression.codec) else "nvCOMP 5 (libnvcomp.so.5) is not installed"


class Contents(NamedTuple):
    """What pages contain, in device memory (uint8): from where on, and how many bytes, of each."""

    data: Array
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]


def contents_of(pages: Sequence[Page], machine: Machine) -> Contents:
    """Copy what pages contain, one behind another, aligned."""
    pieces, sizes = list[Piece](), np.array([page.size for page in pages], np.int64)
    for page in pages:
        pieces += page.content
        if page.size % ALIGNMENT:
            pieces.append(PADDING[-page.size % ALIGNMENT])
    ends = np.cumsum(-(-sizes // ALIGNMENT) * ALIGNMENT)
    data = assembled(pieces, machine).array if len(ends) and ends[-1] else machine.arrays.empty(0, "uint8")
    return Contents(data, np.concatenate([[0], ends[:-1]]).astype(np.int64), sizes)


class PagesToStore(Protocol):
    """Pages of a batch, on their way to what a file has."""

    def stored(self) -> list[StoredPage]:
        """Return the pages as they are to lie in a file; the host may wait for the device."""


@dataclass(frozen=True, eq=False)
class PlainPages:
    """Pages that are stored as they are."""

    pages: Sequence[Page]

    def stored(self) -> list[StoredPage]:
        """Return them behind their headers."""
        return [stored_page(page, page.content, page.size) for page in self.pages]


class CompressedPages:
    """Pages that the device begins to compress when this is made.

    Device memory is needed for their contents once more, for what these may be compressed to, and for what the codec
    works with.  The memory that the pages were encoded to is let go.
    """

    def __init__(self, pages: Sequence[Page], compression: Compression, machine: Machine) -> None:
        self.compression, self.machine = compression, machine
        self.contents = contents_of(pages, machine)
        self.pages = [page._replace(content=[]) for page in pages]
        self.chosen, self.chunks = self.begin()

    def begin(self) -> tuple[NDArray[np.int64], CompressedChunks | None]:
        """Begin to compress on the device; return which pages it takes, large ones first: the last to end is small."""
        on_host = reason_for_host(self.compression, self.machine)
        compressor = None if on_host else self.machine.compressor(self.compression.codec)
        if compressor is None:
            return np.empty(0, np.int64), None
        data, starts, sizes = self.contents
        order = np.argsort(-sizes, kind="stable")
        chosen = order[(sizes[order] > 0) & (sizes[order] <= compressor.most_bytes)]
        return chosen, compressor.begin(data, starts[chosen], sizes[chosen]) if len(chosen) else None

    def stored(self) -> list[StoredPage]:
        """Return the pages compressed; the host compresses those that the device does not."""
        bodies = self.by_device()
        left = [place for place in range(len(self.pages)) if place not in bodies]
        bodies.update(zip(left, self.by_host(left), strict=True))
        return [stored_page(page, [bodies[place]], piece_bytes(bodies[place])) for place, page in enumerate(self.pages)]

    def by_device(self) -> dict[int, Piece]:
        """Return what the device has compressed, by the places of the pages."""
        if not self.chunks:
            return {}
        data, starts, *measures = self.chunks
        sizes, statuses = (each.tolist() for each in host_copies(measures, self.machine))
        if failed := len(statuses) - statuses.count(0):
            note(f"nvCOMP could not compress {failed:,} of {len(statuses):,} pages by {self.compression}: the CPU did")
        found = zip(self.chosen.tolist(), starts.tolist(), sizes, statuses, strict=True)
        return {place: Span(data, start, size) for place, start, size, status in found if status == 0}

    def by_host(self, places: Sequence[int]) -> list[bytes]:
        """Compress pages by threads of the host: libraries compress without the lock of the interpreter.

        Host memory is needed for the pages, all that lie between them, and for what they are compressed to.
        """
        if not places:
            return []
        data, starts, sizes = self.contents
        begins, ends = starts[places], (starts + sizes)[places]
        first, last = int(np.min(begins)), int(np.max(ends))
        memory = np.empty(last - first, np.uint8)
        if len(memory):
            self.machine.to_host([data[first:last]], memory)
        contents = [memory[begin:end] for begin, end in zip(begins - first, ends - first, strict=True)]
        name, _ = CODECS[self.compression.codec]
        return in_threads(partial(compressed_bytes, name, self.compression.level), contents)


def pages_to_store(pages: Sequence[Page], compression: Compression, machine: Machine) -> PagesToStore:
    """Return pages of a batch on their way to a file, by a codec or as they are."""
    if compression.codec == "none" or not pages:
        return PlainPages(pages)
    return CompressedPages(pages, compression, machine)


def compressed_bytes(codec: str, level: int | None, content: NDArray[Any]) -> bytes:
    """Compress the content of a page."""
    compressor = pa.Codec(codec) if level is None else pa.Codec(codec, level)
    return bytes(compressor.compress(pa.py_buffer(content), asbytes=True))
