"""Checkpoints of a run: stages that a resumed run reads, and those that it writes, put into the plan.

A stage has a checkpoint with `checkpoint: true`.  Its rows are kept under a durable key of its node in the plan as it
is written: see `result_keys.py`.  So a stage that is unchanged in a changed pipeline is found, and one below a changed
file, parameter or step is not.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Literal

from gpuetl.errors import RunFailed, system_reason
from gpuetl.executors.checkpointing import Checkpointing, CheckpointReport
from gpuetl.formats.checkpoint_rows import CheckpointRows
from gpuetl.formats.frames import FrameDataset
from gpuetl.formats.registry import format_named
from gpuetl.formats.rejected import REJECTED, without_rejected
from gpuetl.messages import coded, redacted
from gpuetl.places.file_state import FileState
from gpuetl.places.paths import FilePath
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Read, Write
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass
from gpuetl.run.result_keys import durable_keys
from gpuetl.spec.model import PipelineSpec
from gpuetl.state.checkpoint_cleaning import LIMIT_BYTES, beyond_limit
from gpuetl.state.checkpoint_files import KIND, CheckpointTarget
from gpuetl.state.checkpoints import FOLDER, Checkpoint, CheckpointStore, Damaged, folder_of
from gpuetl.state.files import state_files
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.recorder import Recorder, silent
from gpuetl.types.schema import Schema
from gpuetl.units import size

PARQUET, ARROW = "parquet", "arrow"
PROBE = ".probe"


@dataclass
class Checkpoints:
    """What a run does with the checkpoints of its pipeline.

    Parameters
    ----------
    plan
        The plan with the sinks that the run writes.
    spec
        The pipeline.
    state
        The state folder.
    recorder
        Gets notes and warnings.
    run_id, engine
        The run.
    """

    plan: Plan
    spec: PipelineSpec
    state: FilePath
    recorder: Recorder
    run_id: str
    engine: str
    reasons: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.store = CheckpointStore(state_files(self.state))
        self.checkpointing = Checkpointing(str(self.spec.name), self.run_id, self.engine, self.state)
        self.keys = durable_keys((*self.plan.roots, *self.plan.stages.values()), self.reasons)

    @property
    def stages(self) -> list[str]:
        """The stages that have a checkpoint, and their quarantines, each after what it reads."""
        marked = [name for name in self.plan.stages if self.spec.stages[name].checkpoint]
        rejected = [f"{name}{REJECTED}" for name in marked if f"{name}{REJECTED}" in self.plan.rejected]
        return [*marked, *rejected]

    def node_of(self, name: str) -> Node:
        """Return the node of a stage, or of its quarantine."""
        return self.plan.stages[name] if name in self.plan.stages else self.plan.rejected[name]

    def reused(self) -> dict[int, Node]:
        """Return what stands in the plan for the stages whose checkpoints are valid, by identity, and for counts.

        A stage above a reused one is not looked at, if nothing else needs it.
        """
        nodes = {name: self.node_of(name) for name in self.stages}
        names = {id(node): name for name, node in nodes.items()}
        found = self.reused_counts()
        for node in reversed(self.plan.nodes):
            if id(node) not in names or id(node) not in computed(self.plan, found):
                continue
            if read := self.read_of(names[id(node)], node):
                found[id(node)] = read
        return found if self.checkpointing.reports else {}

    def read_of(self, name: str, node: Node) -> Node | None:
        """Return the node that reads the checkpoint of a stage, if there is a valid one."""
        start = time.perf_counter()
        checkpoint = self.find(name, node)
        if checkpoint is None or not checkpoint.format:
            return None
        path = self.store.files.at(checkpoint.folder)
        report = CheckpointReport(
            name, "reused", checkpoint.run_id, checkpoint.rows, checkpoint.file_bytes, time.perf_counter() - start,
            redacted(str(path)), checkpoint.engine,
        )  # fmt: skip
        self.checkpointing.add(report)
        self.recorder.note(reused_line(report))
        dataset = CheckpointRows(
            f"checkpoint of {name}",
            checkpoint.format,
            path,
            dict(node.schema),
            paths=tuple(self.store.files.at(f"{checkpoint.folder}/{file.name}") for file in checkpoint.files),
        )
        return Read(dataset=dataset, columns=tuple(node.schema), origin=Origin("stage", name))

    def find(self, name: str, node: Node) -> Checkpoint | None:
        """Return the valid checkpoint of a node; one that is damaged is a warning."""
        key = self.keys.get(id(node))
        if key is None:
            return None
        try:
            found = self.store.find(key)
            if found is not None and not same_columns(found, node.schema):
                raise Damaged("its columns are not those of the stage")
        except (Damaged, OSError) as error:
            why = str(error) if isinstance(error, Damaged) else system_reason(error)
            message = f"stage '{name}': the checkpoint is not used, and the stage is computed again: {why}"
            self.recorder.warn(coded("GE1559", message))
            return None
        return found

    def reused_counts(self) -> dict[int, Node]:
        """Return what stands for counts of rules that an earlier run has kept."""
        reads: dict[int, Node] = {}
        for name, node in self.plan.checks.items():
            checkpoint = self.find(name, node)
            if checkpoint is None or not checkpoint.table:
                continue
            dataset = FrameDataset.of(f"counts of {name}", checkpoint.counts())
            reads[id(node)] = Read(dataset=dataset, columns=tuple(node.schema), origin=node.origin)
        return reads

    def written(self, reused: Mapping[int, Node]) -> dict[str, Node]:
        """Return what writes the checkpoints of the stages that the run computes."""
        needed, writes = computed(self.plan, reused), dict[str, Node]()
        for name in self.stages:
            node = self.node_of(name)
            if id(node) not in needed or id(node) in reused:
                continue
            key, form = self.keys.get(id(node)), format_of(node.schema)
            if key is None or form is None:
                why = self.reasons.get(id(node), "no format holds its types")
                message = f"stage '{name}': no checkpoint is written: {why}"
                self.recorder.warn(coded("GE1558", message))
                continue
            target = CheckpointTarget(
                name, form, self.store.files.at(folder_of(key)), mode="overwrite", key=key, state=self.state
            )
            writes[name] = Write(source=node, target=target, origin=Origin(KIND, name))
        return writes

    def sources_of(self, names: Mapping[str, Node]) -> dict[str, tuple[tuple[FilePath, FileState | None], ...]]:
        """Return the files that decide the rows of each of these stages."""
        found = {}
        for name in names:
            reads = (node for node in walk_graph(self.node_of(name)) if isinstance(node, Read))
            files = (
                file for read in reads if not isinstance(read.dataset, FrameDataset) for file in read.dataset.files
            )
            found[name] = tuple({str(file.path): (file.path, file.state) for file in files}.values())
        return found

    def counts_of(self, names: Sequence[str]) -> dict[str, str]:
        """Return the keys of the counts that rules of these stages need, and rules of the stages above them."""
        stages = {without_rejected(name) for name in names}
        above = {id(node) for name in names for node in walk_graph(self.node_of(name))}
        stages |= {name for name, node in self.plan.stages.items() if id(node) in above}
        wanted = {name for rule in self.plan.rules if rule.stage in stages for name in (rule.counts, rule.stage)}
        keys = {name: self.keys.get(id(node)) for name, node in self.plan.checks.items() if name in wanted}
        return {name: key for name, key in keys.items() if key is not None}


def with_checkpoints(checkpoints: Checkpoints, resume: bool, write: bool) -> tuple[Plan, Checkpointing]:
    """Return the plan of a run that reads checkpoints, if it is to `resume`, and writes those that it lacks.

    Raises
    ------
    RunFailed
        Where the state folder cannot be written.
    """
    plan, found = checkpoints.plan, dict[int, Node]()
    if resume:
        found = checkpoints.reused()
        if not checkpoints.checkpointing.reports:
            checkpoints.recorder.note(nothing_reused(checkpoints))
    writes = checkpoints.written(found) if write else {}
    if writes:
        check_writable(checkpoints.store, next(iter(writes.values())).origin, checkpoints.run_id)
    names = [*writes, *checkpoints.checkpointing.reports]
    made = replace(
        checkpoints.checkpointing,
        sources=checkpoints.sources_of(writes),
        counts=checkpoints.counts_of(names),
        keys=frozenset(checkpoints.keys[id(checkpoints.node_of(name))] for name in names),
    )
    return replace(plan, checkpoints=writes).replacing(found), made


def resumed(plan: Plan, spec: PipelineSpec) -> tuple[Plan, list[str]]:
    """Return the plan of a run that resumes, and what is to be said of its checkpoints; nothing is written."""
    if plan.state is None:
        return plan, ["there is no state folder, so there is nothing to resume from"]
    checkpoints = Checkpoints(plan, spec, plan.state, Recorder(silent), "plan", "")
    found = checkpoints.reused()
    reports = checkpoints.checkpointing.reports.values()
    lines = [reused_line(report, "is") for report in reports] or [nothing_reused(checkpoints, "is")]
    return plan.replacing(found), [*checkpoints.recorder.shown_warnings, *lines]


def computed(plan: Plan, reused: Mapping[int, Node]) -> set[int]:
    """Return the nodes, by identity, that a run computes or reads where some are reused."""
    found: set[int] = set()
    stack = list(plan.roots)
    while stack:
        node = stack.pop()
        if id(node) not in found:
            found.add(id(node))
            stack += () if id(node) in reused else node.inputs
    return found


def same_columns(checkpoint: Checkpoint, schema: Schema) -> bool:
    """Tell whether a checkpoint has the columns of a stage, in its types."""
    written = {column.name: column.type for column in checkpoint.schema}
    return not checkpoint.format or list(written.items()) == list(schema.items())


def format_of(schema: Schema) -> str | None:
    """Return the format that holds all columns exactly: Parquet, else Arrow; None where neither does."""
    for name in (PARQUET, ARROW):
        if all(format_named(name).holds(dtype) for dtype in schema.values()):
            return name
    return None


def check_writable(store: CheckpointStore, origin: Origin, run_id: str) -> None:
    """Raise `RunFailed` where nothing can be written to the state folder: before any work begins.

    Another run that begins at the same time has a file of its own, so neither removes the other's folder.
    """
    name = f"{FOLDER}/{PROBE}-{run_id}"
    try:
        store.files.write(name, b"")
        store.files.delete(name)
    except OSError as error:
        place = redacted(str(store.files.path))
        message = coded("GE1557", f"cannot write to the state folder {place}: {system_reason(error) or error}")
        hint = "Make it writable, name another with the key state, or leave checkpoint out."
        raise RunFailed.at(origin, message, hint) from error


def reused_line(report: CheckpointReport, verb: Literal["was", "is"] = "was") -> str:
    """Say which checkpoint a stage was read from."""
    rows = f"{report.rows:,} row{'s' * (report.rows != 1)}"
    return (
        f"stage '{report.stage}' {verb} read from the checkpoint of run {report.run_id}: {rows}, {size(report.bytes)}"
    )


def nothing_reused(checkpoints: Checkpoints, verb: Literal["was", "is"] = "was") -> str:
    """Say why a run that should resume computes everything."""
    if not checkpoints.stages:
        return f"no stage has checkpoint: true, so there {verb} nothing to resume from"
    names = ", ".join(f"'{name}'" for name in checkpoints.stages)
    return f"no checkpoint of {names} is valid for these files, parameters and steps, so everything {verb} computed"


def remove_oldest(checkpointing: Checkpointing | None, limit: int | None) -> list[str]:
    """Remove the oldest checkpoints where all take more than a limit, but none that the run wrote or read; say so."""
    if checkpointing is None:
        return []
    most = LIMIT_BYTES if limit is None else limit
    in_use = {*checkpointing.counts.values(), *checkpointing.keys}
    try:
        gone = list(beyond_limit(checkpointing.store.stored(), most, in_use))
        for stored in gone:
            checkpointing.store.remove(stored)
    except OSError as error:
        return [f"old checkpoints in {redacted(str(checkpointing.state))} stay: {system_reason(error) or error}"]
    if not gone:
        return []
    count = f"{len(gone)} old checkpoint{'s' * (len(gone) != 1)}"
    return [f"removed {count} of {size(sum(one.bytes for one in gone))}: all may take {size(most)}"]
