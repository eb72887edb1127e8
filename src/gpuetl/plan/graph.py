"""Shared graphs of nodes, logical or physical: visited once a node, drawn as trees.  Loops, since graphs are deep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar


class HasInputs(Protocol):
    """A node of a graph."""

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The nodes that it reads."""


T = TypeVar("T", bound=HasInputs)


def walk_graph(*roots: T) -> Iterator[T]:
    """Yield every node once, inputs before the nodes that read them."""
    seen: set[int] = set()
    stack: list[tuple[T, bool]] = [(root, False) for root in reversed(roots)]
    while stack:
        node, expanded = stack.pop()
        if expanded:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack += [(child, False) for child in reversed(node.inputs)]


def draw(
    roots: Iterable[T], describe: Callable[[T], str], is_shared: Callable[[T], bool], depth: int = 0
) -> Iterator[str]:
    """Yield the lines of a graph drawn as a tree; a shared node is drawn once, and named after that."""
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
