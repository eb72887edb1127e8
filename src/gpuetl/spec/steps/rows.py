"""Steps that choose and order rows: filter, sort, limit, distinct."""

from __future__ import annotations

from typing import ClassVar

from gpuetl.expressions.fold import keeps_no_row
from gpuetl.expressions.ir import Expr, Literal, conjuncts
from gpuetl.expressions.resolve import resolve_all
from gpuetl.expressions.syntax import Constant, operands_of
from gpuetl.expressions.unparse import shown_sql
from gpuetl.messages import coded
from gpuetl.plan import nodes
from gpuetl.plan.node import Node
from gpuetl.records import dataclass
from gpuetl.spec.fields import key
from gpuetl.spec.forms import COUNT, EXPRESSION, ORDER, SOME_NAMES, SOME_ORDER, choice
from gpuetl.spec.steps.order import order_of, sorted_by, with_computed, without_computed
from gpuetl.spec.steps.step import Context, Step
from gpuetl.spec.values import Formula, Order, PartPlace
from gpuetl.types.data_types import BOOL, NULL, UNKNOWN, type_name
from gpuetl.types.schema import Schema


@dataclass(frozen=True)
class Filter(Step):
    """Keep the rows for which a condition is true: `filter: amount > 0`.

    A row for which the condition is false or null is dropped. gpuetl warns of a filter that can keep no row.
    """

    verb: ClassVar[str] = "filter"
    main: ClassVar[str] = "predicate"
    bare: ClassVar[bool] = True
    predicate: Formula = key(EXPRESSION, doc="an SQL condition; rows for which it is true stay")

    def build(self, context: Context, source: Node) -> Node:
        """Filter by the predicate, which must be a boolean."""
        predicate = context.expression(self.predicate, source.schema)
        if predicate.dtype not in (BOOL, NULL, UNKNOWN):
            message = coded(
                "GE1117", f"a filter takes a condition, and {shown_sql(predicate)} is {type_name(predicate.dtype)}"
            )
            text = isinstance(self.predicate.syntax, Constant) and isinstance(self.predicate.syntax.value, str)
            hint = 'In Python, write SQL as expr("…").' if text else "Compare it with something."
            context.problem(message, hint, self.predicate)
        warn_of_no_rows(context, self.predicate, predicate, source.schema)
        return nodes.Filter(source=source, predicate=predicate, origin=context.origin)


def warn_of_no_rows(context: Context, written: Formula, predicate: Expr, schema: Schema) -> None:
    """Warn of a filter that is false or null for every row, at the part of it that is."""
    if predicate.dtype == UNKNOWN or not any(map(keeps_no_row, conjuncts(predicate))):
        return
    for part in operands_of("and", written.syntax):
        expr, _ = resolve_all(part, context.scope(schema))
        if what := keeps_no_row(expr):
            null = "A comparison with null is never true: write IS NULL."
            hint = null if what == "null" else "Correct it, or take it out."
            shown = "it" if isinstance(expr, Literal) else shown_sql(expr)
            message = coded("GE1702", f"this filter keeps no row: {shown} is {what} for every row")
            context.warning(message, hint, PartPlace(written.node, part.span) if written.node else None)


@dataclass(frozen=True)
class Sort(Step):
    """Sort rows: `sort: [region, amount desc]`, or `sort: [abs(amount) desc, region]`.

    A key is a column or an expression. A text that is the name of a column is that column. Nulls come last, unless you
    write `nulls first`. Rows with equal keys keep their order. Strings compare by their UTF-8 bytes.
    """

    verb: ClassVar[str] = "sort"
    main: ClassVar[str] = "by"
    by: tuple[Order, ...] = key(
        SOME_ORDER, doc="columns or expressions to sort by, each with `desc` or `nulls first` if wanted"
    )

    def build(self, context: Context, source: Node) -> Node:
        """Sort by the keys."""
        return sorted_by(context, self.by, source)


@dataclass(frozen=True)
class Limit(Step):
    """Keep the first rows: `limit: 10`, or those after them: `limit: {count: 10, offset: 20}`.

    Sort the rows first. Without an order, the rows depend on the engine and on the number of partitions. `offset` rows
    are left out before the rows that stay. `limit: {offset: 20}` keeps all rows but the first 20.
    """

    verb: ClassVar[str] = "limit"
    main: ClassVar[str] = "count"
    count: int | None = key(COUNT, None, doc="the number of rows to keep; by default all")
    offset: int = key(COUNT, 0, doc="the number of rows to leave out before them")

    def build(self, context: Context, source: Node) -> Node:
        """Keep `count` rows after `offset` rows."""
        if self.count is None and not self.offset:
            context.problem(coded("GE1008", "limit takes a number of rows"), "Write limit: 10.")
            return source
        return nodes.Limit(source=source, count=self.count, offset=self.offset, origin=context.origin)


@dataclass(frozen=True)
class Distinct(Step):
    """Keep one row for each value of the columns: `distinct: [a, b]`, or `{on: a, keep: first, order_by: ts}`.

    The rows that stay keep all their columns. Without columns, `distinct: {}`, only rows that are equal in all columns
    count as one. With `keep: any`, engines may keep different rows. To choose the row, write `keep: first` and
    `order_by`.
    """

    verb: ClassVar[str] = "distinct"
    alone: ClassVar[bool] = True
    main: ClassVar[str] = "on"
    on: tuple[str, ...] | None = key(SOME_NAMES, None, doc="the columns whose values appear once; by default all")
    keep: str = key(choice("any", "first"), "any", doc="which row of several stays")
    order_by: tuple[Order, ...] = key(ORDER, (), doc="the order that says which row is the first")

    def build(self, context: Context, source: Node) -> Node:
        """Keep one row a key; `keep: first` needs an order."""
        if (self.keep == "first") != bool(self.order_by):
            message = coded("GE1208", "distinct with keep: first needs order_by, and order_by needs keep: first")
            hint = "Add keep: first." if self.order_by else "Add order_by: the columns that order a key's rows."
            context.problem(message, hint, self.on[0] if self.on else None)
        if self.on is None and self.order_by:
            message = coded("GE1208", "rows that are equal in all columns have no first")
            context.problem(message, "Add on: the columns that identify a row.", self.order_by[0])
        on = context.keys(source.schema if self.on is None else self.on, source.schema, nested=True)
        order, computed = order_of(context, self.order_by, source.schema, nested=True)
        rows = with_computed(context, source, computed)
        distinct = nodes.Distinct(source=rows, on=on, order_by=order, origin=context.origin)
        return without_computed(context, distinct, computed)
