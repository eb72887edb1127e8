"""Columns of texts by numbers: what chooses among constants and dictionaries, and functions of a dictionary's texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import pyarrow as pa

from gpuetl.backends.cudf.choices import chosen
from gpuetl.backends.cudf.columns.arrays import choose, scatter
from gpuetl.backends.cudf.columns.compact import numbers_where
from gpuetl.backends.cudf.columns.concat import in_dictionary, merged, stacked
from gpuetl.backends.cudf.columns.dictionaries import MOST_TEXTS, sorted_dictionary
from gpuetl.backends.cudf.columns.gather import take
from gpuetl.backends.cudf.columns.validity import valid_rows
from gpuetl.backends.cudf.expressions.prepare import chooses
from gpuetl.backends.cudf.interchange import from_arrow, from_texts
from gpuetl.backends.cudf.machine import Machine
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.ir import Call, Column, Expr, Literal, can_fail, columns_of, walk
from gpuetl.expressions.types import NULL, STRING
from gpuetl.records import dataclass

Vectors = Mapping[str, Vector]
NUMBER = pa.int32()
SEARCHES = frozenset(["regexp_like", "regexp_full_match", "regexp_count", "like", "ilike"])
"""Functions that look through a text, and give no text."""


@dataclass(frozen=True)
class CodedText:
    """An expression that gives the numbers of texts in a dictionary, and the columns of numbers that it reads."""

    expr: Expr
    columns: Vectors
    dictionary: Vector


def as_numbers(name: str, expr: Expr, known: Vectors, machine: Machine) -> CodedText | None:
    """Return how the column `name` is computed by numbers; None where it is more than a choice of coded texts."""
    leaves = list(dict.fromkeys(results_of(expr)))
    columns = [leaf for leaf in leaves if isinstance(leaf, Column) and leaf.dtype != NULL]
    coded = all(known[column.name].dictionary for column in columns)
    if not (coded and all(isinstance(leaf, Column | Literal) for leaf in leaves) and chosen("text_codes")):
        return None
    values = sorted({leaf.value for leaf in leaves if isinstance(leaf, Literal) and leaf.value is not None})
    constants = from_texts(values, machine)  # code points have the order of their bytes
    dictionaries = dict.fromkeys(v for column in columns if (v := known[column.name].dictionary))
    if values or not columns:
        dictionaries[constants] = None
    every, tables = merged(list(dictionaries), machine)
    if every.rows > MOST_TEXTS:
        return None
    by_dictionary = dict(zip(dictionaries, tables, strict=True))
    table = by_dictionary.get(constants)
    numbers = dict(zip(values, range(len(values)) if table is None else machine.host(table).tolist(), strict=True))
    read = {f":{place} of {name}": column for place, column in enumerate(columns)}
    vectors = {n: in_dictionary(known[c.name], every, by_dictionary, machine).numbers for n, c in read.items()}
    return CodedText(numbered(expr, numbers, {column: n for n, column in read.items()}), vectors, every)


def results_of(expr: Expr) -> Iterator[Expr]:
    """Yield what CASE and coalesce choose among; another expression itself."""
    if not chooses(expr):
        yield expr
        return
    for place, operand in enumerate(expr.args):
        if is_result(expr, place):
            yield from results_of(operand)


def is_result(choice: Call, place: int) -> bool:
    """Tell whether an operand of CASE or coalesce is a result, and no condition."""
    return choice.function.name == "coalesce" or place % 2 == 1 or place == len(choice.args) - 1


def numbered(expr: Expr, numbers: Mapping[str, int], columns: Mapping[Column, str]) -> Expr:
    """Return the expression with numbers in the place of texts."""
    if isinstance(expr, Column):
        return Column(columns[expr], NUMBER) if expr in columns else Literal(None, NUMBER)
    if isinstance(expr, Literal):
        return replace(expr, value=None if expr.value is None else numbers[expr.value], dtype=NUMBER)
    assert isinstance(expr, Call)
    args = (numbered(a, numbers, columns) if is_result(expr, place) else a for place, a in enumerate(expr.args))
    return replace(expr, args=tuple(args), dtype=NUMBER)


Compute = Callable[[Expr, Vectors, int, Machine], Vector]


def matches_patterns(expr: Expr) -> bool:
    """Tell whether an expression looks through texts byte by byte, which takes longer than to look its result up."""
    return any(isinstance(part, Call) and part.function.name in SEARCHES for part in walk(expr))


def by_dictionary(expr: Expr, known: Vectors, rows: int, machine: Machine, compute: Compute) -> Vector | None:
    """Return the values of an expression that reads one column, which is coded: `compute` has its dictionary alone.

    None where that does not apply, also to what can fail: texts of a dictionary may be in no row.
    """
    names = columns_of(expr)
    own = known[next(iter(names))].dictionary if len(names) == 1 else None
    if own is None or own.rows >= rows or can_fail(expr):
        return None
    (name,) = names
    texts = stacked([own, from_arrow(pa.nulls(1, STRING), machine)], machine)
    made = compute(expr, {name: texts}, texts.rows, machine)
    if expr.dtype == STRING:
        made = coded(made, machine)
    vector, places = known[name], known[name].data
    if vector.nulls:
        places = choose(vector.valid, places, own.rows, machine)
    return take({"": made}, places, machine, missing=False)[""]


def coded(texts: Vector, machine: Machine) -> Vector:
    """Return a few texts by their numbers in a dictionary."""
    kept = numbers_where(valid_rows(texts, machine), machine)
    dictionary, own = sorted_dictionary(take({"": texts}, kept, machine, missing=False)[""], machine)
    numbers = machine.arrays.zeros(texts.rows, "int32")
    scatter(numbers, kept, machine, own)
    return Vector(STRING, texts.rows, numbers, texts.valid, texts.nulls, dictionary=dictionary)
