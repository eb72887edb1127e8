"""Regular expressions of rows: one kernel for the programs of each size that the patterns of a partition have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from gpuetl.engines.cudf.codegen.cuda_types import (
    accessors,
    buffers_of,
    c_bytes,
    c_text,
    column_parameters,
    stored_c_type,
)
from gpuetl.engines.cudf.codegen.device_headers import headers_text
from gpuetl.engines.cudf.codegen.functions.regex import groups_named, replacement_bytes
from gpuetl.engines.cudf.codegen.functions.regex_rows import ASKED, as_asked
from gpuetl.engines.cudf.codegen.regex_programs import (
    FIRST_SIZE,
    NONE_OF_ROW,
    REFUSED,
    CompiledPattern,
    Programs,
    compiled_pattern,
    distinct_strings,
    programs_of,
)
from gpuetl.engines.cudf.codegen.string_lists import MEASURED, TO_WRITE, WRITTEN, written_parts
from gpuetl.engines.cudf.columns.arrays import filled, pick, scan
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.columns.kind import Kind, column_of_kind
from gpuetl.engines.cudf.columns.validity import empty_values, text_offsets, with_valid
from gpuetl.engines.cudf.columns.vector import NO_DATA, Vector
from gpuetl.engines.cudf.machine import Array, KernelSource, Machine
from gpuetl.engines.no_result import NoResult
from gpuetl.expressions.ir import Call, Column, Literal
from gpuetl.expressions.regex import InvalidPattern, parse_replacement
from gpuetl.expressions.regex.row_patterns import WITH_GROUP, WITH_REPLACEMENT, RowPattern, refusal
from gpuetl.records import dataclass
from gpuetl.types.data_types import STRING
from gpuetl.types.nested_types import is_list

# A call: which of its arguments are columns, and what its constants say.


ALL_GROUPS, NAMED_GROUPS = 1 << 30, 9
"""The groups whose places a match keeps where a column says which is asked for, or names them in replacements."""
REFUSED_REPLACEMENT = 0xFF
"""Stands before a replacement that is malformed; others begin with the greatest group that they name."""


@dataclass(frozen=True, eq=False)
class RowCall:
    """A call whose pattern, group or replacement comes from rows; columns or kinds of columns are its arguments."""

    call: Call
    arguments: Sequence[Any]

    @property
    def function(self) -> str:
        """The name of the function in the language."""
        return ASKED[self.call.function.name]

    @property
    def third(self) -> Any:
        """The group or the replacement: a column, a constant, or None where there is none."""
        has_third = self.function in WITH_GROUP | WITH_REPLACEMENT and len(self.arguments) > 2
        return self.arguments[2] if has_third else None

    @property
    def replacement(self) -> str | None:
        """The replacement that is a constant."""
        is_constant = self.function in WITH_REPLACEMENT and isinstance(self.third, Literal)
        return self.third.value if is_constant else None

    @property
    def group(self) -> int:
        """The group that is a constant; 0 where a column has it."""
        return self.third.value if self.function in WITH_GROUP and isinstance(self.third, Literal) else 0

    @property
    def options(self) -> str:
        """The options."""
        place = 3 if self.function in WITH_GROUP | WITH_REPLACEMENT else 2
        return self.arguments[place].value if len(self.arguments) > place else ""

    @cached_property
    def keep(self) -> tuple[int, ...] | int:
        """The groups whose places a match keeps, or up to which they are kept."""
        if isinstance(self.third, Literal | None):
            return (self.group,) if self.group > 0 else tuple(self.named)
        return ALL_GROUPS if self.function in WITH_GROUP else NAMED_GROUPS

    @cached_property
    def named(self) -> list[int]:
        """The groups that a constant replacement names."""
        try:
            return [] if self.replacement is None else groups_named(parse_replacement(self.replacement))
        except InvalidPattern:
            return []

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that kernels read beside the programs: `a`, the text, and `g` or `r`, a group or replacement."""
        found = {"a": self.arguments[0], "g" if self.function in WITH_GROUP else "r": self.third}
        return {name: each for name, each in found.items() if not isinstance(each, Literal | None)}

    def asked(self, pattern: str) -> RowPattern:
        """Return what is looked for by a pattern, with what is constant."""
        return RowPattern(pattern, self.options, self.group, self.replacement)

    def compiled(self, pattern: str) -> CompiledPattern | None:
        """Return the program of a pattern."""
        return compiled_pattern(self.function, self.asked(pattern), self.keep)

    def slots(self, kept: int) -> int:
        """Return how many places a match has room for, given how many groups programs keep."""
        room = 0 if not kept else 1 << (kept - 1).bit_length()
        return 1 + 2 * (room if isinstance(self.keep, int) else len(self.keep))


