"""Split filters at their ANDs and move each part as far toward the sources as the contract allows.

A part that can raise for some value stays where its rows are the same: it must not meet rows that an operation
below would have taken out.  A node that two others read is not passed, since the other reader wants all its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import NamedTuple

from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import (
    Call,
    Cast,
    Column,
    Expr,
    Literal,
    can_fail,
    children,
    columns_of,
    conjuncts,
    substitute,
)
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import (
    Aggregate,
    AsofJoin,
    Distinct,
    Explode,
    Filter,
    Grouped,
    InsertRows,
    Join,
    KernelReduction,
    Project,
    ScalarJoin,
    Sort,
    Union,
    VocabularyLookup,
    passing,
)
from gpuetl.plan.plan import Plan
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import BOOL, is_floating

COMPARISONS = (
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "is_distinct", "is_not_distinct", "in",
    "is_null",
)  # fmt: skip


MOST_PARTS = 256
"""More parts than this do not move on together: every node below would look at every one of them."""


class Part(NamedTuple):
    """One conjunct, and the step that wrote it: errors and reports name that step wherever the part ends up.

    `fails` is what `can_fail` found, once: each node below asks for it.
    """

    expr: Expr
    origin: Origin
    fails: bool


def push_filters(plan: Plan) -> Plan:
    """Push the parts of every filter down: from the roots, decide where each part rests; from the sources, rebuild."""
    nodes = plan.nodes
    shared = {key for key, count in plan.consumers().items() if count > 1}
    arriving: dict[int, list[Part]] = {}
    resting: dict[int, list[Part]] = {}
    above: dict[tuple[int, int], list[Part]] = {}
    for node in reversed(nodes):
        below, resting[id(node)] = split(node, arriving.get(id(node), []))
        for index, child in enumerate(node.inputs):
            if id(child) in shared:
                above[id(node), index] = below[index]
            else:
                arriving[id(child)] = below[index]
    done: dict[int, Node] = {}
    for node in nodes:
        inputs = [filtered(done[id(child)], above.get((id(node), i), [])) for i, child in enumerate(node.inputs)]
        done[id(node)] = filtered(
            inputs[0] if isinstance(node, Filter) else node.with_inputs(inputs), resting[id(node)]
        )
    return plan.with_roots(done[id(root)] for root in plan.roots)


def split(node: Node, parts: list[Part]) -> tuple[list[list[Part]], list[Part]]:
    """Return, for each input, the parts that may be applied to it instead, and the parts that stay above `node`."""
    if isinstance(node, Filter):
        own = [Part(expr, node.origin, can_fail(expr)) for expr in conjuncts(node.predicate)]
        if len(own) + len(parts) > MOST_PARTS:
            return [own], parts
        return [own + [p for p in parts if not p.fails]], [p for p in parts if p.fails]
    below: list[list[Part]] = [[] for _ in node.inputs]
    stay: list[Part] = []
    for part in parts:
        moved = passes(node, part.expr)
        for index, expr in moved:
            below[index].append(Part(expr, part.origin, part.fails))
        if not moved:
            stay.append(part)
    return below, stay


def filtered(node: Node, parts: Sequence[Part]) -> Node:
    """Return `node` under a filter for each step that wrote some of the parts, without repeats; the first is below."""
    first_origin: dict[Expr, Origin] = {}
    for expr, origin, _ in parts:
        first_origin.setdefault(expr, origin)
    by_origin: dict[Origin, list[Expr]] = {}
    for expr, origin in first_origin.items():
        by_origin.setdefault(origin, []).append(expr)
    for origin, own in by_origin.items():
        predicate = own[0] if len(own) == 1 else Call(FUNCTIONS["scalar", "and"], tuple(own), BOOL)
        node = Filter(source=node, predicate=predicate, origin=origin)
    return node


@singledispatch
def passes(node: Node, part: Expr) -> list[tuple[int, Expr]]:
    """Return the inputs to which `part` may be applied instead, with its form there; none where it must stay."""
    return []


@passes.register
def _project(node: Project, part: Expr) -> list[tuple[int, Expr]]:
    """Columns that are passed on, renamed or constant: computed ones are not computed twice."""
    simple = {name: expr for name, expr in node.columns.items() if isinstance(expr, Column | Literal)}
    return [(0, substitute(part, simple))] if columns_of(part) <= simple.keys() else []


@passes.register
def _sort(node: Sort, part: Expr) -> list[tuple[int, Expr]]:
    """Sorting fewer rows gives the same order, but not the same first ones."""
    return [(0, part)] if node.limit is None else []


@passes.register(Aggregate)
@passes.register(Distinct)
@passes.register(Grouped)
@passes.register(KernelReduction)
def _whole_groups(node: Node, part: Expr) -> list[tuple[int, Expr]]:
    """A part that reads only keys keeps or drops groups as a whole; without keys there is one group, which stays."""
    reads, new_columns = columns_of(part), node.new_columns if isinstance(node, Grouped) else frozenset[str]()
    whole = reads and reads <= set(node.keys) - new_columns and not distinguishes_equal_floats(part)
    return [(0, part)] if whole and not can_fail(part) else []


def distinguishes_equal_floats(part: Expr) -> bool:
    """Return whether a part may differ for -0.0 and 0.0, which are one key: all but comparisons of a column may."""
    if isinstance(part, Column):
        return is_floating(part.dtype)
    compares = isinstance(part, Call) and part.function.name in COMPARISONS
    return any(distinguishes_equal_floats(arg) for arg in children(part) if not (compares and _widened(arg)))


def _widened(expr: Expr) -> bool:
    """Return whether an operand is a column, as it is or in a wider type."""
    return isinstance(expr.operand if isinstance(expr, Cast) and expr.implicit else expr, Column)


@passes.register(Explode)
@passes.register(InsertRows)
def _repeated(node: Explode | InsertRows, part: Expr) -> list[tuple[int, Expr]]:
    """The rows of a list, or those made next to a row, have the other columns in common."""
    return [] if can_fail(part) or columns_of(part) & node.new_columns else [(0, part)]


@passes.register
def _union(node: Union, part: Expr) -> list[tuple[int, Expr]]:
    """Both inputs have the columns by their names."""
    return [] if can_fail(part) else [(0, part), (1, part)]


@passes.register
def _join(node: Join, part: Expr) -> list[tuple[int, Expr]]:
    """A part goes to the sides that have all it reads; the sides that the join pads, or does not give, are filtered
    only as far as keys tell, and beside the other one: rows that it drops match no row that is left there.

    What is checked by `validate` counts rows before the filter, so a side that is checked keeps all of them.
    """
    reads, (left, right) = columns_of(part), node.inputs
    if not reads or can_fail(part) or node.unique[0]:
        return []
    keys = _same_keys(node)
    on_right = {**keys, **passing(right.schema.select(node.payload))} if node.how in ("inner", "cross") else keys
    sides = [(0, part)] if reads <= left.schema.keys() else []
    if reads <= on_right.keys() and not node.unique[1]:
        sides.append((1, substitute(part, on_right)))
    return sides if node.how != "full" or len(sides) == 2 else []


@passes.register
def _scalar_join(node: ScalarJoin, part: Expr) -> list[tuple[int, Expr]]:
    """The left rows stay as they are: what does not read the value goes below."""
    return [(0, part)] if node.value not in columns_of(part) else []


@passes.register
def _vocabulary_lookup(node: VocabularyLookup, part: Expr) -> list[tuple[int, Expr]]:
    """The left rows stay: what does not read the numbers goes below."""
    return [(0, part)] if columns_of(part) and node.output not in columns_of(part) else []


@passes.register
def _asof_join(node: AsofJoin, part: Expr) -> list[tuple[int, Expr]]:
    """A part of the left side goes there; one that reads only keys goes to the right side, too.

    Right rows of other keys match no left row that stays.

    Any other part of the right side stays: without the rows that it drops, others would be the nearest.  Rows of the
    right side that are checked not to repeat keep all of them.
    """
    reads, left = columns_of(part), node.left
    if not reads or can_fail(part) or not reads <= left.schema.keys():
        return []
    keys = _same_keys(node)
    beside = [(1, substitute(part, keys))] if reads <= keys.keys() and not node.unique_right else []
    return [(0, part), *beside]


def _same_keys(node: Join | AsofJoin) -> dict[str, Expr]:
    """Return the left keys whose equal values no expression can tell from the right ones, which stand in for them.

    Floats can be distinguished: -0.0 equals 0.0.
    """
    left, right = (side.schema for side in (node.left, node.right))
    return {
        a: Column(b, right[b])
        for a, b in zip(node.left_on, node.right_on, strict=True)
        if left[a] == right[b] and not is_floating(left[a])
    }
