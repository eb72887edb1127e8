"""Sinks in mode `upsert`: what a run does for them after its own plan, before all sinks are committed together.

See `plan/upsert.py` for the plans.  What they read and write is on disk or in the store of the target.  Each of them
runs on the run's engine, in partitions that fit memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import pyarrow as pa

from gpuetl.engines.capacity import Capacity
from gpuetl.errors import RunFailed
from gpuetl.executors.committing import SinkReport, commit, recovered
from gpuetl.executors.deferred import DeferredSinks
from gpuetl.executors.execution import Execution, accept_all, no_state
from gpuetl.executors.outputs import Outputs
from gpuetl.executors.row_changes import RowChanges
from gpuetl.formats.dataset import Dataset
from gpuetl.io.data_file import DataFile
from gpuetl.io.partition_folders import folder_names
from gpuetl.io.staging import SinkWriter
from gpuetl.messages import coded
from gpuetl.options import RunOptions
from gpuetl.places.file_state import DatasetError
from gpuetl.places.publishing import FilesRead, RunIdentity, folder_of
from gpuetl.places.registry import publisher_of
from gpuetl.plan.nodes import Write
from gpuetl.plan.plan import Plan
from gpuetl.plan.upsert import KEYS, ROWS, SPOOLED, UpsertPlans, files_at, name_below, new_rows, spooled
from gpuetl.records import dataclass
from gpuetl.run.planning import lowered_again, planned
from gpuetl.telemetry.recorder import Recorder, recording
from gpuetl.telemetry.trace import timed
from gpuetl.types.data_types import language_type, type_name
from gpuetl.value_texts import shown

MOST_COLUMNS = 5


class LookedAt(NamedTuple):
    """What is known of a sink before its rows are merged."""

    plans: UpsertPlans
    rows: int
    versions: Mapping[str, str]
    folders: frozenset[str]
    in_folders_only: bool


@dataclass(frozen=True)
class Upserts:
    """The sinks of a plan in mode `upsert`, by name."""

    plan: Plan
    writes: Mapping[str, Write]

    @classmethod
    def prepared(cls, plan: Plan, recorder: Recorder, run_id: str) -> Upserts:
        """Find the sinks of a plan; remove what dead runs left of new rows, and refuse targets that do not fit."""
        found = {name: sink for name, sink in plan.sinks.items() if isinstance(sink, Write)}
        upserts = cls(plan, {name: sink for name, sink in found.items() if sink.target.mode == "upsert"})
        with plan.pointing():
            upserts.prepare(recorder, run_id)
        return upserts

    @cached_property
    def first_plan(self) -> Plan:
        """The plan that writes the new rows beside their targets; the plan itself where there is no such sink."""
        sinks = {name: spooled(self.writes[name]) if name in self.writes else sink for name, sink in
                 self.plan.sinks.items()}  # fmt: skip
        return replace(self.plan, sinks=sinks) if self.writes else self.plan

    def prepare(self, recorder: Recorder, run_id: str) -> None:
        """Remove what runs that died left of new rows, and refuse targets that cannot be updated, before the run."""
        if not self.writes:
            return
        recovered(replace(self.first_plan, sinks={name: spooled(write) for name, write in self.writes.items()},
                          kept={}, checks={}), recorder)  # fmt: skip
        for write in self.writes.values():
            staged = publisher_of(write.target.path).stage(write.target, RunIdentity(run_id))
            staged.check_target()
            names = sorted(staged.current_versions())[:1]
            check_columns(write, target_files(write, names))

    def deferred(self) -> DeferredSinks | None:
        """Return what keeps sinks back until rows are merged; None where there are none to merge."""
        return DeferredSinks() if self.writes else None


class MergeRun(NamedTuple):
    """What the plans of upserts are executed with: the run's own, and what a plan is made for."""

    execution: Execution
    options: RunOptions
    capacity: Capacity

    def run(self, plan: Plan, recorder: Recorder, phase: str, deferred: DeferredSinks | None = None) -> Outputs:
        """Execute one plan; its seconds are those of a phase of the run."""
        own = dict[str, float]()
        execution = replace(
            self.execution,
            recorder=recorder,
            seconds=own,
            accepts=accept_all,
            deferred=deferred,
            stage_state=no_state,
            checkpointing=None,
        )
        with recording(recorder), timed(self.execution.seconds, phase), plan.pointing():
            fit = planned(plan, self.options, execution.engine, self.capacity).fit
            execution = replace(execution, options=replace(self.options, resident_bytes=fit.resident_bytes))
            again = partial(lowered_again, plan, self.options, execution.engine)
            return execution.run_to_fit(fit.plan, again, fit.partitions_ahead)[1]


