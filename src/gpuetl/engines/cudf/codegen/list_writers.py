"""Lists made of lists: a kernel counts each row's elements, one writes their places, and the elements are gathered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pyarrow as pa

from gpuetl.engines.cudf.codegen.cuda_types import ColumnKinds, buffers_of
from gpuetl.engines.cudf.codegen.emit import CAN_BE, Constants, Emitter, arguments, writer_of
from gpuetl.engines.cudf.codegen.functions.list_edits import ListDevice
from gpuetl.engines.cudf.codegen.row_kernels import MOST_KEPT, RowKernel, headers
from gpuetl.engines.cudf.columns.arrays import scan
from gpuetl.engines.cudf.columns.concat import stacked
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.columns.kind import Kind
from gpuetl.engines.cudf.columns.validity import empty_bits, list_offsets, with_nulls
from gpuetl.engines.cudf.columns.vector import NO_DATA, Vector, element_type
from gpuetl.engines.cudf.machine import Machine
from gpuetl.expressions.ir import Call, Column, Expr, columns_of
from gpuetl.types.data_types import INT64

Run = Callable[..., list[int]]


def list_writer(expr: Expr) -> ListDevice | None:
    """Return the device function of a call that writes lists."""
    device = writer_of(expr)
    return device if isinstance(device, ListDevice) else None


@lru_cache(MOST_KEPT)
def list_kernel(columns: ColumnKinds, output: Call) -> RowKernel:
    """Return the kernels `measure`, which gives each list's size and validity, and `write`, which gives what it has.

    Both have the parameters rows, `faults`, `nulls` (a count, and the elements of all lists), constants, `b0` … and the
    columns' buffers.  `b0` … say where the elements of each argument begin among those of all arguments.  `measure`
    also has sizes, after a first 0, and validity words.  `write` has offsets, and places (int32) or numbers (int64).
    """
    device = list_writer(output)
    assert device is not None
    constants = Constants()
    emitter = Emitter(columns.names, constants)
    emitter.write_text(output, device, "valid")
    bases = [f"b{place}" for place in range(len(output.args))] if device.elements in ("all", "pairs") else []
    given = [*constants.parameters, *(f"int64_t {base}" for base in bases)]
    parameters = ", ".join(["int64_t rows", "uint64_t* faults", "uint64_t* nulls", *given, *columns.parameters])
    accessors = [f"c{place}" for place in range(len(columns.names))]
    passed = "".join(f", {name}" for name in [*constants.names, *bases, *accessors])
    types = "".join(f", class C{place}" for place in range(len(columns.names)))
    taken = "".join(f", {each}" for each in [*given, *(f"C{place} c{place}" for place in range(len(columns.names)))])
    body = emitter.round()
    stored = "int64_t" if device.elements == "numbers" else "int32_t"
    out = f"WrittenElements<{stored}> out{{written + offsets[row]}};"
    if device.elements == "pairs":
        out = "WrittenPairs out{written + offsets[row], offsets[rows]};"
    source = f"""{headers([output], "words.cuh", "reduce.cuh")}
