"""The programs that expressions are computed by, listed by the kinds of the columns that they read: see `evaluate`."""

from __future__ import annotations

from collections.abc import Mapping

from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.codegen.bytecode import is_covered
from gpuetl.engines.cudf.codegen.coded_strings import (
    Choice,
    choice_of,
    matches_patterns,
    only_dictionary,
)
from gpuetl.engines.cudf.codegen.cuda_types import ColumnKinds, in_kernels
from gpuetl.engines.cudf.codegen.evaluate import columns_read
from gpuetl.engines.cudf.codegen.functions.regex_rows import is_of_rows
from gpuetl.engines.cudf.codegen.list_columns import PARTS, TEXTS, listed_columns, numbered, source_of
from gpuetl.engines.cudf.codegen.list_lambdas import kinds_of_elements, lambda_of
from gpuetl.engines.cudf.codegen.list_reductions import INT32, as_first, is_empty, size_of
from gpuetl.engines.cudf.codegen.list_writers import kind_of_written, list_kernel, list_writer
from gpuetl.engines.cudf.codegen.nested_columns import kind_of
from gpuetl.engines.cudf.codegen.regex_columns import row_programs
from gpuetl.engines.cudf.codegen.row_kernels import fixed_kernel, is_library, prepared, text_kernel
from gpuetl.engines.cudf.columns.kind import Kind, Kinds, columns_of_kinds
from gpuetl.engines.cudf.columns.vector import has_bytes
from gpuetl.engines.cudf.gpu_operation import Needed
from gpuetl.engines.cudf.machine import KernelSource
from gpuetl.expressions.ir import Call, Column, Expr, columns_of, over_elements
from gpuetl.types.data_types import STRING
from gpuetl.types.nested_types import is_nested

Columns = Mapping[str, Kind]


def evaluated(exprs: Mapping[str, Expr], frame: Kinds) -> Needed:
    """List the programs of `evaluate` for the columns of a frame, and the kinds of the results."""
    first, outputs = prepared(exprs)
    sources, input_columns, rows = list[KernelSource](), dict(frame.columns), frame.rows
    for name, expr in first.items():
        needed = computed({name: expr}, input_columns, rows)
        sources += needed.sources
        input_columns |= needed.columns
    needed = computed(outputs, input_columns, rows)
    return Needed([*sources, *needed.sources], {name: needed.columns[name] for name in exprs})


def computed(exprs: Mapping[str, Expr], input_columns: Columns, rows: float) -> Needed:
    """List the programs of prepared expressions: one for each text and list, then those of all other columns."""
    sources, kinds = list[KernelSource](), dict[str, Kind]()
    fixed, choices = dict[str, Expr](), dict[str, Choice]()
    for name, expr in exprs.items():
        if isinstance(expr, Column):
            kinds[name] = input_columns[expr.name]
            continue
        own = only_dictionary(expr, input_columns, rows)
        if is_library(expr):
            needed = column_function_program(expr, input_columns)
        elif is_nested(expr.dtype):
            written = list_writer(expr) is not None
            needed = list_program(expr, input_columns) if written else list_column(expr, input_columns, rows)
        elif has_bytes(expr.dtype) and expr.dtype != STRING:
            needed = string_program(expr, input_columns)
        elif expr.dtype != STRING:
            if own is None or not matches_patterns(expr):
                fixed[name] = expr
                continue
            needed = by_dictionary(expr, own)
        elif choice := choice_of(name, expr, input_columns):
            fixed[name], choices[name] = choice.numbered(), choice
            input_columns = {**input_columns, **{n: Kind(each.dtype) for n, _, each in choice.numbers}}
            continue
        else:
            needed = string_program(expr, input_columns) if own is None else by_dictionary(expr, own)
        sources += needed.sources
        kinds[name] = needed.columns[""]
    together = computed_together(fixed, input_columns)
    for name, kind in together.columns.items():
        kinds[name] = Kind.coded(choices[name].strings) if name in choices else kind
    return Needed(sources + together.sources, kinds)


