"""The unnest step."""

from __future__ import annotations

from typing import ClassVar

from gpuetl.expressions.ir import Column, Expr
from gpuetl.expressions.scope import WRONG
from gpuetl.messages import coded
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Project
from gpuetl.records import dataclass
from gpuetl.spec.fields import key
from gpuetl.spec.forms import NAME
from gpuetl.spec.steps.step import Context, Step, Unknown
from gpuetl.spec.steps.struct_fields import fields_of, report_twice
from gpuetl.types.data_types import UNKNOWN, type_name
from gpuetl.types.nested_types import is_list, is_struct


@dataclass(frozen=True)
class Unnest(Step):
    """Replace a struct by one column for each field: `unnest: address`, or `unnest: {column: address, prefix: a_}`.

    The columns have the names of the fields, after `prefix`. They stand where the struct was. A null struct gives
    nulls. To take only these columns, write `select: [id, "address.*"]`.
    """

    verb: ClassVar[str] = "unnest"
    main: ClassVar[str] = "column"
    column: str = key(NAME, doc="the struct whose fields become columns")
    prefix: str = key(NAME, "", doc="what the names of the new columns begin with")

    def build(self, context: Context, source: Node) -> Node:
        """Project to the other columns and the fields."""
        if not context.known([self.column], source.schema):
            return context.doubtful(source, [self.column], source.schema)
        dtype = source.schema[self.column]
        if dtype == UNKNOWN:
            return Unknown(source=source, columns={}, origin=context.origin)
        if not is_struct(dtype):
            message = coded("GE1211", f"unnest takes a struct, and '{self.column}' is {type_name(dtype)}")
            hint = "Write an explode step: it gives each element a row." if is_list(dtype) else ""
            context.problem(message, hint, self.column)
            return Unknown(source=source, columns={str(self.column): WRONG}, origin=context.origin)
        columns: dict[str, Expr] = {}
        for name, own in source.schema.items():
            column = Column(name, own)
            new: dict[str, Expr] = fields_of(column, self.prefix) if name == self.column else {name: column}
            hint = "Give the fields a prefix, or drop one of the columns before."
            report_twice("unnest", new, columns, hint, self.column, context)
            columns |= new
        return Project(source=source, columns=columns, origin=context.origin)
