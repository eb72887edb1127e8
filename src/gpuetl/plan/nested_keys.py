"""Keys that are lists, structs or maps: flat columns that tell the same rows apart take their place.

A struct becomes its fields, and whether it is null.  A list and a map become texts (expressions/functions/ordering.py),
and so does all that rows are sorted by.  So engines and optimizer see flat keys only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa

from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.functions.function import scalar_call
from gpuetl.expressions.functions.ordering import (
    MISSING,
    canonical,
    field_of,
    is_null,
    is_present,
    order_text,
    struct_of,
)
from gpuetl.expressions.ir import Call, Column, Expr, Literal, transform
from gpuetl.plan.node import KEY_PART, Node, SortKey
from gpuetl.plan.nodes import (
    Aggregate,
    AsofJoin,
    ConditionJoin,
    Distinct,
    Grouped,
    GroupWindow,
    Join,
    KernelReduction,
    KernelTable,
    Project,
    Sort,
    passing,
)
from gpuetl.plan.nodes.condition_join import RIGHT
from gpuetl.records import dataclass
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import BOOL, DATE, DURATION, NULL, STRING, TIME, DataType, is_floating, is_integer
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.nested_types import is_nested, is_struct
from gpuetl.types.schema import Schema, free_name


def with_flat_keys(node: Node, source: Node, origin: Origin) -> Node:
    """Return what a step has built over `source` with flat keys; nodes of other origins are left as they are."""
    done: dict[int, Node] = {id(source): source}

    def changed(each: Node) -> Node:
        if id(each) not in done:
            if each.origin == origin:
                done[id(each)] = flattened(each.with_inputs([changed(child) for child in each.inputs]))
            else:
                done[id(each)] = each
        return done[id(each)]

    return changed(node)


def flattened(node: Node) -> Node:
    """Return an operation with flat keys; itself where it has no others."""
    match node:
        case Join() if _nested(node.left_on, node.left.schema):
            return flat_join(node)
        case AsofJoin() if is_nested_asof(node):
            return flat_asof(node)
        case Aggregate() if _nested([*node.by, *_columns(node.orders)], node.source.schema):
            return flat_aggregate(node)
        case Distinct() if _nested([*node.on, *_columns({"": node.order_by})], node.source.schema):
            return flat_distinct(node)
        case Sort() if _nested(_columns({"": node.by}), node.source.schema):
            return flat_sort(node)
        case GroupWindow() if _nested([*node.by, *_columns(node.orders)], node.source.schema):
            return flat_window(node)
        case Grouped() if _nested(node.sort_columns, node.source.schema):
            return flat_window(node)
        case KernelReduction() if _nested(node.by, node.source.schema):
            return flat_kernel(node)
        case KernelTable() if _nested([*node.by, *_columns({"": node.order_by})], node.source.schema):
            return flat_kernel(node)
    return node


def _columns(orders: Mapping[str, Sequence[SortKey]]) -> Iterator[str]:
    return (key.column for keys in orders.values() for key in keys)


def _nested(names: Iterable[str], schema: Schema) -> bool:
    return any(is_nested(schema[name]) for name in names if name in schema)


# Values of keys as flat ones.


def parts_of(x: Expr) -> list[Expr]:
    """Return what tells values apart, where null is a value."""
    if is_struct(x.dtype):
        fields = [part for each in x.dtype for part in parts_of(field_of(x, each.name, each.type))]
        return [is_null(x), *fields]
    if is_nested(x.dtype):
        return [order_text(x)]
    return [] if x.dtype == NULL else [x]


def joined_parts_of(x: Expr) -> list[Expr]:
    """Return what tells values apart, null where the value is, and else not: nulls inside of a value are equal."""
    if not is_struct(x.dtype):
        return [order_text(x)]
    there = scalar_call("case", (is_present(x), Literal(True, BOOL)), BOOL)
    return [there, *(part for each in x.dtype for part in inner_parts(field_of(x, each.name, each.type)))]


def inner_parts(x: Expr) -> list[Expr]:
    """Return what tells values inside of a struct apart, which is never null."""
    if x.dtype == NULL:
        return []
    if is_struct(x.dtype):
        return [is_null(x), *(part for each in x.dtype for part in inner_parts(field_of(x, each.name, each.type)))]
    zero = None if is_nested(x.dtype) else zero_of(x.dtype)
    if zero is None:
        return [scalar_call("coalesce", (order_text(x), Literal(MISSING, STRING)), STRING)]
    return [is_null(x), scalar_call("coalesce", (x, zero), x.dtype)]


def zero_of(dtype: DataType) -> Literal | None:
    """Return a value of a flat type that stands for null beside a flag; None of a type without constants."""
    zero: Any = None
    if is_integer(dtype) or dtype == BOOL:
        zero = 0 if is_integer(dtype) else False
    elif is_floating(dtype):
        zero = 0.0
    elif is_decimal(dtype):
        zero = Decimal(0).scaleb(-dtype.scale)
    elif pa.types.is_timestamp(dtype) and dtype.unit == "us":
        zero = datetime(1970, 1, 1, tzinfo=UTC if dtype.tz else None)
    else:
        zero = {STRING: "", DATE: date(1970, 1, 1), DURATION: timedelta(), TIME: time()}.get(dtype)
    return None if zero is None else Literal(zero, dtype)


# Operations with flat keys.


@dataclass
class FlatColumns:
    """The flat columns that are computed before an operation, by names that its input does not have."""

    schema: Schema
    columns: dict[str, Expr] = field(default_factory=dict)

    def add(self, name: str, expr: Expr) -> str:
        """Compute a column for a key, once, and return its name."""
        known = next((own for own, there in self.columns.items() if there == expr), None)
        new = known or free_name(name + KEY_PART, self.schema, self.columns)
        self.columns[new] = expr
        return new

    def parts(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the columns that tell apart what `names` do."""
        return tuple(part for name in names for part in self.parts_of(name))

    def parts_of(self, name: str) -> list[str]:
        """Return the columns that tell apart what one key does."""
        if not is_nested(self.schema[name]):
            return [name]
        return [self.add(name, part) for part in parts_of(Column(name, self.schema[name]))]

    def order(self, keys: Sequence[SortKey]) -> tuple[SortKey, ...]:
        """Return sort keys by flat columns."""
        return tuple(replace(key, column=self.order_column(key.column)) for key in keys)

    def order_column(self, name: str) -> str:
        """Return the column by which rows are sorted as by one."""
        if not is_nested(self.schema[name]):
            return name
        return self.add(name, order_text(Column(name, self.schema[name])))

    def orders(self, orders: Mapping[str, Sequence[SortKey]]) -> dict[str, tuple[SortKey, ...]]:
        """Return the orders of calls by flat columns."""
        return {name: self.order(keys) for name, keys in orders.items()}

    def above(self, source: Node, origin: Origin, **changed: Expr) -> Project:
        """Return the rows with these columns; `changed` are others of the input."""
        columns = {**passing(source.schema), **changed, **self.columns}
        return Project(source=source, columns=columns, origin=origin)


