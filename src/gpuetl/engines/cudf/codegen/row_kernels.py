"""The text of a kernel that computes columns row by row, and what has to be a column before it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cache, lru_cache
from typing import TypeGuard

from gpuetl.engines.cudf.codegen.casts import cast_headers
from gpuetl.engines.cudf.codegen.clocks import zone_identifier, zone_of
from gpuetl.engines.cudf.codegen.cuda_types import ColumnKinds, stored_c_type
from gpuetl.engines.cudf.codegen.device_headers import headers_text
from gpuetl.engines.cudf.codegen.emit import CAN_BE, MOST_AHEAD, Constant, Constants, Emitter, writer_of
from gpuetl.engines.cudf.codegen.functions import DEVICE_FUNCTIONS, HEADERS, Library, logic
from gpuetl.engines.cudf.codegen.functions.regex_rows import as_asked, by_row, is_of_rows
from gpuetl.engines.cudf.columns.vector import has_bytes
from gpuetl.engines.zones import zone_clock
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Cast, Column, Expr, Lambda, Literal, can_fail, children, transform, walk
from gpuetl.expressions.nested_casts import without_nested_cast
from gpuetl.records import dataclass
from gpuetl.types.calendar_intervals import CALENDAR
from gpuetl.types.data_types import BOOL, STRING, DataType
from gpuetl.types.nested_types import is_nested
from gpuetl.types.time_zones import fixed_offset

# The tables of zones, in the text of the kernels whose calls and casts read their clocks.


CLOCKS = ("calendar.cuh", "timestamps.cuh", "formats.cuh", "zones.cuh")
NO_CLOCK = ("convert_zone", "epoch", "epoch_ms", "epoch_us", "epoch_ns")


def zones_read(exprs: Collection[Expr]) -> set[str]:
    """Return the names of the zones whose clocks the expressions read."""
    return {zone for expr in exprs for node in walk(expr) if reads_clock(node) for zone in zones_beside(node)}


def reads_clock(node: Expr) -> bool:
    """Return whether a call or cast looks at what a clock shows."""
    if isinstance(node, Cast):
        return bool(node.dtype == STRING)
    if not isinstance(node, Call) or node.function.name in NO_CLOCK:
        return False
    if node.function.name == "time_bucket" and node.args[0].dtype != CALENDAR:
        return False
    return HEADERS.get(node.function.name) in CLOCKS


def zones_beside(node: Expr) -> Iterator[str]:
    """Yield the zones of a node's operands, and one that is itself an operand."""
    for operand in children(node):
        if zone := zone_of(operand.dtype):
            yield zone
    if isinstance(node, Call) and node.function.name in ("at_time_zone", "assume_zone"):
        yield node.args[1].value  # type: ignore[union-attr]  # a constant


@cache
def zone_table(name: str) -> str:
    """Return the table of a zone and the function that gives it, as C++; nothing of a zone that is an offset."""
    if fixed_offset(name) is not None:
        return ""
    clock, table = zone_clock(name), zone_identifier(name)
    changes = ", ".join(f"{second}LL" for second in clock.transitions) or "0"
    size, repeats = len(clock.transitions), str(clock.repeats).lower()
    return f"""
TABLE int64_t {table}_changes[] = {{{changes}}};
TABLE int32_t {table}_offsets[] = {{{", ".join(map(str, clock.offsets))}}};
DEVICE Zone {table}() {{ return {{{table}_changes, {table}_offsets, {size}, {repeats}}}; }}
"""


# The text of a kernel that computes columns row by row, and of one that writes a text.


MOST_KEPT = 1024
"""Strings of kernels, by what they compute and read: to write one anew takes longer than to launch it."""


@dataclass(frozen=True)
class RowKernel:
    """A kernel's text, and what a launch has to know of it.

    Parameters
    ----------
    source
        The text.
    sites
        The expressions that may report rows without a result, in their order.
    null_with
        Of each output the columns whose nulls make it null, as in `Value`; an output that names none is never null.
    constants
        Arguments.
    """

    source: str
    sites: Sequence[Expr]
    null_with: Sequence[frozenset[str]]
    constants: list[Constant]

    @property
    def reports(self) -> bool:
        """Whether the kernel takes `faults` and `nulls`."""
        return bool(self.sites) or any(self.null_with)


