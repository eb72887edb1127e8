"""A logical plan as an indented tree, sinks first; a node that several read is drawn once and named after that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

from gpuetl.plan.plan import Plan


class Drawn(Protocol):
    """A node of a graph."""

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The nodes that it reads."""


T = TypeVar("T", bound=Drawn)


def explain_plan(plan: Plan) -> str:
    """Return the tree of every root."""
    counts = plan.consumers()
    return "\n".join(draw(plan.roots, lambda node: node.describe(), lambda node: counts[id(node)] > 1))


def draw(
    roots: Iterable[T], describe: Callable[[T], str], is_shared: Callable[[T], bool], depth: int = 0
) -> Iterator[str]:
    """Yield the lines of a graph drawn as a tree; nodes have `inputs`."""
    labels: dict[int, int] = {}
    stack = [(root, depth) for root in reversed(list(roots))]
    while stack:
        node, level = stack.pop()
        if id(node) in labels:
            yield f"{'  ' * level}= #{labels[id(node)]}, above"
            continue
        if is_shared(node):
            labels[id(node)] = len(labels) + 1
        mark = f"  (#{labels[id(node)]}, computed once)" if id(node) in labels else ""
        yield f"{'  ' * level}{describe(node)}{mark}"
        stack.extend((child, level + 1) for child in reversed(node.inputs))