def without_parts(node: Node, schema: Schema) -> Project:
    """Return the columns that an operation has, without those of flat keys."""
    return Project(source=node, columns=passing(schema), origin=node.origin)


def flat_sort(node: Sort) -> Node:
    """Sort by flat columns."""
    flat = FlatColumns(node.source.schema)
    by = flat.order(node.by)
    return without_parts(replace(node, source=flat.above(node.source, node.origin), by=by), node.schema)


def flat_distinct(node: Distinct) -> Node:
    """Keep one row for each value of flat columns."""
    schema = node.source.schema
    flat = FlatColumns(schema)
    on, order_by = flat.parts(node.on), flat.order(node.order_by)
    nested = (name for name in node.on if is_nested(schema[name]))
    source = flat.above(node.source, node.origin, **{n: canonical(Column(n, schema[n])) for n in nested})
    return without_parts(replace(node, source=source, on=on, order_by=order_by), node.schema)


def flat_window(node: Grouped) -> Node:
    """Make groups of flat columns, and sort them by such."""
    flat = FlatColumns(node.source.schema)
    by, order_by = flat.parts(node.by), flat.order(node.order_by)
    more: dict[str, Any] = {"orders": flat.orders(node.orders)} if isinstance(node, GroupWindow) else {}
    flat_node = replace(node, source=flat.above(node.source, node.origin), by=by, order_by=order_by, **more)
    return without_parts(flat_node, node.schema)


def flat_kernel(node: KernelReduction | KernelTable) -> Node:
    """Make groups of flat columns; a row of the group has the key."""
    schema = node.source.schema
    flat = FlatColumns(schema)
    nested = {name: canonical(Column(name, schema[name])) for name in node.by if is_nested(schema[name])}
    keys = {name: flat.add(f"{name}:key", value) for name, value in nested.items()}
    by, keep = flat.parts(node.by), (*node.keep, *keys.values())
    more: dict[str, Any] = {"order_by": flat.order(node.order_by)} if isinstance(node, KernelTable) else {}
    flat_node = replace(node, source=flat.above(node.source, node.origin), by=by, keep=keep, **more)
    columns = {**passing(node.schema), **{name: Column(key, schema[name]) for name, key in keys.items()}}
    return Project(source=flat_node, columns=columns, origin=node.origin)


