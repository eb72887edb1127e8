"""Runs a physical plan in this process, partition by partition.

Partitions are pulled: asking for one partition of a root runs the fragment above it.  What is held in memory is the
output of exchanges, as pieces until a partition is asked for, and of nodes with a second reader, each partition until
its last reader has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gpuetl.backends.backend import Frame
from gpuetl.executors.runner import Runner
from gpuetl.physical.nodes import Concat, Exchange, Map, Physical, Scan, count_reads, first_read, matching
from gpuetl.plan.graph import walk_graph


class LocalExecutor:
    """Runs one plan once.

    Parameters
    ----------
    roots
        What will be asked for, each of whose partitions is asked for once.
    """

    def __init__(self, runner: Runner, roots: Sequence[Physical]) -> None:
        self.runner = runner
        self.held: dict[tuple[int, int], Frame] = {}
        self.pieces: dict[int, list[list[Frame]]] = {}
        self.readers = count_reads(roots)

    def partitions(self, root: Physical) -> Iterator[Frame]:
        """Yield the partitions of a root, computed as they are asked for."""
        for node in walk_graph(root):  # exchanges in their order: a chain of them must not recurse
            if isinstance(node, Exchange) and id(node) not in self.pieces:
                self.pieces[id(node)] = self.exchanged(node)
        for index in range(root.partitions):
            yield self.partition(root, index)

    def partition(self, node: Physical, index: int) -> Frame:
        """Return one partition: run the fragment that ends in `node`, from where its rows are to be had."""
        fragment: list[tuple[Map | Concat, int]] = []
        while isinstance(node, Map | Concat) and self.has_one_reader(node, index):
            self.readers[id(node), index] -= 1
            fragment.append((node, index))
            node, index = first_read(node, index)
        frame = self.boundary(node, index)
        for step, at in reversed(fragment):
            frame = self.applied(step, at, frame)
        return frame

    def has_one_reader(self, node: Physical, index: int) -> bool:
        """Tell whether a partition that is still to be computed is for one reader, so that nobody need hold it."""
        key = (id(node), index)
        return self.readers[key] == 1 and key not in self.held

    def boundary(self, node: Physical, index: int) -> Frame:
        """Return one partition of a source, an exchange or a shared node; its last reader takes it out of memory."""
        key = (id(node), index)
        frame = self.held.pop(key) if key in self.held else self.computed(node, index)
        self.readers[key] -= 1
        if self.readers[key]:
            self.held[key] = frame
        return frame

    def computed(self, node: Physical, index: int) -> Frame:
        """Compute one partition that is not held; of an exchange, `partitions` has made its pieces."""
        if isinstance(node, Map | Concat):
            return self.applied(node, index, self.partition(*first_read(node, index)))
        if isinstance(node, Scan):
            return self.runner.scan(node, index)
        pieces, self.pieces[id(node)][index] = self.pieces[id(node)][index], []
        return self.runner.merge(node, pieces)

    def applied(self, node: Map | Concat, index: int, frame: Frame) -> Frame:
        """Take one partition through a node: `frame` of the input read first, and what goes with it of the others."""
        others = node.inputs[1:] if isinstance(node, Map) else ()
        return self.runner.apply(node, index, [frame, *(self.partition(c, matching(c, index)) for c in others)])

    def exchanged(self, node: Exchange) -> list[list[Frame]]:
        """Compute all partitions of the input, or as many as hold the rows that are wanted; return their pieces."""
        pieces: list[list[Frame]] = [[] for _ in range(node.partitions)]
        rows = 0
        for index in range(node.source.partitions):
            for piece, target in zip(self.runner.split(node, self.partition(node.source, index)), pieces, strict=True):
                target.append(piece)
            rows += self.runner.backend.rows(pieces[0][-1])
            if node.limit is not None and rows >= node.limit:
                self.let_go((node.source, rest) for rest in range(index + 1, node.source.partitions))
                break
        return pieces

    def let_go(self, partitions: Iterable[tuple[Physical, int]]) -> None:
        """Count a reader less of each partition, which it does not want any more, and of what only that one reads."""
        stack = list(partitions)
        while stack:
            node, index = stack.pop()
            self.readers[id(node), index] -= 1
            if self.readers[id(node), index]:
                continue
            if isinstance(node, Exchange) and id(node) in self.pieces:
                self.pieces[id(node)][index] = []
            elif (id(node), index) in self.held:
                del self.held[id(node), index]
            elif isinstance(node, Concat):
                stack.append(node.part(index))
            elif isinstance(node, Map):
                stack.extend((child, matching(child, index)) for child in node.inputs)
