"""Transforms of categories: categorify, one_hot, cross.

Categorify numbers values by frequency, as NVTabular's operator of that name does; one_hot and cross learn nothing.
"""

from __future__ import annotations

from functools import reduce
from typing import ClassVar

import gpuetl.functions as f
from gpuetl.expressions.build import col, lit, when
from gpuetl.expressions.expression import Expression
from gpuetl.messages import coded
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Vocabulary, VocabularyLookup
from gpuetl.plan.nodes.vocabulary import ID, VALUE
from gpuetl.records import dataclass
from gpuetl.spec.fields import key
from gpuetl.spec.forms import BOOLEAN, COUNT, NAME, SOME_NAMES, STRINGS
from gpuetl.spec.steps.fit.transform import (
    ColumnsTransform,
    Statistics,
    Transform,
    computed,
    dropped,
    reading,
    selected,
)
from gpuetl.spec.steps.join import Join
from gpuetl.spec.steps.step import Context
from gpuetl.spec.steps.union import Union
from gpuetl.spec.values import Text
from gpuetl.types.data_types import UNKNOWN, can_be_key, common_type, type_name

JOINT = "joint"
"""The vocabulary of several columns."""
UNKNOWN_VALUE = -1
"""Stands for values that are not in a vocabulary, where their number depends on the value."""


@dataclass(frozen=True)
class Categorify(ColumnsTransform):
    """Number the values of a column by frequency: `categorify: {columns: [site, device], min_count: 10}`.

    0 is null. 1 is every value that is not in the vocabulary: one that was not in the rows that are fitted, or was in
    fewer than `min_count` of them. 2 is the most frequent value, 3 the next, and so on. Equally frequent values are in
    ascending order. With `unknown_buckets: n`, a hash spreads the unknown values over 1 to n, and the vocabulary begins
    at n + 1. The numbers are int32.

    `joint: true` gives several columns one vocabulary, of the values of all.
    """

    verb: ClassVar[str] = "categorify"
    min_count: int = key(COUNT, 1, doc="how often a value must be there to get a number of its own")
    most: int | None = key(COUNT, None, doc="the size of the vocabulary: less frequent values are unknown")
    unknown_buckets: int = key(COUNT, 1, doc="the numbers over which a hash spreads unknown values")
    joint: bool = key(BOOLEAN, False, doc="one vocabulary for all columns")

    def known(self, context: Context, source: Node) -> dict[str, str]:
        """Return the outputs whose columns can be compared; problems for the others."""
        if self.unknown_buckets == 0:
            message = coded("GE1880", "unknown_buckets: takes a whole number from 1, got 0")
            context.problem(message, "Unknown values need a number.", next(iter(self.columns)))
        found = dict(super().known(context, source).items())
        wrong = [old for old in found.values() if source.schema[old] != UNKNOWN and not can_be_key(source.schema[old])]
        for old in dict.fromkeys(wrong):
            message = coded("GE1115", f"'{old}' is {type_name(source.schema[old])}, which cannot be compared")
            context.problem(message, "Compute a string or a number of it in a step before.", next(iter(self.columns)))
        types = [source.schema[old] for old in found.values()]
        if self.joint and types and reduce(lambda a, b: a and common_type(a, b), types) is None:
            message = coded("GE1880", f"joint: the columns are {', '.join(dict.fromkeys(map(type_name, types)))}")
            context.problem(message, "Cast them to one type in a step before.", next(iter(self.columns)))
            return {}
        return {new: old for new, old in found.items() if old not in wrong}

    def statistics(self, context: Context, source: Node) -> dict[str, Node]:
        """Compute the vocabularies: values with counts and numbers."""
        columns = [*dict.fromkeys(self.known(context, source).values())]
        if not self.joint or len(columns) < 2:
            names = {JOINT if self.joint else column: column for column in columns}
            return {name: self.vocabulary(context, source, column) for name, column in names.items()}
        values = {name: selected(context, source, {VALUE: col(name)}) for name in columns}
        first, *others = values
        union = Union(tuple(map(Text, others))).build(reading(context, values), values[first])
        return {JOINT: self.vocabulary(context, union, VALUE)}

    def vocabulary(self, context: Context, values: Node, column: str) -> Node:
        """Return the values that get a number, with their counts and numbers."""
        return Vocabulary(
            source=values, column=column, first=self.unknown_buckets + 1, min_count=max(1, self.min_count),
            most=self.most, origin=context.origin,
        )  # fmt: skip

    def applied(self, context: Context, source: Node, statistics: Statistics) -> Node:
        """Look each value up in its vocabulary."""
        outputs = self.known(context, source)
        ids: dict[str, str] = {}
        node = source
        for old in dict.fromkeys(outputs.values()):
            ids[old] = f":{old}.{ID}"
            node = VocabularyLookup(
                left=node, right=statistics[JOINT if self.joint else old], left_on=(old,), right_on=(VALUE,),
                how="left", validate="many_to_one", output=ids[old], unknown=self.unknown, origin=context.origin,
            )  # fmt: skip
        new = {name: self.number(col(old), col(ids[old])) for name, old in outputs.items()}
        return dropped(context, computed(context, node, new), ids.values()) if ids else node

    @property
    def unknown(self) -> int:
        """The number of unknown values where they have one, and a mark of them where a hash spreads them."""
        return 1 if self.unknown_buckets == 1 else UNKNOWN_VALUE

    def number(self, value: Expression, found: Expression) -> Expression:
        """Return the number that was found of a value, or the one by a hash of an unknown value."""
        if self.unknown_buckets == 1:
            return found
        bucket = f.bucket(value, self.unknown_buckets) + 1
        return when(found == UNKNOWN_VALUE, bucket).otherwise(found).cast("int32")


