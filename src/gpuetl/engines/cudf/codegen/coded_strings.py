"""Columns of dictionary codes: choices among constants and dictionaries, and functions of a dictionary's strings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.codegen.row_kernels import chooses
from gpuetl.engines.cudf.columns.arrays import choose, numbers_where, scatter
from gpuetl.engines.cudf.columns.concat import in_dictionary, merged, stacked
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.interchange import from_arrow, from_strings
from gpuetl.engines.cudf.columns.string_dictionaries import MAX_DICTIONARY_STRINGS, sorted_dictionary
from gpuetl.engines.cudf.columns.validity import valid_rows
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Machine
from gpuetl.expressions.ir import Call, Column, Expr, Literal, can_fail, columns_of, walk
from gpuetl.records import dataclass
from gpuetl.types.data_types import NULL, STRING

Vectors = Mapping[str, Vector]
NUMBER = pa.int32()
SEARCHES = frozenset(["regexp_like", "regexp_full_match", "regexp_count", "like", "ilike"])
"""Functions that look through a text, and give no text."""


class Coded(Protocol):
    """A column, or its kind: strings may have a dictionary, which has `rows`."""

    @property
    def dictionary(self) -> Any:
        """The dictionary, None where the strings lie in memory."""


C = TypeVar("C", bound=Coded)


@dataclass(frozen=True)
class Choice:
    """CASE or coalesce over columns of coded strings and constants: the column `name`.

    `columns` are those that are chosen from, `values` the constants in order, and `strings` are as many as all
    dictionaries and the constants have, or fewer.
    """

    name: str
    expr: Expr
    columns: Sequence[Column]
    values: Sequence[str]
    strings: float

    @property
    def numbers(self) -> list[tuple[str, Column, Column]]:
        """For each column the name under which its numbers are read, itself, and the column of its numbers."""
        names = [f":{place} of {self.name}" for place in range(len(self.columns))]
        return [(name, column, Column(name, NUMBER)) for name, column in zip(names, self.columns, strict=True)]

    def numbered(self, numbers: Mapping[str, int] | None = None) -> Expr:
        """Return the expression that gives numbers, given those of the constants.

        These are arguments of a kernel: its text is the same for other numbers, or where none are given.
        """
        own = dict.fromkeys(self.values, 0) if numbers is None else numbers
        return numbered(self.expr, own, {column: result for _, column, result in self.numbers})


def choice_of(name: str, expr: Expr, input_columns: Mapping[str, C]) -> Choice | None:
    """Return how the column `name` is computed by numbers; None where it is more than a choice of coded strings."""
    leaves = list(dict.fromkeys(results_of(expr)))
    columns = [leaf for leaf in leaves if isinstance(leaf, Column) and leaf.dtype != NULL]
    coded = all(input_columns[column.name].dictionary for column in columns)
    if not (coded and all(isinstance(leaf, Column | Literal) for leaf in leaves) and chosen("string_codes")):
        return None
    values = sorted({leaf.value for leaf in leaves if isinstance(leaf, Literal) and leaf.value is not None})
    dictionaries = dict.fromkeys(input_columns[column.name].dictionary for column in columns)
    return Choice(name, expr, columns, values, len(values) + sum(each.rows for each in dictionaries))


@dataclass(frozen=True)
class CodedText:
    """An expression that gives the numbers of strings in a dictionary, and the columns of numbers that it reads."""

    expr: Expr
    columns: Vectors
    dictionary: Vector


def as_numbers(choice: Choice, input_columns: Vectors, machine: Machine) -> CodedText | None:
    """Return how a choice is computed; None where all together have too many strings."""
    constants = from_strings(list(choice.values), machine)  # code points have the order of their bytes
    dictionaries = dict.fromkeys(v for column in choice.columns if (v := input_columns[column.name].dictionary))
    if choice.values or not choice.columns:
        dictionaries[constants] = None
    every, tables = merged(list(dictionaries), machine)
    if every.rows > MAX_DICTIONARY_STRINGS:
        return None
    by_dictionary = dict(zip(dictionaries, tables, strict=True))
    table = by_dictionary.get(constants)
    own = range(len(choice.values)) if table is None else machine.host(table).tolist()
    numbers = dict(zip(choice.values, own, strict=True))
    vectors = {
        n: in_dictionary(input_columns[c.name], every, by_dictionary, machine).codes for n, c, _ in choice.numbers
    }
    return CodedText(choice.numbered(numbers), vectors, every)


def results_of(expr: Expr) -> Iterator[Expr]:
    """Yield what CASE and coalesce choose among; another expression itself."""
    if not chooses(expr):
        yield expr
        return
    for place, operand in enumerate(expr.args):
        if is_result(expr, place):
            yield from results_of(operand)


def is_result(choice: Call, place: int) -> bool:
    """Return whether an operand of CASE or coalesce is a result, and no condition."""
    return choice.function.name == "coalesce" or place % 2 == 1 or place == len(choice.args) - 1


def numbered(expr: Expr, numbers: Mapping[str, int], columns: Mapping[Column, Column]) -> Expr:
    """Return the expression with numbers in place of strings."""
    if isinstance(expr, Column):
        return columns.get(expr, Literal(None, NUMBER))
    if isinstance(expr, Literal):
        return Literal(None if expr.value is None else numbers[expr.value], NUMBER, declared=True)
    assert isinstance(expr, Call)
    args = (numbered(a, numbers, columns) if is_result(expr, place) else a for place, a in enumerate(expr.args))
    return replace(expr, args=tuple(args), dtype=NUMBER)


def only_dictionary(expr: Expr, input_columns: Mapping[str, C], rows: float) -> Any:
    """Return the dictionary of the one column that an expression reads, if it has fewer strings than the column rows.

    None also for what can fail: strings of a dictionary may be in no row.
    """
    names = columns_of(expr)
    own = input_columns[next(iter(names))].dictionary if len(names) == 1 else None
    return None if own is None or own.rows >= rows or can_fail(expr) else own


Compute = Callable[[Expr, Vectors, int, Machine], Vector]


def matches_patterns(expr: Expr) -> bool:
    """Tell whether an expression looks through strings byte by byte, which takes longer than to look its result up."""
    return any(isinstance(part, Call) and part.function.name in SEARCHES for part in walk(expr))


def by_dictionary(expr: Expr, input_columns: Vectors, rows: int, machine: Machine, compute: Compute) -> Vector | None:
    """Return the values of an expression that reads one column, which is coded: `compute` has its dictionary alone.

    None where that does not apply: see `only_dictionary`.
    """
    own = only_dictionary(expr, input_columns, rows)
    if own is None:
        return None
    (name,) = columns_of(expr)
    strings = stacked([own, from_arrow(pa.nulls(1, STRING), machine)], machine)
    result = compute(expr, {name: strings}, strings.rows, machine)
    if expr.dtype == STRING:
        result = coded(result, machine)
    vector, places = input_columns[name], input_columns[name].data
    if vector.nulls:
        places = choose(vector.valid, places, own.rows, machine)
    return take({"": result}, places, machine, missing=False)[""]


def coded(strings: Vector, machine: Machine) -> Vector:
    """Return a few strings by their numbers in a dictionary."""
    kept = numbers_where(valid_rows(strings, machine), machine)
    dictionary, own = sorted_dictionary(take({"": strings}, kept, machine, missing=False)[""], machine)
    numbers = machine.arrays.zeros(strings.rows, "int32")
    scatter(numbers, kept, machine, own)
    return Vector(STRING, strings.rows, numbers, strings.valid, strings.nulls, dictionary=dictionary)
