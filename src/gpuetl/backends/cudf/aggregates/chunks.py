"""Each group's rows reduced to one state: chunks of a group by a warp each, then the chunks, always in one order."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpuetl.backends.cudf.aggregates.groups import Groups
from gpuetl.backends.cudf.aggregates.records import RecordKind
from gpuetl.backends.cudf.columns.arrays import pick, scan
from gpuetl.backends.cudf.device.columns import ColumnKinds, buffers_of
from gpuetl.backends.cudf.machine import Array, Machine, Module
from gpuetl.backends.cudf.vector import Vector
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


def reduction_kernels(columns: ColumnKinds, row: str, ordered: bool, record: RecordKind | None = None) -> str:
    """Return the kernels that `reduce_groups` runs; they stand after reduce.cuh and the struct `State`.

    Parameters
    ----------
    columns
        What the statements read.
    row
        The statements that take a row, `row`, into a state, `state`.
    ordered
        Whether the rows of groups come by their numbers in `Groups.rows`.  Chunks may come in turns then, so that those
        that run at the same time read the same part of the columns.  `turns` is null where they come as they are.
    record
        Where rows in order are read from records, what these are.
    """
    chunks = ["int64_t chunks", "const int64_t* starts", "const int64_t* stops", "State* states"]
    orders = ["const int32_t* turns", "const int32_t* order"] * ordered
    read = columns.parameters if record is None else ["const Record* records"]
    parameters = ", ".join([*chunks, *orders, *read])
    made, chunk = columns.accessors, "turns ? turns[item] : item" if ordered else "item"
    of_row = f"const int64_t row = {'order[place]' if ordered else 'place'};\n{row}"
    if record:
        made = ""
        of_row = f"const int64_t row = order[place];\nconst Record record = records[row];\n{record.accessors}\n{row}"
    return f"""{record_kernel(columns, record) if record else ""}
KERNEL state_bytes(int64_t rows, uint64_t* size) {{
    FOR_EACH_ROW(row, rows)
        if (row < rows) *size = sizeof(State);
}}
KERNEL reduce_chunks({parameters}) {{
{made}
    FOR_EACH_WARP(item, chunks) {{
        const int64_t chunk = {chunk};
        State state;
        for (int64_t place = starts[chunk] + LANE; place < stops[chunk]; place += LANES) {{
            {of_row}
        }}
        merge_lanes(state);
        if (LANE == 0) states[chunk] = state;
    }}
}}
KERNEL reduce_short_chunks({parameters}) {{
{made}
    FOR_EACH_ROW(item, chunks) {{
        if (item >= chunks) continue;
        const int64_t chunk = {chunk};
        State state;
        for (int64_t place = starts[chunk]; place < stops[chunk]; ++place) {{
            {of_row}
        }}
        states[chunk] = state;
    }}
}}
KERNEL keep_chunks(int64_t groups, const int64_t* starts, const int64_t* stops, const State* states, State* finals) {{
    FOR_EACH_ROW(group, groups)
        if (group < groups && stops[group] - starts[group] == 1) finals[group] = states[starts[group]];
}}
KERNEL merge_chunks(int64_t groups, const int64_t* starts, const int64_t* stops, const State* states, State* finals) {{
    FOR_EACH_WARP(group, groups) {{
        if (stops[group] - starts[group] == 1) continue;
        State state;
        for (int64_t chunk = starts[group] + LANE; chunk < stops[group]; chunk += LANES) state.merge(states[chunk]);
        merge_lanes(state);
        if (LANE == 0) finals[group] = state;
    }}
}}
"""


def record_kernel(columns: ColumnKinds, record: RecordKind) -> str:
    """Return the struct `Record` and the kernel that writes one for each row."""
    return f"""
{record.text}
KERNEL write_records(int64_t rows, Record* records, {", ".join(columns.parameters)}) {{
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        Record made{{}};  // all bytes are written: memory would have to be read for others
        {record.written}
        records[row] = made;
    }}
}}"""


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


def reduce_groups(
    groups: Groups, module: Module, columns: Mapping[str, Vector], launched: Callable[[], None] = lambda: None,
    record: RecordKind | None = None,
) -> Array:  # fmt: skip
    """Return the memory of each group's state, computed by the `reduction_kernels` of a module, made for the record.

    `launched` is called after each launch that the host would wait for next.
    """
    machine, arrays = groups.machine, groups.machine.arrays
    if not groups.count:
        return arrays.empty(0, "uint8")
    told = arrays.zeros(3, "uint64")
    machine.launch(module, "state_bytes", 1, [1, told[2:]])
    chunks, state_bytes = cut(groups.starts, CHUNK, machine, told)
    count = len(chunks.starts)
    states = arrays.empty(count * state_bytes, "uint8")
    order = []
    if groups.rows is not None:
        order = [turns(groups.rows, chunks, machine) if count >= TURNS * groups.count else 0, groups.rows]
    read = buffers_of(columns)
    if record:
        records, rows = arrays.empty(groups.frame.rows * record.size, "uint8"), groups.frame.rows
        machine.launch(module, "write_records", rows, [rows, records, *read])
        read = [records]
    arguments = [count, chunks.starts, chunks.stops, states, *order, *read]
    if groups.frame.rows < SHORT * count:
        machine.launch(module, "reduce_short_chunks", count, arguments)
    else:
        machine.launch(module, "reduce_chunks", count * 32, arguments)
    while chunks.most > 2 * MERGED:
        launched()
        chunks, _ = cut(chunks.firsts, MERGED, machine, arrays.zeros(3, "uint64"))
        states = merged(states, chunks.starts, chunks.stops, state_bytes, module, machine)
    if chunks.firsts is None:
        return states
    return merged(states, chunks.firsts[:-1], chunks.firsts[1:], state_bytes, module, machine)


def turns(rows: Array, chunks: Chunks, machine: Machine) -> Array:
    """Return the numbers (int32) of chunks in the order of their first rows."""
    return machine.sorted_order([pick(rows, chunks.starts, machine).view("uint32")])


def merged(states: Array, starts: Array, stops: Array, state_bytes: int, module: Module, machine: Machine) -> Array:
    """Return what the states from each start to its stop come to."""
    count = len(starts)
    made = machine.arrays.empty(count * state_bytes, "uint8")
    arguments = [count, starts, stops, states, made]
    machine.launch(module, "keep_chunks", count, arguments)  # most groups have one, where a warp each takes too long
    machine.launch(module, "merge_chunks", count * 32, arguments)
    return made


def cut(bounds: Array, size: int, machine: Machine, told: Array) -> tuple[Chunks, int]:
    """Cut the items of each group, from bounds[g] to bounds[g + 1], into chunks.

    `told` is two zeros, and a number that comes back with what is counted: one wait for the device serves both.
    """
    arrays, groups, module = machine.arrays, len(bounds) - 1, machine.closed("chunks")
    firsts = arrays.empty(groups + 1, "int64")
    machine.launch(module, "count_chunks", groups, [groups, size, bounds, firsts, told])
    total, most, more = told.tolist()
    if most <= 1 and total == groups:
        return Chunks(bounds[:-1], bounds[1:], None, most), more
    firsts = scan(firsts, machine)
    starts, stops = arrays.empty(total, "int64"), arrays.empty(total, "int64")
    arguments = [groups, size, FEW, bounds, firsts, starts, stops]
    machine.launch(module, "write_few_chunks", groups, arguments)
    if most > FEW:
        machine.launch(module, "write_many_chunks", groups * 32, arguments)
    return Chunks(starts, stops, firsts, most), more
