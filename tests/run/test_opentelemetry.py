"""Traces and metrics of runs, received by a real OTLP/HTTP receiver on loopback, or by a program's own provider."""

from __future__ import annotations

import subprocess
import sys
import time
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl
from gpuetl import RunFailed, RunOptions, Telemetry, load
from receivers import receiver

pytest.importorskip("opentelemetry.sdk.trace")
pytest.importorskip("opentelemetry.exporter.otlp.proto.http")

TEXT = """\
gpuetl: 1
name: daily
sources: {rows: {parquet: rows.parquet}}
stages:
  kept:
    from: rows
    steps:
      - filter: x > 1
      - with_columns: {y: CAST(x AS int8)}
    expect:
      - {name: small, that: x < 100, on_fail: warn}
sinks: {out: {from: kept, parquet: out.parquet, mode: overwrite}}
"""
SENT = RunOptions(telemetry=Telemetry(otel=True))


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    import os

    for name in os.environ:
        if name.startswith(("OTEL_", "TRACE")):
            monkeypatch.delenv(name)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text(TEXT)
    pq.write_table(pa.table({"x": [1, 2, 3, 120]}), tmp_path / "rows.parquet")
    return path


def plain(value):
    kind = value.WhichOneof("value")
    return getattr(value, kind)


def spans_of(server):
    """Return the spans that a receiver got, by name, with their parents' names, and the resource."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    (body,) = server.bodies("/v1/traces")
    (resource,) = ExportTraceServiceRequest.FromString(body).resource_spans
    found = [span for scope in resource.scope_spans for span in scope.spans]
    names = {span.span_id: span.name for span in found}
    assert len({span.trace_id for span in found}) == 1
    spans = {
        span.name: SimpleNamespace(
            parent=names.get(span.parent_span_id, span.parent_span_id.hex()),
            start=span.start_time_unix_nano / 1e9,
            end=span.end_time_unix_nano / 1e9,
            status=span.status,
            attributes={one.key.removeprefix("gpuetl."): plain(one.value) for one in span.attributes},
            events=[(event.name, {one.key: plain(one.value) for one in event.attributes}) for event in span.events],
            trace_id=span.trace_id.hex(),
        )
        for span in found
    }
    assert len(spans) == len(found)
    return spans, {one.key: plain(one.value) for one in resource.resource.attributes}


def metrics_of(server):
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

    (body,) = server.bodies("/v1/metrics")
    (resource,) = ExportMetricsServiceRequest.FromString(body).resource_metrics
    found = {}
    for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
        data = getattr(metric, metric.WhichOneof("data"))
        for point in data.data_points:
            labels = {one.key.removeprefix("gpuetl."): plain(one.value) for one in point.attributes}
            value = (
                point.count if metric.WhichOneof("data") == "histogram" else getattr(point, point.WhichOneof("value"))
            )
            found[metric.name, *(labels[name] for name in sorted(labels) if name not in ("pipeline", "engine"))] = value
    return found


@pytest.mark.parametrize("engine", ["pandas", "dask"])
def test_the_trace_of_a_run(file, tmp_path, monkeypatch, engine):
    with receiver() as server:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url)
        before = time.time()
        report = load(file).run(engine=engine).report
        after = time.time()
    assert report.warnings == (f"{file}:11:29: stage 'kept': rule 'small': 1 of 3 rows (33.3 %) breaks it",)
    spans, resource = spans_of(server)
    size = (tmp_path / "out.parquet").stat().st_size
    parents = {
        name: span.parent for name, span in spans.items() if not name.startswith(("worker", "compil", "cluster"))
    }
    writes = {"write out": "sink out"} if engine == "pandas" else {}  # of workers, the sink's span says when
    assert parents == {
        "run daily": "", "plan": "run daily", "load": "run daily", "optimize": "run daily", "run": "run daily",
        "commit": "run daily", "source rows": "run", "stage kept": "run", "step 1 filter": "stage kept",
        "step 2 with_columns": "stage kept", "expect kept": "run", "sink out": "run", **writes,
    }  # fmt: skip
    root = spans["run daily"].attributes
    assert {name: root[name] for name in ("pipeline", "run_id", "engine", "status", "rows", "bytes", "warnings")} == {
        "pipeline": "daily", "run_id": report.run_id, "engine": engine, "status": "done", "rows": 3, "bytes": size,
        "warnings": 1,
    }  # fmt: skip
    assert root["memory.peak"] >= 0
    kept, sink, source = (spans[name].attributes for name in ("stage kept", "sink out", "source rows"))
    assert (kept["rows.in"], kept["rows.out"], kept["engine"]) == (4, 3, engine)
    assert (sink["rows.out"], sink["bytes"], sink["files"]) == (3, size, 1)
    assert (source["rows.out"], source["bytes"] > 0) == (4, True)
    first, second = (spans[name].attributes for name in ("step 1 filter", "step 2 with_columns"))
    assert (first["rows.in"], first["rows.out"], first["step"], first["stage"]) == (4, 3, 1, "kept")
    assert (second["rows.in"], second["rows.out"]) == (3, 3)
    assert all(before - 0.01 <= span.start <= span.end <= after + 0.01 for span in spans.values())
    assert {span.status.code for span in spans.values()} == {0}
    assert resource["service.name"] == "gpuetl"


def test_the_metrics_of_a_run(file, tmp_path, monkeypatch):
    with receiver() as server:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url)
        load(file).run(engine="pandas")
    found = metrics_of(server)
    source = found.pop(("gpuetl.bytes", "source", "rows"))
    assert 0 < source <= (tmp_path / "rows.parquet").stat().st_size
    assert found.pop(("gpuetl.memory.peak",)) > 0
    assert found == {
        ("gpuetl.runs", "done"): 1,
        ("gpuetl.run.duration", "done"): 1,
        ("gpuetl.rows", "source", "rows"): 4,
        ("gpuetl.rows", "stage", "kept"): 3,
        ("gpuetl.rows", "sink", "out"): 3,
        ("gpuetl.bytes", "sink", "out"): (tmp_path / "out.parquet").stat().st_size,
        ("gpuetl.stage.duration", "source", "rows"): 1,
        ("gpuetl.stage.duration", "stage", "kept"): 1,
        ("gpuetl.expectation.broken_rows", "small", "kept", "warned"): 1,
    }


def test_a_run_that_fails_marks_the_step(file, tmp_path, monkeypatch):
    pq.write_table(pa.table({"x": [2, 300]}), tmp_path / "rows.parquet")
    with receiver() as server:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url)
        monkeypatch.setenv("OTEL_SERVICE_NAME", "nightly")
        with pytest.raises(RunFailed):
            load(file).run(engine="pandas")
    spans, resource = spans_of(server)
    assert resource["service.name"] == "nightly"
    failed = {name for name, span in spans.items() if span.status.code == 2}
    assert failed == {"run daily", "stage kept", "step 2 with_columns"}
    root = spans["run daily"]
    assert root.status.message.startswith(f"{file}:9:27: stage 'kept', step 2: column 'y'")
    assert (root.attributes["error.code"], root.attributes["status"]) == ("GE2002", "failed")
    ((event, attributes),) = root.events
    assert (event, attributes["exception.type"]) == ("exception", "GE2002")
    assert attributes["exception.message"].endswith("no sink has changed")
    assert "commit" not in spans
    assert metrics_of(server)["gpuetl.runs", "failed"] == 1


def test_a_run_that_fails_while_planning_is_traced(file, monkeypatch):
    file.write_text(TEXT.replace("x > 1", "nowhere > 1"))
    with receiver() as server:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url)
        assert gpuetl("run", file, "--engine", "pandas", "--no-report").exit_code == 2
    spans, _ = spans_of(server)
    assert set(spans) == {"run daily", "plan"}
    assert spans["run daily"].attributes["error.code"] == "GE1003"


def test_secrets_are_not_sent(file, tmp_path, monkeypatch):
    monkeypatch.setenv("PLACE", "verysecretplace")
    (tmp_path / "verysecretplace").mkdir()
    file.write_text(TEXT.replace("out.parquet", "'${env.PLACE}/out.parquet'"))
    with receiver() as server:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url)
        load(file).run(engine="pandas")
        assert not any(b"verysecretplace" in body for _, body in server.requests)
    spans, _ = spans_of(server)
    assert spans["sink out"].attributes["path"].endswith("${env.PLACE}/out.parquet")


def test_it_joins_the_trace_that_the_environment_names(file, monkeypatch):
    trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    with receiver() as server:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url)
        monkeypatch.setenv("TRACEPARENT", f"00-{trace}-{parent}-01")
        load(file).run(engine="pandas")
    spans, _ = spans_of(server)
    assert (spans["run daily"].trace_id, spans["run daily"].parent) == (trace, parent)


def test_it_joins_the_trace_of_a_program(file):
    """The spans go to the program's provider, below its span, and the run's span is current while it lasts."""
    code = """\
