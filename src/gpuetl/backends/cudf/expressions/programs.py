"""The programs that expressions are computed by, listed by the kinds of the columns that they read: see `evaluate`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gpuetl.backends.cudf.columns.kind import Kind, Kinds, columns_of_kinds
from gpuetl.backends.cudf.device.columns import ColumnKinds, in_kernels
from gpuetl.backends.cudf.expressions.coded_texts import (
    Choice,
    choice_of,
    matches_patterns,
    only_dictionary,
)
from gpuetl.backends.cudf.expressions.evaluate import columns_read
from gpuetl.backends.cudf.expressions.kernels import fixed_kernel, text_kernel
from gpuetl.backends.cudf.expressions.lists import listed_columns, numbered
from gpuetl.backends.cudf.expressions.prepare import is_library, prepared
from gpuetl.backends.cudf.expressions.split import source_of
from gpuetl.backends.cudf.machine import Text
from gpuetl.backends.cudf.operation import Needed
from gpuetl.expressions.ir import Call, Cast, Column, Expr, Literal, columns_of, conjuncts
from gpuetl.expressions.types import STRING, is_list

Columns = Mapping[str, Kind]


def evaluated(exprs: Mapping[str, Expr], frame: Kinds) -> Needed:
    """List the programs of `evaluate` for the columns of a frame, and the kinds of the results."""
    first, outputs = prepared(exprs)
    texts, known, rows = list[Text](), dict(frame.columns), frame.rows
    for name, expr in first.items():
        needed = computed({name: expr}, known, rows)
        texts += needed.texts
        known |= needed.columns
    needed = computed(outputs, known, rows)
    return Needed([*texts, *needed.texts], {name: needed.columns[name] for name in exprs})


def without_nulls(predicate: Expr, columns: Columns) -> dict[str, Kind]:
    """Return the kinds of columns where a predicate is true: columns that it compares have no nulls there."""
    read = frozenset[str]().union(*(compared(part) for part in conjuncts(predicate)))
    return {name: replace(kind, nulls=kind.nulls and name not in read) for name, kind in columns.items()}


def compared(expr: Expr) -> frozenset[str]:
    """Return the columns whose nulls make an expression null, or not true."""
    if isinstance(expr, Column):
        return frozenset([expr.name])
    if isinstance(expr, Cast):
        return compared(expr.operand)
    if isinstance(expr, Call) and expr.function.name == "not" and is_call(expr.args[0], "is_null"):
        return columns_of(expr)
    if isinstance(expr, Call) and expr.function.nulls == "propagate":
        return frozenset[str]().union(*map(compared, expr.args))
    return frozenset()


def is_call(expr: Expr, name: str) -> bool:
    """Tell whether an expression is a call of a function."""
    return isinstance(expr, Call) and expr.function.name == name


def computed(exprs: Mapping[str, Expr], known: Columns, rows: float) -> Needed:
    """List the programs of prepared expressions: one for each text and list, then those of all other columns."""
    texts, made = list[Text](), dict[str, Kind]()
    fixed, choices = dict[str, Expr](), dict[str, Choice]()
    for name, expr in exprs.items():
        if isinstance(expr, Column):
            made[name] = known[expr.name]
            continue
        own = only_dictionary(expr, known, rows)
        if is_library(expr):
            needed = split(expr, known)
        elif is_list(expr.dtype):
            needed = list_column(expr, known, rows)
        elif expr.dtype != STRING:
            if own is None or not matches_patterns(expr):
                fixed[name] = expr
                continue
            needed = by_dictionary(expr, own, known)
        elif choice := choice_of(name, expr, known):
            fixed[name], choices[name] = choice.numbered(), choice
            known = {**known, **{n: Kind(each.dtype, known[c.name].nulls) for n, c, each in choice.numbers}}
            continue
        else:
            needed = written(expr, known) if own is None else by_dictionary(expr, own, known)
        texts += needed.texts
        made[name] = needed.columns[""]
    together = computed_together(fixed, known)
    for name, kind in together.columns.items():
        made[name] = Kind.coded(choices[name].texts, kind.nulls) if name in choices else kind
    return Needed(texts + together.texts, made)


def computed_together(exprs: Mapping[str, Expr], known: Columns) -> Needed:
    """List the programs of columns of fixed width, equal ones once."""
    columns, texts, nulls = columns_of_kinds(known), list[Text](), dict[Expr, bool]()
    for outputs in in_kernels({expr: columns_of(expr) for expr in exprs.values()}, columns):
        kernel = fixed_kernel(ColumnKinds.of(columns_read(outputs, columns)), tuple(outputs))
        texts.append(Text(kernel.source))
        nulls |= zip(outputs, kernel.nullable, strict=True)
    return Needed(texts, {name: Kind(expr.dtype, nulls[expr]) for name, expr in exprs.items()})


def written(expr: Expr, known: Columns) -> Needed:
    """List the program that writes a column of texts."""
    columns = columns_read([expr], columns_of_kinds(known))
    nulls = any(known[name].nulls for name in columns)
    return Needed([Text(text_kernel(ColumnKinds.of(columns), expr).source)], {"": Kind(STRING, nulls)})


def by_dictionary(expr: Expr, dictionary: Kind, known: Columns) -> Needed:
    """List the program that computes an expression for each text of a dictionary, and for null."""
    (name,) = columns_of(expr)
    texts = {name: replace(dictionary, nulls=True)}
    if expr.dtype != STRING:
        needed = computed_together({"": expr}, texts)
        return Needed(needed.texts, {"": replace(needed.columns[""], nulls=known[name].nulls)})
    return Needed(written(expr, texts).texts, {"": Kind.coded(dictionary.rows, known[name].nulls)})


def split(expr: Expr, known: Columns) -> Needed:
    """List the program that cuts texts into lists."""
    assert isinstance(expr, Call)
    text, separator = expr.args
    assert isinstance(separator, Literal)
    columns = columns_of_kinds({"text": known[text.name]}) if isinstance(text, Column) else {}
    constant = text.value if isinstance(text, Literal) else None
    nulls = known[text.name].nulls if isinstance(text, Column) else constant is None
    return Needed([Text(source_of(columns, constant, separator.value))], {"": Kind.of(expr.dtype, nulls)})


def list_column(expr: Expr, known: Columns, rows: float) -> Needed:
    """List the programs that choose among columns of lists."""
    lists = listed_columns(expr)
    if not lists:
        return Needed([], {"": Kind.of(expr.dtype, nulls=True)})
    assert isinstance(expr, Call)
    by_case = expr.function.name == "case"
    texts = evaluated({"": numbered(expr, lists)}, Kinds(known, rows)).texts if by_case else []
    nulls = any(known[column.name].nulls for column in lists)
    return Needed(texts, {"": replace(known[lists[0].name], nulls=nulls)})
