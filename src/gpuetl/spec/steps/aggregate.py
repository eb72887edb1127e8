"""The aggregate step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from gpuetl.expressions.advice import shown_name
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.functions.aggregates import split_order
from gpuetl.expressions.ir import Call, Column, Expr, calls_of
from gpuetl.expressions.resolve import AGGREGATES, WRONG
from gpuetl.messages import coded
from gpuetl.plan import nodes
from gpuetl.plan.node import Node
from gpuetl.records import dataclass
from gpuetl.spec.fields import key
from gpuetl.spec.forms import EXPRESSIONS, NAMES, ORDER
from gpuetl.spec.steps.call_orders import needs_order, orders_of, takes_order
from gpuetl.spec.steps.rows import sort_keys
from gpuetl.spec.steps.step import Context, SiblingColumns, Step, split_calls
from gpuetl.spec.values import Formula, Order
from gpuetl.types.data_types import INT64, UNKNOWN


@dataclass(frozen=True)
class Aggregate(Step):
    """Compute one row for each group: `aggregate: {by: [a, b], columns: {n: count(*), mean_x: sum(x) / count(x)}}`.

    The result has the columns of `by`, then the new columns. Rows with a null key form a group. Without `by`, all rows
    are one group. The groups come in no fixed order: add a `sort` step if the order matters.

    `first` and `last` need an order: `order_by` of the step, `{by: a, order_by: [ts, id], columns: {f: first(x)}}`, or
    one of their own, `first(x ORDER BY ts DESC, id)`. `array_agg` and `string_agg` take the same. Without an order,
    their values are in ascending order.
    """

    verb: ClassVar[str] = "aggregate"
    columns: Mapping[str, Formula] = key(
        EXPRESSIONS, doc="the columns to compute for each group, by aggregate functions"
    )
    by: tuple[str, ...] = key(NAMES, (), doc="the columns that make groups")
    order_by: tuple[Order, ...] = key(
        ORDER, (), doc="the order of rows for `first`, `last`, `array_agg` and `string_agg`"
    )

    def build(self, context: Context, source: Node) -> Node:
        """Project the arguments, aggregate, project the expressions over aggregates."""
        schema = source.schema
        by, order = context.keys(self.by, schema), sort_keys(context, self.order_by, schema)
        keys = frozenset(by)
        outputs = {str(name): self.output(context, name, source, keys) for name in self.columns}
        self.check_order(context, outputs)
        parts = split_calls("aggregate", outputs, by, source.schema)
        if not by and not parts.calls:  # constants alone: the one row must come from somewhere
            parts.calls[":rows"] = Call(FUNCTIONS["aggregate", "count_rows"], (), INT64)
        if parts.before:
            source = nodes.Project(
                source=source, columns={**nodes.passing(source.schema), **parts.before}, origin=context.origin
            )
        orders = orders_of(parts.calls, order)
        grouped = nodes.Aggregate(source=source, by=by, calls=parts.calls, orders=orders, origin=context.origin)
        results = {**nodes.passing(grouped.schema.select(by)), **parts.after}
        if nodes.passing(grouped.schema) == results:
            return context.doubtful(grouped, self.by, schema)
        projected = nodes.Project(source=grouped, columns=results, origin=context.origin)
        return context.doubtful(projected, self.by, schema)

    def check_order(self, context: Context, outputs: Mapping[str, Expr]) -> None:
        """Ask for order_by where a call needs it, and only there: the rows that leave are in no order."""
        calls = [(name, call) for name, expr in outputs.items() for call in calls_of("aggregate", [expr])]
        without = [(name, call) for name, call in calls if not split_order(call)[1]]
        ordered = [(name, shown_name(call.function)) for name, call in without if needs_order(call)]
        if ordered and not self.order_by:
            column, function = ordered[0]
            hint = "Add order_by: the columns that order a group's rows."
            context.problem(
                coded("GE1205", f"{function} needs order_by"),
                hint,
                next(name for name in self.columns if name == column),
            )
        unknown = any(expr.dtype == UNKNOWN for expr in outputs.values())
        if self.order_by and not unknown and not any(takes_order(call) for _, call in calls):
            hint = "To order the rows that leave, add a sort step after."
            message = "order_by is for first, last, array_agg and string_agg, and none is here"
            context.problem(coded("GE1205", message), hint, self.order_by[0])

    def output(self, context: Context, name: str, source: Node, by: frozenset[str]) -> Expr:
        """Return one output's expression; outside its aggregates it may read only the keys."""
        if name in by:
            context.problem(coded("GE1023", f"'{name}' is a key and an output"), "Give the output another name.", name)
        formula = self.columns[name]
        expr = context.expression(formula, source.schema, AGGREGATES, SiblingColumns(self.columns, name))
        loose = sorted(_outside(expr) - by)
        if loose and any(key not in source.schema for key in self.by):  # a key that is misspelt may be the column
            return WRONG
        if loose:
            message = coded("GE1206", f"column '{loose[0]}' has many values in a group")
            context.problem(message, f"Aggregate it, as in max({loose[0]}), or add it to by.", formula)
            return WRONG
        return expr


def _outside(expr: Expr) -> set[str]:
    """Return the columns that stand outside the aggregate calls."""
    if isinstance(expr, Column):
        return {expr.name}
    if isinstance(expr, Call):
        return set() if expr.function.kind == "aggregate" else {name for arg in expr.args for name in _outside(arg)}
    return _outside(expr.operand) if hasattr(expr, "operand") else set()
