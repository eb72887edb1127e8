"""A frame in one buffer, as it is sent: an exchange's piece as it lies there, another copied side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import prod
from typing import Any, NamedTuple

import numpy as np

from gpuetl.backends.cudf.columns.packed import packed, unpacked
from gpuetl.backends.cudf.columns.pieces import ALIGNMENT, aligned
from gpuetl.backends.cudf.columns.shared_dictionaries import Content, content_of, dictionary_of
from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.vector import Buffer

BYTE = np.dtype("uint8")
Places = list[tuple[int, str, tuple[int, ...]]]
"""Where buffers begin in another, in bytes; their types and shapes."""


class PackedFrame(NamedTuple):
    """What makes a frame of a buffer: its header, the dictionaries beside, and where its own buffers lie in that."""

    header: Frame
    dictionaries: Mapping[str, Content]
    places: Places

    def moved(self, by: int) -> PackedFrame:
        """Return the same for a buffer in which all of it lies so many bytes further on."""
        return self._replace(places=[(start + by, name, shape) for start, name, shape in self.places])

    def frame(self, whole: Buffer) -> Frame:
        """Return the frame, on the memory of the buffer."""
        frame = unpacked(self.header, taken_apart(self.places, whole))
        columns = dict(frame.columns)
        for name, content in self.dictionaries.items():
            columns[name] = columns[name].numbering(dictionary_of(content, arrays_of([whole])))
        return Frame(columns, frame.rows)


def in_one(frame: Frame) -> tuple[PackedFrame, Buffer]:
    """Put a frame into one buffer of whole `ALIGNMENT`s: the one in which it lies, or a copy."""
    contents = {n: content_of(v.dictionary) for n, v in frame.columns.items() if v.dictionary}
    dictionaries = {name: content for name, content in contents.items() if content is not None}
    numbers = {name: frame.columns[name].numbers for name in dictionaries}
    header, buffers = packed(frame.updated(numbers))
    whole = memory_of(buffers)
    if whole is None:
        starts, whole = side_by_side(buffers)
    else:
        starts = [address(buffer) - address(whole) for buffer in buffers]
    places = [(start, buffer.dtype.str, buffer.shape) for start, buffer in zip(starts, buffers, strict=True)]
    return PackedFrame(header, dictionaries, places), whole


def side_by_side(buffers: Sequence[Buffer]) -> tuple[list[int], Buffer]:
    """Copy buffers into one; return where each begins, and that one."""
    *starts, size = accumulate((aligned(int(buffer.nbytes)) for buffer in buffers), initial=0)
    whole = arrays_of(buffers).empty(size or ALIGNMENT, "uint8")  # nothing is no frame
    for start, buffer in zip(starts, buffers, strict=True):
        if buffer.nbytes:
            whole[start : start + buffer.nbytes] = as_bytes(buffer)
    return starts, whole


def memory_of(buffers: Sequence[Buffer]) -> Buffer | None:
    """Return the buffer of which these are all but a little, as those of an exchange's piece are: see `pieces.py`."""
    bases = {id(buffer.base): buffer.base for buffer in buffers}
    whole = next(iter(bases.values()), None) if len(bases) == 1 else None
    if whole is None or not is_memory(whole) or whole.nbytes % ALIGNMENT:
        return None
    own = sum(aligned(int(buffer.nbytes)) for buffer in buffers)
    return whole if 0 < whole.nbytes <= own * 9 // 8 else None  # words of a column that has no nulls there


def is_memory(base: Any) -> bool:
    """Tell whether what buffers are views on is bytes of ours."""
    return getattr(base, "dtype", None) == BYTE and base.ndim == 1


def buffers_of(frame: Frame) -> Iterator[Buffer]:
    """Yield the buffers of a frame, a shared one for each column."""
    stack = list(frame.columns.values())
    while stack:
        vector = stack.pop()
        yield from (buffer for buffer in (vector.data, vector.valid, vector.offsets) if buffer is not None)
        stack += [inner for inner in (vector.elements, vector.dictionary) if inner is not None]


def held_bytes(buffers: Iterable[Buffer]) -> int:
    """Return the memory that buffers keep, each once; of parts of an exchange's piece, or of what came, all of that."""
    held: dict[int, int] = {}
    for buffer in buffers:
        base = buffer.base
        if id(base) not in held:
            kept = base if is_memory(base) else buffer
            held[id(kept)] = int(kept.nbytes)
    return sum(held.values())


def address(buffer: Buffer) -> int:
    """Return where a buffer begins."""
    return int(buffer.__array_interface__["data"][0] if isinstance(buffer, np.ndarray) else buffer.data.ptr)


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
    return arrays_of([buffer]).ascontiguousarray(buffer).reshape(-1).view("uint8")


def arrays_of(buffers: Sequence[Buffer]) -> Any:
    """Return the array module of buffers."""
    if all(isinstance(buffer, np.ndarray) for buffer in buffers):
        return np
    import cupy

    return cupy
