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
            "The target of a sink is a folder where the sink writes a file or the reverse, or the system refuses "
            "the write.  No sink of the run has changed, or the message says how to go on."
        ),
        fix="Give the sink a different path, or check the free space and the permissions of the folder.",
        kind="pipeline",
        files={
            "out.parquet/notes.txt": """\
mine
"""
        },
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
        message="""\
example.yaml:6:31: sink 'out': out.parquet is a folder, and the sink writes a file  [GE1508]
    out: {from: sales, parquet: out.parquet, mode: overwrite}
                                ^^^^^^^^^^^""",
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}}
sinks:
  out: {from: sales, parquet: sales.parquet, mode: overwrite}
""",
    ),
    ErrorPage(
        code="GE1530",
        title="a partition's folder has too long a name",
        cause="A value of a partition column makes a folder name that is longer than the file system allows, most often "
        "255 bytes.  Letters outside of ASCII, and signs such as `/`, take three bytes or more each.  No sink of the "
        "run has changed.",
        fix="Partition by another column, or by a shorter form of the value.",
        kind="pipeline",
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}}
stages:
  named:
    from: sales
    steps:
      - with_columns: {name: "lpad(CAST(id AS string), 260, 'x')"}
sinks:
  out: {from: named, parquet: out, partition_by: name}
""",
        message="""\
example.yaml:11:31: sink 'out': column 'name' has the value 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' of 260 characters.  Its folder's name would have 265 bytes, and the file system allows 255.  Partition by another column, or by a shorter form, such as left(name, 20)  [GE1530]
    out: {from: named, parquet: out, partition_by: name}
                                ^^^""",
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}}
stages:
  named:
    from: sales
    steps:
      - with_columns: {name: "lpad(CAST(id AS string), 26, 'x')"}
sinks:
  out: {from: named, parquet: out, partition_by: name}
""",
    ),
    ErrorPage(
        code="GE1531",
        title="a partition's date is outside of the years 1 to 9999",
        cause="A partition column has a date or timestamp in a year that has more than four digits, or before year 1. "
        "Readers of partitioned folders cannot read such a name.  No sink of the run has changed.",
        fix="Filter such rows out, or partition by a number, such as the year.",
        kind="pipeline",
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64, day: date}}
stages:
  moved:
    from: sales
    steps:
      - with_columns: {day: 'add_months(day, 120000)'}
sinks:
  out: {from: moved, parquet: out, partition_by: day}
""",
        message="""\
example.yaml:11:31: sink 'out': column 'day' has the value 12026-01-01, and partitions take years from 1 to 9999.  Filter such rows out, or partition by a number, such as year(day)  [GE1531]
    out: {from: moved, parquet: out, partition_by: day}
                                ^^^""",
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64, day: date}}
stages:
  moved:
    from: sales
    steps:
      - with_columns: {day: 'add_months(day, 120000)'}
      - with_columns: {year: year(day)}
sinks:
  out: {from: moved, parquet: out, partition_by: year}
""",
    ),
    ErrorPage(
        code="GE1538",
        title="the GPU's codec refuses the pages of a Parquet file",
        cause="nvCOMP, the library by which the GPU compresses, returned an error for the pages of a Parquet sink. No "
        "sink of the run has changed.",
        fix="Choose another codec, or none. Report the error: gpuetl should not ask for what the library refuses.",
        kind="pipeline",
        example="""\
gpuetl: 1
name: example
sources:
  sales: {parquet: sales.parquet}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite, compression: snappy}
""",
        message="""\
example.yaml:6:31: sink 'out': nvCOMP could not compress pages by snappy: CUDA error.  Write `compression: none`, or another codec, for this sink  [GE1538]
    out: {from: sales, parquet: out.parquet, mode: overwrite, compression: snappy}
                                ^^^^^^^^^^^""",
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {parquet: sales.parquet}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite, compression: none}
""",
        untested="it needs a GPU",
    ),
)
