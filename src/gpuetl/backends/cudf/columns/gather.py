"""Rows gathered by number: one kernel for all columns, and one more for the bytes of each column of texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuetl.backends.cudf.columns.texts import with_bytes
from gpuetl.backends.cudf.columns.validity import empty_bits, with_nulls
from gpuetl.backends.cudf.columns.written import empty_column, empty_sizes, list_offsets
from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.device.types import stored_c_type
from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.machine import Machine
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.types import STRING, is_list


def take_rows(frame: Frame, rows: Any, machine: Machine) -> Frame:
    """Return the rows of these numbers."""
    return Frame(take(frame.columns, rows, machine), len(rows))


def first_rows(frame: Frame, count: int, machine: Machine) -> Frame:
    """Return the first rows."""
    return frame if frame.rows <= count else take_rows(frame, machine.arrays.arange(count), machine)


def take(vectors: Mapping[str, Vector], rows: Any, machine: Machine) -> dict[str, Vector]:
    """Gather rows by number (int32 or int64, below the columns' length); -1 gives null.

    Raises
    ------
    ValueError
        Where the elements of lists would be 2^31 or more.
    """
    if not len(rows):
        return {name: nothing(vector, machine) for name, vector in vectors.items()}
    rows = machine.arrays.ascontiguousarray(rows)
    stored = {name: vector.numbers for name, vector in vectors.items()}
    taken = {name: prepared(vector, rows, machine) for name, vector in stored.items()}
    counts = gather_fixed(stored, taken, rows, machine)
    results = {}
    for (name, vector), count in zip(stored.items(), counts, strict=True):
        made = taken[name]
        if is_list(vector.dtype):
            made = with_elements(vector, made, rows, machine)
        elif vector.dtype == STRING:
            made = with_bytes(vector, made, rows, machine)
        results[name] = with_nulls(made, count).numbering(vectors[name].dictionary)
    return results


def nothing(vector: Vector, machine: Machine) -> Vector:
    """Return no rows of a column."""
    if vector.offsets is None:
        return Vector(vector.dtype, 0, vector.data[:0], dictionary=vector.dictionary)
    elements = nothing(vector.elements, machine) if vector.elements else None
    data = None if elements else vector.data[:0]
    return Vector(vector.dtype, 0, data, None, 0, machine.arrays.zeros(1, "int32"), elements)


def prepared(vector: Vector, rows: Any, machine: Machine) -> Vector:
    """Return the column to be written: of texts and lists, the sizes stand in the place of the data."""
    count = len(rows)
    if vector.offsets is None:
        return empty_column(vector.dtype, count, machine)
    return Vector(vector.dtype, count, empty_sizes(count, "int32", machine), empty_bits(count, machine))


def gather_fixed(vectors: Mapping[str, Vector], taken: Mapping[str, Vector], rows: Any, machine: Machine) -> list[int]:
    """Gather values of a fixed width and the sizes of others; return how many rows of each column are null."""
    if not vectors:
        return []
    arguments: list[Any] = []
    for name, vector in vectors.items():
        made = taken[name]
        source = vector.data if vector.offsets is None else vector.offsets
        target = made.data if vector.offsets is None else made.data[1:]
        arguments += [source, *([vector.valid] if vector.valid is not None else []), target, made.valid]
    nulls = machine.arrays.zeros(len(vectors), "uint64")
    module = machine.compiled(gather_source(list(vectors.values()), rows.dtype.itemsize))
    machine.launch(module, "gather", len(rows), [len(rows), rows, nulls, *arguments])
    return [int(count) for count in nulls.tolist()]


def gather_source(vectors: list[Vector], index_bytes: int) -> str:
    """Return the kernel `gather` for columns of these kinds."""
    parameters = [f"int64_t rows, const int{8 * index_bytes}_t* from, uint64_t* nulls"]
    lines = []
    for place, vector in enumerate(vectors):
        stored = (
            f"int{8 * vector.offsets.dtype.itemsize}_t" if vector.offsets is not None else stored_c_type(vector.dtype)
        )
        bits = f"b{place}" if vector.valid is not None else "nullptr"
        parameters.append(f"const {stored}* d{place}")
        if vector.valid is not None:
            parameters.append(f"const uint32_t* {bits}")
        result = "int32_t" if vector.offsets is not None else stored
        parameters.append(f"{result}* r{place}, uint32_t* s{place}")
        value = f"d{place}[at + 1] - d{place}[at]" if vector.offsets is not None else f"d{place}[at]"
        lines.append(f"""
        const bool g{place} = there && bit_is_set({bits}, at);
        if (row < rows) r{place}[row] = g{place} ? {result}({value}) : {result}{{}};
        store_valid(s{place}, nulls + {place}, row, row < rows, g{place});""")
    return f"""{headers_text(["rows.cuh"])}
KERNEL gather({", ".join(parameters)}) {{
    FOR_EACH_ROW(row, rows) {{
        const int64_t at = row < rows ? int64_t(from[row]) : -1;
        const bool there = at >= 0;{"".join(lines)}
    }}
}}
"""


def with_elements(vector: Vector, made: Vector, rows: Any, machine: Machine) -> Vector:
    """Gather the elements of lists."""
    arrays = machine.arrays
    places = arrays.cumsum(made.data, dtype="int64")
    total = int(places[-1])
    offsets = list_offsets(places, total)
    assert vector.elements is not None
    sizes = made.data[1:]
    starts = vector.offsets[arrays.where(rows < 0, 0, rows)].astype("int64")
    wanted = arrays.arange(total) + repeat(starts - places[:-1], sizes, total, machine)
    return Vector(made.dtype, made.rows, None, made.valid, 0, offsets, take({"": vector.elements}, wanted, machine)[""])


def repeat(values: Any, counts: Any, total: int, machine: Machine) -> Any:
    """Repeat each value so many times; `total` is their sum."""
    arrays = machine.arrays
    ends = arrays.cumsum(counts)
    return values[arrays.searchsorted(ends, arrays.arange(total), side="right")]
