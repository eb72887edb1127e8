"""Frames that are results of tasks: they can be spilled while they wait, and go from worker to worker in one buffer.

What a frame is and how it is packed is its engine's business: see `ClusterSupport`.  Frames go from device to device by
UCX, through the host otherwise.  `distributed` looks for what can send a class by the class alone, and unpickles the
class first where it arrives: this module registers what it needs as it is imported.  Arrow tables, of an engine without
such support, are sent by `distributed` itself, slices without what lies around them.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from threading import Lock
from typing import Any, TypeVar, cast

import numpy as np
from dask.sizeof import sizeof
from distributed.protocol import to_serialize
from distributed.protocol.cuda import cuda_deserialize, cuda_serialize
from distributed.protocol.serialize import dask_deserialize, dask_serialize

from gpuetl.engines.interface import Backend, ClusterSupport, Frame, PackedFrames, SpilledToHost
from gpuetl.executors.dask.spill_registry import SPILL_REGISTRY
from gpuetl.io.spill_space import SpillSpace
from gpuetl.memory_limits import done_again, is_out_of_memory

LOG = logging.getLogger("distributed.worker")
Result = TypeVar("Result")
Header = dict[str, Any]


class SpillableFrame:
    """A frame as the result of a task; what is spilled stays so, and each reader gets a frame of its own.

    Of frames that share memory, each counts its part of it.
    """

    def __init__(self, frame: Frame, support: ClusterSupport, shares_memory: bool = False) -> None:
        self.support = support
        self.nbytes, self.on_device = support.size_of(frame, shares_memory)
        self.waiting: Frame | None = frame
        self.spilled: SpilledToHost | None = None
        self.lock = Lock()
        SPILL_REGISTRY.add(self)

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
        SPILL_REGISTRY.count_bytes(spilled.restore_traffic)
        return with_spilling(spilled.restored)

    def spill(self, backend: Backend, space: SpillSpace) -> int:
        """Copy the frame out of the engine's memory; return the bytes that it took there."""
        with self.lock:
            if self.waiting is None:
                return 0
            self.spilled = cast("SpilledToHost", backend.spill(self.waiting, space))
            self.waiting = None
            SPILL_REGISTRY.count_bytes(self.spilled.spill_traffic)
            return self.nbytes


class UnsentFrame(SpillableFrame):
    """A frame that could not be sent, or received: who unwraps it gets the error.

    Dask would wait for ever for one that cannot be serialized, or deserialized.
    """

    nbytes, on_device, waiting, spilled = 0, False, None, None

    def __init__(self, message: str, lacked_memory: bool) -> None:
        self.message, self.lacked_memory, self.lock = message, lacked_memory, Lock()

    @property
    def frame(self) -> Frame:
        """Raise `MemoryError`, by which the run begins again with smaller partitions, or else `RuntimeError`."""
        raise (MemoryError if self.lacked_memory else RuntimeError)(self.message)


class FrameBatch(tuple[SpillableFrame, ...]):
    """Spillable frames of one engine that are sent as one."""

    __slots__ = ()


def spillable(frame: Any, support: ClusterSupport | None) -> Any:
    """Return a frame so that it can be spilled while it waits; what is no frame of the engine stays as it is."""
    if support is None or not isinstance(frame, support.frame_type):
        return frame
    return SpillableFrame(frame, support)


def wrapped(frame: Any, support: ClusterSupport | None) -> Any:
    """Return a frame as a task returns it; the result of another one stays as it is."""
    return all_wrapped([frame], support)[0]


def all_wrapped(frames: Sequence[Any], support: ClusterSupport | None) -> list[Any]:
    """Return frames as a task returns them."""
    results = [spillable(frame, support) for frame in frames]
    SPILL_REGISTRY.enforce_limit()
    return results


def unwrapped(result: Any) -> Any:
    """Return the frame that a task returned."""
    return result.frame if isinstance(result, SpillableFrame) else result


def batched(results: Sequence[Any]) -> Any:
    """Return results of tasks to be sent: spillable frames together, others each by itself."""
    if results and all(isinstance(result, SpillableFrame) for result in results):
        return to_serialize(FrameBatch(results))
    return [to_serialize(result) for result in results]


def with_spilling(step: Callable[[], Result]) -> Result:
    """Return what a step gives; where memory runs out, spill what waits and do it once more."""
    return done_again(step, SPILL_REGISTRY.spill_all)


# Frames to a header and buffers, and back.


def pack_batch(frames: Sequence[SpillableFrame]) -> PackedFrames:
    """Return frames in one buffer, complete when this returns: who sends knows no stream of the engine's."""
    _references = [frame.waiting for frame in frames]  # who spills one meanwhile must not free what is still to be read
    with stage("put together", frames):
        return frames[0].support.pack(frame.frame for frame in frames)


def stage(name: str, frames: Sequence[SpillableFrame]) -> AbstractContextManager[None]:
    """Return the engine's stage for what is done with frames, if any is on a device."""
    return frames[0].support.stage(name) if any(frame.on_device for frame in frames) else nullcontext()