def matched_rows(call: Call, arguments: Sequence[Vector | Literal], rows: int, machine: Machine) -> Vector:
    """Return what a call gives in each row.

    Raises
    ------
    NoResult
        For the first row whose pattern, group or replacement is refused.
    EvaluationError
        Where the programs of all patterns, or the elements of lists, take too much.
    """
    given = RowCall(call, arguments)
    is_null = any(each.value is None if isinstance(each, Literal) else each.nulls == rows for each in arguments)
    if not rows or is_null:
        return from_arrow(pa.nulls(rows, call.dtype), machine)
    programs, places = programs_of_rows(given, rows, machine)
    columns, greatest = given.columns, 0
    if "r" in columns:
        columns["r"], greatest = device_replacements(columns["r"], machine)
    launches = Launches(given, columns, programs, places, rows, machine)
    if min(programs.places) == REFUSED or greatest > programs.least_groups or "g" in columns:
        launches.check()
    if is_list(call.dtype):
        return launches.lists()
    return launches.texts() if call.dtype == STRING else launches.values()


def programs_of_rows(given: RowCall, rows: int, machine: Machine) -> tuple[Programs, Array]:
    """Return the programs of a partition's patterns, and where each row's begins (int32)."""
    pattern = given.arguments[1]
    if isinstance(pattern, Literal):
        programs = programs_of([given.compiled(pattern.value)])
        return programs, filled(rows, int(programs.places[0]), "int32", machine)
    found = distinct_strings(pattern, machine)
    programs = programs_of([given.compiled(each) for each in found.strings.values()])
    by_number = np.full(found.limit, NONE_OF_ROW, np.int32)
    by_number[list(found.strings)] = programs.places
    return programs, pick(machine.arrays.asarray(by_number), found.numbers, machine, missing=NONE_OF_ROW)


def device_replacements(column: Vector, machine: Machine) -> tuple[Vector, int]:
    """Return replacements as regex.cuh reads them, and the greatest group that one names; one may be malformed."""
    found = distinct_strings(column, machine)
    encoded = dict[int, bytes]()
    for number, text in found.strings.items():
        try:
            parts = parse_replacement(text)
        except InvalidPattern:
            encoded[number] = bytes([REFUSED_REPLACEMENT])
        else:
            encoded[number] = bytes([max(groups_named(parts), default=0)]) + replacement_bytes(parts, range(10))
    every = [encoded.get(number, b"") for number in range(found.limit)]
    dictionary = from_arrow(pa.array(every, pa.binary()), machine)
    strings = Vector(STRING, dictionary.rows, dictionary.data, offsets=dictionary.offsets)
    vector = Vector(STRING, column.rows, found.numbers, column.valid, column.nulls, dictionary=strings)
    return vector, max(each[0] for each in encoded.values())


def row_columns(given: RowCall) -> dict[str, Any]:
    """Return the columns that kernels read, where replacements are coded."""
    return {name: column_of_kind(Kind.coded(0)) if name == "r" else each for name, each in given.columns.items()}


# The text of kernels: each takes the rows whose program has its size.


VALUES = {
    "regexp_like": "regexp_found(a.value, program)",
    "regexp_full_match": "regexp_found(a.value, program)",
    "regexp_count": "regexp_count(a.value, program)",
}
LISTS = {
    "regexp_extract_all": "regex_matches(a.value, program{group})",
    "regexp_split_to_array": "regex_parts(a.value, program)",
}
WRITERS = {
    "regexp_extract": "const Maybe<String> part = regexp_extract(a.value, program{group}); if (!part.valid) continue; "
    "out.put(part.value);",
    "regexp_replace": "regexp_replace(out, a.value, program, {replacement});",
}


