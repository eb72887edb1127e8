"""KernelReduction: a user's expressions as the state of a reduction, which runs as those of aggregates do."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from gpuetl.engines.cudf.codegen.cuda_types import accessors, buffers_of, c_type, column_parameters, stored_c_type
from gpuetl.engines.cudf.codegen.device_headers import headers_text
from gpuetl.engines.cudf.codegen.user_kernels import (
    argument_values,
    columns_of,
    finish_user_kernel,
    typed,
    user_code,
    user_kernel,
)
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.kind import Kind, Kinds, columns_of_kinds
from gpuetl.engines.cudf.columns.validity import empty_column, with_nulls
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.gpu_operation import Needed, passed, programs, run_operation
from gpuetl.engines.cudf.machine import KernelSource, Machine
from gpuetl.engines.cudf.relational.aggregate_reduction import Kernels, Reduction, reduce_groups
from gpuetl.engines.cudf.relational.grouping import Groups
from gpuetl.engines.cudf.relational.kernel import argument_columns, argument_programs, refuse_nulls
from gpuetl.plan.nodes import KernelReduction
from gpuetl.types.data_types import DataType
from gpuetl.types.decimal_types import is_decimal


@run_operation.register
def reduce_by_kernel(operation: KernelReduction, machine: Machine, frame: Frame) -> Frame:
    """Compute one row a group; without keys there is always one.

    Raises
    ------
    EvaluationError
        Where `forbid` meets a null, or the user's sources do not compile.
    """
    inputs = {name: frame.columns[name] for name in operation.reads}
    if operation.nulls == "forbid":
        refuse_nulls(operation, inputs, machine)
    groups = Groups.by(frame, operation.by, machine)
    columns = groups.keys(operation.by)
    if operation.keep:
        kept = {name: frame.columns[name] for name in operation.keep}
        columns |= take(kept, groups.first_rows, machine, missing=False)
    return Frame(columns | reduced(operation, inputs, groups), groups.count)


@programs.register
def reduction_programs(operation: KernelReduction, frame: Kinds) -> Needed:
    """List those of the arguments, and the user's."""
    needed, ((name, dtype),) = argument_programs(operation), operation.outputs.items()
    inputs = columns_of_kinds({name: frame.columns[name] for name in operation.reads})
    source = reduction_source(operation, inputs, columns_of_kinds(needed.columns))
    keys = passed((*operation.by, *operation.keep), frame.columns)
    return Needed([*needed.sources, KernelSource(source, operation.contract.entry)], {**keys, name: Kind(dtype)})


def reduced(operation: KernelReduction, inputs: Mapping[str, Vector], groups: Groups) -> dict[str, Vector]:
    """Reduce each group's rows in which all inputs are valid; a group that has none gets null."""
    machine = groups.machine
    arguments = argument_columns(operation, machine)
    ((name, dtype),) = operation.outputs.items()
    source = reduction_source(operation, inputs, arguments)
    module = machine.user_module(source, operation.contract.entry)
    output, nulls = empty_column(dtype, groups.count, machine), machine.arrays.zeros(1, "uint64")
    with user_kernel(operation, machine):
        rows = Kernels(module, "reduce_chunks", "reduce_short_chunks", buffers_of(columns_of(inputs, arguments)))
        reduction = Reduction(state_bytes(dtype), rows, Kernels(module, "merge_chunks", "keep_chunks", ()))
        finals = reduce_groups(groups, reduction, partial(finish_user_kernel, machine))
        outputs = [finals, nulls, output.data, output.valid, *buffers_of(arguments)]
        machine.launch(module, "finish", groups.count, [groups.count, *outputs])
    return {name: with_nulls(output, int(nulls[0]))}


def state_bytes(dtype: DataType) -> int:
    """Return the bytes of a state: a value, how many rows it is of, and what aligns it to 16 bytes."""
    return 32 if is_decimal(dtype) else 16


