"""The steps intersect and except: rows that other inputs have, or do not have."""

from __future__ import annotations

from typing import ClassVar, Literal

from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column, Expr
from gpuetl.plan import nodes
from gpuetl.plan.node import Node, SortKey
from gpuetl.records import dataclass
from gpuetl.spec.fields import key
from gpuetl.spec.forms import BOOLEAN, SOME_NAMES
from gpuetl.spec.steps.step import Context, Step
from gpuetl.spec.steps.union import aligned, check_missing, meeting_schema
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import INT64

NUMBER = ":number"


@dataclass(frozen=True)
class SetOperation(Step):
    """A step that compares whole rows with those of other inputs."""

    main: ClassVar[str] = "with"
    kept: ClassVar[Literal["semi", "anti"]]
    with_: tuple[str, ...] = key(SOME_NAMES, name="with", doc="the stages or sources whose rows are compared")
    all: bool = key(BOOLEAN, False, doc="count equal rows, as SQL's `ALL` does; else each row comes once")

    @property
    def reads(self) -> tuple[str, ...]:
        """The other inputs."""
        return self.with_

    def build(self, context: Context, source: Node) -> Node:
        """Give every input the same columns, and compare one after the other."""
        inputs = [source, *(context.relation(name) for name in self.with_)]
        schemas = [node.schema for node in inputs]
        columns = meeting_schema(context, self.with_, schemas)
        if not any(schema.open for schema in schemas):
            hint = "Select the same columns in each input."
            check_missing(context, self.verb, self.with_, schemas, columns, hint)
        keys = context.keys(columns, columns, nested=True)
        first, *others = (aligned(node, columns, context.origin) for node in inputs)
        if any(schema.open for schema in schemas) or len(keys) < len(columns) or not keys:
            return first
        compared = self.numbered if self.all else self.once
        for other in others:
            first = compared(first, other, keys, context.origin)
        return first

    def once(self, left: Node, right: Node, keys: tuple[str, ...], origin: Origin) -> Node:
        """Return each row once that the other input has, or does not have."""
        joined = nodes.Join(
            left=left, right=right, left_on=keys, right_on=keys, how=self.kept, nulls_equal=True, origin=origin
        )
        return nodes.Distinct(source=joined, on=keys, origin=origin)

    def numbered(self, left: Node, right: Node, keys: tuple[str, ...], origin: Origin) -> Node:
        """Return the first rows of equal ones for which the other input has as many, or those that are more."""
        sides = [with_numbers(side, origin) for side in (left, right)]
        on = tuple(sides[0].schema)
        joined = nodes.Join(
            left=sides[0], right=sides[1], left_on=on, right_on=on, how=self.kept, nulls_equal=True, origin=origin
        )
        columns: dict[str, Expr] = {name: Column(f":column {i}", left.schema[name]) for i, name in enumerate(keys)}
        return nodes.Project(source=joined, columns=columns, origin=origin)


def with_numbers(side: Node, origin: Origin) -> Node:
    """Return the rows with a number among those that are equal, and names of the planner's.

    These names say that rows that tie are equal, so that ties are not told of.
    """
    columns: dict[str, Expr] = {
        f":column {i}": Column(name, dtype) for i, (name, dtype) in enumerate(side.schema.items())
    }
    named = nodes.Project(source=side, columns=columns, origin=origin)
    number = Call(FUNCTIONS["window", "row_number"], (), INT64)
    by = tuple(columns)
    return nodes.Window(source=named, by=by, order_by=(SortKey(by[0]),), calls={NUMBER: number}, origin=origin)


@dataclass(frozen=True)
class Intersect(SetOperation):
    """Keep the rows that other stages or sources have, too: `intersect: other`, `intersect: {with: [a, b], all: true}`.

    Columns match by name, and rows are equal if all their columns are. Null equals null here, and NaN equals NaN. Each
    row comes once. With `all: true`, a row comes as often as in the input that has it least often. Types of one column
    widen as in `union`. The rows come in no fixed order.
    """

    verb: ClassVar[str] = "intersect"
    kept: ClassVar[Literal["semi", "anti"]] = "semi"


@dataclass(frozen=True)
class Except(SetOperation):
    """Keep the rows that other stages or sources do not have: `except: other`, `except: {with: [a, b], all: true}`.

    Columns match by name, and rows are equal if all their columns are. Null equals null here, and NaN equals NaN. Each
    row comes once. With `all: true`, each row of the others removes one equal row. Types of one column widen as in
    `union`. The rows come in no fixed order.
    """

    verb: ClassVar[str] = "except"
    kept: ClassVar[Literal["semi", "anti"]] = "anti"
