"""One function, with each kind of types it takes, over nasty values: generated kernels against the pandas engine."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from fuzz.data import pool
from fuzz.precision import Precision, precision_of
from fuzz.signatures import Signature, constants, signatures, written
from gpu_engine.host_machine import HostMachine
from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_arrow
from gpuetl.engines.cudf.columns.string_codes import with_dictionary
from gpuetl.engines.pandas.expressions.evaluate import NoResult, evaluate_column
from gpuetl.errors import InvalidExpression
from gpuetl.expressions.functions import TypeMismatch
from gpuetl.expressions.ir import Expr, calls_of, columns_of
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import Scope
from gpuetl.expressions.syntax import Apply, CastTo, Name, Syntax
from gpuetl.expressions.unparse import to_sql
from gpuetl.testing import Tolerance
from gpuetl.types.data_types import STRING, DataType, can_cast
from gpuetl.verify.tolerance import equal_values

ROWS = 150
LIBRARY = Tolerance(1e-14, 1e-300)
"""What CPUs' and GPUs' mathematical libraries may differ by."""
ROOTS = Tolerance(1e-12, 1e-12)
"""The same where a function has roots that no float is: near them, only the absolute error is small."""
SINGLE = Tolerance(3e-7, 1e-37)
"""By what they differ in float32, which kernels compute in float64 and round once."""


def expressions(name: str, most: int, seed: int = 0, wild: bool = True) -> Iterator[tuple[Expr, pa.Table]]:
    """Yield typed calls of a scalar function, and a table of their arguments; tame ones seldom have no result."""
    draws = random.Random(f"{name}{seed}")
    ways = list(signatures("scalar", name))
    for way in draws.sample(ways, min(most, len(ways))):
        yield from typed_call(way, draws, wild)


def typed_call(way: Signature, draws: random.Random, wild: bool = True) -> Iterator[tuple[Expr, pa.Table]]:
    """Yield a call of columns and drawn constants; nothing where no constants fit."""
    columns = {f"x{i}": nasty(dtype, draws, wild) for i, dtype in enumerate(way.takes) if dtype is not None}
    for _ in range(3):
        arguments: list[Syntax] = []
        for place, (slot, dtype) in enumerate(zip(way.slots, way.takes, strict=True)):
            arguments.append(Name(f"x{place}") if dtype else written(draws.choice(constants(way.function, slot))))
        scope = Scope({name: column.type for name, column in columns.items()}, {}, ("scalar",))
        try:
            yield resolve(Apply(way.function.name, tuple(arguments), ()), scope), pa.table(columns)
        except (InvalidExpression, TypeMismatch):
            continue
        if all(way.takes):
            return


def casts(
    source: DataType, targets: Sequence[DataType], lenient: bool, wild: bool = True
) -> Iterator[tuple[Expr, pa.Table]]:
    """Yield casts of a column to each type it can be cast to."""
    column = nasty(source, random.Random(str(source)), wild)
    for target in targets:
        if can_cast(source, target):
            yield (
                resolve(CastTo(Name("x"), target, lenient), Scope({"x": source}, {}, ("scalar",))),
                pa.table({"x": column}),
            )


def nasty(dtype: DataType, draws: random.Random, wild: bool = True) -> pa.Array:
    """Return a column of the pool's values, tame and wild, and nulls: a third of tame ones."""
    values, nulls = pool(dtype, wild), 0.1 if wild else 0.3
    return pa.array([None if draws.random() < nulls else draws.choice(values) for _ in range(ROWS)], dtype)


def tolerance_of(expr: Expr) -> Tolerance:
    """Return what the engines' values may differ by."""
    if any(call.function.name == "lgamma" for call in calls_of("scalar", [expr])):
        return ROOTS
    precision = precision_of(expr, dict.fromkeys(columns_of(expr), Precision.EXACT))
    return SINGLE if precision is Precision.COARSE else LIBRARY


def assert_same(expr: Expr, table: pa.Table) -> None:
    """Raise `AssertionError` unless both engines have the same values, and refuse the same row first."""
    kept, wanted = rows_with_results(expr, table)
    expected = pa.chunked_array([chunk for part in wanted for chunk in chunks(part)], expr.dtype)
    got = computed(expr, table.take(kept))
    same = equal_values(pa.chunked_array([got]), expected, tolerance_of(expr))
    if not same.all():
        row = int((~same).argmax())
        values = table.take(kept).slice(row, 1).to_pylist()
        raise AssertionError(f"{to_sql(expr)} of {values}: {got[row]!r}, expected {expected[row]!r}")
    if len(kept) < table.num_rows:
        assert_refused(expr, table)


def rows_with_results(expr: Expr, table: pa.Table) -> tuple[list[int], list[Any]]:
    """Return the rows in which an expression has a result on the pandas engine, and their values in parts."""
    kept: list[int] = []
    values: list[Any] = []
    start = 0
    while start < table.num_rows:
        stop = table.num_rows
        while start < stop:
            try:
                values.append(evaluate_column(expr, table.slice(start, stop - start)))
            except NoResult as refused:
                stop = start + (refused.row or 0)
            else:
                kept += range(start, stop)
                break
        start = stop + 1  # the row at `stop` has none
    return kept, values


def chunks(column: Any) -> list[pa.Array]:
    """Return the arrays of a column."""
    return list(column.chunks) if isinstance(column, pa.ChunkedArray) else [column]


def assert_refused(expr: Expr, table: pa.Table) -> None:
    """Raise `AssertionError` unless both refuse the same row of the same part in the same words."""
    told = []
    for engine in (computed, evaluate_column):
        try:
            raise AssertionError(f"{to_sql(expr)} is not refused: {engine(expr, table).to_pylist()}")
        except NoResult as error:
            told.append(error)
    got, expected = map(str, told)
    assert got == expected, f"{told[0]}\nexpected {told[1]}"


def computed(expr: Expr, table: pa.Table) -> pa.Array:
    """Compute an expression with kernels; of columns of texts every second one has a dictionary, from the first on."""
    machine = HostMachine()
    frame = {name: from_arrow(column, machine) for name, column in zip(table.column_names, table.columns, strict=True)}
    texts = [name for name, vector in frame.items() if vector.dtype == STRING]
    frame |= {name: with_dictionary(frame[name], machine) for name in texts[::2]}
    return to_arrow(evaluate({"": expr}, frame, table.num_rows, machine)[""], machine)
