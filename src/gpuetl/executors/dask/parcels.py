"""Frames of the cudf engine between workers: one buffer each, on the device by UCX, through the host otherwise.

`distributed` looks for what can send a class by the class alone, and unpickles the class first where it arrives: this
module registers what it needs as it is imported.  Arrow tables are sent by `distributed` itself, slices without what
lies around them.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock
from typing import Any, cast

import numpy as np
from dask.sizeof import sizeof
from distributed.protocol.cuda import cuda_deserialize, cuda_serialize
from distributed.protocol.serialize import dask_deserialize, dask_serialize

from gpuetl.backends.backend import Backend, Spilled
from gpuetl.backends.cudf.columns.packed import packed, unpacked
from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.vector import Buffer
from gpuetl.executors.dask.shelf import SHELF
from gpuetl.io.spill_space import SpillSpace

ALIGNMENT = 256
"""Bytes: what CUDA's allocators give, so that kernels find arrays as they would alone."""
Places = list[tuple[int, str, tuple[int, ...]]]


class Parcel:
    """A frame as the result of a task; what is spilled stays so, and each reader gets a frame of its own."""

    def __init__(self, frame: Frame) -> None:
        buffers = packed(frame)[1]
        self.nbytes = sum(int(buffer.nbytes) for buffer in buffers)
        self.on_device = not all(isinstance(buffer, np.ndarray) for buffer in buffers)
        self.waiting: Frame | None = frame
        self.spilled: Spilled | None = None
        self.lock = Lock()
        SHELF.parcels.add(self)

    @property
    def is_resident(self) -> bool:
        """Whether the frame is in the engine's memory."""
        return self.waiting is not None

    @property
    def frame(self) -> Frame:
        """The frame, from wherever it is; raise `MemoryError` where the others' room does not suffice for it either."""
        with self.lock:
            waiting, spilled = self.waiting, self.spilled
        if waiting is not None:
            return waiting
        assert spilled is not None
        SHELF.moved.update(spilled.comes)
        try:
            return cast("Frame", spilled.restored())
        except MemoryError:
            SHELF.spill_all()
            return cast("Frame", spilled.restored())

    def spill(self, backend: Backend, space: SpillSpace) -> int:
        """Copy the frame out of the engine's memory; return the bytes that it took there."""
        with self.lock:
            if self.waiting is None:
                return 0
            self.spilled = backend.spill(self.waiting, space)
            self.waiting = None
            SHELF.moved.update(self.spilled.went)
            return self.nbytes


def sealed(frame: Any) -> Any:
    """Return a frame as a task returns it."""
    if not isinstance(frame, Frame):
        return frame
    parcel = Parcel(frame)
    SHELF.keep_limit()
    return parcel


def opened(result: Any) -> Any:
    """Return the frame that a task returned."""
    return result.frame if isinstance(result, Parcel) else result


def in_one(buffers: Sequence[Buffer]) -> tuple[Places, Buffer]:
    """Copy buffers into one; return the place, type and shape of each, and that one."""
    places: Places = []
    size = 0
    for buffer in buffers:
        places.append((size, buffer.dtype.str, buffer.shape))
        size += -(-buffer.nbytes // ALIGNMENT) * ALIGNMENT
    whole = arrays_of(buffers).empty(size or 1, "uint8")  # nothing is no frame
    for buffer, (start, _, _) in zip(buffers, places, strict=True):
        if buffer.nbytes:
            whole[start : start + buffer.nbytes] = as_bytes(buffer)
    return places, whole


def taken_apart(places: Places, whole: Buffer) -> list[Buffer]:
    """Return the buffers that `in_one` put together, on the memory of the whole."""
    buffers = []
    for start, name, shape in places:
        dtype = np.dtype(name)
        size = int(np.prod(shape)) * dtype.itemsize
        buffers.append(whole[start : start + size].view(dtype).reshape(shape))
    return buffers


def as_bytes(buffer: Buffer) -> Buffer:
    """Return an array's bytes."""
    return arrays_of([buffer]).ascontiguousarray(buffer).reshape(-1).view("uint8")


def arrays_of(buffers: Sequence[Buffer]) -> Any:
    """Return the array module of buffers."""
    if all(isinstance(buffer, np.ndarray) for buffer in buffers):
        return np
    import cupy

    return cupy


def gathered(parcel: Parcel) -> tuple[dict[str, Any], Buffer]:
    """Return a parcel's header and its one buffer, which is complete when this returns."""
    frame, buffers = packed(parcel.frame)
    places, whole = in_one(buffers)
    on_device = not isinstance(whole, np.ndarray)
    if on_device:
        arrays_of(buffers).cuda.get_current_stream().synchronize()  # who sends does not know our stream
    return {"frame": pickle.dumps(frame), "places": places, "on_device": on_device}, whole


def parcel_of(header: dict[str, Any], whole: Buffer) -> Parcel:
    """Return the parcel of a header and a buffer."""
    places = [(start, name, tuple(shape)) for start, name, shape in header["places"]]  # tuples travel as lists
    return Parcel(unpacked(pickle.loads(header["frame"]), taken_apart(places, whole)))


def to_device(parcel: Parcel) -> tuple[dict[str, Any], list[Buffer]]:
    """Send by what takes device memory; raise `NotImplementedError`, and the next way is tried, for a CPU's frames."""
    header, whole = gathered(parcel)
    if not header["on_device"]:
        raise NotImplementedError("the frame is in host memory")
    return header, [whole]


def from_device(header: dict[str, Any], frames: list[Any]) -> Parcel:
    """Take what came into device memory."""
    import cupy

    return parcel_of(header, cupy.asarray(frames[0]).view("uint8"))


def to_host(parcel: Parcel) -> tuple[dict[str, Any], list[Any]]:
    """Send through host memory, or keep on disk."""
    header, whole = gathered(parcel)
    return header, [memoryview(whole.get() if header["on_device"] else whole)]


def from_host(header: dict[str, Any], frames: list[Any]) -> Parcel:
    """Take what came into host memory; what was on a device is copied to one."""
    whole = np.frombuffer(frames[0], "uint8") if frames else np.empty(0, "uint8")
    if header["on_device"]:
        import cupy

        whole = cupy.asarray(whole)
    return parcel_of(header, whole)


cuda_serialize.register(Parcel, to_device)
cuda_deserialize.register(Parcel, from_device)
dask_serialize.register(Parcel, to_host)
dask_deserialize.register(Parcel, from_host)
sizeof.register(Parcel, lambda parcel: parcel.nbytes)
with suppress(ImportError):  # dask-cuda moves what it takes for device objects to the host where memory is short
    from dask_cuda.is_device_object import is_device_object

    is_device_object.register(Parcel, lambda parcel: parcel.on_device and parcel.is_resident)
