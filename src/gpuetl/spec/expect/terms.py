"""What is counted for a rule: rows for which an expression is true, rows whose values repeat, or stand nowhere else.

A row breaks a rule where its condition is false; null is not false.  All is said by operations that every engine has.
"""

from __future__ import annotations

from functools import cached_property

from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column, Expr, Literal
from gpuetl.messages import coded
from gpuetl.plan.nested_keys import flattened
from gpuetl.plan.node import Node, SortKey
from gpuetl.plan.nodes import Aggregate, Distinct, Filter, Join, Project, Sort
from gpuetl.records import dataclass
from gpuetl.spec.parameters import parse_value
from gpuetl.spec.steps.join_keys import meeting_type
from gpuetl.spec.steps.step import Context
from gpuetl.spec.values import UntypedConstant
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import BOOL, INT64, STRING, UNKNOWN, DataType, is_floating, type_name
from gpuetl.types.schema import free_name

FALSE, TRUE = Literal(False, BOOL), Literal(True, BOOL)


def call(name: str, *args: Expr, dtype: DataType = BOOL) -> Call:
    """Return a call of a scalar function whose arguments have its types."""
    return Call(FUNCTIONS["scalar", name], args, dtype)


def is_broken(condition: Expr) -> Expr:
    """Return where a condition is false, which is never null."""
    if condition.dtype != BOOL:  # null, as of what is wrong
        return FALSE
    return call("coalesce", call("not", condition), FALSE)


def is_null(column: Expr) -> Expr:
    """Return where a column is null."""
    return call("is_null", column)


def either(*conditions: Expr) -> Expr:
    """Return where one of the conditions is true."""
    return conditions[0] if len(conditions) == 1 else call("or", *conditions)


def constant(context: Context, given: UntypedConstant, dtype: DataType) -> Literal | None:
    """Return a constant in the type of its column; None, with the problem told, where it is none.

    Of a column whose type is not known, as where no files are looked at, nothing can be said.
    """
    if dtype == UNKNOWN:
        return None
    value = given.value
    if dtype == STRING and not isinstance(value, str):
        context.problem(coded("GE1604", f"'{value}' is not a string"), "Write it in quotes.", given)
        return None
    try:
        exact = repr(value) if isinstance(value, float) and not is_floating(dtype) else value
        return Literal(parse_value(exact, dtype), dtype)
    except ValueError as error:
        context.problem(coded("GE1604", str(error)), f"The column is {type_name(dtype)}.", given)
        return None


def constant_in(context: Context, column: Column, values: tuple[UntypedConstant, ...]) -> Expr | None:
    """Return where a column has none of the values; None where one of them is wrong."""
    constants = [literal for given in values if (literal := constant(context, given, column.dtype)) is not None]
    return is_broken(call("in", column, *constants)) if len(constants) == len(values) else None


def within_bounds(context: Context, column: Column, bounds: tuple[UntypedConstant, UntypedConstant]) -> Expr | None:
    """Return where a column is less than the first bound, or greater than the second; None where one is wrong."""
    limits = [None if bound.value is None else constant(context, bound, column.dtype) for bound in bounds]
    least, most = limits
    if any(bound.value is not None and limit is None for bound, limit in zip(bounds, limits, strict=True)):
        return None
    if least is not None and most is not None and least.value > most.value:
        context.problem(coded("GE1604", "the least value is greater than the greatest"), "Exchange them.", bounds[0])
        return None
    parts = [call("greater_equal", column, least)] if least is not None else []
    parts += [call("less_equal", column, most)] if most is not None else []
    return is_broken(parts[0] if len(parts) == 1 else call("and", *parts))


@dataclass(frozen=True, eq=False)
class Term:
    """One rule of one stage.

    `columns` are those to show of a row that breaks it, `at` is what the rule was read from.  `source` are the rows of
    the stage as its steps give them; what is computed for the rule alone has the `origin`.
    """

    name: str
    columns: tuple[str, ...]
    at: object
    source: Node
    origin: Origin


@dataclass(frozen=True, eq=False)
class RowTerm(Term):
    """Rows that break the rule by what they have themselves: where `broken`, which is never null, is true."""

    broken: Expr

    def marked(self, rows: Node, origin: Origin) -> tuple[Node, Expr]:
        """Return rows of the stage as they are, and where they break the rule."""
        return rows, self.broken

    @property
    def shown(self) -> Node:
        """The rows that break the rule."""
        return Filter(source=self.source, predicate=self.broken, origin=self.origin)


