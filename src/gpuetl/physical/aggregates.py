"""Aggregates in two steps: on each partition, then over the partitions' results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pyarrow as pa

from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.functions.aggregates import WIDE, WIDE_SUM
from gpuetl.expressions.ir import Call, Cast, Column, Expr
from gpuetl.expressions.types import FLOAT64, INT64
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
    if call.dtype != INT64:
        return [(call, "sum")], _same
    return [(Call(WIDE_SUM, call.args, WIDE), "sum")], lambda total: Cast(total, INT64)


def _mean(call: Call) -> tuple[Parts, Callable[..., Expr]]:
    parts = [(_call("sum", FLOAT64, *call.args), "sum"), (_call("count", INT64, *call.args), "sum")]
    divide = FUNCTIONS["scalar", "divide"]
    return parts, lambda total, count: Call(divide, (total, Cast(count, FLOAT64, implicit=True)), FLOAT64)


_SPLIT: dict[str, Callable[[Call], tuple[Parts, Callable[..., Expr]]]] = {
    "count": _count, "count_rows": _count, "sum": _sum, "mean": _mean,
    "min": _itself, "max": _itself, "any": _itself, "all": _itself,
}  # fmt: skip
