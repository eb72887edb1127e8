"""Output and report files that cannot be written."""

from gpuetl.error_codes.page import PIPELINE, ErrorPage

EXAMPLE = {"example.yaml": PIPELINE.format(steps="      - filter: amount > 0")}

PAGES = (
    ErrorPage(
        code="GE3010",
        title="stdout cannot be written",
        cause="The disk of the file that takes the output is full, or stdout is closed.  A run whose sinks are written "
        "prints this as a warning and exits with 0.  Other commands exit with 1, or with the code of their own "
        "failure.  A reader that leaves early, as `head` does, is not an error.",
        fix="Free space where the output goes, or send it elsewhere.  The sinks of a run are complete: do not repeat "
        "the run.",
        example="gpuetl run example.yaml > /dev/full",
        message="warning: cannot write to stdout: No space left on device  [GE3010]",
        fixed="gpuetl run example.yaml --quiet",
        kind="command",
        files=EXAMPLE,
        untested="needs a shell that redirects the output",
    ),
    ErrorPage(
        code="GE3011",
        title="a report cannot be written",
        cause="The file of --report, --trace or --junit, or the folder of all reports, cannot be written, for example "
        "because the disk is full.  A "
        "run whose sinks are written prints this as a warning and exits with 0.  A report that was there before stays "
        "as it is.  A missing folder is an error before the run begins.",
        fix="Name a file that can be written, or a folder in GPUETL_REPORTS, or run with --no-report.  The sinks of a "
        "run are complete: do not repeat the run.",
        example="gpuetl run example.yaml --report /dev/full",
        message="warning: cannot write the report to /dev/full: No space left on device  [GE3011]",
        fixed="gpuetl run example.yaml --quiet --report run.json",
        kind="command",
        files=EXAMPLE,
        untested="needs a device that is full",
    ),
)
