"""Frames of the cudf engine between workers: one buffer each, on the device by UCX, through the host otherwise.

`distributed` looks for what can send a class by the class alone, and unpickles the class first where it arrives: this
module registers what it needs as it is imported.  Arrow tables are sent by `distributed` itself, slices without what
lies around them.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from itertools import accumulate
from threading import Lock
from typing import Any, TypeVar, cast

import numpy as np
from dask.sizeof import sizeof
from distributed.protocol import to_serialize
from distributed.protocol.cuda import cuda_deserialize, cuda_serialize
from distributed.protocol.serialize import dask_deserialize, dask_serialize

from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.vector import Buffer
from gpuetl.engines.cudf.runtime.spilled_frame import SpilledFrame
from gpuetl.engines.interface import Backend
from gpuetl.executors.dask.one_buffer import arrays_of, buffers_of, held_bytes, in_one
from gpuetl.executors.dask.shelf import SHELF
from gpuetl.io.spill_space import SpillSpace
from gpuetl.memory_limits import done_again, is_out_of_memory

LOG = logging.getLogger("distributed.worker")
Result = TypeVar("Result")


class Parcel:
    """A frame as the result of a task; what is spilled stays so, and each reader gets a frame of its own.

    Of frames that share memory, each counts its part of it.
    """

    def __init__(self, frame: Frame, shares_memory: bool = False) -> None:
        buffers = list(buffers_of(frame))
        self.nbytes = sum(int(buffer.nbytes) for buffer in buffers) if shares_memory else held_bytes(buffers)
        self.on_device = not all(isinstance(buffer, np.ndarray) for buffer in buffers)
        self.waiting: Frame | None = frame
        self.spilled: SpilledFrame | None = None
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
        return in_room(spilled.restored)

    def spill(self, backend: Backend, space: SpillSpace) -> int:
        """Copy the frame out of the engine's memory; return the bytes that it took there."""
        with self.lock:
            if self.waiting is None:
                return 0
            self.spilled = cast("SpilledFrame", backend.spill(self.waiting, space))
            self.waiting = None
            SHELF.move(self.spilled.went)
            return self.nbytes


class Unsent(Parcel):
    """A parcel that could not be sent, or taken: who opens it gets the error.

    Dask would wait for ever for one that cannot be serialized, or deserialized.
    """

    nbytes, on_device, waiting, spilled = 0, False, None, None

    def __init__(self, told: str, lacked_memory: bool) -> None:
        self.told, self.lacked_memory, self.lock = told, lacked_memory, Lock()

    @property
    def frame(self) -> Frame:
        """Raise `MemoryError`, by which the run begins again with smaller partitions, or else `RuntimeError`."""
        raise (MemoryError if self.lacked_memory else RuntimeError)(self.told)


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


def in_room(step: Callable[[], Result]) -> Result:
    """Return what a step gives; where memory runs out, spill what waits and do it once more."""
    return done_again(step, SHELF.spill_all)


def gathered(parcels: Sequence[Parcel]) -> tuple[dict[str, Any], Buffer]:
    """Return a header and one buffer for parcels, complete when this returns: who sends knows no stream of ours."""
    _held = [parcel.waiting for parcel in parcels]  # who spills one meanwhile must not free what is still to be read
    with stage("put together", parcels):
        return put_together(parcel.frame for parcel in parcels)


def stage(name: str, parcels: Sequence[Parcel]) -> AbstractContextManager[None]:
    """Return the engine's stage for what is done with parcels, if any is on a device."""
    if not any(parcel.on_device for parcel in parcels):
        return nullcontext()
    from gpuetl.engines.cudf.runtime.gpu_machine import machine

    return machine().stage(name)


def put_together(given: Iterable[Frame]) -> tuple[dict[str, Any], Buffer]:
    """Return a header and one buffer for frames."""
    packed_frames, wholes = zip(*map(in_one, given), strict=True)
    *starts, size = accumulate((int(whole.nbytes) for whole in wholes), initial=0)
    frames = [one.moved(start) for one, start in zip(packed_frames, starts, strict=True)]
    arrays, whole = arrays_of(wholes), wholes[0]
    if len(wholes) > 1:
        whole = arrays.empty(size, "uint8")
        for start, own in zip(starts, wholes, strict=True):
            whole[start : start + own.nbytes] = own
    return {"frames": pickle.dumps(frames), "count": len(frames), "on_device": arrays is not np}, whole


