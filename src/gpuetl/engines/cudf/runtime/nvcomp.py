"""nvCOMP: the library by which libcudf compresses, called for pages that the engine has encoded.

Source: the headers of nvCOMP 5, nvcomp/zstd.h, nvcomp/snappy.h and nvcomp/lz4.h.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

import cupy
import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.cudf.machine import CompressedChunks
from gpuetl.engines.cudf.runtime.device_memory import memory_use
from gpuetl.errors import EvaluationError
from gpuetl.messages import coded

LIBRARY = "libnvcomp.so.5"
NAMES: Mapping[str, str] = {"zstd": "Zstd", "snappy": "Snappy", "lz4": "LZ4"}
MOST_BYTES: Mapping[str, int] = {"zstd": 1 << 24, "snappy": 1 << 22, "lz4": 1 << 22}
"""Of a chunk.  The library takes 16 MiB, and one warp compresses a chunk by snappy or lz4, 40 MB of it in a second."""
LEAST_SPACE = 1 << 28
"""What the library may work with where half of the free memory is as much; where more is free, a quarter of it.

zstd takes seven times the size of the chunks, and at least 26 ms for a call with chunks of half a MiB or more.
"""
SIZE_STEP = 4096
"""Sizes of chunks are rounded up to a multiple, so that the library is asked for few bounds."""
ALIGNMENT = 16
STATUSES: Mapping[int, str] = {
    10: "invalid value", 11: "not supported", 15: "output buffer too small", 17: "alignment", 18: "chunk too large",
    19: "cannot compress", 21: "too many chunks", 1000: "CUDA error", 10000: "internal error",
}  # fmt: skip
"""What the library's statuses mean."""


class Options(ctypes.Structure):
    """The options of a codec, 64 bytes, by value: zero is the default of each, for LZ4 bytes without bitshuffle."""

    _fields_ = [("reserved", ctypes.c_char * 64)]


SIZE, ADDRESS = ctypes.c_size_t, ctypes.c_void_p
OUT = ctypes.POINTER(SIZE)


class NvcompCompressor:
    """One codec of the library."""

    def __init__(self, library: ctypes.CDLL, codec: str) -> None:
        self.codec, self.most_bytes = codec, MOST_BYTES[codec]
        prefix = f"nvcompBatched{NAMES[codec]}Compress"
        self.compress = function(library, f"{prefix}Async", [
            ADDRESS, ADDRESS, SIZE, SIZE, ADDRESS, SIZE, ADDRESS, ADDRESS, Options, ADDRESS, ADDRESS,
        ])  # fmt: skip
        self.temporary = function(library, f"{prefix}GetTempSizeAsync", [SIZE, SIZE, Options, OUT, SIZE])
        self.most_output = function(library, f"{prefix}GetMaxOutputChunkSize", [SIZE, Options, OUT])
        self.room = lru_cache(self.most_bytes // SIZE_STEP)(self.room_of)

    def begin(self, data: Any, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> CompressedChunks:
        """Ask the library, on the current stream; memory comes from the engine's pool."""
        rounded = -(-sizes // SIZE_STEP) * SIZE_STEP
        ends = np.cumsum([self.room(size) for size in rounded.tolist()])
        made, made_starts = cupy.empty(int(ends[-1]), "uint8"), np.concatenate([[0], ends[:-1]])
        table = np.stack([starts + data.data.ptr, sizes, made_starts + made.data.ptr])
        d_table, stored, statuses = (
            cupy.asarray(table),
            cupy.zeros(len(sizes), "uint64"),
            cupy.zeros(len(sizes), "int32"),
        )
        parts = list(self.parts(sizes, most_space()))
        space = cupy.empty(max(1, *(self.space(sizes[part]) for part in parts)), "uint8")
        for part in parts:
            d_starts, d_sizes, d_made = (row[part].data.ptr for row in d_table)
            status = self.compress(
                d_starts, d_sizes, int(np.max(sizes[part])), len(sizes[part]), space.data.ptr, space.nbytes,
                d_made, stored[part].data.ptr, Options(), statuses[part].data.ptr, cupy.cuda.get_current_stream().ptr,
            )  # fmt: skip
            self.check(status)
        return CompressedChunks(made, made_starts.astype(np.int64), stored, statuses)

    def parts(self, sizes: NDArray[np.int64], most_space: int) -> Iterator[slice]:
        """Yield chunks for one call each: all of them, or fewer where these would take too much memory."""
        left = [slice(0, len(sizes))]
        while left:
            part = left.pop()
            half = (part.start + part.stop) // 2
            if part.stop - part.start == 1 or self.space(sizes[part]) <= most_space:
                yield part
            else:
                left += [slice(half, part.stop), slice(part.start, half)]

    def space(self, sizes: NDArray[np.int64]) -> int:
        """Return the bytes of memory that the library works with for some chunks."""
        return self.asked(self.temporary, len(sizes), int(np.max(sizes)), Options(), total=int(np.sum(sizes)))

    def room_of(self, size: int) -> int:
        """Return the bytes that a chunk of a size may be compressed to, aligned."""
        return -(-self.asked(self.most_output, size, Options()) // ALIGNMENT) * ALIGNMENT

    def asked(self, call: Callable[..., int], *arguments: Any, total: int | None = None) -> int:
        """Return the size that a function puts behind its arguments, before the total size, if it takes that."""
        size = SIZE()
        self.check(call(*arguments, ctypes.byref(size), *([] if total is None else [total])))
        return size.value

    def check(self, status: int) -> None:
        """Raise `EvaluationError` where the library refuses a call."""
        if status:
            meaning = STATUSES.get(status, f"status {status}")
            raise EvaluationError(
                coded("GE1538", f"nvCOMP could not compress pages by {self.codec}: {meaning}"),
                "Write `compression: none`, or another codec, for this sink.",
            )


def free_memory() -> int:
    """Return the bytes that may still be allocated."""
    use = memory_use()
    return max(use.limit - use.in_use, 0)


def most_space() -> int:
    """Return the bytes that the library may work with."""
    free = free_memory()
    return max(free // 4, min(free // 2, LEAST_SPACE))


def function(library: ctypes.CDLL, name: str, arguments: list[Any]) -> Callable[..., int]:
    """Return a function of the library, which returns a status."""
    found = library[name]
    found.argtypes, found.restype = arguments, ctypes.c_int
    return found


@cache
def compressor(codec: str) -> NvcompCompressor | None:
    """Return a codec; None where the library is not installed, or lacks a function."""
    try:
        return NvcompCompressor(loaded_library(), codec)
    except (OSError, ImportError, AttributeError):
        return None


@cache
def loaded_library() -> ctypes.CDLL:
    """Return the library, which libcudf has loaded; else the one of the package, or of the system.

    Raises
    ------
    OSError, ImportError
        Where there is none.
    """
    try:
        return ctypes.CDLL(LIBRARY)
    except OSError:
        from nvidia import libnvcomp

        found = libnvcomp.load_library()
        if found is None:
            raise
        return found  # type: ignore[no-any-return]
