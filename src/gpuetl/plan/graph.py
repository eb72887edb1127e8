"""Shared graphs of nodes, logical or physical: visited once a node, drawn as trees.  Loops, since graphs are deep."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any, Protocol, TypeVar

from gpuetl.messages import one_line


class HasInputs(Protocol):
    """A node of a graph."""

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The nodes that it reads."""


T = TypeVar("T", bound=HasInputs)
DEEPEST_DRAWN = 40
"""Levels that are indented.  Without a limit, the text of a chain of 10,000 nodes is mostly spaces: 100 MB."""


def walk_graph(*roots: T, known: Container[T] = ()) -> Iterator[T]:
    """Yield every node once, inputs before the nodes that read them; without those that are `known`."""
    seen: set[int] = set()
    stack: list[tuple[T, bool]] = [(root, False) for root in reversed(roots)]
    while stack:
        node, expanded = stack.pop()
        if expanded:
            yield node
        elif id(node) not in seen and node not in known:
            seen.add(id(node))
            stack.append((node, True))
            stack += [(child, False) for child in reversed(node.inputs)]


def draw(
    roots: Iterable[T], describe: Callable[[T], str], is_shared: Callable[[T], bool], depth: int = 0
) -> Iterator[str]:
    """Yield the lines of a graph drawn as a tree; a shared node is drawn once, and named after that.

    Below `DEEPEST_DRAWN` levels the lines are indented no further, and state their level.
    """
    labels: dict[int, int] = {}
    stack = [(root, depth) for root in reversed(list(roots))]
    while stack:
        node, level = stack.pop()
        margin = "  " * level if level <= DEEPEST_DRAWN else f"{'  ' * DEEPEST_DRAWN}(level {level}) "
        if id(node) in labels:
            yield f"{margin}= #{labels[id(node)]}, above"
            continue
        if is_shared(node):
            labels[id(node)] = len(labels) + 1
        mark = f"  (#{labels[id(node)]}, computed once)" if id(node) in labels else ""
        yield f"{margin}{one_line(describe(node))}{mark}"
        stack.extend((child, level + 1) for child in reversed(node.inputs))
