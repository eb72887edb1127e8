"""What travels between driver and workers beside frames: plans as bytes, and accounts of what tasks did."""

from __future__ import annotations

import io
import pickle
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from distributed import get_worker

from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Exchange, Physical, Scan
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.spec.values import Text
from gpuetl.telemetry.hardware_limits import Link
from gpuetl.telemetry.recorder import Recorder, Work

# A physical plan as bytes for workers.
#
# Nodes are written one after another and name each other by number: written as they hang together, a chain of a
# thousand
# would recurse.  What only the driver needs stays there: the rows of sources in memory, row groups, places in YAML.


AnyNode = Node | Physical
Reduced = tuple[Any, ...]
"""What `__reduce__` returns: a callable, and its arguments."""


def nodes_of(plan: PhysicalPlan) -> list[AnyNode]:
    """Return the nodes in the order in which they get their numbers: logical ones, then physical ones, inputs first."""
    physical = list(walk_graph(*plan.roots))
    writes = [write for write, _ in plan.sinks.values()]
    operations = [operation_of(node) for node in physical if not isinstance(node, Exchange)]
    return [*walk_graph(*operations, *writes), *physical]


def operation_of(node: AnyNode) -> Any:
    """Return what the work of a node is recorded under: its operation; of what only moves rows, the node."""
    if isinstance(node, Scan):
        return node.read
    return node if isinstance(node, Node | Exchange) else node.operation


def without_groups(scan: Scan) -> Reduced:
    """Return a scan as tasks need it, which are given what they read."""
    return Scan, (scan.read, ((),) * len(scan.parts), scan.skipped)


def pack_nodes(nodes: Sequence[AnyNode | PhysicalPlan], reduced: Callable[[Scan], Reduced] = without_groups) -> bytes:
    """Return nodes, inputs first, as bytes; a plan of them may be the last.  `reduced` says what a scan takes along."""
    file = io.BytesIO()
    pickler = _Pickler(file, {id(node): number for number, node in enumerate(nodes)}, reduced)
    for node in nodes:
        pickler.write(node)
    return zlib.compress(file.getvalue(), 1)


def unpack_nodes(packed: bytes) -> list[Any]:
    """Return the nodes of `pack_nodes`."""
    file = io.BytesIO(zlib.decompress(packed))
    unpickler = _Unpickler(file)
    while file.tell() < len(file.getbuffer()):
        unpickler.nodes.append(unpickler.load())
    return unpickler.nodes


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, numbers: dict[int, int], reduced: Callable[[Scan], Reduced]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.numbers, self.reduced, self.written = numbers, reduced, -1

    def write(self, node: AnyNode | PhysicalPlan) -> None:
        self.written = self.numbers[id(node)]
        self.dump(node)

    def persistent_id(self, value: Any) -> int | None:
        number = self.numbers.get(id(value))
        return None if number == self.written else number

    def reducer_override(self, value: Any) -> Any:
        """Leave out what workers are given with a task, or have no use for; they may run in another folder."""
        if isinstance(value, Scan):
            return self.reduced(value)
        if isinstance(value, Path):
            return type(value), (str(value.absolute()),)
        return (str, (str(value),)) if isinstance(value, Text) else NotImplemented


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.nodes: list[Any] = []

    def persistent_load(self, number: int) -> Any:
        return self.nodes[number]


# What tasks did, told to the driver as they end: the report and the progress of a run.
#
# They are events of the topic that the scheduler keeps for the driver's client, and forgets with it.  One reaches the
# driver before it hears that the task is done, and brings the result along where that is small: to gather one takes
# two
# calls.  A task that ran again, because its worker was lost, counts once.


