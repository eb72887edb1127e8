"""Warnings."""

from gpuetl.error_codes.page import ErrorPage

PAGES = (
    ErrorPage(
        code="GE1701",
        title="a source, stage or parameter is not used",
        cause="No sink depends on a source, a stage or a parameter.  Often a step names another one by mistake.",
        fix="Use it, or remove it.",
        kind="pipeline",
        files={
            "shops.csv": """\
id
1
"""
        },
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}}
  shops: {csv: shops.csv, schema: {id: int64}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
        message="""\
warning: example.yaml:5:3: source 'shops': no stage and no sink reads it  [GE1701]
      shops: {csv: shops.csv, schema: {id: int64}}
      ^^^^^
Remove it, or read it in a stage.""",
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
    ),
    ErrorPage(
        code="GE1702",
        title="a filter keeps no row",
        cause=(
            "The condition of a filter is false or null for every row, whatever the data, so the result is "
            "always empty."
        ),
        fix="Correct the condition.  Use `IS NULL` to find nulls.",
        example="- filter: amount > 0 AND 1 = 2",
        message="""\
warning: example.yaml:9:32: stage 'result', step 1: this filter keeps no row: 1 = 2 is false for every row  [GE1702]
          - filter: amount > 0 AND 1 = 2
                                   ^^^^^
Correct it, or take it out.""",
        fixed="- filter: amount > 0",
    ),
    ErrorPage(
        code="GE1703",
        title="a sink got no rows",
        cause=(
            "The stage of a sink gave no row.  The target is empty now, or with `append` and "
            "`replace_partitions` unchanged."
        ),
        fix=(
            "Look at the rows of each step with `gpuetl run --steps`.  If no rows are expected, set `on_empty: "
            "keep`; to stop the run, set `on_empty: error`."
        ),
        example="- filter: amount > 100",
        message=(
            "warning: sink 'out' got no rows: out.parquet is empty now.  Set on_empty: keep to leave the target"
            " as it is, or on_empty: error to stop the run  [GE1703]"
        ),
        fixed="- filter: amount > 10",
    ),
    ErrorPage(
        code="GE1704",
        title="the same rows may be appended twice",
        cause="A sink in mode `append` has files that the same pipeline wrote before, with the same parameters.",
        fix=(
            "Set `run_key` to the parameters that identify a run.  A second run with the same values then "
            "replaces the files of the first one."
        ),
        kind="python",
        example="""\
from gpuetl import Pipeline

pipeline = Pipeline("example")
sales = pipeline.read_csv("sales", "sales.csv", {"id": "int64", "amount": "float64"})
sales.write_parquet("out", "out", mode="append")
pipeline.run(engine="pandas")
for warning in pipeline.run(engine="pandas").report.warnings:
    print(f"warning: {warning}")
""",
        message=(
            "warning: sink 'out': out has 1 file that the same pipeline appended before, with the same "
            "parameters: rows may be there twice.  Set run_key to the parameters that identify a run, such as "
            "run_key: [run_date]; a second append then replaces the first one's files  [GE1704]"
        ),
        fixed="""\
from gpuetl import Pipeline

pipeline = Pipeline("example")
pipeline.param("day", "date")
sales = pipeline.read_csv("sales", "sales.csv", {"id": "int64", "amount": "float64"})
sales.write_parquet("out", "out", mode="append", run_key=["day"])
pipeline.run({"day": "2026-01-01"}, engine="pandas")
for warning in pipeline.run({"day": "2026-01-01"}, engine="pandas").report.warnings:
    print(f"warning: {warning}")
""",
    ),
    ErrorPage(
        code="GE1705",
        title="files that look like data are not read",
        cause=(
            "The folder of a source has files with another suffix, or a glob matches a folder and not the files in it."
        ),
        fix="Rename the files, or write a glob that matches them.",
        kind="pipeline",
        files={
            "in/a.csv": """\
id,amount
1,10.50
""",
            "in/b.CSV": """\
id,amount
2,3.00
""",
        },
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: in, schema: {id: int64, amount: float64}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
        message=(
            "warning: source 'sales': 1 file of the path looks like data and is not read, since only files that"
            " end in .csv are: in/b.CSV.  Rename them, or read them with a glob.  [GE1705]"
        ),
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: 'in/*', schema: {id: int64, amount: float64}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
    ),
    ErrorPage(
        code="GE1706",
        title="bad CSV rows were read as null",
        cause=(
            "The source has `on_bad_row: null`.  Values that are not of their type, and missing fields, are "
            "null, and surplus fields are left out."
        ),
        fix="Correct the file, or set such rows aside with `on_bad_row: quarantine`.",
        kind="pipeline",
        files={
            "prices.csv": """\
id,amount
1,10.50
2,12 EUR
""",
            "good.csv": """\
id,amount
1,10.50
2,12.00
""",
        },
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: prices.csv, schema: {id: int64, amount: float64}, on_bad_row: 'null'}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
        message=(
            "warning: source 'sales': prices.csv: values that are not of their type are null: column 'amount': "
            "1 (line 3: '12 EUR')  [GE1706]"
        ),
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: good.csv, schema: {id: int64, amount: float64}, on_bad_row: 'null'}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
    ),
    ErrorPage(
        code="GE1707",
        title="added files have other columns",
        cause=(
            "A sink adds files to a folder whose files have other columns.  Many readers take the columns of "
            "one file for all."
        ),
        fix="Write to another folder, or write all files again.",
        kind="pipeline",
        files={
            "out/january.csv": """\
id
1
"""
        },
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}}
sinks:
  out: {from: sales, csv: out, mode: append}