def header_of(frames: Sequence[SpillableFrame], buffer: PackedFrames, on_device: bool) -> Header:
    """Return what is sent along with the buffer: also the engine's support, by which the receiver unpacks it."""
    support = pickle.dumps(frames[0].support)
    return {"frames": buffer.header, "support": support, "count": len(frames), "on_device": on_device}


def unpack_batch(support: ClusterSupport, header: bytes, buffer: Any) -> FrameBatch:
    """Return the frames of a buffer."""
    frames = support.unpack(header, buffer)
    return FrameBatch(SpillableFrame(frame, support, shares_memory=len(frames) > 1) for frame in frames)


def receive(header: Header, buffer_of: Callable[[ClusterSupport], Any]) -> FrameBatch:
    """Return the frames that came in a buffer, which may be moved for it."""
    try:
        support = pickle.loads(header["support"])
        return with_spilling(lambda: unpack_batch(support, header["frames"], buffer_of(support)))
    except Exception as error:
        return FrameBatch([unsent(error)] * header["count"])


def unsent(error: Exception) -> UnsentFrame:
    """Return a stand-in for a frame that was not sent; other errors than lack of memory go to the worker's log."""
    if is_out_of_memory(error):
        return UnsentFrame(str(error), lacked_memory=True)
    LOG.error("rows could not be sent", exc_info=error)
    return UnsentFrame(f"rows could not be sent: {type(error).__name__}: {error}", lacked_memory=False)


def unsent_before(frames: Sequence[SpillableFrame]) -> UnsentFrame | None:
    """Return one of the frames that could not be sent to here, if there is any."""
    return next((frame for frame in frames if isinstance(frame, UnsentFrame)), None)


def to_device(frames: Sequence[SpillableFrame]) -> tuple[Header, list[Any]]:
    """Send by what takes device memory; raise `NotImplementedError` where that cannot be: dask tries the next way."""
    if unsent_before(frames):
        raise NotImplementedError("the frames were not sent before")
    try:
        buffer = with_spilling(partial(pack_batch, frames))
    except Exception as error:
        raise NotImplementedError("the frames cannot be put together") from error
    if not buffer.on_device:
        raise NotImplementedError("the frames are in host memory")
    return header_of(frames, buffer, on_device=True), [buffer.buffer]


def from_device(header: Header, buffers: list[Any]) -> FrameBatch:
    """Take what came into device memory."""
    return receive(header, lambda support: support.received_on_device(buffers[0]))


def to_host(frames: Sequence[SpillableFrame]) -> tuple[Header, list[Any]]:
    """Send through host memory, or keep there or on disk; say so where that cannot be.

    Dask-cuda lets go of what it has had moved: then the rows are lost, and the run begins again.
    """
    failed = unsent_before(frames)
    if failed is None:
        try:
            return spilled_on_host(frames) or with_spilling(partial(copied_to_host, frames))
        except Exception as error:
            if sent := spilled_on_host(frames):  # what waited has been spilled since
                return sent
            failed = unsent(error)
    return {"unsent": (failed.message, failed.lacked_memory), "count": len(frames)}, []


def copied_to_host(frames: Sequence[SpillableFrame]) -> tuple[Header, list[Any]]:
    """Return a header and one buffer in host memory."""
    with stage("copy to host", frames):
        buffer = pack_batch(frames)
        return header_of(frames, buffer, buffer.on_device), [frames[0].support.copy_to_host(buffer.buffer)]


def spilled_on_host(frames: Sequence[SpillableFrame]) -> tuple[Header, list[Any]] | None:
    """Return the same for frames that were spilled, without device memory; nothing where that cannot be."""
    spilled = [frame.spilled for frame in frames if frame.spilled]
    if len(spilled) < len(frames):
        return None
    try:
        buffer = frames[0].support.pack(each.on_host() for each in spilled)
    except Exception:  # large dictionaries lie on the device still
        return None
    return header_of(frames, buffer, frames[0].on_device), [memoryview(buffer.buffer)]


def from_host(header: Header, buffers: list[Any]) -> FrameBatch:
    """Take what came into host memory; what was on a device is copied to one."""
    if "unsent" in header:
        return FrameBatch([UnsentFrame(*header["unsent"])] * header["count"])
    whole = np.frombuffer(buffers[0], "uint8") if buffers else np.empty(0, "uint8")
    return receive(header, lambda support: support.copy_to_device(whole) if header["on_device"] else whole)


cuda_serialize.register(FrameBatch, to_device)
cuda_deserialize.register(FrameBatch, from_device)
dask_serialize.register(FrameBatch, to_host)
dask_deserialize.register(FrameBatch, from_host)
cuda_serialize.register(SpillableFrame, lambda frame: to_device([frame]))
cuda_deserialize.register(SpillableFrame, lambda header, buffers: from_device(header, buffers)[0])
dask_serialize.register(SpillableFrame, lambda frame: to_host([frame]))
dask_deserialize.register(SpillableFrame, lambda header, buffers: from_host(header, buffers)[0])
sizeof.register(SpillableFrame, lambda frame: frame.nbytes)
with suppress(ImportError):  # dask-cuda moves what it takes for device objects to the host where memory is short
    from dask_cuda.is_device_object import is_device_object

    is_device_object.register(SpillableFrame, lambda frame: frame.on_device and frame.is_resident)
