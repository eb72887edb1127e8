"""A frame outside of device memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import cast

import numpy as np

from gpuetl.engines.cudf.columns.frame import Frame, PieceColumns
from gpuetl.engines.cudf.columns.interchange import packed_frame, unpacked_frame
from gpuetl.engines.cudf.columns.vector import NO_DATA, Buffer
from gpuetl.engines.cudf.machine import Machine
from gpuetl.io.spill_space import Room, SpillSpace
from gpuetl.records import dataclass
from gpuetl.telemetry.hardware_limits import Link

FrameOf = Callable[[Sequence[Buffer]], Frame]


@dataclass(frozen=True, eq=False)
class SpilledFrame:
    """The buffers of a frame, one behind another, and what makes a frame of them again."""

    frame_of: FrameOf
    buffers: tuple[tuple[str, tuple[int, ...]], ...]
    room: Room
    machine: Machine

    @property
    def spill_traffic(self) -> Mapping[Link, int]:
        """The bytes over each link on the way out; those of a file are the system's to write."""
        size = len(self.room.memory)
        return {"device to host": size, **({"host to file": size} if self.room.in_file else {})}

    @property
    def restore_traffic(self) -> Mapping[Link, int]:
        """The bytes over each link on the way back."""
        size = len(self.room.memory)
        return {"host to device": size, **({"file to host": size} if self.room.in_file else {})}

    def restored(self) -> Frame:
        """Return the frame, in device memory; raise `MemoryError` where that has no room."""
        with self.machine.stage("restore"):
            arrays = [self.machine.arrays.empty(shape, dtype) for dtype, shape in self.buffers]
            self.machine.from_host(self.room.memory, arrays)
        return self.frame_of(arrays)

    def on_host(self) -> Frame:
        """Return the frame in host memory, where it lies; dictionaries of strings stay on the device."""
        views, start = list[Buffer](), 0
        for dtype, shape in self.buffers:
            end = start + prod(shape) * np.dtype(dtype).itemsize
            views.append(cast("Buffer", self.room.memory[start:end].view(dtype).reshape(shape)))
            start = end
        return self.frame_of(views)


def spilled(frame: Frame, space: SpillSpace, machine: Machine) -> SpilledFrame:
    """Copy a frame out of device memory; raise `OSError` or `MemoryError` where there is no room either."""
    columns = frame.columns
    frame_of, buffers = of_piece(columns) if isinstance(columns, PieceColumns) else of_frame(frame)
    room = space.room(sum(int(buffer.nbytes) for buffer in buffers))
    machine.to_host(buffers, room.memory)
    layout = tuple((str(buffer.dtype), tuple(map(int, buffer.shape))) for buffer in buffers)
    return SpilledFrame(frame_of, layout, room, machine)


def of_frame(frame: Frame) -> tuple[FrameOf, list[Buffer]]:
    """Return what makes a frame of its buffers, and these.

    Dictionaries of strings stay where they are: they are small, and other frames share them.
    """
    dictionaries = {name: v.dictionary for name, v in frame.columns.items() if v.dictionary is not None}
    header, buffers = packed_frame(Frame({n: v.codes for n, v in frame.columns.items()}, frame.rows))

    def frame_of(arrays: Sequence[Buffer]) -> Frame:
        unpacked = unpacked_frame(header, arrays)
        return Frame({n: v.as_codes_of(dictionaries.get(n)) for n, v in unpacked.columns.items()}, unpacked.rows)

    return frame_of, buffers


def of_piece(piece: PieceColumns) -> tuple[FrameOf, list[Buffer]]:
    """Return what makes a piece of an exchange of the buffer in which it lies, and that."""
    header = piece.on(NO_DATA)
    return lambda buffers: Frame(header.on(buffers[0]), header.rows), [piece.memory]
