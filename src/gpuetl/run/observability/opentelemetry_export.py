"""A run as a trace and metrics of OpenTelemetry.

    run daily                       gpuetl.pipeline, gpuetl.run_id, gpuetl.engine, gpuetl.rows, …
      plan
      run
        source flights              gpuetl.rows.out, gpuetl.bytes
        stage routes                gpuetl.rows.in, gpuetl.rows.out
          step 1 filter
          step 2 aggregate
        sink routes_out
          write routes_out          gpuetl.bytes
      commit

All is made when the run has ended, from its report and from what was recorded: a run that is traced does nothing more
for it.  Where the program has a tracer provider, spans go there, below the span that is current, and the run's own span
is current while it lasts.  Else they are sent by OTLP over HTTP, as the variables OTEL_… say, below the span that the
variable TRACEPARENT names.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from gpuetl.messages import coded
from gpuetl.run.observability.libraries import LIMIT_S
from gpuetl.run.observability.opentelemetry_spans import SCOPE, end_spans, known, root_span
from gpuetl.run.observers import RunObserver
from gpuetl.version import __version__

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Span, TracerProvider

    from gpuetl.report.run_report import RunReport
    from gpuetl.run.account import Account

QUIET = logging.NullHandler()


# What the program has set up.


def running_tracer_provider() -> TracerProvider | None:
    """Return the tracer provider that the program has set, if it has; nothing is imported for that."""
    trace = sys.modules.get("opentelemetry.trace")
    provider = trace.get_tracer_provider() if trace else None
    is_set = trace and not isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider)
    return provider if is_set else None


def running_meter_provider() -> MeterProvider | None:
    """Return the meter provider that the program has set, if it has."""
    metrics = sys.modules.get("opentelemetry.metrics")
    provider = metrics.get_meter_provider() if metrics else None
    is_set = provider is not None and type(provider).__name__ not in ("_ProxyMeterProvider", "NoOpMeterProvider")
    return provider if is_set else None


def check_libraries() -> None:
    """Raise `ImportError` where the SDK or the exporter is not installed; to import them takes 0.2 s."""
    for name in ("opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http"):
        if find_spec(name) is None:
            raise ImportError(f"No module named '{name}'")


# The observer.


class OpenTelemetryObserver(RunObserver):
    """Sends a trace and metrics of a run; `exports` says whether also what no provider of the program's takes."""

    def __init__(self, exports: bool) -> None:
        self.exports = exports
        self.provider = running_tracer_provider()
        self.meters = running_meter_provider()
        self.root: Span | None = None
        self.token: Any = None
        if exports and (self.provider is None or self.meters is None):
            check_libraries()

    def started(self, account: Account) -> None:
        """Begin the run's span in the program's trace, if there is one, and make it the current one."""
        if self.provider is not None:
            from opentelemetry import context, trace

            self.root = root_span(self.provider, account, None)
            self.token = context.attach(trace.set_span_in_context(self.root))

    def ended(self, account: Account, report: RunReport, error: BaseException | None) -> Iterable[str]:
        """Make the spans and metrics, and send those that no provider of the program's takes; return warnings."""
        if self.root is not None and self.provider is not None:
            from opentelemetry import context

            context.detach(self.token)
            end_spans(self.provider, self.root, account, report)
        if self.meters is not None:
            record_metrics(self.meters, report)
        jobs: list[Job] = []
        if not self.exports:
            return ()
        if self.provider is None and os.environ.get("OTEL_TRACES_EXPORTER", "otlp") != "none":
            jobs.append(("trace", lambda sending: send_trace(account, report, sending)))
        if self.meters is None and os.environ.get("OTEL_METRICS_EXPORTER", "otlp") != "none":
            jobs.append(("metrics", lambda sending: send_metrics(report, sending)))
        return send(jobs)


# Metrics.


def record_metrics(provider: MeterProvider, report: RunReport) -> None:
    """Record the metrics of a run."""
    meter = provider.get_meter(SCOPE, __version__)
    run = {"gpuetl.pipeline": report.pipeline, "gpuetl.engine": report.engine}
    status = {**run, "gpuetl.status": report.status}
    meter.create_counter("gpuetl.runs", "{run}", "Runs that ended.").add(1, status)
    meter.create_histogram("gpuetl.run.duration", "s", "How long a run took.").record(report.duration_s, status)
    rows = meter.create_counter("gpuetl.rows", "{row}", "Rows out of sources and stages, and written to sinks.")
    moved = meter.create_counter("gpuetl.bytes", "By", "Bytes read from files of sources, and written to sinks.")
    seconds = meter.create_histogram("gpuetl.stage.duration", "s", "Seconds of work of a source or stage.")
    for stage in report.stages:
        labels = {**run, "gpuetl.kind": stage.kind, "gpuetl.stage": stage.name}
        if stage.kind in ("source", "stage"):
            rows.add(stage.rows_out, labels)
            seconds.record(stage.seconds, labels)
        if stage.kind == "source":
            moved.add(stage.file_bytes, labels)
    for sink in report.sinks:
        labels = {**run, "gpuetl.kind": "sink", "gpuetl.stage": sink.name}
        rows.add(sink.rows, labels)
        moved.add(sink.file_bytes, labels)
    if peak := report.memory_peak:
        meter.create_gauge("gpuetl.memory.peak", "By", "The most memory in use during a run.").set(peak, run)
    for check in report.checks:
        labels = {**run, "gpuetl.stage": check.stage, "gpuetl.rule": check.rule, "gpuetl.verdict": check.verdict}
        broken = meter.create_counter("gpuetl.expectation.broken_rows", "{row}", "Rows that break a rule.")
        broken.add(check.broken, known(labels))


