"""Each group's rows reduced to states: chunks by a warp each, then the chunks of a group, always in one order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeVar

import numpy as np

from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.columns.arrays import pick, scan
from gpuetl.engines.cudf.columns.validity import empty_column, with_nulls
from gpuetl.engines.cudf.columns.vector import Vector, has_bytes, storage_type
from gpuetl.engines.cudf.machine import Array, Machine, Module, Struct
from gpuetl.engines.cudf.relational.aggregate_states import (
    MEMORY,
    RESULT_OF,
    RESULTS,
    SUMS,
    WIDE,
    WORD_STATES,
    Result,
    State,
)
from gpuetl.engines.cudf.relational.grouping import Groups
from gpuetl.engines.no_result import sum_overflow
from gpuetl.errors import EvaluationError
from gpuetl.expressions.ir import Call, Expr
from gpuetl.records import dataclass
from gpuetl.types.data_types import INT64
from gpuetl.types.nested_types import is_nested

# Columns that are read in the order of groups, laid side by side first: a record of 16 or 32 bytes for each row.
#
# A column that is read at random costs a sector of 32 bytes for each value, and its validity another access.  A record
# costs one sector for all of them.


RECORD_TYPES = ("", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float32")
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
    return RECORD_TYPES.index(name) if name in RECORD_TYPES else 0


def term(vector: Vector, machine: Machine, kind: int = 0, first: int = 0) -> list[int]:
    """Return the words of a `Term` that reads a column."""
    bits = 0 if vector.valid is None else machine.address(vector.valid)
    if is_nested(vector.dtype) or has_bytes(vector.dtype):  # only counted
        return [0, bits, kind, 0, first]
    return [machine.address(vector.data), bits, kind, stored_code(vector), first]


def uses_records(columns: Sequence[Vector], rows: int) -> bool:
    """Return whether a reduction of so many rows, which come by their numbers, reads columns by records."""
    if len(columns) < 2 or rows < MANY_ROWS or not chosen("reduce_by_records"):
        return False
    return len(columns) <= fields_of(columns) and not any(
        is_nested(vector.dtype) or has_bytes(vector.dtype) for vector in columns
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


# Each group's rows reduced to one state: chunks of a group by a warp each, then the chunks, always in one order.


CHUNK = 2048
"""Rows that one warp reduces: enough to amortise its state, few enough that one group fills a device."""
SHORT = 8
"""Where chunks have fewer rows than this on average, a thread reduces each: a warp's lanes would have little to do."""
MERGED = 256
"""States that one warp merges, where a group has more than twice as many."""
TURNS = 2
"""Chunks come in turns from this many for each group on.  The rows of a chunk that is a whole group come from all over
the frame, so no order of chunks brings them together.  To sort 100 million chunks takes longer than to reduce them."""
FEW = 32
"""Chunks of a group that one thread writes; a warp writes those of a group that has more."""


@dataclass(frozen=True, eq=False)
class Kernels:
    """Two kernels of a module, one for a warp an item and one for a thread an item, and what both take in the end."""

    module: Module
    by_warps: str
    by_threads: str
    arguments: Sequence[object]


@dataclass(frozen=True, eq=False)
class Reduction:
    """How rows are reduced to states, each of so many bytes.

    `rows` reduce chunks of rows.  They take

    1. how many chunks there are, and where each starts and stops among the rows (int64);
    2. the memory for the states;
    3. the order in which the chunks come (int32), 0 where they come as they are;
    4. the numbers of the rows in the order of groups (int32), 0 where the rows come as they are.

    `states` merge the states of several chunks, and keep that of a single one.  They take

    1. how many groups there are, and where each starts and stops among the chunks (int64);
    2. how many chunks there are, and their states;
    3. the memory for the states of the groups.
    """

    state_bytes: int
    rows: Kernels
    states: Kernels


@dataclass(frozen=True, eq=False)
class Chunks:
    """Items cut into chunks, each of one group: where they start and stop, and the first chunk of each group.

    `chunk_starts` ends with the number of chunks, and is None where each group is one; `most` is that of the group
    that has most.
    """

    starts: Array
    stops: Array
    chunk_starts: Array | None
    most: int


