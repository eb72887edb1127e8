"""Vocabularies: the values of a column numbered by frequency, and the lookup of values in them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Self

from gpuetl.expressions import functions
from gpuetl.expressions.build import col, when
from gpuetl.expressions.expression import Expression
from gpuetl.expressions.ir import Call, Column, Expr
from gpuetl.expressions.resolve import formula
from gpuetl.plan.node import Locality, Node, SingleInput, SortKey
from gpuetl.plan.nodes.aggregate import Aggregate
from gpuetl.plan.nodes.filter import Filter
from gpuetl.plan.nodes.join import Join
from gpuetl.plan.nodes.project import Project, passing
from gpuetl.plan.nodes.window import Window
from gpuetl.records import dataclass
from gpuetl.types.data_types import INT64, NAMED
from gpuetl.types.schema import Schema

VALUE, COUNT, ID = "value", "count", "id"
"""The columns of a vocabulary."""
NULL_ID = 0
"""The number of null."""
INT32 = NAMED["int32"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Vocabulary(SingleInput):
    """Number the values of a column by frequency: the most frequent is `first`; equally frequent ones ascend.

    Values are kept that `min_count` rows or more have, and of these the `most` frequent ones.  Null is none of them.
    Values compare as keys of groups do.  The output has one row a value, in the order of the numbers.
    """

    column: str
    first: int
    min_count: int = 1
    most: int | None = None
    locality: ClassVar[Locality] = Locality.TABLE

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the values, how many rows have each, and their numbers."""
        return Schema({VALUE: schemas[0][self.column], COUNT: INT64, ID: INT32})

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return the column."""
        return (frozenset([self.column]),)

    @cached_property
    def ordering(self) -> tuple[SortKey, ...]:
        """The order of the numbers."""
        return SortKey(COUNT, descending=True), SortKey(VALUE)

    @property
    def steps(self) -> tuple[Node, ...]:
        """The same as other operations, each on the output of the one before."""
        origin = self.origin
        column = Column(self.column, self.source.schema[self.column])
        values = Project(source=self.source, columns={VALUE: column}, origin=origin)
        counting = Call(functions.FUNCTIONS["aggregate", "count_rows"], (), INT64)
        counted = Aggregate(source=values, by=(VALUE,), calls={COUNT: counting}, origin=origin)
        known = typed(col(VALUE).is_not_null() & (col(COUNT) >= self.min_count), counted)
        kept = Filter(source=counted, predicate=known, origin=origin)
        ranking = Call(functions.FUNCTIONS["window", "row_number"], (), INT64)
        ranked = Window(source=kept, by=(), order_by=self.ordering, calls={ID: ranking}, origin=origin)
        most: tuple[Node, ...] = ()
        if self.most is not None:
            most = (Filter(source=ranked, predicate=typed(col(ID) <= self.most, ranked), origin=origin),)
        last = most[-1] if most else ranked
        number = typed((col(ID) + (self.first - 1)).cast("int32"), last)
        numbered = Project(source=last, columns={**passing(last.schema), ID: number}, origin=origin)
        return values, counted, kept, ranked, *most, numbered

    def describe(self) -> str:
        """Return the column and which values are kept."""
        least = f", {self.min_count:,} rows or more" if self.min_count > 1 else ""
        most = f", {self.most:,} at most" if self.most is not None else ""
        return f"Vocabulary of {self.column}{least}{most}, from {self.first:,}"


@dataclass(frozen=True, eq=False, kw_only=True)
class VocabularyLookup(Join):
    """Add a column `output` with the number of each row's value in a vocabulary, the right side.

    0 stands for null, and `unknown` for a value that is not there.  Left rows stay; columns `without` use are left out.
    """

    output: str
    unknown: int
    without: tuple[str, ...] = ()

    def output_schema(self, *schemas: Schema) -> Schema:
        """Return the left columns and the numbers."""
        return schemas[0].select([n for n in schemas[0] if n not in self.without]).updated({self.output: INT32})

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return the wanted columns and the one that is looked up, and the vocabulary."""
        ours = (wanted & self.left.schema.keys()) - {self.output}
        return ours | frozenset(self.left_on), frozenset(self.right.schema)

    def keeping(self, wanted: frozenset[str]) -> Self:
        """Leave out what is not wanted, so that no projection before the next lookup does."""
        extra = tuple(name for name in self.left.schema if name not in wanted)
        return replace(self, without=extra) if extra else self

    @property
    def payload(self) -> tuple[str, ...]:
        """The numbers."""
        return (self.output,)

    @property
    def steps(self) -> tuple[Project, Join, Project]:
        """The same as other operations: of the right side, of both, and of their result."""
        (value,), found = self.right_on, f"{self.output}:found"
        names = {f":{value}": value, found: ID}
        columns: dict[str, Expr] = {new: Column(old, self.right.schema[old]) for new, old in names.items()}
        ids = Project(source=self.right, columns=columns, origin=self.origin)
        joined = Join(
            left=self.left, right=ids, left_on=self.left_on, right_on=(f":{value}",), how=self.how,
            validate=self.validate, origin=self.origin,
        )  # fmt: skip
        (column,) = self.left_on
        number = when(col(column).is_null(), NULL_ID).otherwise(
            when(col(found).is_null(), self.unknown).otherwise(col(found))
        )
        kept = self.left.schema.select([name for name in self.left.schema if name not in self.without])
        outputs = {**passing(kept), self.output: typed(number.cast("int32"), joined)}
        return ids, joined, Project(source=joined, columns=outputs, origin=self.origin)

    def describe(self) -> str:
        """Return the column, and what the numbers are called."""
        return f"Look up {self.left_on[0]} as {self.output}"


def typed(expression: Expression, source: Node) -> Expr:
    """Return an expression over the columns of a node with its types."""
    return formula(expression, **{name: Column(name, dtype) for name, dtype in source.schema.items()})
