"""The unpivot step: columns become rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from gpuetl.expressions.coercion import coerce
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column, Literal
from gpuetl.expressions.scope import WRONG
from gpuetl.messages import coded
from gpuetl.plan import nodes
from gpuetl.plan.node import Node
from gpuetl.records import dataclass
from gpuetl.spec.fields import key
from gpuetl.spec.forms import NAME, SOME_NAMES, choice
from gpuetl.spec.steps.step import Context, Step, Unknown
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import BOOL, NULL, STRING, UNKNOWN, DataType, common_type, type_name


@dataclass(frozen=True)
class Unpivot(Step):
    """Make rows of columns: `unpivot: [jan, feb]`, or `unpivot: {columns: [jan, feb], names_to: month, values_to: x}`.

    A row becomes one row for each of `columns`, with the name of the column and its value. The other columns repeat.
    Types of the columns widen to one type as in a union. The rows come in no fixed order.

    A null is a row too. With `nulls: drop` there is none for it.
    """

    verb: ClassVar[str] = "unpivot"
    main: ClassVar[str] = "columns"
    columns: tuple[str, ...] = key(SOME_NAMES, doc="the columns that become rows")
    names_to: str = key(NAME, "name", doc="the column for the names of the columns")
    values_to: str = key(NAME, "value", doc="the column for their values")
    nulls: str = key(choice("keep", "drop"), "keep", doc="whether a null becomes a row")

    def build(self, context: Context, source: Node) -> Node:
        """Give each column rows of its own, and put them below each other."""
        schema = source.schema
        columns = context.known(self.columns, schema)
        kept = {name: expr for name, expr in nodes.passing(schema).items() if name not in self.columns}
        for name in (self.names_to, self.values_to):
            if name in kept or self.names_to == self.values_to:
                hint = "Give names_to or values_to another name."
                context.problem(coded("GE1023", f"unpivot gives two columns the name '{name}'"), hint, name)
                return Unknown(source=source, columns={}, origin=context.origin)
        dtype = self.meeting(context, columns, [schema[name] for name in columns])
        if len(columns) < len(self.columns) or dtype == UNKNOWN:
            new = {**kept, str(self.names_to): Literal(None, STRING), str(self.values_to): WRONG}
            return nodes.Project(source=source, columns=new, origin=context.origin)
        parts = list[Node]()
        for name in columns:
            value = coerce(Column(name, schema[name]), dtype)
            new = {**kept, str(self.names_to): Literal(name, STRING), str(self.values_to): value}
            parts.append(nodes.Project(source=source, columns=new, origin=context.origin))
        rows = put_together(parts, context.origin)
        if self.nulls == "keep":
            return rows
        null = Call(FUNCTIONS["scalar", "is_null"], (Column(str(self.values_to), dtype),), BOOL)
        there = Call(FUNCTIONS["scalar", "not"], (null,), BOOL)
        return nodes.Filter(source=rows, predicate=there, origin=context.origin)

    def meeting(self, context: Context, names: Sequence[str], dtypes: Sequence[DataType]) -> DataType:
        """Return the type in which all columns meet; unknown, with the problem kept, where there is none."""
        meeting = NULL
        for name, dtype in zip(names, dtypes, strict=True):
            if UNKNOWN in (meeting, dtype):
                return UNKNOWN
            both = common_type(meeting, dtype)
            if both is None:
                message = f"'{name}' is {type_name(dtype)}, and columns before it are {type_name(meeting)}"
                at = next(given for given in self.columns if given == name)
                context.problem(coded("GE1823", message), "Cast it in a step before, or leave it out.", at)
                return UNKNOWN
            meeting = both
        return meeting


def put_together(parts: Sequence[Node], origin: Origin) -> Node:
    """Return the rows of several nodes, two and two: so few copies of a row are made."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    left, right = put_together(parts[:half], origin), put_together(parts[half:], origin)
    return nodes.Union(left=left, right=right, origin=origin)
