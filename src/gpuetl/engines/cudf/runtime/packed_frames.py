"""Frames in one buffer, as they are sent: an exchange's piece as it lies there, another copied side by side."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import prod
from typing import Any, NamedTuple

import numpy as np

from gpuetl.engines.cudf.columns.frame import Frame, Layout, PieceColumns
from gpuetl.engines.cudf.columns.interchange import packed_frame as packed
from gpuetl.engines.cudf.columns.interchange import unpacked_frame
from gpuetl.engines.cudf.columns.pieces import ALIGNMENT, aligned
from gpuetl.engines.cudf.columns.string_dictionaries import Content, content_of, dictionary_of
from gpuetl.engines.cudf.columns.vector import Buffer, Vector
from gpuetl.engines.interface import PackedFrames

BYTE = np.dtype("uint8")
Places = list[tuple[int, str, tuple[int, ...]]]
"""Where buffers begin in another, in bytes; their types and shapes."""


class PackedPiece(NamedTuple):
    """What makes a piece of an exchange of the buffer in which it lies: the content of dictionaries, and places."""

    layout: Layout
    dictionaries: Mapping[str, Content]
    start: int
    size: int
    rows: int
    places: Any
    nulls: Any

    def moved(self, by: int) -> PackedPiece:
        """Return the same for a buffer in which all of it lies so many bytes further on."""
        return self._replace(start=self.start + by)

    def frame(self, buffer: Buffer) -> Frame:
        """Return the frame, on the memory of the buffer."""
        arrays = arrays_of([buffer])
        dictionaries = {name: dictionary_of(content, arrays) for name, content in self.dictionaries.items()}
        memory = buffer[self.start : self.start + self.size]
        return Frame(PieceColumns(self.layout, dictionaries, memory, self.rows, self.places, self.nulls), self.rows)


class PackedFrame(NamedTuple):
    """What makes a frame of a buffer: its header, the dictionaries beside, and where its own buffers lie in that."""

    header: Frame
    dictionaries: Mapping[str, Content]
    places: Places

    def moved(self, by: int) -> PackedFrame:
        """Return the same for a buffer in which all of it lies so many bytes further on."""
        return self._replace(places=[(start + by, name, shape) for start, name, shape in self.places])

    def frame(self, buffer: Buffer) -> Frame:
        """Return the frame, on the memory of the buffer."""
        frame = unpacked_frame(self.header, taken_apart(self.places, buffer))
        columns = dict(frame.columns)
        for name, content in self.dictionaries.items():
            columns[name] = columns[name].as_codes_of(dictionary_of(content, arrays_of([buffer])))
        return Frame(columns, frame.rows)


def in_one(frame: Frame) -> tuple[PackedFrame | PackedPiece, Buffer]:
    """Put a frame into one buffer of whole `ALIGNMENT`s: the one in which a piece lies, or a copy."""
    return packed_piece(frame.columns) if isinstance(frame.columns, PieceColumns) else packed_frame(frame)


def packed_piece(piece: PieceColumns) -> tuple[PackedFrame | PackedPiece, Buffer]:
    """Send a piece as it lies, but not one of no rows, nor one with a large dictionary, which has to lie with it."""
    small, size = small_contents(piece.dictionaries), int(piece.memory.nbytes)
    if not size or len(small) < len(piece.dictionaries):
        return packed_frame(Frame(piece, piece.rows))
    return PackedPiece(piece.layout, small, 0, size, piece.rows, piece.places, piece.nulls), piece.memory


def packed_frame(frame: Frame) -> tuple[PackedFrame, Buffer]:
    """Copy a frame's buffers side by side; small dictionaries are sent by what they hold."""
    dictionaries = small_contents({n: v.dictionary for n, v in frame.columns.items() if v.dictionary})
    numbers = {name: frame.columns[name].codes for name in dictionaries}
    header, buffers = packed(frame.updated(numbers))
    starts, whole = side_by_side(buffers)
    places = [(start, buffer.dtype.str, buffer.shape) for start, buffer in zip(starts, buffers, strict=True)]
    return PackedFrame(header, dictionaries, places), whole


