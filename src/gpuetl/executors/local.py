"""Runs a physical plan in this process, partition by partition.

Partitions are pulled: asking for one partition of a root runs the fragment above it.  What waits in the store is the
output of exchanges, as pieces until a partition is asked for, and of nodes with a second reader, each partition until
its last reader has it, which is at once where both go side by side (`physical/passes.py`); what an operation of two
inputs has of the first, while the second is computed; and what a window carries to its next partition.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from gpuetl.engines.interface import Frame
from gpuetl.executors.ahead import ReadAhead
from gpuetl.executors.runner import Runner
from gpuetl.executors.store import Key, Store
from gpuetl.physical.nodes import Concat, Exchange, Map, Physical, Scan, count_reads, first_read, matching
from gpuetl.physical.passes import Pass, passes_of, with_needs
from gpuetl.physical.stateful_window import StatefulWindow
from gpuetl.plan.graph import walk_graph

Take = Callable[[Frame], None]
"""What is done with each partition of a root."""


class LocalExecutor:
    """Runs one plan once.

    Parameters
    ----------
    roots
        What will be asked for, each of whose partitions is asked for once.
    store
        Holds what waits; the runner has it spilled where memory runs out.
    ahead
        What reads sources, if something does before they are asked for.
    """

    def __init__(
        self, runner: Runner, roots: Sequence[Physical], store: Store | None = None, ahead: ReadAhead | None = None
    ) -> None:
        self.runner, self.store = runner, store or Store(runner.backend, runner.recorder)
        self.runner.guard.frees.append(self.store.spill_all)
        self.scan = ahead.scan if ahead else runner.scan
        self.readers = count_reads(roots)
        self.passes = passes_of(roots)
        self.next = dict.fromkeys(self.passes, 0)
        self.exchanges = {id(one.node): one for one in self.passes if not one.is_output}
        self.gathered: Counter[int] = Counter()
        self.failed_passes: set[Pass] = set()
        self.failed_nodes: set[int] = set()

    def compute(self, receivers: Sequence[Take]) -> None:
        """Compute the roots; hand each partition over when it is there, to the one for its root."""
        outputs = (one for one in self.passes if one.is_output)
        for _ in self.run_passes(self.passes, dict(zip(outputs, receivers, strict=True))):
            pass

    def complete(self, receivers: Sequence[Take | None]) -> None:
        """Go on after an error, for the roots that have a receiver and do not need what failed.

        A pass that failed has lost a partition, and so has a shared node that was being computed: what needs one of
        these is left alone.
        """
        outputs = (one for one in self.passes if one.is_output)
        wanted = {one: take for one, take in zip(outputs, receivers, strict=True) if take and self.is_intact(one)}
        needed = {need for one in wanted for need in with_needs(one, self.passes)}
        for _ in self.run_passes([one for one in self.passes if one in needed], wanted):
            pass

    def is_intact(self, one: Pass) -> bool:
        """Tell whether nothing that an output needs has failed."""
        if self.failed_passes.intersection(with_needs(one, self.passes)):
            return False
        return all(id(node) not in self.failed_nodes for node in walk_graph(one.node))

    def partitions(self, root: Physical) -> Iterator[Frame]:
        """Yield the partitions of a root, computed as they are asked for."""
        frames: deque[Frame] = deque()
        own = next(one for one in self.passes if one.is_output and one.node is root)
        for _ in self.run_passes(with_needs(own, self.passes), {own: frames.append}):
            while frames:
                yield frames.popleft()

    def run_passes(self, passes: Sequence[Pass], receivers: Mapping[Pass, Take]) -> Iterator[None]:
        """Do passes one after another; those go along that read what waits for them.  Yield after each partition."""
        for one in passes:
            while not self.is_done(one):
                self.advance(one, receivers)
                yield
                for other in passes:
                    while self.goes_along(other):
                        self.advance(other, receivers)
                        yield

    def is_done(self, one: Pass) -> bool:
        """Tell whether no partition is left."""
        return self.next[one] >= one.partitions

    def goes_along(self, one: Pass) -> bool:
        """Tell whether a pass can take its next partition, and something waits for that."""
        if self.is_done(one) or not all(map(self.is_done, one.needs)):
            return False
        return any(partition in self.store for partition in one.reads(self.next[one]))

    def advance(self, one: Pass, receivers: Mapping[Pass, Take]) -> None:
        """Take the next partition; of an exchange that has the rows that are wanted, the others are not."""
        index = self.next[one]
        self.next[one] += 1
        try:
            if one.is_output:
                receivers[one](self.partition(one.node, index))
            elif isinstance(one.node, Exchange) and not self.exchange(one.node, index):
                self.next[one] = one.partitions
        except BaseException:
            self.failed_passes.add(one)
            raise

    def partition(self, node: Physical, index: int) -> Frame:
        """Return one partition: run the fragment that ends in `node`, from where its rows are to be had."""
        fragment: list[tuple[Map | Concat, int]] = []
        while isinstance(node, Map | Concat) and self.has_one_reader(node, index):
            self.readers[id(node), index] -= 1
            fragment.append((node, index))
            node, index = first_read(node, index)
        frames = [self.boundary(node, index)]
        for step, at in reversed(fragment):
            frames = [self.applied(step, at, frames.pop())]  # handed over: who gets it may have it spilled
        return frames.pop()

    def has_one_reader(self, node: Physical, index: int) -> bool:
        """Tell whether a partition that is still to be computed has one reader, so that it need not be stored."""
        key = (id(node), index)
        return self.readers[key] == 1 and key not in self.store

    def boundary(self, node: Physical, index: int) -> Frame:
        """Return one partition of a source, an exchange or a shared node; its last reader takes it out of the store."""
        key = (id(node), index)
        if key not in self.store:
            try:
                frame = self.computed(node, index)
            except BaseException:
                self.failed_nodes.add(id(node))
                raise
            if self.readers[key] > 1:
                self.store.add(key, frame, node.schema)
        else:
            held = self.store.take if self.readers[key] == 1 else self.store.read
            (frame,) = self.runner.step(node, 0, lambda: held(key))
        self.readers[key] -= 1
        return frame

    def computed(self, node: Physical, index: int) -> Frame:
        """Compute one partition that is not held; of an exchange, `partitions` has made its pieces."""
        if isinstance(node, Map | Concat):
            return self.applied(node, index, self.partition(*first_read(node, index)))
        if isinstance(node, Scan):
            return self.scan(node, index)
        return self.runner.merge(node, self.take_stored(node, pieces_key(node, index)))

    def applied(self, node: Map | Concat, index: int, frame: Frame) -> Frame:
        """Take one partition through a node: `frame` of the input read first, and what goes with it of the others."""
        if isinstance(node, StatefulWindow):
            return self.stateful_window(node, index, frame)
        return self.runner.apply(node, index, self.with_others(node, index, frame))

    def stateful_window(self, node: StatefulWindow, index: int, frame: Frame) -> Frame:
        """Run a stateful window: partitions are asked for in their order, so what is carried to this one is there."""
        before, combined = self.take_stored(node, state_key(node, index)), list[Frame]()
        if node.combined and index < node.partitions - 1:
            combined = self.runner.combine(node, [*before, self.runner.own_state_of(node, frame)])[-1:]
        frame, *stateful_window = self.runner.run_stateful(node, index, frame, before)
        for rows in (*combined, *stateful_window):
            self.store.add(state_key(node, index + 1), rows, node.steps.prepare.schema)
        return frame

    def with_others(self, node: Map | Concat | Exchange, index: int, frame: Frame) -> list[Frame]:
        """Return what goes with a partition of the first input, of all inputs; it waits for the others."""
        if isinstance(node, Concat) or len(node.inputs) == 1:
            return [frame]
        first, second = node.inputs
        key = ("inputs", id(node), index)
        self.store.add(key, frame, first.schema)
        del frame
        other = self.partition(second, matching(second, index))
        return [*self.take_stored(node, key), other]

    def take_stored(self, node: Physical, key: Key) -> list[Frame]:
        """Take out of the store what a node is made from."""
        return self.runner.step(node, 0, lambda: self.store.take(key))

    def exchange(self, node: Exchange, index: int) -> bool:
        """Compute a partition of the input, and store its pieces; tell whether there are not yet the rows wanted."""
        frames = self.with_others(node, index, self.partition(node.source, index))
        self.gathered[id(node)] += self.keep(node, self.runner.split(node, index, frames))
        if node.limit is None or self.gathered[id(node)] < node.limit:
            return True
        self.let_go((node.source, rest) for rest in range(index + 1, node.source.partitions))
        return False

    def keep(self, node: Exchange, pieces: Sequence[Frame]) -> int:
        """Store the pieces of one partition; return how many rows the first one has."""
        for target, piece in enumerate(pieces):
            self.store.add(pieces_key(node, target), piece, node.schema)
        return self.runner.backend.rows(pieces[0])

    def let_go(self, partitions: Iterable[tuple[Physical, int]]) -> None:
        """Count a reader less of each partition, which it does not want any more, and of what only that one reads."""
        stack = list(partitions)
        while stack:
            node, index = stack.pop()
            self.readers[id(node), index] -= 1
            if self.readers[id(node), index]:
                continue
            if isinstance(node, Exchange) and self.is_done(self.exchanges[id(node)]):
                self.store.drop(pieces_key(node, index))
                self.store.drop((id(node), index))
            elif (id(node), index) in self.store:
                self.store.drop((id(node), index))
            elif isinstance(node, Concat):
                stack.append(node.part(index))
            elif isinstance(node, Map):
                stack.extend((child, matching(child, index)) for child in node.inputs)


def pieces_key(node: Exchange, index: int) -> Key:
    """Return the key of the pieces of one partition."""
    return "pieces", id(node), index


def state_key(node: StatefulWindow, index: int) -> Key:
    """Return the key of the rows that are carried to one partition."""
    return "state", id(node), index
