"""A window whose groups go on from partition to partition: what it carries along is rows, in the place of earlier ones.

Of the earlier rows of a group, few tell all that a later row's result needs of them: of a running sum the last row
that had a value, with the sum so far in the place of its value; of `lag` the row before; of an interval the rows that
lie in it.  So a partition's window is computed over these and the partition's own rows, by operations that there are:
this is the sequential scan with carries of Blelloch, "Prefix sums and their applications" (1990), a group a segment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from gpuetl.expressions.build import col
from gpuetl.expressions.formula import formula
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.functions.windows import TIE_FREE
from gpuetl.expressions.ir import ABSENT, Call, Cast, Column, Expr, Literal
from gpuetl.expressions.types import BOOL, DURATION, FLOAT64, INT64, TIMESTAMP, DataType
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Filter, Project, Window, passing
from gpuetl.plan.schema import free_name

SLACK = 1.0
"""Seconds by which more rows of an interval are carried: times are compared as floats, which do not overflow."""
TRUE = Literal(True, BOOL)
BY_TIME = {"ewm_mean", "decayed_sum", "session_id"}
"""And what has an interval as its frame."""


@dataclass(frozen=True)
class CarriedWindow:
    """A window in steps, over the rows that are carried, if there are any, and those of a partition.

    Parameters
    ----------
    prepare
        On a partition's rows: columns of arguments that carried rows have in another way.  Its output, with other
        values, is what carried rows are.
    window
        On the carried rows and these.
    drop
        Takes the carried rows out again.
    finish
        Makes the window's columns.
    keep
        On the output of `window`: the rows to carry to the next partition.
    rows, frame
        How many rows of a group are carried at most, beside those of an interval before its last row.
    by_time
        Whether results depend on the time between rows.
    """

    prepare: Project
    window: Window
    drop: Filter
    finish: Project
    keep: tuple[Node, ...]
    rows: int
    frame: timedelta | None
    by_time: bool


def carried_window(node: Window) -> CarriedWindow | None:
    """Split a window into steps; None where one of its calls needs later rows, or too many of the earlier ones.

    A window that is the same however rows tie is left alone: its steps would not be.
    """
    if all(call.function.name in TIE_FREE for call in node.calls.values()):
        return None
    steps = _Steps(node)
    results: dict[str, Expr] = {}
    for name, call in node.calls.items():
        handler = CARRIED.get(call.function.name)
        result = handler(steps, name, call) if handler else None
        if result is None:
            return None
        results[name] = result
    return steps.built(results)


@dataclass
class _Steps:
    """What the steps compute, by name.  Names begin with the output's, which errors name.

    `own` has the columns that carried rows have in another way, and `carried` how: in terms of the window's output and
    of `numbers`, calls over the rows that are kept.  `kept` says which these are.
    """

    node: Window
    own: dict[str, Expr] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)
    carried: dict[str, Expr] = field(default_factory=dict)
    numbers: dict[str, Call] = field(default_factory=dict)
    kept: list[Expr] = field(default_factory=list)
    marks: dict[tuple[Expr, int], Expr] = field(default_factory=dict)
    rows: int = 1
    values: int = 0
    frame: timedelta | None = None

    def __post_init__(self) -> None:
        self.flag = self.column("", Literal(False, BOOL), TRUE)
        self.later = self.call("", "lead", BOOL, self.flag)

    def name(self, name: str) -> str:
        """Return a name that nothing has, for a column of an output."""
        return free_name(f"{name}:carried", self.node.schema, self.own, self.calls, self.numbers)

    def column(self, name: str, expr: Expr, carried: Expr | None = None) -> Column:
        """Make a column of a partition's rows, which carried rows have as `carried` or as the caller says later."""
        made = Column(self.name(name), expr.dtype)
        self.own[made.name] = expr
        if carried is not None:
            self.carried[made.name] = carried
        return made

    def call(self, name: str, function: str, dtype: DataType, *args: Expr) -> Column:
        """Compute a call of the window."""
        return self.placed(name, Call(FUNCTIONS["window", function], args, dtype))

    def placed(self, name: str, call: Call) -> Column:
        """Compute a call of the window; the same one once."""
        made = next((own for own, there in self.calls.items() if there == call), None) or self.name(name)
        self.calls[made] = call
        return Column(made, call.dtype)

    def last_values(self, name: str, values: Expr, column: Column, count: int = 1) -> Expr:
        """Keep the last rows at which a column has values; return whether a row is one of these, or null.

        Columns that have values at the same rows as `values` has say the same.
        """
        if (values, count) not in self.marks:
            later = self.call(name, "lead", column.dtype, column, Literal(count, INT64), ABSENT, TRUE)
            last = formula(col("x").is_not_null() & col("later").is_null(), x=column, later=later)
            self.marks[values, count] = last
            self.kept.append(last)
            self.values += count
        return self.marks[values, count]

    def running(self, name: str, values: Expr, function: str, x: Expr, *rest: Expr, dtype: DataType) -> Column:
        """Compute what only needs its last value of what came before."""
        own = self.column(name, x)
        result = self.call(name, function, dtype, own, *rest)
        last = self.last_values(name, values, own)
        self.carried[own.name] = if_true(last, result)
        return result

    def built(self, results: dict[str, Expr]) -> CarriedWindow:
        """Return the steps that give these results."""
        node, origin, schema = self.node, self.node.origin, self.node.source.schema
        if self.frame is not None:
            self.kept.append(self.within_frame(self.frame))
        far = self.later if self.rows == 1 else self.call("", "lead", BOOL, self.flag, Literal(self.rows, INT64))
        kept = formula(col("far").is_null(), far=far)
        for condition in self.kept:
            kept = formula(col("kept") | col("more"), kept=kept, more=condition)

        prepare = Project(source=node.source, columns={**passing(schema), **self.own}, origin=origin)
        window = replace(node, source=prepare, calls=self.calls)
        drop = Filter(source=window, predicate=formula(~col("flag"), flag=self.flag), origin=origin)
        outputs = {name: results.get(name, Column(name, dtype)) for name, dtype in node.schema.items()}
        finish = Project(source=drop, columns=outputs, origin=origin)
        keep: list[Node] = [Filter(source=window, predicate=kept, origin=origin)]
        if self.numbers:
            keep.append(replace(node, source=keep[-1], calls=self.numbers, presorted=True))
        keep.append(Project(source=keep[-1], columns=self.carried_columns(prepare), origin=origin))
        by_time = any(call.function.name in BY_TIME or self.frame is not None for call in self.calls.values())
        rows = self.rows + self.values
        return CarriedWindow(prepare, window, drop, finish, tuple(keep), rows, self.frame, by_time)

    def carried_columns(self, prepare: Project) -> dict[str, Expr]:
        """Return the columns of carried rows: nothing in those that no call reads."""
        read = self.node.sort_columns | {
            arg.name for call in self.calls.values() for arg in call.args if isinstance(arg, Column)
        }
        passed = {n: Column(n, t) if n in read else Literal(None, t) for n, t in prepare.schema.items()}
        return {**passed, **self.carried}

    def within_frame(self, frame: timedelta) -> Expr:
        """Keep the rows in the longest interval before the group's last row."""
        time = self.node.order_by[0].column
        column = Column(time, self.node.source.schema[time])
        last = self.call("", "last", column.dtype, column)
        seconds = frame.total_seconds() + SLACK
        return formula(col("last").epoch() - col("time").epoch() <= seconds, last=last, time=column)


