"""Sources: paths, files and columns."""

from gpuetl.error_codes.page import ErrorPage

PAGES = (
    ErrorPage(
        code="GE1401",
        title="the path matches no file",
        cause=("The path of a source does not exist, a glob matches no file, or a folder holds no file of the format."),
        fix=(
            "Correct the path.  Relative paths start at the folder of the pipeline file.  A folder may be empty"
            " if the source states its columns."
        ),
        kind="pipeline",
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sale.csv, schema: {id: int64, amount: float64}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
        message="""\
example.yaml:4:16: source 'sales': sale.csv does not exist  [GE1401]
    sales: {csv: sale.csv, schema: {id: int64, amount: float64}}
                 ^^^^^^^^
Check the path; relative ones start at the pipeline's folder.""",
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
        code="GE1403",
        title="a file cannot be read",
        cause=(
            "A file of a source is missing its permissions, is damaged, is not UTF-8 text, or is not of the "
            "format that the source names."
        ),
        fix="Name the right format, repair the file, or take it out of the path of the source.",
        kind="pipeline",
        example="""\
gpuetl: 1
name: example
sources:
  sales: {parquet: sales.csv}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
        message="""\
example.yaml:4:20: source 'sales': sales.csv is not a Parquet file that can be read: the bytes PAR1 are missing at its end  [GE1403]
    sales: {parquet: sales.csv}
                     ^^^^^^^^^""",
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
        code="GE1404",
        title="a column is missing in a file",
        cause="A file lacks a column that the source reads.  Names are compared with upper and lower case.",
        fix=(
            "Correct the name or the delimiter in the source, or set `missing_columns: null` to read null for "
            "columns that a file lacks."
        ),
        kind="pipeline",
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64, region: string}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
        message="""\
example.yaml:4:16: source 'sales': sales.csv: there is no column 'region'.  Columns: amount, day, id.  [GE1404]
    sales: {csv: sales.csv, schema: {id: int64, amount: float64, region: string}}
                 ^^^^^^^^^
Set missing_columns: null to read null there.""",
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64, region: string}, missing_columns: 'null'}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
    ),
    ErrorPage(
        code="GE1405",
        title="a file has an extra column",
        cause=(
            "A file has a column that the schema of the source, or else its first file, does not have, and the "
            "source sets `extra_columns: error`."
        ),
        fix="Add the column to the schema, or set `extra_columns: ignore` to leave such columns out.",
        kind="pipeline",
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}, extra_columns: error}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
        message="""\
example.yaml:4:16: source 'sales': sales.csv has column 'day', and the source's schema does not  [GE1405]
    sales: {csv: sales.csv, schema: {id: int64, amount: float64}, extra_columns: error}
                 ^^^^^^^^^
Set extra_columns: add to read it, with null for files that lack it, or extra_columns: ignore.""",
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}, extra_columns: ignore}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
    ),
    ErrorPage(
        code="GE1406",
        title="the types of a column disagree",
        cause=(
            "A Parquet file stores a column in a type that does not widen without loss to the type of the "
            "source, or the types of two files do not meet."
        ),
        fix="Write the files with one type, or declare a type in the `schema` of the source to which both widen.",
        kind="python",
        example="""\
import pyarrow as pa
import pyarrow.parquet as pq

from gpuetl import Pipeline

pq.write_table(pa.table({"id": [1, 2]}), "sales-1.parquet")
pq.write_table(pa.table({"id": ["3", "4"]}), "sales-2.parquet")
pipeline = Pipeline("example")
pipeline.read_parquet("sales", "sales-*.parquet").write_parquet("out", "out.parquet")
pipeline.run(engine="pandas")
""",
        message="""\
gpuetl.errors.RunFailed: example.py:9: source 'sales': sales-2.parquet: column 'id' is string, and the source says int64  [GE1406]
    pipeline.read_parquet("sales", "sales-*.parquet").write_parquet("out", "out.parquet")""",
        fixed="""\
import pyarrow as pa
import pyarrow.parquet as pq

from gpuetl import Pipeline

pq.write_table(pa.table({"id": [1, 2]}), "sales-1.parquet")
pq.write_table(pa.table({"id": [3, 4]}), "sales-2.parquet")
pipeline = Pipeline("example")
pipeline.read_parquet("sales", "sales-*.parquet").write_parquet("out", "out.parquet")
pipeline.run(engine="pandas")
""",
    ),
    ErrorPage(
        code="GE1407",
        title="a column type is not supported",
        cause=(
            "A file or a frame has a column of a type that gpuetl does not have, such as a union, or whose values lose "
            "digits in the nearest type."
        ),
        fix=(
            "Name the columns to read in `columns` or `schema` of the source, without this one, or convert the "
            "column before."
        ),
        kind="python",
        example="""\
import pyarrow as pa

from gpuetl import Pipeline

places = pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, 2])])
pipeline = Pipeline("example")
pipeline.from_frame("shops", pa.table({"id": [1, 2], "place": places})).write_parquet("out", "out.parquet")
pipeline.run(engine="pandas")
""",
        message="""\
