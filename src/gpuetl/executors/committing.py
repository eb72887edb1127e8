"""The end of a run's sinks: those without rows are looked at, then all are committed together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from gpuetl.errors import RunFailed
from gpuetl.executors.row_changes import RowChanges
from gpuetl.formats.added_columns import added_beside
from gpuetl.formats.frames import FrameDataset
from gpuetl.io.commit import commit_sinks
from gpuetl.io.staging import SinkWriter
from gpuetl.messages import coded, redacted
from gpuetl.places.paths import is_hidden
from gpuetl.places.publishing import StagedSink
from gpuetl.places.registry import filesystem_of, publisher_of
from gpuetl.plan.nodes import Read, Write
from gpuetl.plan.plan import Plan
from gpuetl.records import dataclass
from gpuetl.state.run_store import RunStore
from gpuetl.telemetry.recorder import Recorder

MOST_COLUMNS = 6
MOST_FILES = 3
OTHER_CHOICES = "Set on_empty: keep to leave the target as it is, or on_empty: error to stop the run"


def commit(
    writers: Mapping[str, SinkWriter], recorder: Recorder, state: Sequence[StagedSink] = ()
) -> tuple[SinkReport, ...]:
    """Move the sinks of a run into place, and the state of its pipeline, all or none; return the sinks' reports.

    Raises
    ------
    RunFailed
        For a sink without rows and with `on_empty: error`, before any sink changes.
    """
    for writer in writers.values():
        if not writer.rows and writer.target.on_empty == "error":
            hint = "Look at the rows of each step (gpuetl run --steps), or set on_empty: write or keep"
            raise writer.failed(coded("GE1506", f"got no rows, and has on_empty: error.  No sink has changed.  {hint}"))
    for writer in writers.values():
        note_earlier_files(writer, recorder)
        warn_of_other_columns(writer, recorder)
        if not writer.rows:
            warn_of_no_rows(writer, recorder)
    recorder.begin_commit()
    commit_sinks(list(writers.values()), recorder.commit, state)
    for writer in writers.values():
        warn_of_kept_rows(writer, recorder)
    return tuple(sink_report(name, writer) for name, writer in writers.items())


def recovered(plan: Plan, recorder: Recorder) -> bool:
    """Finish or undo what runs that died left at the sinks of a plan; tell whether a sink has changed by that.

    Raises
    ------
    RunFailed
        Where a sink cannot be recovered, or a source's files are those of another sink that has to be.
    """
    changed = False
    targets = [write.target for write in plan.sinks.values() if isinstance(write, Write)]
    if plan.remembered is not None and plan.state is not None:
        targets.append(RunStore.at(plan.state).target)
    for target in targets:
        remarks = publisher_of(target.path).finish_dead_runs(target.path, partial(RunFailed.at, target.origin))
        for warning in remarks.warnings:
            recorder.warn(warning)
        for note in remarks.notes:
            recorder.note(note)
        changed = changed or bool(remarks.warnings)
    for node in plan.nodes:
        if not isinstance(node, Read) or isinstance(node.dataset, FrameDataset):
            continue
        publisher = filesystem_of(node.dataset.path).publisher()
        if publisher and (problem := publisher.unfinished_commit(node.dataset.path)):
            raise RunFailed.at(node.origin, problem)
    return changed


def warn_of_other_columns(writer: SinkWriter, recorder: Recorder) -> None:
    """Warn of files that are added to a folder whose files have other columns: readers take those of one file."""
    if writer.target.mode not in ("append", "replace_partitions") or not (found := added_beside(writer)):
        return
    there, old, new = found
    changed = [f"without {name}" for name in old if name not in new] + [
        f"with {name}" for name in new if name not in old
    ]
    what = ", ".join(changed[:MOST_COLUMNS]) + ", …" * (len(changed) > MOST_COLUMNS)
    message = (
        f"sink '{writer.target.name}': the files that were added have other columns than {there}: {what}.  Write them "
        "to another folder, or write all files again"
    )
    recorder.warn(coded("GE1707", message))


def warn_of_kept_rows(writer: SinkWriter, recorder: Recorder) -> None:
    """Warn of files of others that stay in a sink's folder, and that its readers take for the sink's."""
    kept, suffix = writer.staged.foreign_kept, writer.target.suffix
    read = [name for name in kept if name.name.endswith(suffix) and not is_hidden(name.parts)]
    if not read:
        return
    named = ", ".join(map(str, read[:MOST_FILES])) + ", …" * (len(read) > MOST_FILES)
    files, them = ("1 file", "it if its") if len(read) == 1 else (f"{len(read):,} files", "them if their")
    what = f"kept {files} that gpuetl did not write, and that readers of {writer.target.path} read too: {named}"
    recorder.warn(coded("GE1721", f"sink '{writer.target.name}': {what}.  Move {them} rows do not belong there"))


def sink_report(name: str, writer: SinkWriter) -> SinkReport:
    """Say what was written to a sink."""
    path, files = redacted(str(writer.target.path)), writer.files
    if writer.leaves_target:
        return SinkReport(name, path, 0, 0, 0, written=False)
    return SinkReport(name, path, writer.rows, len(files), writer.file_bytes)


def warn_of_no_rows(writer: SinkWriter, recorder: Recorder) -> None:
    """Warn of a sink without rows; where the user chose to keep its target, it is a note."""
    target = writer.target
    head = f"sink '{target.name}' got no rows"
    if target.on_empty == "keep":
        state = "was left as it is" if writer.staged.exists() else "was not made"
        recorder.note(f"{head}: {target.path} {state} (on_empty: keep)")
    elif target.mode == "replace_partitions":
        recorder.warn(
            coded("GE1703", f"{head}: no partition of {target.path} has changed.  Set on_empty: error to stop the run")
        )
    elif target.mode == "upsert" and writer.staged.exists():
        recorder.warn(coded("GE1703", f"{head}: {target.path} has not changed.  {OTHER_CHOICES}"))
    elif target.mode == "append":
        recorder.warn(coded("GE1703", f"{head}: none were added to {target.path}.  {OTHER_CHOICES}"))
    else:
        recorder.warn(coded("GE1703", f"{head}: {target.path} is empty now.  {OTHER_CHOICES}"))


def note_earlier_files(writer: SinkWriter, recorder: Recorder) -> None:
    """Warn of files that an equal run appended; with a run key they are replaced, which is a note."""
    target = writer.target
    count = 0 if writer.leaves_target else len(writer.staged.earlier_files())
    if not count:
        return
    files = f"{count:,} file{'s' * (count > 1)}"
    if target.run_key:
        key = ", ".join(target.run_key)
        recorder.note(f"sink '{target.name}': replaced {files} that a run with the same run_key ({key}) had appended")
    elif writer.rows:
        message = (
            f"sink '{target.name}': {target.path} has {files} that the same pipeline appended before, with the same "
            "parameters: rows may be there twice.  Set run_key to the parameters that identify a run, such as "
            "run_key: [run_date]; a second append then replaces the first one's files"
        )
        recorder.warn(coded("GE1704", message))


@dataclass(frozen=True)
class SinkReport:
    """What a sink wrote; `written` is false where it got no rows and did not change its target.

    `changes` are those of rows, in mode `upsert`.
    """

    name: str
    path: str
    rows: int
    files: int
    file_bytes: int
    written: bool = True
    changes: RowChanges | None = None
