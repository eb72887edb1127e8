"""The sample step."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from itertools import count
from typing import ClassVar

from gpuetl.expressions.build import col
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column, Expr, Literal
from gpuetl.expressions.resolve import formula
from gpuetl.expressions.syntax import Apply, Constant, Name
from gpuetl.messages import coded
from gpuetl.plan import nodes
from gpuetl.plan.node import Node, SortKey
from gpuetl.records import dataclass
from gpuetl.spec.fields import key
from gpuetl.spec.forms import COUNT, FRACTION, INTEGER, NAMES
from gpuetl.spec.steps.step import Context, Step
from gpuetl.spec.values import Formula, node_of
from gpuetl.types.data_types import BOOL, INT64, can_be_key, can_compare
from gpuetl.types.schema import Schema, free_name

LEAST, HASHES = -(1 << 63), 1 << 64
PARTS = 1_000_000_000
"""A fraction of a group is this many parts of it, so that it is computed exactly."""


@dataclass(frozen=True)
class Sample(Step):
    """Keep a part of the rows: `sample: 0.1`, `sample: {fraction: 0.1, by: user_id, seed: 42}`, `sample: {rows: 1000}`.

    A hash of `seed` and the columns of `by` chooses the rows. So every engine keeps the same rows, whatever the
    partitions. With one seed, a larger sample contains a smaller one. To sample a sample, use another seed.

    Rows that are equal in `by` stay together: `by: user_id` keeps all rows of a user, or none. Only the last user that
    `rows` reaches may be cut. By default `by` is all columns but lists, structs and maps, and these where there are no
    others.

    `fraction: f` keeps the rows for which `hash(seed, by…)` is below -2^63 + f·2^64. `rows` keeps the rows with the
    smallest hashes.

    `stratify` takes a sample of each group: `sample: {rows: 100, stratify: region}` keeps 100 rows of each region, or
    all where it has fewer. With `fraction` each group keeps that share of its rows, rounded up, so no group is lost.
    The fraction counts to nine decimals. A null is a group, too.
    """

    verb: ClassVar[str] = "sample"
    main: ClassVar[str] = "fraction"
    fraction: float | None = key(FRACTION, None, doc="the share of rows to keep")
    rows: int | None = key(COUNT, None, doc="the number of rows to keep")
    by: tuple[str, ...] = key(NAMES, (), doc="columns whose equal rows stay together")
    stratify: tuple[str, ...] = key(NAMES, (), doc="columns whose groups are sampled, each by itself")
    seed: int = key(INTEGER, 0, doc="another seed gives another sample")

    def build(self, context: Context, source: Node) -> Node:
        """Filter by the hash, or sort by it and limit."""
        if (self.fraction is None) == (self.rows is None):
            hint = "Write sample: {fraction: 0.1}, or sample: {rows: 1000}."
            context.problem(
                coded("GE1209", "sample takes either fraction or rows"), hint, self.by[0] if self.by else None
            )
            return source
        hashed = self.hashed(context, context.known(self.by, source.schema) or hashable(source.schema), source.schema)
        if self.stratify:
            return self.of_each(context, source, hashed)
        return self.share(context, source, hashed) if self.rows is None else self.first(context, source, hashed)

    def hashed(self, context: Context, names: Iterable[str], schema: Schema) -> Expr:
        """Return the hash of the seed and the columns."""
        written = Apply("hash", (Constant(self.seed), *map(Name, names)))
        return context.expression(Formula(written, node_of(self.by[0]) if self.by else None), schema)

    def share(self, context: Context, source: Node, hashed: Expr) -> Node:
        """Keep the rows whose hash is below the fraction of all hashes."""
        below = int((self.fraction or 0.0) * HASHES)  # exact: a power of two
        if below == HASHES:
            return source
        kept = Call(FUNCTIONS["scalar", "less"], (hashed, Literal(LEAST + below, INT64)), BOOL)
        return nodes.Filter(source=source, predicate=kept, origin=context.origin)

    def of_each(self, context: Context, source: Node, hashed: Expr) -> Node:
        """Keep the rows of the least hashes of each group: a number of them, or a share of its rows."""
        schema, groups = source.schema, context.keys(self.stratify, source.schema, nested=True)
        if len(groups) < len(self.stratify):
            return source
        columns = self.order_columns(context, hashed, schema)
        kept, origin = nodes.passing(schema), context.origin
        place, total = free_name(":place", schema), free_name(":total", schema)
        node: Node = nodes.Project(source=source, columns={**kept, **columns}, origin=origin)
        number = {place: Call(FUNCTIONS["window", "row_number"], (), INT64)}
        order = tuple(map(SortKey, columns))
        node = nodes.Window(source=node, by=groups, order_by=order, calls=number, origin=origin)
        if self.rows is None:
            rows = {total: Call(FUNCTIONS["aggregate", "count_rows"], (), INT64)}
            node = nodes.GroupWindow(source=node, by=groups, calls=rows, origin=origin)
            parts = Literal(round(Decimal(repr(self.fraction)) * PARTS), INT64)
            predicate = formula(
                (col("place") - 1) * PARTS < col("parts") * col("total"),
                place=Column(place, INT64), parts=parts, total=Column(total, INT64),
            )  # fmt: skip
        else:
            predicate = formula(col("place") <= col("n"), place=Column(place, INT64), n=Literal(self.rows, INT64))
        node = nodes.Filter(source=node, predicate=predicate, origin=origin)
        return nodes.Project(source=node, columns=kept, origin=origin)

    def order_columns(self, context: Context, hashed: Expr, schema: Schema) -> dict[str, Expr]:
        """Return the hashes by which rows are ordered; those of equal ones are told apart by a hash of all columns."""
        hashes = dict.fromkeys([hashed, self.hashed(context, hashable(schema), schema)])
        names = (name for i in count() if (name := f":hash{i}") not in schema)
        return dict(zip(names, hashes, strict=False))

    def first(self, context: Context, source: Node, hashed: Expr) -> Node:
        """Keep the rows of the least hashes; those of equal ones by a hash of all columns."""
        columns, kept = self.order_columns(context, hashed, source.schema), nodes.passing(source.schema)
        node: Node = nodes.Project(source=source, columns={**kept, **columns}, origin=context.origin)
        node = nodes.Sort(source=node, by=tuple(map(SortKey, columns)), origin=context.origin)
        node = nodes.Limit(source=node, count=self.rows or 0, origin=context.origin)
        return nodes.Project(source=node, columns=kept, origin=context.origin)


def hashable(schema: Schema) -> list[str]:
    """Return the flat columns whose values are compared, or else nested ones, in the order of their names."""
    flat = sorted(name for name, dtype in schema.items() if can_be_key(dtype))
    return flat or sorted(name for name, dtype in schema.items() if can_compare(dtype))