def parcels_of(header: dict[str, Any], whole: Buffer) -> Bundle:
    """Return the parcels of a header and a buffer."""
    frames = [one.frame(whole) for one in pickle.loads(header["frames"])]
    return Bundle(Parcel(frame, shares_memory=len(frames) > 1) for frame in frames)


def taken(header: dict[str, Any], whole: Callable[[], Buffer]) -> Bundle:
    """Return the parcels that came in a buffer, which may be moved for it."""
    try:
        return in_room(lambda: parcels_of(header, whole()))
    except Exception as error:
        return Bundle([unsent(error)] * header["count"])


def unsent(error: Exception) -> Unsent:
    """Return what comes in the place of a parcel; the worker's log has the whole of an error that is not of memory."""
    if is_out_of_memory(error):
        return Unsent(str(error), lacked_memory=True)
    LOG.error("rows could not be sent", exc_info=error)
    return Unsent(f"rows could not be sent: {type(error).__name__}: {error}", lacked_memory=False)


def to_device(parcels: Sequence[Parcel]) -> tuple[dict[str, Any], list[Buffer]]:
    """Send by what takes device memory; raise `NotImplementedError` where that cannot be: dask tries the next way."""
    if unsent_before(parcels):
        raise NotImplementedError("the frames were not sent before")
    try:
        header, whole = in_room(partial(gathered, parcels))
    except Exception as error:
        raise NotImplementedError("the frames cannot be put together") from error
    if not header["on_device"]:
        raise NotImplementedError("the frames are in host memory")
    return header, [whole]


def from_device(header: dict[str, Any], frames: list[Any]) -> Bundle:
    """Take what came into device memory."""
    import cupy

    return taken(header, lambda: cupy.asarray(frames[0]).view("uint8"))


def to_host(parcels: Sequence[Parcel]) -> tuple[dict[str, Any], list[Any]]:
    """Send through host memory, or keep there or on disk; say so where that cannot be.

    Dask-cuda lets go of what it has had moved: then the rows are lost, and the run begins again.
    """
    lost = unsent_before(parcels)
    if lost is None:
        try:
            return spilled_on_host(parcels) or in_room(partial(copied_to_host, parcels))
        except Exception as error:
            if sent := spilled_on_host(parcels):  # what waited has been spilled since
                return sent
            lost = unsent(error)
    return {"unsent": (lost.told, lost.lacked_memory), "count": len(parcels)}, []


def unsent_before(parcels: Sequence[Parcel]) -> Unsent | None:
    """Return one of the parcels that could not be sent to here, if there is any."""
    return next((parcel for parcel in parcels if isinstance(parcel, Unsent)), None)


def copied_to_host(parcels: Sequence[Parcel]) -> tuple[dict[str, Any], list[Any]]:
    """Return a header and one buffer in host memory."""
    with stage("copy to host", parcels):
        header, whole = gathered(parcels)
        return header, [memoryview(whole.get() if header["on_device"] else whole)]


def spilled_on_host(parcels: Sequence[Parcel]) -> tuple[dict[str, Any], list[Any]] | None:
    """Return the same for parcels that were spilled, by no memory of the device; nothing where that cannot be."""
    spilled = [parcel.spilled for parcel in parcels if parcel.spilled]
    if len(spilled) < len(parcels):
        return None
    try:
        header, whole = put_together(each.on_host() for each in spilled)
    except Exception:  # large dictionaries lie on the device still
        return None
    return header | {"on_device": parcels[0].on_device}, [memoryview(whole)]


def from_host(header: dict[str, Any], frames: list[Any]) -> Bundle:
    """Take what came into host memory; what was on a device is copied to one."""
    if "unsent" in header:
        return Bundle([Unsent(*header["unsent"])] * header["count"])
    whole = np.frombuffer(frames[0], "uint8") if frames else np.empty(0, "uint8")
    return taken(header, partial(on_device, whole) if header["on_device"] else lambda: whole)


def on_device(whole: Any) -> Any:
    """Copy bytes to the device."""
    from gpuetl.engines.cudf.runtime.gpu_machine import machine

    with machine().stage("copy to device"):
        return machine().arrays.asarray(whole)


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
