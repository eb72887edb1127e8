"""Programs of many patterns for one kernel: compiled on the host, and found by each row's place among their words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.cudf.codegen.coded_strings import coded
from gpuetl.engines.cudf.codegen.functions.regex_instructions import begins_at_start, program_of, whole
from gpuetl.engines.cudf.columns.arrays import choose, numbers_where, set_marks
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.interchange import to_arrow
from gpuetl.engines.cudf.columns.string_codes import with_dictionary
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.errors import EvaluationError
from gpuetl.expressions.regex import parse_pattern
from gpuetl.expressions.regex.row_patterns import RowPattern, refusal
from gpuetl.messages import coded as with_code
from gpuetl.records import dataclass

# One program: a header of four words as in regex.cuh, then instructions and classes.


SIZES = (32, 128, 512, 1024, 2048, 4096, 8192)
"""Kernels are compiled for programs of these sizes: threads, a quarter of the instructions, half of the stack."""
FIRST_SIZE, LAST_SIZE = SIZES[0], SIZES[-1]
MOST_KEPT = 1 << 14
NONE_OF_ROW, REFUSED = -1, -2
"""Places of rows that have no program: something is null, or the pattern is refused."""


class CompiledPattern(NamedTuple):
    """The words of a program (uint32), its size, how many groups' places it keeps, and how many its pattern has."""

    words: NDArray[np.uint32]
    size: int
    kept: int
    groups: int


@lru_cache(MOST_KEPT)
def compiled_pattern(function: str, asked: RowPattern, keep: tuple[int, ...] | int) -> CompiledPattern | None:
    """Return a pattern's program, which keeps some groups, or the first ones up to a number; None if it is refused."""
    if refusal(function, asked):
        return None
    parsed = parse_pattern(asked.pattern, asked.options)
    root = whole(parsed.root) if function == "regexp_full_match" else parsed.root
    kept = tuple(range(1, min(keep, parsed.groups) + 1)) if isinstance(keep, int) else keep
    program = program_of(root, kept)
    instructions, threads, stack = program.sizes()
    needed = max(threads, -(-instructions // 4), -(-stack // 2))
    size = next((size for size in SIZES if size >= needed), None)
    if size is None or instructions >= 4 * LAST_SIZE:
        what = with_code("GE2008", f"the pattern '{asked.pattern}' has {instructions:,} instructions")
        raise EvaluationError(what, "Nest fewer repetitions.")
    header = [size, begins_at_start(root), parsed.groups, instructions]
    return CompiledPattern(np.array(header + program.words(), np.uint32), size, len(kept), parsed.groups)


# The programs of all patterns of a partition.


MOST_WORDS = 1 << 28
"""Of all programs of a partition: 1 GiB."""
MOST_STRINGS = 1 << 10
"""Dictionaries of more strings may hold many that are in no row: those in rows are looked for first."""


@dataclass(frozen=True, eq=False)
class Programs:
    """The programs of patterns side by side.

    Parameters
    ----------
    words
        All words (uint32).
    places
        Where the program of each pattern begins, `REFUSED` where it has none (int32).
    sizes
        The sizes that occur, from the smallest.
    kept
        The most groups whose places a program keeps.
    least_groups
        The least groups that a pattern has.
    """

    words: NDArray[np.uint32]
    places: NDArray[np.int32]
    sizes: tuple[int, ...]
    kept: int
    least_groups: int


def programs_of(found: Sequence[CompiledPattern | None]) -> Programs:
    """Put programs side by side; None is a pattern that is refused.

    Raises
    ------
    EvaluationError
        Where they take too much memory.
    """
    compiled = [each for each in found if each is not None]
    starts = [0, *accumulate(len(each.words) for each in compiled)]
    if starts[-1] > MOST_WORDS:
        what = with_code(
            "GE2008", f"{len(found):,} different patterns in one partition take more than {4 * MOST_WORDS:,} bytes"
        )
        raise EvaluationError(what, "Run with fewer rows a partition: --partition-rows.")
    places, left = np.full(len(found), REFUSED, np.int32), iter(starts)
    for number, each in enumerate(found):
        if each is not None:
            places[number] = next(left)
    return Programs(
        np.concatenate([each.words for each in compiled]) if compiled else np.zeros(1, np.uint32),
        places,
        tuple(sorted({each.size for each in compiled})),
        max((each.kept for each in compiled), default=0),
        min((each.groups for each in compiled), default=0),
    )


# The distinct strings of a column, on the host.


class DistinctStrings(NamedTuple):
    """Each row's number (int32) of its string, -1 of null, how many numbers there are, and the strings that occur."""

    numbers: Array
    limit: int
    strings: dict[int, str]


def distinct_strings(column: Vector, machine: Machine) -> DistinctStrings:
    """Return the distinct strings of a column; the host waits for them."""
    own = column if column.dictionary else with_dictionary(column, machine)
    own = own if own.dictionary else coded(column, machine)
    dictionary, numbers = own.dictionary, own.data
    assert dictionary is not None
    if own.nulls:
        numbers = choose(own.valid, numbers, -1, machine)
    if dictionary.rows <= MOST_STRINGS:
        return DistinctStrings(numbers, dictionary.rows, dict(enumerate(to_arrow(dictionary, machine).to_pylist())))
    marks = machine.arrays.zeros(dictionary.rows, "uint8")
    set_marks(marks, numbers, machine)
    used = numbers_where(marks, machine)
    strings = to_arrow(take({"": dictionary}, used, machine, missing=False)[""], machine).to_pylist()
    return DistinctStrings(numbers, dictionary.rows, dict(zip(machine.host(used).tolist(), strings, strict=True)))
