"""Logs, traces, metrics and lineage of runs."""

from gpuetl.error_codes.page import PIPELINE, ErrorPage

EXAMPLE = {"example.yaml": PIPELINE.format(steps="      - filter: amount > 0")}

PAGES = (
    ErrorPage(
        code="GE3030",
        title="an observer of the run failed",
        cause="What sends logs, traces, metrics or lineage of a run raised an error that gpuetl did not expect.  The "
        "run goes on, and its exit code does not change.",
        fix="Report it with the message.  Until it is mended, switch off what failed.",
        example="gpuetl run example.yaml --otel",
        message="warning: OpenTelemetryObserver failed: gpuetl failed unexpectedly: KeyError: 'rows'  [GE3030]",
        kind="command",
        untested="needs a bug",
    ),
    ErrorPage(
        code="GE3031",
        title="a library for traces, metrics or lineage is missing",
        cause="`--otel`, `--openlineage`, `--metrics` or `telemetry:` asks for something whose library is not installed.  "
        "If only an environment variable asks for it, such as OTEL_EXPORTER_OTLP_ENDPOINT, it is a warning.",
        fix="Install what the message names, or switch it off: `--no-otel`, `--no-openlineage`.",
        example="gpuetl run example.yaml --otel",
        message="""\
OpenTelemetry needs a library that is not installed: No module named 'opentelemetry'  [GE3031]
Install it with: pip install 'gpuetl[otel]'""",
        kind="command",
        files=EXAMPLE,
        untested="needs an installation without the library",
    ),
    ErrorPage(
        code="GE3032",
        title="traces, metrics or lineage could not be sent",
        cause="The receiver of traces, metrics or lineage does not answer, or refuses what is sent.  gpuetl waits at most "
        "3 seconds for it.  The run goes on, and its exit code does not change.",
        fix="Check the address, and that the receiver runs: OTEL_EXPORTER_OTLP_ENDPOINT, or OPENLINEAGE_URL.",
        example="OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9 gpuetl run example.yaml",
        message="warning: OpenTelemetry: trace and metrics not sent: no receiver has taken them within 3 s  [GE3032]",
        kind="command",
        files=EXAMPLE,
        untested="needs a variable of the environment",
    ),
    ErrorPage(
        code="GE3033",
        title="the file of metrics cannot be written",
        cause="The file of `--metrics`, or of `metrics_file`, cannot be written: a folder is missing, or the disk is "
        "full.  The file that was there before stays as it is.",
        fix="Name a file in a folder that exists and may be written to.  The sinks of the run are complete.",
        example="gpuetl run example.yaml --metrics /dev/full",
        message="warning: cannot write metrics to /dev/full: No space left on device  [GE3033]",
        kind="command",
        files=EXAMPLE,
        untested="needs a device that is full",
    ),
    ErrorPage(
        code="GE3034",
        title="the file of metrics was of another pipeline, or is not readable",
        cause="The file that `--metrics` names has metrics of another pipeline, or is no file of metrics.  It is "
        "replaced, so that the metrics of the other pipeline are gone.",
        fix="Give each pipeline a file of its own.  The collector of node_exporter reads all files of its folder.",
        example="gpuetl run example.yaml --metrics metrics.prom",
        message="warning: metrics.prom had metrics of pipeline 'daily', which are gone: each pipeline needs a file of its own  [GE3034]",
        kind="command",
        files=EXAMPLE,
        untested="needs a file that another pipeline wrote",
    ),
    ErrorPage(
        code="GE3035",
        title="the log cannot be written",
        cause="The file of --log-json cannot be opened.",
        fix="Name another file, or leave it out: records then go to stderr.",
        example="gpuetl run example.yaml --log-json log.json",
        message="cannot write the log to log.json: Too many levels of symbolic links  [GE3035]",
        kind="command",
        files=EXAMPLE,
        untested="needs a file that cannot be opened",
    ),
    ErrorPage(
        code="GE3036",
        title="OpenLineage has no receiver",
        cause="`--openlineage`, or `openlineage: true`, asks for events, and neither the environment nor an "
        "openlineage.yml says where to send them.",
        fix="Set OPENLINEAGE_URL, or write an `openlineage.yml` in the working folder.  [Observability](../observability.md) "
        "has an example.",
        example="gpuetl run example.yaml --openlineage",
        message="""\
OpenLineage has no receiver  [GE3036]
Set OPENLINEAGE_URL, or write an openlineage.yml: docs/observability.md has an example.""",
        fixed="gpuetl run example.yaml",
        kind="command",
        files=EXAMPLE,
        untested="needs the library openlineage-python",
    ),
)
