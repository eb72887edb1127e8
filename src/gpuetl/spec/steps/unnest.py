"""The unnest step."""

from __future__ import annotations

from typing import ClassVar

from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column, Expr, Literal
from gpuetl.expressions.resolve import WRONG
from gpuetl.messages import coded
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Project
from gpuetl.records import dataclass
from gpuetl.spec.fields import key
from gpuetl.spec.forms import NAME
from gpuetl.spec.steps.step import Context, Step, Unknown
from gpuetl.types.data_types import STRING, UNKNOWN, type_name
from gpuetl.types.nested_types import is_list, is_struct


@dataclass(frozen=True)
class Unnest(Step):
    """The fields of a struct in columns of their own: `unnest: address`, or `unnest: {column: address, prefix: a_}`.

    They stand in the place of the struct, in its order, and have the names of the fields, after `prefix`.  A null
    struct gives nulls.
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
            new = {name: Column(name, own)} if name != self.column else self.fields(Column(name, own))
            for twice in new.keys() & columns.keys():
                hint = "Give the fields a prefix, or drop one of the columns before."
                context.problem(coded("GE1023", f"unnest gives two columns the name '{twice}'"), hint, self.column)
            columns |= new
        return Project(source=source, columns=columns, origin=context.origin)

    def fields(self, struct: Column) -> dict[str, Expr]:
        """Return the fields by the names of their columns."""
        function = FUNCTIONS["scalar", "struct_extract"]
        return {
            f"{self.prefix}{field.name}": Call(function, (struct, Literal(field.name, STRING)), field.type)
            for field in struct.dtype
        }
