"""Each group's rows reduced to one state: chunks of a group by a warp each, then the chunks, always in one order."""

from __future__ import annotations

from collections.abc import Mapping

from gpuetl.backends.cudf.aggregates.groups import Groups
from gpuetl.backends.cudf.columns.gather import repeat
from gpuetl.backends.cudf.device.columns import accessors, buffers_of, column_parameters
from gpuetl.backends.cudf.machine import Array, Module
from gpuetl.backends.cudf.vector import Vector

CHUNK = 2048
"""Rows that one warp reduces: enough to amortise its state, few enough that one group fills a device."""


def reduction_kernels(columns: Mapping[str, Vector], row: str, ordered: bool) -> str:
    """Return the kernels that `reduce_groups` runs; they stand after reduce.cuh and the struct `State`.

    Parameters
    ----------
    columns
        What the statements read.
    row
        The statements that take a row, `row`, into a state, `state`.
    ordered
        Whether the rows of groups come by their numbers in `Groups.rows`.
    """
    chunks = ["int64_t chunks", "const int64_t* starts", "const int64_t* stops", "State* states"]
    parameters = ", ".join([*chunks, *["const int32_t* order"] * ordered, *column_parameters(columns)])
    return f"""KERNEL state_bytes(int64_t* size) {{ *size = sizeof(State); }}
KERNEL reduce_chunks({parameters}) {{
{accessors(columns)}
    FOR_EACH_WARP(chunk, chunks) {{
        State state;
        for (int64_t place = starts[chunk] + LANE; place < stops[chunk]; place += LANES) {{
            const int64_t row = {"order[place]" if ordered else "place"};
{row}
        }}
        merge_lanes(state);
        if (LANE == 0) states[chunk] = state;
    }}
}}
KERNEL merge_chunks(int64_t groups, const int64_t* firsts, const State* states, State* finals) {{
    FOR_EACH_WARP(group, groups) {{
        State state;
        const int64_t end = firsts[group + 1];
        for (int64_t chunk = firsts[group] + LANE; chunk < end; chunk += LANES) state.merge(states[chunk]);
        merge_lanes(state);
        if (LANE == 0) finals[group] = state;
    }}
}}
"""


def reduce_groups(groups: Groups, module: Module, columns: Mapping[str, Vector]) -> Array:
    """Return the memory of each group's state, computed by the `reduction_kernels` of a module."""
    machine, arrays = groups.machine, groups.machine.arrays
    size = arrays.zeros(1, "int64")
    machine.launch_blocks(module, "state_bytes", 1, 1, [size])
    state_bytes = int(size[0])
    firsts, starts, stops = chunks_of(groups)
    states, finals = (arrays.empty(count * state_bytes, "uint8") for count in (len(starts), groups.count))
    order = [groups.rows] if groups.rows is not None else []
    machine.launch(
        module, "reduce_chunks", len(starts) * 32, [len(starts), starts, stops, states, *order, *buffers_of(columns)]
    )
    machine.launch(module, "merge_chunks", groups.count * 32, [groups.count, firsts, states, finals])
    return finals


def chunks_of(groups: Groups) -> tuple[Array, Array, Array]:
    """Return the first chunk of each group and the number of chunks, and where each chunk starts and stops."""
    machine, arrays = groups.machine, groups.machine.arrays
    sizes = groups.starts[1:] - groups.starts[:-1]
    counts = -(-sizes // CHUNK)
    firsts = arrays.concatenate([arrays.zeros(1, "int64"), arrays.cumsum(counts)])
    total = int(firsts[-1])
    owner = repeat(arrays.arange(groups.count), counts, total, machine)
    starts = groups.starts[owner] + (arrays.arange(total) - firsts[owner]) * CHUNK
    return firsts, starts, arrays.minimum(starts + CHUNK, groups.starts[owner + 1])