""",
        message=(
            "warning: sink 'out': the files that were added have other columns than out/january.csv: without "
            "id, with id,amount.  Write them to another folder, or write all files again  [GE1707]"
        ),
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}}
sinks:
  out: {from: sales, csv: amounts, mode: append}
""",
    ),
    ErrorPage(
        code="GE1708",
        title="a later file has columns that are not read",
        cause=(
            "The source chooses its columns by `schema` or `columns`, and a later file has columns that the first file"
            " does not have.  They may be new, and wanted."
        ),
        fix="Add the columns to the schema, or set `extra_columns` to `add`, `ignore` or `error`.",
        kind="pipeline",
        files={
            "in/a.csv": """\
id,amount
1,10.50
""",
            "in/b.csv": """\
id,amount,fee
2,3.00,0.10
""",
        },
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: in, schema: {id: int64, amount: float64}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
        message=(
            "warning: source 'sales': in/b.csv has columns that in/a.csv does not have, and they are not read: 'fee'."
            "  Set extra_columns: add to read them, or extra_columns: ignore  [GE1708]"
        ),
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: in, schema: {id: int64, amount: float64}, extra_columns: ignore}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
    ),
    ErrorPage(
        code="GE1725",
        title="links to folders are not followed",
        cause=(
            "A source's folder, or what `**` matches, has a link to a folder elsewhere.  gpuetl follows links to files, "
            "and links to folders that the path names.  It does not follow links to folders that it finds below: they "
            "often lead to a folder of the same source, whose rows would be read twice."
        ),
        fix="Name the links in a glob, such as `lake/*/*.csv`, or read what they lead to as a separate source.",
        kind="python",
        example="""\
from pathlib import Path

from gpuetl import Pipeline

Path("lake").mkdir()
Path("archive").mkdir()
Path("lake/a.csv").write_text("id\\n1\\n")
Path("lake/old").symlink_to("../archive")
pipeline = Pipeline("example")
pipeline.read_csv("sales", "lake", {"id": "int64"}).write_parquet("out", "out.parquet")
for warning in pipeline.run(engine="pandas").report.warnings:
    print(f"warning: {warning}")
""",
        message=(
            "warning: source 'sales': 1 link to a folder is not followed: lake/old.  Read such a folder as a separate "
            "source, or name the link in a glob.  [GE1725]"
        ),
    ),
    ErrorPage(
        code="GE1726",
        title="a source reads one file by two paths",
        cause="A link, or a second name, makes a file appear twice below the path of a source.  Its rows are read twice.",
        fix="Remove the link, or choose a path that matches one of the two names.",
        kind="python",
        example="""\
from pathlib import Path

from gpuetl import Pipeline

Path("lake").mkdir()
Path("lake/a.csv").write_text("id\\n1\\n")
Path("lake/latest.csv").symlink_to("a.csv")
pipeline = Pipeline("example")
pipeline.read_csv("sales", "lake", {"id": "int64"}).write_parquet("out", "out.parquet")
for warning in pipeline.run(engine="pandas").report.warnings:
    print(f"warning: {warning}")
""",
        message=(
            "warning: source 'sales': lake/latest.csv and lake/a.csv are one file, whose rows are read twice.  [GE1726]"
        ),
    ),
)
