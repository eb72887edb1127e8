"""Aggregates in two steps: on each partition, then over the partitions' results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pyarrow as pa

from gpuetl.expressions.decimals import HALF_DIGITS, is_decimal
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.functions.aggregates import HIGH_SUM, JOINED_HALVES, LOW_SUM, WIDE, WIDE_SUM
from gpuetl.expressions.ir import Call, Cast, Column, Expr
from gpuetl.expressions.types import DURATION, FLOAT64, INT64
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Aggregate, Project, passing


@dataclass(frozen=True)
class Phases:
    """`partial` runs on each partition, `final` on the rows of equal keys, `finish` turns its columns into results."""

    partial: Aggregate
    final: Aggregate
    finish: Project


Parts = list[tuple[Call, str]]
"""Partial calls, and the aggregate that merges each one's results."""


def two_phases(node: Aggregate, source: Node) -> Phases | None:
    """Split an aggregate; None where one of its calls needs all rows of a group at once."""
    partial: dict[str, Call] = {}
    final: dict[str, Call] = {}
    results: dict[str, Expr] = dict(passing(node.schema.select(node.by)))
    for name, call in node.calls.items():
        if call.function.name not in _SPLIT:
            return None
        parts, finish = _SPLIT[call.function.name](call)
        columns: list[Expr] = []
        for index, (part, merge) in enumerate(parts):
            part_name = f"{name}:part{index}"
            partial[part_name] = part
            final[part_name] = _call(merge, part.dtype, Column(part_name, part.dtype))
            columns.append(Column(part_name, final[part_name].dtype))
        results[name] = finish(*columns)
    first = replace(node, source=source, calls=partial)
    second = replace(node, source=first, calls=final)
    return Phases(first, second, Project(source=second, columns=results, origin=node.origin))


def _call(name: str, dtype: pa.DataType, *args: Expr) -> Call:
    return Call(FUNCTIONS["aggregate", name], args, dtype)


def _same(expr: Expr) -> Expr:
    return expr


def _count(call: Call) -> tuple[Parts, Callable[..., Expr]]:
    return [(call, "sum")], _same


def _itself(call: Call) -> tuple[Parts, Callable[..., Expr]]:
    return [(call, call.function.name)], _same


def _sum(call: Call) -> tuple[Parts, Callable[..., Expr]]:
    """Carry what no partition's own sum overflows: integers and durations in 38 digits, long decimals in halves."""
    if call.dtype in (INT64, DURATION):
        return [(Call(WIDE_SUM, call.args, WIDE), "sum")], lambda total: _narrowed(Cast(total, INT64), call.dtype)
    if not is_decimal(call.dtype) or call.args[0].dtype.precision <= HALF_DIGITS:
        return [(call, "sum")], _same
    parts = [(Call(HIGH_SUM, call.args, WIDE), "sum"), (Call(LOW_SUM, call.args, call.dtype), "sum")]
    return parts, lambda high, low: Call(JOINED_HALVES, (high, low), call.dtype)


def _narrowed(total: Expr, dtype: pa.DataType) -> Expr:
    return Cast(total, DURATION) if dtype == DURATION else total


def _mean(call: Call) -> tuple[Parts, Callable[..., Expr]]:
    parts = [(_call("sum", FLOAT64, *call.args), "sum"), (_call("count", INT64, *call.args), "sum")]
    divide = FUNCTIONS["scalar", "divide"]
    return parts, lambda total, count: Call(divide, (total, Cast(count, FLOAT64, implicit=True)), FLOAT64)


_SPLIT: dict[str, Callable[[Call], tuple[Parts, Callable[..., Expr]]]] = {
    "count": _count, "count_rows": _count, "sum": _sum, "mean": _mean,
    "min": _itself, "max": _itself, "any": _itself, "all": _itself,
}  # fmt: skip
