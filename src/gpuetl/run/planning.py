"""From a plan to the physical plan of a run: optimized, lowered for the engine, cut so that it fits memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from gpuetl.engines.capacity import HOST_SHARE, Capacity, free_memory
from gpuetl.engines.registry import (
    ENGINES,
    capabilities_of,
    choose_engine,
    computing_engine,
    is_clustered,
    load_backend,
)
from gpuetl.errors import EngineUnavailable, PackageMissing, RunFailed
from gpuetl.formats.checkpoint_rows import CheckpointRows
from gpuetl.formats.csv import CsvFormat
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.frames import FrameDataset
from gpuetl.formats.overlooked import overlooked_warnings
from gpuetl.formats.rejected import RejectedRows
from gpuetl.io.overlap import reached_by_another_name
from gpuetl.memory_limits import host_memory, planned_in_memory
from gpuetl.messages import coded, recoded
from gpuetl.optimize import optimize
from gpuetl.options import RunOptions
from gpuetl.physical.explain_physical import explain_physical, memory_lines
from gpuetl.physical.fit import EVERY_PARTITION, FittedPlan, fitted
from gpuetl.physical.layout import Layout
from gpuetl.physical.lower import PhysicalPlan, lower
from gpuetl.physical.nodes import Scan
from gpuetl.physical.row_limits import check_partitions, check_rows
from gpuetl.physical.working_sets import DEVICE, HOST, WorkingSets
from gpuetl.places.file_state import DatasetError
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Read, Write
from gpuetl.plan.plan import NoValue, Plan, value_of
from gpuetl.run.mixed_formats import check_format

STATE_SHARE = 0.25
"""The largest window state, as a share of a partition: far less than an exchange would move."""
MOST_WHOLE_BYTES = 1 << 31
"""Of a text file that is read whole: then it has fewer rows than a frame may have."""
EXCHANGED_SHARE = 0.5
"""The share of free host memory that a GPU's exchange may take: the link is faster than passing window state on."""


def lowered(plan: Plan, options: RunOptions, engine: str, workers: int = 1) -> tuple[PhysicalPlan, dict[str, float]]:
    """Optimize a plan and lower it for an engine; return the physical plan, and the seconds of each pass.

    Raises
    ------
    RunFailed
        For a source's file with invalid metadata, and for a step with too many rows.
    """
    return planned_in_memory(lambda: _lowered(plan, options, engine, workers))


def _lowered(plan: Plan, options: RunOptions, engine: str, workers: int) -> tuple[PhysicalPlan, dict[str, float]]:
    plan, passes = optimized_plan(plan, options)
    return lower(plan, layout_of(options, engine, workers)), passes


def lowered_again(plan: Plan, options: RunOptions, engine: str, rows: int) -> PhysicalPlan:
    """Lower a plan again for a run out of memory, with at most `rows` rows in each partition of a source.

    This time it does not expect few groups: there may have been many.
    """
    skipped = (*options.skip_passes, "gather_groups")
    return lowered(plan, replace(options, partition_rows=rows, skip_passes=skipped), engine)[0]


class PlannedRun(NamedTuple):
    """A plan that is ready to run: its physical form, the seconds of each pass, and its digest."""

    fit: FittedPlan
    passes: Mapping[str, float]
    fingerprint: str


MOST_KEPT = 64
_PLANNED: OrderedDict[Hashable, PlannedRun] = OrderedDict()
"""The last plans of runs, by value: planning takes as long as some kernels, and delays the first one."""


def planned(plan: Plan, options: RunOptions, engine: str, capacity: Capacity) -> PlannedRun:
    """Optimize a plan and lower it for a capacity, in the partitions that the user asks for or that fit.

    One that was planned before stays as it is if it needs no more memory than there is; no pass is made then.
    """
    key = key_of(plan, options, engine, capacity.workers)
    if kept := _PLANNED.get(key):
        fit = replace(kept.fit, budget=capacity.memory, most_waiting=options.resident_bytes)
        if fit.fits_ahead:
            return PlannedRun(fit, {}, kept.fingerprint)
    planned_run = PlannedRun(*fitted_plan(plan, options, engine, capacity), plan.fingerprint)
    if key is not None and planned_run.fit.suits_any_memory:
        _PLANNED[key] = planned_run
        if len(_PLANNED) > MOST_KEPT:
            _PLANNED.popitem(last=False)
    return planned_run


def fitted_plan(
    plan: Plan, options: RunOptions, engine: str, capacity: Capacity
) -> tuple[FittedPlan, dict[str, float]]:
    """Optimize a plan and lower it for a capacity, in the partitions that the user asks for or that fit."""
    if options.partition_rows is None and not is_clustered(engine):
        plan = with_whole_files(plan, int(capabilities_of(engine).whole_file_share * capacity.memory))
    plan, passes = planned_in_memory(lambda: optimized_plan(plan, options))
    layout = layout_of(options, engine, capacity.workers)
    fit = planned_in_memory(
        lambda: fitted(plan, layout, capacity.memory, options.partition_rows is not None, working_sets(engine))
    )
    check_partitions(fit.plan.roots)
    ahead = most_ahead(engine, fit.plan, capacity.workers)
    return replace(fit, most_ahead=ahead, most_waiting=options.resident_bytes), passes


def with_whole_files(plan: Plan, most_bytes: int) -> Plan:
    """Let the engine find the records of text files of up to `most_bytes`: planning does not read them."""
    most_bytes = min(most_bytes, MOST_WHOLE_BYTES)
    datasets = dict[int, Dataset]()

    def rule(node: Node) -> Node:
        if not isinstance(node, Read) or not isinstance(node.dataset.file_format, CsvFormat):
            return node
        key = id(node.dataset)
        if key not in datasets:
            datasets[key] = node.dataset.with_whole_files(most_bytes)
        return replace(node, dataset=datasets[key])

    return plan.rewrite(rule) if most_bytes else plan


