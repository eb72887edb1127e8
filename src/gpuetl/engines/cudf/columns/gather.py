"""Rows gathered by number: a kernel for up to 100 columns, and one more for the bytes of each column of strings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpuetl.engines.cudf.columns.arrays import iota, scan
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.kernel_arguments import integer_name
from gpuetl.engines.cudf.columns.validity import check_elements, empty_bits, empty_values, offsets_of_sizes, with_nulls
from gpuetl.engines.cudf.columns.vector import NO_DATA, Vector
from gpuetl.engines.cudf.machine import Array, Machine, Struct
from gpuetl.types.data_types import BOOL
from gpuetl.types.nested_types import is_struct

# The bytes of strings that are gathered.


def with_bytes(vector: Vector, output: Vector, rows: Any, total: int, machine: Machine) -> Vector:
    """Copy the strings of these rows side by side, `total` bytes; `output` has their sizes, after a first 0."""
    offsets = offsets_of_sizes(output.data, total, machine)
    data = machine.arrays.empty(total, "uint8")
    if total:
        kinds = "_".join(map(integer_name, (vector.offsets, offsets, rows)))
        arguments = [len(rows), rows, vector.data, vector.offsets, data, offsets]
        machine.launch(machine.closed("copy_strings"), f"copy_strings_{kinds}", len(rows), arguments)
    return Vector(output.dtype, output.rows, data, output.valid, 0, offsets)


MOST_COLUMNS = 100
WIDTHS, OFFSETS = (1, 2, 4, 8, 16), (4, 8)
"""As in device/closed/gather.cu: columns of a launch, and the kinds of columns in order, by bytes."""
SMALL_TILE, TILE, MANY_ROWS = 256, 1024, 1 << 20
"""Rows of a warp: fewer where there are few, so that all of the device is busy; else more, since nulls are added up by
tile."""


def take_rows(frame: Frame, rows: Any, machine: Machine, permuted: bool = False) -> Frame:
    """Return the rows of these numbers, none of which is missing; each once, where they are `permuted`."""
    return Frame(take(frame.columns, rows, machine, permuted, missing=False), len(rows))


def first_rows(frame: Frame, count: int, machine: Machine) -> Frame:
    """Return the first rows."""
    return frame if frame.rows <= count else take_rows(frame, iota(count, machine), machine)


def take(
    vectors: Mapping[str, Vector], rows: Any, machine: Machine, permuted: bool = False, missing: bool = True
) -> dict[str, Vector]:
    """Gather rows by number (int32 or int64, below the columns' length); -1, where some may be `missing`, gives null.

    The host waits once, for the bytes of strings and for how many nulls there are.  Nobody waits where there are no
    strings, and columns can have no nulls, or as many as before since each row is taken once, `permuted`.

    Raises
    ------
    EvaluationError
        Where the elements of lists would be 2^31 or more.
    """
    if not len(rows):
        return {name: nothing(vector, machine) for name, vector in vectors.items()}
    if any(is_struct(vector.dtype) for vector in vectors.values()):
        return take_with_structs(vectors, rows, machine, permuted, missing)
    stored = {name: vector.codes for name, vector in vectors.items()}
    outputs = {name: prepared(vector, rows, machine, missing and not permuted) for name, vector in stored.items()}
    counters = gather_fixed(list(stored.values()), list(outputs.values()), rows, machine)
    results = {}
    for (name, vector), (nulls, total) in zip(stored.items(), counts(stored, counters, permuted), strict=True):
        output = outputs[name]
        if vector.elements is not None:
            output = with_elements(vector, output, rows, total, machine)
        elif vector.holds_bytes:
            output = with_bytes(vector, output, rows, total, machine)
        results[name] = with_nulls(output, nulls).as_codes_of(vectors[name].dictionary)
    return results


def take_with_structs(
    vectors: Mapping[str, Vector], rows: Any, machine: Machine, permuted: bool, missing: bool
) -> dict[str, Vector]:
    """Gather rows of columns of which some are structs: their fields, and their nulls, are columns of their own."""
    flat: dict[str, Vector] = {}
    for place, vector in enumerate(vectors.values()):
        flat[f"{place}"] = presence(vector, machine) if is_struct(vector.dtype) else vector
        flat |= {f"{place}.{number}": field for number, field in enumerate(vector.fields)}
    found = take(flat, rows, machine, permuted, missing)
    results = {}
    for place, (name, vector) in enumerate(vectors.items()):
        own = found[f"{place}"]
        if is_struct(vector.dtype):
            fields = tuple(found[f"{place}.{number}"] for number in range(len(vector.fields)))
            own = Vector(vector.dtype, own.rows, NO_DATA, own.valid, own.nulls, fields=fields)
        results[name] = own
    return results


def presence(vector: Vector, machine: Machine) -> Vector:
    """Return a column of booleans, all false, that is null where structs are."""
    return Vector(BOOL, vector.rows, machine.arrays.zeros(vector.rows, "uint8"), vector.valid, vector.nulls)


def take_strings(vector: Vector, rows: Array, total: int, machine: Machine) -> Vector:
    """Gather strings of rows that are not null, `total` bytes in all: the host does not wait."""
    if not len(rows):
        return nothing(vector, machine)
    stored = replace(vector, valid=None, nulls=0)
    output = prepared(stored, rows, machine, missing=False)
    gather_fixed([stored], [output], rows, machine)
    return with_bytes(stored, output, rows, total, machine)


def counts(vectors: Mapping[str, Vector], counters: Array | None, permuted: bool) -> list[list[int]]:
    """Return how many nulls each column has, and bytes or elements; the host waits for what it does not know."""
    sized = any(vector.offsets is not None for vector in vectors.values())
    if counters is None or (permuted and not sized):
        return [[vector.nulls * permuted, 0] for vector in vectors.values()]
    return counters.tolist()  # type: ignore[no-any-return]


def nothing(vector: Vector, machine: Machine) -> Vector:
    """Return no rows of a column."""
    if is_struct(vector.dtype):
        return Vector(vector.dtype, 0, NO_DATA, fields=tuple(nothing(field, machine) for field in vector.fields))
    if vector.offsets is None:
        return Vector(vector.dtype, 0, vector.data[:0], dictionary=vector.dictionary)
    elements = nothing(vector.elements, machine) if vector.elements else None
    data = NO_DATA if elements else vector.data[:0]
    return Vector(vector.dtype, 0, data, None, 0, machine.arrays.zeros(1, "int32"), elements)


def prepared(vector: Vector, rows: Any, machine: Machine, missing: bool) -> Vector:
    """Return the column to be written: the sizes of strings and lists stand in place of the data, after a first 0."""
    count = len(rows)
    valid = empty_bits(count, machine) if missing or vector.valid is not None else None
    if vector.offsets is None:
        return Vector(vector.dtype, count, empty_values(vector.dtype, count, machine), valid)
    return Vector(vector.dtype, count, machine.arrays.empty(count + 1, "int32"), valid)


def gather_fixed(vectors: Sequence[Vector], outputs: Sequence[Vector], rows: Any, machine: Machine) -> Array | None:
    """Gather values of a fixed width and the sizes of others.

    Return (uint64) how many rows of each are null, and its bytes or elements; None where there can be none.
    """
    counters = None
    if any(
        output.valid is not None or vector.offsets is not None for vector, output in zip(vectors, outputs, strict=True)
    ):
        counters = machine.arrays.zeros((len(vectors), 2), "uint64")
    module, entry = machine.closed("gather"), f"gather_{integer_name(rows)}"
    columns = [described(*pair, machine) for pair in zip(vectors, outputs, strict=True)]
    tile = TILE if len(rows) >= MANY_ROWS else SMALL_TILE
    tiles = -(-len(rows) // tile)
    for first in range(0, len(columns), MOST_COLUMNS):
        some = columns[first : first + MOST_COLUMNS]
        words = np.zeros(1 + 5 * MOST_COLUMNS, np.int64)
        words[: 1 + 5 * len(some)] = [len(some), *(word for column in some for word in column)]
        own = 0 if counters is None else counters[first:]
        machine.launch(module, entry, tiles * len(some) * 32, [len(rows), tile, rows, own, Struct(words)])
    return counters


def described(vector: Vector, output: Vector, machine: Machine) -> list[int]:
    """Return a column as device/closed/gather.cu takes it: what is read and written, their validity, and the kind.

    The kernel reads some value for rows of no number.  Where there is none, it reads what it will write.
    """
    if vector.offsets is None:
        source, kind = vector.data, WIDTHS.index(output.data.nbytes // output.rows)
    else:
        source, kind = vector.offsets, len(WIDTHS) + OFFSETS.index(vector.offsets.dtype.itemsize)
    if not vector.rows:
        source, kind = output.data, min(kind, len(WIDTHS))
    valid = vector.valid if vector.rows else None
    return [0 if each is None else machine.address(each) for each in (source, output.data, valid, output.valid)] + [
        kind
    ]


def with_elements(vector: Vector, output: Vector, rows: Any, total: int, machine: Machine) -> Vector:
    """Gather the elements of lists, `total` of them."""
    check_elements(total)
    offsets, wanted = scan(output.data, machine, "int32"), machine.arrays.empty(total, "int32")
    assert vector.elements is not None
    arguments = [total, len(rows), offsets, vector.offsets, rows, wanted]
    machine.launch(machine.closed("lists"), f"list_elements_{integer_name(rows)}", total, arguments)
    elements = take({"": vector.elements}, wanted, machine, missing=False)[""]
    return Vector(output.dtype, output.rows, NO_DATA, output.valid, 0, offsets, elements)
