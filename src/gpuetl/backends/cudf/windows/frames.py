"""Frames: what the rows from the start of each row's frame up to it fold into; one kernel for those of equal frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpuetl.backends.cudf.device.columns import accessors
from gpuetl.backends.cudf.machine import Array
from gpuetl.backends.cudf.vector import Vector
from gpuetl.backends.cudf.windows.fused import instance, state_bytes, together
from gpuetl.backends.cudf.windows.per_row import bits_parameters, completed, store_statements, value_arguments
from gpuetl.backends.cudf.windows.rows import WindowRows, headers, parameters, value_parameters
from gpuetl.backends.cudf.windows.steps import Fold


def run_frames(folds: Sequence[Fold], start: Array, longest: int, rows: WindowRows) -> tuple[list[Vector], list[int]]:
    """Return what the folds give for each row's frame, and of each the first fault, 0 where there is none.

    `start` has the first row (int32) of each frame, in the row's group; a frame has `longest` rows at most.
    """
    columns = rows.read_by(folds)
    results = [rows.empty(fold.stored, bits=not fold.numbers_rows) for fold in folds]
    arrays, levels = rows.machine.arrays, max(min(longest, rows.rows), 1).bit_length() - 1
    state = arrays.zeros(2 * len(folds), "uint64")
    if rows.rows:
        blocks = arrays.empty(max(rows.rows * state_bytes(folds) if levels else 1, 1), "uint8")
        shared = [blocks, state, state[len(folds) :], *rows.arguments(columns), start, *value_arguments(results)]
        module = rows.machine.compiled(frame_source(folds, columns))
        for level in range(1, levels + 1):
            rows.machine.launch(module, "combine_blocks", rows.rows >> level, [rows.rows, level, *shared])
        rows.machine.launch(module, "fold_frames", rows.rows, [rows.rows, levels, *shared])
    return completed(folds, results, state)


def frame_source(folds: Sequence[Fold], columns: Mapping[str, Vector]) -> str:
    """Return the kernels `combine_blocks`, for each level from 1 on, and `fold_frames`, with the same parameters."""
    calls = [f"together.f{place}.result(row, state.s{place})" for place in range(len(folds))]
    declared, values, valid = store_statements(folds, calls)
    texts = [
        *("int64_t rows", "int64_t level", "void* memory", "uint64_t* faults", "uint64_t* nulls"),
        *parameters(columns),
        "const int32_t* start",
        *value_parameters(folds),
        *bits_parameters(folds),
    ]
    begin = f"""({", ".join(texts)}) {{
{accessors(columns)}
    const Marks marks{{groups, runs, rows}};
    const Together together = {instance(folds, columns)};
    const Blocks<Together> blocks{{together, (Together::State*)memory}};"""
    return f"""{headers()}{together(folds, columns)}
static_assert(sizeof(Together::State) <= {state_bytes(folds)}, "more than is allocated");
KERNEL combine_blocks{begin}
    FOR_EACH_ROW(block, rows >> level) {{
        if (block < rows >> level) blocks.make(int(level), block);
    }}
}}
KERNEL fold_frames{begin}
    FOR_EACH_ROW(row, rows) {{
        {declared}
        if (row < rows) {{
            const Together::State state = blocks.over(start[row], row + 1, int(level));
            {values}
        }}
        {valid}
    }}
}}
"""
