"""Runs a physical plan in this process, partition by partition.

Partitions are pulled: asking for one partition of a root runs the fragment above it.  What is held in memory is the
output of exchanges, and of nodes with a second reader, each partition until its last reader has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from gpuetl.backends.backend import Backend, Frame
from gpuetl.errors import EvaluationError, RunFailed
from gpuetl.io.dataset import DatasetError
from gpuetl.physical.estimate import file_bytes
from gpuetl.physical.nodes import Concat, Exchange, Map, Physical, Scan
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Origin
from gpuetl.report.recorder import Recorder, Work
from gpuetl.report.traffic import copy_traffic, operation_traffic, read_traffic


class LocalExecutor:
    """Runs one plan once.

    Parameters
    ----------
    roots
        What will be asked for, each of whose partitions is asked for once.
    """

    def __init__(self, backend: Backend, recorder: Recorder, roots: Sequence[Physical]) -> None:
        self.backend, self.recorder = backend, recorder
        self.held: dict[int, list[Frame | None]] = {}
        self.readers: Counter[tuple[int, int]] = Counter()
        for root in roots:
            self.readers.update((id(root), index) for index in range(root.partitions))
        for node in walk_graph(*roots):
            self.readers.update(self.reads(node))

    def reads(self, node: Physical) -> Iterator[tuple[int, int]]:
        """Yield each partition that a node reads of its inputs, as often as it asks for it."""
        if isinstance(node, Exchange):
            yield from ((id(node.source), index) for index in range(node.source.partitions))
        elif isinstance(node, Map):
            for index in range(node.partitions):
                yield from ((id(child), matching(child, index)) for child in node.inputs)
        elif isinstance(node, Concat):
            yield from ((id(child), index) for child in node.inputs for index in range(child.partitions))

    def partitions(self, root: Physical) -> Iterator[Frame]:
        """Yield the partitions of a root, computed as they are asked for."""
        for node in walk_graph(root):  # exchanges in their order: a chain of them must not recurse
            if isinstance(node, Exchange) and id(node) not in self.held:
                self.held[id(node)] = self.exchanged(node)
        for index in range(root.partitions):
            yield self.partition(root, index)

    def partition(self, node: Physical, index: int) -> Frame:
        """Return one partition: run the fragment that ends in `node`, from where its rows are to be had."""
        fragment: list[tuple[Map | Concat, int]] = []
        while isinstance(node, Map | Concat) and self.readers[id(node), index] == 1 and id(node) not in self.held:
            self.readers[id(node), index] -= 1
            fragment.append((node, index))
            node, index = first_read(node, index)
        frame = self.boundary(node, index)
        for step, at in reversed(fragment):
            frame = self.applied(step, at, frame)
        return frame

    def boundary(self, node: Physical, index: int) -> Frame:
        """Return one partition of a source, an exchange or a shared node; its last reader takes it out of memory.

        An exchange is held already: `partitions` runs them before what reads them.
        """
        key = (id(node), index)
        held = self.held.get(id(node))
        if held is None and self.readers[key] > 1:
            held = self.held[id(node)] = [None] * node.partitions
        frame = held[index] if held is not None else None
        if frame is None:
            frame = self.computed(node, index)
        self.readers[key] -= 1
        if held is not None:
            held[index] = frame if self.readers[key] else None
        return frame

    def computed(self, node: Physical, index: int) -> Frame:
        """Compute one partition that is not held."""
        if isinstance(node, Map | Concat):
            return self.applied(node, index, self.partition(*first_read(node, index)))
        if isinstance(node, Scan):
            return self.scanned(node, index)
        raise TypeError(f"partition {index} of {node} was let go of too early")

    def scanned(self, scan: Scan, index: int) -> Frame:
        """Read one partition of a source."""
        work = self.recorder.of(scan.read, scan.origin, None)
        part, work.device = scan.parts[index], self.backend.device_of(scan.read)
        with self.recorder.timed(work), told(scan.origin):
            frame = self.backend.read(scan.read, part)
        work.rows_in += sum(max(group.rows, 0) for group in part) or self.backend.rows(frame)
        work.file_bytes += (of_files := file_bytes(Scan(scan.read, (part,))))
        work.moved.update(read_traffic(self.backend, scan.read, of_files, frame))
        self.finish(work, frame, scan.partitions)
        return frame

    def applied(self, node: Map | Concat, index: int, frame: Frame) -> Frame:
        """Take one partition of the input that is read first through a node."""
        return self.mapped(node, index, frame) if isinstance(node, Map) else self.passed(node, index, frame)

    def passed(self, node: Concat, index: int, frame: Frame) -> Frame:
        """Record a partition that a union passes on; what comes in is the first input, as for other operations."""
        work = self.recorder.of(node.operation, node.origin, source_of(node.inputs[0]))
        work.rows_in += self.backend.rows(frame) if index < node.inputs[0].partitions else 0
        self.finish(work, frame, node.partitions)
        return frame

    def mapped(self, node: Map, index: int, frame: Frame) -> Frame:
        """Run an operation on one partition: `frame` of the first input, and what goes with it of the others."""
        frames = [frame, *(self.partition(child, matching(child, index)) for child in node.inputs[1:])]
        main = node.inputs[node.main]
        work = self.recorder.of(node.operation, node.origin, source_of(main))
        work.device = self.backend.device_of(node.operation)
        work.rows_in += self.backend.rows(frames[node.main]) if index < main.partitions else 0  # one that goes with all
        with self.recorder.timed(work), told(node.origin):
            frame = self.backend.run(node.operation, *frames)
        work.moved.update(operation_traffic(self.backend, node.operation, frames, frame))
        self.finish(work, frame, node.partitions)
        return frame

    def exchanged(self, node: Exchange) -> list[Frame | None]:
        """Compute all partitions of the input, or as many as hold the rows that are wanted, and move their rows."""
        pieces: list[list[Frame]] = []
        rows = 0
        for index in range(node.source.partitions):
            pieces.append(self.split(node, self.partition(node.source, index)))
            rows += self.backend.rows(pieces[-1][0])
            if node.limit is not None and rows >= node.limit:
                self.let_go((node.source, rest) for rest in range(index + 1, node.source.partitions))
                break
        work = self.recorder.of(node, node.origin, node.origin)
        with self.recorder.timed(work):
            frames = [self.backend.concat(column, node.schema) for column in zip(*pieces, strict=True)]
        work.rows_out = sum(map(self.backend.rows, frames))
        if len(pieces) > 1:  # a single one is not copied
            work.moved.update(copy_traffic(self.backend, frames, node.schema))
        return list(frames)

    def let_go(self, partitions: Iterable[tuple[Physical, int]]) -> None:
        """Count a reader less of each partition, which it does not want any more, and of what only that one reads."""
        stack = list(partitions)
        while stack:
            node, index = stack.pop()
            self.readers[id(node), index] -= 1
            if self.readers[id(node), index]:
                continue
            held = self.held.get(id(node))
            if held is not None and held[index] is not None:
                held[index] = None
            elif isinstance(node, Concat):
                stack.append(node.part(index))
            elif isinstance(node, Map):
                stack.extend((child, matching(child, index)) for child in node.inputs)

    def split(self, node: Exchange, frame: Frame) -> list[Frame]:
        """Cut one partition into its pieces for the partitions to come."""
        if node.route != "hash":
            return [frame]
        work = self.recorder.of(node, node.origin, node.origin)
        with self.recorder.timed(work):
            pieces = self.backend.split_by_hash(frame, node.keys, node.partitions)
        work.moved.update(copy_traffic(self.backend, pieces, node.schema))
        return pieces

    def finish(self, work: Work, frame: Frame, partitions: int) -> None:
        """Record a partition that is done, and tell of it."""
        work.rows_out += self.backend.rows(frame)
        work.partitions += 1
        self.recorder.progress(work.origin, work.partitions, partitions)


def matching(child: Physical, index: int) -> int:
    """Return the partition of an input that goes with partition `index`: a single one goes with all."""
    return index if child.partitions > 1 else 0


def first_read(node: Map | Concat, index: int) -> tuple[Physical, int]:
    """Return the partition that partition `index` of a node is made from, the first one where there are several."""
    return node.part(index) if isinstance(node, Concat) else (node.inputs[0], matching(node.inputs[0], index))


def source_of(node: Physical) -> Origin:
    """Return where rows come from, through exchanges."""
    return source_of(node.source) if isinstance(node, Exchange) else node.origin


@contextmanager
def told(origin: Origin) -> Iterator[None]:
    """Say of an error in which stage and step it came up."""
    try:
        yield
    except (EvaluationError, DatasetError) as error:
        raise RunFailed.at(str(origin), error) from error
