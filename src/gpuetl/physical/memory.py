"""The memory that the local executor is expected to need at once: what is live while one partition is computed.

Rows and widths are upper bounds (`size_estimates.py`), so this is one: filters keep every row, and groups have one
each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from gpuetl.io.staging import TABLES_IN_FLIGHT
from gpuetl.physical.nodes import Concat, Exchange, Map, Physical, Scan
from gpuetl.physical.passes import passes_of, separate_nodes
from gpuetl.physical.size_estimates import chunk_rows, column_widths, estimated_rows, total
from gpuetl.physical.stateful_window import StatefulWindow, bytes_per_row
from gpuetl.physical.working_sets import DEVICE, SLOWER_THAN_WRITING, TEXT_READING, WorkingSets
from gpuetl.places.target import Target
from gpuetl.plan.graph import walk_graph
from gpuetl.records import dataclass
from gpuetl.types.data_types import STRING

if TYPE_CHECKING:
    from gpuetl.physical.lower import PhysicalPlan


@dataclass(frozen=True)
class MemoryEstimate:
    """The most bytes in use at once.

    Parameters
    ----------
    bytes
        What must be in memory for one partition, with what stays for others and is being written.
    ahead
        The same where the next partition of a source is read meanwhile.
    at
        The node that works when it is most; None where nothing is to be done.
    waiting
        What exchanges and shared nodes may hold beside, all together: it may wait elsewhere.
    together
        The same as `bytes` where all partitions of all sources are read meanwhile.
    writing
        What tables take that threads write meanwhile, where the run waits for these when memory is short.
    steps
        What each step takes on one partition beside its inputs, by node: of an exchange, to cut it.  Inputs that may
        have been spilled count too: they are read where they are used.
    phases
        Of each phase what it must have, as in `bytes`, and what waits and is being written meanwhile.
    """

    bytes: int
    ahead: int
    at: Physical | None
    waiting: int
    together: int = 0
    writing: int = 0
    steps: Mapping[int, int] = field(default_factory=dict, compare=False, repr=False)
    phases: tuple[Phase, ...] = field(default=(), compare=False, repr=False)


class Phase(NamedTuple):
    """What a fragment needs: `bytes` for one of its partitions, beside it what waits and what is being written.

    `ahead` is what reading the next partition of a source takes meanwhile, and `together` that of all of them.  Sources
    that no later phase reads are gone.
    """

    bytes: int
    waiting: int
    writing: int
    ahead: int = 0
    together: int = 0


class Need(NamedTuple):
    """The most bytes in use at once, and the node that works then.

    Of a phase, `waiting` is what may wait elsewhere meanwhile, `writing` what writers' threads take, and `scans` are
    the sources that it reads.
    """

    bytes: float
    at: Physical
    waiting: float = 0.0
    scans: tuple[Scan, ...] = ()
    writing: float = 0.0


def bytes_of(need: Need) -> float:
    """Return what is needed."""
    return need.bytes


def expected_memory(plan: PhysicalPlan, sets: WorkingSets = DEVICE) -> MemoryEstimate:
    """Return what the local executor needs for a plan: the most of its phases, one after another.

    `sets` says what the engine works with.
    """
    if not plan.roots:
        return MemoryEstimate(0, 0, None, 0)
    model = _Model(plan.roots, sets)
    needs = list(model.phases(plan))
    most = max(needs, key=bytes_of)
    least = most.bytes + sets.fixed_bytes
    ahead, together = (int(least + more) for more in (model.next_read(), model.all_reads()))
    steps = {key: int(need) for key, need in model.steps.items()}
    phases = tuple(
        Phase(int(need.bytes + sets.fixed_bytes), int(need.waiting), int(need.writing), *map(int, read))
        for need, read in zip(needs, model.reads_meanwhile(needs), strict=True)
    )
    return MemoryEstimate(int(least), ahead, most.at, int(model.waiting()), together, int(model.writing), steps, phases)


class ResidentColumns:
    """The bytes of columns that stay, by the identity of their width, and their sum, which each node asks for."""

    def __init__(self) -> None:
        self._sizes: dict[int, float] = {}
        self.bytes = 0.0

    def __contains__(self, width: int) -> bool:
        return width in self._sizes

    def more(self, columns: Mapping[int, float]) -> float:
        """Return the bytes that columns add, which take the place of those in the same memory."""
        return sum(size - self._sizes.get(width, 0.0) for width, size in columns.items())

    def update(self, columns: Mapping[int, float]) -> None:
        """Let columns stay."""
        self.bytes += self.more(columns)
        self._sizes.update(columns)

    def clear(self) -> None:
        """Let nothing stay."""
        self._sizes.clear()
        self.bytes = 0.0


class _Model:
    """Goes through a plan as the local executor does, phase by phase: a phase is all partitions of a fragment.

    `resident_columns` has the columns that stay after their phase, by the identity of their width, and `beside`
    the bytes of what is no column; `computed` the shared nodes that later phases find there.
    """

    def __init__(self, roots: Sequence[Physical], sets: WorkingSets) -> None:
        self.roots, self.nodes, self.sets = roots, list(walk_graph(*roots)), sets
        self.steps: dict[int, float] = {}
        self.places = {id(node): place for place, node in enumerate(self.nodes)}
        self.readers = Counter(map(id, roots)) + Counter(id(child) for node in self.nodes for child in node.inputs)
        self.widths = column_widths(*roots)
        self.all_rows = estimated_rows(*roots, widths=self.widths)
        self.rows = chunk_rows(*roots, of_all=self.all_rows, widths=self.widths)
        self.tables: dict[int, dict[int, float]] = {}
        self.needs: dict[int, Need] = {}
        self.resident_columns = ResidentColumns()
        self.visited: set[Physical] = set()
        self.beside = self.writing = 0.0
        self.computed: set[int] = set()
        self.exchanges = {id(node): node for node in self.nodes if isinstance(node, Exchange)}
        self.pieces: dict[int, float] = {}

    def columns(self, node: Physical) -> dict[int, float]:
        """Return the bytes of the columns of one partition, by the identity of their width."""
        key = id(node)
        if key not in self.tables:
            rows = self.rows[key]
            self.tables[key] = {id(width): width.bytes * rows for width in self.widths[key].values()}
        return self.tables[key]

    def result(self, node: Physical) -> float:
        """Return the bytes of one partition."""
        return sum(self.columns(node).values())

    def phases(self, plan: PhysicalPlan) -> Iterator[Need]:
        """Yield what each phase needs, in their order: the sources of exchanges before the roots that read them."""
        sinks = dict(enumerate((write.target for write, _ in plan.written.values()), len(plan.first)))
        for place, root in enumerate(plan.roots):
            for node in walk_graph(root, known=self.visited) if self.exchanges else ():
                self.visited.add(node)
                if exchange := self.exchanges.pop(id(node), None):
                    yield self.phase(exchange.source, exchange)
            if place in sinks:
                yield from self.needs_of_sink(root, sinks[place])
            elif plan.streams and root in plan.kept.values():
                yield from self.needs_of_stream(root, plan.streams)
            else:
                yield from self.needs_of_result(root)

    def pieces_beside(self, nodes: Sequence[Physical], root: Physical, into: Exchange | None) -> float:
        """Return what waits beside a phase; pieces that it reads wait no more when it ends, those it makes do.

        The partition at work is not among them where pieces become one without a copy.
        """
        own = 0.0 if self.sets.merge_copies else 1.0
        beside = sum(self.pieces.values()) + self.shared_bytes
        for node in nodes:
            if id(node) in self.pieces:
                beside -= own * self.result(node)
                if self.readers[id(node)] == 1:
                    del self.pieces[id(node)]
        if into is not None and into.route != "broadcast":
            self.pieces[id(into)] = self.all_bytes(into)
            beside += self.pieces[id(into)] - own * self.result(root)
        return max(0.0, beside)

    def needs_of_sink(self, root: Physical, target: Target) -> Iterator[Need]:
        """Compute a sink's partitions: while one is computed, and after the last, those before are written."""
        encoding = self.sets.encoded(target.format)
        table, encoded = self.result(root), encoding.share + encoding.partitioned * bool(target.partition_by)
        before = (1 + encoded) * table * min(TABLES_IN_FLIGHT, root.partitions - 1)
        if self.sets.waits_for_writers:
            buffers = min(encoding.fixed_bytes, table)
            maps = (node for node in self.fragment(root) if isinstance(node, Map))
            if any(isinstance(node.operation, SLOWER_THAN_WRITING) for node in maps):
                before = min(before, (1 + encoded) * table)
            writing = before + buffers * (root.partitions > 1)
            self.writing = max(self.writing, writing)
            need = self.phase(root)
            yield need._replace(writing=writing)
            last = (1 + encoded) * table + buffers
            yield Need(last + self.beside + self.resident_columns.bytes, root)
            return
        yield self.phase(root, beside=before)
        self.beside += encoded * table * min(TABLES_IN_FLIGHT, root.partitions)
        if root.partitions == 1:
            self.resident_columns.update(self.columns(root))
        else:
            self.beside += table * TABLES_IN_FLIGHT
        yield Need(self.beside + self.resident_columns.bytes, root)

    def needs_of_stream(self, root: Physical, in_use: int) -> Iterator[Need]:
        """Compute partitions that are handed over: while one is computed, those before are in use elsewhere."""
        table = self.result(root)
        yield self.phase(root, beside=table * min(in_use, root.partitions - 1))
        self.beside += table * min(in_use, root.partitions)
        yield Need(self.beside + self.resident_columns.bytes, root)

    def needs_of_result(self, root: Physical) -> Iterator[Need]:
        """Compute the one partition of a root, which stays."""
        yield self.phase(root)
        self.resident_columns.update(self.columns(root))

    def phase(self, root: Physical, into: Exchange | None = None, beside: float = 0.0) -> Need:
        """Return what one partition of a fragment needs, with what is held; `into` cuts it into pieces."""
        nodes = sorted(self.fragment(root), key=lambda node: self.places[id(node)])  # inputs first: chains are deep
        for node in nodes:
            self.needs[id(node)] = self.need(node)
        most = self.needs[id(root)]
        if into is not None and into.partitions > 1:
            table, rows = self.result(root), self.rows[id(root)]
            work = self.sets.split
            split = max(work.before * rows, work.copies * table + work.beside * rows)
            self.steps[id(into)] = split
            most = max(most, Need(table + split + self.resident_columns.bytes, into), key=bytes_of)
        below = ((child, node) for node in nodes for child in node.inputs)
        resident = {id(child): self.result(child) for child, node in below if is_resident(child, node)}
        self.computed |= {id(node) for node in nodes if self.readers[id(node)] > 1 and not isinstance(node, Exchange)}
        resident_bytes = sum(resident.values()) + self.beside + beside
        scans = tuple(node for node in nodes if isinstance(node, Scan))
        return Need(most.bytes + resident_bytes, most.at, self.pieces_beside(nodes, root, into), scans)

    def fragment(self, root: Physical) -> Iterator[Physical]:
        """Yield the nodes that are computed for a partition, down to sources, exchanges and what is there."""
        stack, seen = [root], {id(root)}
        while stack:
            node = stack.pop()
            yield node
            for child in () if isinstance(node, Exchange) or id(node) in self.computed else node.inputs:
                if id(child) not in seen:
                    seen.add(id(child))
                    stack.append(child)

    def need(self, node: Physical) -> Need:
        """Return the most bytes in use while a partition is computed, with the columns that are held."""
        if isinstance(node, Exchange):  # pieces, and the rows put together
            merged = self.result(node)
            copies = self.sets.merge_copies if node.source.partitions > 1 else 0
            return Need(merged * (1 + copies) + self.resident_columns.bytes, node)
        if isinstance(node, Scan):
            string_columns = sum(dtype == STRING for dtype in node.schema.values())
            largest = max(node.part_file_bytes)
            needed_bytes = self.result(node) * (1 + self.sets.read_copies) + largest * self.sets.file_copies
            needed_bytes += self.rows[id(node)] * TEXT_READING * string_columns
            self.steps[id(node)] = needed_bytes
            return Need(needed_bytes + self.resident_columns.bytes, node)
        if id(node) in self.computed:
            return Need(self.resident_columns.bytes + self.resident_columns.more(self.columns(node)), node)
        if isinstance(node, Concat):
            return max((self.needs[id(child)] for child in node.inputs), key=bytes_of)
        return self.map_need(node)

    def map_need(self, node: Map) -> Need:
        """Compute the inputs one after another, then the operation beside all of them."""
        inputs, most = dict[int, float](), Need(0, node)
        for child in node.inputs:
            inner, stays = self.needs[id(child)], is_resident(child, node)
            most = max(
                most, Need(sum(inputs.values()) + inner.bytes - self.result(child) * stays, inner.at), key=bytes_of
            )
            inputs.update({} if stays else self.columns(child))
        live = self.resident_columns.bytes + self.resident_columns.more(inputs)
        new = (
            size
            for width, size in self.columns(node).items()
            if width not in inputs and width not in self.resident_columns
        )
        needed_bytes = sum(new)
        rows = max(self.rows[id(node)], sum(self.rows[id(child)] for child in node.inputs))
        work = self.sets.of(node.operation)
        if isinstance(node, StatefulWindow):
            rows += node.state_rows
            needed_bytes += bytes_per_row(node, self.result(node.inputs[0]) / max(1, self.rows[id(node)])) * rows
        copies = work.copies * sum(self.result(child) for child in node.inputs)
        step = max(work.before * rows, needed_bytes + work.beside * rows + copies)
        spilled = (child for child in node.inputs if isinstance(child, Exchange) or self.readers[id(child)] > 1)
        self.steps[id(node)] = step + sum(map(self.result, spilled))
        return max(most, Need(live + step, node), key=bytes_of)

    def next_read(self) -> float:
        """Return the most that reading a partition of a source takes that has several."""
        scans = (node for node in self.nodes if isinstance(node, Scan) and node.partitions > 1)
        self.resident_columns.clear()
        return max((self.need(scan).bytes for scan in scans), default=0.0)

    def all_reads(self) -> float:
        """Return what reading all partitions of all sources takes."""
        self.resident_columns.clear()
        return sum(self.need(node).bytes * node.partitions for node in self.nodes if isinstance(node, Scan))

    def reads_meanwhile(self, phases: Sequence[Need]) -> Iterator[tuple[float, float]]:
        """Yield what reading ahead takes in each phase: the next partition, and all that are still to be read."""
        self.resident_columns.clear()
        last = {id(scan): place for place, phase in enumerate(phases) for scan in phase.scans}
        scans = {id(scan): scan for phase in phases for scan in phase.scans}
        needs = {key: self.need(scan).bytes for key, scan in scans.items()}
        for place, phase in enumerate(phases):
            read = [key for key in scans if last[key] >= place]
            ahead = max((needs[key] for key in read if scans[key].partitions > 1), default=0.0)
            together = sum(needs[key] * scans[key].partitions for key in read)
            yield ahead, together - sum(needs[id(scan)] for scan in phase.scans)

    def waiting(self) -> float:
        """Return the bytes that exchanges hold, and nodes with several readers: one partition where these go along.

        All rows of a window wait, too, while what partitions carry on is combined.
        """
        exchanges = (node for node in self.nodes if isinstance(node, Exchange) and node.route != "broadcast")
        return self.shared_bytes + sum(map(self.all_bytes, exchanges))

    @cached_property
    def shared_bytes(self) -> float:
        """The bytes of what waits and is no exchange."""
        combined = [node.inputs[0] for node in self.nodes if isinstance(node, StatefulWindow) and node.combined]
        apart, waiting = separate_nodes(passes_of(self.roots)), sum(map(self.all_bytes, combined), 0.0)
        for node in self.nodes:
            if not isinstance(node, Exchange) and self.readers[id(node)] > 1:
                waiting += self.all_bytes(node) if id(node) in apart else self.result(node)
        return waiting

    def all_bytes(self, node: Physical) -> float:
        """Return the bytes of all partitions."""
        return self.all_rows[id(node)] * total(self.widths[id(node)].values())


def is_resident(child: Physical, reader: Physical) -> bool:
    """Return whether a partition stays for all partitions of its reader."""
    return child.partitions == 1 and reader.partitions > 1 and isinstance(reader, Map)