import sys
import gpuetl
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

memory, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(memory))
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("program")
seen = []
with tracer.start_as_current_span("job"):
    gpuetl.load(sys.argv[1]).run(engine="pandas", progress=lambda *_: seen.append(trace.get_current_span().name))
    assert trace.get_current_span().name == "job"
spans = {span.name: span for span in memory.get_finished_spans()}
names = {span.context.span_id: span.name for span in spans.values()}
assert names[spans["run daily"].parent.span_id] == "job"
assert names[spans["step 1 filter"].parent.span_id] == "stage kept"
assert "run daily" in seen, seen
assert "opentelemetry.exporter" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code, file], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("status", "delay_s"), [(400, 0.0), (200, 30.0)])
def test_a_receiver_that_fails_or_hangs_is_a_warning_after_a_limited_time(file, monkeypatch, status, delay_s):
    load(file).run(engine="pandas", options=RunOptions(telemetry=Telemetry(otel=False)))
    with receiver(status, delay_s) as server:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
        start = time.monotonic()
        run = load(file).run(engine="pandas")
        took = time.monotonic() - start
    assert run.report.warnings[1:] == (
        "OpenTelemetry: trace and metrics not sent: no receiver has taken them within 1 s",
    )
    assert took < 8


def test_a_receiver_that_is_down_is_a_warning(file):
    done = gpuetl("run", file, "--engine", "pandas", "--no-report", "--otel")
    assert done.exit_code == 0
    assert done.stdout.count("OpenTelemetry: trace and metrics not sent: no receiver has taken them within 3 s") == 1
    assert done.stderr == ""


