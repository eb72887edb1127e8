"""Sinks of mode upsert, and backfills."""

from gpuetl.error_codes.page import ErrorPage
from gpuetl.error_codes.pipeline_file import SOURCES

DAYS = SOURCES.replace("amount: float64}", "amount: float64, day: date}")
UPSERT = """\
sinks:
  out: {from: sales, parquet: out, mode: upsert, on: [id]}
"""

DAILY = """\
gpuetl: 1
name: daily
params:
  run_date: {type: date, required: true}
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64, day: date}, filter: day = $run_date}
sinks:
  daily: {from: sales, parquet: out, mode: overwrite}
"""

PAGES = (
    ErrorPage(
        code="GE1564",
        title="mode upsert needs its keys",
        cause="A sink has `mode: upsert`, and no `on`: nothing says which rows replace which.",
        fix="Add `on` with the columns that identify a row.",
        kind="pipeline",
        example=SOURCES + UPSERT.replace(", on: [id]", ""),
        message="""\
example.yaml:6:31: sink 'out': mode upsert needs on, the columns that identify a row  [GE1564]
    out: {from: sales, parquet: out, mode: upsert}
                                ^^^
Add it, such as on: [id].""",
        fixed=SOURCES + UPSERT,
    ),
    ErrorPage(
        code="GE1565",
        title="on is for mode upsert",
        cause="A sink has `on`, and another mode than `upsert`.",
        fix="Set `mode: upsert`, or leave `on` out.",
        kind="pipeline",
        example=SOURCES + UPSERT.replace("upsert", "overwrite"),
        message="""\
example.yaml:6:58: sink 'out': on is for mode upsert, and the mode is overwrite  [GE1565]
    out: {from: sales, parquet: out, mode: overwrite, on: [id]}
                                                           ^^
Set mode: upsert, or leave it out.""",
        fixed=SOURCES + UPSERT,
    ),
    ErrorPage(
        code="GE1566",
        title="mode upsert cannot read this format back",
        cause="An upsert reads the rows that stay, and writes them again.  Files of this format do not keep all values "
        "and types, so rows would change.",
        fix="Write Parquet or Arrow files.  A later sink can write the other format from them.",
        kind="pipeline",
        example=SOURCES + UPSERT.replace("parquet", "csv"),
        message="""\
example.yaml:6:27: sink 'out': mode upsert reads the rows that stay, and CSV files do not keep all types  [GE1566]
    out: {from: sales, csv: out, mode: upsert, on: [id]}
                            ^^^
Write Parquet or Arrow IPC.""",
        fixed=SOURCES + UPSERT,
    ),
    ErrorPage(
        code="GE1567",
        title="another run has changed the target of an upsert",
        cause="The run read the rows that stay, and another run changed the target before this one could commit.  Its "
        "rows would be lost.  No sink of this run has changed.",
        fix="Run again.  Runs that write different partitions do not disturb each other where `on` has all columns of "
        "`partition_by`.",
        kind="pipeline",
        untested="needs another run at the same moment",
        example=SOURCES + UPSERT,
        message="""\
example.yaml:6:31: sink 'out': another run has changed the target since this run read it: part-20260101T020000-0a1b2c3d-00000.parquet.  No sink has changed.  Run again  [GE1567]
    out: {from: sales, parquet: out, mode: upsert, on: [id]}
                                ^^^""",
        fixed=SOURCES + UPSERT,
    ),
    ErrorPage(
        code="GE1568",
        title="several new rows of an upsert have one key",
        cause="Rows of the sink have equal values in all columns of `on`, so it is not clear which one should stay.  No "
        "sink of the run has changed.",
        fix="Keep one row of each key with a `distinct` step, or add a column to `on`.",
        kind="pipeline",
        example=DAYS + UPSERT.replace("id", "day"),
        message="""\
example.yaml:6:31: sink 'out': several of the new rows have the same key (day): 1 key, day=2026-01-02 (2 rows).  No sink has changed  [GE1568]
    out: {from: sales, parquet: out, mode: upsert, on: [day]}
                                ^^^
Keep one row of each: distinct: {on: [day], order_by: …}.""",
        fixed=DAYS + UPSERT,
    ),
    ErrorPage(
        code="GE1569",
        title="the key of a new row of an upsert is null",
        cause="A row of the sink has a null in a column of `on`.  Null equals nothing, so the row would be added again by "
        "each run.  No sink of the run has changed.",
        fix="Fill the nulls with a `fill_null` step, or filter such rows out.",
        kind="pipeline",
        example=SOURCES + UPSERT.replace("[id]", "[amount]"),
        message="""\
example.yaml:6:31: sink 'out': 1 row has a null in the key (amount), and null equals nothing.  No sink has changed  [GE1569]
    out: {from: sales, parquet: out, mode: upsert, on: [amount]}
                                ^^^
Fill it (fill_null), or filter such rows out.""",
        fixed=SOURCES + UPSERT,
    ),
    ErrorPage(
        code="GE1570",
        title="the target of an upsert has other columns",
        cause="The files at the target lack a column that the sink writes, have one more, or have one of another type. "
        "Rows of both would not fit together.  No sink of the run has changed.",
        fix="Give the sink the columns and types of its target, with `select` and `cast` steps.  Or write all rows again, "
        "with `mode: overwrite`.",
        kind="pipeline",
        untested="needs files of an earlier run",
        example=SOURCES + UPSERT,
        message="""\
example.yaml:6:31: sink 'out': out/part-20260101T020000-0a1b2c3d-00000.parquet has other columns than the sink writes: 'amount' is int64 there, and float64 here.  Give the sink the columns of its target, or write all rows again with mode: overwrite  [GE1570]
    out: {from: sales, parquet: out, mode: upsert, on: [id]}
                                ^^^""",
        fixed=SOURCES + UPSERT,
    ),
    ErrorPage(
        code="GE1571",
        title="the runs of a backfill would undo each other",
        cause="A sink would have the rows of the last value only, since each run replaces what the one before has "
        "written.  Or the pipeline keeps state from run to run, and `--parallel` would run several at once.  Nothing "
        "has run.",
        fix="Put the parameter into the sink's path, or into its `run_key`.  Or use `mode: replace_partitions` or "
        "`mode: upsert`.  Leave out `--parallel` for a pipeline with state.",
        kind="command",
        files={"daily.yaml": DAILY},
        example="gpuetl backfill daily.yaml --param run_date --from 2026-01-01 --to 2026-01-31\n",
        message="""\
sink 'daily' writes out for 2026-01-01 and for 2026-01-02 (mode: overwrite): the run of 2026-01-02 would replace the rows of 2026-01-01  [GE1571]
Put ${params.run_date} into its path, or use mode: append with run_key: [run_date], mode: replace_partitions, or mode: upsert.""",
    ),
    ErrorPage(
        code="GE1572",
        title="a backfill has no such values",
        cause="The values of `--from`, `--to` and `--step` do not fit the parameter, or an option does not fit a "
        "backfill.",
        fix="Take a parameter of type date, timestamp or int.  Steps are such as `1d`, `6h` and `1 month`, and numbers for "
        "integers.",
        kind="command",
        files={"daily.yaml": DAILY},
        example="gpuetl backfill daily.yaml --param run_date --from 2026-01-01 --to 2026-01-31 --step 1x\n",
        message="""\
--step 1x is not a step  [GE1572]
Write a step such as 1d, 2 weeks, 6h or 1 month.""",
    ),
)