@lru_cache(MOST_KEPT)
def fixed_kernel(columns: ColumnKinds, outputs: tuple[Expr, ...]) -> RowKernel:
    """Return the kernel `compute` that computes columns of fixed width.

    Its parameters are the rows, `faults` and `nulls` (a count for each output that names columns in `null_with`) if
    there are any, the constants, the columns' buffers, and for each output the values, and validity words if it names
    columns.  The words are 0 where none of the columns has nulls: the output has none either, and nothing is counted.
    """
    constants = Constants()
    emitter = Emitter(columns.names, constants)
    rounds: list[str] = []
    stores: list[str] = []
    sums: list[str] = []
    declared, results, null_with = [], [], []
    for place, expr in enumerate(outputs):
        if len(emitter.loads) >= MOST_AHEAD:
            rounds.append(emitter.round())
        value, stored = emitter.value(expr), stored_c_type(expr.dtype)
        null_with.append(value.null_with)
        results.append(f"{stored}* r{place}")
        if not value.null_with:
            emitter.line(f"r{place}[row] = {stored}({value.text});")
            continue
        results.append(f"uint32_t* s{place}")
        declared.append(f"bool g{place} = false;")
        emitter.line(f"g{place} = {value.valid};")
        emitter.line(f"r{place}[row] = g{place} ? {stored}({value.text}) : {stored}{{}};")
        sums.append(f"add_nulls(nulls + {len(sums)}, missing[{len(sums)}]);")
        stores.append(f"if (s{place}) missing[{len(stores)}] += store_word(s{place}, row, row < rows, g{place});")
    rounds.append(emitter.round())
    reported = ["uint64_t* faults", "uint64_t* nulls"] if emitter.sites or stores else []
    parameters = ["int64_t rows", *reported, *constants.parameters, *columns.parameters, *results]
    body = "\n".join(["    " + text for text in declared] + ["        if (row < rows) {"] + rounds + ["        }"])
    source = f"""{headers(outputs, "words.cuh")}
KERNEL compute({", ".join(parameters)}) {{
{columns.accessors}
    uint32_t missing[{max(1, len(stores))}] = {{}};
    FOR_EACH_ROW(row, rows) {{
    {body}
        {" ".join(stores)}
    }}
    {" ".join(sums)}
}}
"""
    return RowKernel(source, emitter.sites, null_with, constants.values)


@lru_cache(MOST_KEPT)
def text_kernel(columns: ColumnKinds, output: Expr, offset: str = "int32") -> RowKernel:
    """Return the kernels `measure`, which gives each text's size and validity, and `write`, which gives its bytes.

    Their parameters are the rows, `faults`, `nulls` (a count, and the bytes of all strings), the constants and the
    columns' buffers, then sizes after a first 0 and validity words, or offsets of the type `offset` and bytes.
    """
    constants = Constants(strings=True)
    emitter = Emitter(columns.names, constants)
    emitter.text(output, "valid")
    counters = ["uint64_t* faults", "uint64_t* nulls"]
    parameters = ", ".join(["int64_t rows", *counters, *constants.parameters, *columns.parameters])
    names = ", ".join([*constants.names, *(f"c{place}" for place in range(len(columns.names)))])
    types = ", ".join(f"class C{place}" for place in range(len(columns.names)))
    read = [f"C{place} c{place}" for place in range(len(columns.names))]
    arguments_text = "".join(f", {each}" for each in [*constants.parameters, *read])
    body = emitter.round()
    source = f"""{headers([output], "staging.cuh", "words.cuh", "reduce.cuh")}
template <class OUT{types and ", " + types}>
DEVICE bool write_row(OUT& out, int64_t row, uint64_t* faults{arguments_text}) {{
    bool valid = false;
{body}
    return valid;
}}
KERNEL measure({parameters}, int64_t* sizes, uint32_t* bits) {{
{columns.accessors}
    uint32_t missing = 0;
    Tally bytes;
    FOR_EACH_ROW(row, rows) {{
        bool valid = false;
        if (row < rows) {{
            Measure out;
            valid = write_row(out, row, faults{names and ", " + names});
            sizes[row + 1] = valid ? out.size : 0;
            bytes.count += sizes[row + 1];
        }}
        if (row == 0) sizes[0] = 0;
        missing += store_word(bits, row, row < rows, valid);
    }}
    add_nulls(nulls, missing);
    bytes.store(nulls + 1);
}}
KERNEL write({parameters}, const {offset}_t* offsets, char* bytes) {{
{columns.accessors}
    write_strings(rows, offsets, bytes, [&](int64_t row, char* at) {{
        Bytes out{{at}};
        write_row(out, row, faults{names and ", " + names});
    }});
}}
"""
    return RowKernel(source, emitter.sites, [CAN_BE], constants.values)


