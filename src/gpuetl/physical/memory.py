"""The memory that the local executor is expected to need at once: what is live while one partition is computed.

Rows and widths are upper bounds (`estimate.py`), so this is one: filters keep every row, and groups have one each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from gpuetl.expressions.types import STRING
from gpuetl.io.staging import TABLES_IN_FLIGHT
from gpuetl.physical.carries import Carried, carried_copies
from gpuetl.physical.estimate import chunk_rows, estimated_rows, file_bytes
from gpuetl.physical.nodes import Concat, Exchange, Map, Physical, Scan
from gpuetl.physical.passes import go_along, passes_of
from gpuetl.physical.widths import column_widths, total
from gpuetl.physical.working_sets import FILE_COPIES, SPLIT, SPLIT_COPIES, TEXT_READING, work_of
from gpuetl.plan.graph import walk_graph

if TYPE_CHECKING:
    from gpuetl.physical.lower import PhysicalPlan


ENCODED = 1.0
"""A table is encoded to at most so much of what it takes."""


@dataclass(frozen=True)
class Expected:
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
    """

    bytes: int
    ahead: int
    at: Physical | None
    waiting: int
    together: int = 0


class Need(NamedTuple):
    """The most bytes in use at once, and the node that works then."""

    bytes: float
    at: Physical


def bytes_of(need: Need) -> float:
    """Return what is needed."""
    return need.bytes


def expected_memory(plan: PhysicalPlan) -> Expected:
    """Return what the local executor needs for a plan: the most of its phases, one after another."""
    if not plan.roots:
        return Expected(0, 0, None, 0)
    model = _Model(plan.roots)
    most = max(model.phases(plan), key=bytes_of)
    ahead, together = (int(most.bytes + more) for more in (model.next_read(), model.all_reads()))
    return Expected(int(most.bytes), ahead, most.at, int(model.waiting()), together)