# Sending, in threads that the run waits for no longer than a limit.


class Sending:
    """An exporter at work, which can be told to stop; `is_sent` is whether a receiver has taken what it sends."""

    def __init__(self) -> None:
        self.exporter: Any = None
        self.is_sent = False
        self.error = ""

    def stop(self) -> None:
        """Stop waiting for the receiver."""
        if self.exporter is not None:
            self.exporter.shutdown()


Job = tuple[str, Callable[[Sending], None]]


def send(jobs: Sequence[Job]) -> Iterator[str]:
    """Do jobs at the same time; return warnings of those that failed or took too long."""
    if os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf") == "grpc" and jobs:
        what = "OTEL_EXPORTER_OTLP_PROTOCOL is grpc, and gpuetl sends http/protobuf: nothing was sent"
        yield coded("GE3032", f"OpenTelemetry: {what}")
        return
    logging.getLogger("opentelemetry").addHandler(
        QUIET
    )  # else Python prints what the library logs, besides the warning
    limit = limit_s()
    running = [
        (name, sending := Sending(), Thread(target=guarded, args=(job, sending), daemon=True)) for name, job in jobs
    ]
    for _, _, thread in running:
        thread.start()
    deadline, problems = monotonic() + limit, dict[str, list[str]]()
    for name, sending, thread in running:
        thread.join(max(0.0, deadline - monotonic()))
        if thread.is_alive():
            sending.stop()
        if not sending.is_sent:
            problem = sending.error or f"no receiver has taken them within {limit:g} s"
            problems.setdefault(problem, []).append(name)
    for problem, names in problems.items():
        yield coded("GE3032", f"OpenTelemetry: {' and '.join(names)} not sent: {problem}")


def guarded(job: Callable[[Sending], None], sending: Sending) -> None:
    """Do a job; keep what it raises."""
    try:
        job(sending)
    except Exception as error:
        sending.error = f"{type(error).__name__}: {error}"


def limit_s() -> float:
    """Return how long to wait at most, in seconds."""
    try:
        return float(os.environ.get("OTEL_EXPORTER_OTLP_TIMEOUT") or LIMIT_S)
    except ValueError:
        return LIMIT_S


def resource() -> Any:
    """Return what the spans and metrics are of: OTEL_SERVICE_NAME, by default gpuetl."""
    from opentelemetry.sdk.resources import Resource

    named = os.environ.get("OTEL_SERVICE_NAME") or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    own = {} if named else {"service.name": "gpuetl", "service.version": __version__}
    return Resource.create(own)


def send_trace(account: Account, report: RunReport, sending: Sending) -> None:
    """Make the spans of a run, and send them."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    memory, provider = InMemorySpanExporter(), TracerProvider(resource=resource(), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    carrier = {name.lower(): os.environ[name] for name in ("TRACEPARENT", "TRACESTATE") if name in os.environ}
    parent = TraceContextTextMapPropagator().extract(carrier) if carrier else None
    end_spans(provider, root_span(provider, account, parent), account, report)
    sending.exporter = OTLPSpanExporter(timeout=limit_s())
    done = sending.exporter.export(memory.get_finished_spans())
    sending.is_sent = done is SpanExportResult.SUCCESS


def send_metrics(report: RunReport, sending: Sending) -> None:
    """Make the metrics of a run, and send them."""
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricExportResult

    sending.exporter = OTLPMetricExporter(timeout=limit_s())
    reader = InMemoryMetricReader(sending.exporter._preferred_temporality, sending.exporter._preferred_aggregation)
    provider = MeterProvider([reader], resource=resource(), shutdown_on_exit=False)
    record_metrics(provider, report)
    data = reader.get_metrics_data()
    done = sending.exporter.export(data) if data else MetricExportResult.SUCCESS
    sending.is_sent = done is MetricExportResult.SUCCESS