def headers(exprs: Collection[Expr], *more: str) -> str:
    """Return the device code that the expressions need, each header once, more of it, and the tables of zones."""
    zones = sorted(zones_read(exprs))
    names = {"rows.cuh", *more, *["zones.cuh"] * bool(zones)}
    for expr in exprs:
        for node in walk(expr):
            if isinstance(node, Call):
                names.add(HEADERS.get(node.function.name, ""))
                names |= {logic.DECIMAL_COMPARISONS} if logic.has_scales(node) else set()
            elif isinstance(node, Cast):
                names.update(cast_headers(node))
    text = headers_text(["rows.cuh", *sorted(names - {"", "rows.cuh"})])
    return text + "".join(zone_table(name) for name in zones)


# What has to be a column before a kernel can read it: strings that are written, and what libcudf computes.


TRUE, FALSE = Literal(True, BOOL), Literal(False, BOOL)


@dataclass(frozen=True)
class PreparedColumn(Column):
    """A column that is computed first, and the expression whose values it holds."""

    source: Expr


def as_written(expr: Expr) -> Expr:
    """Return the expression with its sources in place of prepared columns."""
    sources = transform(expr, lambda node: node.source if isinstance(node, PreparedColumn) else node)
    return transform(sources, as_asked)


@dataclass
class Preparation:
    """Columns to compute first, in order: their names, which begin with a colon, and their expressions."""

    columns: dict[str, Expr] = field(default_factory=dict)
    prepared_columns: dict[Expr, Column] = field(default_factory=dict)

    def root(self, expr: Expr, guard: Expr = TRUE) -> Expr:
        """Return the expression of a whole column: it may be one that is written, or computed by libcudf."""
        if chooses(expr) and (has_bytes(expr.dtype) or is_nested(expr.dtype)):
            return self.chosen(expr, guard, self.list_operand if is_nested(expr.dtype) else self.text_operand)
        if writer_of(expr) is not None or is_library(expr):
            return self.operands(expr, guard)
        return self.part(expr, guard)

    def part(self, expr: Expr, guard: Expr = TRUE) -> Expr:
        """Return what a kernel can compute for a row where `guard` is true."""
        if writer_of(expr) is not None or is_whole(expr):
            return self.column(expr, guard)
        if chooses(expr):
            return self.chosen(expr, guard, self.part)
        return self.operands(expr, guard)

    def operands(self, expr: Expr, guard: Expr) -> Expr:
        """Return the expression with its operands prepared; those of libcudf's functions are columns or constants."""
        if isinstance(expr, Cast):
            return replace(expr, operand=self.part(expr.operand, guard))
        if not isinstance(expr, Call):
            return expr
        if guard != TRUE and any(isinstance(arg, Lambda) for arg in expr.args) and can_fail(expr):
            lists = case(guard, expr.args[0], dtype=expr.args[0].dtype)  # elements of other rows are not computed
            return replace(expr, args=(self.column(lists, TRUE), *(self.column(arg, guard) for arg in expr.args[1:])))
        if guard != TRUE and is_of_rows(expr):
            return self.of_rows(expr, guard)
        if guard != TRUE and is_nested(expr.dtype) and writer_of(expr) and expr.function.fails_for(expr.args):
            first = case(guard, expr.args[0], dtype=expr.args[0].dtype)  # lists of other rows are null
            known = self.column(first, TRUE) if is_nested(first.dtype) else self.part(first)
            return replace(expr, args=(known, *(self.part(arg, guard) for arg in expr.args[1:])))
        part = self.column if is_library(expr) else self.part
        return replace(expr, args=tuple(part(arg, guard) for arg in expr.args))

    def of_rows(self, expr: Call, guard: Expr) -> Expr:
        """Return a call that takes patterns of rows, which have none where `guard` is not true: these are not read."""
        pattern = expr.args[1]
        column = self.column(case(guard, pattern, dtype=pattern.dtype), TRUE)
        assert isinstance(column, Column)
        source = PreparedColumn(column.name, pattern.dtype, pattern)
        others = [self.column(arg, guard) for arg in expr.args]
        return replace(expr, args=(others[0], source, *others[2:]))

    def text_operand(self, expr: Expr, guard: Expr) -> Expr:
        """Return an operand of CASE or coalesce over strings, which writes its own, or is a column."""
        return self.column(expr, guard) if is_whole(expr) else self.root(expr, guard)

    def list_operand(self, expr: Expr, guard: Expr) -> Expr:
        """Return an operand of CASE or coalesce over nested values."""
        return self.column(expr, guard) if is_nested(expr.dtype) else self.part(expr, guard)

    def chosen(self, expr: Call, guard: Expr, prepare: Callable[[Expr, Expr], Expr]) -> Expr:
        """Return CASE or coalesce with each operand prepared for the rows that reach it."""
        args = [prepare(arg, both(guard, reached)) for arg, reached in zip(expr.args, reached_where(expr), strict=True)]
        return replace(expr, args=tuple(args))

    def column(self, expr: Expr, guard: Expr) -> Expr:
        """Return the column that holds the expression's values, at least where `guard` is true."""
        if isinstance(expr, Column | Literal | Lambda):
            return expr
        guarded = expr if guard == TRUE or not can_fail(expr) else case(guard, expr, dtype=expr.dtype)
        if guarded not in self.prepared_columns:
            prepared = self.root(expr, guard) if is_whole(expr) else self.root(guarded)
            name = f":{len(self.columns)}"
            self.columns[name] = prepared
            self.prepared_columns[guarded] = PreparedColumn(name, expr.dtype, expr)
        return self.prepared_columns[guarded]


