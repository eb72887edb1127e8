"""Frames put below each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from gpuetl.backends.cudf.columns.validity import valid_rows, words_of
from gpuetl.backends.cudf.columns.written import list_offsets, text_offsets
from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.interchange import from_arrow
from gpuetl.backends.cudf.machine import Machine
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.types import DataType, is_list


def concat(frames: Sequence[Frame], schema: Mapping[str, DataType], machine: Machine) -> Frame:
    """Put frames of one schema below each other, in order; no frames give no rows."""
    filled = [frame for frame in frames if frame.rows]
    if len(filled) == 1:
        return filled[0]
    if not filled:
        return Frame({name: from_arrow(pa.array([], dtype), machine) for name, dtype in schema.items()}, 0)
    columns = {name: stacked([frame.columns[name] for frame in filled], machine) for name in schema}
    return Frame(columns, sum(frame.rows for frame in filled))


def stacked(vectors: Sequence[Vector], machine: Machine) -> Vector:
    """Put columns of one type below each other."""
    arrays, first = machine.arrays, vectors[0]
    rows, nulls = sum(vector.rows for vector in vectors), sum(vector.nulls for vector in vectors)
    valid = words_of(arrays.concatenate([valid_rows(v, machine) for v in vectors]), machine) if nulls else None
    if first.offsets is None:
        return Vector(first.dtype, rows, arrays.concatenate([vector.data for vector in vectors]), valid, nulls)
    offsets = stacked_offsets(vectors, machine)
    if is_list(first.dtype):
        elements = stacked([vector.elements for vector in vectors if vector.elements], machine)
        return Vector(first.dtype, rows, None, valid, nulls, offsets, elements)
    return Vector(first.dtype, rows, arrays.concatenate([v.data for v in vectors]), valid, nulls, offsets)


def stacked_offsets(vectors: Sequence[Vector], machine: Machine) -> Any:
    """Return the offsets of texts or lists below each other; int64 where texts have 2^31 bytes or more."""
    arrays, parts, before = machine.arrays, [machine.arrays.zeros(1, "int64")], 0
    for vector in vectors:
        parts.append(vector.offsets[1:].astype("int64") + before)
        before += len(vector.data) if vector.elements is None else vector.elements.rows
    fitted = text_offsets if vectors[0].elements is None else list_offsets
    return fitted(arrays.concatenate(parts), before)
