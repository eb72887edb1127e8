"""A run on a cluster, as the driver sees it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from gpuetl.engines.registry import computing_engine
from gpuetl.errors import RunFailed
from gpuetl.executors.dask.cluster import workers_have_gpus
from gpuetl.executors.dask.cluster_checkpoints import ClusterCheckpoints
from gpuetl.executors.dask.cluster_sinks import SharedSinkWriter
from gpuetl.executors.dask.fetching import LostPieces, fit_in_memory, has_many_pieces
from gpuetl.executors.dask.job import Job
from gpuetl.executors.dask.liveness import watch_of
from gpuetl.executors.dask.packed_plan import AnyNode, nodes_of, pack_nodes
from gpuetl.executors.dask.results import run_tasks
from gpuetl.executors.dask.task_graph import TaskGraph
from gpuetl.executors.dask.task_reports import ReportCollector
from gpuetl.executors.dask.warm_up import warm
from gpuetl.executors.failures import row_in_source
from gpuetl.executors.outputs import Outputs, ended
from gpuetl.formats.registry import format_named
from gpuetl.io.staging import Closable, close_writers
from gpuetl.messages import coded
from gpuetl.options import RunOptions
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Exchange, Map
from gpuetl.telemetry.recorder import Recorder
from gpuetl.telemetry.trace import timed

if TYPE_CHECKING:
    from gpuetl.executors.execution import Execution

ATTEMPTS = 4
"""As often as dask lets workers die of one task."""


class Workers(NamedTuple):
    """Those of a run, and whether they have memory for what one with a GPU reads while it computes."""

    addresses: frozenset[str]
    read_ahead: bool


class Attempt(NamedTuple):
    """The tasks that ran, their reports, and the results that the driver wants, by key."""

    graph: TaskGraph
    reports: ReportCollector
    results: dict[Any, Any]


def execute_on_cluster(physical: PhysicalPlan, run: Execution, workers: Workers) -> Outputs:
    """Compute all roots on the workers of the options' client, and commit the sinks that they wrote.

    They stay as they were where the run does not accept what was counted.  Stages that are kept come as Arrow tables,
    the pandas engine's frames.
    """
    engine, options, recorder, seconds = run.engine, run.options, run.recorder, run.seconds
    client = options.cluster.client
    watch = watch_of(client)
    nodes = nodes_of(physical)
    packed = pack_nodes(nodes)
    many = [node for node in nodes if isinstance(node, Exchange) and has_many_pieces(node)]
    fetches = options.lowers_by("fetch_pieces") and fit_in_memory(client, many)

    def attempt() -> Attempt:
        job = job_of(run.run_id, client.id, computing_engine(engine), packed, options, workers.read_ahead)
        if watch is not None:
            watch.jobs.add(job.name)
        graph = TaskGraph(physical, nodes, job, fetches)
        reports = ReportCollector(physical, nodes, recorder)
        with ClusterCheckpoints(physical, graph, run).closing() as checkpoints:
            return Attempt(graph, reports, computed(client, workers.addresses, graph, reports, checkpoints))

    if options.trace:
        recorder.note("the timeline shows the driver: what workers did is in the report, and on the pages of dask")
    with sink_writers(physical, run) as (writers, pending, threads):
        if workers_have_gpus(engine):
            warm(client, computing_engine(engine), workers.addresses)
        with timed(seconds, "run"):
            for writer in writers.values():
                writer.prepare()
            try:
                graph, reports, results = run_until_complete(attempt, recorder)
            except RunFailed as error:
                raise with_row(error, nodes)  # noqa: B904  the same error
            for warning in watch.warnings() if watch else ():
                recorder.warn(warning)
            for name, writer in writers.items():
                writer.take([results[key] for key in graph.writes[name]])
            reports.close()
        checks = {name: results[key] for name, key in graph.checks.items()}
        sinks = ended(run, writers, pending, threads, checks)
    kept = {name: results[key] for name, key in graph.kept_stages.items()}
    heads = {name: first_rows([results[key].head for key in graph.writes[name]], options) for name in writers}
    heads |= {name: first_rows([table], options) for name, table in kept.items()}
    return Outputs(sinks, heads, kept, checks)


def job_of(run_id: str, driver: str, backend: str, nodes: bytes, options: RunOptions, reads_ahead: bool = False) -> Job:
    """Return what the tasks of a run share."""
    skipped = options.skipped_choices
    folder = str(Path(options.spill_folder).absolute()) if options.spill_folder else None
    return Job(
        run_id, f"{run_id}-{uuid.uuid4().hex[:8]}", driver, backend, nodes, skipped, options.profile,
        reads_ahead, options.head_rows, folder, options.resident_bytes, options.kernels, options.sync,
    )  # fmt: skip


@contextmanager
def sink_writers(
    physical: PhysicalPlan, run: Execution
) -> Iterator[tuple[dict[str, SharedSinkWriter], list[Closable], ThreadPoolExecutor]]:
    """Give the driver's side of each sink, what is to be closed at the end, and the writers' threads.

    What was staged and not committed is removed then.
    """
    threads = ThreadPoolExecutor(1)  # workers write
    writers = {
        name: SharedSinkWriter(
            write.target,
            run.run_id,
            format_named(write.target.format).writer(write.target.options),
            threads,
            run.options.sync,
            run.pipeline,
        )
        for name, (write, _) in physical.sinks.items()
    }
    pending = list[Closable](writers.values())
    try:
        yield writers, pending, threads
    finally:
        close_writers(pending, threads)


def run_until_complete(attempt: Callable[[], Attempt], recorder: Recorder) -> Attempt:
    """Run the tasks, again where pieces of an exchange are lost with a worker: nothing was committed.

    Raises
    ------
    RunFailed
        Where that happens again and again.
    """
    for left in reversed(range(ATTEMPTS)):
        try:
            return attempt()
        except LostPieces as error:
            if left:
                recorder.begin_again(f"a worker was lost that others wanted rows from: begun again ({error})")
    raise RunFailed(
        coded(
            "GE3006",
            f"workers that others wanted rows from were lost {ATTEMPTS} times.  They may have run out of memory: make "
            "partitions smaller by --partition-rows, or give workers more",
        )
    )


def with_row(error: RunFailed, nodes: Sequence[AnyNode]) -> RunFailed:
    """Return a worker's error with the file of the row that failed, where that is known."""
    if error.failing is None or error.problem is None:
        return error
    number, index, row = error.failing
    node = nodes[number] if number >= 0 else None
    where = row_in_source(node, index, row) if isinstance(node, Map) else ""
    values = error.problem.row.removeprefix("The row: ")
    return error.with_problem(replace(error.problem, row=": ".join(filter(None, (where, values))))) if where else error


def computed(
    client: Any, workers: frozenset[str], graph: TaskGraph, reports: ReportCollector, checkpoints: ClusterCheckpoints
) -> dict[Any, Any]:
    """Run the tasks; return the results of those that the driver wants, by key."""
    written = (key for keys in graph.writes.values() for key in keys)
    result_keys = list(dict.fromkeys([*written, *graph.kept_stages.values(), *graph.checks.values()]))
    if not result_keys:
        return {}
    try:
        results = run_tasks(client, workers, graph, result_keys, reports.add, checkpoints)
    except BaseException:
        reports.close()  # what was done until then
        raise
    return dict(zip(result_keys, results, strict=True))


def first_rows(tables: Sequence[pa.Table], options: RunOptions) -> pa.Table:
    """Return the first rows of tables below each other, on memory of their own."""
    rows = pa.concat_tables(tables)
    return rows.take(pa.array(range(min(options.head_rows, rows.num_rows)), pa.int64()))
