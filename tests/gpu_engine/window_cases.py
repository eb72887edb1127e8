"""Window functions over nasty tables: the same node computed by the GPU engine's kernels and by the pandas engine."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from fuzz.data import pool
from fuzz.signatures import Signature, constants
from gpu_engine.host_machine import HostMachine
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_arrow
from gpuetl.engines.cudf.relational import window as cuda
from gpuetl.engines.pandas.expressions.evaluate import NoResult, evaluate_column
from gpuetl.engines.pandas.relational import window as oracle
from gpuetl.errors import EvaluationError, InvalidExpression
from gpuetl.expressions.functions import TypeMismatch
from gpuetl.expressions.ir import Call, Column, Literal
from gpuetl.expressions.ir import calls_of as window_calls
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import Scope
from gpuetl.expressions.syntax import Apply, Constant, Name, Syntax
from gpuetl.plan.node import Node, SortKey
from gpuetl.plan.nodes import Window
from gpuetl.records import dataclass
from gpuetl.testing import Tolerance, assert_tables_equal
from gpuetl.types.data_types import DataType
from gpuetl.types.schema import Schema

HOST = HostMachine()
START = datetime(2021, 3, 28)
ROUNDING = Tolerance(1e-12, 1e-300)
CANCELLING, OF_DIGITS_LOST = {"rolling_covar_samp", "rolling_covar_pop", "rolling_corr"}, Tolerance(1e-9, 1e-9)
"""Functions that add numbers of both signs, in an order of the engine's own."""
ORDERS = (
    (SortKey("t"), SortKey("id")),
    (SortKey("t", nulls_first=True), SortKey("id")),
    (SortKey("d"), SortKey("id", descending=True)),
)
TIMELESS = (*ORDERS, (SortKey("t", descending=True), SortKey("id")), (SortKey("id"),), (SortKey("t"),))


@dataclass(frozen=True, eq=False, kw_only=True)
class Given(Node):
    """Rows that are there."""

    columns: Schema

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the columns."""
        return self.columns


def windowed(table: pa.Table, calls: dict[str, Call], by: Sequence[str], order_by: Sequence[SortKey]) -> Window:
    """Return the operation on a table."""
    return Window(
        source=Given(columns=Schema.of_arrow(table.schema)), by=tuple(by), order_by=tuple(order_by), calls=calls
    )


def nasty_table(rows: int, draws: random.Random) -> pa.Table:
    """Return groups `g` (of null, too) and `h`, times `t` and days `d` that tie or are null, and distinct `id`s."""
    steps = [
        timedelta(microseconds=draws.choice((0, 1, 10**6, 3600 * 10**6, 5400 * 10**6, 86400 * 10**6)))
        for _ in range(rows)
    ]
    times = [START + sum(steps[:row], timedelta()) for row in range(rows)]
    times = [None if draws.random() < 0.1 else moment for moment in times]
    draws.shuffle(times)
    columns = {
        "g": pa.array([draws.choice((None, 1, 2, 2, 3, 3, 3, 3)) for _ in range(rows)], pa.int64()),
        "h": pa.array([draws.choice(("a", "b", None)) for _ in range(rows)], pa.string()),
        "t": pa.array(times, pa.timestamp("us")),
        "d": pa.array([moment and moment.date() for moment in times], pa.date32()),
        "id": pa.array(draws.sample(range(rows), rows), pa.int64()),
    }
    return pa.table(columns)


def column(dtype: DataType, rows: int, draws: random.Random, wild: bool = False) -> pa.Array:
    """Return values of the type's pool, and nulls: none, few, many or only those."""
    values, nulls = pool(dtype, wild), draws.choice((0, 0.1, 0.6, 1.0) if draws.random() < 0.5 else (0.1,))
    return pa.array([None if draws.random() < nulls else draws.choice(values) for _ in range(rows)], dtype)


def calls_of(way: Signature, table: pa.Table, draws: random.Random, wild: bool = False) -> tuple[Call, pa.Table] | None:
    """Return a call whose arguments are columns and constants, and the table with them; None where none fits."""
    columns = {
        f"x{i}": column(dtype, table.num_rows, draws, wild) for i, dtype in enumerate(way.takes) if dtype is not None
    }
    for name, values in columns.items():
        table = table.append_column(name, values)
    for _ in range(5):
        given: dict[str, Syntax] = {}
        for place, (slot, dtype) in enumerate(zip(way.slots, way.takes, strict=True)):
            given[slot.name] = Name(f"x{place}") if dtype else Constant(draws.choice(constants(way.function, slot)))
        try:
            scope = Scope(dict(Schema.of_arrow(table.schema)), {}, ("window", "scalar"))
            written = resolve(Apply(way.function.name, (), tuple(given.items())), scope)
            return on_columns(window_calls("window", [written])[-1], table)
        except (InvalidExpression, TypeMismatch, NoResult):
            continue
    return None


def on_columns(call: Call, table: pa.Table, stem: str = "argument") -> tuple[Call, pa.Table]:
    """Compute the arguments that are no columns or constants, as the planner does in a step before."""
    args = list(call.args)
    for place, arg in enumerate(args):
        if not isinstance(arg, Column | Literal):
            args[place] = Column(f"{stem}{place}", arg.dtype)
            table = table.append_column(f"{stem}{place}", evaluate_column(arg, table))
    return replace(call, args=tuple(args)), table


def answer(operation: Window, table: pa.Table, machine: HostMachine) -> pa.Table:
    """Return what the kernels give."""
    columns = {
        name: from_arrow(values, machine) for name, values in zip(table.column_names, table.columns, strict=True)
    }
    frame = cuda.compute_windows(operation, machine, Frame(columns, table.num_rows))
    return pa.table({name: to_arrow(vector, machine) for name, vector in frame.columns.items()})


def assert_same(operation: Window, table: pa.Table, machine: HostMachine = HOST) -> bool:
    """Raise `AssertionError` unless both engines give the same rows in the same order, or refuse the same row."""
    what = f"{operation.describe()} of {table.num_rows} rows"
    expected, got = outcome(oracle.compute_windows, operation, table), outcome(answer, operation, table, machine)
    if isinstance(expected, str) or isinstance(got, str):
        assert got == expected, what
        return False
    cancels = any(call.function.name in CANCELLING for call in operation.calls.values())
    tolerance = OF_DIGITS_LOST if cancels else ROUNDING
    assert_tables_equal(got, expected, ordered=True, tolerance=tolerance, what=what)
    return True


def outcome(compute: Callable[..., pa.Table], *arguments: Any) -> pa.Table | str:
    """Return a table, or why there is none."""
    try:
        return compute(*arguments)
    except EvaluationError as error:
        return str(error)


def written(texts: Sequence[str], table: pa.Table) -> tuple[dict[str, Call], pa.Table]:
    """Return calls by their SQL, as `w0`, `w1` and so on, and the table with what their arguments are."""
    calls = {}
    scope = Scope(dict(Schema.of_arrow(table.schema)), {}, ("window", "scalar"))
    for place, text in enumerate(texts):
        calls[f"w{place}"], table = on_columns(resolve(parse_expression(text), scope), table, f"w{place}:argument")
    return calls, table
