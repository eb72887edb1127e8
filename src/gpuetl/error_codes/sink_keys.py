"""Keys of sinks."""

from gpuetl.error_codes.page import ErrorPage
from gpuetl.error_codes.pipeline_file import OUT, SOURCES

WORDS = "stages:\n  words: {from: sales, steps: [select: {parts: \"split('a b', ' ')\"}]}\n"

PAGES = (
    ErrorPage(
        code="GE1502",
        title="paths overlap",
        cause="A sink would write to the path of another sink or of a source, inside it, or over the folder of the "
        "pipeline.",
        fix="Give every sink a different path, outside the sources' folders.",
        kind="pipeline",
        example=SOURCES + OUT + "  copy: {from: sales, parquet: out.parquet, mode: overwrite}\n",
        message="""\
example.yaml:7:32: sink 'copy': writes the same path as sink 'out'  [GE1502]
    copy: {from: sales, parquet: out.parquet, mode: overwrite}
                                 ^^^^^^^^^^^
Give it a different path.""",
        fixed=SOURCES + OUT + "  copy: {from: sales, parquet: copy.parquet, mode: overwrite}\n",
    ),
    ErrorPage(
        code="GE1503",
        title="mode does not fit the path or keys",
        cause="The mode `append` needs a folder, and the path is one file.  Or the mode `replace_partitions` is used "
        "without `partition_by`.",
        fix="For `append`, write a path without a suffix, which is a folder.  For `replace_partitions`, add "
        "`partition_by`.",
        kind="pipeline",
        example=SOURCES + OUT.replace("overwrite", "append"),
        message="""\
example.yaml:6:31: sink 'out': mode append needs a folder, and this path is one file  [GE1503]
    out: {from: sales, parquet: out.parquet, mode: append}
                                ^^^^^^^^^^^
Leave out the suffix.""",
        fixed=SOURCES + OUT.replace("out.parquet", "out").replace("overwrite", "append"),
    ),
    ErrorPage(
        code="GE1504",
        title="partition_by cannot be used here",
        cause="The columns of `partition_by` are in the folders' names and not in the files.  Here no column would be "
        "left for the files, the path is a single file, or a column's type cannot be written as a folder's name.",
        fix="Leave out a column of `partition_by`, or write to a folder.",
        kind="pipeline",
        example=SOURCES + OUT.replace("out.parquet", "out, partition_by: [id, amount]"),
        message="""\
example.yaml:6:51: sink 'out': partition_by takes every column, so that files would have none  [GE1504]
    out: {from: sales, parquet: out, partition_by: [id, amount], mode: overwrite}
                                                    ^^
Leave one out.""",
        fixed=SOURCES + OUT.replace("out.parquet", "out, partition_by: [id]"),
    ),
    ErrorPage(
        code="GE1505",
        title="the format cannot hold the column",
        cause="A column is a list, and a CSV file holds one string per value; or it has a type that the format does not "
        "have, such as an unsigned integer in ORC, or a duration in JSON.",
        fix="Write Parquet, or turn the list into rows with `explode`.  In a source, declare the column as a string "
        "and split it.",
        kind="pipeline",
        example=SOURCES + WORDS + "sinks:\n  out: {from: words, csv: out.csv, mode: overwrite}\n",
        message="""\
example.yaml:8:27: sink 'out': a CSV file cannot hold lists, and 'parts' is one  [GE1505]
    out: {from: words, csv: out.csv, mode: overwrite}
                            ^^^^^^^
Use Parquet, or explode it.""",
        fixed=SOURCES + WORDS + "sinks:\n  out: {from: words, parquet: out.parquet, mode: overwrite}\n",
    ),
    ErrorPage(
        code="GE1507",
        title="run_key without mode append",
        cause="`run_key` marks the files that a run appends, so that a repeated run replaces them.  Other modes append "
        "no files.",
        fix="Use `mode: append`, or leave out `run_key`.",
        kind="pipeline",
        example="gpuetl: 1\nname: example\nparams:\n  day: {type: date, default: 2026-01-02}\n"
        + SOURCES.split("\n", 2)[2]
        + OUT.replace("out.parquet", "out, run_key: [day]"),
        message="""\
example.yaml:8:46: sink 'out': run_key is for mode append, and the mode is overwrite  [GE1507]
    out: {from: sales, parquet: out, run_key: [day], mode: overwrite}
                                               ^^^
Leave it out.""",
        fixed="gpuetl: 1\nname: example\nparams:\n  day: {type: date, default: 2026-01-02}\n"
        + SOURCES.split("\n", 2)[2]
        + OUT.replace("out.parquet", "out, run_key: [day]").replace("overwrite", "append"),
    ),
)