def looked_up(context: Context, source: Node, table: Node, keys: tuple[str, ...], nulls_equal: bool = True) -> Node:
    """Join with a table that has each key once; rows without a match get nulls."""
    on: dict[str, str] = {Text(name): Text(name) for name in keys}
    join = Join(Text("table"), on, "left", "many_to_one", nulls_equal=nulls_equal)
    return join.build(reading(context, {"table": table}), source)


@dataclass(frozen=True)
class OneHot(Transform):
    """Add a column of 0 and 1 for each listed value: `one_hot: {column: color, values: [red, green]}`. Learns nothing.

    The columns are `color_red` and `color_green`, of type int8. Null and other values give 0 in all of them. The values
    are listed since the columns of a stage must be known before it runs; `gpuetl stats` and an `aggregate` show them.
    """

    verb: ClassVar[str] = "one_hot"
    main: ClassVar[str] = ""
    column: str = key(NAME, doc="the column")
    values: tuple[str, ...] = key(STRINGS, doc="the values, each of which gets a column")
    prefix: str | None = key(NAME, None, doc="what the new names begin with; by default the column's name and `_`")

    @property
    def read_columns(self) -> tuple[str, ...]:
        """The column."""
        return (str(self.column),)

    def applied(self, context: Context, source: Node, statistics: Statistics) -> Node:
        """Compare with each value."""
        if not context.known([self.column], source.schema):
            return source
        prefix = f"{self.column}_" if self.prefix is None else self.prefix
        column = col(str(self.column)).cast("string")
        columns = {f"{prefix}{value}": when(column == lit(value), 1).otherwise(0).cast("int8") for value in self.values}
        for name in columns:
            if name in source.schema:
                message = coded("GE1023", f"one_hot: the column '{name}' is there already")
                context.problem(message, "Choose another prefix.", self.column)
        return computed(context, source, columns)


@dataclass(frozen=True)
class Cross(Transform):
    """Hash several columns into buckets: `cross: {columns: [site, hour], buckets: 100000, name: site_hour}`.

    The result is an int32 from 0 to `buckets` - 1. Null is a value like others. Learns nothing.
    """

    verb: ClassVar[str] = "cross"
    main: ClassVar[str] = ""
    columns: tuple[str, ...] = key(SOME_NAMES, doc="the columns that are combined")
    buckets: int = key(COUNT, doc="how many buckets there are")
    name: str = key(NAME, doc="the new column")

    @property
    def read_columns(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(map(str, self.columns))

    def applied(self, context: Context, source: Node, statistics: Statistics) -> Node:
        """Take the hash modulo the number of buckets."""
        known = context.keys(self.columns, source.schema)
        if self.buckets < 1:
            message = coded("GE1880", f"cross: buckets: takes a whole number from 1, got {self.buckets}")
            context.problem(message, "Write how many buckets there are.", self.columns[0])
        if len(known) < len(self.columns) or self.buckets < 1:
            return context.doubtful(source, [self.name], source.schema)
        number = f.bucket(f.hash(*map(col, known)), self.buckets).cast("int32")
        return computed(context, source, {str(self.name): number})