template <class OUT{types}>
DEVICE bool write_row(OUT& out, int64_t row, uint64_t* faults{taken}) {{
    bool valid = false;
{body}
    return valid;
}}
KERNEL measure({parameters}, int64_t* sizes, uint32_t* bits) {{
{columns.accessors}
    uint32_t missing = 0;
    Tally elements;
    FOR_EACH_ROW(row, rows) {{
        bool valid = false;
        if (row < rows) {{
            CountedElements out;
            valid = write_row(out, row, faults{passed});
            sizes[row + 1] = valid ? out.size : 0;
            elements.count += sizes[row + 1];
        }}
        if (row == 0) sizes[0] = 0;
        missing += store_word(bits, row, row < rows, valid);
    }}
    add_nulls(nulls, missing);
    elements.store(nulls + 1);
}}
KERNEL write({parameters}, const int32_t* offsets, {stored}* written) {{
{columns.accessors}
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        {out}
        write_row(out, row, faults{passed});
    }}
}}
"""
    return RowKernel(source, emitter.sites, [CAN_BE], constants.values)


def written_lists(expr: Call, columns: Mapping[str, Vector], rows: int, machine: Machine, run: Run) -> Vector:
    """Return the lists that a call writes; `run` launches a kernel and gives what it counts.

    Raises
    ------
    EvaluationError
        Where there would be 2^31 elements or more.
    """
    if not rows:
        return from_arrow(pa.nulls(0, expr.dtype), machine)
    device = list_writer(expr)
    assert device is not None
    read = {name: vector for name, vector in columns.items() if name in columns_of(expr)}
    kernel = list_kernel(ColumnKinds.of(read), expr)
    taken = [columns[arg.name].elements for arg in expr.args if isinstance(arg, Column)]
    sources = [elements for elements in taken if elements is not None]
    given = [*bases_of(device, len(expr.args), sources), *buffers_of(read)]
    sizes, valid = machine.arrays.empty(rows + 1, "int64"), empty_bits(rows, machine)
    nulls, total = run(kernel, "measure", rows, 2, [*given, sizes, valid], columns, machine)
    offsets = list_offsets(scan(sizes, machine), total, machine)
    is_number = device.elements == "numbers"
    written = machine.arrays.empty(total * (1 + (device.elements == "pairs")), "int64" if is_number else "int32")
    if total:
        state = machine.arrays.zeros(len(kernel.sites) + 2, "uint64")
        constants = arguments(kernel.constants, machine)
        module = machine.compiled(kernel.source)
        machine.launch(module, "write", rows, [rows, state, state, *constants, *given, offsets, written])
    if is_number:
        elements = Vector(INT64, total, written)
    elif device.elements == "pairs":
        sides = ((sources[0::2], written[:total]), (sources[1::2], written[total:]))
        fields = (take({"": all_of(side, machine)}, places, machine, missing=False)[""] for side, places in sides)
        elements = Vector(element_type(expr.dtype), total, NO_DATA, fields=tuple(fields))
    else:
        elements = take({"": source_of(device, sources, machine)}, written, machine)[""]
    return with_nulls(Vector(expr.dtype, rows, NO_DATA, valid, 0, offsets, elements), nulls)


def bases_of(device: ListDevice, arguments: int, sources: Sequence[Vector]) -> list[int]:
    """Return where the elements of each argument begin among those of all, or among all keys, or values, of maps."""
    if device.elements not in ("all", "pairs"):
        return []
    step = 2 if device.elements == "pairs" else 1
    return [sum(source.rows for source in sources[place % step : place : step]) for place in range(arguments)]


def all_of(sources: Sequence[Vector], machine: Machine) -> Vector:
    """Return columns below each other."""
    return stacked(sources, machine) if len(sources) > 1 else sources[0]


def source_of(device: ListDevice, sources: list[Any], machine: Machine) -> Vector:
    """Return the elements whose places are written."""
    if device.elements == "all":
        return all_of(sources, machine)
    first: Vector = sources[0]
    return first.elements if device.elements == "inner" and first.elements else first


def kind_of_written(expr: Call, columns: Mapping[str, Kind]) -> Kind:
    """Return the kind of the lists that a call writes."""
    device = list_writer(expr)
    if device and device.elements == "pairs":
        pair = [columns[arg.name].elements for arg in expr.args[:2] if isinstance(arg, Column)]
        fields = tuple(kind for kind in pair if kind)
        return replace(Kind.of(expr.dtype), elements=replace(Kind.of(element_type(expr.dtype)), fields=fields))
    first = next(
        (columns[arg.name] for arg in expr.args if isinstance(arg, Column) and columns[arg.name].elements), None
    )
    if device is None or first is None or device.elements == "numbers":
        return Kind.of(expr.dtype)
    elements = first.elements
    return replace(
        first, dtype=expr.dtype, elements=elements.elements if device.elements == "inner" and elements else elements
    )