def flat_aggregate(node: Aggregate) -> Node:
    """Group by flat columns, and make the keys of them again: lists are those of a row of the group."""
    schema = node.source.schema
    flat, firsts = FlatColumns(schema), dict[str, Call]()
    orders = flat.orders(node.orders)
    calls, by, results = dict(node.calls), list[str](), dict[str, Expr](passing(node.schema))

    def again(x: Expr) -> Expr:
        """Add the parts of a key, and return the key over them."""
        if is_struct(x.dtype):
            missing = part(is_null(x))
            fields = tuple(again(field_of(x, each.name, each.type)) for each in x.dtype)
            return struct_of(missing, fields, x.dtype)
        if not is_nested(x.dtype):
            return Literal(None, NULL) if x.dtype == NULL else part(x)
        key, value = part(order_text(x)), Column(flat.add(":value", canonical(x)), x.dtype)
        name = free_name(":list", schema, firsts)
        firsts[name] = Call(FUNCTIONS["aggregate", "first"], (value,), x.dtype)
        orders[name] = (SortKey(key.name),)
        return Column(name, x.dtype)

    def part(expr: Expr) -> Column:
        by.append(flat.add(":", expr))
        return Column(by[-1], expr.dtype)

    for name in node.by:
        if is_nested(schema[name]):
            results[name] = again(Column(name, schema[name]))
        else:
            by.append(name)
    source = flat.above(node.source, node.origin)
    groups = replace(node, source=source, by=tuple(dict.fromkeys(by)), calls={**calls, **firsts}, orders=orders)
    return Project(source=groups, columns=results, origin=node.origin)


def flat_join(node: Join) -> Node:
    """Join on flat columns.  The right side's keys are carried where the result or a condition reads them."""
    sides = FlatColumns(node.left.schema), FlatColumns(node.right.schema)
    on: tuple[list[str], list[str], list[str]] = ([], [], [])
    carried = dict[str, str]()
    written = node.mirrored_on or node.left_on
    for left, right, shown in zip(node.left_on, node.right_on, written, strict=True):
        dtype = node.left.schema[left]
        if not is_nested(dtype):
            for names, name in zip(on, (left, right, shown), strict=True):
                names.append(name)
            continue
        parts = parts_of if node.nulls_equal else joined_parts_of
        for names, side, name in zip(on, sides, (left, right), strict=False):
            names += [side.add(name, part) for part in parts(Column(name, dtype))]
        on[2].extend([shown + KEY_PART] * (len(on[0]) - len(on[2])))
        carried[right] = sides[1].add(f"{right}:right", Column(right, dtype))
    left_side, right_side = (
        side.above(below, node.origin) for side, below in zip(sides, (node.left, node.right), strict=True)
    )
    kept = right_side.schema.select(name for name in right_side.schema if name not in carried)
    right_side = Project(source=right_side, columns=passing(kept), origin=node.origin)
    more: dict[str, Any] = {"mirrored_on": tuple(on[2])} if node.mirrored_on else {}
    if isinstance(node, ConditionJoin):
        more["condition"] = transform(node.condition, lambda part: _carried(part, carried))
    joined = replace(node, left=left_side, right=right_side, left_on=tuple(on[0]), right_on=tuple(on[1]), **more)
    results = dict[str, Expr](passing(node.schema))
    if node.how == "full":
        for name, other in zip(node.left_on, node.right_on, strict=True):
            if other in carried:
                dtype = node.schema[name]
                pair = Column(name, dtype), Column(carried[other], dtype)
                results[name] = scalar_call("coalesce", pair, dtype)
    return Project(source=joined, columns=results, origin=node.origin)


def is_nested_asof(node: AsofJoin) -> bool:
    """Return whether an as-of join has keys that are not flat, or an order of right rows by such."""
    order = (key.column for key in node.order_by)
    return _nested(node.left_on, node.left.schema) or _nested(order, node.right.schema)


def flat_asof(node: AsofJoin) -> Node:
    """Join on flat columns, and order right rows by such.  The right side's keys are not carried."""
    sides = FlatColumns(node.left.schema), FlatColumns(node.right.schema)
    on: tuple[list[str], list[str]] = ([], [])
    for left, right in zip(node.left_on, node.right_on, strict=True):
        dtype = node.left.schema[left]
        flat_parts = parts_of if node.nulls_equal else joined_parts_of
        for names, side, name in zip(on, sides, (left, right), strict=True):
            parts = flat_parts(Column(name, dtype)) if is_nested(dtype) else ()
            names.extend([side.add(name, part) for part in parts] or [name])
    order_by = sides[1].order(node.order_by)
    left_side, right_side = (
        side.above(below, node.origin) for side, below in zip(sides, (node.left, node.right), strict=True)
    )
    nested = {name for name in node.right_on if is_nested(node.right.schema[name])}
    kept = right_side.schema.select(name for name in right_side.schema if name not in nested)
    right_side = Project(source=right_side, columns=passing(kept), origin=node.origin)
    joined = replace(
        node, left=left_side, right=right_side, left_on=tuple(on[0]), right_on=tuple(on[1]), order_by=order_by
    )
    return without_parts(joined, node.schema)


def _carried(part: Expr, carried: Mapping[str, str]) -> Expr:
    if isinstance(part, Column) and part.name.startswith(RIGHT) and part.name.removeprefix(RIGHT) in carried:
        return replace(part, name=RIGHT + carried[part.name.removeprefix(RIGHT)])
    return part