def working_sets(engine: str) -> WorkingSets:
    """Return what an engine works with, on a cluster its workers."""
    return DEVICE if capabilities_of(engine).device == "GPU" else HOST


def most_ahead(engine: str, plan: PhysicalPlan, workers: int) -> int:
    """Return how many partitions an engine may read before they are asked for.

    On a cluster that is one, where workers have GPUs and one of them gets several partitions of a source.
    """
    if not is_clustered(engine):
        return EVERY_PARTITION
    parts = (node.partitions for node in walk_graph(*plan.roots) if isinstance(node, Scan))
    return int(capabilities_of(engine).device == "GPU" and max(parts, default=0) > workers)


def key_of(plan: Plan, options: RunOptions, engine: str, workers: int) -> Hashable:
    """Return all that a plan of a run depends on but memory; None where it is not kept."""
    try:
        value = value_of(plan)
    except (NoValue, DatasetError):
        return None
    split = (options.partition_rows, options.broadcast_bytes, options.carried_share)
    return value, options.optimize, options.skip_passes, split, engine, workers


def optimized_plan(plan: Plan, options: RunOptions) -> tuple[Plan, dict[str, float]]:
    """Optimize a plan, and look at its files; return the seconds of each pass, too."""
    passes: dict[str, float] = {}
    if options.optimize:
        optimized = optimize(plan, options.skip_passes)
        plan, passes = optimized.plan, optimized.seconds
    check_files(plan)
    check_rows(plan.roots)
    return plan, passes


def layout_of(options: RunOptions, engine: str, workers: int) -> Layout:
    """Return how rows are split, at most; each worker gets a share, unless the user says how many rows it has."""
    shares = workers if options.partition_rows is None else 1
    own = options.carried_share
    return Layout(
        options.rows_a_partition(engine),
        options.broadcast_bytes,
        shares,
        state_share=(STATE_SHARE if own is None else own) if options.lowers_by("carry_windows") else 0.0,
        in_turn=own is not None or not is_clustered(engine),
        side_by_side=is_clustered(engine),
        exchanged_bytes=exchanged_bytes(engine) if own is None else int,
        keys_apart=options.lowers_by("keys_apart"),
        gathers_groups=options.lowers_by("gather_groups"),
        aligned_reads=options.lowers_by("aligned_reads"),
        batches_vocabularies=capabilities_of(engine).device == "GPU" and options.lowers_by("batch_vocabularies"),
    )


def exchanged_bytes(engine: str) -> Callable[[], int] | None:
    """Return what tells the bytes that an exchange holds at little cost; None is what memory allows.

    A GPU's go to the host's memory, which is asked only for plans that depend on it.
    """
    if capabilities_of(engine).spills_to != "host memory":
        return None
    return lambda: int(EXCHANGED_SHARE * host_memory().available)


def explained(plan: Plan, options: RunOptions, engine: str) -> str:
    """Explain what an engine would run; with `options.memory` also one that cannot run here."""
    fit, _ = plan_to_show(plan, options, engine)
    return "\n".join([explain_physical(fit.plan), *memory_lines(fit)])


def plan_to_show(plan: Plan, options: RunOptions, engine: str) -> tuple[FittedPlan, str]:
    """Return what an engine would run, and its name; with `options.memory` also that of one that cannot run here."""
    memory = options.memory_bytes
    if memory is None or engine not in ENGINES:
        try:
            engine = choose_engine(engine).name
        except (EngineUnavailable, PackageMissing) as error:
            if engine not in ENGINES:
                raise
            message = f"{error.args[0]}\nFor the plan of another machine say what it has: --memory 80GB"
            raise type(error)(recoded(message, error)) from None
    if memory is None:  # what the host has is known without an engine
        memory = (
            free_memory(load_backend(computing_engine(engine)))
            if capabilities_of(engine).device == "GPU"
            else int(HOST_SHARE * host_memory().available)
        )
    workers = options.cluster.workers or 1 if is_clustered(engine) else 1
    return fitted_plan(plan, options, engine, Capacity(memory, workers))[0], engine


def unread_data_warnings(plan: Plan) -> Iterator[str]:
    """Yield the warnings of what sources have and do not read, files and columns."""
    for node in plan.nodes:
        if not isinstance(node, Read) or isinstance(node.dataset, FrameDataset | RejectedRows | CheckpointRows):
            continue
        for warning in overlooked_warnings(node.dataset):
            yield recoded(f"{node.origin}: {warning}", warning)


def check_sinks(plan: Plan) -> None:
    """Raise `RunFailed` for a sink that would change files of a source under another name, or mix formats."""
    datasets = {node.dataset.path: node.dataset for node in plan.nodes if isinstance(node, Read)}
    files = [one for one in datasets.values() if not isinstance(one, FrameDataset | RejectedRows | CheckpointRows)]
    for sink in plan.sinks.values():
        assert isinstance(sink, Write)
        check_format(sink)
        try:
            found = next(reached_by_another_name(sink.target, files), None)
        except DatasetError as error:
            raise RunFailed.at(sink.origin, str(error), error.hint) from error
        if found:
            dataset, how = found
            message = coded("GE1502", f"{how} source '{dataset.name}', by another name")
            raise RunFailed.at(sink.origin, message, "Give the sink a different path.")


def check_files(plan: Plan) -> None:
    """Look at the footers of all sources, which are kept; raise `RunFailed` for a file that is not as planned."""
    for node in plan.nodes:
        if isinstance(node, Read):
            try:
                _ = node.dataset.row_groups
            except DatasetError as error:
                raise RunFailed.at(node.origin, str(error), error.hint) from error