gpuetl.errors.InvalidPipeline: source 'shops': column 'place' has type sparse_union<0: int64=0>, which gpuetl does not support  [GE1407]
Leave it out, or convert it before.""",
        fixed="""\
import pyarrow as pa

from gpuetl import Pipeline

pipeline = Pipeline("example")
pipeline.from_frame("shops", pa.table({"id": [1, 2]})).write_parquet("out", "out.parquet")
pipeline.run(engine="pandas")
""",
    ),
    ErrorPage(
        code="GE1408",
        title="a partition folder is missing or has a bad value",
        cause=(
            "The source declares `partitions`, and the path of a file has no folder `name=value` for one of "
            "them, or its value is not of the declared type."
        ),
        fix="Correct the name or the type in `partitions`, or rename the folder.",
        kind="pipeline",
        files={
            "lake/month=jan/sales.csv": """\
id,amount
1,10.50
"""
        },
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: lake, schema: {id: int64, amount: float64}, partitions: {month: int64}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
        message="""\
example.yaml:4:16: source 'sales': lake/month=jan/sales.csv: 'month=jan' is not of type int64  [GE1408]
    sales: {csv: lake, schema: {id: int64, amount: float64}, partitions: {month: int64}}
                 ^^^^
Declare 'month' of another type in the source's partitions.""",
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: lake, schema: {id: int64, amount: float64}, partitions: {month: string}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
    ),
    ErrorPage(
        code="GE1410",
        title="a CSV value is not of its type",
        cause=(
            "A value in a CSV file is not written as its type demands.  The table of types in docs/language.md "
            "lists which strings each type accepts."
        ),
        fix=(
            "Correct the file, declare the column as string and convert it in a step, or set `on_bad_row` to "
            "`null` or `quarantine`."
        ),
        kind="pipeline",
        files={
            "prices.csv": """\
id,amount
1,10.50
2,12 EUR
"""
        },
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: prices.csv, schema: {id: int64, amount: float64}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
        message="""\
example.yaml:4:16: source 'sales': prices.csv:3: column 'amount': '12 EUR' is not a valid float64, which is a number such as -1.5e3, inf or nan  [GE1410]
    sales: {csv: prices.csv, schema: {id: int64, amount: float64}}
                 ^^^^^^^^^^
1 of the 2 values of the column in this file is not valid.  on_bad_row: quarantine sets such rows aside; on_bad_row: null reads such values as null.""",
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: prices.csv, schema: {id: int64, amount: string}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
    ),
    ErrorPage(
        code="GE1411",
        title="a row has the wrong number of fields",
        cause=(
            "A row of a CSV file has more or fewer fields than the header.  Often a value contains the delimiter "
            "and is not in quotes."
        ),
        fix="Put such values in quotes, or set `on_bad_row` to `null` or `quarantine`.",
        kind="pipeline",
        files={
            "shops.csv": """\
id,place
1,Bern
2,Paris, France
""",
            "quoted.csv": """\
id,place
1,Bern
2,"Paris, France"
""",
        },
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: shops.csv, schema: {id: int64, place: string}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
        message="""\
example.yaml:4:16: source 'sales': shops.csv:3: 3 fields, expected 2: 2,Paris, France  [GE1411]
    sales: {csv: shops.csv, schema: {id: int64, place: string}}
                 ^^^^^^^^^
Put texts that hold the delimiter in quotes, or set such rows aside: on_bad_row: quarantine.""",
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: quoted.csv, schema: {id: int64, place: string}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
    ),
    ErrorPage(
        code="GE1412",
        title="two columns of a file have one name",
        cause="A file or a frame has two columns of one name, so gpuetl cannot tell which of them to read.",
        fix="Rename one of them in the file.",
        kind="pipeline",
        files={
            "twice.csv": """\
id,amount,amount
1,10.50,11.00
""",
            "renamed.csv": """\
id,amount,gross
1,10.50,11.00
""",
        },
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: twice.csv, schema: {id: int64, amount: float64}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
        message="""\
example.yaml:4:16: source 'sales': twice.csv: two columns are named 'amount'  [GE1412]
    sales: {csv: twice.csv, schema: {id: int64, amount: float64}}
                 ^^^^^^^^^
Rename one in the header.""",
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: renamed.csv, schema: {id: int64, amount: float64}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
    ),
    ErrorPage(
        code="GE1414",
        title="a CSV file has no header",
        cause=(
            "A CSV file is empty, or a column has no name in its first line.  The first line of a CSV file "
            "holds the names of the columns."
        ),
        fix="Add the header line, or take the file out of the path of the source.",
        kind="pipeline",
        files={
            "in/a.csv": """\
id,amount
1,10.50
""",
            "in/b.csv": "",
        },
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: in, schema: {id: int64, amount: float64}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
        message="""\
example.yaml:4:16: source 'sales': in/b.csv: empty; a CSV file begins with a line of column names  [GE1414]
    sales: {csv: in, schema: {id: int64, amount: float64}}
                 ^^
Add the header line, or take the file out of the source's path.""",
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: in/a.csv, schema: {id: int64, amount: float64}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
    ),
    ErrorPage(
        code="GE1415",
        title="a quote is not closed",
        cause=(
            "A field of a CSV file opens with a quote that is never closed, so the end of its row is not known."
            "  `on_bad_row` does not apply."
        ),
        fix="Close the quote.  A quote inside a field in quotes is written twice.",
        kind="pipeline",
        files={
            "open.csv": """\
id,place
1,"Bern
2,Paris
""",
            "closed.csv": """\
id,place
1,"Bern"
2,Paris
""",
        },
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: open.csv, schema: {id: int64, place: string}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
        message="""\
example.yaml:4:16: source 'sales': open.csv: the quote that opens in line 2 is not closed.  Close it; inside of a field in quotes, a quote is written twice.  [GE1415]
    sales: {csv: open.csv, schema: {id: int64, place: string}}
                 ^^^^^^^^""",
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: closed.csv, schema: {id: int64, place: string}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
    ),
    ErrorPage(
        code="GE1420",
        title="a source file changed during the run",
        cause=(
            "A file of a source is not what it was when the run planned it: another program replaced, changed, moved or "
            "deleted it.  gpuetl compares size, modification time and inode whenever it opens a file, and once more after "
            "it has read it.  Rows of two versions would be mixed, so the run stops and changes no sink."
        ),
        fix=(
            "Run again when the files are complete.  Programs that write while others read should write to a new name and "
            "rename the file when it is complete."
        ),
        kind="command",
        example="gpuetl run example.yaml",
        message="""\
error: example.yaml:4:16: source 'sales': sales.csv changed during the run: its size was 61 bytes and is 84 now, it was last modified at 2026-01-02 08:00:00.250000 UTC and is from 2026-01-02 08:00:07.500000 UTC now  [GE1420]
    sales: {csv: sales.csv, schema: {id: int64, amount: float64}}
                 ^^^^^^^^^
Run again when no other program changes the files of the source.""",
        untested="a program must change the file while the run reads it",
    ),
    ErrorPage(
        code="GE1421",
        title="the path is not a file",
        cause=(
            "The path of a source, or what a glob or a folder has under the name of a data file, is a named pipe, a socket, "
            "a device, or a link that leads to nothing or to itself.  gpuetl reads a file more than once, and needs its "
            "size."
        ),
        fix="Write the rows to a file, repair the link, or take it out of the path of the source.",
        kind="python",
        example="""\
import os

from gpuetl import Pipeline

os.mkfifo("rows.csv")
pipeline = Pipeline("example")
pipeline.read_csv("rows", "rows.csv", {"id": "int64"}).write_parquet("out", "out.parquet")
pipeline.run(engine="pandas")
""",
        message="""\
gpuetl.errors.RunFailed: example.py:7: source 'rows': rows.csv is a named pipe (FIFO), and gpuetl reads files  [GE1421]
    pipeline.read_csv("rows", "rows.csv", {"id": "int64"}).write_parquet("out", "out.parquet")
Write the rows to a file, or take it out of the source's path.""",
        fixed="""\
from pathlib import Path

from gpuetl import Pipeline

Path("rows.csv").write_text("id\\n1\\n")
pipeline = Pipeline("example")
pipeline.read_csv("rows", "rows.csv", {"id": "int64"}).write_parquet("out", "out.parquet")
pipeline.run(engine="pandas")
""",
    ),
    ErrorPage(
        code="GE1422",
        title="a folder cannot be listed",
        cause=(
            "The user of the run may not list a folder of a source, or may not enter one on the way to a file.  The rows "
            "below it would be missing, so the run stops."
        ),
        fix="Give the user the permission to read and enter the folder, or choose a path that leaves the folder out.",
        kind="pipeline",
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: lake, schema: {id: int64, amount: float64}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
        message="""\
error: example.yaml:4:16: source 'sales': cannot list the folder lake/2026: Permission denied  [GE1422]
    sales: {csv: lake, schema: {id: int64, amount: float64}}
                 ^^^^
Give the user of the run the permission to read and enter it, or leave it out of the source's path.""",
        untested="root may list every folder",
    ),
    ErrorPage(
        code="GE1460",
        title="text follows a closing quote",
        cause=(
            "A quoted field of a CSV file has text after its closing quote.  Either a quote "
            "inside of the field is not written twice, or a quote before it is not closed and the field swallows "
            "the rows between them."
        ),
        fix=(
            "Write a quote inside of a field in quotes twice, close the open quote, or set `on_bad_row` to `null` "
            "or `quarantine`."
        ),
        kind="pipeline",
        files={
            "pipes.csv": """\
id,place
1,"2" pipe"
""",
            "doubled.csv": """\
id,place
1,"2"" pipe"
""",
        },
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: pipes.csv, schema: {id: int64, place: string}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
        message="""\
example.yaml:4:16: source 'sales': pipes.csv:2: text follows the closing quote of a field: 1,"2" pipe"  [GE1460]
    sales: {csv: pipes.csv, schema: {id: int64, place: string}}
                 ^^^^^^^^^
Inside of a field in quotes, write a quote twice.  Or is a quote before it not closed?""",
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: doubled.csv, schema: {id: int64, place: string}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
""",
    ),
)
