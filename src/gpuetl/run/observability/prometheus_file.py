"""A run as metrics in a file of Prometheus' text format, which the textfile collector of node_exporter reads.

The file has the last run of one pipeline.  It is replaced in one step, so that a collector never reads half of it.  The
time of the last success is kept from the file before where a run fails.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from gpuetl.errors import system_reason
from gpuetl.messages import coded, redacted
from gpuetl.output_files import write_whole
from gpuetl.run.observers import RunObserver
from gpuetl.version import __version__

if TYPE_CHECKING:
    from gpuetl.report.run_report import RunReport
    from gpuetl.run.account import Account

LAST_SUCCESS = "gpuetl_run_last_success_timestamp_seconds"


class MetricsFile(RunObserver):
    """Writes the metrics of a run to a file when it ends."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def ended(self, account: Account, report: RunReport, error: BaseException | None) -> Iterable[str]:
        """Write the file; return a warning where that fails, or where it was another pipeline's."""
        warnings: list[str] = []
        last = self.last_success(report.pipeline, warnings)
        if error is None:
            last = report.started + report.duration_s
        try:
            write_whole(self.path, metrics_text(report, last))
        except OSError as problem:
            warnings.append(coded("GE3033", f"cannot write metrics to {self.path}: {system_reason(problem)}"))
        return warnings

    def last_success(self, pipeline: str, warnings: list[str]) -> float | None:
        """Return when the pipeline last succeeded, as the file says; warn where it is another's."""
        if not self.path.is_file():
            return None
        try:
            families = list(text_string_to_metric_families(self.path.read_text(encoding="utf-8")))
        except (OSError, ValueError) as problem:
            what = f"{self.path} was no file of metrics, and is replaced: {problem}"
            warnings.append(coded("GE3034", what))
            return None
        samples = [sample for family in families for sample in family.samples]
        others = {sample.labels.get("pipeline", sample.name) for sample in samples} - {pipeline}
        if others:
            what = f"{self.path} had metrics of pipeline '{min(others)}', which are gone"
            warnings.append(coded("GE3034", f"{what}: each pipeline needs a file of its own"))
        found = [
            sample.value for sample in samples if sample.name == LAST_SUCCESS and sample.labels["pipeline"] == pipeline
        ]
        return found[0] if found else None


ROWS = "Rows out of a source or stage, or written to a sink."
BYTES = "Bytes read from files of a source, or written to files of a sink."


def metrics_text(report: RunReport, last_success: float | None) -> bytes:
    """Return the metrics of a run."""
    gauges = Gauges({"pipeline": report.pipeline, "engine": report.engine})
    info = {"version": __version__, "device": report.device}
    gauges.add("info", "The version of gpuetl that ran, and where: GPU, CPU or MIXED.", 1, **info)
    gauges.add("success", "1 if the last run wrote its sinks, 0 if it failed.", float(report.failure is None))
    gauges.add("duration_seconds", "How long the last run took.", report.duration_s)
    gauges.add("end_timestamp_seconds", "When the last run ended.", report.started + report.duration_s)
    for phase, seconds in report.seconds.items():
        gauges.add("phase_seconds", "How long each phase of the last run took.", seconds, phase=phase)
    add_stages(gauges, report)
    failed = sum(check.verdict == "failed" for check in report.checks)
    gauges.add("failed_expectations", "How many rules failed, so that no sink has changed.", failed)
    for check in report.checks:
        labels = {"stage": check.stage, "rule": redacted(check.rule)}
        gauges.add("expectation_broken_rows", "How many rows break a rule.", check.broken, **labels)
    gauges.add("warnings", "How many warnings the last run gave.", len(report.warnings))
    if peak := report.memory_peak:
        gauges.add("memory_peak_bytes", "The most memory in use during the last run.", peak)
    if last_success is not None:
        of = Gauge(LAST_SUCCESS, "When a run of the pipeline last succeeded.", ["pipeline"], registry=gauges.registry)
        of.labels(report.pipeline).set(last_success)
    return generate_latest(gauges.registry)


def add_stages(gauges: Gauges, report: RunReport) -> None:
    """Add rows, bytes and seconds of sources, stages and sinks."""
    for stage in report.stages:
        labels = {"kind": stage.kind, "stage": stage.name}
        if stage.kind in ("source", "stage"):
            gauges.add("rows", ROWS, stage.rows_out, **labels)
            gauges.add("stage_seconds", "Seconds of work of a source or stage.", stage.seconds, **labels)
        if stage.kind == "source":
            gauges.add("bytes", BYTES, stage.file_bytes, **labels)
    for sink in report.sinks:
        labels = {"kind": "sink", "stage": sink.name}
        gauges.add("rows", ROWS, sink.rows, **labels)
        gauges.add("bytes", BYTES, sink.file_bytes, **labels)


class Gauges:
    """Gauges by name, with the labels that all of them have."""

    def __init__(self, labels: dict[str, str]) -> None:
        self.labels, self.registry = labels, CollectorRegistry()
        self.gauges: dict[str, Gauge] = {}

    def add(self, name: str, doc: str, value: float, **labels: str) -> None:
        """Add a value."""
        known = {**self.labels, **labels}
        if name not in self.gauges:
            self.gauges[name] = Gauge(f"gpuetl_run_{name}", doc, list(known), registry=self.registry)
        self.gauges[name].labels(**known).set(value)
