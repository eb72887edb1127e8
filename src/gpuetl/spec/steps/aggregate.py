"""The aggregate step."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import ClassVar

from gpuetl.expressions.advice import shown_name
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.functions.aggregates import split_order
from gpuetl.expressions.ir import Call, Column, Expr, Literal, calls_of, substitute
from gpuetl.expressions.scope import WRONG
from gpuetl.expressions.unparse import shown_sql
from gpuetl.messages import coded
from gpuetl.plan import nodes
from gpuetl.plan.node import Node, SortKey
from gpuetl.records import dataclass
from gpuetl.spec.fields import key
from gpuetl.spec.forms import EXPRESSION, EXPRESSIONS, ORDER
from gpuetl.spec.group_forms import GROUP_SETS, KEYS, GroupKeys, GroupSets, is_plain
from gpuetl.spec.steps.call_orders import needs_order, orders_of, takes_order
from gpuetl.spec.steps.group_keys import Keys, Masks, keys_of_groups, mask_of, typed_over_groups
from gpuetl.spec.steps.group_sets import sets_of
from gpuetl.spec.steps.order import order_of
from gpuetl.spec.steps.step import Calls, Context, SiblingColumns, Step, split_calls
from gpuetl.spec.values import Formula, Order
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import BOOL, INT64, NULL, UNKNOWN, type_name
from gpuetl.types.schema import Schema

HAVING = ":having"
"""Names the condition among the outputs."""


@dataclass(frozen=True)
class Aggregate(Step):
    """Compute one row for each group: `aggregate: {by: [a, b], columns: {n: count(*), mean_x: sum(x) / count(x)}}`.

    The result has the columns of `by`, then the new columns. Rows with a null key form a group. Without `by`, all rows
    are one group. The groups come in no fixed order: add a `sort` step if the order matters.

    A key is a column, or an expression with a name: `by: [region, {month: date_trunc('month', ts)}]`. Inside an
    aggregate function a name is a column of the input. Elsewhere it is a key.

    `having` keeps the groups for which a condition is true: `having: n > 10`. It reads keys, new columns and
    aggregates. The aggregates need not be columns: `having: max(amount) > 100`.

    `group_sets: rollup` gives the groups of `[a, b]`, of `[a]`, and one of all rows. `cube` gives those of every subset
    of `by`. A list of lists names the sets: `group_sets: [[a, b], [b], []]`. A key is null in the rows that are not
    grouped by it. There `grouping(a)` is 1. Where null is a value of the key it is 0. `grouping(a, b)` has a bit for
    each key, `b` the lowest. The set `[]` gives a row also if there are no rows.

    `first` and `last` need an order: `order_by` of the step, `{by: a, order_by: [ts, id], columns: {f: first(x)}}`, or
    one of their own, `first(x ORDER BY ts DESC, id)`. `array_agg` and `string_agg` take the same. Without an order,
    their values are in ascending order.
    """

    verb: ClassVar[str] = "aggregate"
    columns: Mapping[str, Formula] = key(
        EXPRESSIONS, doc="the columns to compute for each group, by aggregate functions"
    )
    by: GroupKeys = key(KEYS, {}, doc="the columns that make groups, or names of expressions that do")
    order_by: tuple[Order, ...] = key(
        ORDER, (), doc="the order of rows for `first`, `last`, `array_agg` and `string_agg`"
    )
    having: Formula | None = key(EXPRESSION, None, doc="a condition over the group; groups for which it is true stay")

    group_sets: GroupSets = key(
        GROUP_SETS, None, doc="`rollup`, `cube` or a list of lists of keys: groups of several kinds in one result"
    )

    def build(self, context: Context, source: Node) -> Node:
        """Project the arguments, aggregate, project the expressions over aggregates."""
        schema = source.schema
        keys, masks = keys_of_groups(context, self.by, schema), Masks()
        order, in_order = order_of(context, self.order_by, schema, nested=True)
        outputs = {str(name): self.output(context, name, schema, keys, masks) for name in self.columns}
        kept = {} if self.having is None else {HAVING: self.condition(context, schema, keys, outputs, masks)}
        self.check_order(context, {**outputs, **kept})
        parts = split_calls("aggregate", {**outputs, **kept}, tuple(keys.columns.values()), schema)
        if before := {**keys.computed, **in_order, **parts.before}:
            source = nodes.Project(source=source, columns={**nodes.passing(schema), **before}, origin=context.origin)
        groups = Groups(context.origin, source, keys, parts, order, masks)
        sets = sets_of(context, self.group_sets, keys)
        whole = [groups.node(tuple(keys.exprs))] if sets is None else list(map(groups.node, sets))
        node = reduce(lambda left, right: nodes.Union(left=left, right=right, origin=context.origin), whole)
        return context.doubtful(node, [name for name, formula in self.by.items() if is_plain(name, formula)], schema)

    def check_order(self, context: Context, outputs: Mapping[str, Expr]) -> None:
        """Ask for order_by where a call needs it, and only there: the rows that leave are in no order."""
        calls = [(name, call) for name, expr in outputs.items() for call in calls_of("aggregate", [expr])]
        without = [(name, call) for name, call in calls if not split_order(call)[1]]
        ordered = [(name, shown_name(call.function)) for name, call in without if needs_order(call)]
        if ordered and not self.order_by:
            column, function = ordered[0]
            hint = "Add order_by: the columns that order a group's rows."
            at = self.having if column == HAVING else next(name for name in self.columns if name == column)
            context.problem(coded("GE1205", f"{function} needs order_by"), hint, at)
        unknown = any(expr.dtype == UNKNOWN for expr in outputs.values())
        if self.order_by and not unknown and not any(takes_order(call) for _, call in calls):
            hint = "To order the rows that leave, add a sort step after."
            message = "order_by is for first, last, array_agg and string_agg, and none is here"
            context.problem(coded("GE1205", message), hint, self.order_by[0])

    def output(self, context: Context, name: str, schema: Schema, keys: Keys, masks: Masks) -> Expr:
        """Return one output's expression; outside its aggregates it may read only the keys."""
        if name in keys.exprs:
            context.problem(coded("GE1023", f"'{name}' is a key and an output"), "Give the output another name.", name)
        formula = self.columns[name]
        expr = typed_over_groups(context, formula, schema, keys, {}, masks, SiblingColumns(self.columns, name))
        return self.checked(context, expr, formula, schema, keys, masks)

    def condition(
        self, context: Context, schema: Schema, keys: Keys, outputs: Mapping[str, Expr], masks: Masks
    ) -> Expr:
        """Return the condition of `having`, which must be a boolean."""
        assert self.having is not None
        named = {name: expr for name, expr in outputs.items() if name not in keys.exprs}
        expr = typed_over_groups(context, self.having, schema, keys, named, masks)
        if expr.dtype not in (BOOL, NULL, UNKNOWN):
            message = f"having takes a condition, and {shown_sql(self.having.syntax)} is {type_name(expr.dtype)}"
            context.problem(coded("GE1117", message), "Compare it with something.", self.having)
            return WRONG
        return self.checked(context, expr, self.having, schema, keys, masks)

    def checked(self, context: Context, expr: Expr, formula: Formula, schema: Schema, keys: Keys, masks: Masks) -> Expr:
        """Return an expression over groups that reads only keys outside its aggregates."""
        loose = sorted(_outside(expr) - {*keys.columns.values(), *masks})
        if loose and any(is_plain(name, key) and name not in schema for name, key in self.by.items()):
            return WRONG  # a key that is misspelt may be the column
        if loose:
            message = coded("GE1206", f"column '{loose[0]}' has many values in a group")
            context.problem(message, f"Aggregate it, as in max({loose[0]}), or add it to by.", formula)
            return WRONG
        return expr


