"""Stands in for nvCOMP: Arrow's codecs, behind what the engine asks of a device."""

from typing import Any

import numpy as np
import pyarrow as pa

from gpu_engine.device_arrays import device_array, plain
from gpuetl.engines.cudf.machine import CompressedChunks


class HostCompressor:
    """A codec of Arrow's, which compresses chunks as nvCOMP does: each to memory for the most that it may take."""

    most_bytes = 1 << 24

    def __init__(self, codec: str) -> None:
        self.codec = pa.Codec("lz4_raw" if codec == "lz4" else codec)

    def begin(self, data: Any, starts: Any, sizes: Any) -> CompressedChunks:
        """Compress chunk after chunk."""
        assert len(sizes), "a launch has a chunk"
        assert not (starts % 16).any(), "chunks are aligned"
        assert 0 < sizes.min() <= sizes.max() <= self.most_bytes
        memory = plain(data)
        stored = [
            self.codec.compress(pa.py_buffer(memory[at : at + size].copy()), asbytes=True)
            for at, size in zip(starts, sizes, strict=True)
        ]
        room = 2 * int(sizes.max()) + 64
        made, made_starts = np.zeros(room * len(stored), np.uint8), room * np.arange(len(stored), dtype=np.int64)
        for start, chunk in zip(made_starts, stored, strict=True):
            made[start : start + len(chunk)] = np.frombuffer(chunk, np.uint8)
        statuses = np.array([self.status(size) for size in sizes], np.int32)
        return CompressedChunks(
            device_array(made),
            made_starts,
            device_array(np.array(list(map(len, stored)), np.uint64)),
            device_array(statuses),
        )

    def status(self, size: int) -> int:
        """Return what became of a chunk."""
        return 0
