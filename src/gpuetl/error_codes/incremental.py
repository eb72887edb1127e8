"""Sources of which each run reads only what is new."""

from gpuetl.error_codes.page import ErrorPage

SCRIPT = """\
from pathlib import Path

from gpuetl import Pipeline

pipeline = Pipeline("example")
sales = pipeline.read_csv({source})
sales.write_parquet("out", "out", mode="append")
Path("landing").mkdir()
Path("landing/1.csv").write_text("id,day\\n1,2026-01-02\\n")
pipeline.run(engine="pandas")
"""
ROWS = '"sales", "landing", {{"id": "int64", "day": "date"}}, incremental={keys}'
SOURCE = """\
gpuetl: 1
name: example
sources:
  sales: {{csv: sales.csv, schema: {{amount: float64, day: date}}, incremental: {keys}}}
"""
SINK = "sinks:\n  out: {from: sales, parquet: out, mode: append}\n"
KEYED = """\
params:
  run_date: {type: date, required: true}
sinks:
  out: {from: sales, parquet: out, mode: append, run_key: run_date}
"""

PAGES = (
    ErrorPage(
        code="GE1540",
        title="a file has changed since a run read it",
        cause="A source with `incremental: {new_files: true}` reads each file once.  A file that a successful run has read "
        "has another size, time or ETag now.  gpuetl cannot know which of its rows are new.",
        fix="Put new rows in new files, and move files into the folder when they are complete.  `changed: take` reads such "
        "a file again as a whole, so that a sink that appends has its rows twice.  `changed: skip` leaves it.  Both "
        "count the files in a warning.",
        kind="command",
        example="gpuetl run daily.yaml",
        message="daily.yaml:4:16: source 'landing': landing/a.csv has changed since run 20260101T020000-0a1b2c3d read it, "
        "2026-01-01 02:00:00 UTC: it had 1,024 bytes and has 2,048 now  [GE1540]",
        untested="it names a run and a time",
    ),
    ErrorPage(
        code="GE1541",
        title="a sink and the state do not change together",
        cause="A run reads new rows of an incremental source, and these count as read when its sinks are written.  The sink "
        "and the state folder are in two stores, or the run leaves out a sink of the source, or there is no place for "
        "the state.  A run that dies in between would lose or double rows.",
        fix="Put the state next to the sinks: on this machine for local sinks, in the same bucket for others.  Run all "
        "sinks of a source together.",
        kind="command",
        example="gpuetl run daily.yaml",
        message="daily.yaml:7:22: sink 'out': and the state of the pipeline, .gpuetl/daily, are in two stores, which do not "
        "change together  [GE1541]",
        untested="it takes an object store",
    ),
    ErrorPage(
        code="GE1542",
        title="a column that cannot be a watermark",
        cause="A watermark is a column of timestamps, dates or integers.  `lateness` is an interval for timestamps, whole "
        "days for dates, and a whole number for integers.",
        fix="Take another column, or another lateness.  Declare text as a timestamp in the source's `schema`.",
        kind="pipeline",
        example=SOURCE.format(keys="{watermark: amount}") + SINK,
        message="""\
example.yaml:4:90: source 'sales': watermark: 'amount' is float64  [GE1542]
    sales: {csv: sales.csv, schema: {amount: float64, day: date}, incremental: {watermark: amount}}
                                                                                           ^^^^^^
Take a column of timestamps, dates or integers.""",
        fixed=SOURCE.format(keys="{watermark: day, lateness: interval '1 day'}") + SINK,
    ),
    ErrorPage(
        code="GE1543",
        title="the state of a source cannot be used",
        cause="A list of files in the state folder is gone or damaged, or a source's entry in `state.json` is.",
        fix="Restore the state folder from a copy, or begin anew with `gpuetl run --full-refresh`.",
        kind="command",
        example="gpuetl run daily.yaml",
        message="daily.yaml:4:16: source 'landing': cannot use "
        ".gpuetl/daily/sources/landing.20260101T020000-0a1b2c3d.arrow, which lists files that were read: it is gone  "
        "[GE1543]",
        untested="it names a run",
    ),
    ErrorPage(
        code="GE1544",
        title="rows without a watermark",
        cause="Rows of a source have no value in the column of its watermark.  No run reads them.  The warning comes with "
        "each run, as long as the rows are there.",
        fix="Fill the column where the files are made.",
        kind="python",
        warns=True,
        example=SCRIPT.format(source=ROWS.format(keys='{"watermark": "day"}')).replace("2026-01-02", "2026-01-02\\n2,")
        + 'print("warning:", pipeline.run(engine="pandas").report.warnings[0])\n',
        message="warning: source 'sales': 1 row has no value in 'day', and no run reads it.  Fill the column where the files "
        "are made  [GE1544]",
    ),
    ErrorPage(
        code="GE1545",
        title="rows came later than the watermark",
        cause="Rows came with a value that the watermark had passed: a run has read the rows up to there, so no run reads "
        "these.  gpuetl counts the rows at or below the watermark to notice that.",
        fix="Set a greater `lateness` for the time to come.  `gpuetl run --full-refresh` reads such rows, too.  `late: warn` "
        "makes it a warning, and `late: ignore` does not count.",
        kind="python",
        example=SCRIPT.format(source="\n    " + ROWS.format(keys='{"watermark": "day", "late": "error"}') + "\n")
        + """\
Path("landing/2.csv").write_text("id,day\\n2,2026-01-01\\n3,2026-01-03\\n")
pipeline.run(engine="pandas")
""",
        message="""\
gpuetl.errors.RunFailed: example.py:6: source 'sales': 1 row with day up to 2026-01-02 came after a run had read these rows  [GE1545]
    sales = pipeline.read_csv(
Set a greater lateness for the time to come. To read such rows: gpuetl run --full-refresh. To go on without them, set late: warn.""",
    ),
    ErrorPage(
        code="GE1546",
        title="a sink replaces rows that no run reads again",
        cause="An incremental source gives each run only what is new.  A sink with a `run_key` replaces the rows of an "
        "earlier run with the same key, and `mode: replace_partitions` those of a partition.  The rows that are "
        "replaced are not read again.",
        fix="Use `mode: append` without `run_key`.  A run that is started again after a failure doubles no row, because its "
        "source counts as read only when its sinks are written.",
        kind="pipeline",
        params={"run_date": "2026-01-01"},
        example=SOURCE.format(keys="{new_files: true}") + KEYED,
        message="""\
example.yaml:8:59: sink 'out': source 'sales' gives each run only what is new: a second run with the same run_key would replace rows that no run reads again  [GE1546]
    out: {from: sales, parquet: out, mode: append, run_key: run_date}
                                                            ^^^^^^^^
Take run_key out: with incremental sources, a run that is started again doubles no row.""",
    ),
    ErrorPage(
        code="GE1547",
        title="the state is of another source",
        cause="The path of an incremental source, its watermark or the column's type is not what it was when the state was "
        "written.  Or a source was renamed.  To go on would read rows again, or leave rows out.",
        fix="Undo the change, or give the source a new name to read all of it.  `gpuetl run --full-refresh` begins anew.",
        kind="python",
        example=SCRIPT.format(source=ROWS.format(keys='{"watermark": "day"}'))
        + """\
del pipeline.sources["sales"]
sales = pipeline.read_csv("sales", "landing", {"id": "int64"}, incremental={"watermark": "id"})
pipeline.run(engine="pandas")
""",
        message="""\
gpuetl.errors.RunFailed: example.py:12: source 'sales': is not the one for which its state was made: watermark was day, and is id; type of id was date, and is int64  [GE1547]
    sales = pipeline.read_csv("sales", "landing", {"id": "int64"}, incremental={"watermark": "id"})
Undo the change, or give the source another name: then all of it is new. To read everything again: gpuetl run --full-refresh.""",
    ),
    ErrorPage(
        code="GE1548",
        title="keys of `incremental` that do not go together",
        cause="`incremental` has `new_files: true`, which may have `changed`, or a `watermark`, which may have `lateness` and "
        "`late`.  A watermark does not go together with `on_bad_row: quarantine`.",
        fix="Keep one of the two.",
        kind="pipeline",
        example=SOURCE.format(keys="{new_files: true, watermark: day}") + SINK,
        message="""\
example.yaml:4:96: source 'sales': incremental: watermark does not go together with new_files  [GE1548]
    sales: {csv: sales.csv, schema: {amount: float64, day: date}, incremental: {new_files: true, watermark: day}}
                                                                                                 ^^^^^^^^^
Keys for new_files: new_files, changed.""",
        fixed=SOURCE.format(keys="{new_files: true}") + SINK,
    ),
    ErrorPage(
        code="GE1549",
        title="a full refresh would double rows",
        cause="`--full-refresh` reads all of an incremental source again, and a sink appends these rows to the ones that are "
        "there.",
        fix="Remove the sink's folder first, or write to another one.  With `mode: overwrite` the rows are replaced.",
        kind="python",
        example=SCRIPT.format(source=ROWS.format(keys='{"new_files": True}'))
        + 'from gpuetl import RunOptions\n\npipeline.run(engine="pandas", options=RunOptions(full_refresh=True))\n',
        message="""\
gpuetl.errors.RunFailed: example.py:7: sink 'out': appends to out, which has rows: --full-refresh would add all rows to them once more  [GE1549]
    sales.write_parquet("out", "out", mode="append")
Remove the folder first, or write to another one. To replace all rows, set mode: overwrite.""",
    ),
)
