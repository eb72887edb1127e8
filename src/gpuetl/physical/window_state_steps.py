"""The steps of a stateful window, put together from what each call says that it needs of earlier rows."""

from __future__ import annotations

from dataclasses import field, replace
from datetime import timedelta
from functools import reduce
from typing import NamedTuple

from gpuetl.expressions.build import col
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import ABSENT, Call, Column, Expr, Literal, columns_of
from gpuetl.expressions.resolve import formula
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import STATE, Filter, Project, Window, passing
from gpuetl.records import dataclass
from gpuetl.types.data_types import BOOL, INT64, DataType
from gpuetl.types.schema import free_name

SLACK = 1.0
"""Seconds by which more rows of an interval are carried: times are compared as floats, which do not overflow."""
TRUE = Literal(True, BOOL)
BY_TIME = {"ewm_mean", "ewm_moment", "decayed_sum", "session_id"}
"""And what has an interval as its frame."""


class ExactSum(NamedTuple):
    """A sum of up to this number of values, of all rows if it is None, and the type that must hold it."""

    x: Expr
    dtype: DataType
    values: int | None = None


@dataclass(frozen=True)
class WindowPass:
    """A window over carried rows, if there are any, and those of a partition, and what is done with its output.

    Parameters
    ----------
    window
        With the calls that the rest needs.
    results
        Takes the carried rows out again, and then makes the window's columns.
    keep
        The rows to carry to the next partition, of the output of `window`.
    """

    window: Window
    results: tuple[Node, ...] = ()
    keep: tuple[Node, ...] = ()


@dataclass(frozen=True)
class StatefulSteps:
    """A window in steps, over the rows that are carried, if there are any, and those of a partition.

    Parameters
    ----------
    prepare
        On a partition's rows: columns of arguments that carried rows have in another way.  Its output, with other
        values, is what carried rows are.
    whole, ending, carrying
        The window for both its results and the rows to carry, for its results alone, and for the rows to carry alone.
    rows, frame
        How many rows of a group are carried at most, beside those of an interval before its last row.
    by_time
        Whether results depend on the time between rows.
    sums
        What is summed up exactly, of rows that may not follow each other.
    """

    prepare: Project
    whole: WindowPass
    results_only: WindowPass
    state_only: WindowPass
    rows: int
    frame: timedelta | None
    by_time: bool
    sums: tuple[ExactSum, ...]