def if_true(condition: Expr, value: Expr) -> Expr:
    """Return a value where a condition is true, else null."""
    return Call(FUNCTIONS["scalar", "case"], (condition, value), value.dtype)


def is_absent(argument: Expr) -> bool:
    """Tell whether an optional argument is left out; it may have a type."""
    return isinstance(argument, Literal) and argument.value is None


def _rows_before(steps: _Steps, name: str, call: Call) -> Expr | None:
    """The rows so many places before, or, with `ignore_nulls`, the last so many with a value."""
    x, offset, _, ignore_nulls = [*call.args, *[ABSENT] * 4][:4]
    if not (isinstance(offset, Literal) and isinstance(ignore_nulls, Literal)):
        return None
    count = 1 if is_absent(offset) else offset.value
    if not ignore_nulls.value:
        steps.rows = max(steps.rows, count)
    elif count and isinstance(x, Column):
        steps.last_values(name, x, x, count)
    return steps.placed(name, call)


def _framed(steps: _Steps, name: str, call: Call) -> Expr | None:
    """The rows of the frame."""
    frame = call.args[1]
    if not isinstance(frame, Literal):
        return None
    if frame.dtype == DURATION:
        steps.frame = max(steps.frame or frame.value, frame.value)
    else:
        steps.rows = max(steps.rows, frame.value - 1)
    return steps.placed(name, call)


