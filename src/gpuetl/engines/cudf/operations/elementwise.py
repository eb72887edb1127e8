"""The kernel around a user's statements for one row: one pass reads the inputs and writes the outputs, with nulls."""

from __future__ import annotations

from collections.abc import Mapping

from gpuetl.engines.cudf.columns.validity import with_nulls
from gpuetl.engines.cudf.columns.written import empty_column
from gpuetl.engines.cudf.device.columns import accessors, buffers_of, column_parameters
from gpuetl.engines.cudf.device.headers import headers_text
from gpuetl.engines.cudf.device.types import c_type, stored_c_type
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.operations.user_kernels import user_kernel
from gpuetl.engines.cudf.vector import Vector
from gpuetl.plan.nodes import Kernel
from gpuetl.user_kernels.kernel_texts import KernelTexts


def elementwise(
    operation: Kernel, contract: KernelTexts, inputs: Mapping[str, Vector], arguments: Mapping[str, Vector], rows: int,
    machine: Machine,
) -> dict[str, Vector]:  # fmt: skip
    """Compute the outputs of each row; `arguments` are columns of one row.

    Raises
    ------
    EvaluationError
        Where the user's text does not compile.
    """
    made = {name: empty_column(dtype, rows, machine) for name, dtype in operation.outputs.items()}
    module = machine.user_module(elementwise_source(operation, contract, inputs, arguments), contract.entry)
    nulls = machine.arrays.zeros(len(made), "uint64")
    outputs = [buffer for vector in made.values() for buffer in (vector.data, vector.valid)]
    columns = columns_of(inputs, arguments)
    with user_kernel(operation, machine):
        machine.launch(module, "elementwise", rows, [rows, nulls, *buffers_of(columns), *outputs])
    counts = nulls.tolist()
    return {name: with_nulls(vector, int(count)) for (name, vector), count in zip(made.items(), counts, strict=True)}


def columns_of(inputs: Mapping[str, Vector], arguments: Mapping[str, Vector]) -> dict[str, Vector]:
    """Return inputs and arguments under names that tell them apart: a kernel's parameters, in order."""
    return {f"input {name}": v for name, v in inputs.items()} | {f"argument {name}": v for name, v in arguments.items()}


def users_text(name: str, text: str) -> str:
    """Return a text of the user's, in which the compiler counts lines from 1."""
    return f'\n#line 1 "{name}"\n{text}\n#line 1 "the generated kernel"\n'


def typed(names: Mapping[str, Vector]) -> list[str]:
    """Return the parameters of a function that takes the values of a row."""
    return [f"const {c_type(vector.dtype)} {name}" for name, vector in names.items()]


def argument_values(inputs: Mapping[str, Vector], arguments: Mapping[str, Vector]) -> list[str]:
    """Return the values of the arguments: each is a column of one row."""
    return [f"c{len(inputs) + place}[0].value" for place in range(len(arguments))]


def elementwise_source(
    operation: Kernel, contract: KernelTexts, inputs: Mapping[str, Vector], arguments: Mapping[str, Vector]
) -> str:
    """Return the kernel's text."""
    masks = operation.nulls == "masks"
    parameters, values = [], []
    for place, (text, name) in enumerate(zip(typed(inputs), inputs, strict=True)):
        parameters += [text, *([f"const bool {name}_valid"] if masks else [])]
        values += [f"x{place}.value", *([f"x{place}.valid"] if masks else [])]
    for place, (name, dtype) in enumerate(operation.outputs.items()):
        parameters += [f"{c_type(dtype)}& {name}", *([f"bool& {name}_valid"] if masks else [])]
        values += [f"y{place}", *([f"g{place}"] if masks else [])]
    parameters += typed(arguments)
    values += argument_values(inputs, arguments)
    columns, places = columns_of(inputs, arguments), range(len(operation.outputs))
    written = [f"{stored_c_type(t)}* r{p}, uint32_t* s{p}" for p, t in enumerate(operation.outputs.values())]
    seen = " && ".join(["row < rows", *(f"x{p}.valid" for p in range(len(inputs)) if not masks)])
    read = "\n".join(f"        const auto x{p} = c{p}[row < rows ? row : 0];" for p in range(len(inputs)))
    declared = "\n".join(
        f"        {c_type(t)} y{p}{{}}; bool g{p} = seen;" for p, t in enumerate(operation.outputs.values())
    )
    stored = "\n".join(
        f"        if (row < rows) r{p}[row] = {stored_c_type(t)}(g{p} ? y{p} : {c_type(t)}{{}});\n"
        f"        missing[{p}] += store_word(s{p}, row, row < rows, g{p});"
        for p, t in zip(places, operation.outputs.values(), strict=True)
    )
    sums = " ".join(f"add_nulls(nulls + {p}, missing[{p}]);" for p in places)
    return f"""{headers_text(["rows.cuh", "words.cuh"])}
DEVICE void body({", ".join(parameters)}) {{{users_text("body", contract.texts["body"])}}}
KERNEL elementwise({", ".join(["int64_t rows", "uint64_t* nulls", *column_parameters(columns), *written])}) {{
{accessors(columns)}
    uint32_t missing[{len(places)}] = {{}};
    FOR_EACH_ROW(row, rows) {{
{read}
        const bool seen = {seen};
{declared}
        if (seen) body({", ".join(values)});
{stored}
    }}
    {sums}
}}
"""