@dataclass
class WindowSteps:
    """What the steps compute, by name.  Names begin with the output's, which errors name.

    `own` has the columns that carried rows have in another way, and `state` how: in terms of the window's output and
    of `numbers`, calls over the rows that are kept.  `kept_conditions` says which these are.  If they are
    `combined`, rows that partitions carry on as though they were the first must tell the same, one partition's behind
    the other's.
    """

    node: Window
    combined: bool = False
    own: dict[str, Expr] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)
    state: dict[str, Expr] = field(default_factory=dict)
    numbers: dict[str, Call] = field(default_factory=dict)
    kept_conditions: list[Expr] = field(default_factory=list)
    marks: dict[tuple[Expr, int], Expr] = field(default_factory=dict)
    sums: list[ExactSum] = field(default_factory=list)
    rows: int = 1
    values: int = 0
    frame: timedelta | None = None

    def __post_init__(self) -> None:
        self.flag = self.column("", Literal(False, BOOL), TRUE)
        self.later = self.call("", "lead", BOOL, self.flag)

    def name(self, name: str) -> str:
        """Return a name that nothing has, for a column of an output."""
        return free_name(f"{name}{STATE}", self.node.schema, self.own, self.calls, self.numbers)

    def column(self, name: str, expr: Expr, state: Expr | None = None) -> Column:
        """Make a column of a partition's rows, which carried rows have as `state` or as the caller says later."""
        new = Column(self.name(name), expr.dtype)
        self.own[new.name] = expr
        if state is not None:
            self.state[new.name] = state
        return new

    def call(self, name: str, function: str, dtype: DataType, *args: Expr) -> Column:
        """Compute a call of the window."""
        return self.placed(name, Call(FUNCTIONS["window", function], args, dtype))

    def placed(self, name: str, call: Call) -> Column:
        """Compute a call of the window; the same one once."""
        new = next((own for own, there in self.calls.items() if there == call), None) or self.name(name)
        self.calls[new] = call
        return Column(new, call.dtype)

    def last_values(self, name: str, values: Expr, column: Column, count: int = 1) -> Expr:
        """Keep the last rows at which a column has values; return whether a row is one of these, or null.

        Columns that have values at the same rows as `values` has say the same.
        """
        if (values, count) not in self.marks:
            later = self.call(name, "lead", column.dtype, column, Literal(count, INT64), ABSENT, TRUE)
            last = formula(col("x").is_not_null() & col("later").is_null(), x=column, later=later)
            self.marks[values, count] = self.keep(last, count)
        return self.marks[values, count]

    def first_value(self, name: str, column: Column) -> Expr:
        """Keep the first row at which a column has a value; return whether a row is that one, or null."""
        earlier = self.call(name, "lag", column.dtype, column, Literal(1, INT64), ABSENT, TRUE)
        return self.keep(formula(col("x").is_not_null() & col("earlier").is_null(), x=column, earlier=earlier))

    def keep(self, condition: Expr, count: int = 1) -> Expr:
        """Keep the rows for which a condition holds, up to a number per group; return it."""
        if condition not in self.kept_conditions:
            self.kept_conditions.append(condition)
            self.values += count
        return condition

    def running(self, name: str, values: Expr, function: str, x: Expr, *rest: Expr, dtype: DataType) -> Column:
        """Compute what only needs its last value of what came before."""
        own = self.column(name, x)
        result = self.call(name, function, dtype, own, *rest)
        last = self.last_values(name, values, own)
        self.state[own.name] = if_true(last, result)
        return result

    def build(self, results: dict[str, Expr]) -> StatefulSteps:
        """Return the steps that give these results."""
        node, schema = self.node, self.node.source.schema
        if self.frame is not None:
            self.kept_conditions.append(self.within_frame(self.frame))
        far = self.later if self.rows == 1 else self.call("", "lead", BOOL, self.flag, Literal(self.rows, INT64))
        self.kept_conditions.append(formula(col("far").is_null(), far=far))
        prepare = Project(source=node.source, columns={**passing(schema), **self.own}, origin=node.origin)
        outputs = {name: results.get(name, Column(name, dtype)) for name, dtype in node.schema.items()}
        state = self.state_columns(prepare)
        return StatefulSteps(
            prepare=prepare,
            whole=self.over(prepare, outputs, state),
            results_only=self.over(prepare, outputs, {}),
            state_only=self.over(prepare, {}, state),
            rows=self.rows + self.values,
            frame=self.frame,
            by_time=any(call.function.name in BY_TIME or self.frame is not None for call in self.calls.values()),
            sums=tuple(self.sums),
        )

    def over(self, prepare: Project, outputs: dict[str, Expr], state: dict[str, Expr]) -> WindowPass:
        """Return the window that gives these outputs, and keeps rows with these columns; either may be none."""
        origin, kept_conditions = self.node.origin, reduce(either, self.kept_conditions)
        read = columns_of(*outputs.values(), *([kept_conditions] if state else []), *state.values())
        window = replace(self.node, source=prepare, calls={n: call for n, call in self.calls.items() if n in read})
        results, keep = list[Node](), list[Node]()
        if outputs:
            results.append(Filter(source=window, predicate=formula(~col("flag"), flag=self.flag), origin=origin))
            results.append(Project(source=results[-1], columns=outputs, origin=origin))
        if state:
            keep.append(Filter(source=window, predicate=kept_conditions, origin=origin))
            if self.numbers:
                keep.append(replace(self.node, source=keep[-1], calls=self.numbers, presorted=True))
            keep.append(Project(source=keep[-1], columns=state, origin=origin))
        return WindowPass(window, tuple(results), tuple(keep))

    def state_columns(self, prepare: Project) -> dict[str, Expr]:
        """Return the columns of carried rows: nothing in those that no call reads."""
        read = self.node.sort_columns | {
            arg.name for call in self.calls.values() for arg in call.args if isinstance(arg, Column)
        }
        passed = {n: Column(n, t) if n in read else Literal(None, t) for n, t in prepare.schema.items()}
        return {**passed, **self.state}

    def within_frame(self, frame: timedelta) -> Expr:
        """Keep the rows in the longest interval before the group's last row."""
        time = self.node.order_by[0].column
        column = Column(time, self.node.source.schema[time])
        last = self.call("", "last", column.dtype, column)
        seconds = frame.total_seconds() + SLACK
        return formula(col("last").epoch() - col("time").epoch() <= seconds, last=last, time=column)


def either(one: Expr, other: Expr) -> Expr:
    """Return whether one of two conditions holds."""
    return formula(col("one") | col("other"), one=one, other=other)


def if_true(condition: Expr, value: Expr, *otherwise: Expr) -> Expr:
    """Return a value where a condition is true, else another one, or null."""
    return Call(FUNCTIONS["scalar", "case"], (condition, value, *otherwise), value.dtype)
