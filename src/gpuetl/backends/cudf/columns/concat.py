"""Frames put below each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from gpuetl.backends.cudf.columns.dictionaries import MOST_TEXTS, decoded, renumbered, sorted_dictionary
from gpuetl.backends.cudf.columns.texts import numbered_texts
from gpuetl.backends.cudf.columns.validity import valid_rows, words_of
from gpuetl.backends.cudf.columns.written import list_offsets, offsets_type
from gpuetl.backends.cudf.frame import Frame, check_rows
from gpuetl.backends.cudf.interchange import from_arrow
from gpuetl.backends.cudf.machine import Array, Machine
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.types import STRING, DataType, is_list


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
    """Put columns of one type below each other; raise `EvaluationError` where a frame has no room for as many rows."""
    arrays, dtype = machine.arrays, vectors[0].dtype
    rows, nulls = sum(vector.rows for vector in vectors), sum(vector.nulls for vector in vectors)
    check_rows(rows)
    valid = words_of(arrays.concatenate([valid_rows(v, machine) for v in vectors]), machine) if nulls else None
    vectors = alike(vectors, machine) if dtype == STRING else vectors
    if is_list(dtype):
        elements = stacked([vector.elements for vector in vectors if vector.elements], machine)
        return Vector(dtype, rows, None, valid, nulls, stacked_offsets(vectors, machine), elements)
    data = arrays.concatenate([vector.data for vector in vectors])
    if vectors[0].offsets is None:
        return Vector(dtype, rows, data, valid, nulls, dictionary=vectors[0].dictionary)
    return Vector(dtype, rows, data, valid, nulls, stacked_offsets(vectors, machine))


def stacked_offsets(vectors: Sequence[Vector], machine: Machine) -> Array:
    """Return the offsets of texts or lists below each other; int64 where texts have 2^31 bytes or more."""
    arrays, rows = machine.arrays, sum(vector.rows for vector in vectors)
    sizes = [len(vector.data) if vector.elements is None else vector.elements.rows for vector in vectors]
    is_text = vectors[0].elements is None
    offsets = arrays.zeros(rows + 1, offsets_type(sum(sizes)))
    start = before = 0
    for vector, size in zip(vectors, sizes, strict=True):
        places = offsets[start + 1 : start + 1 + vector.rows]
        arrays.add(vector.offsets[1:], before, out=places, dtype=offsets.dtype)
        start, before = start + vector.rows, before + size
    return offsets if is_text else list_offsets(offsets, before)


def alike(texts: Sequence[Vector], machine: Machine) -> list[Vector]:
    """Return columns of texts that all have one dictionary, or none of them has.

    They get one where each has one or is null throughout, and all together have few distinct texts.
    """
    dictionaries = dictionaries_of(texts)
    if not dictionaries or (len(dictionaries) == 1 and all(vector.dictionary for vector in texts)):
        return list(texts)
    if all(vector.dictionary or vector.nulls == vector.rows for vector in texts):
        dictionary, tables = merged(list(dictionaries), machine)
        if dictionary.rows <= MOST_TEXTS:
            by_dictionary = dict(zip(dictionaries, tables, strict=True))
            return [in_dictionary(vector, dictionary, by_dictionary, machine) for vector in texts]
    return [decoded(vector, machine) for vector in texts]


def dictionaries_of(texts: Sequence[Vector]) -> dict[Vector, None]:
    """Return the dictionaries of columns, each once."""
    return dict.fromkeys(vector.dictionary for vector in texts if vector.dictionary)


def merged(dictionaries: Sequence[Vector], machine: Machine) -> tuple[Vector, list[Array | None]]:
    """Return a dictionary of all texts, and what each number of the others is in it; None where it is the same."""
    if len(dictionaries) == 1:
        return dictionaries[0], [None]
    every, numbers = sorted_dictionary(stacked(dictionaries, machine), machine)
    tables: list[Array | None] = []
    start = 0
    for own in dictionaries:
        tables.append(None if own.rows == every.rows else numbers[start : start + own.rows])
        start += own.rows
    return every, tables


def in_dictionary(
    vector: Vector, dictionary: Vector, tables: Mapping[Vector, Array | None], machine: Machine
) -> Vector:
    """Return a column by its numbers in another dictionary; one without its own is null throughout."""
    if vector.dictionary is None:
        numbers = machine.arrays.zeros(vector.rows, "int32")
        return Vector(STRING, vector.rows, numbers, vector.valid, vector.nulls, dictionary=dictionary)
    table = tables[vector.dictionary]
    numbers = vector.data if table is None else renumbered(vector.data, table)
    return replace(vector, data=numbers, dictionary=dictionary)


def numbered_together(texts: Sequence[Vector], machine: Machine) -> list[Vector]:
    """Return numbers (int32) of columns of texts, equal where the texts are, and in their order."""
    if all(vector is texts[0] for vector in texts):
        return [numbered_texts(texts[0], machine)] * len(texts)
    alone = [vector.dictionary or vector for vector in texts]
    if all(vector is alone[0] for vector in alone):
        return [vector.numbers for vector in texts]
    numbers = numbered_texts(stacked(alone, machine), machine).data
    results, start = [], 0
    for vector, own in zip(texts, alone, strict=True):
        table = numbers[start : start + own.rows]
        data = renumbered(vector.data, table) if vector.dictionary else table
        results.append(Vector(pa.int32(), vector.rows, data, vector.valid, vector.nulls))
        start += own.rows
    return results
