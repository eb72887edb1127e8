"""By which columns the rows of a stage are paired."""

from __future__ import annotations

from gpuetl.plan.node import Node, SingleInput
from gpuetl.plan.nodes import Aggregate, AsofJoin, Distinct, Explode, Grouped, InsertRows, Join, Project, Sort


def stage_keys(node: Node) -> tuple[str, ...]:
    """Return the columns of a stage that come from its last group or join keys, or else its sort keys."""
    names = {name: name for name in node.schema}
    sorted_by: tuple[str, ...] = ()
    while True:
        if own := own_keys(node):
            return tuple(names[name] for name in own if name in names) or sorted_by
        if isinstance(node, Sort) and not sorted_by:
            sorted_by = tuple(names[key.column] for key in node.by if key.column in names)
        if not isinstance(node, SingleInput):
            return sorted_by
        names = names_below(node, names)
        node = node.source


def own_keys(node: Node) -> tuple[str, ...]:
    """Return the keys by which an operation brings rows together; with those of its order, where it has one."""
    if isinstance(node, Grouped) and node.keys:
        return tuple(dict.fromkeys(key.column for key in node.sort_keys))
    return node.keys if isinstance(node, Aggregate | Distinct | Join | AsofJoin) else ()


def names_below(node: Node, names: dict[str, str]) -> dict[str, str]:
    """Return what the columns of a node's input are called in the end, given what its own are."""
    if isinstance(node, Project):
        return {source: names[name] for name, source in node.passed.items() if name in names}
    new_columns = node.new_columns if isinstance(node, Grouped | Explode | InsertRows) else frozenset[str]()
    return {inner: outer for inner, outer in names.items() if inner not in new_columns}
