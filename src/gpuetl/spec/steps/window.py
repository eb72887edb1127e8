"""The window step."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import ClassVar

from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.functions.aggregates import edge_arguments
from gpuetl.expressions.functions.frames import NUMBERS, TIMES, frame_of
from gpuetl.expressions.functions.windows import NEEDS_LATER_ROWS
from gpuetl.expressions.ir import Call, Expr, Literal, Parameter, calls_of
from gpuetl.expressions.scope import GROUP_WINDOWS
from gpuetl.expressions.syntax import Apply
from gpuetl.expressions.unparse import shown_sql
from gpuetl.messages import coded
from gpuetl.plan import nodes
from gpuetl.plan.node import Node, SortKey
from gpuetl.records import dataclass
from gpuetl.spec.fields import key
from gpuetl.spec.forms import EXPRESSION, EXPRESSIONS, NAMES, ORDER, choice
from gpuetl.spec.steps.call_orders import needs_order, orders_of, takes_order
from gpuetl.spec.steps.order import groups_of, order_of
from gpuetl.spec.steps.step import Context, SiblingColumns, Step, split_calls
from gpuetl.spec.values import Formula, Order
from gpuetl.types.data_types import BOOL, DURATION, UNKNOWN, is_number, is_temporal, type_name
from gpuetl.types.schema import Schema

STATES = choice("none", "keep")
LATE_ROWS = choice("error", "drop")


@dataclass(frozen=True)
class Window(Step):
    """Add columns computed from the rows of a group: `window: {by: user, order_by: ts, columns: {n: row_number()}}`.

    Every row stays and gets the new columns. `by` makes the groups, and `order_by` orders the rows in each. Both
    take columns and expressions: `{by: [shop, month(ts)], order_by: [abs(amount) desc]}`. Without `by`, all rows are
    one group. A frame is the current row and rows before it, or has two ends:
    `rolling_mean(x, rows => [-2, 2])`.

    Aggregates are over the whole group, whatever the order: `{by: user, columns: {share: spent / sum(spent)}}`. A step
    that has only these takes no `order_by`, and its rows stay in the order of the input.

    With `state: keep` groups go on from the last run: feeding days one after another gives what one run over all days
    gives, at the cost of a day. See [window state](window-state.md).
    """

    verb: ClassVar[str] = "window"
    columns: Mapping[str, Formula] = key(EXPRESSIONS, doc="the columns to compute, by window functions")
    by: tuple[str, ...] = key(NAMES, (), doc="the columns or expressions that make groups")
    order_by: tuple[Order, ...] = key(ORDER, (), doc="the columns or expressions that order the rows in a group")
    state: str = key(STATES, "none", doc="`keep`: go on from the last run, and store the state for the next one")
    late_rows: str = key(LATE_ROWS, "error", doc="with `state: keep`: rows that come before those of earlier runs")
    forget: Formula | None = key(EXPRESSION, None, doc="with `state: keep`: the age at which the state drops a group")

    def build(self, context: Context, source: Node) -> Node:
        """Project the arguments, compute windows and aggregates of groups, project the expressions over them."""
        schema = source.schema
        by, of_groups = groups_of(context, self.by, schema)
        order, in_order = order_of(context, self.order_by, schema, nested=True)
        keys = {**of_groups, **in_order}
        if keys and self.state == "keep":
            message = coded("GE1551", "state: keep takes columns in by and order_by, not expressions")
            context.problem(message, "Compute them in a with_columns step before.", next(iter(self.columns)))
        outputs = {
            str(name): context.expression(formula, schema, GROUP_WINDOWS, SiblingColumns(self.columns, name))
            for name, formula in self.columns.items()
        }
        self.check_order(context, outputs, order, schema.updated({name: expr.dtype for name, expr in keys.items()}))
        split = split_calls("window", outputs, schema, schema)
        taken = {**schema, **split.before, **split.calls}
        totals = split_calls("aggregate", split.after, taken, taken)
        if before := {**keys, **split.before, **totals.before}:
            source = nodes.Project(source=source, columns={**nodes.passing(schema), **before}, origin=context.origin)
        if totals.calls and not self.by:
            source = with_totals(source, totals.calls, order, context)
        if split.calls:
            source = self.windowed(context, nodes.Window(
                source=source, by=by, order_by=order, calls=split.calls, origin=context.origin
            ))  # fmt: skip
        elif self.state == "keep" and not totals.calls:
            context.problem(coded("GE1551", "state: keep has no window function to keep the state of"), "Leave it out.")
        if totals.calls and by:
            orders = orders_of(totals.calls, order)
            source = nodes.GroupWindow(source=source, by=by, calls=totals.calls, orders=orders, origin=context.origin)
        results = {**nodes.passing(schema), **totals.after}
        if nodes.passing(source.schema) == results:
            return source
        return nodes.Project(source=source, columns=results, origin=context.origin)

    def windowed(self, context: Context, window: nodes.Window) -> nodes.Window:
        """Return the window, as one that keeps its state where that is asked for and can be."""
        if self.state != "keep":
            for name, given in (("late_rows", self.late_rows != "error"), ("forget", self.forget is not None)):
                if given:
                    message = coded("GE1551", f"{name} is for a window with state: keep")
                    context.problem(message, f"Add state: keep, or leave {name} out.", getattr(self, name))
            return window
        for call in window.calls.values():
            if needed := later_rows(call):
                message = coded(
                    "GE1551", f"state: keep: {call.function.name} needs {needed}, which later runs may have"
                )
                hint = "Compute it in a window step of its own, without state: keep."
                context.problem(message, hint, self.place_of(call))
        forget = self.forgotten(context, window)
        return nodes.KeptWindow(
            source=window.source, by=window.by, order_by=window.order_by, calls=window.calls, origin=window.origin,
            late_rows="drop" if self.late_rows == "drop" else "error", forget=forget,
        )  # fmt: skip

    def place_of(self, call: Call) -> object:
        """Return the first expression that has a call of the function, or else the first column's name."""
        written = (formula for formula in self.columns.values() if call.function.name in names_of_calls(formula))
        return next(written, next(iter(self.columns)))

    def forgotten(self, context: Context, window: nodes.Window) -> timedelta | None:
        """Return the age at which groups are dropped from the state; problems where it is no interval of a time."""
        if self.forget is None:
            return None
        age = context.expression(self.forget, Schema())
        schema = window.source.schema
        dtype = schema.get(window.order_by[0].column, UNKNOWN) if window.order_by else UNKNOWN
        by_time = is_temporal(dtype) and not window.order_by[0].descending
        if window.order_by and not (by_time or schema.open):
            message = coded("GE1551", "forget needs order_by to begin with an ascending date or timestamp")
            context.problem(message, "Put the time first in order_by, or leave forget out.", self.forget)
        if isinstance(age, Parameter):
            return None
        if not isinstance(age, Literal) or age.dtype != DURATION or not age.value or age.value <= timedelta(0):
            if age.dtype != UNKNOWN:
                message = coded("GE1551", f"forget takes an interval above zero, got {shown_sql(age)}")
                context.problem(message, "Write forget: interval '90 days'.", self.forget)
            return None
        return age.value if isinstance(age.value, timedelta) else None

    def check_order(
        self, context: Context, outputs: Mapping[str, Expr], order: tuple[SortKey, ...], schema: Schema
    ) -> None:
        """Ask for an order where a function needs it, and only there; over an interval it begins with a time."""
        windows, aggregates = (calls_of(kind, outputs.values()) for kind in ("window", "aggregate"))
        needing = [*windows, *filter(needs_order, aggregates)]
        if needing and not self.order_by:
            message = coded("GE1204", f"{needing[0].function.name} needs order_by")
            context.problem(message, "Add order_by: the columns that order a group's rows.", next(iter(self.columns)))
        function = written_name(aggregates[0]) if aggregates else ""
        if self.state == "keep" and aggregates:
            message = coded("GE1551", f"state: keep: {function} is of the whole group, also of later runs' rows")
            hint = "Compute it in a window step of its own, without state: keep."
            context.problem(message, hint, self.place_of(aggregates[0]))
        unknown = any(expr.dtype == UNKNOWN for expr in outputs.values())
        used = bool(windows) or any(map(takes_order, aggregates))
        if self.order_by and aggregates and not used and not unknown:
            message = coded("GE1205", f"order_by does nothing here: {function} is over the whole group")
            context.problem(message, so_far_hint(aggregates[0]), self.order_by[0])
        for call in windows:
            self.check_time(context, call, order, schema)

    def check_time(self, context: Context, call: Call, order: tuple[SortKey, ...], schema: Schema) -> None:
        """A function over an interval needs an order that begins with an ascending time."""
        if not order or schema.open or not (measured := measured_by(call)):
            return
        dtype = schema[order[0].column]
        fits = is_temporal(dtype) if measured == "an interval" else is_number(dtype)
        if not fits or order[0].descending:
            found = f"{order[0]} ({type_name(dtype)})"
            key = "date or timestamp" if measured == "an interval" else "number"
            needed = f"order_by to begin with an ascending {key}"
            message = coded("GE1204", f"{call.function.name} over {measured} needs {needed}, not {found}")
            what = "number" if key == "number" else "time"
            hint = f"Put the {what} first in order_by, or give a number of rows."
            context.problem(message, hint, self.order_by[0])