class _Model:
    """Goes through a plan as the local executor does, phase by phase: a phase is all partitions of a fragment.

    `held` has the columns that stay after their phase, by the identity of their width, and `beside` the bytes of what
    is no column; `computed` the shared nodes that later phases find there.
    """

    def __init__(self, roots: Sequence[Physical]) -> None:
        self.roots, self.nodes = roots, list(walk_graph(*roots))
        self.places = {id(node): place for place, node in enumerate(self.nodes)}
        self.readers = Counter(map(id, roots)) + Counter(id(child) for node in self.nodes for child in node.inputs)
        self.widths = column_widths(*roots)
        self.all_rows = estimated_rows(*roots, widths=self.widths)
        self.rows = chunk_rows(*roots, of_all=self.all_rows, widths=self.widths)
        self.tables: dict[int, dict[int, float]] = {}
        self.needs: dict[int, Need] = {}
        self.held: dict[int, float] = {}
        self.beside = 0.0
        self.computed: set[int] = set()
        self.exchanges = {id(node): node for node in self.nodes if isinstance(node, Exchange)}

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
        sinks = range(len(plan.first), len(plan.first) + len(plan.sinks))
        for place, root in enumerate(plan.roots):
            for node in walk_graph(root) if self.exchanges else ():
                if exchange := self.exchanges.pop(id(node), None):
                    yield self.phase(exchange.source, exchange)
            yield from self.written(root) if place in sinks else self.kept(root)

    def written(self, root: Physical) -> Iterator[Need]:
        """Compute a sink's partitions: while one is computed, and after the last, those before are written."""
        table = self.result(root)
        yield self.phase(root, beside=(1 + ENCODED) * table * min(TABLES_IN_FLIGHT, root.partitions - 1))
        self.beside += ENCODED * table * min(TABLES_IN_FLIGHT, root.partitions)
        if root.partitions == 1:
            self.held.update(self.columns(root))
        else:
            self.beside += table * TABLES_IN_FLIGHT
        yield Need(self.beside + sum(self.held.values()), root)

    def kept(self, root: Physical) -> Iterator[Need]:
        """Compute the one partition of a root, which stays."""
        yield self.phase(root)
        self.held.update(self.columns(root))

    def phase(self, root: Physical, into: Exchange | None = None, beside: float = 0.0) -> Need:
        """Return what one partition of a fragment needs, with what is held; `into` cuts it into pieces."""
        nodes = sorted(self.fragment(root), key=lambda node: self.places[id(node)])  # inputs first: chains are deep
        for node in nodes:
            self.needs[id(node)] = self.need(node)
        most = self.needs[id(root)]
        if into is not None and into.partitions > 1:
            table, rows = self.result(root), self.rows[id(root)]
            split = table + max(SPLIT.before * rows, SPLIT_COPIES * table + SPLIT.beside * rows)
            most = max(most, Need(split + sum(self.held.values()), into), key=bytes_of)
        below = ((child, node) for node in nodes for child in node.inputs)
        resident = {id(child): self.result(child) for child, node in below if is_resident(child, node)}
        self.computed |= {id(node) for node in nodes if self.readers[id(node)] > 1 and not isinstance(node, Exchange)}
        return Need(most.bytes + sum(resident.values()) + self.beside + beside, most.at)

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
            return Need(self.result(node) * (1 + (node.source.partitions > 1)) + sum(self.held.values()), node)
        if isinstance(node, Scan):
            texts = sum(dtype == STRING for dtype in node.schema.values())
            largest = max(file_bytes(Scan(node.read, (part,))) for part in node.parts)
            made = self.result(node) + largest * FILE_COPIES + self.rows[id(node)] * TEXT_READING * texts
            return Need(made + sum(self.held.values()), node)
        if id(node) in self.computed:
            return Need(sum({**self.held, **self.columns(node)}.values()), node)
        if isinstance(node, Concat):
            return max((self.needs[id(child)] for child in node.inputs), key=bytes_of)
        return self.map_need(node)

    def map_need(self, node: Map) -> Need:
        """Compute the inputs one after another, then the operation beside all of them."""
        live, inputs, most = dict(self.held), dict[int, float](), Need(0, node)
        for child in node.inputs:
            inner, stays = self.needs[id(child)], is_resident(child, node)
            most = max(
                most, Need(sum(inputs.values()) + inner.bytes - self.result(child) * stays, inner.at), key=bytes_of
            )
            inputs.update({} if stays else self.columns(child))
        live.update(inputs)
        made = sum(size for width, size in self.columns(node).items() if width not in live)
        rows = max(self.rows[id(node)], sum(self.rows[id(child)] for child in node.inputs))
        work = work_of(node.operation)
        if isinstance(node, Carried):
            rows += node.carried_rows
            made += carried_copies(node, self.result(node.inputs[0]) / max(1, self.rows[id(node)])) * rows
        own = sum(live.values()) + max(work.before * rows, made + work.beside * rows)
        return max(most, Need(own, node), key=bytes_of)

    def next_read(self) -> float:
        """Return the most that reading a partition of a source takes that has several."""
        scans = (node for node in self.nodes if isinstance(node, Scan) and node.partitions > 1)
        self.held.clear()
        return max((self.need(scan).bytes for scan in scans), default=0.0)

    def all_reads(self) -> float:
        """Return what reading all partitions of all sources takes."""
        self.held.clear()
        return sum(self.need(node).bytes * node.partitions for node in self.nodes if isinstance(node, Scan))

    def waiting(self) -> float:
        """Return the bytes that exchanges hold, and nodes with several readers: one partition where these go along.

        All rows of a window wait, too, while what partitions carry on is combined.
        """
        combined = [node.inputs[0] for node in self.nodes if isinstance(node, Carried) and node.combined]
        passes, waiting = passes_of(self.roots), sum(map(self.all_bytes, combined), 0.0)
        for node in self.nodes:
            waits = node.route != "broadcast" if isinstance(node, Exchange) else self.readers[id(node)] > 1
            if waits and (isinstance(node, Exchange) or not go_along(passes, node)):
                waiting += self.all_bytes(node)
            elif waits:
                waiting += self.result(node)
        return waiting

    def all_bytes(self, node: Physical) -> float:
        """Return the bytes of all partitions."""
        return self.all_rows[id(node)] * total(self.widths[id(node)].values())


def is_resident(child: Physical, reader: Physical) -> bool:
    """Tell whether a partition stays for all partitions of its reader."""
    return child.partitions == 1 and reader.partitions > 1 and isinstance(reader, Map)
