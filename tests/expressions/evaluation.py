"""Rows to evaluate expressions on: a node that stands for them, and the ways to run SQL over them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa

from gpuetl.engines.pandas.expressions.evaluate import evaluate_column
from gpuetl.engines.pandas.pandas_engine import PandasBackend
from gpuetl.errors import Problems
from gpuetl.expressions.functions import Kind
from gpuetl.expressions.ir import Expr
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import SCALARS, Scope
from gpuetl.plan.node import Node
from gpuetl.records import dataclass
from gpuetl.spec.group_forms import plain_keys
from gpuetl.spec.steps import Aggregate, Context, Step, Window
from gpuetl.spec.values import Formula, parse_order
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import DataType, parse_type
from gpuetl.types.schema import Schema

ONE_ROW = pa.table({"row": pa.array([1], pa.int64())})


@dataclass(frozen=True, eq=False, kw_only=True)
class Given(Node):
    """A node whose rows the test has."""

    frame: pa.Table

    def output_schema(self, *schemas: Schema) -> Schema:
        return Schema.of_arrow(self.frame.schema)


def typed(
    sql: str,
    columns: Mapping[str, DataType] | None = None,
    parameters: Mapping[str, Any] | None = None,
    kinds: tuple[Kind, ...] = SCALARS,
) -> Expr:
    """Parse and type an expression over columns given as names and types."""
    return resolve(parse_expression(sql), Scope(Schema(columns or {}), parameters or {}, kinds))


def values(sql: str, frame: pa.Table = ONE_ROW) -> list[Any]:
    """Evaluate a scalar expression over a table; returns Python values."""
    column = evaluate_column(typed(sql, Schema.of_arrow(frame.schema)), frame)
    assert len(column) == frame.num_rows
    found: list[Any] = column.to_pylist()
    return found


def value(sql: str) -> Any:
    """Evaluate an expression of constants."""
    return values(sql)[0]


def table(**columns: tuple[str | DataType, Sequence[Any]]) -> pa.Table:
    """Make a table of one or more columns, each `(type name or Arrow type, values)`."""
    return pa.table(
        {
            name: pa.array(items, parse_type(dtype) if isinstance(dtype, str) else dtype)
            for name, (dtype, items) in columns.items()
        }
    )


def aggregated(sql: str, frame: pa.Table, by: Sequence[str] = (), order_by: Sequence[str] = ()) -> list[Any]:
    """Run an aggregate step of one output; returns its values."""
    order = tuple(map(parse_order, order_by))
    columns = {"out": Formula(parse_expression(sql))}
    return _step(Aggregate(columns=columns, by=plain_keys(by), order_by=order), frame)


def windowed(sql: str, frame: pa.Table, order_by: Sequence[str], by: Sequence[str] = ()) -> list[Any]:
    """Run a window step of one output; returns its values."""
    order = tuple(map(parse_order, order_by))
    return _step(Window(columns={"out": Formula(parse_expression(sql))}, by=tuple(by), order_by=order), frame)


def _step(step: Step, frame: pa.Table) -> list[Any]:
    problems = Problems()
    context = Context(Origin("stage", "given", 1), problems, {}, _no_other_table, Path())
    node = step.build(context, Given(frame=frame))
    problems.check()
    found: list[Any] = _run(node, PandasBackend()).column("out").to_pylist()
    return found


def _no_other_table(name: str) -> NoReturn:
    raise AssertionError(f"a step of one table reads '{name}'")


def _run(node: Node, backend: PandasBackend) -> pa.Table:
    return (
        node.frame if isinstance(node, Given) else backend.run(node, *(_run(source, backend) for source in node.inputs))
    )
