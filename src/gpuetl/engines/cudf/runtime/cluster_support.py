"""What the GPU engine does on workers of a cluster: its frames in one buffer, and its plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.vector import Buffer, Vector
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.runtime import packed_frames
from gpuetl.engines.interface import EngineClusterSupport, FrameSize, PackedFrames
from gpuetl.physical.nodes import Scan
from gpuetl.types.data_types import INT64

ROWS = 1 << 20
"""8 MB: enough that UCX takes the way of large messages."""


class CudfClusterSupport(EngineClusterSupport[Frame, Buffer]):
    """See `ClusterSupport`.  Nothing here imports CuPy before a device is needed."""

    frame_type: type = Frame

    def size_of(self, frame: Frame, shares_memory: bool) -> FrameSize:
        """Return the bytes of a frame's buffers, or of all that these are parts of."""
        buffers = list(packed_frames.buffers_of(frame))
        nbytes = sum(int(buffer.nbytes) for buffer in buffers) if shares_memory else packed_frames.held_bytes(buffers)
        return FrameSize(nbytes, on_device=not all(isinstance(buffer, np.ndarray) for buffer in buffers))

    def pack(self, frames: Iterable[Frame]) -> PackedFrames:
        """Put frames into one buffer."""
        return packed_frames.pack(frames)

    def unpack(self, header: bytes, buffer: Buffer) -> list[Frame]:
        """Return the frames of a buffer."""
        return packed_frames.unpack(header, buffer)

    def copy_to_host(self, buffer: Buffer) -> memoryview:
        """Return the bytes of a buffer in host memory."""
        array: Any = buffer  # CuPy's have `get`, NumPy's in tests have not
        host: Any = array if isinstance(array, np.ndarray) else array.get()
        return memoryview(host)

    def copy_to_device(self, buffer: NDArray[np.uint8]) -> Buffer:
        """Copy bytes to the device."""
        with self.stage("copy to device"):
            return machine_here().arrays.asarray(buffer)

    def received_on_device(self, buffer: object) -> Buffer:
        """Return what UCX has received as an array on it."""
        import cupy

        array: Buffer = cupy.asarray(buffer)
        return array.view("uint8")

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Return a stage of this process's machine."""
        return machine_here().stage(name)

    def warm_up_frame(self) -> Frame:
        """Return zeros."""
        return Frame({"x": Vector(INT64, ROWS, machine_here().arrays.zeros(ROWS, "int64"))}, ROWS)

    def pack_scan(self, scan: Scan) -> tuple[Callable[..., Scan], tuple[Any, ...]]:
        """Return a scan with the kinds of its columns, by what only the driver has: files' metadata, rows in memory."""
        from gpuetl.engines.cudf.runtime.packed_scan import pack_scan

        return pack_scan(scan)


def machine_here() -> Machine:
    """Return the machine of this process, which is made at the first call."""
    from gpuetl.engines.cudf.runtime.gpu_machine import machine

    return machine()