def _running(steps: _Steps, name: str, call: Call) -> Expr:
    """The last row with a value has the result so far as its value."""
    (x,) = call.args
    own = x if x.dtype == call.dtype else Cast(x, call.dtype, implicit=True)
    return steps.running(name, x, call.function.name, own, dtype=call.dtype)


def _count(steps: _Steps, name: str, x: Expr) -> Column:
    """A running sum of ones, where there are values."""
    ones = if_true(formula(col("x").is_not_null(), x=x), Literal(1, INT64))
    return steps.running(name, x, "cum_sum", ones, dtype=INT64)


def _counted(steps: _Steps, name: str, call: Call) -> Expr:
    """As a sum."""
    return _count(steps, name, call.args[0])


def _averaged(steps: _Steps, name: str, call: Call) -> Expr:
    """A running sum by a running count."""
    (x,) = call.args
    total = steps.running(name, x, "cum_sum", x, dtype=FLOAT64)
    return formula(col("total") / col("count"), total=total, count=_count(steps, name, x))


def _faded(steps: _Steps, name: str, call: Call) -> Expr | None:
    """By time alone: rows are not counted over those that are not carried."""
    x, *weights = call.args
    by_time = steps.node.source.schema[steps.node.order_by[0].column] == TIMESTAMP
    if not by_time or is_absent(weights[0]):
        return None
    return steps.running(name, x, call.function.name, x, *weights, dtype=call.dtype)


def _numbered(steps: _Steps, name: str, call: Call) -> Expr:
    """What is counted from the group's first row goes on where it was: carried rows count as well, so less these."""
    here = steps.placed(name, call)
    before = steps.column(name, Literal(None, INT64))
    first = steps.call(name, "first", INT64, before, TRUE)
    result = formula(col("here") + col("first").coalesce(0), here=here, first=first)
    again = Column(steps.name(name), INT64)
    steps.numbers[again.name] = call
    is_last = formula(col("later").is_null(), later=steps.later)
    steps.carried[before.name] = if_true(is_last, formula(col("so_far") - col("again"), so_far=result, again=again))
    return result


def _first(steps: _Steps, name: str, call: Call) -> Expr | None:
    """Every carried row has the first one's value; of rows that are skipped a later one may be the first."""
    x, *options = call.args
    if not all(is_absent(option) or option == Literal(False, BOOL) for option in options):
        return None
    own = steps.column(name, x)
    result = steps.call(name, "first", x.dtype, own)
    steps.carried[own.name] = result
    return result


CARRIED: dict[str, Callable[[_Steps, str, Call], Expr | None]] = {
    "row_number": _numbered, "dense_rank": _numbered, "session_id": _numbered,
    "lag": _rows_before, "diff": _rows_before, "pct_change": _rows_before,
    "cum_sum": _running, "cum_prod": _running, "cum_min": _running, "cum_max": _running, "ffill": _running,
    "cum_count": _counted, "cum_mean": _averaged, "ewm_mean": _faded, "decayed_sum": _faded, "first": _first,
    **dict.fromkeys(
        ("rolling_sum", "rolling_mean", "rolling_min", "rolling_max", "rolling_count", "rolling_std", "rolling_var"),
        _framed,
    ),
}  # fmt: skip
"""How each function goes on.  The others need later rows, or, as `rank`, count rows that tie with later ones."""
