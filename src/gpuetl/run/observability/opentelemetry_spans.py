"""The spans of a run in OpenTelemetry, made from its report and from what was recorded of its steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gpuetl.messages import redacted
from gpuetl.version import __version__

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer, TracerProvider

    from gpuetl.report.failure import Failure
    from gpuetl.report.run_report import RunReport
    from gpuetl.run.account import Account
    from gpuetl.telemetry.recorder import Work
    from gpuetl.telemetry.timeline import Interval, TrackReport

Attributes = dict[str, Any]
SCOPE = "gpuetl"


def root_span(provider: TracerProvider, account: Account, parent: Context | None) -> Span:
    """Begin the span of a run, at the time when it began."""
    attributes = {
        "gpuetl.pipeline": str(account.pipeline.spec.name),
        "gpuetl.run_id": account.run_id,
        "gpuetl.engine": account.choice.name,
        "gpuetl.engine.reason": account.choice.reason,
    }
    tracer = provider.get_tracer(SCOPE, __version__)
    name = f"run {account.pipeline.spec.name}"
    return tracer.start_span(name, parent, attributes=attributes, start_time=nanoseconds(account.timeline.start_unix))


def end_spans(provider: TracerProvider, root: Span, account: Account, report: RunReport) -> None:
    """Make the spans below that of a run, and end it."""
    tracer = provider.get_tracer(SCOPE, __version__)
    Spans(tracer, report).make(root, list(account.recorder.work.values()))
    attributes: Attributes = {
        "gpuetl.status": report.status, "gpuetl.device": report.device, "gpuetl.plan.fingerprint": report.fingerprint,
        "gpuetl.rows": sum(sink.rows for sink in report.sinks), "gpuetl.memory.peak": report.memory_peak,
        "gpuetl.bytes": sum(sink.file_bytes for sink in report.sinks), "gpuetl.warnings": len(report.warnings),
    }  # fmt: skip
    root.set_attributes(known(attributes))
    if report.failure is not None:
        mark_failed(root, report.failure)
    root.end(nanoseconds(report.started + report.duration_s))


class Spans:
    """Makes the spans below that of a run, from its report; times are in seconds since the run began."""

    def __init__(self, tracer: Tracer, report: RunReport) -> None:
        self.tracer, self.report = tracer, report

    def make(self, root: Span, works: Iterable[Work]) -> None:
        """Make a span for each track: phases below the run, all else below the phase in which it ran."""
        tracks = self.report.timeline
        phases = {
            one.name: self.span(("phase", one.name, 0), one.name, root, bounds(one)) for one in of(tracks, "phase")
        }
        sinks: dict[str, Span] = {}
        by_stage: dict[str, list[Work]] = {}
        for work in works:
            if work.origin.kind == "stage" and work.origin.step and work.began_unix:
                by_stage.setdefault(work.origin.name, []).append(work)
        for one in sorted(tracks, key=lambda one: one.kind == "write"):  # below their sinks
            if one.kind == "phase":
                continue
            above = sinks.get(one.name) if one.kind == "write" else None
            name, attributes = f"{one.kind} {one.name}".rstrip(), self.attributes(one)
            span = self.span((one.kind, one.name, 0), name, above or phases.get("run", root), bounds(one), attributes)
            if one.kind == "sink":
                sinks[one.name] = span
            if one.kind == "stage":
                self.steps(span, one.name, by_stage.get(one.name, ()))

    def steps(self, stage: Span, name: str, works: Iterable[Work]) -> None:
        """Make the spans of a stage's steps, from the work that was recorded of them."""
        found: dict[int, list[Work]] = {}
        for work in works:
            found.setdefault(work.origin.step, []).append(work)
        own = [one for one in self.report.stages if (one.kind, one.name) == ("stage", name)]
        rows = {step.step: step for one in own for step in reversed(one.steps)}
        for number, each in sorted(found.items()):
            step = rows.get(number)
            verb = step.verb if step else each[0].name.lower()
            attributes = {
                "gpuetl.stage": name, "gpuetl.step": number, "gpuetl.step.verb": verb,
                "gpuetl.rows.in": step.rows_in if step else None, "gpuetl.rows.out": step.rows_out if step else None,
                "gpuetl.seconds": sum(work.seconds for work in each), "gpuetl.engine": self.report.engine,
            }  # fmt: skip
            start = self.report.started
            began, ended = min(work.began_unix for work in each), max(work.ended_unix for work in each)
            times = began - start, ended - start
            self.span(("stage", name, number), f"step {number} {verb}", stage, times, attributes)

    def attributes(self, track: TrackReport) -> Attributes:
        """Return what the report says of a source, stage, sink or worker."""
        found: Attributes = {"gpuetl.busy_seconds": track.busy_s}
        for stage in self.report.stages:
            if (stage.kind, stage.name) == (track.kind, track.name):
                found |= {
                    f"gpuetl.{stage.kind}": stage.name, "gpuetl.engine": self.report.engine,
                    "gpuetl.rows.in": stage.rows_in, "gpuetl.rows.out": stage.rows_out,
                    "gpuetl.bytes": stage.file_bytes or None, "gpuetl.device": stage.device,
                    "gpuetl.seconds": stage.seconds, "gpuetl.memory.peak": stage.peak_bytes,
                }  # fmt: skip
        for sink in self.report.sinks:
            if track.kind in ("sink", "write") and sink.name == track.name:
                found |= {
                    "gpuetl.sink": sink.name, "gpuetl.engine": self.report.engine, "gpuetl.rows.out": sink.rows,
                    "gpuetl.bytes": sink.file_bytes, "gpuetl.files": sink.files, "gpuetl.path": sink.path,
                }  # fmt: skip
        return found

    def span(
        self, key: tuple[str, str, int], name: str, above: Span, times: Interval, attributes: Attributes | None = None
    ) -> Span:
        """Make a span below another; `key` is its place: where the run failed, it is marked."""
        from opentelemetry import trace

        start, end = (nanoseconds(self.report.started + seconds) for seconds in times)
        context = trace.set_span_in_context(above)
        span = self.tracer.start_span(redacted(name), context, attributes=known(attributes or {}), start_time=start)
        failure = self.report.failure
        if failure is not None and key in (
            (failure.relation, failure.name, failure.step),
            (failure.relation, failure.name, 0),
        ):
            mark_failed(span, failure)
        span.end(end)
        return span


def of(tracks: Iterable[TrackReport], kind: str) -> list[TrackReport]:
    """Return the tracks of a kind."""
    return [one for one in tracks if one.kind == kind]


def bounds(track: TrackReport) -> Interval:
    """Return when a track was at work first and last."""
    return track.intervals[0][0], max(end for _, end in track.intervals)


def mark_failed(span: Span, failure: Failure) -> None:
    """Give a span the status and the attributes of a failure."""
    from opentelemetry.trace import Status, StatusCode

    first = failure.message.split("\n", 1)[0]
    span.set_status(Status(StatusCode.ERROR, first))
    span.set_attributes(known({"error.type": failure.code or failure.kind, "gpuetl.error.code": failure.code}))
    attributes = {"exception.type": failure.code or failure.kind, "exception.message": failure.text}
    span.add_event("exception", known(attributes))


def known(attributes: Attributes) -> Attributes:
    """Return the attributes that are known, without secrets."""
    return {
        name: redacted(value) if isinstance(value, str) else value
        for name, value in attributes.items()
        if value not in (None, "")
    }


def nanoseconds(unix: float) -> int:
    """Return a time in nanoseconds."""
    return int(unix * 1e9)
