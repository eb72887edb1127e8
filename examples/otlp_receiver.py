"""Print the traces and metrics that are sent to http://127.0.0.1:4318: a stand-in for a collector.

    python examples/otlp_receiver.py          # until Ctrl-C
    python examples/otlp_receiver.py --once   # until a trace and metrics have come

It needs `pip install 'gpuetl[otel]'`, which has the format's classes.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

SHOWN = ("gpuetl.rows.out", "gpuetl.bytes", "gpuetl.error.code")


def attributes(found: Iterable[Any]) -> dict[str, Any]:
    """Return attributes as plain data."""
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in found}


def print_spans(body: bytes) -> None:
    """Print spans, each below its parent."""
    scopes = [scope for one in ExportTraceServiceRequest.FromString(body).resource_spans for scope in one.scope_spans]
    spans = sorted((span for scope in scopes for span in scope.spans), key=lambda span: span.start_time_unix_nano)
    known = {span.span_id for span in spans}

    def show(span: Any, depth: int) -> None:
        own = attributes(span.attributes)
        shown = ", ".join(f"{name} {own[name]}" for name in SHOWN if name in own)
        milliseconds = (span.end_time_unix_nano - span.start_time_unix_nano) / 1e6
        print(f"{'  ' * depth}{span.name}  {milliseconds:.0f} ms  {shown}".rstrip())
        for child in spans:
            if child.parent_span_id == span.span_id:
                show(child, depth + 1)

    for span in spans:
        if span.parent_span_id not in known:
            show(span, 0)


def print_metrics(body: bytes) -> None:
    """Print the names of metrics, and how many values each has."""
    scopes = [
        one for each in ExportMetricsServiceRequest.FromString(body).resource_metrics for one in each.scope_metrics
    ]
    for metric in (metric for scope in scopes for metric in scope.metrics):
        points = getattr(metric, metric.WhichOneof("data")).data_points
        print(f"{metric.name} ({metric.unit}): {len(points)} values")


class Handler(BaseHTTPRequestHandler):
    """Prints what is posted."""

    received: ClassVar[set[str]] = set()

    def do_POST(self) -> None:
        """Print a trace or metrics."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        print_spans(body) if self.path == "/v1/traces" else print_metrics(body)
        sys.stdout.flush()
        self.received.add(self.path)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        """Log no requests."""


def main() -> None:
    """Receive until Ctrl-C, or until a trace and metrics have come."""
    with HTTPServer(("127.0.0.1", 4318), Handler) as server:
        while "--once" not in sys.argv or len(Handler.received) < 2:
            server.handle_request()


if __name__ == "__main__":
    main()
