"""Groups of a few keys come from groups of more keys, where one step has both: the rows are read and grouped once.

    aggregate by a, b  ∪  aggregate by a   →   by_ab = aggregate by a, b;   by_ab  ∪  aggregate by_ab by a

This holds where every call can be merged: counts and sums add up, extremes are extremes of extremes, and a mean is kept
as a sum and a count.  Other calls, such as medians and distinct counts, need the rows, and their step stays as it is.
(Gray et al. 1997, "Data Cube: A Relational Aggregation Operator", call the calls distributive and algebraic.)
"""

from __future__ import annotations

from dataclasses import field, replace

from gpuetl.expressions.build import col
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.functions.aggregates import EXACT_DURATION_MEAN, EXACT_MEAN, WIDE, WIDE_SUM
from gpuetl.expressions.ir import Call, Column, Expr, Literal
from gpuetl.expressions.resolve import formula
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Aggregate, Project, passing
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass
from gpuetl.types.data_types import DURATION, FLOAT64, INT64, DataType, is_floating
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.schema import free_name

ADDED = frozenset(["count", "count_rows", "count_if"])
"""Counts: 0 of no rows."""
AGAIN = frozenset(["min", "max", "any", "all", "bitwise_and", "bitwise_or", "bitwise_xor"])
"""Calls whose results of parts give that of the whole by the same function."""


def roll_up_groups(plan: Plan) -> Plan:
    """Let aggregates of one step read the groups of another one that has all their keys."""
    done: set[int] = set()
    while family := next((found for found in families(plan) if id(found[0].source) not in done), None):
        done.add(id(family[0].source))
        plan = plan.replacing(rolled_up(family))
    return plan


def families(plan: Plan) -> list[list[Aggregate]]:
    """Return the aggregates of each step that groups the same rows several times, those of the most keys first."""
    found: dict[tuple[int, object], list[Aggregate]] = {}
    for node in plan.nodes:
        if isinstance(node, Aggregate) and node.calls and all(map(is_merged, node.calls.values())):
            found.setdefault((id(node.source), node.origin), []).append(node)
    return [sorted(family, key=lambda node: -len(node.by)) for family in found.values() if len(family) > 1]


def is_merged(call: Call) -> bool:
    """Return whether results of parts give that of the whole."""
    name = call.function.name
    if len(call.args) > 1:
        return False
    return name in ADDED or name in AGAIN or name == "sum" or (name == "mean" and not is_decimal(call.args[0].dtype))


def rolled_up(family: list[Aggregate]) -> dict[int, Node]:
    """Return what takes the place of aggregates, by identity."""
    finest: dict[int, Aggregate] = {}
    from_groups: dict[int, list[Aggregate]] = {}
    for node in family:
        bases = [one for one in finest.values() if set(one.by) >= set(node.by) and one.calls == node.calls]
        if bases:
            from_groups.setdefault(id(min(bases, key=lambda one: len(one.by))), []).append(node)
        else:
            finest[id(node)] = node
    replaced: dict[int, Node] = {}
    for key, coarser in from_groups.items():
        base, parts = finest[key], Parts(finest[key])
        groups = replace(base, calls={**base.calls, **parts.hidden})
        whole = Project(source=groups, columns=passing(base.schema), origin=base.origin) if parts.hidden else groups
        replaced[key] = whole
        for node in coarser:
            replaced[id(node)] = whole if node.by == base.by else parts.merged(node, groups)
    return replaced


@dataclass
class Parts:
    """What groups of few keys need of those of many: `hidden` are calls that only they read."""

    base: Aggregate
    hidden: dict[str, Call] = field(default_factory=dict)
    sums: dict[str, tuple[Column, Column]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Add a sum and a count for each mean."""
        for name, mean in self.base.calls.items():
            if mean.function.name == "mean":
                (x,) = mean.args
                floats = is_floating(x.dtype)
                total = call("sum", FLOAT64, x) if floats else Call(WIDE_SUM, (x,), WIDE)
                self.sums[name] = self.part(name, total), self.part(name, call("count", INT64, x))

    def part(self, name: str, one: Call) -> Column:
        """Return the column of a hidden call."""
        column = free_name(f"{name}:part", self.base.schema, self.hidden)
        self.hidden[column] = one
        return Column(column, one.dtype)

    def merged(self, node: Aggregate, groups: Aggregate) -> Node:
        """Return an aggregate of groups, with the columns of one of rows."""
        calls: dict[str, Call] = {}
        results: dict[str, Expr] = dict(passing(node.schema.select(node.by)))
        for name, one in node.calls.items():
            results[name] = self.result(name, one, calls)
        merged = Aggregate(source=groups, by=node.by, calls=calls, origin=node.origin)
        return Project(source=merged, columns=results, origin=node.origin)

    def result(self, name: str, one: Call, calls: dict[str, Call]) -> Expr:
        """Return a call's result, over calls that merge those of groups."""
        if one.function.name == "mean":
            total, count = (self.added(part, calls) for part in self.sums[name])
            if is_floating(one.args[0].dtype):
                return formula(col("total") / col("count"), total=total, count=count)
            function = EXACT_DURATION_MEAN if one.args[0].dtype == DURATION else EXACT_MEAN
            return Call(function, (count, total), one.dtype)
        if one.function.name in AGAIN:
            calls[name] = replace(one, args=(Column(name, one.dtype),))
            return Column(name, one.dtype)
        added = self.added(Column(name, one.dtype), calls)
        if one.function.name == "sum":
            return added
        return Call(FUNCTIONS["scalar", "coalesce"], (added, Literal(0, INT64)), INT64)

    def added(self, part: Column, calls: dict[str, Call]) -> Column:
        """Return the sum of a column of groups."""
        calls[part.name] = call("sum", part.dtype, part)
        return part


def call(name: str, dtype: DataType, *args: Expr) -> Call:
    """Return a call of an aggregate function."""
    return Call(FUNCTIONS["aggregate", name], args, dtype)
