"""CSV files: their options and compression."""

from gpuetl.error_codes.page import ErrorPage
from gpuetl.error_codes.pipeline_file import OUT, SOURCES

PAGES = (
    ErrorPage(
        code="GE1431",
        title="options of a CSV source do not go together",
        cause="Two options of a CSV source have the same character, or an option names a column that the source does "
        "not have or that has another type.",
        fix="Change one of the options, or the type of the column.",
        kind="pipeline",
        example=SOURCES.replace("}}", "}, delimiter: ';', quote: ';'}") + OUT,
        message="""\
example.yaml:4:16: source 'sales': quote and delimiter are the same character, ';'  [GE1431]
    sales: {csv: sales.csv, schema: {id: int64, amount: float64}, delimiter: ';', quote: ';'}
                 ^^^^^^^^^
Change one.""",
        fixed=SOURCES + OUT,
    ),
    ErrorPage(
        code="GE1432",
        title="a compressed file cannot be unpacked",
        cause="A file is not in the compression that its suffix or the source's `compression` names, it was cut off, or "
        "some of its bytes have changed.",
        fix="Copy the file again, or correct `compression`.",
        kind="pipeline",
        files={"sales.csv.gz": "id,amount\n1,10.50\n"},
        example=SOURCES.replace("sales.csv", "sales.csv.gz") + OUT,
        message="""\
example.yaml:4:16: source 'sales': sales.csv.gz is not a gzip file  [GE1432]
    sales: {csv: sales.csv.gz, schema: {id: int64, amount: float64}}
                 ^^^^^^^^^^^^
Set compression: none if it is plain text.""",
        fixed=SOURCES.replace("sales.csv", "sales.csv.gz").replace("}}", "}, compression: none}") + OUT,
    ),
    ErrorPage(
        code="GE1517",
        title="the suffix of a sink's file is that of another compression",
        cause="The path of a sink ends in the suffix of one compression, and the sink has another.",
        fix="Let the path end in the suffix of the compression, such as `.csv.gz`, or take `compression` out.",
        kind="pipeline",
        example=SOURCES + OUT.replace("parquet: out.parquet", "csv: out.csv, compression: gzip"),
        message="""\
example.yaml:6:27: sink 'out': the path ends in .csv, and the files of this sink in .csv.gz  [GE1517]
    out: {from: sales, csv: out.csv, compression: gzip, mode: overwrite}
                            ^^^^^^^
Let the path end in .csv.gz, or take out the sink's compression.""",
        fixed=SOURCES + OUT.replace("parquet: out.parquet", "csv: out.csv.gz"),
    ),
)
