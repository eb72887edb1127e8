"""A frame as arrays and a header that says what they are, so that it can be kept, or sent, elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gpuetl.engines.cudf.frame import Frame
from gpuetl.engines.cudf.vector import Buffer, Vector


def packed(frame: Frame) -> tuple[Frame, list[Buffer]]:
    """Return a header, a frame whose buffers are places in a list, and the list, in which a shared array is once.

    The header can be pickled.
    """
    buffers: list[Buffer] = []
    places: dict[int, int] = {}

    def place(buffer: Buffer) -> int:
        if id(buffer) not in places:
            places[id(buffer)] = len(buffers)
            buffers.append(buffer)
        return places[id(buffer)]

    return with_buffers(frame, place), buffers


def unpacked(header: Frame, buffers: Sequence[Buffer]) -> Frame:
    """Return the frame of a header and its buffers."""
    return with_buffers(header, lambda place: buffers[place])


def with_buffers(frame: Frame, change: Callable[[Buffer], Buffer]) -> Frame:
    """Return the frame with each buffer replaced by another."""
    seen: dict[int, Vector] = {}  # a dictionary that columns share stays one: columns are compared by it
    columns = {name: with_changed(vector, change, seen) for name, vector in frame.columns.items()}
    return Frame(columns, frame.rows)


def with_changed(vector: Vector, change: Callable[[Buffer], Buffer], seen: dict[int, Vector]) -> Vector:
    """Return a column with each buffer replaced, or the one that was made of it before.

    A function inside another, which called itself, would hold the buffers until the next collection of garbage.
    """
    if id(vector) not in seen:
        data, valid, offsets = (
            None if buffer is None else change(buffer) for buffer in (vector.data, vector.valid, vector.offsets)
        )
        elements, dictionary = (
            None if inner is None else with_changed(inner, change, seen)
            for inner in (vector.elements, vector.dictionary)
        )
        seen[id(vector)] = replace(
            vector, data=data, valid=valid, offsets=offsets, elements=elements, dictionary=dictionary
        )
    return seen[id(vector)]
