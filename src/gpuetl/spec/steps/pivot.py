"""The pivot step: values of a column become columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from gpuetl.errors import Problems
from gpuetl.expressions.build import col, lit
from gpuetl.expressions.expression import apply
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.functions.aggregates import CELL
from gpuetl.expressions.ir import Call, Cast, Column, Expr, Literal, substitute, transform
from gpuetl.expressions.resolve import formula
from gpuetl.messages import coded
from gpuetl.plan import nodes
from gpuetl.plan.node import REFUSED, Node
from gpuetl.records import dataclass
from gpuetl.spec.fields import key
from gpuetl.spec.forms import NAME, ORDER, choice
from gpuetl.spec.group_forms import KEYS, PIVOT_VALUES, PIVOTED, GroupKeys, plain_keys
from gpuetl.spec.parameters import parse_value
from gpuetl.spec.steps.aggregate import Aggregate
from gpuetl.spec.steps.group_keys import Masks, keys_of_groups
from gpuetl.spec.steps.step import Context, Step, Unknown
from gpuetl.spec.values import Formula, Order, UntypedConstant
from gpuetl.types.data_types import (
    BOOL,
    INT64,
    STRING,
    UNKNOWN,
    DataType,
    can_cast,
    is_floating,
    type_name,
)
from gpuetl.types.schema import free_name

COUNTS = frozenset(["count", "count_rows", "count_if", "count_distinct", "approx_count_distinct", "regr_count"])
"""Aggregates that are 0 of no rows; the others are null."""
ALONE = ":value"
"""The column of an aggregate that has no name."""


@dataclass(frozen=True)
class Pivot(Step):
    """Make columns of the values of a column: `pivot: {by: id, names: status, values: sum(x), columns: [OK, LATE]}`.

    The result has one row for each group of `by`, as an aggregate step has. Each value in `columns` has a column of its
    name: the aggregate over the rows of the group with this value in the column `names`. It is null, or 0 for a count,
    where the group has no such row. With `values: {total: sum(x), n: count(*)}` the columns are `OK_total`, `OK_n`,
    `LATE_total` and so on.

    The columns of a result are known before a run, so `columns` lists the values, or names a parameter that is a list:
    `columns: $statuses`. A row with another value or null stops the run. With `others: ignore` such rows count for no
    column. Their groups stay.
    """

    verb: ClassVar[str] = "pivot"
    names: str = key(NAME, doc="the column whose values become columns")
    values: Mapping[str, Formula] = key(PIVOTED, doc="an aggregate, or a map of names to aggregates")
    columns: tuple[UntypedConstant, ...] = key(PIVOT_VALUES, doc="the values that become columns, in this order")
    by: GroupKeys = key(KEYS, {}, doc="the columns that make groups, or names of expressions that do")
    order_by: tuple[Order, ...] = key(ORDER, (), doc="the order of rows for `first` and `last`")
    others: str = key(choice("error", "ignore"), "error", doc="what to do with a value that is not in `columns`")

    def build(self, context: Context, source: Node) -> Node:
        """Aggregate by the keys and the names, and choose each cell from the rows of a group."""
        known = context.keys([self.names], source.schema)
        if self.names in self.by:
            message = coded("GE1824", f"'{self.names}' makes groups and names columns")
            context.problem(message, "Leave it out of by.", self.names)
        cells = Aggregate(self.cells, {**self.by, **plain_keys([self.names])}, self.order_by)
        grouped = cells.build(context, source)
        labels = self.labels(context, grouped)
        if not known or labels is None or self.names in self.by or self.names not in grouped.schema:
            return Unknown(source=grouped, columns={}, origin=context.origin)
        return self.spread(context, grouped, labels, self.empty_values(context, source, cells))

    @property
    def cells(self) -> dict[str, Formula]:
        """The aggregates by the names of the columns that hold them before they are spread."""
        return {name or ALONE: value for name, value in self.values.items()}

    def labels(self, context: Context, grouped: Node) -> dict[str, Literal] | None:
        """Return the values by the names of their columns; None, with problems kept, where one is wrong."""
        dtype = grouped.schema.get(self.names, UNKNOWN)
        found: dict[str, Literal] = {}
        for given in self.columns:
            if dtype == UNKNOWN:
                return None
            value = given.value
            try:
                if dtype == STRING and not isinstance(value, str):
                    raise ValueError(f"'{label_of(value)}' is not a string")
                exact = repr(value) if isinstance(value, float) and not is_floating(dtype) else value
                literal = Literal(parse_value(exact, dtype), dtype)
            except ValueError as error:
                context.problem(coded("GE1824", str(error)), f"'{self.names}' is {type_name(dtype)}.", given)
                return None
            if literal in found.values():
                message = coded("GE1824", f"'{label_of(value)}' is listed twice")
                context.problem(message, "Leave one of them out.", given)
                return None
            found[label_of(value)] = literal
        names = Counter([*self.by, *(name for label in found for name in self.outputs(label))])
        if twice := next((name for name, count in names.items() if count > 1), None):
            context.problem(coded("GE1023", f"pivot gives two columns the name '{twice}'"), "Rename one.", self.names)
            return None
        return found

    def outputs(self, label: str) -> list[str]:
        """Return the columns of a value."""
        return [f"{label}_{name}" if name else label for name in self.values]

    def empty_values(self, context: Context, source: Node, cells: Aggregate) -> dict[str, Expr]:
        """Return what the aggregates are of no rows, where that is not null; over the keys and the names."""
        quiet, masks = replace(context, problems=Problems()), Masks()
        keys = keys_of_groups(quiet, cells.by, source.schema)
        found: dict[str, Expr] = {}
        for name in self.cells:
            expr = cells.output(quiet, name, source.schema, keys, masks)
            named: dict[str, Expr] = {
                column: Column(key, keys.exprs[key].dtype) for key, column in keys.columns.items()
            }
            named |= dict.fromkeys(masks, Literal(0, INT64))
            empty = transform(substitute_outside(expr, named), of_no_rows)
            if expr.dtype != UNKNOWN and not is_null(empty):
                found[name] = empty
        return found

    def spread(self, context: Context, grouped: Node, labels: Mapping[str, Literal], empty: Mapping[str, Expr]) -> Node:
        """Give each row of a group the number of its column, and take each column's cell from the row that has it."""
        schema = grouped.schema
        place = free_name(f"{self.names}:place", schema)
        columns = nodes.passing(schema)
        named = Column(self.names, schema[self.names])
        rest: Expr = Literal(-1, INT64)
        if self.others == "error":
            problem = free_name(f"{self.names}{REFUSED}", schema)
            text = refused_value(self.names, named)
            grouped = nodes.Project(source=grouped, columns={**columns, problem: text}, origin=context.origin)
            rest = Cast(Column(problem, STRING), INT64)
        branches = [part for number, literal in enumerate(labels.values()) for part in (
            call("equal", BOOL, named, literal), Literal(number, INT64),
        )]  # fmt: skip
        columns[place] = Call(FUNCTIONS["scalar", "case"], (*branches, rest), INT64)
        node: Node = nodes.Project(source=grouped, columns=columns, origin=context.origin)
        return self.chosen(context, node, Column(place, INT64), labels, empty)

    def chosen(
        self, context: Context, node: Node, place: Column, labels: Mapping[str, Literal], empty: Mapping[str, Expr]
    ) -> Node:
        """Choose the cells: of each group and column there is one row or none."""
        calls, results = dict[str, Call](), dict[str, Expr]()
        for number, (label, literal) in enumerate(labels.items()):
            where = (place, Literal(number, INT64), Literal(len(labels), INT64))
            for name, output in zip(self.cells, self.outputs(label), strict=True):
                dtype = node.schema[name]
                cell = free_name(f"{output}:cell", node.schema, calls)
                calls[cell] = Call(CELL, (Column(name, dtype), *where), dtype)
                results[output] = Column(cell, dtype)
                if name in empty:
                    found = f"{label}:place"
                    calls[found] = Call(CELL, (place, *where), INT64)
                    other = substitute(empty[name], {str(self.names): literal})
                    parts = (call("is_null", BOOL, Column(found, INT64)), other, Column(cell, dtype))
                    results[output] = Call(FUNCTIONS["scalar", "case"], parts, dtype)
        by = tuple(map(str, self.by))
        whole = nodes.Aggregate(source=node, by=by, calls=calls, origin=context.origin)
        columns = {**nodes.passing(whole.schema.select(by)), **results}
        return nodes.Project(source=whole, columns=columns, origin=context.origin)


