"""Frames of the cudf engine between workers: one buffer each, on the device by UCX, through the host otherwise.

`distributed` looks for what can send a class by the class alone, and unpickles the class first where it arrives: this
module registers what it needs as it is imported.  Arrow tables are sent by `distributed` itself, slices without what
lies around them.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate
from threading import Lock
from typing import Any, cast

import numpy as np
from dask.sizeof import sizeof
from distributed.protocol import to_serialize
from distributed.protocol.cuda import cuda_deserialize, cuda_serialize
from distributed.protocol.serialize import dask_deserialize, dask_serialize

from gpuetl.backends.backend import Backend, Spilled
from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.vector import Buffer
from gpuetl.executors.dask.one_buffer import arrays_of, buffers_of, held_bytes, in_one
from gpuetl.executors.dask.shelf import SHELF
from gpuetl.io.spill_space import SpillSpace


class Parcel:
    """A frame as the result of a task; what is spilled stays so, and each reader gets a frame of its own.

    Of frames that share memory, each counts its part of it.
    """

    def __init__(self, frame: Frame, shares_memory: bool = False) -> None:
        buffers = list(buffers_of(frame))
        self.nbytes = sum(int(buffer.nbytes) for buffer in buffers) if shares_memory else held_bytes(buffers)
        self.on_device = not all(isinstance(buffer, np.ndarray) for buffer in buffers)
        self.waiting: Frame | None = frame
        self.spilled: Spilled | None = None
        self.lock = Lock()
        SHELF.add(self)

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
        SHELF.move(spilled.comes)
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
            SHELF.move(self.spilled.went)
            return self.nbytes


class Bundle(tuple[Parcel, ...]):
    """Parcels that are sent as one."""

    __slots__ = ()


def waiting(frame: Any) -> Any:
    """Return a frame as a task's result holds it."""
    return Parcel(frame) if isinstance(frame, Frame) else frame


def sealed(frame: Any) -> Any:
    """Return a frame as a task returns it; the result of another one stays as it is."""
    return all_sealed([frame])[0]


def all_sealed(frames: Sequence[Any]) -> list[Any]:
    """Return frames as a task returns them."""
    results = list(map(waiting, frames))
    SHELF.keep_limit()
    return results


def opened(result: Any) -> Any:
    """Return the frame that a task returned."""
    return result.frame if isinstance(result, Parcel) else result


def bundled(results: Sequence[Any]) -> Any:
    """Return results of tasks to be sent: parcels together, others each by itself."""
    if results and all(isinstance(result, Parcel) for result in results):
        return to_serialize(Bundle(results))
    return [to_serialize(result) for result in results]


def gathered(parcels: Sequence[Parcel]) -> tuple[dict[str, Any], Buffer]:
    """Return a header and one buffer for parcels; it is complete when this returns."""
    packed_frames, wholes = zip(*(in_one(parcel.frame) for parcel in parcels), strict=True)
    starts = accumulate((int(whole.nbytes) for whole in wholes), initial=0)
    frames = [one.moved(start) for one, start in zip(packed_frames, starts, strict=False)]
    arrays = arrays_of(wholes)
    whole = wholes[0] if len(wholes) == 1 else arrays.concatenate(wholes)
    if arrays is not np:
        arrays.cuda.get_current_stream().synchronize()  # who sends does not know our stream
    return {"frames": pickle.dumps(frames), "on_device": arrays is not np}, whole


def parcels_of(header: dict[str, Any], whole: Buffer) -> Bundle:
    """Return the parcels of a header and a buffer."""
    frames = [one.frame(whole) for one in pickle.loads(header["frames"])]
    return Bundle(Parcel(frame, shares_memory=len(frames) > 1) for frame in frames)


def to_device(parcels: Sequence[Parcel]) -> tuple[dict[str, Any], list[Buffer]]:
    """Send by what takes device memory; raise `NotImplementedError`, and the next way is tried, for a CPU's frames."""
    header, whole = gathered(parcels)
    if not header["on_device"]:
        raise NotImplementedError("the frame is in host memory")
    return header, [whole]


def from_device(header: dict[str, Any], frames: list[Any]) -> Bundle:
    """Take what came into device memory."""
    import cupy

    return parcels_of(header, cupy.asarray(frames[0]).view("uint8"))


def to_host(parcels: Sequence[Parcel]) -> tuple[dict[str, Any], list[Any]]:
    """Send through host memory, or keep on disk."""
    header, whole = gathered(parcels)
    return header, [memoryview(whole.get() if header["on_device"] else whole)]


def from_host(header: dict[str, Any], frames: list[Any]) -> Bundle:
    """Take what came into host memory; what was on a device is copied to one."""
    whole = np.frombuffer(frames[0], "uint8") if frames else np.empty(0, "uint8")
    if header["on_device"]:
        import cupy

        whole = cupy.asarray(whole)
    return parcels_of(header, whole)


cuda_serialize.register(Bundle, to_device)
cuda_deserialize.register(Bundle, from_device)
dask_serialize.register(Bundle, to_host)
dask_deserialize.register(Bundle, from_host)
cuda_serialize.register(Parcel, lambda parcel: to_device([parcel]))
cuda_deserialize.register(Parcel, lambda header, frames: from_device(header, frames)[0])
dask_serialize.register(Parcel, lambda parcel: to_host([parcel]))
dask_deserialize.register(Parcel, lambda header, frames: from_host(header, frames)[0])
sizeof.register(Parcel, lambda parcel: parcel.nbytes)
with suppress(ImportError):  # dask-cuda moves what it takes for device objects to the host where memory is short
    from dask_cuda.is_device_object import is_device_object

    is_device_object.register(Parcel, lambda parcel: parcel.on_device and parcel.is_resident)
