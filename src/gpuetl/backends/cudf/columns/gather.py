"""Rows gathered by number: one kernel for all columns, and one more for the bytes of each column of texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuetl.backends.cudf.columns.validity import empty_bits, with_nulls
from gpuetl.backends.cudf.columns.written import empty_values, list_offsets, text_offsets
from gpuetl.backends.cudf.device.headers import headers_text
from gpuetl.backends.cudf.device.types import stored_c_type
from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.machine import Array, Machine
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.types import STRING, is_list

LOADS_TOGETHER = 8
"""Columns that are read before any of them is written: a load does not wait for a store, and registers suffice."""


def take_rows(frame: Frame, rows: Any, machine: Machine, permuted: bool = False) -> Frame:
    """Return the rows of these numbers; each once, where they are `permuted`."""
    return Frame(take(frame.columns, rows, machine, permuted), len(rows))


def first_rows(frame: Frame, count: int, machine: Machine) -> Frame:
    """Return the first rows."""
    return frame if frame.rows <= count else take_rows(frame, machine.arrays.arange(count), machine)


def take(vectors: Mapping[str, Vector], rows: Any, machine: Machine, permuted: bool = False) -> dict[str, Vector]:
    """Gather rows by number (int32 or int64, below the columns' length); -1 gives null.

    Where each row is taken once, `permuted`, columns have as many nulls as before: nobody waits for their count.

    Raises
    ------
    ValueError
        Where the elements of lists would be 2^31 or more.
    """
    if not len(rows):
        return {name: nothing(vector, machine) for name, vector in vectors.items()}
    rows = machine.arrays.ascontiguousarray(rows)
    taken = {name: prepared(vector, rows, machine, permuted) for name, vector in vectors.items()}
    nulls = gather_fixed(vectors, taken, rows, machine)
    counts = [vector.nulls for vector in vectors.values()] if permuted else [int(count) for count in nulls.tolist()]
    results = {}
    for (name, vector), count in zip(vectors.items(), counts, strict=True):
        made = taken[name]
        if is_list(vector.dtype):
            made = with_elements(vector, made, rows, machine)
        elif vector.dtype == STRING:
            made = with_bytes(vector, made, rows, machine)
        results[name] = with_nulls(made, count)
    return results


def nothing(vector: Vector, machine: Machine) -> Vector:
    """Return no rows of a column."""
    if vector.offsets is None:
        return Vector(vector.dtype, 0, vector.data[:0])
    elements = nothing(vector.elements, machine) if vector.elements else None
    data = None if elements else vector.data[:0]
    return Vector(vector.dtype, 0, data, None, 0, machine.arrays.zeros(1, "int32"), elements)


def prepared(vector: Vector, rows: Any, machine: Machine, permuted: bool) -> Vector:
    """Return the column to be written: of texts and lists, the sizes stand in the place of the data."""
    count = len(rows)
    valid = None if permuted and vector.valid is None else empty_bits(count, machine)
    if vector.offsets is None:
        return Vector(vector.dtype, count, empty_values(vector.dtype, count, machine), valid)
    return Vector(vector.dtype, count, machine.arrays.zeros(count + 1, "int64"), valid)


def gather_fixed(vectors: Mapping[str, Vector], taken: Mapping[str, Vector], rows: Any, machine: Machine) -> Array:
    """Gather values of a fixed width and the sizes of others; return how many rows (uint64) of each are null."""
    nulls = machine.arrays.zeros(len(vectors), "uint64")
    if not vectors:
        return nulls
    arguments: list[Any] = []
    for name, vector in vectors.items():
        made = taken[name]
        source = vector.data if vector.offsets is None else vector.offsets
        target = made.data if vector.offsets is None else made.data[1:]
        arguments += [each for each in (source, vector.valid, target, made.valid) if each is not None]
    marked = [made.valid is not None for made in taken.values()]
    module = machine.compiled(gather_source(list(vectors.values()), marked, rows.dtype.itemsize))
    machine.launch(module, "gather", len(rows), [len(rows), rows, nulls, *arguments])
    return nulls


def gather_source(vectors: list[Vector], marked: list[bool], index_bytes: int) -> str:
    """Return the kernel `gather` for columns of these kinds, of which those that are `marked` get validity words."""
    parameters = [f"int64_t rows, const int{8 * index_bytes}_t* from, uint64_t* nulls"]
    loads, stores = [], []
    for place, (vector, words) in enumerate(zip(vectors, marked, strict=True)):
        texts = vector.offsets is not None
        stored = f"int{8 * vector.offsets.dtype.itemsize}_t" if texts else stored_c_type(vector.dtype)
        result, bits = "int64_t" if texts else stored, f"b{place}" if vector.valid is not None else "nullptr"
        parameters.append(f"const {stored}* d{place}")
        parameters += [f"const uint32_t* {bits}"] if vector.valid is not None else []
        parameters += [f"{result}* r{place}", *([f"uint32_t* s{place}"] if words else [])]
        value = f"d{place}[at + 1] - d{place}[at]" if texts else f"d{place}[at]"
        loads.append(f"""
        const bool g{place} = there && bit_is_set({bits}, at);
        const {result} v{place} = g{place} ? {result}({value}) : {result}{{}};""")
        counted = f" missing[{place}] += store_word(s{place}, row, row < rows, g{place});" if words else ""
        stores.append(f"""
        if (row < rows) r{place}[row] = v{place};{counted}""")
    places = range(0, len(vectors), LOADS_TOGETHER)
    steps = [text for at in places for of in (loads, stores) for text in of[at : at + LOADS_TOGETHER]]
    sums = " ".join(f"add_nulls(nulls + {place}, missing[{place}]);" for place, words in enumerate(marked) if words)
    return f"""{headers_text(["rows.cuh", "words.cuh"])}
KERNEL gather({", ".join(parameters)}) {{
    uint32_t missing[{len(vectors)}] = {{}};
    FOR_EACH_ROW(row, rows) {{
        const int64_t at = row < rows ? int64_t(from[row]) : -1;
        const bool there = at >= 0;{"".join(steps)}
    }}
    {sums}
}}
"""


def with_bytes(vector: Vector, made: Vector, rows: Any, machine: Machine) -> Vector:
    """Copy the texts' bytes: each warp those of a text."""
    places = machine.arrays.cumsum(made.data)
    total = int(places[-1])
    offsets = text_offsets(places, total)
    data = machine.arrays.empty(total, "uint8")
    if total:
        source, target, index = (8 * array.dtype.itemsize for array in (vector.offsets, offsets, rows))
        module = machine.compiled(headers_text(["rows.cuh", "reduce.cuh"]) + copy_source(source, target, index))
        arguments = [len(rows), rows, vector.data, vector.offsets, data, offsets]
        machine.launch(module, "copy_texts", len(rows) * 32, arguments)
    return Vector(made.dtype, made.rows, data, made.valid, 0, offsets)


def copy_source(source_bits: int, target_bits: int, index_bits: int) -> str:
    """Return the kernel `copy_texts`."""
    return f"""
KERNEL copy_texts(int64_t rows, const int{index_bits}_t* from, const char* data, const int{source_bits}_t* offsets,
                  char* result, const int{target_bits}_t* places) {{
    FOR_EACH_WARP(row, rows) {{
        const int64_t start = places[row], size = places[row + 1] - start;
        if (!size) continue;
        const char* source = data + offsets[from[row]];
        for (int64_t i = LANE; i < size; i += LANES) result[start + i] = source[i];
    }}
}}
"""


def with_elements(vector: Vector, made: Vector, rows: Any, machine: Machine) -> Vector:
    """Gather the elements of lists."""
    arrays = machine.arrays
    places = arrays.cumsum(made.data)
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
