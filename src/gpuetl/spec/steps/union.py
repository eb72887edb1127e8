"""The union step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import ClassVar

from gpuetl.expressions.ir import Cast, Column, Expr, Literal
from gpuetl.messages import coded
from gpuetl.plan import nodes
from gpuetl.plan.node import Node
from gpuetl.records import dataclass
from gpuetl.spec.fields import key
from gpuetl.spec.forms import SOME_NAMES, choice_or_null
from gpuetl.spec.steps.step import Context, Step
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import NULL, UNKNOWN, DataType, common_type, type_name
from gpuetl.types.schema import Schema


@dataclass(frozen=True)
class Union(Step):
    """Add the rows of other stages or sources: `union: other`, `union: [a, b]`, `union: {with: [a, b], missing: null}`.

    Columns match by name, and keep the order of the first input. With `missing: null`, a column that an input lacks is
    null for its rows. Columns that the first input lacks come last. All rows stay, like in SQL's UNION ALL. To remove
    repeats, add a `distinct` step. The rows come in no fixed order.

    Types of one column widen as in expressions. An integer that meets a float64 becomes the nearest float64, which is
    inexact beyond 2^53.
    """

    verb: ClassVar[str] = "union"
    main: ClassVar[str] = "with"
    with_: tuple[str, ...] = key(SOME_NAMES, name="with", doc="the stages or sources whose rows are added")
    missing: str = key(
        choice_or_null("error", "null"), "error", doc="what to do where one side lacks a column: stop, or fill null"
    )

    @property
    def reads(self) -> tuple[str, ...]:
        """The other inputs."""
        return self.with_

    def build(self, context: Context, source: Node) -> Node:
        """Give every input the same columns, and put them below each other, two at a time."""
        inputs = [source, *(context.relation(name) for name in self.with_)]
        schemas = [node.schema for node in inputs]
        columns = meeting_schema(context, self.with_, schemas)
        if self.missing == "error" and not any(schema.open for schema in schemas):
            hint = "Set missing: null to fill them with null, or drop them from the others."
            check_missing(context, self.verb, self.with_, schemas, columns, hint)
        whole = [aligned(node, columns, context.origin) for node in inputs]
        return reduce(lambda left, right: nodes.Union(left=left, right=right, origin=context.origin), whole)


def meeting_schema(context: Context, others: Sequence[str], schemas: Sequence[Schema]) -> Schema:
    """Return the columns of all inputs, each in the type in which those of its name meet."""
    names = dict.fromkeys(name for schema in schemas for name in schema)
    return Schema({name: meeting(context, name, others, schemas) for name in names})


def meeting(context: Context, name: str, others: Sequence[str], schemas: Sequence[Schema]) -> DataType:
    """Return the type in which all inputs' columns of a name meet."""
    meeting = schemas[0].get(name, NULL)
    for other, schema in zip(others, schemas[1:], strict=True):
        dtype = schema.get(name, NULL)
        if (both := common_type(meeting, dtype)) is None:
            message = coded("GE1203", f"'{name}' is {type_name(meeting)}, and {type_name(dtype)} in '{other}'")
            context.problem(message, "Cast one of them first.", other)
        meeting = both or meeting
    return meeting


def check_missing(
    context: Context, verb: str, others: Sequence[str], schemas: Sequence[Schema], columns: Iterable[str], hint: str
) -> None:
    """Report every input that lacks columns which another has."""
    unsure = {name for schema in schemas for name, dtype in schema.items() if dtype == UNKNOWN}  # may be misspelt
    sides = [(f"the rows before the {verb} lack", others[0]), *((f"'{name}' lacks", name) for name in others)]
    for (lacks, at), schema in zip(sides, schemas, strict=True):
        if missing := [name for name in columns if name not in schema and name not in unsure]:
            context.problem(coded("GE1203", f"{lacks} {', '.join(missing)}"), hint, at)


def aligned(node: Node, schema: Schema, origin: Origin) -> Node:
    """Return the node with the columns of `schema`: those that it lacks are null, others are cast if need be."""
    if node.schema == schema:
        return node
    columns = {name: _as_column(node.schema, name, dtype) for name, dtype in schema.items()}
    return nodes.Project(source=node, columns=columns, origin=origin)


def _as_column(schema: Schema, name: str, dtype: DataType) -> Expr:
    if name not in schema:
        return Literal(None, dtype)
    column = Column(name, schema[name])
    return column if column.dtype == dtype else Cast(column, dtype, implicit=True)
