"""The text of a CSV file in device memory, part by part: threads read the next part while kernels parse this one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpuetl.engines.cudf.io.csv_fields import DeviceText
from gpuetl.engines.cudf.machine import Array, Machine, PendingCopy
from gpuetl.places.filesystem import OpenFile

MOST_BYTES = 384 << 20
LEAST_BYTES = 1 << 22
MEMORY_SHARE = 64
"""A part takes this share of device memory: its text, the next one, and what its fields and values take beside it."""
CARRIED_BYTES = 1 << 20
"""Bytes of an unfinished record that go on to the next part."""
NEWLINE = np.array([ord("\n")], np.uint8)


def part_bytes(machine: Machine) -> int:
    """Return the bytes of a part."""
    return max(LEAST_BYTES, min(MOST_BYTES, machine.memory // MEMORY_SHARE))


class TextRange(NamedTuple):
    """Whole records of a file of plain text: from a byte to another one, and the line of the first, from 1."""

    start: int
    stop: int
    line: int


class TextParts:
    """The parts of a range of a file; each begins where a record does.

    A part lies behind room for what the part before it leaves.  Two buffers take turns.  The caller says after each
    part where the next one begins: by `go_on`, or by `restart` where it read on by itself.
    """

    def __init__(self, source: OpenFile, text: TextRange, machine: Machine) -> None:
        self.source, self.stop, self.machine = source, text.stop, machine
        self.bytes = min(part_bytes(machine), text.stop - text.start)
        self.buffers = list[Array]()
        self.pending: PendingCopy | None = None
        self.restart(text.start)

    def restart(self, place: int) -> None:
        """Begin a part at a byte of the file."""
        self.close()
        self.start = self.read_to = place
        self.carried = 0
        self.begin()

    def begin(self) -> None:
        """Begin to read the next part, if there is one, into the buffer that is not in use."""
        self.pending, self.size = None, min(self.bytes, self.stop - self.read_to)
        if self.size > 0:
            if len(self.buffers) < 2:
                self.buffers.append(self.machine.arrays.empty(CARRIED_BYTES + self.bytes + 1, "uint8"))
            else:
                self.buffers.reverse()
            target = self.buffers[-1][CARRIED_BYTES : CARRIED_BYTES + self.size]
            self.pending = self.machine.begin_reading(self.source, self.read_to, target)

    def next(self) -> DeviceText | None:
        """Return the next part when it is there, and begin to read the one after it; None at the end."""
        if self.pending is None:
            return None
        self.pending.wait()
        buffer, start, stop = self.buffers[-1], CARRIED_BYTES - self.carried, CARRIED_BYTES + self.size
        self.start, self.read_to = self.read_to - self.carried, self.read_to + self.size
        is_last = self.read_to >= self.stop
        if is_last and not ends_line(buffer, stop, self.machine):
            buffer[stop : stop + 1] = self.machine.arrays.asarray(NEWLINE)
            stop += 1
        self.part = buffer[start:stop]
        self.begin()
        return DeviceText(self.part, is_last)

    def go_on(self, size: int) -> bool:
        """Carry what stands behind so many bytes of the last part to the next one; False where it is too long."""
        rest = len(self.part) - size
        if self.pending is not None and rest > CARRIED_BYTES:
            return False
        if self.pending is not None and rest:
            self.buffers[-1][CARRIED_BYTES - rest : CARRIED_BYTES] = self.part[size:]
        self.carried = rest
        return True

    def close(self) -> None:
        """Wait for threads that read."""
        if self.pending is not None:
            self.pending.abandon()
            self.pending = None


def ends_line(buffer: Array, stop: int, machine: Machine) -> bool:
    """Tell whether the byte before a place ends a line."""
    return bool(int(machine.host(buffer[stop - 1 : stop])[0]) == NEWLINE[0])
