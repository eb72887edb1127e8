"""Columns of lists: strings cut into lists, and a list, a map or a struct chosen for each row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from gpuetl.engines.cudf.codegen.cuda_types import accessors, buffers_of, c_text, column_parameters
from gpuetl.engines.cudf.codegen.device_headers import headers_text
from gpuetl.engines.cudf.columns.arrays import filled, scan
from gpuetl.engines.cudf.columns.concat import stacked
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.columns.validity import empty_bits, list_offsets, text_offsets, with_nulls
from gpuetl.engines.cudf.columns.vector import NO_DATA, Vector
from gpuetl.engines.cudf.machine import Machine
from gpuetl.expressions.ir import Call, Column, Expr, Literal
from gpuetl.types.data_types import INT64, STRING
from gpuetl.types.nested_types import is_nested

# Strings cut into lists: one kernel counts the parts, one writes them.


def split_strings(arguments: Sequence[Vector | Literal], rows: int, machine: Machine) -> Vector:
    """Return the lists of the strings between separators.

    Raises
    ------
    EvaluationError
        Where there are 2^31 strings or more.
    """
    names = ("text", "separator")
    columns = {name: each for name, each in zip(names, arguments, strict=True) if isinstance(each, Vector)}
    module = machine.compiled(
        source_of(columns, *(row_text(columns, *each) for each in zip(names, arguments, strict=True)))
    )
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
    return with_nulls(Vector(pa.list_(STRING), rows, NO_DATA, valid, 0, lists, elements), missing)


def row_text(columns: Mapping[str, Vector], name: str, argument: Vector | Literal) -> str:
    """Return the code of a text in a row: that of a column, or a constant."""
    if isinstance(argument, Vector):
        return f"c{list(columns).index(name)}[row]"
    return "none<String>()" if argument.value is None else f"some({c_text(argument.value)})"


def source_of(columns: Mapping[str, Vector], text: str, separator: str) -> str:
    """Return the kernels `measure` and `write`, given the code of a row's text and separator."""
    passed = "".join(f"{parameter}, " for parameter in column_parameters(columns))
    return f"""{headers_text(["rows.cuh", "strings.cuh", "words.cuh"])}
KERNEL measure(int64_t rows, {passed}uint64_t* nulls, uint32_t* bits, int64_t* counts, int64_t* sizes) {{
{accessors(columns)}
    uint32_t missing = 0;
    FOR_EACH_ROW(row, rows) {{
        const Maybe<String> text = row < rows ? {text} : none<String>();
        const Maybe<String> separator = row < rows ? {separator} : none<String>();
        const bool valid = text.valid && separator.valid;
        if (valid) {{
            counts[row] = parts_of(text.value, separator.value);
            sizes[row] = text.value.size - (counts[row] - 1) * separator.value.size;
        }}
        missing += store_word(bits, row, row < rows, valid);
    }}
    add_nulls(nulls, missing);
}}
KERNEL write(int64_t rows, {passed}const int64_t* places, const int64_t* starts, int64_t* offsets, char* bytes) {{
{accessors(columns)}
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        const Maybe<String> text = {text}, separator = {separator};
        Bytes out{{bytes + starts[row]}};
        int64_t at = 0;
        for (int64_t part = places[row]; part < places[row + 1]; ++part) {{
            const String found = part_from(text.value, separator.value, at);
            offsets[part] = out.at - bytes;
            out.put(found);
            at += found.size + separator.value.size;
        }}
    }}
}}
"""


# Columns of lists: CASE and coalesce choose a list for each row, and constants are null.


Compute = Callable[[Mapping[str, Expr], Mapping[str, Vector], int, Machine], Mapping[str, Vector]]
NO_LIST = Literal(-1, INT64)


def list_column(
    expr: Expr, input_columns: Mapping[str, Vector], rows: int, machine: Machine, compute: Compute
) -> Vector:
    """Return a column of lists: of null, or of CASE or coalesce over columns and nulls."""
    lists = listed_columns(expr)
    if not rows or not lists:
        return from_arrow(pa.nulls(rows, expr.dtype), machine)
    assert isinstance(expr, Call)
    if expr.function.name == "case":
        choice = compute({"": numbered(expr, lists)}, input_columns, rows, machine)[""].data
    else:
        choice = first_valid(expr, lists, input_columns, rows, machine)
    below = stacked([input_columns[column.name] for column in lists], machine)
    places = machine.arrays.empty(rows, "int64")
    machine.launch(machine.closed("lists"), "place_lists", rows, [rows, choice, places])
    return take({"": below}, places, machine)[""]


def listed_columns(expr: Expr) -> list[Column]:
    """Return the columns of lists among which CASE or coalesce chooses, each once."""
    operands = expr.args if isinstance(expr, Call) else ()
    return list(dict.fromkeys(arg for arg in operands if isinstance(arg, Column) and is_nested(arg.dtype)))


def numbered(case: Call, lists: Sequence[Column]) -> Call:
    """Return CASE with the number of each list in its place, -1 for null."""
    args = [_number(arg, lists) if is_nested(arg.dtype) else arg for arg in case.args]
    return replace(case, args=(*args, *[NO_LIST] * (len(args) % 2 == 0)), dtype=INT64)


def _number(operand: Expr, lists: Sequence[Column]) -> Literal:
    return Literal(lists.index(operand), INT64) if isinstance(operand, Column) else NO_LIST


def first_valid(
    expr: Call, lists: Sequence[Column], input_columns: Mapping[str, Vector], rows: int, machine: Machine
) -> Any:
    """Return the number of the first of coalesce's lists that is not null in the row, -1 where there is none."""
    choice = filled(rows, -1, "int64", machine)
    for operand in reversed(expr.args):
        if isinstance(operand, Column):
            words = input_columns[operand.name].valid
            arguments = [rows, lists.index(operand), 0 if words is None else words, choice]
            machine.launch(machine.closed("lists"), "choose_list", rows, arguments)
    return choice
