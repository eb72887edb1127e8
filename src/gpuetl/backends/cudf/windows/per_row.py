"""Functions of each row, by what scans gave for it, in one kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpuetl.backends.cudf.columns.validity import with_nulls
from gpuetl.backends.cudf.device.columns import accessors
from gpuetl.backends.cudf.device.types import c_int, stored_c_type
from gpuetl.backends.cudf.machine import Array
from gpuetl.backends.cudf.vector import Vector
from gpuetl.backends.cudf.windows.rows import WindowRows, headers, parameters, value_parameters
from gpuetl.backends.cudf.windows.steps import Fold, PerRow, PresentRows, Scan

Reads = Mapping[Scan | PresentRows, list[Any]]
"""The arguments that stand for what other steps gave: an array, or of rows that are present, two and their number."""


def run_per_row(steps: Sequence[PerRow], reads: Reads, rows: WindowRows) -> tuple[list[Vector], list[int]]:
    """Return what the steps give for each row, and of each the first fault, 0 where there is none."""
    columns = rows.read_by(steps)
    read = dict.fromkeys(read for step in steps for read in step.reads)
    results = [rows.empty(step.stored, bits=not step.numbers_rows) for step in steps]
    state = rows.machine.arrays.zeros(2 * len(steps), "uint64")
    written = value_arguments(results)
    arguments = [*rows.arguments(columns), *(buffer for each in read for buffer in reads[each]), *written]
    if rows.rows:
        module = rows.machine.compiled(per_row_source(steps, list(read), columns))
        rows.machine.launch(module, "compute", rows.rows, [rows.rows, state, state[len(steps) :], *arguments])
    return completed(steps, results, state)


def value_arguments(results: Sequence[Vector]) -> list[Array]:
    """Return the buffers that are written: all values, then all validity words."""
    return [*(made.data for made in results), *(made.valid for made in results if made.valid is not None)]


def completed(
    steps: Sequence[Fold | PerRow], results: Sequence[Vector], state: Array
) -> tuple[list[Vector], list[int]]:
    """Return columns that were written, with their counts of nulls, and the faults; `state` has faults, then nulls."""
    if all(step.numbers_rows for step in steps):
        return list(results), [0] * len(steps)
    told = [int(number) for number in state.tolist()]
    faults, nulls = told[: len(steps)], told[len(steps) :]
    return [with_nulls(made, count) for made, count in zip(results, nulls, strict=True)], faults


def bits_parameters(steps: Sequence[Fold | PerRow]) -> list[str]:
    """Return the parameters of the validity words that are written."""
    return [f"uint32_t* b{place}" for place, step in enumerate(steps) if not step.numbers_rows]


def store_statements(steps: Sequence[Fold | PerRow], calls: Sequence[str]) -> tuple[str, str, str]:
    """Return statements: what to declare of a row, its values' stores, and its validity's, by all lanes together."""
    declared, values, valid = [], [], []
    for place, (step, call) in enumerate(zip(steps, calls, strict=True)):
        stored = stored_c_type(step.stored)
        if step.numbers_rows:
            values.append(f"r{place}[row] = place_of({call});")
            continue
        declared.append(f"bool g{place} = false;")
        values.append(
            f"const auto v{place} = {call}; g{place} = v{place}.valid; r{place}[row] = {stored}(v{place}.value);"
        )
        valid.append(f"store_valid(b{place}, nulls + {place}, row, row < rows, g{place});")
    return " ".join(declared), "\n            ".join(values), " ".join(valid)


def per_row_source(steps: Sequence[PerRow], reads: Sequence[Scan | PresentRows], columns: Mapping[str, Vector]) -> str:
    """Return the kernel `compute`."""
    names = {name: f"c{place}" for place, name in enumerate(columns)}
    names_read = {read: f"a{place}" for place, read in enumerate(reads)}
    calls = [call_text(step, site, names, names_read) for site, step in enumerate(steps)]
    read_parameters = [text for place, read in enumerate(reads) for text in parameters_read(place, read)]
    texts = ["int64_t rows", "uint64_t* faults", "uint64_t* nulls", *parameters(columns), *read_parameters]
    made = [
        f"const PresentRows a{i}{{before{i}, rows{i}, count{i}}};"
        for i, r in enumerate(reads)
        if isinstance(r, PresentRows)
    ]
    declared, values, valid = store_statements(steps, calls)
    return f"""{headers()}
KERNEL compute({", ".join([*texts, *value_parameters(steps), *bits_parameters(steps)])}) {{
{accessors(columns)}
    {" ".join(made)}
    FOR_EACH_ROW(row, rows) {{
        {declared}
        if (row < rows) {{
            {values}
        }}
        {valid}
    }}
}}
"""


def call_text(step: PerRow, site: int, columns: Mapping[str, str], reads: Mapping[Scan | PresentRows, str]) -> str:
    """Return the text of a call."""
    fault = [f"Fault{{faults + {site}, row}}"] if step.can_fail else []
    given = [*(columns[name] for name in step.columns), *(reads[read] for read in step.reads)]
    return f"{step.function}({', '.join([*fault, 'row', *given, *map(c_int, step.constants)])})"


def parameters_read(place: int, read: Scan | PresentRows) -> list[str]:
    """Return the parameters of what another step gave."""
    if isinstance(read, Scan):
        return [f"const {stored_c_type(read.fold.stored)}* a{place}"]
    return [f"const int32_t* before{place}", f"const int32_t* rows{place}", f"int64_t count{place}"]
