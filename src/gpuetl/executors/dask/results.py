"""Places tasks on workers, waits for them, and words what goes wrong with them."""

from __future__ import annotations

from asyncio import CancelledError
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, Protocol

import dask
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from distributed import KilledWorker

from gpuetl.errors import OutOfMemory, RunFailed
from gpuetl.executors.dask.fetching import LostPieces
from gpuetl.executors.dask.liveness import Watch, ask, watch_of
from gpuetl.executors.dask.task_graph import TaskGraph
from gpuetl.executors.dask.task_reports import TaskReport, listen, stop_listening
from gpuetl.messages import coded

# Tasks placed on workers, where a scheduler would give all of them to one.
#
# It gives a task to a worker that has some of what the task takes.  Where a table goes to each partition of a source,
# that is one worker for all of them; others would take some of them over, but not before a tenth of a second.


Tasks = dict[Any, Any]


def place_tasks(tasks: Tasks, shares: Mapping[Any, float], workers: Collection[str]) -> HighLevelGraph:
    """Return the tasks as layers: those with a share of a source are placed on the workers in the order of addresses.

    Neighbours go to one worker.  Another one may take a task, and does where the first is lost.  Of tasks in layers
    dask computes no name from all that they hold, which takes it 0.1 ms a task.
    """
    order = sorted(workers)
    layers: defaultdict[str, Tasks] = defaultdict(dict)
    for key, task in tasks.items():
        layers[order[int(shares[key] * len(order))] if key in shares else ""][key] = task
    return HighLevelGraph({at: layer(at, its) for at, its in layers.items()}, dict.fromkeys(layers, frozenset()))


def layer(address: str, tasks: Tasks) -> MaterializedLayer:
    """Return the tasks of one worker, or those of any."""
    return MaterializedLayer(tasks, {"workers": [address], "allow_other_workers": True} if address else None)


# Waits for the tasks of a run, and words what goes wrong with them.


LOOK_S = 1.0
"""How often to see whether there are workers, while no task ends."""
PATIENCE_S = 60.0
"""How long a run waits for a worker where there is none."""


def run_tasks(
    client: Any,
    workers: Collection[str],
    graph: TaskGraph,
    result_keys: Sequence[Any],
    receive: Callable[[TaskReport], None],
    early: EarlyResults,
) -> list[Any]:
    """Run the tasks on the workers of a client; return the results of those that are wanted.

    `early` gets results as they come; its tasks are waited for although another one has failed.

    Raises
    ------
    GpuetlError
        What a task raised; or `RunFailed`, where a task's workers died again and again, or the cluster is lost.
    """
    events: SimpleQueue[Any] = SimpleQueue()
    listen(client, graph.job.name, events.put)
    futures: list[Any] = []
    pinned: list[Any] = []
    try:
        futures, pinned = submit(client, workers, graph, result_keys)
        for future in futures:
            future.add_done_callback(events.put)
        results = wait(client, graph, {str(future.key) for future in futures}, events, receive, early)
        missing = [future for future in futures if str(future.key) not in results]
        results |= zip((str(future.key) for future in missing), gather(client, graph, missing), strict=True)
        return [results[str(future.key)] for future in futures]
    finally:
        stop_listening(client, graph.job.name)
        for future in (*futures, *pinned):
            future.release()


