"""Sinks: targets and what is written there."""

from gpuetl.error_codes.page import ErrorPage

PAGES = (
    ErrorPage(
        code="GE1501",
        title="the target of a sink exists",
        cause="The target of a sink is already there, and its mode is `error`, the default.",
        fix="Choose `mode: overwrite`, `append` or `replace_partitions`, or remove the target.",
        kind="pipeline",
        files={
            "out.csv": """\
id,amount
"""
        },
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}}
sinks:
  out: {from: sales, csv: out.csv}
""",
        message="""\
example.yaml:6:27: sink 'out': out.csv exists.  Choose mode: overwrite, append or replace_partitions, or remove it.  [GE1501]
    out: {from: sales, csv: out.csv}
                            ^^^^^^^""",
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}}
sinks:
  out: {from: sales, csv: out.csv, mode: overwrite}
""",
    ),
    ErrorPage(
        code="GE1506",
        title="a sink got no rows",
        cause="A sink has `on_empty: error`, and its stage gave no row.  No sink of the run has changed.",
        fix=(
            "Look at the rows of each step with `gpuetl run --steps`.  If no rows are fine, set `on_empty: "
            "write` or `on_empty: keep`."
        ),
        kind="pipeline",
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}, filter: amount > 100}
sinks:
  out: {from: sales, parquet: out.parquet, on_empty: error}
""",
        message="""\
example.yaml:6:31: sink 'out': got no rows, and has on_empty: error.  No sink has changed.  Look at the rows of each step (gpuetl run --steps), or set on_empty: write or keep  [GE1506]
    out: {from: sales, parquet: out.parquet, on_empty: error}
                                ^^^^^^^^^^^""",
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}, filter: amount > 10}
sinks:
  out: {from: sales, parquet: out.parquet, on_empty: error}
""",
    ),
    ErrorPage(
        code="GE1508",
        title="a sink cannot write",
        cause=(
            "The target of a sink is a folder where the sink writes a file or the reverse, its folder holds "
            "files of others, or the system refuses the write.  No sink of the run has changed."
        ),
        fix="Give the sink a path of its own, or check the free space and the permissions of the folder.",
        kind="pipeline",
        files={
            "out/notes.txt": """\
mine
"""
        },
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}}
sinks:
  out: {from: sales, parquet: out, mode: overwrite}
""",
        message="""\
example.yaml:6:31: sink 'out': out holds other files, such as notes.txt; give the sink a folder of its own  [GE1508]
    out: {from: sales, parquet: out, mode: overwrite}
                                ^^^""",
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}}
sinks:
  out: {from: sales, parquet: out/sales, mode: overwrite}
""",
    ),
)
