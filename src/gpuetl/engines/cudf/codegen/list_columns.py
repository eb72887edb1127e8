"""Columns of lists: lists of strings made of texts, and a list, a map or a struct chosen for each row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from gpuetl.engines.cudf.codegen.cuda_types import accessors, buffers_of, c_text, column_parameters
from gpuetl.engines.cudf.codegen.device_headers import headers_text
from gpuetl.engines.cudf.codegen.functions import HEADERS, json, regex
from gpuetl.engines.cudf.codegen.functions.paths import separators
from gpuetl.engines.cudf.codegen.string_lists import MEASURED, TO_WRITE, WRITTEN, written_parts
from gpuetl.engines.cudf.columns.arrays import filled
from gpuetl.engines.cudf.columns.concat import stacked
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.columns.validity import empty_bits, with_nulls
from gpuetl.engines.cudf.columns.vector import NO_DATA, Vector
from gpuetl.engines.cudf.machine import Machine
from gpuetl.expressions.ir import Call, Column, Expr, Literal
from gpuetl.types.data_types import INT64, STRING
from gpuetl.types.nested_types import is_nested

# Lists of strings made of a text: one kernel counts the parts, one writes them.


TEXT_PARTS: dict[Expr, str] = {
    Literal("elements", STRING): "Elements",
    Literal("values", STRING): "MapParts<false>",
    Literal("keys", STRING): "MapParts<true>",
}
"""What is listed of the text of a list or a map."""
PARTS: dict[str, Callable[[Call, Sequence[str]], str]] = {
    "split": lambda call, texts: f"SplitParts{{{', '.join(texts)}}}",
    "json_parts": lambda call, texts: json.matches(call, texts[0]),
    "text_parts": lambda call, texts: f"nested_text::{TEXT_PARTS[call.args[1]]}({texts[0]})",
    "parse_path": lambda call, texts: f"PathParts({texts[0]}, {separators(call)})",
    "regexp_extract_all": lambda call, texts: regex.all_matches(call, texts[0]),
    "regexp_split_to_array": lambda call, texts: regex.parts_between(call, texts[0]),
}
"""The C++ object whose `next` gives each part as a `Maybe`, given the code of the texts."""
TEXTS = {"split": 2}
"""How many arguments may be columns, where it is not the first alone."""


def listed_strings(call: Call, arguments: Sequence[Vector | Literal], rows: int, machine: Machine) -> Vector:
    """Return the lists of strings that a function makes of each row's texts.

    Raises
    ------
    EvaluationError
        Where there are 2^31 strings or more.
    """
    texts = dict(zip("ab", arguments[: TEXTS.get(call.function.name, 1)], strict=False))
    columns = {name: each for name, each in texts.items() if isinstance(each, Vector)}
    module = machine.compiled(source_of(call, columns, texts))
    arrays, buffers = machine.arrays, buffers_of(columns)
    counts, sizes = arrays.zeros(rows + 1, "int64"), arrays.zeros(rows + 1, "int64")
    nulls, valid = arrays.zeros(2, "uint64"), empty_bits(rows, machine)
    machine.launch(module, "measure", rows, [rows, *buffers, nulls, valid, counts[1:], sizes[1:]])
    missing, missing_parts = nulls.tolist()

    def write(more: Sequence[Any]) -> None:
        machine.launch(module, "write", rows, [rows, *buffers, *more])

    lists, elements = written_parts(counts, sizes, bool(missing_parts), write, machine)
    return with_nulls(Vector(pa.list_(STRING), rows, NO_DATA, valid, 0, lists, elements), int(missing))


def source_of(call: Call, columns: Mapping[str, Any], texts: Mapping[str, Any]) -> str:
    """Return the kernels `measure` and `write`; each text of a row is that of a column, or a constant."""
    passed = "".join(f"{parameter}, " for parameter in column_parameters(columns))
    read = "".join(f"{name} = {row_text(columns, name, text)}, " for name, text in texts.items()).removesuffix(", ")
    made = PARTS[call.function.name](call, [f"{name}.value" for name in texts])
    valid = " && ".join(f"{name}.valid" for name in texts)
    return f"""{headers_text(["rows.cuh", "strings.cuh", "words.cuh", "reduce.cuh", HEADERS[call.function.name]])}
KERNEL measure(int64_t rows, {passed}uint64_t* nulls, uint32_t* bits, int64_t* counts, int64_t* sizes) {{
{accessors(columns)}
    uint32_t missing = 0;
    Tally missing_parts;
    FOR_EACH_ROW(row, rows) {{
        bool valid = false;
        if (row < rows) {{
            const Maybe<String> {read};
            valid = {valid};
            if (valid) {{
                auto parts = {made};
                {MEASURED}
            }}
        }}
        missing += store_word(bits, row, row < rows, valid);
    }}
    add_nulls(nulls, missing);
    missing_parts.store(nulls + 1);
}}
KERNEL write(int64_t rows, {passed}{TO_WRITE}) {{
{accessors(columns)}
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        const Maybe<String> {read};
        if (!({valid})) continue;
        auto parts = {made};
        {WRITTEN}
    }}
}}
"""


def row_text(columns: Mapping[str, Any], name: str, argument: Any) -> str:
    """Return the code of a text in a row: that of a column, or a constant."""
    if not isinstance(argument, Literal):
        return f"c{list(columns).index(name)}[row]"
    return "none<String>()" if argument.value is None else f"some({c_text(argument.value)})"


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
