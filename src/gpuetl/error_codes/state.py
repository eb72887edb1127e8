"""What a pipeline remembers between its runs."""

from gpuetl.error_codes.page import ErrorPage
from gpuetl.error_codes.pipeline_file import OUT, SOURCES

PAGES = (
    ErrorPage(
        code="GE1573",
        title="the state of a pipeline cannot be used",
        cause="gpuetl cannot read or write the state folder, or `state.json` in it is damaged, of a newer gpuetl, "
        "or of another pipeline.  `daily.yaml` and `daily.yml` in one folder have one state folder, too.",
        fix="Check the folder and the rights to it.  If the state is damaged, restore it from a copy, or begin anew with "
        "`gpuetl run --full-refresh`, which reads everything again: remove the rows of sinks that append first.",
        kind="command",
        example="gpuetl run daily.yaml",
        message="state '.gpuetl/daily': cannot use .gpuetl/daily/state.json: it is damaged, or was not written by gpuetl.  "
        "Restore it from a copy, or begin anew, which reads everything again: gpuetl run --full-refresh  [GE1573]",
        untested="it takes state that is damaged",
    ),
    ErrorPage(
        code="GE1574",
        title="another run has changed the state",
        cause="Two runs of a pipeline began with the same state.  The first one to commit has changed it.  The second one "
        "has read the same new rows, so it stops, and none of its sinks changes.",
        fix="Run again: the run takes what is left.  Let runs of one pipeline follow one another.",
        kind="command",
        example="gpuetl run daily.yaml",
        message="state '.gpuetl/daily': run 20260101T020000-0a1b2c3d has changed the state in .gpuetl/daily since this run "
        "began.  No sink has changed.  Run again  [GE1574]",
        untested="it takes two runs at the same time",
    ),
    ErrorPage(
        code="GE1575",
        title="the state folder overlaps a sink",
        cause="`state` is the path of a sink, or below it, or above it.  Writing the sink would remove the state.",
        fix="Give the state a folder of its own.",
        kind="pipeline",
        example=SOURCES + "state: out\n" + OUT.replace("out.parquet", "out/daily"),
        message="""\
example.yaml:5:8: sink 'out': the state folder out and sink 'out' overlap: out/daily  [GE1575]
    state: out
           ^^^
Give the state a folder of its own.""",
        fixed=SOURCES + "state: state\n" + OUT.replace("out.parquet", "out/daily"),
    ),
)