def merge_and_commit(upserts: Upserts, first: Outputs, run: MergeRun) -> Outputs:
    """Merge the new rows that the first plan has written, and commit all sinks; return its outputs with their reports.

    Where what was counted is not accepted, no sink was deferred, and none changes.

    Raises
    ------
    RunFailed
        Where keys repeat or are null, or the target has other columns; and where another run has changed it.
    """
    deferred, recorder = run.execution.deferred, run.execution.recorder
    if deferred is None or not deferred.writers:
        return first
    order = list(deferred.writers)
    inner = Recorder(recorder.progress, recorder.meter, timeline=recorder.timeline)
    spools = deferred.set_aside(upserts.writes)
    looked_at = look(upserts, spools, run, inner)
    sinks = {name: one.plans.merged for name, one in looked_at.items()}
    counts = {name: one.plans.replaced for name, one in looked_at.items() if one.rows and one.plans.old.files}
    plan = replace(upserts.plan, sinks=sinks, kept={}, checks=counts, rules=(), checkpoints={})
    found = run.run(plan, inner, "merge", deferred)
    changes = {
        name: row_changes(one, deferred.writers[name], found.checks.get(name), recorder)
        for name, one in looked_at.items()
    }
    for name, one in looked_at.items():
        guard(deferred.writers[name], one)
    keep_work(upserts, inner, recorder)
    with timed(run.execution.seconds, "commit"):
        reports = commit(deferred.reorder(order), recorder, deferred.state)
    return first._replace(sinks=tuple(with_changes(report, changes) for report in reports))


def guard(writer: SinkWriter, one: LookedAt) -> None:
    """Let the commit replace what the run has read, and fail where that is not what is there any more."""
    staged, read = writer.staged, FilesRead(one.versions, one.folders, one.in_folders_only)
    staged.files_read = read
    if one.rows:
        names = [file.name for file in writer.files]
        staged.before_change.append(lambda: read.check(staged.current_versions(), names, writer.failed))


def look(upserts: Upserts, spools: Mapping[str, SinkWriter], run: MergeRun, recorder: Recorder) -> dict[str, LookedAt]:
    """Look at the new rows and at the keys of the targets; return what of them must be rewritten."""
    plans, versions, checks = dict[str, UpsertPlans](), dict[str, dict[str, str]](), {}
    for name, write in upserts.writes.items():
        staged = publisher_of(write.target.path).stage(write.target, RunIdentity(run.execution.run_id))
        try:
            versions[name] = staged.current_versions()
        except OSError as error:
            raise RunFailed.at(
                write.origin, coded("GE1508", f"cannot read {write.target.path}: {error.strerror}")
            ) from error
        own = UpsertPlans(write, spooled_rows(write, spools[name]), target_files(write, versions[name]))
        plans[name] = own
        if not spools[name].rows:
            continue
        checks[name, "nulls"], checks[name, "repeats"] = own.nulls, own.repeats
        if write.target.partition_by:
            checks[name, "partitions"] = own.new_partitions
            if not has_partitions_in_keys(write) and own.old.files:
                checks[name, "files"] = own.matched_files
    asked = {f"{kind} of {name}": node for (name, kind), node in checks.items()}
    tables: Mapping[str, pa.Table] = {}
    if asked:
        plan = replace(upserts.plan, sinks={}, kept={}, checks=asked, rules=(), checkpoints={})
        tables = run.run(plan, recorder, "find keys").checks
    looked_at = {}
    for name, own in plans.items():
        found = {kind: tables[f"{kind} of {name}"] for of, kind in checks if of == name}
        if spools[name].rows:
            check_keys(own, found, run, recorder)
        looked_at[name] = rewritten(own, found, spools[name].rows, versions[name])
    return looked_at


def has_partitions_in_keys(write: Write) -> bool:
    """Tell whether rows of equal keys are always in one partition."""
    return set(write.target.partition_by) <= set(write.target.on)


def rewritten(own: UpsertPlans, found: Mapping[str, pa.Table], rows: int, versions: Mapping[str, str]) -> LookedAt:
    """Return which partitions are rewritten, with their files."""
    write, target = own.write, own.write.target
    folders = frozenset[str]()
    names = list(versions) if rows else []
    if target.partition_by:
        if rows:
            folders = frozenset(folder_names(target.partition_by, found["partitions"].columns))
        if "files" in found:
            by_path = {str(file.path): name_below(target, file.path) for file in own.old.files}
            folders |= {folder_of(by_path[path]) for path in found["files"].column(0).to_pylist()}
        names = [name for name in names if folder_of(name) in folders]
    old = target_files(write, names)
    check_columns(write, old)
    in_folders_only = bool(target.partition_by) and has_partitions_in_keys(write)
    return LookedAt(own._replace(old=old), rows, versions, folders, in_folders_only)


def spooled_rows(write: Write, spool: SinkWriter) -> Dataset:
    """Return the new rows as they were staged."""
    files = list[DataFile]()
    for file in spool.files:
        path = spool.staged.staged_path(file.name)
        files += Dataset(write.target.name, SPOOLED, path, dict(write.schema)).files
    return new_rows(write, spool.target.path, files)


def target_files(write: Write, names: Iterable[str]) -> Dataset:
    """Return files of the target as a source; raise `RunFailed` where they lack folders of partition columns."""
    try:
        return files_at(write, names)
    except DatasetError as error:
        raise RunFailed.at(write.origin, str(error), error.hint) from error


