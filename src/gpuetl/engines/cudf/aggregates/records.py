"""Columns that are read in the order of groups, laid side by side first: a record of 16 or 32 bytes for each row.

A column that is read at random costs a sector of 32 bytes for each value, and its validity another access.  A record
costs one sector for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.machine import Array, Machine, Struct
from gpuetl.engines.cudf.vector import Vector, storage_type
from gpuetl.expressions.ir import Expr
from gpuetl.records import dataclass
from gpuetl.types.data_types import STRING, is_list

STORED = ("", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float32")
"""How narrow values lie in memory, in the order of `Stored` in device/states.cuh; the others have 8 bytes."""
FIELDS = 4
"""The most values of a record; one less where a column has nulls."""
MANY_ROWS = 1 << 20
"""Fewer rows stay in a GPU's cache."""
NEVER_NULL = 64
"""Stands for the number of a bit."""


@dataclass(frozen=True, eq=False)
class Records:
    """Values of columns of each row side by side.

    `fields` has for each column the number of its value, and of its bit in the record's last word.
    """

    memory: Array
    wide: bool
    fields: Mapping[Expr, tuple[int, int]]


def stored_code(vector: Vector) -> int:
    """Return how values lie in memory, as device/states.cuh has it."""
    name = storage_type(vector.dtype)
    return STORED.index(name) if name in STORED else 0


def term(vector: Vector, machine: Machine, kind: int = 0, first: int = 0) -> list[int]:
    """Return the words of a `Term` that reads a column."""
    bits = 0 if vector.valid is None else machine.address(vector.valid)
    if is_list(vector.dtype) or vector.dtype == STRING:  # only counted
        return [0, bits, kind, 0, first]
    return [machine.address(vector.data), bits, kind, stored_code(vector), first]


def uses_records(columns: Sequence[Vector], rows: int) -> bool:
    """Tell whether a reduction of so many rows, which come by their numbers, reads columns by records."""
    if len(columns) < 2 or rows < MANY_ROWS or not chosen("reduce_by_records"):
        return False
    return len(columns) <= fields_of(columns) and not any(
        is_list(vector.dtype) or vector.dtype == STRING for vector in columns
    )


def fields_of(columns: Iterable[Vector]) -> int:
    """Return how many of some columns a record holds at most."""
    return FIELDS - any(vector.valid is not None for vector in columns)


def records_of(columns: Mapping[Expr, Vector], rows: int, machine: Machine) -> Records:
    """Write the records of columns of up to 8 bytes."""
    nullable = any(vector.valid is not None for vector in columns.values())
    wide = len(columns) + nullable > 2
    memory = machine.arrays.empty(rows * (4 if wide else 2), "uint64")
    words = np.zeros(1 + 5 * FIELDS, np.int64)
    terms = [word for vector in columns.values() for word in term(vector, machine)]
    words[: 1 + len(terms)] = [len(columns), *terms]
    arguments = [rows, int(wide), int(nullable), memory, Struct(words)]
    machine.launch(machine.closed("records"), "write_records", rows, arguments)
    places = {
        argument: (place, NEVER_NULL if vector.valid is None else place)
        for place, (argument, vector) in enumerate(columns.items())
    }
    return Records(memory, wide, places)
