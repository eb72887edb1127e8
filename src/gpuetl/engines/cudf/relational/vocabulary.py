"""Vocabularies: the values of a column are counted in a table by hash, and only those that are kept are sorted.

An aggregate sorts all rows, since its groups leave in order.  Here few values are left of many rows: those that are
frequent enough.  Numbers are looked up as a join looks up rows, without the gather of a joined column.
"""

from __future__ import annotations

import pyarrow as pa

from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.columns.arrays import canonical, filled, iota, shifted
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.gather import first_rows, take
from gpuetl.engines.cudf.columns.keys import Key, Keys, key_of, launch_components
from gpuetl.engines.cudf.columns.kind import Kind, Kinds
from gpuetl.engines.cudf.columns.order import sorted_order
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.gpu_operation import Needed, programs, run_operation
from gpuetl.engines.cudf.machine import Array, KernelSource, Machine
from gpuetl.engines.cudf.relational.join import check_unique
from gpuetl.engines.cudf.relational.join_lookup import comparable_sources, join_keys, lookup_of
from gpuetl.plan.node import SortKey
from gpuetl.plan.nodes import Vocabulary, VocabularyLookup
from gpuetl.plan.nodes.vocabulary import COUNT, ID, INT32, VALUE
from gpuetl.types.data_types import INT64

PROGRAM = "vocabulary"
MOST_ROWS = 1 << 29
"""A table has twice as many slots at least, and places in it have 31 bits."""
SMALL_TABLES = 1 << 17, 1 << 21
"""Slots of 16 bytes: 2 MiB and 32 MiB."""
MOST_PROBES = 64
"""A small table in which a value needs more is given up."""


@run_operation.register
def number_by_frequency(operation: Vocabulary, machine: Machine, frame: Frame) -> Frame:
    """Count the values by hash, and sort those that are kept."""
    column = frame.columns[operation.column]
    if not chosen("count_by_hash") or not is_counted(Kind.of(column.dtype)) or not 0 < frame.rows < MOST_ROWS:
        for step in operation.steps:
            frame = run_operation(step, machine, frame)
        return frame
    key = Key(key_of(column, SortKey(operation.column), machine).column, flagged=False)
    rows, counts = counted(Keys((key,), frame.rows), values_of(column), operation.min_count, machine)
    (value,) = take({VALUE: column}, rows, machine, missing=False).values()
    own = Vector(INT64, len(rows), counts)
    by = Keys((Key(own, False, descending=True), Key(key_of(value, SortKey(VALUE), machine).column, False)), len(rows))
    order = sorted_order(by, machine)
    ordered = Frame(take({VALUE: value, COUNT: own}, order, machine, permuted=True, missing=False), len(rows))
    if operation.most is not None:
        ordered = first_rows(ordered, operation.most, machine)
    return ordered.updated(
        {VALUE: canonical(ordered.columns[VALUE], machine), ID: ids(operation, ordered.rows, machine)}
    )


def is_counted(kind: Kind) -> bool:
    """Return whether one component tells the values of a column apart: not of long decimals, or where all are null."""
    is_long = pa.types.is_decimal(kind.dtype) and kind.dtype.precision > 18
    return not (is_long or pa.types.is_null(kind.dtype))


def values_of(column: Vector) -> int:
    """Return how many values a column may have."""
    return column.rows if column.dictionary is None else min(column.rows, column.dictionary.rows)


def counted(keys: Keys, values: int, least: int, machine: Machine) -> tuple[Array, Array]:
    """Return a row (int32) of each value that `least` rows or more have, and how many have it (int64).

    The host waits for how many values these are.  Tables that fit a GPU's cache are tried before one of twice as many
    slots as there may be `values`: a full one shows after few rows.
    """
    last = 1 << max(6, (2 * values - 1).bit_length())
    for size in (size for size in SMALL_TABLES if size < last):
        rows, counts, is_full = counted_in(keys, size, MOST_PROBES, least, machine)
        if not is_full:
            return rows, counts
    return counted_in(keys, last, last, least, machine)[:2]


def counted_in(keys: Keys, size: int, probes: int, least: int, machine: Machine) -> tuple[Array, Array, bool]:
    """Return the same by one table, and whether it is too small: a value needed more probes, and nothing is kept."""
    arrays = machine.arrays
    slots, state = filled(2 * (size + 1), -1, "int64", machine), arrays.zeros(2, "uint64")
    struct = keys.struct(keys.described(machine), machine)
    launch_components(PROGRAM, "count_values", 1, keys.rows, [size, probes, slots, state[1:]], struct, machine)
    most = min(size + 1, keys.rows // least)
    rows, counts = arrays.empty(most, "int32"), arrays.empty(most, "int64")
    arguments = [size + 1, least, slots, rows, counts, state, state[1:]]
    machine.launch(machine.closed(PROGRAM), "keep_values", size + 1, arguments)
    count, full = state.tolist()
    return rows[:count], counts[:count], bool(full)


def ids(operation: Vocabulary, rows: int, machine: Machine) -> Vector:
    """Return the numbers of the values."""
    numbers = machine.arrays.empty(rows, "int32")
    if rows:
        shifted(iota(rows, machine), operation.first, numbers, machine)
    return Vector(INT32, rows, numbers)


@run_operation.register
def look_up(operation: VocabularyLookup, machine: Machine, left: Frame, right: Frame) -> Frame:
    """Look the values up; the rows stay where they are.

    Raises
    ------
    EvaluationError
        Where a value is in the vocabulary twice: its file was changed.
    """
    keys = join_keys(operation, left, right, machine)
    lookup = lookup_of(keys, machine)
    check_unique(operation, (left, right), keys, lookup, machine)
    found, _ = lookup.find(keys.left, slots=False)
    column, numbers = left.columns[operation.left_on[0]], machine.arrays.empty(left.rows, "int32")
    valid = 0 if column.valid is None else column.valid
    ids = right.columns[ID].data if right.rows else 0
    arguments = [left.rows, operation.unknown, valid, found, ids, numbers]
    machine.launch(machine.closed(PROGRAM), "number_values", left.rows, arguments)
    columns = {**left.columns, operation.output: Vector(INT32, left.rows, numbers)}
    return Frame({name: columns[name] for name in operation.schema}, left.rows)


@programs.register
def vocabulary_programs(operation: Vocabulary, frame: Kinds) -> Needed:
    """List none where values are counted by hash; else those of the steps."""
    kind = frame.columns[operation.column]
    if chosen("count_by_hash") and is_counted(kind):
        return Needed([], {VALUE: kind, COUNT: Kind(INT64), ID: Kind(INT32)})
    sources, needed = list[KernelSource](), Needed([], frame.columns)
    for step in operation.steps:
        needed = programs(step, Kinds(needed.columns, frame.rows))
        sources += needed.sources
    return Needed(sources, needed.columns)


@programs.register
def lookup_programs(operation: VocabularyLookup, left: Kinds, right: Kinds) -> Needed:
    """List those of values that are cast to compare."""
    (ours,), (theirs,) = operation.left_on, operation.right_on
    every = {**left.columns, operation.output: Kind(INT32)}
    columns = {name: every[name] for name in operation.schema}
    return Needed(comparable_sources(left.columns[ours], right.columns[theirs]), columns)
