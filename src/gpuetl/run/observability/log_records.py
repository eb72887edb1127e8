"""A run as records of Python's `logging`, under the logger `gpuetl`.

| logger | level | record |
|---|---|---|
| gpuetl.run | INFO | run started; run finished |
| gpuetl.run | WARNING | each warning of the run, with its code |
| gpuetl.run | ERROR | why the run ended early, with code and place |
| gpuetl.stage | INFO | a source or stage has finished, with rows and seconds |
| gpuetl.commit | INFO | a sink is in place, with rows and bytes |
| gpuetl.plan | DEBUG | what was planned |

Fields such as `run_id` and `rows` are attributes of the records.  gpuetl sets no handlers: that is the program's part.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gpuetl import messages
from gpuetl.messages import redacted
from gpuetl.output_files import whole
from gpuetl.physical.nodes import Exchange
from gpuetl.plan.graph import walk_graph
from gpuetl.run.observers import RunObserver
from gpuetl.telemetry.origin import Origin
from gpuetl.units import duration, size

if TYPE_CHECKING:
    from gpuetl.report.run_report import RunReport, StageReport
    from gpuetl.run.account import Account

FIELDS = ("run_id", "pipeline", "stage", "step", "rows", "seconds", "bytes", "code")
"""The attributes of records, where they are known."""
RUN, STAGE, COMMIT, PLAN = (logging.getLogger(f"gpuetl.{name}") for name in ("run", "stage", "commit", "plan"))
logging.getLogger("gpuetl").addHandler(logging.NullHandler())  # without it, Python would print warnings


class LogObserver(RunObserver):
    """Writes records of a run."""

    def __init__(self) -> None:
        self.expected: Counter[tuple[str, str]] = Counter()
        self.done: Counter[tuple[str, str]] = Counter()
        self.logged: set[tuple[str, str]] = set()
        self.physical: object = None

    @property
    def watches_progress(self) -> bool:
        """Whether stages are to be logged when they finish."""
        return STAGE.isEnabledFor(logging.INFO)

    def log(self, account: Account, logger: logging.Logger, level: int, message: str, **fields: Any) -> None:
        """Write a record, without secrets, if a handler may want it."""
        if logger.isEnabledFor(level):
            known = {"run_id": account.run_id, "pipeline": str(account.pipeline.spec.name)}
            known |= {name: whole(value) for name, value in fields.items() if value not in (None, "")}
            logger.log(level, "%s", whole(redacted(message)), extra=known)

    def started(self, account: Account) -> None:
        """Write that the run begins."""
        choice = account.choice
        self.log(account, RUN, logging.INFO, f"run started on {choice.name} ({choice.reason})")

    def bound(self, account: Account) -> None:
        """Write the sources, stages and sinks."""
        if account.plan is not None:
            parts = (("sources", account.plan.sources), ("stages", account.plan.stages), ("sinks", account.plan.sinks))
            text = "; ".join(f"{kind}: {', '.join(names) or 'none'}" for kind, names in parts)
            self.log(account, PLAN, logging.DEBUG, text)

    def planned(self, account: Account) -> None:
        """Write what the optimizer took, and what is expected."""
        fit, seconds = account.fit, account.seconds
        if fit is not None:
            self.log(
                account, PLAN, logging.DEBUG,
                f"plan {account.fingerprint}: expects {size(fit.expected_memory)} of {size(fit.budget)} of memory; "
                f"planned in {duration(seconds.get('plan', 0.0) + seconds.get('optimize', 0.0))}",
                bytes=fit.expected_memory,
            )  # fmt: skip
            for name, took in account.passes.items():
                self.log(account, PLAN, logging.DEBUG, f"pass {name}: {duration(took)}", seconds=took)

    def progress(self, account: Account, origin: Origin, done: int, of: int) -> None:
        """Write that a source or stage has finished, when its last operation has."""
        if done < of or origin.kind not in ("source", "stage"):
            return
        with account.recorder.lock:
            self.count_operations(account)
            relation = origin.relation
            self.done[relation] += 1
            if self.done[relation] == self.expected[relation]:
                for stage in account.stages(finished=False):
                    if (stage.kind, stage.name) == relation:
                        self.stage_finished(account, stage)

    def count_operations(self, account: Account) -> None:
        """Count the operations of each source and stage of the plan that runs, which may be another than before."""
        if account.physical is None or account.physical is self.physical:
            return
        self.physical = account.physical
        self.done.clear()
        nodes = walk_graph(*account.physical.roots)
        self.expected = Counter(node.origin.relation for node in nodes if not isinstance(node, Exchange))

    def stage_finished(self, account: Account, stage: StageReport) -> None:
        """Write that a source or stage has finished, once."""
        if (stage.kind, stage.name) in self.logged:
            return
        self.logged.add((stage.kind, stage.name))
        text = f"{stage.kind} {stage.name} finished: {stage.rows_out:,} rows in {duration(stage.seconds)}"
        self.log(
            account, STAGE, logging.INFO, text, stage=stage.name, rows=stage.rows_out, seconds=round(stage.seconds, 6),
            bytes=stage.file_bytes or None,
        )  # fmt: skip

    def ended(self, account: Account, report: RunReport, error: BaseException | None) -> Iterable[str]:
        """Write the stages that are not known yet to have finished, sinks, warnings, and how the run ended."""
        if error is None or report.broken:
            for stage in report.stages:
                if stage.kind in ("source", "stage"):
                    self.stage_finished(account, stage)
        for sink in report.sinks if error is None else ():
            files = f"{sink.files:,} file{'s' * (sink.files != 1)}"
            text = f"sink {sink.name} committed: {sink.rows:,} rows, {size(sink.file_bytes)} in {files}"
            if not sink.written:
                text = f"sink {sink.name} left as it was"
            self.log(
                account, COMMIT, logging.INFO, f"{text}: {sink.path}", stage=sink.name, rows=sink.rows,
                bytes=sink.file_bytes,
            )  # fmt: skip
        for warning in account.recorder.warnings:
            shown = messages.with_code(warning, warning)
            self.log(account, RUN, logging.WARNING, shown, code=messages.code_of(warning))
        seconds = round(report.duration_s, 6)
        if report.failure is None:
            self.log(account, RUN, logging.INFO, f"run finished: {report.summary}", seconds=seconds)
            return ()
        failure = report.failure
        self.log(
            account, RUN, logging.ERROR, f"run {report.status}: {failure.text}", seconds=seconds, code=failure.code,
            stage=failure.name if failure.relation else "", step=failure.step or None,
        )  # fmt: skip
        return ()
