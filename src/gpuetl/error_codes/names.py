"""Names that do not exist, or exist twice."""

from gpuetl.error_codes.page import ErrorPage
from gpuetl.error_codes.pipeline_file import OUT, RUN, SOURCES, WITH_PARAMETER

PAGES = (
    ErrorPage(
        code="GE1003",
        title="unknown column",
        cause="A step or an expression names a column that its input does not have at this point.  The message lists "
        "the columns that it has.",
        fix="Correct the name.  If an earlier step drops, renames or aggregates the column, use its new name, or keep "
        "the column there.",
        example="- filter: amuont > 0",
        message="""\
example.yaml:9:17: stage 'result', step 1: unknown column 'amuont'  [GE1003]
    - filter: amuont > 0
              ^^^^^^
Columns: amount, day, id. Did you mean 'amount'?""",
        fixed="- filter: amount > 0",
    ),
    ErrorPage(
        code="GE1020",
        title="unknown source or stage",
        cause="A stage, join, union, rule or sink reads a source or stage that the pipeline does not declare.  The "
        "message lists those that it has.",
        fix="Correct the name, or declare the source or stage.",
        kind="pipeline",
        example=SOURCES + OUT.replace("from: sales", "from: sale"),
        message="""\
example.yaml:6:15: sink 'out': unknown source or stage 'sale'  [GE1020]
    out: {from: sale, parquet: out.parquet, mode: overwrite}
                ^^^^
Sources and stages: sales. Did you mean 'sales'?""",
        fixed=SOURCES + OUT,
    ),
    ErrorPage(
        code="GE1021",
        title="unknown parameter",
        cause="A value is given to a parameter, or an expression or `run_key` uses one, that the pipeline does not "
        "declare.",
        fix="Correct the name, or declare the parameter under `params`.",
        files={"example.yaml": WITH_PARAMETER},
        kind="command",
        example=f"{RUN} -p min_amount=1 -p max=9",
        message="""\
unknown parameter 'max'  [GE1021]
Parameters: min_amount.""",
        fixed=f"{RUN} -p min_amount=1",
    ),
    ErrorPage(
        code="GE1022",
        title="unknown function",
        cause="An expression calls a function that gpuetl does not have.  If gpuetl has it under another name, the "
        "message says so.",
        fix="Use a function of docs/functions.md, or write a kernel.",
        example="- with_columns: {size: absolute(amount)}",
        message="""\
example.yaml:9:30: stage 'result', step 1: unknown function 'absolute'  [GE1022]
    - with_columns: {size: absolute(amount)}
                           ^^^^^^^^
docs/functions.md lists all functions.""",
        fixed="- with_columns: {size: abs(amount)}",
    ),
    ErrorPage(
        code="GE1023",
        title="two columns of one name",
        cause="A step gives a column a name that another column of its result has.",
        fix="Choose another name, or drop the other column first.",
        example="- rename: {id: key, day: key}",
        message="""\
example.yaml:9:22: stage 'result', step 1: rename gives two columns the name 'key'  [GE1023]
    - rename: {id: key, day: key}
                   ^^^
Drop one of them first.""",
        fixed="- rename: {id: key, day: sold_on}",
    ),
    ErrorPage(
        code="GE1024",
        title="a column of the same step",
        cause="An expression uses a column that the same step computes.  All expressions of a step see the step's "
        "input.",
        fix="Compute the second column in a separate step.",
        example="- with_columns:\n    tax: amount * 0.2\n    total: amount + tax",
        message="""\
example.yaml:11:27: stage 'result', step 1: 'tax' is computed in this same step  [GE1024]
    total: amount + tax
                    ^^^
Compute what needs 'tax' in a with_columns step after this one.""",
        fixed="- with_columns: {tax: amount * 0.2}\n- with_columns: {total: amount + tax}",
    ),
    ErrorPage(
        code="GE1025",
        title="unknown type",
        cause="A schema, a parameter, a cast or a kernel names a type that gpuetl does not have.  The message lists "
        "the types.",
        fix="Use one of the types that the message lists.",
        example="- cast: {id: integer128}",
        message="""\
example.yaml:9:20: stage 'result', step 1: unknown type 'integer128'  [GE1025]
    - cast: {id: integer128}
                 ^^^^^^^^^^
Types: bool, boolean, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, string, date, timestamp, duration, timestamp_ns, time, binary, uuid, decimal(p,s), timestamp[ZONE], list<TYPE>, struct<a: TYPE, b: TYPE>, map<KEY, VALUE>, binary(n).""",
        fixed="- cast: {id: int32}",
    ),
    ErrorPage(
        code="GE1026",
        title="unknown time zone",
        cause="A type or a function names a time zone that is not in the tz database, and is not an offset from UTC.",
        fix="Use a name of the tz database such as `Europe/Berlin`, or an offset such as `+01:00`.  If no zone is "
        "found at all, install the package tzdata.",
        example="- with_columns:\n    at: CAST(day AS timestamp) AT TIME ZONE 'Europe/Berlim'",
        message="""\
example.yaml:10:20: stage 'result', step 1: AT TIME ZONE does not know the time zone 'Europe/Berlim'  [GE1026]
    at: CAST(day AS timestamp) AT TIME ZONE 'Europe/Berlim'
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
Did you mean 'Europe/Berlin'?""",
        fixed="- with_columns:\n    at: CAST(day AS timestamp) AT TIME ZONE 'Europe/Berlin'",
    ),
)