def row_source(given: RowCall, columns: Mapping[str, Any], size: int, slots: int) -> str:
    """Return the kernels for programs of a size: `check`, and `compute`, or `measure` and `write`."""
    parameters = "".join(f"{each}, " for each in column_parameters(columns))
    taken = f"int64_t rows, {parameters}const int32_t* places, const char32_t* words"
    text = given.arguments[0]
    reads = {name: f"c{place}[row]" for place, name in enumerate(columns)}
    reads |= {"a": f"some({c_text(text.value)})"} if isinstance(text, Literal) else {}
    read = "".join(f"const auto {name} = {code}; " for name, code in reads.items())
    read += f"if (!({' && '.join(f'{name}.valid' for name in reads)})) continue;"
    row = f"""    typedef RowProgram<{size}, {slots}> Program;
{accessors(columns)}
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows || places[row] < 0) continue;
        const Program program = Program::at(words, places[row]);
        if (!program.fits()) continue;
        {read}"""
    group = ", int(g.value)" if "g" in columns else ""
    refused = "g.value < 0 || g.value > groups" if "g" in columns else "false"
    refused = (
        f"uint8_t(r.value[0]) == {REFUSED_REPLACEMENT} || uint8_t(r.value[0]) > groups" if "r" in columns else refused
    )
    return f"""{headers_text(["rows.cuh", "strings.cuh", "words.cuh", "reduce.cuh", "regex.cuh"])}
KERNEL check({taken}, uint64_t* faults) {{
{accessors(columns)}
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows || places[row] == {NONE_OF_ROW}) continue;
        {read}
        bool refused = places[row] == {REFUSED};
        if (!refused) {{
            const int64_t groups = RowProgram<{size}, {slots}>::at(words, places[row]).groups();
            refused = {refused};
        }}
        if (refused) Fault{{faults, row}}(NO_SUCH_FORM);
    }}
}}
{kernels_of(given, taken, row, group)}"""


def kernels_of(given: RowCall, taken: str, row: str, group: str) -> str:
    """Return the kernels that compute a function's results."""
    if given.function in VALUES:
        return f"""KERNEL compute({taken}, uint8_t* found, {stored_c_type(given.call.dtype)}* values) {{
{row}
        values[row] = {VALUES[given.function]};
        found[row] = 1;
    }}
}}
"""
    if given.function in LISTS:
        parts = LISTS[given.function].format(group=group)
        return f"""KERNEL measure({taken}, uint8_t* found, int64_t* counts, int64_t* sizes, uint64_t* nulls) {{
    Tally missing_parts;
{row}
        auto parts = {parts};
        {MEASURED}
        found[row] = 1;
    }}
    missing_parts.store(nulls);
}}
KERNEL write({taken}, {TO_WRITE}) {{
{row}
        auto parts = {parts};
        {WRITTEN}
    }}
}}
"""
    put = "r.value.cut(1, r.value.size)" if "r" in given.columns else constant_replacement(given)
    written = WRITERS[given.function].format(group=group, replacement=put)
    return f"""KERNEL measure({taken}, uint8_t* found, int64_t* sizes) {{
{row}
        Measure out;
        {written}
        sizes[row] = out.size;
        found[row] = 1;
    }}
}}
KERNEL write({taken}, const int64_t* starts, char* bytes) {{
{row}
        Bytes out{{bytes + starts[row]}};
        {written}
    }}
}}
"""


def constant_replacement(given: RowCall) -> str:
    """Return the text of a constant replacement; one that is malformed is never put."""
    try:
        return c_bytes(replacement_bytes(parse_replacement(given.replacement or ""), [0, *given.named]))
    except InvalidPattern:
        return c_bytes(b"")


def row_programs(call: Call, arguments: Sequence[Any]) -> list[KernelSource]:
    """List the program for patterns of the smallest size, for columns of these kinds."""
    given = RowCall(call, arguments)
    if any(isinstance(each, Literal) and each.value is None for each in arguments):
        return []
    kept = 1 if isinstance(given.keep, int) and given.function in WITH_GROUP else 0
    return [KernelSource(row_source(given, row_columns(given), FIRST_SIZE, given.slots(kept)))]


