"""Passes over partitions: a plan in the order in which one process computes it.

A pass takes each partition of an exchange's input, or of an output, one after another.  Two that read the same rows go
side by side: a partition that one has computed is taken by the other while it is there, and does not wait until the
first one has seen all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from gpuetl.physical.nodes import Concat, Exchange, Physical, count_reads
from gpuetl.plan.graph import walk_graph
from gpuetl.records import dataclass


@dataclass(frozen=True, eq=False)
class Pass:
    """A pass, and what it depends on.

    Parameters
    ----------
    node
        The exchange that it fills, or the output.
    is_output
        Which of the two it is: an exchange may be an output, too.
    needs
        The passes from which its partitions come.
    shared
        The nodes of several readers from which they come, and how far the numbers of their partitions are behind.
    """

    node: Physical
    is_output: bool
    needs: tuple[Pass, ...]
    shared: tuple[tuple[Physical, int], ...]

    @property
    def inputs(self) -> tuple[Physical, ...]:
        """The nodes whose partitions it takes: of each, one, or the only one."""
        return (self.node,) if self.is_output else self.node.inputs

    @property
    def partitions(self) -> int:
        """How many partitions it takes."""
        return self.inputs[0].partitions

    def reads(self, index: int) -> Iterator[tuple[int, int]]:
        """Yield the partitions of shared nodes that partition `index` comes from, each by id and number."""
        for node, behind in self.shared:
            if 0 <= index - behind < node.partitions:
                yield id(node), index - behind


def passes_of(roots: Sequence[Physical]) -> list[Pass]:
    """Return the passes of a plan, each after those that it needs; the last one of a root is its own."""
    shared = {node for (node, _), count in count_reads(roots).items() if count > 1}
    exchanges: dict[int, Pass] = {}
    passes: list[Pass] = []

    def add(node: Physical, inputs: Sequence[Physical], is_output: bool) -> Pass:
        needs = tuple(exchanges[id(below)] for below in nearest_exchanges(inputs))
        passes.append(Pass(node, is_output, needs, shared_nodes(inputs, lambda below: id(below) in shared)))
        return passes[-1]

    walked: set[Physical] = set()
    for root in roots:
        for node in walk_graph(root, known=walked):
            walked.add(node)
            if isinstance(node, Exchange) and id(node) not in exchanges:
                exchanges[id(node)] = add(node, node.inputs, is_output=False)
        add(root, [root], is_output=True)
    return passes


def separate_nodes(passes: Sequence[Pass]) -> set[int]:
    """Return the shared nodes, by identity, whose readers do not go side by side: something they need comes between."""
    places = {one: place for place, one in enumerate(passes)}
    first: dict[int, int] = {}
    separate: set[int] = set()
    for place, one in enumerate(passes):
        needed = max((places[need] for need in one.needs), default=-1)
        for node, _ in one.shared:
            if needed >= first.setdefault(id(node), place):
                separate.add(id(node))
    return separate


def with_needs(last: Pass, passes: Iterable[Pass]) -> list[Pass]:
    """Return a pass and those that it needs, at any remove, in their order."""
    wanted, stack = {last}, [last]
    while stack:
        more = [need for need in stack.pop().needs if need not in wanted]
        wanted.update(more)
        stack += more
    return [one for one in passes if one in wanted]


def nearest_exchanges(inputs: Iterable[Physical]) -> list[Exchange]:
    """Return the exchanges from which a fragment's partitions come."""
    found: list[Exchange] = []
    stack, seen = list(inputs), set[int]()
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            if isinstance(node, Exchange):
                found.append(node)
            else:
                stack.extend(node.inputs)
    return found


def shared_nodes(inputs: Iterable[Physical], is_shared: Callable[[Physical], bool]) -> tuple[tuple[Physical, int], ...]:
    """Return the shared nodes of several partitions from which a fragment's come.

    Beside each is how far its partitions' numbers are behind those of the fragment: a union's second input begins after
    its first one.
    """
    found: dict[int, tuple[Physical, int]] = {}
    stack, seen = [(node, 0) for node in inputs], set[int]()
    while stack:
        node, behind = stack.pop()
        if id(node) in seen or node.partitions == 1:
            continue
        seen.add(id(node))
        if is_shared(node):
            found[id(node)] = node, behind
        elif not isinstance(node, Exchange):
            for child in node.inputs:
                stack.append((child, behind))
                behind += child.partitions if isinstance(node, Concat) else 0
    return tuple(found.values())
