"""KernelReduction: the two kernels around a user's expressions: chunks of groups by a warp each, then the chunks."""

from __future__ import annotations

from collections.abc import Mapping

from gpuetl.backends.cudf.aggregates.groups import Groups
from gpuetl.backends.cudf.aggregates.reduce import chunks_of
from gpuetl.backends.cudf.columns.gather import take
from gpuetl.backends.cudf.columns.validity import empty_bits, with_nulls
from gpuetl.backends.cudf.device.columns import accessors, buffers_of, column_parameters
from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.device.types import c_type, stored_c_type
from gpuetl.backends.cudf.expressions.canonical import canonical
from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.machine import Machine
from gpuetl.backends.cudf.operation import run_operation
from gpuetl.backends.cudf.operations.elementwise import argument_values, columns_of, typed, users_text
from gpuetl.backends.cudf.operations.kernel import argument_columns, refuse_nulls
from gpuetl.backends.cudf.vector import Vector, storage_type
from gpuetl.plan.nodes import KernelReduction


@run_operation.register
def reduce_by_kernel(operation: KernelReduction, machine: Machine, frame: Frame) -> Frame:
    """Compute one row a group; without keys there is always one.

    Raises
    ------
    EvaluationError
        Where `forbid` meets a null, or the user's texts do not compile.
    """
    inputs = {name: frame.columns[name] for name in operation.reads}
    if operation.nulls == "forbid":
        refuse_nulls(operation, inputs, machine)
    groups = Groups.by(frame, operation.by, machine)
    keys = take(frame.select(operation.by).columns, groups.first_rows, machine) if operation.by else {}
    columns = {name: canonical(vector, machine) for name, vector in keys.items()}
    return Frame(columns | reduced(operation, inputs, groups), groups.count)


def reduced(operation: KernelReduction, inputs: Mapping[str, Vector], groups: Groups) -> dict[str, Vector]:
    """Reduce each group's rows in which all inputs are valid; a group that has none gets null."""
    machine, arrays = groups.machine, groups.machine.arrays
    arguments = argument_columns(operation, machine)
    ((name, dtype),) = operation.outputs.items()
    source = reduction_source(operation, inputs, arguments, groups.rows is not None)
    module = machine.user_module(source, operation.contract.entry)
    firsts, starts, stops = chunks_of(groups)
    state_bytes = 16  # a value of at most 8 bytes, and the count of rows
    states, finals = (arrays.empty(count * state_bytes, "uint8") for count in (len(starts), groups.count))
    order = [groups.rows] if groups.rows is not None else []
    buffers = buffers_of(columns_of(inputs, arguments))
    machine.launch(module, "reduce_chunks", len(starts) * 32, [len(starts), starts, stops, states, *order, *buffers])
    machine.launch(module, "merge_chunks", groups.count * 32, [groups.count, firsts, states, finals])
    made = Vector(
        dtype, groups.count, arrays.empty(groups.count, storage_type(dtype)), empty_bits(groups.count, machine)
    )
    nulls = arrays.zeros(1, "uint64")
    machine.launch(
        module, "finish", groups.count, [groups.count, finals, nulls, made.data, made.valid, *buffers_of(arguments)]
    )
    return {name: with_nulls(made, int(nulls[0]))}


def reduction_source(
    operation: KernelReduction, inputs: Mapping[str, Vector], arguments: Mapping[str, Vector], ordered: bool
) -> str:
    """Return the kernels' text."""
    ((_, dtype),) = operation.outputs.items()
    value, stored, texts = c_type(dtype), stored_c_type(dtype), operation.contract.texts
    columns, own = columns_of(inputs, arguments), typed(arguments)
    seen = " && ".join(f"x{place}.valid" for place in range(len(inputs)))
    read = "\n".join(f"            const auto x{p} = c{p}[row];" for p in range(len(inputs)))
    values = [*(f"x{p}.value" for p in range(len(inputs))), *argument_values(inputs, arguments)]
    order = ["const int32_t* order"] * ordered
    chunk = [
        "int64_t chunks, const int64_t* starts, const int64_t* stops, State* states",
        *order,
        *column_parameters(columns),
    ]
    last = [
        "int64_t rows, const State* states, uint64_t* nulls",
        f"{stored}* result, uint32_t* bits",
        *column_parameters(arguments),
    ]
    post = ", ".join(["states[row].value", *argument_values({}, arguments)])
    return f"""{headers_text(["rows.cuh", "reduce.cuh"])}
DEVICE {value} mapped({", ".join([*typed(inputs), *own])}) {{ return {value}({users_text("map", texts["map"])}); }}
DEVICE {value} reduced(const {value} a, const {value} b) {{ return {value}({users_text("reduce", texts["reduce"])}); }}
DEVICE {value} neutral() {{ return {value}({users_text("identity", texts["identity"])}); }}
DEVICE {value} finished({", ".join([f"const {value} a", *own])}) {{
    return {value}({users_text("post", texts["post"])});
}}
struct alignas(16) State {{
    {value} value = neutral();
    int64_t rows = 0;
    DEVICE void merge(const State& other) {{ value = reduced(value, other.value); rows += other.rows; }}
}};
KERNEL reduce_chunks({", ".join(chunk)}) {{
{accessors(columns)}
    FOR_EACH_WARP(chunk, chunks) {{
        State state;
        for (int64_t place = starts[chunk] + LANE; place < stops[chunk]; place += LANES) {{
            const int64_t row = {"order[place]" if ordered else "place"};
{read}
            if (!({seen})) continue;
            state.value = reduced(state.value, mapped({", ".join(values)}));
            ++state.rows;
        }}
        merge_lanes(state);
        if (LANE == 0) states[chunk] = state;
    }}
}}
KERNEL merge_chunks(int64_t groups, const int64_t* firsts, const State* states, State* finals) {{
    FOR_EACH_WARP(group, groups) {{
        State state;
        for (int64_t chunk = firsts[group] + LANE; chunk < firsts[group + 1]; chunk += LANES)
            state.merge(states[chunk]);
        merge_lanes(state);
        if (LANE == 0) finals[group] = state;
    }}
}}
KERNEL finish({", ".join(last)}) {{
{accessors(arguments)}
    FOR_EACH_ROW(row, rows) {{
        const bool valid = row < rows && states[row].rows > 0;
        if (row < rows) result[row] = {stored}(valid ? finished({post}) : {value}{{}});
        store_valid(bits, nulls, row, row < rows, valid);
    }}
}}
"""
