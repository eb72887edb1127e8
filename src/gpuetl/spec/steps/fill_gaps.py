"""The fill_gaps step: rows for the missing points of an even grid."""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar

from gpuetl.expressions.build import col, when
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column, Expr, Literal
from gpuetl.expressions.resolve import formula
from gpuetl.messages import coded
from gpuetl.plan import nodes
from gpuetl.plan.node import Node, SortKey
from gpuetl.records import dataclass
from gpuetl.spec.distances import read_distance, write_distance
from gpuetl.spec.document import Node as TextNode
from gpuetl.spec.fields import Field, key
from gpuetl.spec.forms import EXPRESSION, NAME, NAMES
from gpuetl.spec.steps.step import Context, Step, Unknown
from gpuetl.spec.steps.time_grid import Every, NoGrid, TimeGrid, bound, time_grid
from gpuetl.spec.values import BadValue, Formula
from gpuetl.types.calendar_intervals import CalendarInterval
from gpuetl.types.data_types import BOOL, INT64, UNKNOWN
from gpuetl.types.schema import Schema, free_name

EVERY_HINT = "Write 15 minutes, 1 day or 1 month for times, or a number for numbers."


def read_every(node: TextNode) -> Every:
    """Read an interval, such as `15 minutes` or `interval '1 month'`, or a number, with all of its digits."""
    found = read_distance(node, EVERY_HINT, months=True)
    if isinstance(found, CalendarInterval):
        if not (found.is_of_months and found.months > 0):
            raise BadValue(coded("GE1008", f"takes months or a fixed length, got '{found}'"), node, EVERY_HINT)
    elif (found.total_seconds() if isinstance(found, timedelta) else found) <= 0:
        raise BadValue(coded("GE1008", "must be above zero"), node, EVERY_HINT)
    return found


EVERY: Field[Every] = Field(
    "an interval or a number", read_every, write_distance, schema={"type": ["string", "number"]}
)  # fmt: skip


