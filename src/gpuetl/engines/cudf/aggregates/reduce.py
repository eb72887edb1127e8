"""Each group's rows reduced to the states of an aggregate's calls, and these turned into columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from gpuetl.engines.cudf.aggregates.chunks import CHUNK, TURNS, Kernels, Reduction, reduce_groups
from gpuetl.engines.cudf.aggregates.groups import Groups
from gpuetl.engines.cudf.aggregates.records import Records, fields_of, records_of, term, uses_records
from gpuetl.engines.cudf.aggregates.states import MEMORY, RESULT_OF, RESULTS, SUMS, WIDE, WORDS, Result, State
from gpuetl.engines.cudf.columns.validity import with_nulls
from gpuetl.engines.cudf.columns.written import empty_column
from gpuetl.engines.cudf.machine import Array, Struct
from gpuetl.engines.cudf.vector import Vector, storage_type
from gpuetl.engines.no_result import sum_overflow
from gpuetl.errors import EvaluationError
from gpuetl.expressions.ir import Call
from gpuetl.records import dataclass
from gpuetl.types.data_types import INT64

T = TypeVar("T")
TERMS = (1, 2, 3, 4, 8)
"""How many states a kernel of device/closed/states.cu reduces; some of the last one may be of the kind `none`."""
MOST_IN_ORDER = 4
"""States that are reduced at once where rows come as they are: others read nothing again, and a lane has more rows
under way."""
KINDS = tuple(WORDS)
MOST_ARGUMENTS, MOST_RESULTS = 4, 32
STORED = ("int8", "int16", "int32", "int64", "V16", "float32", "float64")
"""Of results, in the order of `Stored` in device/closed/results.cu; unsigned integers lie as signed ones do."""


@dataclass(frozen=True, eq=False)
class Reduced:
    """The states of all groups: their memory, and the place (in bytes) of the first group's."""

    memory: Array
    at: int = 0


def reduced(groups: Groups, calls: Mapping[str, Call]) -> dict[str, Vector]:
    """Compute calls that have states; raise `EvaluationError` where a sum leaves its type."""
    results = {name: known_rows(groups, RESULT_OF[call.function.name](call)) for name, call in calls.items()}
    wanted = list(dict.fromkeys(found.state for found in results.values() if found.state))
    states = reduced_words(groups, [state for state in wanted if state.kind in WORDS])
    for state in wanted:
        if state.kind in WIDE:
            states[state] = Reduced(reduce_groups(groups, wide_reduction(groups, state)))
    return finished(groups, calls, results, states)


def known_rows(groups: Groups, found: Result) -> Result:
    """Count rows where values that are counted are never null."""
    counted = found.state and found.state.kind == "count_valid" and groups.column(found.state.args[0]).valid is None
    return Result("rows", None) if counted else found


def reduced_words(groups: Groups, wanted: Sequence[State]) -> dict[State, Reduced]:
    """Reduce rows to states of words: see device/states.cuh.  Counts are taken from sums of the same values."""
    sums = {state.args: state for state in wanted if state.kind in SUMS}
    own = [state for state in wanted if state.kind != "count_valid" or state.args not in sums]
    found: dict[State, Reduced] = {}
    for some, records in batches(groups, own) if own else ():
        memory = reduce_groups(groups, words_reduction(groups, some, records))
        for state, first in zip(some, first_words(some), strict=True):
            found[state] = Reduced(memory, first * 8 * groups.count)
    for state in wanted:
        if state not in found:
            sum_state = found[sums[state.args]]
            last = WORDS[sums[state.args].kind] - 1
            found[state] = Reduced(sum_state.memory, sum_state.at + last * 8 * groups.count)
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
    return [sum(WORDS[state.kind] for state in states[:place]) for place in range(len(states))]


def words_reduction(groups: Groups, states: Sequence[State], records: Records | None) -> Reduction:
    """Return the kernels that reduce several states of words at once."""
    machine, count = groups.machine, next(terms for terms in TERMS if terms >= len(states))
    kinds, firsts = [KINDS.index(state.kind) for state in states], first_words(states)
    read = [
        term(groups.column(state.args[0]), machine, kind, first)
        for state, kind, first in zip(states, kinds, firsts, strict=True)
    ]
    terms, module = packed_terms(read, count), machine.closed("states")
    rows = Kernels(module, f"reduce_{count}", f"reduce_short_{count}", (terms,))
    merging = Kernels(module, f"merge_chunks_{count}", f"keep_chunks_{count}", (terms,))
    if records:
        fields = [
            [*records.fields[state.args[0]], kind, 0, first]
            for state, kind, first in zip(states, kinds, firsts, strict=True)
        ]
        arguments = (records.memory, int(records.wide), packed_terms(fields, count))
        own = machine.closed("records")
        rows = Kernels(own, f"reduce_records_{count}", f"reduce_short_records_{count}", arguments)
    return Reduction(8 * sum(WORDS[state.kind] for state in states), rows, merging)


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
    groups: Groups, calls: Mapping[str, Call], results: Mapping[str, Result], states: Mapping[State, Reduced]
) -> dict[str, Vector]:
    """Turn the groups' states into columns."""
    machine, count = groups.machine, groups.count
    made = {name: empty_column(call.dtype, count, machine) for name, call in calls.items()}
    told = machine.arrays.zeros((2, len(calls)), "uint64")
    described = [result_words(groups, results[name], states, made[name]) for name in calls]
    for first in range(0, len(described), MOST_RESULTS):
        some = described[first : first + MOST_RESULTS]
        words = np.zeros(1 + 7 * MOST_RESULTS, np.int64)
        words[: 1 + 7 * len(some)] = [len(some), *(word for each in some for word in each)]
        arguments = [count, groups.starts, told[0, first:], told[1, first:], Struct(words)]
        machine.launch(machine.closed("results"), "finish", count, arguments)
    faults, nulls = told.tolist() if count else np.zeros((2, len(calls)), np.int64).tolist()
    for (name, call), fault in zip(calls.items(), faults, strict=True):
        if fault:
            raise EvaluationError.of_column(name, sum_overflow(call.dtype))
    return {name: with_nulls(made[name], missing) for name, missing in zip(calls, nulls, strict=True)}


def result_words(groups: Groups, result: Result, states: Mapping[State, Reduced], made: Vector) -> list[int]:
    """Return the words of a `Result` of device/closed/results.cu."""
    machine, at, memory = groups.machine, 0, "narrow"
    if result.state:
        at = machine.address(states[result.state].memory) + states[result.state].at
        memory = WIDE.get(result.state.kind, "narrow")
    stored = STORED.index(storage_type(made.dtype).removeprefix("u"))
    kinds = [RESULTS.index(result.kind), list(MEMORY).index(memory), stored, result.detail]
    return [at, machine.address(made.data), machine.address(made.valid), *kinds]
