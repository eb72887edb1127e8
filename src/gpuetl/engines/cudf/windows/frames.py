"""Frames: what the rows from the start of each row's frame up to it fold into; one kernel for those of equal frames."""

from __future__ import annotations

from collections.abc import Sequence

from gpuetl.engines.cudf.device.columns import accessors
from gpuetl.engines.cudf.machine import Array
from gpuetl.engines.cudf.vector import Vector
from gpuetl.engines.cudf.windows.fused import instance, state_bytes, together
from gpuetl.engines.cudf.windows.outputs import Written, null_statements, output_parameters, store_statements
from gpuetl.engines.cudf.windows.rows import WindowRows, headers, parameters
from gpuetl.engines.cudf.windows.steps import Framed, Output, Step

LEAF = 3
"""The least blocks have 2^LEAF rows, as frames.cuh says."""


def run_frames(outputs: Sequence[Output], start: Array, rows: WindowRows) -> Written:
    """Write what folds give for each row's frame; `start` has the first row (int32) of each, in the row's group."""
    steps, columns = folded(outputs, rows)
    levels = max(min(steps[0].longest, rows.rows), 1).bit_length() - 1
    written = Written.empty(steps, outputs, rows)
    if rows.rows:
        halves = (rows.rows >> (LEAF - 1)) + 1 if levels >= LEAF else 1
        blocks = rows.machine.arrays.empty(halves * state_bytes([step.fold for step in steps]), "uint8")
        arguments = [blocks, *rows.arguments(columns), start, *written.arguments]
        module = rows.machine.compiled(frame_source(outputs, rows))
        for level in range(LEAF, levels + 1):
            rows.machine.launch(module, "combine_blocks", rows.rows >> level, [rows.rows, level, *arguments])
        rows.machine.launch(module, "fold_frames", rows.rows, [rows.rows, levels, *arguments])
    return written


def folded(outputs: Sequence[Output], rows: WindowRows) -> tuple[list[Framed], dict[str, Vector]]:
    """Return the steps of outputs, each once, and the columns that they and the outputs read."""
    steps = list(dict.fromkeys(step for output in outputs if isinstance(step := output.step, Framed)))
    return steps, rows.read_by([*(step.fold for step in steps), *outputs])


def frame_source(outputs: Sequence[Output], rows: WindowRows) -> str:
    """Return the kernels `combine_blocks`, for each level from that of leaves on, and `fold_frames`."""
    steps, columns = folded(outputs, rows)
    folds = [step.fold for step in steps]
    names = {name: f"c{place}" for place, name in enumerate(columns)}
    texts: dict[Step, str] = {step: f"together.f{place}.result(row, own.s{place})" for place, step in enumerate(steps)}
    declared, values, words = store_statements(outputs, texts, names, rows)
    parameter_texts = [
        *("int64_t rows", "int64_t level", "void* memory"),
        *parameters(columns),
        "const int32_t* start",
        *output_parameters(outputs, rows),
    ]
    begin = f"""({", ".join(parameter_texts)}) {{
{accessors(columns)}
    const Marks marks{{groups, runs, rows}};
    const Together together = {instance(folds, columns)};
    const Blocks<Together> blocks{{together, (Together::State*)memory}};"""
    return f"""{headers()}{together(folds, columns)}
static_assert(sizeof(Together::State) <= {state_bytes(folds)} && LEAF == {LEAF}, "more than is allocated");
KERNEL combine_blocks{begin}
    FOR_EACH_ROW(block, rows >> level) {{
        if (block < rows >> level) blocks.make(int(level), block);
    }}
}}
KERNEL fold_frames{begin}
    uint32_t missing[{len(outputs)}] = {{}};
    FOR_EACH_ROW(row, rows) {{
        const bool in_range = row < rows;
        {declared}
        if (in_range) {{
            const Together::State own = blocks.over(start[row], row + 1, int(level));
            {values}
        }}
        {words}
    }}
    {null_statements(outputs, len(steps))}
}}
"""
