"""A frame outside of device memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpuetl.backends.cudf.columns.packed import packed, unpacked
from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.machine import Machine
from gpuetl.backends.cudf.vector import Vector
from gpuetl.ceilings.ceiling import Link
from gpuetl.io.spill_space import Room, SpillSpace


@dataclass(frozen=True, eq=False)
class SpilledFrame:
    """The buffers of a frame, one behind another, and what makes a frame of them again.

    Dictionaries of texts stay where they are: they are small, and other frames share them.
    """

    header: Frame
    dictionaries: Mapping[str, Vector]
    buffers: tuple[tuple[str, tuple[int, ...]], ...]
    room: Room
    machine: Machine

    @property
    def went(self) -> Mapping[Link, int]:
        """The bytes over each link on the way out; those of a file are the system's to write."""
        size = len(self.room.memory)
        return {"device to host": size, **({"host to file": size} if self.room.in_file else {})}

    @property
    def comes(self) -> Mapping[Link, int]:
        """The bytes over each link on the way back."""
        size = len(self.room.memory)
        return {"host to device": size, **({"file to host": size} if self.room.in_file else {})}

    def restored(self) -> Frame:
        """Return the frame, in device memory; raise `MemoryError` where that has no room."""
        arrays = [self.machine.arrays.empty(shape, dtype) for dtype, shape in self.buffers]
        self.machine.from_host(self.room.memory, arrays)
        frame = unpacked(self.header, arrays)
        return Frame({n: v.numbering(self.dictionaries.get(n)) for n, v in frame.columns.items()}, frame.rows)


def spilled(frame: Frame, space: SpillSpace, machine: Machine) -> SpilledFrame:
    """Copy a frame out of device memory; raise `OSError` or `MemoryError` where there is no room either."""
    dictionaries = {name: v.dictionary for name, v in frame.columns.items() if v.dictionary is not None}
    header, buffers = packed(Frame({n: v.numbers for n, v in frame.columns.items()}, frame.rows))
    room = space.room(sum(int(buffer.nbytes) for buffer in buffers))
    machine.to_host(buffers, room.memory)
    layout = tuple((str(buffer.dtype), tuple(map(int, buffer.shape))) for buffer in buffers)
    return SpilledFrame(header, dictionaries, layout, room, machine)