@dataclass(frozen=True)
class Groups:
    """What an aggregate computes of its groups, whichever of the keys make them."""

    origin: Origin
    source: Node
    keys: Keys
    parts: Calls
    order: tuple[SortKey, ...]
    masks: Masks

    def node(self, names: tuple[str, ...]) -> Node:
        """Aggregate by some of the keys, keep the groups of `having`, and project; other keys are null."""
        calls = dict(self.parts.calls)
        if not names and not calls:  # constants alone: the one row must come from somewhere
            calls[":rows"] = Call(FUNCTIONS["aggregate", "count_rows"], (), INT64)
        orders = orders_of(calls, self.order)
        by = tuple(self.keys.columns[name] for name in names)
        node: Node = nodes.Aggregate(source=self.source, by=by, calls=calls, orders=orders, origin=self.origin)
        results = {**self.keys.results, **self.parts.after}
        known: dict[str, Expr] = {name: mask_of(keys, names) for name, keys in self.masks.items()}
        known |= {
            col: Literal(None, self.keys.exprs[n].dtype) for n, col in self.keys.columns.items() if n not in names
        }
        results = {name: substitute(expr, known) for name, expr in results.items()} if known else results
        if (condition := results.pop(HAVING, None)) is not None:
            node = nodes.Filter(source=node, predicate=condition, origin=self.origin)
        if nodes.passing(node.schema) == results:
            return node
        return nodes.Project(source=node, columns=results, origin=self.origin)


def _outside(expr: Expr) -> set[str]:
    """Return the columns that stand outside the aggregate calls."""
    if isinstance(expr, Column):
        return {expr.name}
    if isinstance(expr, Call):
        return set() if expr.function.kind == "aggregate" else {name for arg in expr.args for name in _outside(arg)}
    return _outside(expr.operand) if hasattr(expr, "operand") else set()
