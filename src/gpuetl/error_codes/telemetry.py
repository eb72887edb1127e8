"""Logs, traces, metrics and lineage of runs."""

from gpuetl.error_codes.page import ErrorPage

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
)