def check_columns(write: Write, old: Dataset) -> None:
    """Refuse a target whose files have other columns than the sink writes, or of other types.

    Raises
    ------
    RunFailed
        With the first file, and what differs.
    """
    try:
        for file in old.files:
            stored = {name: language_type(dtype) for name, dtype in old.stored(file).items()}
            differences = column_differences(stored, old.own_schema)
            if differences:
                more = ", …" if len(differences) > MOST_COLUMNS else ""
                what = "; ".join(differences[:MOST_COLUMNS])
                advice = "Give the sink the columns of its target, or write all rows again with mode: overwrite"
                message = coded(
                    "GE1570", f"{file.path} has other columns than the sink writes: {what}{more}.  {advice}"
                )
                raise RunFailed.at(write.origin, message)
    except DatasetError as error:
        raise RunFailed.at(write.origin, str(error), error.hint) from error


def column_differences(stored: Mapping[str, Any], written: Mapping[str, Any]) -> list[str]:
    """Word which columns of a file are missing, are more, or have other types."""
    found = [f"it lacks '{name}'" for name in written if name not in stored]
    found += [f"it has '{name}'" for name in stored if name not in written]
    for name, dtype in written.items():
        if name in stored and stored[name] != dtype:
            there = "a type that gpuetl does not support" if stored[name] is None else type_name(stored[name])
            found.append(f"'{name}' is {there} there, and {type_name(dtype)} here")
    return found


def check_keys(own: UpsertPlans, found: Mapping[str, pa.Table], run: MergeRun, recorder: Recorder) -> None:
    """Refuse new rows of which several have one key, or whose key is null.

    Raises
    ------
    RunFailed
        With their number, and some of the keys.
    """
    write, on = own.write, ", ".join(own.on)
    nulls, repeats = found["nulls"].column(ROWS)[0].as_py(), found["repeats"].column(KEYS)[0].as_py()
    if nulls:
        rows = "1 row has" if nulls == 1 else f"{nulls:,} rows have"
        message = f"{rows} a null in the key ({on}), and null equals nothing.  No sink has changed"
        raise RunFailed.at(write.origin, coded("GE1569", message), "Fill it (fill_null), or filter such rows out.")
    if repeats:
        plan = Plan(run.execution.pipeline, {}, {}, {}, checks={"shown": own.shown_repeats})
        table = run.run(plan, recorder, "find keys").checks["shown"]
        keys = [keys_text(own.on, table, row) for row in range(table.num_rows)]
        more = ", …" if repeats > len(keys) else ""
        several = "1 key" if repeats == 1 else f"{repeats:,} keys"
        what = f"several of the new rows have the same key ({on}): {several}, {'; '.join(keys)}{more}"
        message = f"{what}.  No sink has changed"
        hint = f"Keep one row of each: distinct: {{on: [{on}], order_by: …}}."
        raise RunFailed.at(write.origin, coded("GE1568", message), hint)


def keys_text(on: Sequence[str], table: pa.Table, row: int) -> str:
    """Word a key and its number of rows, which is the last column."""
    values = ", ".join(f"{name}={shown(table.column(name)[row])}" for name in on)
    return f"{values} ({table.column(len(on))[row].as_py():,} rows)"


def row_changes(one: LookedAt, writer: SinkWriter, counts: pa.Table | None, recorder: Recorder) -> RowChanges:
    """Return what becomes of rows, and how many partitions are rewritten; note keys that the target had twice."""
    replaced, updated = 0, 0
    if counts is not None:
        replaced, updated = (counts.column(name)[0].as_py() or 0 for name in (ROWS, KEYS))
    if replaced > updated:
        recorder.note(
            f"sink '{writer.target.name}': {replaced:,} rows of the target had the keys of {updated:,} new rows: keys "
            "were there several times, and are there once now"
        )
    partitions: tuple[int, int] | None = None
    if one.plans.write.target.partition_by:
        filled = {folder_of(file.name) for file in writer.files}
        partitions = len(one.folders | filled), len({*map(folder_of, one.versions), *filled})
    return RowChanges(one.rows - updated, updated, writer.rows - one.rows, partitions)


def with_changes(report: SinkReport, changes: Mapping[str, RowChanges]) -> SinkReport:
    """Return the report of a sink with what became of its rows."""
    own = changes.get(report.name) if report.written else None
    return replace(report, changes=own) if own else report


def keep_work(upserts: Upserts, inner: Recorder, recorder: Recorder) -> None:
    """Add the work of the plans of upserts to that of the sinks, and their notes and warnings to the run's."""
    writes = {str(work.origin): work for work in recorder.work.values() if work.name == Write.__name__}
    for work in inner.work.values():
        if (own := writes.get(str(work.origin))) is not None:
            own.add(replace(work, rows_in=0, rows_out=0, partitions=0))
    for note in inner.notes:
        recorder.note(note)
    for warning in inner.warnings:
        recorder.warn(warning)
    recorder.spilled.update(inner.spilled)
    recorder.compiled += inner.compiled
    recorder.compile_seconds += inner.compile_seconds
