"""The orders of rows that calls of aggregates have: their own, `first(x ORDER BY ts)`, or that of the step."""

from __future__ import annotations

from collections.abc import Mapping

from gpuetl.expressions.functions.aggregates import BY_STEP, ORDERED, split_order
from gpuetl.expressions.ir import Call, Column, Literal
from gpuetl.plan.node import SortKey
from gpuetl.types.data_types import BOOL, can_be_key


def orders_of(calls: Mapping[str, Call], order: tuple[SortKey, ...]) -> dict[str, tuple[SortKey, ...]]:
    """Return the orders of calls on columns that have one; `order` is that of the step."""
    found = {name: own_order(call) or (order if takes_order(call) else ()) for name, call in calls.items()}
    return {name: keys for name, keys in found.items() if keys}


def own_order(call: Call) -> tuple[SortKey, ...]:
    """Return the order that a call on columns has of its own."""
    keys = []
    for sort_key in split_order(call)[1]:
        column, descending, nulls_first = sort_key.args
        if isinstance(column, Literal):  # of min(1, 2), which is defined by an order
            continue
        assert isinstance(column, Column)
        keys.append(SortKey(column.name, descending == Literal(True, BOOL), nulls_first == Literal(True, BOOL)))
    return tuple(keys)


def takes_order(call: Call) -> bool:
    """Return whether the order of the step is for a call; distinct values are in their own."""
    return call.function.name in BY_STEP and not split_order(call)[1]


def needs_order(call: Call) -> bool:
    """Return whether a call has no result without the step's: values that are not compared have no order."""
    return takes_order(call) and (call.function.name in ORDERED or not can_be_key(call.args[0].dtype))