def reduce_groups(groups: Groups, reduction: Reduction, launched: Callable[[], None] = lambda: None) -> Array:
    """Return the memory of the groups' states.

    `launched` is called after each launch that the host would wait for next.
    """
    machine, arrays = groups.machine, groups.machine.arrays
    if not groups.count:
        return arrays.empty(0, "uint8")
    chunks = groups.once("chunks", lambda: cut(groups.starts, CHUNK, machine))
    count, order = len(chunks.starts), groups.rows
    turns: Array | None = None
    if order is not None and count >= TURNS * groups.count:
        turns = groups.once("turns", lambda: turns_of(order, chunks, machine))
    states = arrays.empty(count * reduction.state_bytes, "uint8")
    kernels = reduction.rows
    rows = [0 if array is None else array for array in (turns, order)]
    launch_arguments = [count, chunks.starts, chunks.stops, states, *rows, *kernels.arguments]
    if groups.frame.rows < SHORT * count:
        machine.launch(kernels.module, kernels.by_threads, count, launch_arguments)
    else:
        machine.launch(kernels.module, kernels.by_warps, count * 32, launch_arguments)
    level = 0
    while chunks.chunk_starts is not None and chunks.most > 2 * MERGED:
        launched()
        level, bounds = level + 1, chunks.chunk_starts
        chunks = groups.once(f"chunks of chunks {level}", partial(cut, bounds, MERGED, machine))
        states = merged(states, chunks.starts, chunks.stops, reduction, machine)
    if chunks.chunk_starts is None:
        return states
    return merged(states, chunks.chunk_starts[:-1], chunks.chunk_starts[1:], reduction, machine)


def turns_of(rows: Array, chunks: Chunks, machine: Machine) -> Array:
    """Return the numbers (int32) of chunks in the order of their first rows."""
    return machine.sorted_order([pick(rows, chunks.starts, machine).view("uint32")])