MOST_TOLD = 1 << 14
"""Bytes of a result that is told: a scheduler keeps the last thousand events of a topic."""
Receive = Callable[["Told"], None]
_RECEIVERS: WeakKeyDictionary[Any, dict[str, Receive]] = WeakKeyDictionary()
_CONNECTIONS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""Those by which clients hear their topics."""


class Told(NamedTuple):
    """What one task did: the work of operations by the number of a node, notes, warnings, and the peak memory use.

    `spilled` has the bytes over each link since the worker told of some before.  `result` is what the driver wants of
    the task, if that is small.
    """

    task: str
    work: dict[int, Work]
    notes: list[str]
    peaks: dict[str, int]
    spilled: dict[Link, int]
    result: Any = None
    warnings: Sequence[str] = ()


def tell(driver: str, job: str, told: Told) -> None:
    """Tell the driver of a job, from the thread of a task, at its end.

    The event travels with the message that the task is done: `Worker.log_event` would send it at once, and that message
    after 2 ms, which is how often a worker sends any.
    """
    worker = get_worker()
    event = {"op": "log-event", "topic": driver, "msg": {"job": job, "told": pickle.dumps(told)}}

    def send() -> None:
        try:
            worker.batched_stream.buffer.append(event)
        except AttributeError:  # another distributed
            worker.batched_send(event)

    worker.loop.add_callback(send)


def told_if_small(result: Any) -> Any:
    """Return a result that may be told, else None."""
    buffers: list[pickle.PickleBuffer] = []
    size = len(pickle.dumps(result, 5, buffer_callback=buffers.append)) + sum(b.raw().nbytes for b in buffers)
    return result if size <= MOST_TOLD else None


def listen(client: Any, job: str, receive: Receive) -> None:
    """Have `receive` called, in a thread of the client, with what tasks of a job tell.

    A client hears its topic from its first run on: it sends messages 10 ms apart, for which the tasks would wait.
    """
    receivers = _RECEIVERS.setdefault(client, {})
    receivers[job] = receive

    def hear(event: tuple[float, Mapping[str, Any]]) -> None:
        if (receiver := receivers.get(event[1].get("job", ""))) is not None:
            receiver(pickle.loads(event[1]["told"]))

    if client not in _CONNECTIONS or _CONNECTIONS[client] is not client.scheduler_comm:
        _CONNECTIONS[client] = client.scheduler_comm  # a scheduler that was started again knows of no topics
        client.subscribe_topic(client.id, hear)


def stop_listening(client: Any, job: str) -> None:
    """End what `listen` began."""
    _RECEIVERS[client].pop(job, None)


class Account:
    """Puts together what tasks told."""

    def __init__(self, plan: PhysicalPlan, nodes: Sequence[AnyNode], recorder: Recorder) -> None:
        self.nodes, self.recorder = nodes, recorder
        self.told: dict[str, Told] = {}
        self.done: Counter[int] = Counter()
        self.partitions = {id(operation_of(node)): node.partitions for node in nodes if not isinstance(node, Node)}
        self.partitions |= {id(write): source.partitions for write, source in plan.sinks.values()}

    def add(self, told: Told) -> None:
        """Keep what a task told, and show the progress."""
        if told.task not in self.told:
            for number, work in told.work.items():
                self.done[number] += work.partitions
                if work.partitions:
                    of = self.partitions[id(operation_of(self.nodes[number]))]
                    self.recorder.progress(work.origin, self.done[number], of)
        self.told[told.task] = told

    def close(self) -> None:
        """Record everything in the order of the plan, whatever was first: sinks, the logical nodes met here, last."""
        for told in self.told.values():
            self.recorder.spilled.update(told.spilled)
            for note in told.notes:
                self.recorder.note(note)
            for warning in told.warnings:
                self.recorder.warn(warning)
        found = [(number, work) for told in self.told.values() for number, work in told.work.items()]
        for number, work in sorted(found, key=lambda pair: (isinstance(self.nodes[pair[0]], Node), pair[0])):
            self.recorder.of(operation_of(self.nodes[number]), work.origin).add(work)

        for told in self.told.values():
            for what, peak in told.peaks.items():
                name = f"{what}, of one worker"
                self.recorder.peaks[name] = max(peak, self.recorder.peaks.get(name, 0))
