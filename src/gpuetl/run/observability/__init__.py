"""What operations see of a run: logs, traces, metrics and lineage, each by an observer that is off by default.

Nothing here imports a library before a run wants it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gpuetl.errors import InvalidPipeline, PackageMissing
from gpuetl.messages import coded
from gpuetl.places.paths import check_sandbox
from gpuetl.run.observability.libraries import with_library
from gpuetl.run.observers import Observers, RunObserver
from gpuetl.sandbox import OutsideSandbox

if TYPE_CHECKING:
    from gpuetl.run.account import Account
    from gpuetl.spec.definition import PipelineDefinition
    from gpuetl.spec.telemetry import Telemetry


def observers_of(account: Account) -> Observers:
    """Return the observers of a run.

    Raises
    ------
    InvalidPipeline
        For a file of metrics that is not a local file, or outside of the sandbox.
    PackageMissing
        Where something that the user asks for lacks its library.
    """
    own, spec = account.options.telemetry, account.pipeline.spec.telemetry
    wanted, found = own.over(spec), Observers()
    each = list[RunObserver]()
    if "logging" in sys.modules:  # else no one can have added a handler
        from gpuetl.run.observability.log_records import LogObserver

        each.append(LogObserver())
    if path := metrics_path(own, spec, account.pipeline):
        each.append(with_library("a file of metrics", "prometheus", lambda: metrics_file(path)))
    exports = wanted.otel or (wanted.otel is None and has_otel_endpoint())
    for wants, asks, what, extra, load in (
        (wanted.otel, exports or has_tracer_provider(), "OpenTelemetry", "otel", lambda: opentelemetry(bool(exports))),
        (wanted.openlineage, has_openlineage_transport(), "OpenLineage", "openlineage", openlineage),
    ):
        if wants is False or not (wants or asks):
            continue
        try:
            each.append(with_library(what, extra, load))
        except PackageMissing as missing:
            if wants:
                raise
            found.problems[-1 - len(found.problems)] = missing.args[0]
    found.each = each
    return found


def metrics_file(path: Path) -> RunObserver:
    """Return what writes metrics to a file."""
    from gpuetl.run.observability.prometheus_file import MetricsFile

    return MetricsFile(path)


def opentelemetry(exports: bool) -> RunObserver:
    """Return what sends a trace and metrics, to the program's providers or, if it `exports`, to a receiver."""
    from gpuetl.run.observability.opentelemetry_export import OpenTelemetryObserver

    return OpenTelemetryObserver(exports)


def openlineage() -> RunObserver:
    """Return what sends lineage.

    Raises
    ------
    InvalidPipeline
        Where nothing says where to: the client would write it to a log that is not shown.
    """
    if not has_openlineage_transport():
        hint = "Set OPENLINEAGE_URL, or write an openlineage.yml: docs/observability.md has an example."
        raise InvalidPipeline.because(coded("GE3036", "OpenLineage has no receiver"), hint)
    from gpuetl.run.observability.openlineage_events import OpenLineageObserver

    return OpenLineageObserver()


def metrics_path(own: Telemetry, spec: Telemetry, pipeline: PipelineDefinition) -> Path | None:
    """Return the file of metrics: that of the run's options begins at the working folder, else at the pipeline's.

    Raises
    ------
    InvalidPipeline
        For one that is not a local file, or outside of the sandbox.
    """
    text = own.metrics_file or spec.metrics_file
    if not text:
        return None
    folder = Path() if own.metrics_file else pipeline.root
    if not isinstance(folder, Path) and not Path(text).is_absolute():
        message = coded("GE1008", f"metrics_file: {text} would be in {folder}, and must be a local file")
        raise InvalidPipeline.because(message, "Write the whole path, from / on.", "telemetry")
    path = Path(text) if not isinstance(folder, Path) else folder / text
    if not own.metrics_file:
        try:
            check_sandbox([path])
        except OutsideSandbox as error:
            raise InvalidPipeline.because(error.args[0], within="telemetry, metrics_file") from None
    return path


def has_otel_endpoint() -> bool:
    """Return whether the environment says where to send traces or metrics."""
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    names = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")
    return any(map(os.environ.get, names))


def has_tracer_provider() -> bool:
    """Return whether the program has a tracer provider of its own."""
    if "opentelemetry.trace" not in sys.modules:
        return False
    from gpuetl.run.observability.opentelemetry_export import running_tracer_provider

    return running_tracer_provider() is not None


def has_openlineage_transport() -> bool:
    """Return whether the environment or a file says where to send lineage, where the client looks for it."""
    if os.environ.get("OPENLINEAGE_DISABLED", "").strip().lower() == "true":
        return False
    if os.environ.get("OPENLINEAGE_URL") or any(name.startswith("OPENLINEAGE__TRANSPORT") for name in os.environ):
        return True
    named = os.environ.get("OPENLINEAGE_CONFIG")
    places = (*([Path(named)] if named else []), Path("openlineage.yml"), Path("~/.openlineage/openlineage.yml"))
    return any(os.path.isfile(os.path.expanduser(place)) for place in places)  # noqa: PTH111, PTH113  a few µs each
