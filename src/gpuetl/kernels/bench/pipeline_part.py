"""The part of an optimized plan around a kernel that runs in one piece: its neighbours, and its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from gpuetl.engines.registry import ORACLE
from gpuetl.errors import RunFailed
from gpuetl.messages import coded
from gpuetl.options import RunOptions
from gpuetl.plan import nodes
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node, SingleInput
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass
from gpuetl.run.planning import optimized_plan
from gpuetl.verify.verification import answers

MOST_SAMPLED = 1_000_000
"""Rows that are read; more are these again."""
NEIGHBOURS = (
    nodes.Filter, nodes.Project, nodes.Kernel, nodes.KernelReduction, nodes.KernelTable, nodes.Aggregate, nodes.Window,
    nodes.Sort, nodes.Distinct, nodes.Explode,
)  # fmt: skip
"""Operations that a measurement repeats."""


@dataclass(frozen=True, eq=False)
class PipelinePart:
    """A chain of operations, of which `place` is the kernel's, on the rows of `below`."""

    below: Node
    chain: tuple[Node, ...]
    place: int

    @property
    def kernel(self) -> Any:
        """The kernel."""
        return self.chain[self.place]

    @property
    def text(self) -> str:
        """The names of the operations, in order."""
        return ", ".join(type(node).__name__ for node in self.chain)


def part_around(plan: Plan, kernel: Node) -> PipelinePart:
    """Return the operations before and after a kernel that neither join nor branch, as the optimizer leaves them."""
    results = plan.with_results()
    if not any(is_same(node, kernel) for node in results.nodes):
        results = replace(plan, sinks={}).keeping([kernel.origin.name])
    optimized, _ = optimized_plan(replace(results, checks={}, rules=(), checkpoints={}), RunOptions())
    found = next(node for node in walk_graph(*optimized.roots) if is_same(node, kernel))
    counts = optimized.consumers()
    before: list[Node] = []
    below = found.inputs[0]
    while isinstance(below, NEIGHBOURS) and isinstance(below, SingleInput) and counts[id(below)] == 1:
        before.insert(0, below)
        below = below.inputs[0]
    after: list[Node] = []
    above: Node | None = found
    while above is not None and counts[id(above)] == 1:
        above = next((node for node in walk_graph(*optimized.roots) if above in node.inputs), None)
        if not (isinstance(above, NEIGHBOURS) and isinstance(above, SingleInput)):
            break
        after.append(above)
    return PipelinePart(below, unsorted([*before, found, *after]), len(before))


def is_same(node: Node, kernel: Node) -> bool:
    """Return whether a node of another form of the plan is the kernel of a step."""
    return type(node) is type(kernel) and node.origin == kernel.origin


def unsorted(chain: Sequence[Node]) -> tuple[Node, ...]:
    """Let operations sort that count on an order of the rows below the chain: those that are repeated have none."""
    done: list[Node] = []
    for node in chain:
        if getattr(node, "presorted", False) and not any(isinstance(n, nodes.Sort | nodes.Grouped) for n in done):
            node = replace(node, presorted=False)  # type: ignore[call-arg]  # noqa: PLW2901
        done.append(node)
    return tuple(done)


def sampled_rows(plan: Plan, part: PipelinePart) -> pa.Table:
    """Return the first rows that the chain gets in the pipeline, computed by the oracle.

    Raises
    ------
    RunFailed
        Where there is none.
    """
    limited = nodes.Limit(source=part.below, count=MOST_SAMPLED, origin=part.below.origin)
    own = replace(
        plan, sinks={}, kept={"rows": limited}, checks={}, rules=(), checkpoints={}, rejected={}, stages={}
    )  # fmt: skip
    rows = answers(own, ORACLE, RunOptions(optimize=False), None).rows["rows"]
    if not rows.num_rows:
        raise RunFailed.at(
            part.kernel.origin,
            coded("GE1900", f"no row reaches kernel '{part.kernel.contract.entry}', so there is nothing to time"),
            "Give the pipeline's sources some rows: `gpuetl kernel bench` repeats them.",
        )
    return rows
