"""Texts cut into lists: one kernel counts the parts, one writes them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from gpuetl.engines.cudf.columns.arrays import filled, scan
from gpuetl.engines.cudf.columns.validity import empty_bits, with_nulls
from gpuetl.engines.cudf.columns.written import list_offsets, text_offsets
from gpuetl.engines.cudf.device.columns import accessors, buffers_of, column_parameters
from gpuetl.engines.cudf.device.headers import headers_text
from gpuetl.engines.cudf.device.types import c_text
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.vector import Vector
from gpuetl.expressions.ir import Literal
from gpuetl.types.data_types import STRING


def split_texts(arguments: Sequence[Vector | Literal], rows: int, machine: Machine) -> Vector:
    """Return the lists of the texts between separators.

    Raises
    ------
    EvaluationError
        Where there are 2^31 texts or more.
    """
    text, separator = arguments
    columns = {"text": text} if isinstance(text, Vector) else {}
    constant = text.value if isinstance(text, Literal) else None
    module = machine.compiled(source_of(columns, constant, separator.value))  # type: ignore[union-attr]
    arrays, buffers = machine.arrays, buffers_of(columns)
    counts, sizes = arrays.zeros(rows + 1, "int64"), arrays.zeros(rows + 1, "int64")
    nulls, valid = arrays.zeros(1, "uint64"), empty_bits(rows, machine)
    machine.launch(module, "measure", rows, [rows, *buffers, nulls, valid, counts[1:], sizes[1:]])
    places, starts = scan(counts, machine), scan(sizes, machine)
    parts, total, missing = int(places[-1]), int(starts[-1]), int(nulls[0])
    lists = list_offsets(places, parts, machine)
    offsets, data = filled(parts + 1, total, "int64", machine), arrays.empty(total, "uint8")
    machine.launch(module, "write", rows, [rows, *buffers, places, starts, offsets, data])
    elements = Vector(STRING, parts, data, offsets=text_offsets(offsets, total, machine))
    return with_nulls(Vector(pa.list_(STRING), rows, None, valid, 0, lists, elements), missing)


def source_of(columns: dict[str, Vector], constant: str | None, separator: str) -> str:
    """Return the kernels `measure` and `write`; each row reads the column, or the constant."""
    read = "c0[row]" if columns else "none<Text>()" if constant is None else f"some({c_text(constant)})"
    taken = "".join(f"{parameter}, " for parameter in column_parameters(columns))
    return f"""{headers_text(["rows.cuh", "strings.cuh", "words.cuh"])}
KERNEL measure(int64_t rows, {taken}uint64_t* nulls, uint32_t* bits, int64_t* counts, int64_t* sizes) {{
{accessors(columns)}
    const Text separator = {c_text(separator)};
    uint32_t missing = 0;
    FOR_EACH_ROW(row, rows) {{
        const Maybe<Text> text = row < rows ? {read} : none<Text>();
        if (text.valid) {{
            counts[row] = parts_of(text.value, separator);
            sizes[row] = text.value.size - (counts[row] - 1) * separator.size;
        }}
        missing += store_word(bits, row, row < rows, text.valid);
    }}
    add_nulls(nulls, missing);
}}
KERNEL write(int64_t rows, {taken}const int64_t* places, const int64_t* starts, int64_t* offsets, char* bytes) {{
{accessors(columns)}
    const Text separator = {c_text(separator)};
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        const Maybe<Text> text = {read};
        Bytes out{{bytes + starts[row]}};
        int64_t at = 0;
        for (int64_t part = places[row]; part < places[row + 1]; ++part) {{
            const Text found = part_from(text.value, separator, at);
            offsets[part] = out.at - bytes;
            out.put(found);
            at += found.size + separator.size;
        }}
    }}
}}
"""