# Launches: rows without a program, or with something null, are left out by all kernels.


@dataclass(frozen=True, eq=False)
class Launches:
    """The kernels of a call over the rows of a partition."""

    given: RowCall
    columns: Mapping[str, Vector]
    programs: Programs
    places: Array
    rows: int
    machine: Machine

    @cached_property
    def passed(self) -> list[Any]:
        """The arguments that all kernels take."""
        return [self.rows, *buffers_of(self.columns), self.places, self.machine.arrays.asarray(self.programs.words)]

    def launch(self, entry: str, size: int, more: Sequence[Any]) -> None:
        """Run a kernel for the programs of a size."""
        slots = self.given.slots(self.programs.kept)
        module = self.machine.compiled(row_source(self.given, self.columns, size, slots))
        self.machine.launch(module, entry, self.rows, [*self.passed, *more])

    def launch_all(self, entry: str, more: Sequence[Any]) -> None:
        """Run a kernel for the programs of each size."""
        for size in self.programs.sizes:
            self.launch(entry, size, more)

    def check(self) -> None:
        """Raise `NoResult` for the first row whose pattern, group or replacement is refused."""
        from gpuetl.engines.cudf.codegen.evaluate import row_and_reason

        faults = self.machine.arrays.zeros(1, "uint64")
        self.launch("check", min(self.programs.sizes, default=FIRST_SIZE), [faults])
        if fault := int(faults[0]):
            raise self.refused(row_and_reason(fault)[0])

    def refused(self, row: int) -> NoResult:
        """Return the error of a row."""
        from gpuetl.engines.cudf.codegen.evaluate import evaluate, no_result_of, value_of
        from gpuetl.engines.cudf.columns.gather import take

        call = self.given.call
        pairs = zip(call.args, self.given.arguments, strict=True)
        columns = {arg.name: each for arg, each in pairs if isinstance(arg, Column)}
        there = take(columns, filled(1, row, "int64", self.machine), self.machine, missing=False)
        values = [value_of(arg, there, self.machine, evaluate).as_py() for arg in call.args[1:]]
        why = refusal(self.given.function, RowPattern.of(self.given.function, values))
        return no_result_of(as_asked(call), row, why, columns, self.machine, evaluate)

    def values(self) -> Vector:
        """Return a column of fixed width."""
        dtype = self.given.call.dtype
        found, values = self.machine.arrays.zeros(self.rows, "uint8"), empty_values(dtype, self.rows, self.machine)
        self.launch_all("compute", [found, values])
        return with_valid(Vector(dtype, self.rows, values), found, self.machine)

    def texts(self) -> Vector:
        """Return a column of strings: first their sizes, then their bytes."""
        from gpuetl.engines.cudf.codegen.evaluate import check_sizes

        arrays = self.machine.arrays
        found, sizes = arrays.zeros(self.rows, "uint8"), arrays.zeros(self.rows + 1, "int64")
        self.launch_all("measure", [found, sizes[1:]])
        starts = scan(sizes, self.machine)
        total = int(starts[-1])
        call = as_asked(self.given.call)
        pairs = zip(self.given.call.args, self.given.arguments, strict=True)
        check_sizes(call, sizes, total, {a.name: each for a, each in pairs if isinstance(a, Column)}, self.machine)
        data = arrays.empty(total, "uint8")
        self.launch_all("write", [starts, data])
        column = Vector(STRING, self.rows, data, offsets=text_offsets(starts, total, self.machine))
        return with_valid(column, found, self.machine)

    def lists(self) -> Vector:
        """Return a column of lists of strings: first their sizes, then their strings."""
        arrays, rows, machine = self.machine.arrays, self.rows, self.machine
        found, nulls = arrays.zeros(rows, "uint8"), arrays.zeros(1, "uint64")
        counts, sizes = arrays.zeros(rows + 1, "int64"), arrays.zeros(rows + 1, "int64")
        self.launch_all("measure", [found, counts[1:], sizes[1:], nulls])
        lists, elements = written_parts(
            counts, sizes, bool(nulls[0]), lambda more: self.launch_all("write", more), machine
        )
        column = Vector(self.given.call.dtype, rows, NO_DATA, offsets=lists, elements=elements)
        return with_valid(column, found, machine)