class KeyTerm(Term):
    """Rows that break the rule by what other rows have: they are counted apart."""

    @property
    def counted(self) -> Node:
        """One row: how many rows break the rule, in a column of its name; null is none."""
        raise NotImplementedError

    def marked(self, rows: Node, origin: Origin) -> tuple[Node, Expr]:
        """Return rows of the stage beside a mark, and where they break the rule; the join has the `origin`."""
        raise NotImplementedError

    @property
    def shown(self) -> Node:
        """The rows that break the rule."""
        raise NotImplementedError


class Repeats(KeyTerm):
    """Rows whose values in `columns` another row has too, none of them null."""

    @cached_property
    def count_column(self) -> str:
        """The column of the number of rows."""
        return free_name(":count", self.source.schema)

    @cached_property
    def repeated(self) -> Node:
        """The values that repeat, beside their number of rows."""
        calls = {self.count_column: Call(FUNCTIONS["aggregate", "count_rows"], (), INT64)}
        groups = flattened(Aggregate(source=self.source, by=self.columns, calls=calls, origin=self.origin))
        keys = (call("not", is_null(Column(name, self.source.schema[name]))) for name in self.columns)
        repeats = call("greater", Column(self.count_column, INT64), Literal(1, INT64))
        return Filter(source=groups, predicate=call("and", repeats, *keys), origin=self.origin)

    @property
    def counted(self) -> Node:
        """The sum of the rows of values that repeat."""
        total = Call(FUNCTIONS["aggregate", "sum"], (Column(self.count_column, INT64),), INT64)
        return Aggregate(source=self.repeated, by=(), calls={self.name: total}, origin=self.origin)

    def marked(self, rows: Node, origin: Origin) -> tuple[Node, Expr]:
        """Join the values that repeat, which are few."""
        return joined(rows, self.repeated, self.columns, self.columns, origin)

    @property
    def shown(self) -> Node:
        """The rows that break the rule, equal ones behind each other."""
        rows = flattened(
            Join(left=self.source, right=self.repeated, left_on=self.columns, right_on=self.columns, how="semi",
                 origin=self.origin)
        )  # fmt: skip
        return flattened(Sort(source=rows, by=tuple(map(SortKey, self.columns)), origin=self.origin))


@dataclass(frozen=True, eq=False)
class Reference(KeyTerm):
    """Rows whose value in the one column, which is not null, the column `key` of `target` does not have."""

    target: Node
    key: str

    def meets(self, context: Context, written: object) -> bool:
        """Return whether the types of both columns meet; tell the user where they do not."""
        own, there = self.source.schema[self.columns[0]], self.target.schema[self.key]
        if meeting_type(own, there) is not None:
            return True
        message = coded("GE1604", f"'{self.columns[0]}' is {type_name(own)}, and {written} is {type_name(there)}")
        context.problem(message, "Cast one of them first.", written)
        return False

    @property
    def values(self) -> Node:
        """The column of the target alone."""
        columns = {self.key: Column(self.key, self.target.schema[self.key])}
        return Project(source=self.target, columns=columns, origin=self.origin)

    @property
    def is_given(self) -> Expr:
        """Where the value is not null."""
        return call("not", is_null(Column(self.columns[0], self.source.schema[self.columns[0]])))

    @property
    def counted(self) -> Node:
        """The number of rows that match nothing."""
        calls = {self.name: Call(FUNCTIONS["aggregate", "count_rows"], (), INT64)}
        return Aggregate(source=self.shown, by=(), calls=calls, origin=self.origin)

    def marked(self, rows: Node, origin: Origin) -> tuple[Node, Expr]:
        """Join the values that the target has."""
        known = flattened(Distinct(source=self.values, on=(self.key,), origin=self.origin))
        joined_rows, is_known = joined(rows, known, self.columns, (self.key,), origin)
        return joined_rows, call("and", self.is_given, call("not", is_known))

    @property
    def shown(self) -> Node:
        """The rows that break the rule."""
        given = Filter(source=self.source, predicate=self.is_given, origin=self.origin)
        return flattened(
            Join(left=given, right=self.values, left_on=self.columns, right_on=(self.key,), how="anti",
                 origin=self.origin)
        )  # fmt: skip


def joined(
    rows: Node, right: Node, left_on: tuple[str, ...], right_on: tuple[str, ...], origin: Origin
) -> tuple[Node, Expr]:
    """Return rows beside a mark, a column of a name of its own, and where the right side has their values."""
    mark = free_name(":found", rows.schema, right.schema)
    columns: dict[str, Expr] = {name: Column(name, right.schema[name]) for name in right_on}
    marks = Project(source=right, columns={**columns, mark: TRUE}, origin=origin)
    joined_rows = flattened(Join(left=rows, right=marks, left_on=left_on, right_on=right_on, how="left", origin=origin))
    return joined_rows, call("not", is_null(Column(mark, BOOL)))


@dataclass(frozen=True, eq=False)
class RowCount(Term):
    """The number of rows that others read."""

    least: int | None
    most: int | None