def merged(states: Array, starts: Array, stops: Array, reduction: Reduction, machine: Machine) -> Array:
    """Return what the states from each start to its stop come to."""
    count, size, kernels = len(starts), reduction.state_bytes, reduction.states
    output = machine.arrays.empty(count * size, "uint8")
    launch_arguments = [count, starts, stops, len(states) // size, states, output, *kernels.arguments]
    machine.launch(
        kernels.module, kernels.by_threads, count, launch_arguments
    )  # most have one, where a warp each takes too long
    machine.launch(kernels.module, kernels.by_warps, count * 32, launch_arguments)
    return output


def cut(bounds: Array, size: int, machine: Machine) -> Chunks:
    """Cut the items of each group, from bounds[g] to bounds[g + 1], into chunks."""
    arrays, groups, module = machine.arrays, len(bounds) - 1, machine.closed("chunks")
    chunk_starts, counters = arrays.empty(groups + 1, "int64"), arrays.zeros(2, "uint64")
    machine.launch(module, "count_chunks", groups, [groups, size, bounds, chunk_starts, counters])
    total, most = counters.tolist()
    if most <= 1 and total == groups:
        return Chunks(bounds[:-1], bounds[1:], None, most)
    chunk_starts = scan(chunk_starts, machine)
    starts, stops = arrays.empty(total, "int64"), arrays.empty(total, "int64")
    arguments = [groups, size, FEW, bounds, chunk_starts, starts, stops]
    machine.launch(module, "write_few_chunks", groups, arguments)
    if most > FEW:
        machine.launch(module, "write_many_chunks", groups * 32, arguments)
    return Chunks(starts, stops, chunk_starts, most)


# Each group's rows reduced to the states of an aggregate's calls, and these turned into columns.


T = TypeVar("T")
TERMS = (1, 2, 3, 4, 8)
"""How many states a kernel of device/closed/states.cu reduces; some of the last one may be of the kind `none`."""
MOST_IN_ORDER = 4
"""States that are reduced at once where rows come as they are: others read nothing again, and a lane has more rows
under way."""
KINDS = tuple(WORD_STATES)
MOST_ARGUMENTS, MOST_RESULTS = 5, 32
RESULT_TYPES = ("int8", "int16", "int32", "int64", "V16", "float32", "float64")
"""Of results, in the order of `Stored` in device/closed/results.cu; unsigned integers lie as signed ones do."""


@dataclass(frozen=True, eq=False)
class GroupStates:
    """The states of all groups: their memory, and the place (in bytes) of the first group's."""

    memory: Array
    at: int = 0


def reduced(groups: Groups, calls: Mapping[str, Call]) -> dict[str, Vector]:
    """Compute calls that have states; raise `EvaluationError` where a sum leaves its type."""
    results = {name: known_rows(groups, RESULT_OF[call.function.name](call)) for name, call in calls.items()}
    wanted = list(dict.fromkeys(found.state for found in results.values() if found.state))
    states = reduced_words(groups, [state for state in wanted if state.kind in WORD_STATES])
    for state in wanted:
        if state.kind in WIDE:
            states[state] = GroupStates(reduce_groups(groups, wide_reduction(groups, state)))
    return finished(groups, calls, results, states)


def known_rows(groups: Groups, result: Result) -> Result:
    """Count rows where values that are counted are never null."""
    counted = result.state and result.state.kind == "count_valid" and groups.column(result.state.args[0]).valid is None
    return Result("rows", None) if counted else result


def reduced_words(groups: Groups, states: Sequence[State]) -> dict[State, GroupStates]:
    """Reduce rows to states of words: see device/states.cuh.  Counts are taken from sums of the same values."""
    sums = {state.args: state for state in states if state.kind in SUMS}
    own = [state for state in states if state.kind != "count_valid" or state.args not in sums]
    found: dict[State, GroupStates] = {}
    for some, records in batches(groups, own) if own else ():
        memory = reduce_groups(groups, words_reduction(groups, some, records))
        for state, first in zip(some, first_words(some), strict=True):
            found[state] = GroupStates(memory, first * 8 * groups.count)
    for state in states:
        if state not in found:
            sum_state = found[sums[state.args]]
            last = WORD_STATES[sums[state.args].kind] - 1
            found[state] = GroupStates(sum_state.memory, sum_state.at + last * 8 * groups.count)
    return found


def batches(groups: Groups, states: Sequence[State]) -> Iterator[tuple[Sequence[State], Records | None]]:
    """Yield states by as many as a kernel reduces, and the records that these read; None where they read columns.

    Of small groups, whose rows are anywhere, states are taken by columns that fit a record.  Chunks of large groups
    come in turns, so rows that are near each other are read together: more columns than fit a record are read sooner as
    they are.
    """
    if groups.rows is None:
        yield from ((some, None) for some in parts(states, MOST_IN_ORDER))
        return
    rows, columns = groups.frame.rows, {state.args[0]: groups.column(state.args[0]) for state in states}
    come_in_turns = rows >= TURNS * CHUNK * groups.count
    for some in parts(list(columns), len(states) if come_in_turns else fields_of(columns.values())):
        own = {argument: columns[argument] for argument in some}
        records = records_of(own, rows, groups.machine) if uses_records(list(own.values()), rows) else None
        for part in parts([state for state in states if state.args[0] in own], TERMS[-1]):
            yield part, records


def parts(items: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    """Yield items by at most so many, and by about as many each time."""
    count = -(-len(items) // most)
    for place in range(count):
        yield items[len(items) * place // count : len(items) * (place + 1) // count]


def first_words(states: Sequence[State]) -> list[int]:
    """Return the place of each state's first word."""
    return [sum(WORD_STATES[state.kind] for state in states[:place]) for place in range(len(states))]


def words_reduction(groups: Groups, states: Sequence[State], records: Records | None) -> Reduction:
    """Return the kernels that reduce several states of words at once."""
    machine, count = groups.machine, next(terms for terms in TERMS if terms >= len(states))
    kinds, words = [KINDS.index(state.kind) for state in states], first_words(states)
    read = [
        term(groups.column(state.args[0]), machine, kind, first)
        for state, kind, first in zip(states, kinds, words, strict=True)
    ]
    terms, module = packed_terms(read, count), machine.closed("states")
    rows = Kernels(module, f"reduce_{count}", f"reduce_short_{count}", (terms,))
    merging = Kernels(module, f"merge_chunks_{count}", f"keep_chunks_{count}", (terms,))
    if records:
        fields = [
            [*records.fields[state.args[0]], kind, 0, first]
            for state, kind, first in zip(states, kinds, words, strict=True)
        ]
        arguments = (records.memory, int(records.wide), packed_terms(fields, count))
        own = machine.closed("records")
        rows = Kernels(own, f"reduce_records_{count}", f"reduce_short_records_{count}", arguments)
    return Reduction(8 * sum(WORD_STATES[state.kind] for state in states), rows, merging)


def packed_terms(terms: Sequence[Sequence[int]], count: int) -> Struct:
    """Return terms as kernels for `count` of them take them."""
    words = np.zeros((count, 5), np.int64)
    words[: len(terms)] = terms
    return Struct(words.reshape(-1))


def wide_reduction(groups: Groups, state: State) -> Reduction:
    """Return the kernels that reduce rows to a state of a struct."""
    machine, words = groups.machine, np.zeros((MOST_ARGUMENTS, 3), np.int64)
    for place, argument in enumerate(state.args):
        column = groups.column(argument)
        bits = 0 if column.valid is None else machine.address(column.valid)
        words[place] = [machine.address(column.data), bits, column.dtype == INT64]
    module, arguments = machine.closed("wide_states"), (Struct(words.reshape(-1)),)
    rows = Kernels(module, f"reduce_{state.kind}", f"reduce_short_{state.kind}", arguments)
    merging = Kernels(module, f"merge_chunks_{state.kind}", f"keep_chunks_{state.kind}", arguments)
    return Reduction(MEMORY[WIDE[state.kind]], rows, merging)


def finished(
    groups: Groups, calls: Mapping[str, Call], results: Mapping[str, Result], states: Mapping[State, GroupStates]
) -> dict[str, Vector]:
    """Turn the groups' states into columns."""
    machine, count = groups.machine, groups.count
    output = {name: empty_column(call.dtype, count, machine) for name, call in calls.items()}
    counters = machine.arrays.zeros((2, len(calls)), "uint64")
    described = [result_words(groups, results[name], states, output[name]) for name in calls]
    for first in range(0, len(described), MOST_RESULTS):
        some = described[first : first + MOST_RESULTS]
        words = np.zeros(1 + 7 * MOST_RESULTS, np.int64)
        words[: 1 + 7 * len(some)] = [len(some), *(word for each in some for word in each)]
        arguments = [count, groups.starts, counters[0, first:], counters[1, first:], Struct(words)]
        machine.launch(machine.closed("results"), "finish", count, arguments)
    faults, nulls = counters.tolist() if count else np.zeros((2, len(calls)), np.int64).tolist()
    for (name, call), fault in zip(calls.items(), faults, strict=True):
        if fault:
            raise EvaluationError.of_column(name, sum_overflow(call.dtype))
    return {name: with_nulls(output[name], missing) for name, missing in zip(calls, nulls, strict=True)}


def result_words(groups: Groups, result: Result, states: Mapping[State, GroupStates], output: Vector) -> list[int]:
    """Return the words of a `Result` of device/closed/results.cu."""
    machine, at, memory = groups.machine, 0, "narrow"
    if result.state:
        at = machine.address(states[result.state].memory) + states[result.state].at
        memory = WIDE.get(result.state.kind, "narrow")
    stored = RESULT_TYPES.index(storage_type(output.dtype).removeprefix("u"))
    kinds = [RESULTS.index(result.kind), list(MEMORY).index(memory), stored, result.detail]
    return [at, machine.address(output.data), machine.address(output.required_valid), *kinds]