def is_library(expr: Expr) -> bool:
    """Return whether libcudf computes the function."""
    return isinstance(expr, Call) and isinstance(DEVICE_FUNCTIONS.get(expr.function.name), Library)


def is_whole(expr: Expr) -> bool:
    """Return whether the expression is computed for whole columns: by libcudf, or as lists are."""
    return is_library(expr) or (isinstance(expr, Call) and is_nested(expr.dtype))


def chooses(expr: Expr) -> TypeGuard[Call]:
    """Return whether the expression is CASE or coalesce."""
    return isinstance(expr, Call) and expr.function.name in ("case", "coalesce")


def flattened(expr: Expr) -> Expr:
    """Return an expression without casts to nested types, whose maps are lists: see `in_flat_parts`."""
    from gpuetl.engines.cudf.codegen.nested_columns import in_flat_parts

    return transform(transform(transform(expr, without_nested_cast), in_flat_parts), by_row)


def case(*args: Expr, dtype: DataType) -> Expr:
    """Return CASE of conditions and branches in turn."""
    return Call(FUNCTIONS["scalar", "case"], args, dtype)


def both(first: Expr, second: Expr) -> Expr:
    """Return a condition that looks at `second` only where `first` is true."""
    if TRUE in (first, second):
        return second if first == TRUE else first
    return case(first, second, FALSE, dtype=BOOL)


def reached_where(expr: Call) -> Iterator[Expr]:
    """Yield for each operand of CASE and coalesce the condition of the rows that compute it."""
    if expr.function.name == "coalesce":
        yield TRUE
        for place in range(1, len(expr.args)):
            before = replace(expr, args=expr.args[:place]) if place > 1 else expr.args[0]
            yield Call(FUNCTIONS["scalar", "is_null"], (before,), BOOL)
        return
    passed: list[Expr] = []
    for place in range(0, len(expr.args) - 1, 2):
        yield case(*passed, TRUE, dtype=BOOL) if passed else TRUE
        yield case(*passed, expr.args[place], TRUE, FALSE, dtype=BOOL)
        passed += [expr.args[place], FALSE]
    if len(expr.args) % 2:
        yield case(*passed, TRUE, dtype=BOOL)


def prepared(exprs: Mapping[str, Expr]) -> tuple[Mapping[str, Expr], Mapping[str, Expr]]:
    """Return the columns to compute first, and the expressions over them and the frame's columns."""
    return _prepared(tuple(exprs.items()))


@lru_cache(MOST_KEPT)
def _prepared(exprs: tuple[tuple[str, Expr], ...]) -> tuple[Mapping[str, Expr], Mapping[str, Expr]]:
    preparation = Preparation()
    outputs = {name: preparation.root(flattened(expr)) for name, expr in exprs}
    return preparation.columns, outputs
