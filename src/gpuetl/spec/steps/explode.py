"""The explode step."""

from __future__ import annotations

from typing import ClassVar

from gpuetl.expressions.ir import Column, Expr
from gpuetl.expressions.scope import WRONG
from gpuetl.messages import coded
from gpuetl.plan import nodes
from gpuetl.plan.node import Node
from gpuetl.records import dataclass
from gpuetl.spec.fields import key
from gpuetl.spec.forms import BOOLEAN, NAME
from gpuetl.spec.steps.step import Context, Step, Unknown
from gpuetl.spec.steps.struct_fields import fields_of, report_twice
from gpuetl.types.data_types import UNKNOWN, type_name
from gpuetl.types.nested_types import is_list, is_map, is_struct

STRINGS_HINT = "split(text, ',') makes a list of strings."


@dataclass(frozen=True)
class Explode(Step):
    """Make one row for each element of a list or map: `explode: tags`, or `explode: {column: tags, index: place}`.

    The other columns repeat. An empty list or a null gives one row with null, or no row with `keep_empty: false`.
    `index` adds a column with the position of the element, from 0. A map gives two columns, `key` and `value`, and
    `prefix` comes before these names.
    """

    verb: ClassVar[str] = "explode"
    main: ClassVar[str] = "column"
    column: str = key(NAME, doc="the list or map whose elements get a row each")
    keep_empty: bool = key(BOOLEAN, True, doc="keep a row with null for an empty list or a null")
    index: str = key(NAME, "", doc="the name of a column to add, with the element's place from 0")
    prefix: str = key(NAME, "", doc="what the names of a map's two columns begin with")

    def build(self, context: Context, source: Node) -> Node:
        """Explode the column, which must be a list or a map."""
        if not context.known([self.column], source.schema):
            return context.doubtful(source, [self.column], source.schema)
        dtype = source.schema[self.column]
        if dtype == UNKNOWN:
            return Unknown(source=source, columns={str(self.column): WRONG}, origin=context.origin)
        if not is_list(dtype) and not is_map(dtype):
            message = coded("GE1210", f"explode takes a list or a map, and '{self.column}' is {type_name(dtype)}")
            hint = "Write an unnest step: it gives each field a column." if is_struct(dtype) else STRINGS_HINT
            context.problem(message, hint, self.column)
        if self.prefix and is_list(dtype):
            message = coded("GE1210", f"prefix is for a map, and '{self.column}' is {type_name(dtype)}")
            context.problem(message, "Leave it out: the elements have the list's name.", self.prefix)
        if self.index in source.schema:
            context.problem(
                coded("GE1023", f"there is a column '{self.index}' already"), "Give the index another name.", self.index
            )
        exploded = nodes.Explode(
            source=source, column=str(self.column), keep_empty=self.keep_empty, index=str(self.index),
            origin=context.origin,
        )  # fmt: skip
        return self.entries(exploded, context) if is_map(dtype) else exploded

    def entries(self, exploded: Node, context: Context) -> Node:
        """Give the keys and the values of a map columns of their own."""
        columns: dict[str, Expr] = {}
        for name, dtype in exploded.schema.items():
            column = Column(name, dtype)
            new: dict[str, Expr] = fields_of(column, self.prefix) if name == self.column else {name: column}
            hint = "Give the key and the value a prefix, or drop one of the columns before."
            report_twice("explode", new, columns, hint, self.column, context)
            columns |= new
        return nodes.Project(source=exploded, columns=columns, origin=context.origin)
