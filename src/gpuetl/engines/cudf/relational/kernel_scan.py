"""The kernel around a user's scan: the states of each group's rows combined up to each row, by the scans of windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpuetl.engines.cudf.codegen.cuda_types import (
    accessor_type,
    accessors,
    buffers_of,
    c_constant,
    c_type,
    column_parameters,
    stored_c_type,
)
from gpuetl.engines.cudf.codegen.device_headers import headers_text
from gpuetl.engines.cudf.codegen.user_kernels import typed, user_code, user_kernel
from gpuetl.engines.cudf.columns.validity import empty_values, null_where_any, with_nulls, words_of
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.relational.window_scans import Reducing, launch_scan, totals_before
from gpuetl.plan.nodes import Kernel, KernelReduction, KernelTable
from gpuetl.user_kernels.kernel_code import KernelCode

WIDEST, ALIGNMENT = 8, 16
"""Bytes of a field of a state at most, and what a state is padded to."""


def scanned(
    operation: Kernel, contract: KernelCode, inputs: Mapping[str, Vector], arguments: Mapping[str, Any],
    new_group: Array, rows: int, machine: Machine,
) -> dict[str, Vector]:  # fmt: skip
    """Compute the outputs of each row; `new_group` marks (uint8) where groups begin among the sorted rows.

    `arguments` are numbers, in which times count their unit.

    The inputs are read once, those since a tile's last group twice, and the outputs are written once.

    Raises
    ------
    EvaluationError
        Where the user's text does not compile.
    """
    arrays, masks = machine.arrays, operation.nulls == "masks"
    module = machine.user_module(scan_source(operation, contract, inputs, arguments), contract.entry)
    vectors = {name: Vector(t, rows, empty_values(t, rows, machine)) for name, t in operation.outputs.items()}
    flags = [arrays.empty(rows, "uint8") for _ in vectors] if masks else []
    outputs: list[Array] = [*(vector.data for vector in vectors.values()), *flags]
    if rows:
        with user_kernel(operation, machine):
            given = [new_group, *buffers_of(inputs), *outputs]
            before = totals_before(Reducing(lambda: module, given), rows, segment_bytes(contract), machine)
            launch_scan(module, rows, before, given, machine)
    if not masks:
        return {name: null_where_any(vector, inputs.values(), machine) for name, vector in vectors.items()}
    nulls = arrays.zeros(len(vectors), "uint64")
    words = [words_of(flag, machine, nulls[place:]) for place, flag in enumerate(flags)]
    return {
        name: with_nulls(replace(vector, valid=valid), int(count))
        for (name, vector), valid, count in zip(vectors.items(), words, nulls.tolist(), strict=True)
    }


def segment_bytes(contract: KernelCode) -> int:
    """Return as many bytes as a tile's total takes, or more: a state, and whether a group begins."""
    return -(-len(contract.state) * WIDEST // ALIGNMENT) * ALIGNMENT + ALIGNMENT


def scan_source(
    operation: Kernel, contract: KernelCode, inputs: Mapping[str, Vector], arguments: Mapping[str, Any]
) -> str:
    """Return the kernels `reduce` and `totals` of `totals_before`, and `scan` of `launch_scan`."""
    stored = {f"r{place}": f"{stored_c_type(t)}*" for place, t in enumerate(operation.outputs.values())}
    if operation.nulls == "masks":
        stored |= {f"s{place}": "uint8_t*" for place in range(len(operation.outputs))}
    members = {f"c{place}": f"const {accessor_type(vector)}" for place, vector in enumerate(inputs.values())} | stored
    begin = f"""({", ".join([
        "int64_t rows, void* memory, const uint8_t* groups",
        *column_parameters(inputs), *(f"{dtype} {name}" for name, dtype in stored.items()),
    ])}) {{
{accessors(inputs)}
    const windows::Direction<false> order{{{{groups, groups, rows}}}};
    Scanned scanned{{{", ".join(members)}}};"""  # fmt: skip
    return f"""{headers_text(["scan.cuh"])}
{users_functions(operation, contract, inputs, constants(operation, arguments))}
struct Scanned {{
    typedef ::State State;
    {" ".join(f"{dtype} {name};" for name, dtype in members.items())}
{scanned_rows(operation, contract, inputs)}
}};
static_assert(sizeof(windows::Segment<State>) <= {segment_bytes(contract)}, "more than is allocated");
KERNEL reduce{begin}
    windows::reduce_tiles(order, scanned, (windows::Segment<State>*)memory);
}}
KERNEL totals(int64_t rows, int64_t level, void* totals, void* before) {{
    windows::reduce_totals(rows, level, (windows::Segment<State>*)totals, (State*)before);
}}
KERNEL scan{begin}
    windows::scan_tiles(order, scanned, (const State*)memory);
}}
"""


def known_values(operation: Kernel | KernelReduction | KernelTable) -> dict[str, Any]:
    """Return the values of the arguments as `scanned` takes them, computed on the CPU."""
    if not operation.arguments:
        return {}
    from gpuetl.engines.pandas.relational.kernel import argument_values

    return argument_values(operation)


def constants(operation: Kernel, arguments: Mapping[str, Any]) -> str:
    """Return the statements that declare the arguments: what combines two states gets nothing else."""
    types = {name: expr.dtype for name, expr in operation.arguments.items()}
    return " ".join(
        f"const {c_type(types[name])} {name} = {c_constant(value, types[name])};" for name, value in arguments.items()
    )


def users_functions(operation: Kernel, contract: KernelCode, inputs: Mapping[str, Vector], declared: str) -> str:
    """Return the state and the functions around the user's statements, which set parameters by their names."""
    masks, outputs = operation.nulls == "masks", operation.outputs
    types = {name: c_type(dtype) for name, dtype in contract.state.items()}
    fields, made = list_of(types, "{1}& {0}"), list_of(types, "made.{0}")
    read = beside(typed(inputs), [f"const bool {name}_valid" for name in inputs], masks)
    results = beside([f"{c_type(t)}& {n}" for n, t in outputs.items()], [f"bool& {n}_valid" for n in outputs], masks)

    def function(name: str, key: str, *parameters: str) -> str:
        text = user_code(key, contract.snippets[key])
        return f"DEVICE void {name}({', '.join(parameters)}) {{ {declared}{text}}}"

    return f"""struct Fields {{ {" ".join(f"{dtype} {name};" for name, dtype in types.items())} }};
{function("neutral", "identity", fields)}
{function("mapped", "map", *read, fields)}
{function("combined", "combine", "const Fields& a", "const Fields& b", fields)}
{function("finished", "post", list_of(types, "const {1} {0}"), *results) if contract.snippets["post"] else ""}
DEVICE Fields no_row() {{
    Fields made{{}};
    neutral({made});
    return made;
}}
struct State {{
    Fields of = no_row();
}};
DEVICE State combine(const State& earlier, const State& later) {{
    Fields made = no_row();
    combined(earlier.of, later.of, {made});
    return {{made}};
}}"""


def scanned_rows(operation: Kernel, contract: KernelCode, inputs: Mapping[str, Vector]) -> str:
    """Return how a row becomes a state, and how a state becomes the row's outputs."""
    masks, outputs, reads = operation.nulls == "masks", operation.outputs, range(len(inputs))
    counts = " && ".join(["true", *(f"c{place}.valid(row)" for place in reads if not masks)])
    values = beside([f"c{p}[row].value" for p in reads], [f"c{p}.valid(row)" for p in reads], masks)
    given = beside([f"y{p}" for p in range(len(outputs))], [f"g{p}" for p in range(len(outputs))], masks)
    fields = list_of(contract.state, "state.of.{0}")
    copied = " ".join(f"y{place} = state.of.{name};" for place, name in enumerate(outputs))
    finish = f"finished({', '.join([fields, *given])});" if contract.snippets["post"] else copied
    declared = " ".join(f"{c_type(t)} y{p}{{}}; bool g{p} = counts(row);" for p, t in enumerate(outputs.values()))
    stores = [f"r{p}[row] = {stored_c_type(t)}(g{p} ? y{p} : {c_type(t)}{{}});" for p, t in enumerate(outputs.values())]
    stores += [f"s{p}[row] = g{p};" for p in range(len(outputs)) if masks]
    return f"""    DEVICE bool counts(int64_t row) const {{ return {counts}; }}
    DEVICE State at(int64_t row) const {{
        State state;
        if (counts(row)) mapped({", ".join([*values, fields])});
        return state;
    }}
    DEVICE void put(int64_t row, bool in_range, const State& state) const {{
        if (!in_range) return;
        {declared}
        if (counts(row)) {{ {finish} }}
        {" ".join(stores)}
    }}"""


def beside(values: Sequence[str], flags: Sequence[str], masks: bool) -> list[str]:
    """Return values, with masks each with its boolean after it."""
    return [text for pair in zip(values, flags, strict=True) for text in pair[: 1 + masks]]


def list_of(names: Mapping[str, object], form: str) -> str:
    """Return names, and what they stand for, as a C++ list."""
    return ", ".join(form.format(name, what) for name, what in names.items())
