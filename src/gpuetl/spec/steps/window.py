"""The window step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from gpuetl.expressions.ir import Call, calls_of
from gpuetl.expressions.resolve import WINDOWS
from gpuetl.messages import coded
from gpuetl.plan import nodes
from gpuetl.plan.node import Node, SortKey
from gpuetl.records import dataclass
from gpuetl.spec.fields import key
from gpuetl.spec.forms import EXPRESSIONS, NAMES, ORDER
from gpuetl.spec.steps.rows import sort_keys
from gpuetl.spec.steps.step import Context, SiblingColumns, Step, split_calls
from gpuetl.spec.values import Formula, Order
from gpuetl.types.data_types import DURATION, is_temporal, type_name
from gpuetl.types.schema import Schema


@dataclass(frozen=True)
class Window(Step):
    """Add columns computed from the rows of a group: `window: {by: user, order_by: ts, columns: {n: row_number()}}`.

    Every row stays and gets the new columns. `by` makes the groups, and `order_by` orders the rows in each. Without
    `by`, all rows are one group. A frame is the current row and rows before it.
    """

    verb: ClassVar[str] = "window"
    columns: Mapping[str, Formula] = key(EXPRESSIONS, doc="the columns to compute, by window functions")
    by: tuple[str, ...] = key(NAMES, (), doc="the columns that make groups")
    order_by: tuple[Order, ...] = key(ORDER, (), doc="the order of the rows in a group")

    def build(self, context: Context, source: Node) -> Node:
        """Project the arguments, compute the windows, project the expressions over windows."""
        schema = source.schema
        by, order = context.keys(self.by, schema), sort_keys(context, self.order_by, schema)
        outputs = {
            str(name): context.expression(formula, schema, WINDOWS, SiblingColumns(self.columns, name))
            for name, formula in self.columns.items()
        }
        parts = split_calls("window", outputs, schema, schema)
        for call in calls_of("window", outputs.values()):
            self.check_order(context, call, order, schema)
        if parts.before:
            source = nodes.Project(
                source=source, columns={**nodes.passing(schema), **parts.before}, origin=context.origin
            )
        windowed = nodes.Window(source=source, by=by, order_by=order, calls=parts.calls, origin=context.origin)
        results = {**nodes.passing(schema), **parts.after}
        if nodes.passing(windowed.schema) == results:
            return windowed
        return nodes.Project(source=windowed, columns=results, origin=context.origin)

    def check_order(self, context: Context, call: Call, order: tuple[SortKey, ...], schema: Schema) -> None:
        """Every window needs an order; one over an interval needs it to begin with an ascending time."""
        if not self.order_by:
            context.problem(
                coded("GE1204", f"{call.function.name} needs order_by"),
                "Add order_by: the columns that order a group's rows.",
                next(iter(self.columns)),
            )
        by_time = bool(order) and is_temporal(schema[order[0].column]) and not order[0].descending
        if (
            any(arg.dtype == DURATION for arg in call.args[-1:])
            and _takes_interval(call)
            and order
            and not (by_time or schema.open)
        ):
            found = f"{order[0]} ({type_name(schema[order[0].column])})"
            needed = "order_by to begin with an ascending date or timestamp"
            message = coded("GE1204", f"{call.function.name} over an interval needs {needed}, not {found}")
            context.problem(message, "Put the time first in order_by, or give a number of rows.", self.order_by[0])


def _takes_interval(call: Call) -> bool:
    return call.function.arguments[len(call.args) - 1].name in ("frame", "half_life", "gap")
