"""The explode step."""

from __future__ import annotations

from typing import ClassVar

from gpuetl.expressions.resolve import WRONG
from gpuetl.messages import coded
from gpuetl.plan import nodes
from gpuetl.plan.node import Node
from gpuetl.records import dataclass
from gpuetl.spec.fields import key
from gpuetl.spec.forms import BOOLEAN, NAME
from gpuetl.spec.steps.step import Context, Step, Unknown
from gpuetl.types.data_types import UNKNOWN, type_name
from gpuetl.types.nested_types import is_list


@dataclass(frozen=True)
class Explode(Step):
    """One row for each element of a list: `explode: tags`, or `explode: {column: tags, index: place}`.

    The other columns repeat; the elements replace their row, in order.  A null or an empty list gives one
    row with null, or none where `keep_empty: false`.  `index` names a new column for the element's place in its list,
    from 0; it is null where there is no element.
    """

    verb: ClassVar[str] = "explode"
    main: ClassVar[str] = "column"
    column: str = key(NAME, doc="the list whose elements get a row each")
    keep_empty: bool = key(BOOLEAN, True, doc="keep a row with null for an empty list or a null")
    index: str = key(NAME, "", doc="the name of a column to add, with the element's place from 0")

    def build(self, context: Context, source: Node) -> Node:
        """Explode the column, which must be a list."""
        if not context.known([self.column], source.schema):
            return context.doubtful(source, [self.column], source.schema)
        dtype = source.schema[self.column]
        if dtype == UNKNOWN:
            return Unknown(source=source, columns={str(self.column): WRONG}, origin=context.origin)
        if not is_list(dtype):
            message = coded("GE1210", f"explode takes a list, and '{self.column}' is {type_name(dtype)}")
            context.problem(message, "split(text, ',') makes a list of strings.", self.column)
        if self.index in source.schema:
            context.problem(
                coded("GE1023", f"there is a column '{self.index}' already"), "Give the index another name.", self.index
            )
        return nodes.Explode(
            source=source, column=str(self.column), keep_empty=self.keep_empty, index=str(self.index),
            origin=context.origin,
        )  # fmt: skip
