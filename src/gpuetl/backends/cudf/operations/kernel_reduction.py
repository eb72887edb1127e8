"""KernelReduction: a user's expressions as the state of a reduction, which runs as those of aggregates do."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from gpuetl.backends.cudf.aggregates.chunks import reduce_groups, reduction_kernels
from gpuetl.backends.cudf.aggregates.groups import Groups
from gpuetl.backends.cudf.columns.kind import Kind, Kinds, columns_of_kinds
from gpuetl.backends.cudf.columns.validity import with_nulls
from gpuetl.backends.cudf.columns.written import empty_column
from gpuetl.backends.cudf.device.columns import ColumnKinds, accessors, buffers_of, column_parameters
from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.device.types import c_type, stored_c_type
from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.machine import Machine, Text
from gpuetl.backends.cudf.operation import Needed, passed, programs, run_operation
from gpuetl.backends.cudf.operations.elementwise import argument_values, columns_of, typed, users_text
from gpuetl.backends.cudf.operations.kernel import argument_columns, argument_programs, refuse_nulls
from gpuetl.backends.cudf.operations.user_kernels import finish_user_kernel, user_kernel
from gpuetl.backends.cudf.vector import Vector
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
    return Frame(groups.keys(operation.by) | reduced(operation, inputs, groups), groups.count)


@programs.register
def reduction_programs(operation: KernelReduction, frame: Kinds) -> Needed:
    """List those of the arguments, and the user's."""
    ordered = bool(operation.by) and not frame.ascend_by(operation.by)
    needed, ((name, dtype),) = argument_programs(operation), operation.outputs.items()
    inputs = columns_of_kinds({name: frame.columns[name] for name in operation.reads})
    source = reduction_source(operation, inputs, columns_of_kinds(needed.columns), ordered)
    keys = passed(operation.by, frame.columns)
    return Needed([*needed.texts, Text(source, operation.contract.entry)], {**keys, name: Kind(dtype)})


def reduced(operation: KernelReduction, inputs: Mapping[str, Vector], groups: Groups) -> dict[str, Vector]:
    """Reduce each group's rows in which all inputs are valid; a group that has none gets null."""
    machine = groups.machine
    arguments = argument_columns(operation, machine)
    ((name, dtype),) = operation.outputs.items()
    source = reduction_source(operation, inputs, arguments, groups.rows is not None)
    module = machine.user_module(source, operation.contract.entry)
    made, nulls = empty_column(dtype, groups.count, machine), machine.arrays.zeros(1, "uint64")
    with user_kernel(operation, machine):
        finals = reduce_groups(groups, module, columns_of(inputs, arguments), partial(finish_user_kernel, machine))
        outputs = [finals, nulls, made.data, made.valid, *buffers_of(arguments)]
        machine.launch(module, "finish", groups.count, [groups.count, *outputs])
    return {name: with_nulls(made, int(nulls[0]))}


def reduction_source(
    operation: KernelReduction, inputs: Mapping[str, Vector], arguments: Mapping[str, Vector], ordered: bool
) -> str:
    """Return the kernels' text."""
    ((_, dtype),) = operation.outputs.items()
    value, stored, texts = c_type(dtype), stored_c_type(dtype), operation.contract.texts
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
{reduction_kernels(ColumnKinds.of(columns), row, ordered)}KERNEL finish({", ".join(last)}) {{
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
