"""Large Parquet reads: threads bring column chunks to the device while those that are there are decoded.

libcudf fetches all bytes of a call before it decodes any.  Here a read is cut into parts of row groups, whose bytes are
fetched one part after another by all threads together; each is decoded by libcudf on a stream of its own, since the
decompression of one part leaves most of the device idle.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import local
from typing import Any

import cupy
import pylibcudf as plc
from cupy.cuda import runtime
from pylibcudf.io.experimental import HybridScanReader
from rmm.pylibrmm.stream import Stream

from gpuetl.backends.cudf.gpu.transfers import CHUNK_BYTES, this_thread, transfers

LEAST_BYTES = 64 << 20
"""Of all files; smaller ones are read before threads and pinned memory are there."""
PARTS, DECODERS = 16, 8
ALIGNMENT = 256
"""Of a column chunk in device memory; decoders read some bytes beyond its end."""
_DECODER = local()


@dataclass(frozen=True)
class Bytes:
    """Device memory as libcudf takes it."""

    ptr: int
    size: int


@dataclass(frozen=True, eq=False)
class Part:
    """Some row groups of a file: where the bytes of their column chunks are, and where they go."""

    descriptor: int
    reader: Any
    options: Any
    row_groups: Sequence[int]
    places: Sequence[tuple[int, int]]
    memory: Any

    @property
    def chunks(self) -> Iterator[tuple[int, Bytes]]:
        """Yield the place of each column chunk in the file, and its memory."""
        start = self.memory.data.ptr
        for offset, size in self.places:
            yield offset, Bytes(start, size)
            start += padded(size)


def read_parts(files: Mapping[Path, Sequence[int]], columns: Sequence[str]) -> tuple[list[str], Sequence[Any]]:
    """Return the names and libcudf's columns of row groups of some files, in order.

    Raises
    ------
    OSError, RuntimeError
        For a file that cannot be read.
    """
    with ExitStack() as opened:
        parts = [part for path, groups in cut(files) for part in [part_of(path, groups, columns, opened)]]
        ready = cupy.cuda.Event(disable_timing=True)
        ready.record()  # the memory may still be in use by what the current stream has been given before
        decoded = [decoders().submit(decode, part, fetched(part, ready)) for part in parts]
        tables = [future.result() for future in finished(decoded)]
        whole = plc.concatenate.concatenate([table.tbl for table in tables])
        cupy.cuda.get_current_stream().synchronize()  # the parts' memory belongs to other streams
    return tables[0].column_names(), whole.columns()


def is_large(files: Iterable[Path]) -> bool:
    """Tell whether files are large enough to be read in parts."""
    return sum(path.stat().st_size for path in files) >= LEAST_BYTES


def cut(files: Mapping[Path, Sequence[int]]) -> Iterator[tuple[Path, Sequence[int]]]:
    """Yield row groups that are read together, of one file each: about `PARTS` in all."""
    most = -(-sum(map(len, files.values())) // PARTS)
    for path, groups in files.items():
        pieces = -(-len(groups) // most)
        for piece in range(pieces):
            yield path, groups[len(groups) * piece // pieces : len(groups) * (piece + 1) // pieces]


def part_of(path: Path, groups: Sequence[int], columns: Sequence[str], opened: ExitStack) -> Part:
    """Open a file and allocate what it needs."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    opened.callback(os.close, descriptor)
    options = plc.io.parquet.ParquetReaderOptions.builder(plc.io.SourceInfo([])).use_arrow_schema(True).build()
    options.set_column_names(list(columns))
    reader = HybridScanReader(footer_bytes(descriptor, path), options)
    ranges = reader.all_column_chunks_byte_ranges(list(groups), options)
    places = [(found.offset, found.size) for found in ranges]
    memory = cupy.empty(sum(padded(size) for _, size in places), "uint8")
    return Part(descriptor, reader, options, list(groups), places, memory)


def footer_bytes(descriptor: int, path: Path) -> bytes:
    """Return a Parquet file's footer; raise `OSError` where there is none."""
    size = os.fstat(descriptor).st_size
    end = os.pread(descriptor, 8, max(0, size - 8))
    if end[4:] != b"PAR1":
        raise OSError(f"{path} does not end as a Parquet file")
    length = int.from_bytes(end[:4], "little")
    return os.pread(descriptor, length, size - 8 - length)


def padded(size: int) -> int:
    """Return the memory that a column chunk takes."""
    return -(-(size + 8) // ALIGNMENT) * ALIGNMENT


def fetched(part: Part, ready: Any) -> list[Future[None]]:
    """Begin to bring a part's bytes to the device."""
    submit = transfers(cupy.cuda.Device().id).submit
    return [submit(fetch, part.descriptor, offset, memory, ready) for offset, memory in part.chunks]


def fetch(descriptor: int, offset: int, memory: Bytes, ready: Any) -> None:
    """Read bytes of a file to pinned memory, as many at a time as it holds, and copy them to the device."""
    own = this_thread()
    own.stream.wait_event(ready)
    for start in range(0, memory.size, CHUNK_BYTES):
        size = min(CHUNK_BYTES, memory.size - start)
        fill(descriptor, memoryview(own.view)[:size], offset + start)
        runtime.memcpyAsync(memory.ptr + start, own.view.ctypes.data, size, runtime.memcpyHostToDevice, own.stream.ptr)
        own.stream.synchronize()


def fill(descriptor: int, view: memoryview, offset: int) -> None:
    """Read as many bytes as fit; the system may give fewer at a time."""
    while view:
        count = os.preadv(descriptor, [view], offset)
        if not count:
            raise OSError("a file ends before its footer says")
        view, offset = view[count:], offset + count


def decode(part: Part, fetched: Sequence[Future[None]]) -> Any:
    """Decode a part when its bytes are there."""
    for future in fetched:
        future.result()
    _, memory = zip(*part.chunks, strict=True)
    table = part.reader.materialize_all_columns(part.row_groups, list(memory), part.options, _DECODER.stream)
    _DECODER.stream.synchronize()
    return table


def finished(futures: Sequence[Future[Any]]) -> Sequence[Future[Any]]:
    """Wait for all, also where one fails: they use memory and files that are let go of then."""
    for future in futures:
        future.exception()
    return futures


@cache
def decoders() -> ThreadPoolExecutor:
    """Return the threads that decode, each with a stream of its own."""
    return ThreadPoolExecutor(DECODERS, "gpuetl-decode", begin_decoder(cupy.cuda.Device().id))


def begin_decoder(device: int) -> Callable[[], None]:
    """Return what gives a thread its stream."""

    def begin() -> None:
        cupy.cuda.Device(device).use()
        _DECODER.stream = Stream()

    return begin
