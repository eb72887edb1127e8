"""Aggregates that collect a group's values, and those of its distinct values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.pandas.columns.column import canonical
from gpuetl.engines.pandas.columns.keys import encode_column
from gpuetl.engines.pandas.columns.order import note_ties, ordinal
from gpuetl.engines.pandas.relational.grouping import GroupedRows, Ints
from gpuetl.expressions.functions.collecting import OF_DISTINCT, collected_arguments
from gpuetl.expressions.ir import Call, Column, Expr, Literal
from gpuetl.plan.node import SortKey
from gpuetl.types.data_types import can_be_key

DISTINCT = ":distinct"


def in_order(rows: GroupedRows, call: Call, kept: Ints) -> Ints:
    """Return the rows by group, in the order of the call, and of rows that tie in that of their values."""
    x, distinct = call.args[0], call.function.name.endswith("_distinct")
    keys = rows.own_order_of(call)
    digits = [rows.digits(key) for key in keys]
    if can_be_key(x.dtype):
        digits.append(rows.once(("ascending digits", x), lambda: ordinal(rows.column(x), SortKey("x"))))
    codes = rows.groups.codes
    order = kept[np.lexsort([*(own[kept] for own in reversed(digits)), codes[kept]])]
    if not distinct and can_be_key(x.dtype):
        return order
    new = np.ones(len(order), bool)
    new[1:] = np.logical_or.reduce([own[order[1:]] != own[order[:-1]] for own in (codes, *digits)])
    if distinct:
        return order[new]
    note_ties(rows.operation, (*map(SortKey, rows.operation.by), *keys), len(new) - int(new.sum()))
    return order


def lists_of(rows: GroupedRows, call: Call, kept: Ints) -> Any:
    """Return the values of some rows as a list of each group; null where it has none."""
    order = in_order(rows, call, kept)
    counts = np.bincount(rows.groups.codes[order], minlength=rows.groups.count)
    offsets = pa.array(np.append(0, np.cumsum(counts)), pa.int32())
    column = rows.column(call.args[0])
    canonical_values = call.function.name.endswith("_distinct") and can_be_key(call.args[0].dtype)
    values = (canonical(column) if canonical_values else column).take(pa.array(order))
    return pa.ListArray.from_arrays(offsets, values, mask=pa.array(counts == 0))


def array_agg(rows: GroupedRows, call: Call) -> Any:
    """The values, also nulls, of the rows where the condition is true."""
    return lists_of(rows, call, np.flatnonzero(rows.condition(collected_arguments(call)[1])))


def string_agg(rows: GroupedRows, call: Call) -> Any:
    """The strings that are not null, with the separator between them."""
    x, separator = collected_arguments(call)
    assert isinstance(separator, Literal)
    lists = lists_of(rows, call, np.flatnonzero(rows.valid(x)))
    return pc.binary_join(lists.cast(pa.list_(pa.string())), separator.value)


def with_distinct(rows: GroupedRows, call: Call) -> tuple[GroupedRows, Call]:
    """Return rows with a column of the values, null where they repeat in their group, and the call of that column."""
    x, groups = call.args[0], rows.groups
    column, valid = canonical(rows.column(x)), rows.valid(x)
    places = np.flatnonzero(valid)
    own, size = encode_column(column.take(pa.array(places)))
    _, first = np.unique(groups.codes[places] * size + own, return_index=True)
    kept = np.zeros(len(valid), bool)
    kept[places[first]] = True
    values = pc.if_else(pa.array(kept), column, pa.scalar(None, column.type))
    frame = rows.frame.append_column(DISTINCT, values)
    argument: Expr = Column(DISTINCT, x.dtype)
    return GroupedRows(rows.operation, frame, groups), replace(call, args=(argument, *call.args[1:]))


def of_distinct(
    handlers: dict[str, Callable[[GroupedRows, Call], Any]],
) -> dict[str, Callable[[GroupedRows, Call], Any]]:
    """Return the handlers of aggregates of distinct values, by those of all values."""

    def handler(name: str) -> Callable[[GroupedRows, Call], Any]:
        return lambda rows, call: handlers[name](*with_distinct(rows, call))

    return {distinct: handler(name) for distinct, name in OF_DISTINCT.items()}
