"""Frames put below each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from gpuetl.engines.cudf.columns.arrays import joined, shifted, unpack
from gpuetl.engines.cudf.columns.frame import Frame, PieceColumns, Places, check_rows
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.columns.pieces import addresses, by_width, device_table, widths_of
from gpuetl.engines.cudf.columns.string_codes import dictionary_codes
from gpuetl.engines.cudf.columns.string_dictionaries import (
    MAX_DICTIONARY_STRINGS,
    decoded,
    renumbered,
    sorted_dictionary,
    strings_by_code,
)
from gpuetl.engines.cudf.columns.validity import empty_bits, empty_values, list_offsets, offsets_type, words_of
from gpuetl.engines.cudf.columns.vector import NO_DATA, Vector
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.types.data_types import STRING, DataType
from gpuetl.types.nested_types import is_struct


def concat(frames: Sequence[Frame], schema: Mapping[str, DataType], machine: Machine) -> Frame:
    """Put frames of one schema below each other, in order; no frames give no rows."""
    filled = [frame for frame in frames if frame.rows]
    if len(filled) == 1:
        return filled[0]
    if not filled:
        return Frame({name: from_arrow(pa.array([], dtype), machine) for name, dtype in schema.items()}, 0)
    rows = sum(frame.rows for frame in filled)
    check_rows(rows)
    outputs = stacked_pieces(
        [frame.columns for frame in filled if isinstance(frame.columns, PieceColumns)], rows, machine
    )
    parts = {name: [frame.columns[name] for frame in filled] for name in schema if name not in outputs}
    numbers = {name: as_numbers(each, machine) for name, each in parts.items()}
    if fixed := {name: each for name, each in numbers.items() if each is not None}:
        outputs |= stacked_fixed(fixed, machine)
    return Frame({n: outputs[n] if n in outputs else stacked_others(parts[n], machine) for n in schema}, rows)


def stacked_pieces(pieces: Sequence[PieceColumns], rows: int, machine: Machine) -> dict[str, Vector]:
    """Put columns of pieces below each other that have so many rows together, by where they lie.

    None where other frames have some of the rows, and none of strings whose dictionaries differ.
    """
    if sum(piece.rows for piece in pieces) < rows or any(piece.layout is not pieces[0].layout for piece in pieces):
        return {}
    dictionaries = pieces[0].dictionaries
    differ = {n for piece in pieces for n, own in piece.dictionaries.items() if own is not dictionaries.get(n)}
    stored = {name: each for name, each in pieces[0].layout.stored.items() if name not in differ}
    if not stored:
        return {}
    sources, nulls = sources_of(pieces, [each.place for each in stored.values()], machine)
    outputs = {
        name: empty_stack(each.dtype, rows, missing, dictionaries.get(name), machine)
        for (name, each), missing in zip(stored.items(), nulls.sum(axis=0).tolist(), strict=True)
    }
    stack(np.cumsum([piece.rows for piece in pieces]), [sources], outputs, machine)
    return outputs


def sources_of(pieces: Sequence[PieceColumns], columns: list[int], machine: Machine) -> tuple[Places, Places]:
    """Return where some columns' values begin and where their words do, 0 without nulls, and how many nulls there are.

    These are int64[pieces, 2, columns], and int64[pieces, columns].
    """
    nulls = np.array([piece.nulls for piece in pieces])[:, columns]
    found = np.array([piece.places for piece in pieces])[:, :, columns]
    found += np.array([machine.address(piece.memory) for piece in pieces])[:, None, None]
    found[:, 1] *= nulls > 0
    return found, nulls


def stacked(vectors: Sequence[Vector], machine: Machine) -> Vector:
    """Put columns of one type below each other; raise `EvaluationError` where a frame has no room for as many rows."""
    check_rows(sum(vector.rows for vector in vectors))
    numbers = as_numbers(vectors, machine)
    return stacked_others(vectors, machine) if numbers is None else stacked_fixed({"": numbers}, machine)[""]


def stacked_fixed(columns: Mapping[str, Sequence[Vector]], machine: Machine) -> dict[str, Vector]:
    """Concatenate columns, as many of each; strings stay dictionary codes where all parts share the dictionary."""
    firsts = by_width({name: parts[0] for name, parts in columns.items()})
    pieces = list(zip(*(columns[name] for name in firsts), strict=True))
    ends = np.cumsum([piece[0].rows for piece in pieces])
    nulls = {name: sum(part.nulls for part in columns[name]) for name in firsts}
    outputs = {
        name: empty_stack(first.dtype, int(ends[-1]), nulls[name], first.dictionary, machine)
        for name, first in firsts.items()
    }
    stack(ends, [addresses(piece, machine) for piece in pieces], outputs, machine)
    return outputs


def empty_stack(dtype: DataType, rows: int, nulls: int, dictionary: Vector | None, machine: Machine) -> Vector:
    """Return a column that is to be filled, with its count of nulls."""
    valid = empty_bits(rows, machine) if nulls else None
    data = empty_values(pa.int32() if dictionary else dtype, rows, machine)
    return Vector(dtype, rows, data, valid, nulls, dictionary=dictionary)


def stack(ends: Places, sources: Sequence[Places], outputs: Mapping[str, Vector], machine: Machine) -> None:
    """Fill columns, in the order of their widths, from the addresses of pieces that end at these rows."""
    table = device_table([ends, *sources, addresses(list(outputs.values()), machine)], machine)
    rows, layout = int(ends[-1]), [len(ends), *widths_of(outputs), table]
    machine.launch(machine.closed("pieces"), "stack", rows, [rows, *layout])


def stacked_others(vectors: Sequence[Vector], machine: Machine) -> Vector:
    """Put structs, lists and maps below each other, or strings as they lie in memory."""
    dtype = vectors[0].dtype
    rows, nulls = sum(vector.rows for vector in vectors), sum(vector.nulls for vector in vectors)
    valid = stacked_valid(vectors, rows, machine) if nulls else None
    vectors = [decoded(vector, machine) for vector in vectors]
    if is_struct(dtype):
        fields = zip(*(vector.fields for vector in vectors), strict=True)
        below = tuple(stacked(field, machine) for field in fields)
        return Vector(dtype, rows, NO_DATA, valid, nulls, fields=below)
    if vectors[0].elements is not None:
        elements = stacked([vector.elements for vector in vectors if vector.elements], machine)
        return Vector(dtype, rows, NO_DATA, valid, nulls, stacked_offsets(vectors, machine), elements)
    data = joined([vector.data for vector in vectors], machine)
    return Vector(dtype, rows, data, valid, nulls, stacked_offsets(vectors, machine))


def stacked_valid(vectors: Sequence[Vector], rows: int, machine: Machine) -> Array:
    """Return the validity words of columns below each other, `rows` in all."""
    flags, start = machine.arrays.empty(rows, "uint8"), 0
    for vector in vectors:
        unpack(vector.valid, flags[start : start + vector.rows], machine)
        start += vector.rows
    return words_of(flags, machine)


def stacked_offsets(vectors: Sequence[Vector], machine: Machine) -> Array:
    """Return the offsets of strings or lists below each other; int64 where strings have 2^31 bytes or more."""
    arrays, rows = machine.arrays, sum(vector.rows for vector in vectors)
    sizes = [len(vector.data) if vector.elements is None else vector.elements.rows for vector in vectors]
    is_text = vectors[0].elements is None
    offsets = arrays.zeros(rows + 1, offsets_type(sum(sizes)))
    start = before = 0
    for vector, size in zip(vectors, sizes, strict=True):
        places = offsets[start + 1 : start + 1 + vector.rows]
        shifted(vector.required_offsets[1:], before, places, machine)
        start, before = start + vector.rows, before + size
    return offsets if is_text else list_offsets(offsets, before, machine)


def as_numbers(vectors: Sequence[Vector], machine: Machine) -> list[Vector] | None:
    """Return columns of fixed width, or strings by their numbers in one dictionary; None where that cannot be.

    Strings get one where each column has one or is null throughout, and all together have few distinct strings.
    """
    dictionaries = dictionaries_of(vectors)
    if all(vector.is_fixed for vector in vectors) and len(dictionaries) <= 1:
        return list(vectors)
    if not dictionaries or not all(vector.dictionary or vector.nulls == vector.rows for vector in vectors):
        return None
    dictionary, tables = merged(list(dictionaries), machine)
    if dictionary.rows > MAX_DICTIONARY_STRINGS:
        return None
    by_dictionary = dict(zip(dictionaries, tables, strict=True))
    return [in_dictionary(vector, dictionary, by_dictionary, machine) for vector in vectors]


def dictionaries_of(strings: Sequence[Vector]) -> dict[Vector, None]:
    """Return the dictionaries of columns, each once."""
    return dict.fromkeys(vector.dictionary for vector in strings if vector.dictionary)


def merged(dictionaries: Sequence[Vector], machine: Machine) -> tuple[Vector, list[Array | None]]:
    """Return a dictionary of all strings, and what each number of the others is in it; None where it is the same."""
    if len(dictionaries) == 1:
        return dictionaries[0], [None]
    strings = stacked(dictionaries, machine)
    every, numbers = (repeated_dictionary if strings.rows > MAX_DICTIONARY_STRINGS else sorted_dictionary)(
        strings, machine
    )
    tables: list[Array | None] = []
    start = 0
    for own in dictionaries:
        tables.append(None if own.rows == every.rows else numbers[start : start + own.rows])
        start += own.rows
    return every, tables


def repeated_dictionary(strings: Vector, machine: Machine) -> tuple[Vector, Array]:
    """Return what `sorted_dictionary` does, of strings that are there several times: only distinct ones are sorted."""
    numbers = dictionary_codes(strings, machine).data
    return strings_by_code(numbers, strings, machine), numbers


def in_dictionary(
    vector: Vector, dictionary: Vector, tables: Mapping[Vector, Array | None], machine: Machine
) -> Vector:
    """Return a column by its numbers in another dictionary; one without its own is null throughout."""
    if vector.dictionary is None:
        numbers = machine.arrays.zeros(vector.rows, "int32")
        return Vector(STRING, vector.rows, numbers, vector.valid, vector.nulls, dictionary=dictionary)
    table = tables[vector.dictionary]
    numbers = vector.data if table is None else renumbered(vector.data, table, machine)
    return replace(vector, data=numbers, dictionary=dictionary)


def shared_codes(strings: Sequence[Vector], machine: Machine) -> list[Vector]:
    """Return numbers (int32) of columns of strings, equal where the strings are, and in their order."""
    if all(vector is strings[0] for vector in strings):
        return [dictionary_codes(strings[0], machine)] * len(strings)
    alone = [vector.dictionary or vector for vector in strings]
    if all(vector is alone[0] for vector in alone):
        return [vector.codes for vector in strings]
    numbers = dictionary_codes(stacked(alone, machine), machine).data
    results, start = [], 0
    for vector, own in zip(strings, alone, strict=True):
        table = numbers[start : start + own.rows]
        data = renumbered(vector.data, table, machine) if vector.dictionary else table
        results.append(Vector(pa.int32(), vector.rows, data, vector.valid, vector.nulls))
        start += own.rows
    return results
