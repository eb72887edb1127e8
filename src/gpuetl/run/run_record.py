"""What a run leaves in the state folder of its pipeline, and whom it tells how it ended."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuetl import messages
from gpuetl.errors import Problems, system_reason
from gpuetl.messages import coded, redacted
from gpuetl.places.file_state import DatasetError
from gpuetl.places.paths import FilePath, check_sandbox
from gpuetl.records import dataclass
from gpuetl.report.manifests import (
    StartedRun,
    forget_oldest,
    manifest_name,
    manifest_text,
    started_name,
)
from gpuetl.report.run_report import RunReport
from gpuetl.report.writing import written_report
from gpuetl.sandbox import OutsideSandbox
from gpuetl.signals import held_signals
from gpuetl.spec.alerts import Alert
from gpuetl.state.files import StateFiles, state_files
from gpuetl.uncaught import unexpected

if TYPE_CHECKING:
    from gpuetl.spec.definition import PipelineDefinition


def new_run_id() -> str:
    """Return the id of a run: the local time, and digits that no other run has."""
    return f"{time.strftime('%Y%m%dT%H%M%S')}-{uuid.uuid4().hex[:8]}"


NO_FOLDER = "it has no folder for it.  Name one in the file: state: PATH"


@dataclass
class RunRecord:
    """The manifest of a run, and its alerts.

    Parameters
    ----------
    run_id
        The run.
    files
        The state folder; None where the run leaves nothing there.
    failed, done
        Who is told of a run that failed, and of one that succeeded.
    problems
        What is wrong with the alerts.
    folder
        In which commands of alerts run.
    lost
        Warnings of what could not be written.
    """

    run_id: str
    files: StateFiles | None = None
    failed: tuple[Alert, ...] = ()
    done: tuple[Alert, ...] = ()
    problems: Problems = field(default_factory=Problems)
    folder: Path | None = None
    lost: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, pipeline: PipelineDefinition, params: Mapping[str, Any], run_id: str, has_manifest: bool) -> RunRecord:
        """Return the record of a run of a pipeline, which may be wrong."""
        record = cls(run_id, folder=pipeline.root if isinstance(pipeline.root, Path) else None)
        record.failed, record.done = pipeline.alerts(params, run_id, record.problems)
        if has_manifest:
            record.open(pipeline.state_folder(params, run_id))
        return record

    def open(self, path: FilePath | None) -> None:
        """Take a state folder."""
        if path is None:
            self.warn(NO_FOLDER)
            return
        try:
            check_sandbox([path])
            self.files = state_files(path)
        except OutsideSandbox as error:
            self.warn(str(error))

    @property
    def path(self) -> str:
        """Where the manifest is, or will be; empty for none."""
        return "" if self.files is None else redacted(str(self.files.at(manifest_name(self.run_id))))

    def warn(self, why: str) -> None:
        """Keep a warning of a manifest that cannot be written; nothing more is written there."""
        at = f"cannot write to the state folder {self.files.path}: " if self.files else ""
        message = coded("GE3020", f"the run leaves no manifest: {at}{why}")
        self.lost.append(redacted(messages.with_code(message, message)))
        self.files = None

    def change(self, write: Callable[[StateFiles], None]) -> None:
        """Change the state folder; one that refuses it is a warning."""
        if self.files is None:
            return
        try:
            with held_signals():
                write(self.files)
        except DatasetError as error:
            self.warn(str(error))
        except OSError as error:
            self.warn(system_reason(error) or str(error))
        except Exception as error:
            self.warn("\n".join(unexpected(error)))

    def begin(self, pipeline: str, engine: str, started: float) -> None:
        """Leave a file that says that the run has begun, and in which process."""
        run = StartedRun.here(self.run_id, pipeline, engine, started)
        self.change(lambda files: files.write(started_name(self.run_id), run.to_json()))

    def check(self) -> None:
        """Raise `InvalidPipeline` for alerts that are wrong: before the run, which may need them."""
        self.problems.check()

    def end(self, report: RunReport, place: str | Path | None = None) -> RunReport:
        """Write the manifest, send the alerts; return the report with warnings of what failed.

        `place` is where the report was written, if it was.
        """
        before = len(report.warnings)
        report = self.with_warnings(replace(report, manifest=self.path), self.lost)
        self.write(report)
        report = self.with_warnings(replace(report, manifest=self.path), self.lost)
        alerts = self.done if report.status == "done" else self.failed
        if alerts:
            from gpuetl.report.alert_sending import sent_alerts

            text = manifest_text(report.to_dict())
            failed = sent_alerts(alerts, text, self.path, report.status, self.folder)
            report = self.with_warnings(report, failed)
            if failed:
                self.write(report)
        return written_report(report, place) if len(report.warnings) > before and report.path else report

    def with_warnings(self, report: RunReport, warnings: list[str] | tuple[str, ...]) -> RunReport:
        """Return a report with warnings of what came after the run, each once; one of the report itself stays last."""
        new = tuple(one for one in warnings if one not in report.after_run)
        return replace(report, warnings=(*new, *report.warnings), after_run=(*report.after_run, *new))

    def write(self, report: RunReport) -> None:
        """Write the manifest in place of the file that says that the run has begun."""
        if self.files is None:
            return
        content = manifest_text(report.to_dict()).encode()

        def written(files: StateFiles) -> None:
            files.write(manifest_name(self.run_id), content)
            files.delete(started_name(self.run_id))
            forget_oldest(files)

        self.change(written)


def record_failure(record: RunRecord, error: BaseException, place: str | Path | None) -> None:
    """Leave the manifest of a run that ended with an error, whose report it has; nothing here hides the error."""
    report = getattr(error, "report", None)
    if not isinstance(report, RunReport):
        return
    try:
        error.report = record.end(report, place)  # type: ignore[attr-defined]
    except Exception as bug:
        error.add_note("cannot leave the manifest: " + "\n".join(unexpected(bug)))
