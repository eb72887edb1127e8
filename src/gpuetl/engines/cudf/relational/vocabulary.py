"""Vocabularies: the values of columns are counted in tables by hash, and only those that are kept are sorted.

An aggregate sorts all rows, since its groups leave in order.  Here few values are left of many rows: those that are
frequent enough.  A vocabulary of another type or dictionary than the rows is looked up as a join looks up rows, without
the gather of a joined column.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.keys import Key, key_of
from gpuetl.engines.cudf.columns.kind import Kind, Kinds
from gpuetl.engines.cudf.columns.vector import NO_DATA, Vector
from gpuetl.engines.cudf.gpu_operation import Needed, programs, run_operation
from gpuetl.engines.cudf.machine import KernelSource, Machine
from gpuetl.engines.cudf.relational.join import check_unique
from gpuetl.engines.cudf.relational.join_lookup import comparable_sources, join_keys, lookup_of
from gpuetl.engines.cudf.relational.vocabularies import (
    MOST_ROWS,
    PROGRAM,
    Counting,
    Sought,
    is_alike,
    numbers_of,
    vocabularies,
)
from gpuetl.plan.node import SortKey
from gpuetl.plan.nodes import Vocabularies, Vocabulary, VocabularyLookup, VocabularyLookups, VocabularyPart
from gpuetl.plan.nodes.vocabularies import list_name
from gpuetl.plan.nodes.vocabulary import COUNT, ID, INT32, VALUE
from gpuetl.types.data_types import INT64


@run_operation.register
def number_by_frequency(operation: Vocabulary, machine: Machine, frame: Frame) -> Frame:
    """Count the values by hash, and sort those that are kept."""
    column = frame.columns[operation.column]
    if not is_counted(Kind.of(column.dtype), frame.rows):
        for step in operation.steps:
            frame = run_operation(step, machine, frame)
        return frame
    (vocabulary,) = vocabularies([counting_of(operation, frame, machine)], frame.rows, machine)
    return vocabulary


@run_operation.register
def number_together(operation: Vocabularies, machine: Machine, frame: Frame) -> Frame:
    """Count the values of all columns together; each vocabulary is one list of values, counts and numbers."""
    kinds = [Kind.of(frame.columns[part.column].dtype) for part in operation.parts]
    together = [part for part, kind in zip(operation.parts, kinds, strict=True) if is_counted(kind, frame.rows)]
    found: dict[int, Frame] = {}
    if together:
        columns = [counting_of(part, frame, machine) for part in together]
        found = dict(zip(map(id, together), vocabularies(columns, frame.rows, machine), strict=True))
    parts = [found[id(part)] if id(part) in found else run_operation(part, machine, frame) for part in operation.parts]
    ends = machine.arrays.asarray(np.array([[0, part.rows] for part in parts], np.int32).reshape(-1))
    columns_of = {
        list_name(place, name): Vector(
            pa.list_(values.dtype), 1, NO_DATA, offsets=ends[2 * place : 2 * place + 2], elements=values
        )
        for place, part in enumerate(parts)
        for name, values in part.columns.items()
    }
    return Frame({name: columns_of[name] for name in operation.schema}, 1)


@run_operation.register
def take_part(operation: VocabularyPart, machine: Machine, frame: Frame) -> Frame:
    """Return the rows of a vocabulary, which are the elements of its lists."""
    return vocabulary_in(frame, operation.place)


def vocabulary_in(frame: Frame, place: int) -> Frame:
    """Return one of several vocabularies."""
    columns = {name: frame.columns[list_name(place, name)].elements for name in (VALUE, COUNT, ID)}
    known = {name: column for name, column in columns.items() if column is not None}
    return Frame(known, known[ID].rows)


def counting_of(operation: Vocabulary, frame: Frame, machine: Machine) -> Counting:
    """Return what to count, and by which component."""
    column = frame.columns[operation.column]
    key = Key(key_of(column, SortKey(operation.column), machine).column, flagged=False)
    return Counting(column, key, values_of(column), operation.first, operation.min_count, operation.most)


def is_counted(kind: Kind, rows: float = 1) -> bool:
    """Return whether the values of a column are counted by hash: those that one component tells apart.

    That is not so of long decimals, nor where all are null.
    """
    if not chosen("count_by_hash") or not 0 < rows < MOST_ROWS:
        return False
    is_long = pa.types.is_decimal(kind.dtype) and kind.dtype.precision > 18
    return not (is_long or pa.types.is_null(kind.dtype))


def values_of(column: Vector) -> int:
    """Return how many values a column may have."""
    return column.rows if column.dictionary is None else min(column.rows, column.dictionary.rows)


@run_operation.register
def look_up_together(operation: VocabularyLookups, machine: Machine, left: Frame, right: Frame) -> Frame:
    """Look up values of several columns in their vocabularies; the rows stay where they are."""
    columns, together, others = dict(left.columns), list[tuple[str, Sought]](), list[tuple[VocabularyLookup, Frame]]()
    for lookup, place in zip(operation.lookups, operation.places, strict=True):
        column, vocabulary = columns[lookup.left_on[0]], vocabulary_in(right, place)
        if is_counted(Kind.of(column.dtype), left.rows) and is_alike(column, vocabulary.columns[VALUE]):
            together.append((lookup.output, Sought(column, vocabulary, lookup.unknown)))
        else:
            others.append((lookup, vocabulary))
    if together:
        outputs = numbers_of([sought for _, sought in together], left.rows, machine)
        columns |= {name: Vector(INT32, left.rows, output) for (name, _), output in zip(together, outputs, strict=True)}
    for lookup, vocabulary in others:
        numbered = run_operation(lookup, machine, Frame(columns, left.rows), vocabulary)
        columns[lookup.output] = numbered.columns[lookup.output]
    return Frame({name: columns[name] for name in operation.schema}, left.rows)


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
    if is_counted(kind):
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


@programs.register
def vocabularies_programs(operation: Vocabularies, frame: Kinds) -> Needed:
    """List those of the columns that are not counted by hash."""
    needed = [vocabulary_programs(part, frame) for part in operation.parts]
    columns = {
        list_name(place, name): Kind(pa.list_(kind.dtype), elements=kind)
        for place, part in enumerate(needed)
        for name, kind in part.columns.items()
    }
    return Needed(
        [text for part in needed for text in part.sources], {name: columns[name] for name in operation.schema}
    )


@programs.register
def part_programs(operation: VocabularyPart, frame: Kinds) -> Needed:
    """List none."""
    kinds = {name: frame.columns[list_name(operation.place, name)].elements for name in (VALUE, COUNT, ID)}
    return Needed([], {name: kind for name, kind in kinds.items() if kind is not None})


@programs.register
def lookups_programs(operation: VocabularyLookups, left: Kinds, right: Kinds) -> Needed:
    """List those of values that are cast to compare: of columns that are looked up one by one."""
    columns, sources = {**left.columns}, list[KernelSource]()
    for lookup, place in zip(operation.lookups, operation.places, strict=True):
        theirs = right.columns[list_name(place, VALUE)].elements
        assert theirs is not None
        sources += comparable_sources(columns[lookup.left_on[0]], theirs)
        columns[lookup.output] = Kind(INT32)
    return Needed(sources, {name: columns[name] for name in operation.schema})