def with_totals(source: Node, calls: Mapping[str, Call], order: tuple[SortKey, ...], context: Context) -> Node:
    """Return the rows with aggregates of all of them: a cross join with their one row, which moves no rows."""
    origin = context.origin
    totals = nodes.Aggregate(source=source, by=(), calls=calls, orders=orders_of(calls, order), origin=origin)
    return nodes.Join(left=source, right=totals, left_on=(), right_on=(), how="cross", origin=origin)


def written_name(call: Call) -> str:
    """Return the name of an aggregate as it is written."""
    return "count(*)" if call.function.name == "count_rows" else call.function.name


def so_far_hint(call: Call) -> str:
    """Return what to do about an order that an aggregate does not need."""
    so_far = f"cum_{call.function.name.removesuffix('_rows')}"
    also = f", or write {so_far} for the rows so far" if ("window", so_far) in FUNCTIONS else ""
    return f"Leave order_by out{also}."


def later_rows(call: Call) -> str:
    """Return what a window function needs of later rows; nothing where it needs none."""
    if call.function.name in NEEDS_LATER_ROWS:
        return "rows that come later in its group"
    if call.function.name == "rank" and call.args:
        return "later rows that tie"
    if {slot.name for slot in call.function.arguments} >= {"rows", "range"}:
        frame = frame_of(call)
        if frame.kind == "range" or frame.end is None or (frame.kind == "rows" and frame.end > 0):
            return "rows after the current one, or that tie with it,"
    if call.function.name == "first":
        _, ignore_nulls, only = edge_arguments(call)
        if ignore_nulls or only != Literal(True, BOOL):
            return "the first row that fits, also where it comes later"
    return ""


def names_of_calls(formula: Formula) -> set[str]:
    """Return the names of the functions that an expression calls."""
    return {part.function for part in formula.parts if isinstance(part, Apply)}


def measured_by(call: Call) -> str:
    """Return what a function compares the first key of the order by: `an interval`, or `numbers`; else nothing."""
    for slot, arg in zip(call.function.arguments, call.args, strict=False):
        if slot.name in ("frame", "half_life", "gap") and arg.dtype == DURATION:
            return "an interval"
        if slot.name == "range" and arg.dtype in (TIMES, NUMBERS):
            return "an interval" if arg.dtype == TIMES else "numbers"
    return ""
