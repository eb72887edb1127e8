"""Each group's rows reduced to one state: chunks of a group by a warp each, then the chunks, always in one order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpuetl.engines.cudf.aggregates.groups import Groups
from gpuetl.engines.cudf.columns.arrays import pick, scan
from gpuetl.engines.cudf.machine import Array, Machine, Module
from gpuetl.records import dataclass

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

    `firsts` ends with the number of chunks, and is None where each group is one; `most` is that of the group that has
    most.
    """

    starts: Array
    stops: Array
    firsts: Array | None
    most: int


def reduce_groups(groups: Groups, reduction: Reduction, launched: Callable[[], None] = lambda: None) -> Array:
    """Return the memory of the groups' states.

    `launched` is called after each launch that the host would wait for next.
    """
    machine, arrays = groups.machine, groups.machine.arrays
    if not groups.count:
        return arrays.empty(0, "uint8")
    chunks = groups.once("chunks", lambda: cut(groups.starts, CHUNK, machine))
    count, turns, order = len(chunks.starts), 0, 0
    if groups.rows is not None:
        order = groups.rows
        if count >= TURNS * groups.count:
            turns = groups.once("turns", lambda: turns_of(groups.rows, chunks, machine))
    states = arrays.empty(count * reduction.state_bytes, "uint8")
    kernels = reduction.rows
    taken = [count, chunks.starts, chunks.stops, states, turns, order, *kernels.arguments]
    if groups.frame.rows < SHORT * count:
        machine.launch(kernels.module, kernels.by_threads, count, taken)
    else:
        machine.launch(kernels.module, kernels.by_warps, count * 32, taken)
    while chunks.most > 2 * MERGED:
        launched()
        chunks = cut(chunks.firsts, MERGED, machine)
        states = merged(states, chunks.starts, chunks.stops, reduction, machine)
    if chunks.firsts is None:
        return states
    return merged(states, chunks.firsts[:-1], chunks.firsts[1:], reduction, machine)


def turns_of(rows: Array, chunks: Chunks, machine: Machine) -> Array:
    """Return the numbers (int32) of chunks in the order of their first rows."""
    return machine.sorted_order([pick(rows, chunks.starts, machine).view("uint32")])


def merged(states: Array, starts: Array, stops: Array, reduction: Reduction, machine: Machine) -> Array:
    """Return what the states from each start to its stop come to."""
    count, size, kernels = len(starts), reduction.state_bytes, reduction.states
    made = machine.arrays.empty(count * size, "uint8")
    taken = [count, starts, stops, len(states) // size, states, made, *kernels.arguments]
    machine.launch(kernels.module, kernels.by_threads, count, taken)  # most have one, where a warp each takes too long
    machine.launch(kernels.module, kernels.by_warps, count * 32, taken)
    return made


def cut(bounds: Array, size: int, machine: Machine) -> Chunks:
    """Cut the items of each group, from bounds[g] to bounds[g + 1], into chunks."""
    arrays, groups, module = machine.arrays, len(bounds) - 1, machine.closed("chunks")
    firsts, told = arrays.empty(groups + 1, "int64"), arrays.zeros(2, "uint64")
    machine.launch(module, "count_chunks", groups, [groups, size, bounds, firsts, told])
    total, most = told.tolist()
    if most <= 1 and total == groups:
        return Chunks(bounds[:-1], bounds[1:], None, most)
    firsts = scan(firsts, machine)
    starts, stops = arrays.empty(total, "int64"), arrays.empty(total, "int64")
    arguments = [groups, size, FEW, bounds, firsts, starts, stops]
    machine.launch(module, "write_few_chunks", groups, arguments)
    if most > FEW:
        machine.launch(module, "write_many_chunks", groups * 32, arguments)
    return Chunks(starts, stops, firsts, most)