def reduction_source(operation: KernelReduction, inputs: Mapping[str, Vector], arguments: Mapping[str, Vector]) -> str:
    """Return the kernels' text: those that `relational/aggregate_reduction.py` runs, and `finish`."""
    ((_, dtype),) = operation.outputs.items()
    value, stored, code = c_type(dtype), stored_c_type(dtype), operation.contract.snippets
    columns, own = columns_of(inputs, arguments), typed(arguments)
    seen = " && ".join(f"x{place}.valid" for place in range(len(inputs)))
    values = [*(f"x{p}.value" for p in range(len(inputs))), *argument_values(inputs, arguments)]
    row = "\n".join("            " + line for line in [
        *(f"const auto x{p} = c{p}[row];" for p in range(len(inputs))),
        f"if (!({seen})) continue;",
        f"state.value = reduced(state.value, mapped({', '.join(values)}));",
        "++state.rows;",
    ])  # fmt: skip
    last = [
        "int64_t rows, const State* states, uint64_t* nulls",
        f"{stored}* result, uint32_t* bits",
        *column_parameters(arguments),
    ]
    post = ", ".join(["states[row].value", *argument_values({}, arguments)])
    return f"""{headers_text(["rows.cuh", "reduce.cuh", "words.cuh"])}
DEVICE {value} mapped({", ".join([*typed(inputs), *own])}) {{ return {value}({user_code("map", code["map"])}); }}
DEVICE {value} reduced(const {value} a, const {value} b) {{ return {value}({user_code("reduce", code["reduce"])}); }}
DEVICE {value} neutral() {{ return {value}({user_code("identity", code["identity"])}); }}
DEVICE {value} finished({", ".join([f"const {value} a", *own])}) {{
    return {value}({user_code("post", code["post"])});
}}
struct alignas(16) State {{
    {value} value = neutral();
    int64_t rows = 0;
    DEVICE void merge(const State& other) {{ value = reduced(value, other.value); rows += other.rows; }}
}};
static_assert(sizeof(State) == {state_bytes(dtype)}, "as in kernel_reduction.py");
{reduction_kernels(columns, row)}KERNEL finish({", ".join(last)}) {{
{accessors(arguments)}
    uint32_t missing = 0;
    FOR_EACH_ROW(row, rows) {{
        const bool valid = row < rows && states[row].rows > 0;
        if (row < rows) result[row] = {stored}(valid ? finished({post}) : {value}{{}});
        missing += store_word(bits, row, row < rows, valid);
    }}
    add_nulls(nulls, missing);
}}
"""


def reduction_kernels(columns: Mapping[str, Vector], row: str) -> str:
    """Return the kernels that reduce chunks; they stand after reduce.cuh and the struct `State`.

    `row` are the statements that take a row, `row`, of the columns into a state, `state`.
    """
    chunks = "int64_t chunks, const int64_t* starts, const int64_t* stops, State* states"
    parameters = ", ".join([chunks, "const int32_t* turns, const int32_t* order", *column_parameters(columns)])
    groups = (
        "int64_t groups, const int64_t* starts, const int64_t* stops, int64_t chunks, const State* states, State* made"
    )
    return f"""
KERNEL reduce_chunks({parameters}) {{
{accessors(columns)}
    FOR_EACH_WARP(item, chunks) {{
        const int64_t chunk = turns ? turns[item] : item;
        State state;
        for (int64_t place = starts[chunk] + LANE; place < stops[chunk]; place += LANES) {{
            const int64_t row = order ? order[place] : place;
{row}
        }}
        merge_lanes(state);
        if (LANE == 0) states[chunk] = state;
    }}
}}
KERNEL reduce_short_chunks({parameters}) {{
{accessors(columns)}
    FOR_EACH_ROW(item, chunks) {{
        if (item >= chunks) continue;
        const int64_t chunk = turns ? turns[item] : item;
        State state;
        for (int64_t place = starts[chunk]; place < stops[chunk]; ++place) {{
            const int64_t row = order ? order[place] : place;
{row}
        }}
        states[chunk] = state;
    }}
}}
KERNEL keep_chunks({groups}) {{
    FOR_EACH_ROW(group, groups)
        if (group < groups && stops[group] - starts[group] == 1) made[group] = states[starts[group]];
}}
KERNEL merge_chunks({groups}) {{
    FOR_EACH_WARP(group, groups) {{
        if (stops[group] - starts[group] == 1) continue;
        State state;
        for (int64_t chunk = starts[group] + LANE; chunk < stops[group]; chunk += LANES) state.merge(states[chunk]);
        merge_lanes(state);
        if (LANE == 0) made[group] = state;
    }}
}}
"""