def test_switches(file, monkeypatch):
    with receiver() as server:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url)
        gpuetl("run", file, "--engine", "pandas", "--no-report", "--no-otel")
        file.write_text(TEXT + "telemetry: {otel: false}\n")
        load(file).run(engine="pandas")
        monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
        file.write_text(TEXT)
        load(file).run(engine="pandas")
        assert server.requests == []
        monkeypatch.delenv("OTEL_SDK_DISABLED")
        monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
        load(file).run(engine="pandas")
        assert [path for path, _ in server.requests] == ["/v1/traces"]
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
        assert "gpuetl sends http/protobuf" in load(file).run(engine="pandas").report.warnings[-1]


def test_a_missing_library_is_an_error_if_it_is_asked_for_and_else_a_warning(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
    monkeypatch.setattr("gpuetl.run.observability.opentelemetry_export.find_spec", lambda name: None)
    done = gpuetl("run", file, "--engine", "pandas", "--no-report", "--otel")
    assert (done.exit_code, done.stderr.splitlines()[1]) == (2, "Install it with: pip install 'gpuetl[otel]'")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    run = load(file).run(engine="pandas")
    assert run.report.warnings[-1].startswith("OpenTelemetry needs a library that is not installed: No module named ")
    assert len(run.report.warnings) == 2


def test_what_is_off_imports_nothing(file):
    code = (
        "import sys, gpuetl; gpuetl.load(sys.argv[1]).run(engine='pandas'); "
        "print(*(name for name in sys.modules if name.startswith(('opentelemetry', 'openlineage', 'prometheus'))))"
    )
    done = subprocess.run([sys.executable, "-c", code, file], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