def label_of(value: object) -> str:
    """Return a value as the name of a column."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def of_no_rows(expr: Expr) -> Expr:
    """Return what an aggregate of no rows is, and what is null because an argument is."""
    if isinstance(expr, Call) and expr.function.kind == "aggregate":
        return Literal(0 if expr.function.name in COUNTS else None, expr.dtype)
    if isinstance(expr, Call) and expr.function.nulls == "propagate" and any(map(is_null, expr.args)):
        return Literal(None, expr.dtype)
    return Literal(None, expr.dtype) if isinstance(expr, Cast) and is_null(expr.operand) else expr


def is_null(expr: Expr) -> bool:
    """Return whether an expression is the constant null."""
    return isinstance(expr, Literal) and expr.value is None


def substitute_outside(expr: Expr, columns: Mapping[str, Expr]) -> Expr:
    """Replace columns outside of aggregate calls."""
    if isinstance(expr, Column):
        return columns.get(expr.name, expr)
    if isinstance(expr, Call) and expr.function.kind != "aggregate":
        return replace(expr, args=tuple(substitute_outside(arg, columns) for arg in expr.args))
    return replace(expr, operand=substitute_outside(expr.operand, columns)) if isinstance(expr, Cast) else expr


def call(name: str, dtype: DataType, *args: Expr) -> Call:
    """Return a call of a scalar function."""
    return Call(FUNCTIONS["scalar", name], args, dtype)


def refused_value(name: str, value: Column) -> Expr:
    """Return the text that refuses a value which no column has."""
    if value.dtype != STRING and not can_cast(value.dtype, STRING):
        return Literal(f"a value of {name} is not in columns of the pivot", STRING)
    return formula(
        apply("concat", lit(f"{name} = "), col("x").fill_null("null"), lit(" is not in columns of the pivot")),
        x=value if value.dtype == STRING else Cast(value, STRING),
    )