@dataclass(frozen=True)
class FillGaps(Step):
    """Add the rows that are missing on an even grid: `fill_gaps: {by: sensor, on: slot, every: 15 minutes}`.

    The grid has a point every 15 minutes. A point is missing if no row of the group lies between it and the next one.
    Each missing point from the group's first row to its last gets a row. It has the point in `on`, the values of `by`,
    and null in all other columns. No row is changed or left out. The rows of a group leave in the order of `on`.

    First aggregate into the same grid: `by: [sensor, {slot: "time_bucket(INTERVAL '15 minutes', ts)"}]`. Afterwards
    fill the nulls, with `interpolate`, `ffill` or `bfill` in a [window](#window) step, or with
    [fill_null](#fill_null).

    `on` is a timestamp, a date, an integer or a decimal. `every` is a fixed length, such as `1 hour`, a number, or
    months and years. Points of months have the origin's day, or the last day of a shorter month: with `origin: DATE
    '2026-01-31'` the next point is 28 February.

    `start` and `before` are the bounds of the points in all groups, `before` excluded: rows are made there only.
    With `start` each group begins there, also if its first row comes later. With `before` each one goes on until
    there. A group without rows is not known, and gets none. A row whose `on` is null stays as it is.

    The number of rows is known before any is made. If memory does not hold them, the run stops and says so.
    """

    verb: ClassVar[str] = "fill_gaps"
    on: str = key(NAME, doc="the column that the grid is of: a timestamp, a date or a number")
    every: Every = key(EVERY, doc="how far apart points are: `15 minutes`, `1 month`, or a number")
    by: tuple[str, ...] = key(NAMES, (), doc="the columns that make groups, each with its own rows")
    start: Formula | None = key(EXPRESSION, None, doc="where points begin in every group")
    before: Formula | None = key(EXPRESSION, None, doc="where points end in every group, this one excluded")
    origin: Formula | None = key(
        EXPRESSION,
        None,
        doc="a point of the grid; by default Monday 2000-01-03, 2000-01-01 for months, and 0 for numbers",
    )
    mark: str = key(NAME, "", doc="the name of a column to add: true for rows that are made")

    def build(self, context: Context, source: Node) -> Node:
        """Number the points, look at the next row's, and insert rows between."""
        schema = source.schema
        names = [*self.by, self.on]
        by, known = context.keys(self.by, schema, nested=True), context.known([self.on], schema)
        if not known or len(by) < len(self.by):
            return context.doubtful(source, names, schema)
        if self.on in by:
            context.problem(coded("GE1851", f"'{self.on}' is in by and in on"), "Leave it out of by.", self.on)
            return source
        if self.mark and self.mark in schema:
            message = coded("GE1023", f"there is a column '{self.mark}' already")
            context.problem(message, "Give the mark another name.", self.mark)
            return source
        bounds = {
            name: None if value is None else context.expression(value, Schema())
            for name, value in (("start", self.start), ("before", self.before), ("origin", self.origin))
        }
        if schema[self.on] == UNKNOWN or any(value is not None and value.dtype == UNKNOWN for value in bounds.values()):
            return Unknown(source=source, columns=self.marks(Literal(None, BOOL)), origin=context.origin)
        try:
            grid = time_grid(str(self.on), schema[self.on], self.every, bounds["origin"])
            start, end = (
                None if (value := bounds[name]) is None
                else grid.first_place(bound(str(self.on), schema[self.on], name, value))
                for name in ("start", "before")
            )  # fmt: skip
        except NoGrid as error:
            context.problem(str(error), error.hint, self.on)
            return Unknown(source=source, columns=self.marks(Literal(None, BOOL)), origin=context.origin)
        return self.filled(context, source, by, grid, start, end)

    def marks(self, made: Expr) -> dict[str, Expr]:
        """Return the column that tells which rows are made, if it is wanted."""
        return {str(self.mark): made} if self.mark else {}

    def filled(
        self, context: Context, source: Node, by: tuple[str, ...], grid: TimeGrid, start: Expr | None, end: Expr | None
    ) -> Node:
        """Return the rows with those that are missing."""
        origin, schema, on = context.origin, source.schema, str(self.on)
        kept, time = nodes.passing(schema), Column(on, schema[on])
        named = {word: free_name(f":{word}", schema) for word in WORK}
        columns = {word: Column(name, INT64) for word, name in named.items()}
        node: Node = nodes.Project(source=source, columns={**kept, named["slot"]: grid.place(time)}, origin=origin)
        calls = {named["next"]: Call(FUNCTIONS["window", "lead"], (columns["slot"],), INT64)}
        if start is not None:
            calls[named["number"]] = Call(FUNCTIONS["window", "row_number"], (), INT64)
        node = nodes.Window(source=node, by=by, order_by=(SortKey(on),), calls=calls, origin=origin)
        none = Literal(0, INT64)
        limits = {"start": none if start is None else start, "end": none if end is None else end}
        known = {**columns, **limits}
        first, last = col("slot") + 1, col("next")
        if start is not None:
            first = first.greatest(col("start"))
        if end is not None:
            last = last.coalesce(col("end")).least(col("end"))
        after = (last - first).greatest(0).coalesce(0)
        until = col("slot") if end is None else col("slot").least(col("end"))
        earlier = when(col("number") == 1, (until - col("start")).greatest(0)).otherwise(0).coalesce(0)
        node = nodes.Project(source=node, columns={
            **kept,
            named["first"]: formula(first, **known),
            named["until"]: formula(until, **known),
            named["after"]: formula(after, **known),
            named["earlier"]: none if start is None else formula(earlier, **known),
        }, origin=origin)  # fmt: skip
        node = nodes.InsertRows(
            source=node, before=named["earlier"], after=named["after"], place=named["place"],
            repeated=(*by, named["first"], named["until"]), origin=origin,
        )  # fmt: skip
        place = columns["place"]
        at = formula(
            when(col("place") > 0, col("first") + col("place") - 1).otherwise(col("until") + col("place")),
            place=place, first=columns["first"], until=columns["until"],
        )  # fmt: skip
        made = formula(col("place") != 0, place=place)
        value = formula(
            when(col("made"), col("value")).otherwise(col("time")), made=made, value=grid.value(at), time=time
        )
        return nodes.Project(source=node, columns={**kept, on: value, **self.marks(made)}, origin=origin)


WORK = ("slot", "next", "number", "first", "until", "after", "earlier", "place")
"""Names of the columns that the step makes and drops again.

In order: the row's point, the next row's point, the row's number in its group, the first point to make after it, the
point before which others are made, the counts of both, and the places of all rows.
"""
