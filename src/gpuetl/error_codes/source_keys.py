"""Keys of sources."""

from gpuetl.error_codes.page import ErrorPage
from gpuetl.error_codes.pipeline_file import OUT, SOURCES

JSON = "gpuetl: 1\nname: example\nsources:\n  sales: {json: sales.jsonl}\n"
WORKBOOK = """\
import openpyxl

from gpuetl import Pipeline

workbook = openpyxl.Workbook()
workbook.active.append(["id"])
workbook.active.append([VALUE])
workbook.save("sales.xlsx")
pipeline = Pipeline("example")
pipeline.read_excel("sales", "sales.xlsx").write_parquet("out", "out.parquet")
pipeline.run(engine="pandas")
"""
REJECTS = "  rejects: {from: sales.rejected, parquet: rejects.parquet, mode: overwrite}\n"

PAGES = (
    ErrorPage(
        code="GE1402",
        title="CSV source without a schema",
        cause="A CSV file states no types, so a CSV source needs a `schema`.",
        fix="Add a `schema` with the columns to read and their types, or `schema: infer`.  `gpuetl schema FILE` prints a "
        "schema.",
        kind="pipeline",
        example=SOURCES.replace(", schema: {id: int64, amount: float64}", "") + OUT,
        message="""\
example.yaml:4:16: source 'sales': a CSV source needs a schema  [GE1402]
    sales: {csv: sales.csv}
                 ^^^^^^^^^
Add schema: {column: type, …}, or schema: infer; a CSV file states no types.  gpuetl schema FILE prints one.""",
        fixed=SOURCES + OUT,
    ),
    ErrorPage(
        code="GE1409",
        title="scheme of a path that gpuetl does not support",
        cause=(
            "The path of a source, sink, kernel or pipeline file begins with a scheme, such as `s3://`, that gpuetl does"
            " not support.  Local paths are written plainly, or as `file:///data/sales.csv`."
        ),
        fix="Copy the files to this machine, or mount their store, and give the local path.",
        kind="pipeline",
        example=SOURCES.replace("sales.csv", '"ftp://shop/sales.csv"') + OUT,
        message="""\
example.yaml:4:16: source 'sales': gpuetl does not support the scheme 'ftp' of 'ftp://shop/sales.csv'; it supports local paths and file://, s3://, gs://, az://, https://, http://  [GE1409]
    sales: {csv: "ftp://shop/sales.csv", schema: {id: int64, amount: float64}}
                 ^^^^^^^^^^^^^^^^^^^^^^
Copy the files to this machine, or mount their store, and give the local path.""",
        fixed=SOURCES + OUT,
    ),
    ErrorPage(
        code="GE1413",
        title="rejected rows are not read",
        cause="A source puts bad rows in quarantine, and no stage or sink reads them.  They would be lost.",
        fix="Add a sink or a stage that reads `<source>.rejected`.  To drop the quarantine, use `on_bad_row: fail` or "
        "`null`.",
        kind="pipeline",
        example=SOURCES.replace("}}", "}, on_bad_row: quarantine}") + OUT,
        message="""\
example.yaml:4:16: source 'sales': bad rows go to sales.rejected, and nothing reads it  [GE1413]
    sales: {csv: sales.csv, schema: {id: int64, amount: float64}, on_bad_row: quarantine}
                 ^^^^^^^^^
Add a sink, such as rejects: {from: sales.rejected, parquet: out/rejects}, or a stage.""",
        fixed=SOURCES.replace("}}", "}, on_bad_row: quarantine}") + OUT + REJECTS,
    ),
    ErrorPage(
        code="GE1430",
        title="option of another format",
        cause="A source or sink has a key that only other file formats take.  It would have no effect.",
        fix="Take the key out, or correct the format.",
        kind="pipeline",
        example=SOURCES.replace("}}", "}, verify_pages: true}") + OUT,
        message="""\
example.yaml:4:65: source 'sales': verify_pages is an option of Parquet sources  [GE1430]
    sales: {csv: sales.csv, schema: {id: int64, amount: float64}, verify_pages: true}
                                                                  ^^^^^^^^^^^^
Take it out.  Options of CSV sources: delimiter, quote, escape, comment, header, skip_rows, encoding, compression, nulls, decimal, thousands, date_format, timestamp_format, on_bad_row.""",
        fixed=SOURCES + OUT,
    ),
    ErrorPage(
        code="GE1435",
        title="a line is not one JSON object of the source",
        cause=(
            "A JSON source reads one object a line.  The line is not valid JSON, is another value, has a key twice, or "
            "has a key that the source does not have as a column."
        ),
        fix=(
            "Correct the line, set `on_bad_row: quarantine` to keep such lines apart, or set `extra_columns: ignore` for "
            "keys that are not to be read."
        ),
        kind="pipeline",
        files={"sales.jsonl": '{"id": 1}\n{"id": 2\n'},
        example=JSON + OUT,
        message="""\
example.yaml:4:17: source 'sales': sales.jsonl:2: the line is not valid JSON: Expecting ',' delimiter at character 9  [GE1435]
    sales: {json: sales.jsonl}
                  ^^^^^^^^^^^
on_bad_row: quarantine sets such lines aside.""",
        fixed=JSON.replace("}", ", schema: {id: int64}, on_bad_row: quarantine}") + OUT + REJECTS,
    ),
    ErrorPage(
        code="GE1433",
        title="package of a file format is missing",
        cause="The source has a format that needs a further package: fastavro for Avro, python-calamine for workbooks.",
        fix="Install the extra that the message names.",
        kind="pipeline",
        files={"sales.avro": ""},
        example=SOURCES.replace("csv: sales.csv, schema: {id: int64, amount: float64}", "avro: sales.avro") + OUT,
        message="""\
example.yaml:4:17: source 'sales': reading Avro files needs the package fastavro  [GE1433]
    sales: {avro: sales.avro}
                  ^^^^^^^^^^
Install it: pip install "gpuetl[avro]".""",
        fixed=SOURCES + OUT,
        untested="the tests have the packages",
    ),
    ErrorPage(
        code="GE1434",
        title="cells of a workbook cannot be read",
        cause=(
            "The sheet is not there, a cell has an error such as #N/A or a formula whose value was never saved, or the "
            "workbook is of a kind whose errors cannot be told from empty cells (.xlsb)."
        ),
        fix="Correct the cell or the key `sheet`, or set `error_cells: null` to read errors as null.",
        kind="python",
        example=WORKBOOK.replace("VALUE", '"=2+3"'),
        message="""\
gpuetl.errors.InvalidPipeline: example.py:10: source 'sales': sales.xlsx: sheet 'Sheet', cell A2 has a formula without a value  [GE1434]
    pipeline.read_excel("sales", "sales.xlsx").write_parquet("out", "out.parquet")
Open the workbook in a spreadsheet program, which computes its formulas, and save it.""",
        fixed=WORKBOOK.replace("VALUE", "5"),
    ),
)