def small_contents(dictionaries: Mapping[str, Vector]) -> dict[str, Content]:
    """Return what dictionaries hold, but not large ones."""
    return {name: content for name, each in dictionaries.items() if (content := content_of(each)) is not None}


def side_by_side(buffers: Sequence[Buffer]) -> tuple[list[int], Buffer]:
    """Copy buffers into one; return where each begins, and that one."""
    *starts, size = accumulate((aligned(int(buffer.nbytes)) for buffer in buffers), initial=0)
    whole = arrays_of(buffers).empty(size or ALIGNMENT, "uint8")  # nothing is no frame
    for start, buffer in zip(starts, buffers, strict=True):
        if buffer.nbytes:
            whole[start : start + buffer.nbytes] = as_bytes(buffer)
    return starts, whole


def pack(frames: Iterable[Frame]) -> PackedFrames:
    """Put frames into one buffer, one behind another; that of a single one stays as it is."""
    packed_ones, buffers = zip(*map(in_one, frames), strict=True)
    *starts, size = accumulate((int(buffer.nbytes) for buffer in buffers), initial=0)
    moved = [one.moved(start) for one, start in zip(packed_ones, starts, strict=True)]
    arrays, whole = arrays_of(buffers), buffers[0]
    if len(buffers) > 1:
        whole = arrays.empty(size, "uint8")
        for start, own in zip(starts, buffers, strict=True):
            whole[start : start + own.nbytes] = own
    return PackedFrames(pickle.dumps(moved), whole, on_device=arrays is not np)


def unpack(header: bytes, whole: Buffer) -> list[Frame]:
    """Return the frames that `pack` has put into a buffer, on its memory."""
    return [one.frame(whole) for one in pickle.loads(header)]


def is_memory(base: Any) -> bool:
    """Tell whether what buffers are views on is bytes of ours."""
    return getattr(base, "dtype", None) == BYTE and base.ndim == 1


def buffers_of(frame: Frame) -> Iterator[Buffer]:
    """Yield the buffers of a frame, a shared one for each column; of a piece the one in which it lies."""
    columns = frame.columns
    if isinstance(columns, PieceColumns):
        yield columns.memory
        columns = columns.dictionaries
    stack = list(columns.values())
    while stack:
        vector = stack.pop()
        yield from (buffer for buffer in (vector.data, vector.valid, vector.offsets) if buffer is not None)
        stack += [inner for inner in (vector.elements, vector.dictionary, *vector.fields) if inner is not None]


def held_bytes(buffers: Iterable[Buffer]) -> int:
    """Return the memory that buffers keep, each once; of parts of an exchange's piece, or of what came, all of that."""
    held: dict[int, int] = {}
    for buffer in buffers:
        base = buffer.base
        if id(base) not in held:
            kept = base if is_memory(base) else buffer
            held[id(kept)] = int(kept.nbytes)
    return sum(held.values())


def taken_apart(places: Places, whole: Buffer) -> list[Buffer]:
    """Return the buffers that lie at some places of one."""
    buffers = []
    for start, name, shape in places:
        dtype = np.dtype(name)
        buffer = whole[start : start + prod(shape) * dtype.itemsize].view(dtype)
        buffers.append(buffer if len(shape) == 1 else buffer.reshape(shape))
    return buffers


def as_bytes(buffer: Buffer) -> Buffer:
    """Return an array's bytes."""
    array: Buffer = arrays_of([buffer]).ascontiguousarray(buffer)
    return array.reshape(-1).view("uint8")


def arrays_of(buffers: Sequence[Buffer]) -> Any:
    """Return the array module of buffers."""
    if all(isinstance(buffer, np.ndarray) for buffer in buffers):
        return np
    import cupy

    return cupy