def submit(
    client: Any, workers: Collection[str], graph: TaskGraph, result_keys: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """Send the tasks to the scheduler; return the futures of those that are wanted, and of those that are held.

    Rows of sources in memory are part of the tasks, so that they can run again: the warning of large graphs is not for
    them.
    """
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": 1 << 62}):
        futures = client.get(place_tasks(graph.tasks, graph.shares, workers), [*result_keys, *graph.pinned], sync=False)
        return list(futures[: len(result_keys)]), list(futures[len(result_keys) :])


class EarlyResults(Protocol):
    """What takes the results of some tasks before all are done: checkpoints, which are complete before the run is."""

    tasks: frozenset[str]

    def add(self, task: str, result: Any) -> None:
        """Take the result of a task."""


def wait(
    client: Any,
    graph: TaskGraph,
    waiting: set[str],
    events: SimpleQueue[Any],
    receive: Callable[[TaskReport], None],
    early: EarlyResults,
) -> dict[str, Any]:
    """Wait until all of the wanted tasks are done, and pass on what is heard meanwhile.

    Return the results that came in reports, by task.  If a task ran twice, its last result counts.
    """
    results: dict[str, Any] = {}
    failed: RunFailed | None = None
    hopeless_at = monotonic() + PATIENCE_S
    while waiting:
        try:
            event = events.get(timeout=LOOK_S)
        except Empty:
            hopeless_at = monotonic() + PATIENCE_S if has_workers(client) else hopeless_at
            if monotonic() > hopeless_at:
                raise failed or no_workers(client) from None
            continue
        hopeless_at = monotonic() + PATIENCE_S
        if isinstance(event, TaskReport):
            receive(event)
            if event.result is not None:
                results[event.task] = event.result
                early.add(event.task, event.result)
                waiting.discard(event.task)
            continue
        task = str(event.key)
        try:
            check(event, graph)
            if task in early.tasks and task not in results:
                (results[task],) = gather(client, graph, [event])
                early.add(task, results[task])
        except RunFailed as error:
            if is_final(error) or not waiting & early.tasks:
                raise failed or error from None
            failed = failed or error
            waiting &= early.tasks
        waiting.discard(task)
    if failed is not None:
        raise failed
    return results


def is_final(error: RunFailed) -> bool:
    """Tell whether to wait for nothing else after an error: the run begins again, or the cluster is lost."""
    return isinstance(error, OutOfMemory | LostPieces) or (error.problem is None and error.origin is None)


def gather(client: Any, graph: TaskGraph, futures: Sequence[Any]) -> list[Any]:
    """Return the results; what is lost with a worker just now is computed again."""
    try:
        return list(ask(client, lambda: client.gather(futures))) if futures else []
    except KilledWorker as error:
        raise workers_died(error, graph, client) from None
    except CancelledError:
        raise scheduler_lost(client) from None


def has_workers(client: Any) -> bool:
    """Ask the scheduler whether it has a worker.

    Raises
    ------
    RunFailed
        Where the scheduler is not there any more, or is silent; or where no worker is left that is not.
    """
    try:
        return bool(ask(client, client.scheduler_info)["workers"])
    except (OSError, TimeoutError) as error:
        raise scheduler_lost(client) from error


def no_workers(client: Any) -> RunFailed:
    """Word that no worker has come back."""
    watch = watch_of(client)
    if watch and watch.lost_workers:
        return watch.no_worker_left()
    return RunFailed(coded("GE3006", f"the cluster has had no worker for {PATIENCE_S:.0f} s"))


def scheduler_lost(client: Any) -> RunFailed:
    """Word that the scheduler has gone."""
    return (
        watch_of(client) or Watch(client, PATIENCE_S)
    ).scheduler_lost()  # a client that has closed itself has no address


def check(future: Any, graph: TaskGraph) -> None:
    """Raise what went wrong with a task, if anything did.

    A result that is lost with its worker, after it was heard of, is computed again while `gather` waits for it.
    """
    if future.status == "cancelled":
        raise scheduler_lost(future.client)
    if future.status == "error":
        error = future.exception()
        raise workers_died(error, graph, future.client) if isinstance(error, KilledWorker) else error


def workers_died(error: Any, graph: TaskGraph, client: Any) -> RunFailed:
    """Word that workers die of a task, or fall silent."""
    node = graph.origins.get(error.task)
    times = error.allowed_failures + 1
    watch, last = watch_of(client), error.last_worker.address
    if watch and last in watch.lost_workers:
        message = coded(
            "GE2043",
            f"{times} workers, one after another, sent no heartbeat for {watch.timeout_s:g} s, or died, while they ran "
            f"it: the last one was {last}.  A step that holds the GIL all the time needs a larger --worker-timeout",
        )
    else:
        message = coded(
            "GE3006",
            f"{times} workers died, one after another, while they ran it: the last one was {last}.  They may have run "
            "out of memory: make partitions smaller by --partition-rows, or give workers more",
        )
    return RunFailed(message) if node is None else RunFailed.at(node.origin, message)
