"""Columns of fixed width split into pieces by one kernel, whatever their types; `concat.py` has the way back.

A piece's columns lie side by side in one buffer (`frame.py`): to keep it costs one allocation, and to send it no copy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.cudf.columns.frame import Frame, PieceColumns, Places, StoredColumn, layout_of
from gpuetl.engines.cudf.columns.gather import take, take_rows
from gpuetl.engines.cudf.columns.kernel_arguments import integer_name
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, Machine

ALIGNMENT = 256
"""Bytes: what CUDA's allocators give, so that kernels find arrays as they would alone."""
WIDTHS = 1, 2, 4, 8, 16
UNIT, CHUNK = 32, 1 << 15
"""Rows of a warp that copies, and of one that counts nulls, as in device/closed/pieces.cu."""
Size = TypeVar("Size", int, NDArray[np.int64])


def split_rows(frame: Frame, order: Array, ends: Sequence[tuple[int, int]], machine: Machine) -> list[Frame]:
    """Return a frame for each of some parts of `order`, row numbers none of which is missing.

    Strings that have no dictionary, binary values, lists, maps and structs are gathered piece by piece.
    """
    if len(ends) == 1:
        return [take_rows(frame, order[slice(*ends[0])], machine)]
    others = {name: vector for name, vector in frame.columns.items() if not vector.is_fixed}
    if len(others) == len(frame.columns):
        return [Frame(take(others, order[start:end], machine, missing=False), end - start) for start, end in ends]
    pieces = split_fixed(frame.without(others), order, np.array(ends, np.int64), machine)
    if not others:
        return [Frame(piece, piece.rows) for piece in pieces]
    frames = []
    for piece, (start, end) in zip(pieces, ends, strict=True):
        columns = {**piece, **take(others, order[start:end], machine, missing=False)}
        frames.append(Frame(columns, piece.rows).select(tuple(frame.columns)))
    return frames


def split_fixed(frame: Frame, order: Array, ends: Places, machine: Machine) -> list[PieceColumns]:
    """Return the columns of each piece, in device memory of its own; the host waits for how many nulls there are."""
    columns = by_width(frame.columns)
    starts, rows = ends[:, 0], ends[:, 1] - ends[:, 0]
    memories, places, targets = memory_for(list(columns.values()), rows, machine)
    units, chunks = np.cumsum(-(-rows // UNIT)), np.cumsum(-(-rows // CHUNK))
    sources = addresses(list(columns.values()), machine)
    table = device_table([units, chunks, starts, rows, sources, targets], machine)
    widths, module = [len(rows), *widths_of(columns), table], machine.closed("pieces")
    all_units, items = int(units[-1]), int(chunks[-1]) * len(columns)
    machine.launch(module, f"split_{integer_name(order)}", all_units * UNIT, [all_units, *widths, order])
    nulls = np.zeros((len(rows), len(columns)), np.int64)
    if sources[1].any():
        valid = machine.arrays.zeros(nulls.shape, "uint64")
        machine.launch(module, "count_in_pieces", items * UNIT, [items, *widths, valid])
        nulls = np.where(sources[1] > 0, rows[:, None] - machine.host(valid).astype(np.int64), 0)
    kinds = ((name, stored(vector, place)) for place, (name, vector) in enumerate(columns.items()))
    layout = layout_of(tuple(frame.columns), tuple(kinds))
    dictionaries = {name: vector.dictionary for name, vector in columns.items() if vector.dictionary}
    given = zip(memories, rows.tolist(), places, nulls, strict=True)
    return [PieceColumns(layout, dictionaries, *piece) for piece in given]


def memory_for(columns: Sequence[Vector], rows: Places, machine: Machine) -> tuple[list[Array], Places, Places]:
    """Allocate a buffer for each piece of so many rows.

    Return also where in it the values of each column begin, and the words, and the addresses of these, 0 where a column
    has none: int64[pieces, 2, columns].
    """
    sizes = np.stack([bytes_of(vector, rows) for vector in columns], axis=2)
    places = np.cumsum(sizes.reshape(len(rows), -1), axis=1).reshape(sizes.shape) - sizes
    memories = [machine.arrays.empty(size, "uint8") for size in sizes.sum((1, 2)).tolist()]
    targets = places + np.array([machine.address(memory) for memory in memories])[:, None, None]
    targets[:, 1] *= sizes[:, 1] > 0
    return memories, places, targets


def by_width(columns: Mapping[str, Vector]) -> dict[str, Vector]:
    """Return columns by the widths of their values."""
    return dict(sorted(columns.items(), key=lambda column: width_of(column[1])))


def stored(vector: Vector, place: int) -> StoredColumn:
    """Return how a column is stored, at a place among others."""
    return StoredColumn(vector.dtype, vector.data.dtype, 2 if vector.data.ndim == 2 else 1, place)


def width_of(vector: Vector) -> int:
    """Return the bytes of a value."""
    return stored(vector, 0).width


def widths_of(columns: Mapping[str, Vector]) -> list[int]:
    """Return how many columns there are of each width."""
    widths = [width_of(vector) for vector in columns.values()]
    return [widths.count(width) for width in WIDTHS]


def addresses(vectors: Sequence[Vector], machine: Machine) -> Places:
    """Return where columns' values begin, and where their validity words do, 0 of one without: int64[2, columns]."""
    address = machine.address
    words = [0 if vector.valid is None else address(vector.valid) for vector in vectors]
    return np.array([[address(vector.data) for vector in vectors], words], np.int64)


def device_table(parts: Sequence[Places], machine: Machine) -> Array:
    """Return tables one behind another, in device memory."""
    return machine.arrays.asarray(np.concatenate([part.ravel() for part in parts]))


def bytes_of(vector: Vector, rows: Places) -> Places:
    """Return what so many values take, and so many validity words, if the column has any: int64[pieces, 2]."""
    words = -(-rows // UNIT) * 4 * (vector.valid is not None)
    return aligned(np.stack([rows * width_of(vector), words], axis=1))


def aligned(size: Size) -> Size:
    """Return the next multiple of `ALIGNMENT`, of a number or of each in an array."""
    return -(-size // ALIGNMENT) * ALIGNMENT
