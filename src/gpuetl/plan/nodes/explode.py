"""Explode: a row for each element of a list, or for each entry of a map."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import takewhile
from typing import Self

from gpuetl.plan.node import SingleInput, SortKey
from gpuetl.records import dataclass
from gpuetl.types.data_types import INT64, NULL, DataType
from gpuetl.types.nested_types import is_list, is_map, struct_of
from gpuetl.types.schema import Schema


def element_type(dtype: DataType) -> DataType:
    """Return the type of the elements of a list, or of the entries of a map; null for other types."""
    if is_map(dtype):
        return struct_of({"key": dtype.key_type, "value": dtype.item_type})
    return dtype.value_type if is_list(dtype) else NULL


@dataclass(frozen=True, eq=False, kw_only=True)
class Explode(SingleInput):
    """Put each element of the list `column` in a row of its own; the other columns repeat.

    The entries of a map are structs of `key` and `value`.  Elements keep their order, in place of their row.  With
    `keep_empty` a null or empty list gives one row with null, else none.  `index`, where it is not empty, names a
    column for the element's place, from 0.
    """

    column: str
    keep_empty: bool = True
    index: str = ""

    @property
    def new_columns(self) -> frozenset[str]:
        """The columns whose values are not the input's."""
        return frozenset([self.column, self.index] if self.index else [self.column])

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the input's columns, the list's with the type of its elements, and the index."""
        dtype = schemas[0][self.column]
        index = {self.index: INT64} if self.index else {}
        return schemas[0].updated({self.column: element_type(dtype), **index})

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return the wanted columns and the list."""
        return (wanted - self.new_columns | {self.column},)

    def keeping(self, wanted: frozenset[str]) -> Self:
        """Leave an unwanted index out."""
        return self if self.index in wanted or not self.index else replace(self, index="")

    @cached_property
    def ordering(self) -> tuple[SortKey, ...]:
        """The input's order, as far as its columns are passed on."""
        return tuple(takewhile(lambda key: key.column not in self.new_columns, self.source.ordering))

    def describe(self) -> str:
        """Return the list, the index and what becomes of empty lists."""
        index = f" with index {self.index}" if self.index else ""
        return f"Explode {self.column}{index}{'' if self.keep_empty else ', without empty lists'}"