def computed_together(exprs: Mapping[str, Expr], input_columns: Columns) -> Needed:
    """List the programs of columns of fixed width, equal ones once."""
    columns, sources = columns_of_kinds(input_columns), list[KernelSource]()
    for outputs in in_kernels({expr: columns_of(expr) for expr in exprs.values()}, columns):
        read = columns_read(outputs, columns)
        covered = chosen("interpret") and is_covered(outputs, read)
        sources.append(KernelSource(fixed_kernel(ColumnKinds.of(read), tuple(outputs)).source, covered=covered))
    return Needed(sources, {name: Kind(expr.dtype) for name, expr in exprs.items()})


def string_program(expr: Expr, input_columns: Columns) -> Needed:
    """List the program that writes a column of strings."""
    columns = columns_read([expr], columns_of_kinds(input_columns))
    return Needed([KernelSource(text_kernel(ColumnKinds.of(columns), expr).source)], {"": Kind(expr.dtype)})


def by_dictionary(expr: Expr, dictionary: Kind) -> Needed:
    """List the program that computes an expression for each text of a dictionary, and for null."""
    (name,) = columns_of(expr)
    if expr.dtype != STRING:
        return computed_together({"": expr}, {name: dictionary})
    return Needed(string_program(expr, {name: dictionary}).sources, {"": Kind.coded(dictionary.rows)})


def column_function_program(expr: Expr, input_columns: Columns) -> Needed:
    """List the program of a function of whole columns: only those of strings have one."""
    assert isinstance(expr, Call)
    if lambda_of(expr):
        return lambda_programs(expr, input_columns)
    if is_of_rows(expr):
        kinds = columns_of_kinds(input_columns)
        arguments = [kinds[arg.name] if isinstance(arg, Column) else arg for arg in expr.args]
        return Needed(row_programs(expr, arguments), {"": Kind.of(expr.dtype)})
    return (
        parts_program(expr, input_columns)
        if expr.function.name in PARTS
        else Needed([], {"": kind_of(expr, input_columns)})
    )


def lambda_programs(expr: Call, input_columns: Columns) -> Needed:
    """List the programs of a lambda over elements."""
    function = lambda_of(expr)
    assert function is not None
    needed = evaluated({"": over_elements(function)}, Kinds(kinds_of_elements(expr, input_columns)))
    before = reduction_programs(expr, input_columns) if expr.function.name == "list_reduce" else []
    return Needed([*before, *needed.sources], {"": Kind.of(expr.dtype)})


def reduction_programs(expr: Call, input_columns: Columns) -> list[KernelSource]:
    """List the programs of what `list_reduce` asks of lists before its first round."""
    source = expr.args[0]
    lists = input_columns[source.name] if isinstance(source, Column) else Kind.of(source.dtype)
    sources = evaluated({"": size_of(Column("", lists.dtype))}, Kinds({"": lists})).sources
    if len(expr.args) == 2:
        elements = lists.elements or Kind.of(source.dtype.value_type)
        sources += evaluated({"": is_empty(Column("", INT32))}, Kinds({"": Kind(INT32)})).sources
        sources += evaluated({"": as_first(Column("", elements.dtype), expr.dtype)}, Kinds({"": elements})).sources
    return sources


def list_program(expr: Expr, input_columns: Columns) -> Needed:
    """List the program that writes lists."""
    assert isinstance(expr, Call)
    columns = columns_read([expr], columns_of_kinds(input_columns))
    source = list_kernel(ColumnKinds.of(columns), expr).source
    return Needed([KernelSource(source)], {"": kind_of_written(expr, input_columns)})


def parts_program(expr: Call, input_columns: Columns) -> Needed:
    """List the program that makes lists of texts."""
    texts = dict(zip("ab", expr.args[: TEXTS.get(expr.function.name, 1)], strict=False))
    columns = columns_of_kinds(
        {name: input_columns[arg.name] for name, arg in texts.items() if isinstance(arg, Column)}
    )
    source = source_of(expr, columns, texts)
    return Needed([KernelSource(source)], {"": Kind.of(expr.dtype)})


def list_column(expr: Expr, input_columns: Columns, rows: float) -> Needed:
    """List the programs that choose among columns of lists."""
    lists = listed_columns(expr)
    if not lists:
        return Needed([], {"": Kind.of(expr.dtype)})
    assert isinstance(expr, Call)
    by_case = expr.function.name == "case"
    sources = evaluated({"": numbered(expr, lists)}, Kinds(input_columns, rows)).sources if by_case else []
    return Needed(sources, {"": input_columns[lists[0].name]})
