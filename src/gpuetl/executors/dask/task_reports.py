"""Reports of tasks: each task sends the driver one when it ends, for the report and the progress of a run.

They are events of the topic that the scheduler keeps for the driver's client.  The scheduler forgets the topic when the
client disconnects.  A report reaches the driver before the news that its task has finished.  A small result travels in
it, which saves two calls to gather it.  A task that runs twice, because its worker was lost, counts once.
"""

from __future__ import annotations

import pickle
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from distributed import get_worker

from gpuetl.engines.interface import Backend
from gpuetl.executors.dask.packed_plan import AnyNode, operation_of
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Exchange
from gpuetl.plan.node import Node
from gpuetl.telemetry.hardware_limits import Link
from gpuetl.telemetry.memory_meter import MemoryUse, resident_set
from gpuetl.telemetry.memory_samples import MOST_SAMPLES, MemoryCurve, Sample, thinned
from gpuetl.telemetry.recorder import Recorder, Work, WorkerWork
from gpuetl.telemetry.timeline import Timeline, TrackReport

MAX_INLINE_BYTES = 1 << 14
"""Largest result that travels in a report.  A scheduler keeps the last thousand events of a topic."""
Receive = Callable[["TaskReport"], None]
_RECEIVERS: WeakKeyDictionary[Any, dict[str, Receive]] = WeakKeyDictionary()
_CONNECTIONS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""The connection by which each client receives its topic."""


class TaskUsage(NamedTuple):
    """Where and when a task ran: the worker's address, seconds since 1970, and what was at work since then.

    `memory` is that of the worker at the end of the task.  `disk_bytes` are those that dask itself has written since
    the worker began, where it moves results to disk.
    """

    worker: str
    start_unix: float
    seconds: float
    tracks: tuple[TrackReport, ...]
    memory: MemoryUse
    disk_bytes: int = 0


def usage_of(timeline: Timeline, backend: Backend, memory_before: int) -> TaskUsage:
    """Return the usage of a task that ends now on this worker, and whose timeline began with it."""
    worker = get_worker()
    memory = backend.memory_use() if backend.device == "GPU" else MemoryUse(max(0, resident_set() - memory_before), 0)
    written = getattr(worker.data, "cumulative_metrics", {}).get(("disk-write", "bytes"), 0)
    return TaskUsage(worker.address, timeline.start_unix, timeline.now(), timeline.report(), memory, int(written))


class TaskReport(NamedTuple):
    """What one task did: the work of operations by the number of a node, notes, warnings, and the peak memory use.

    `spilled` has the bytes over each link since the worker's previous report.  `result` is what the driver wants of
    the task, if that is small.
    """

    task: str
    work: dict[int, Work]
    notes: list[str]
    peaks: dict[str, int]
    spilled: dict[Link, int]
    result: Any = None
    warnings: Sequence[str] = ()
    usage: TaskUsage | None = None


def send_report(driver: str, job: str, report: TaskReport) -> None:
    """Send a report to the driver of a job, from the thread of a task, at its end.

    The event travels in one batch with the message that the task is done.  `Worker.log_event` would send it at once,
    ahead of that message: a worker sends its batches every 2 ms.
    """
    worker = get_worker()
    event = {"op": "log-event", "topic": driver, "msg": {"job": job, "report": pickle.dumps(report)}}

    def send() -> None:
        try:
            worker.batched_stream.buffer.append(event)
        except AttributeError:  # another distributed
            worker.batched_send(event)

    worker.loop.add_callback(send)


def inline_if_small(result: Any) -> Any:
    """Return a result that is small enough for a report, else None."""
    buffers: list[pickle.PickleBuffer] = []
    size = len(pickle.dumps(result, 5, buffer_callback=buffers.append)) + sum(b.raw().nbytes for b in buffers)
    return result if size <= MAX_INLINE_BYTES else None


def listen(client: Any, job: str, receive: Receive) -> None:
    """Have `receive` called, in a thread of the client, with the reports of a job's tasks.

    A client subscribes once, in its first run: it sends messages 10 ms apart, and the tasks would wait for them.
    """
    receivers = _RECEIVERS.setdefault(client, {})
    receivers[job] = receive

    def receive_event(event: tuple[float, Mapping[str, Any]]) -> None:
        if (receiver := receivers.get(event[1].get("job", ""))) is not None:
            receiver(pickle.loads(event[1]["report"]))

    if client not in _CONNECTIONS or _CONNECTIONS[client] is not client.scheduler_comm:
        _CONNECTIONS[client] = client.scheduler_comm  # a scheduler that was started again knows of no topics
        client.subscribe_topic(client.id, receive_event)


def stop_listening(client: Any, job: str) -> None:
    """End what `listen` began."""
    _RECEIVERS[client].pop(job, None)


class ReportCollector:
    """Combines the reports of tasks, and records them."""

    def __init__(self, plan: PhysicalPlan, nodes: Sequence[AnyNode], recorder: Recorder) -> None:
        self.nodes, self.recorder = nodes, recorder
        self.reports: dict[str, TaskReport] = {}
        self.partitions_done: Counter[int] = Counter()
        self.partitions = {id(operation_of(node)): node.partitions for node in nodes if not isinstance(node, Node)}
        self.partitions |= {id(write): source.partitions for write, source in plan.written.values()}

    def add(self, report: TaskReport) -> None:
        """Keep the report of a task, and show the progress."""
        if report.task not in self.reports:
            for number, work in report.work.items():
                operation = operation_of(self.nodes[number])
                self.recorder.report_work(operation, work)
                self.partitions_done[number] += work.partitions
                if work.partitions:
                    of = self.partitions[id(operation)]
                    self.recorder.progress(work.origin, self.partitions_done[number], of)
        self.reports[report.task] = report

    def close(self) -> None:
        """Record everything in the order of the plan, not of arrival.  Sinks come last: they are logical nodes here."""
        for report in self.reports.values():
            self.recorder.spilled.update(report.spilled)
            for note in report.notes:
                self.recorder.note(note)
            for warning in report.warnings:
                self.recorder.warn(warning)
        work_by_node = [(number, work) for report in self.reports.values() for number, work in report.work.items()]
        for number, work in sorted(work_by_node, key=lambda pair: (isinstance(self.nodes[pair[0]], Node), pair[0])):
            self.recorder.of(operation_of(self.nodes[number]), work.origin).add(work)

        for report in self.reports.values():
            for what, peak in report.peaks.items():
                name = f"{what}, of one worker"
                self.recorder.peaks[name] = max(peak, self.recorder.peaks.get(name, 0))
        self.record_workers()

    def record_workers(self) -> None:
        """Record what each worker did, when, and the memory that it had in use at the ends of its tasks."""
        memory: defaultdict[str, list[tuple[Sample, int]]] = defaultdict(list)
        written: defaultdict[str, list[int]] = defaultdict(list)
        for report in self.reports.values():
            if (usage := report.usage) is None:
                continue
            worker = self.recorder.workers.setdefault(usage.worker, WorkerWork(usage.worker))
            worker.tasks += 1
            worker.seconds += usage.seconds
            worker.spilled.update(report.spilled)
            for number, work in report.work.items():
                worker.file_bytes += work.file_bytes
                worker.received_bytes += work.exchanged_bytes
                worker.received_rows += work.rows_out if isinstance(self.nodes[number], Exchange) else 0
            timeline = self.recorder.timeline
            timeline.add_reports(usage.tracks, usage.start_unix)
            timeline.add_reports((TrackReport("worker", usage.worker, ((0.0, usage.seconds),)),), usage.start_unix)
            at = usage.start_unix + usage.seconds - timeline.start_unix
            written[usage.worker].append(usage.disk_bytes)
            memory[usage.worker].append(((at, usage.memory.in_use), usage.memory.limit))
        for address, counts in written.items():
            if disk_bytes := max(counts) - min(counts):
                self.recorder.workers[address].spilled["host to file"] += disk_bytes
                self.recorder.spilled["host to file"] += disk_bytes
        for address, found in memory.items():
            samples = sorted(sample for sample, _ in found)
            while len(samples) > MOST_SAMPLES:
                samples = thinned(samples)
            limit = max(limit for _, limit in found)
            self.recorder.memory_curves[address] = MemoryCurve(address, tuple(samples), limit)
