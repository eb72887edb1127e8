"""Semi-join reduction: groups that no row of a join asks for are not computed (Bernstein & Chiu 1981).

    join(aggregate(events by user), few_users on user)  →  join(aggregate(semi(events, few_users)), few_users)

The side that asks is then read twice, and computed once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gpuetl.expressions.ir import Column
from gpuetl.places.file_state import DatasetError
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Locality, Node
from gpuetl.plan.nodes import Aggregate, Distinct, Filter, Grouped, Join, KernelReduction, Limit, Project, Read, Sort
from gpuetl.plan.plan import Plan

DROPS_UNMATCHED = {"inner": (True, True), "left": (False, True), "semi": (True, True), "anti": (False, True)}
"""Whether a join takes nothing from rows of its left and right side that have no match."""


class Reduction(NamedTuple):
    """An operation on groups, the side of a join that says which groups are needed, and the keys of both."""

    groups: Node
    selective_side: Node
    keys: tuple[str, ...]
    selective_keys: tuple[str, ...]
    nulls_equal: bool


def reduce_groups(plan: Plan) -> Plan:
    """Put a semi join below every operation on groups if a join needs only some of the groups."""
    while (reduction := next(reductions(plan), None)) is not None:
        plan = reduced(plan, reduction)
    return plan


def reduced(plan: Plan, reduction: Reduction) -> Plan:
    """Return the plan with the semi join: the side that says what is wanted does not change."""

    def rule(node: Node) -> Node:
        if node is not reduction.groups:
            return node
        source = Join(
            left=node.inputs[0], right=reduction.selective_side, left_on=reduction.keys,
            right_on=reduction.selective_keys, how="semi", nulls_equal=reduction.nulls_equal, origin=node.origin,
        )  # fmt: skip
        return node.with_inputs([source])

    return plan.rewrite(rule)


def reductions(plan: Plan) -> Iterator[Reduction]:
    """Yield what can be reduced and is not yet."""
    counts = plan.consumers()
    for join in plan.nodes:
        if not isinstance(join, Join) or join.how not in DROPS_UNMATCHED or not join.left_on:
            continue
        for side in (0, 1):
            selective_side, keys = join.inputs[1 - side], (join.left_on, join.right_on)
            if not DROPS_UNMATCHED[join.how][side] or join.unique[side] or not is_selective(selective_side):
                continue
            groups, group_keys = groups_below(join.inputs[side], keys[side], counts)
            if groups is not None and worth_it(groups, selective_side):
                yield Reduction(groups, selective_side, group_keys, keys[1 - side], join.nulls_equal)


def groups_below(node: Node, keys: tuple[str, ...], counts: dict[int, int]) -> tuple[Node | None, tuple[str, ...]]:
    """Return the operation on groups of (at least) the keys whose rows a side has, and the keys' names there.

    None where there is none, where another node reads its rows, or where it is reduced already.
    """
    while counts[id(node)] == 1:
        if isinstance(node, Project):
            columns = [node.columns[key] for key in keys]
            if not all(isinstance(column, Column) for column in columns):
                return None, ()
            keys = tuple(column.name for column in columns if isinstance(column, Column))
        elif isinstance(node, Aggregate | Distinct | Grouped | KernelReduction) and node.locality is Locality.KEY:
            new_columns = node.new_columns if isinstance(node, Grouped) else frozenset[str]()
            source = node.inputs[0]
            fits = set(keys) <= set(node.keys) - new_columns and not (isinstance(source, Join) and source.how == "semi")
            return (node, keys) if fits else (None, ())
        elif not isinstance(node, Filter) and not (isinstance(node, Sort) and node.limit is None):
            return None, ()
        node = node.inputs[0]
    return None, ()


def is_selective(node: Node) -> bool:
    """Return whether a side has but some of its source's rows, as far as the plan says."""
    while not isinstance(node, Filter | Limit):
        if isinstance(node, Join) and node.how in ("inner", "semi", "anti"):
            return True
        if len(node.inputs) != 1:
            return False
        node = node.inputs[0]
    return True


def worth_it(groups: Node, selective_side: Node) -> bool:
    """Return whether the side that says what is wanted comes from no more rows than the groups, and not from them."""
    nodes = list(walk_graph(selective_side))
    return all(node is not groups for node in nodes) and source_rows(selective_side) <= source_rows(groups)


def source_rows(node: Node) -> int:
    """Return the rows of the sources below a node, as far as their footers tell."""
    reads = [read for read in walk_graph(node) if isinstance(read, Read)]
    try:
        return sum(max(group.rows, 0) for read in reads for group in read.dataset.row_groups)
    except DatasetError:
        return 0  # the run tells of it
