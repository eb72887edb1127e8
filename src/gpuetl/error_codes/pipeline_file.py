"""The pipeline file."""

from gpuetl.error_codes.page import ErrorPage

SOURCES = """\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}}
"""
OUT = """\
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
"""
WITH_PARAMETER = """\
gpuetl: 1
name: example
params:
  min_amount: {type: float64, required: true}
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}, filter: amount >= $min_amount}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
"""
RUN = "gpuetl run example.yaml --engine pandas --quiet"

PAGES = (
    ErrorPage(
        code="GE1001",
        title="not valid YAML",
        cause="The file is not valid YAML.  The place in the message is where the mistake begins, or the first place "
        "where YAML cannot go on.",
        fix="Correct the line.  Frequent causes are a quote or bracket that is not closed, a tab, lines that are not "
        "indented alike, and a colon in a value without quotes.",
        example="- filter: 'amount > 0",
        message="""\
example.yaml:9:17: this quote is not closed  [GE1001]
    - filter: 'amount > 0
              ^
Close it with '. Write a quote inside the string twice: 'it''s'.""",
        fixed="- filter: 'amount > 0'",
    ),
    ErrorPage(
        code="GE1002",
        title="the pipeline file cannot be read",
        cause="The file does not exist, is not UTF-8 text, is empty, or exceeds a limit: 1,048,576 characters, or 64 "
        "levels of nesting.",
        fix="Check the path, and save the file as UTF-8.  Split a pipeline that is too large.",
        files={"example.yaml": SOURCES + OUT},
        kind="command",
        example="gpuetl run exmaple.yaml --engine pandas --quiet",
        message="""\
cannot read exmaple.yaml: No such file or directory  [GE1002]
Give the path of a pipeline's YAML file.""",
        fixed=RUN,
    ),
    ErrorPage(
        code="GE1004",
        title="YAML feature that gpuetl does not support",
        cause="gpuetl supports plain maps, lists and values.  The file uses an anchor, an alias, a merge key, a tag or "
        "a directive, has a second document, or has a list or map as a key.",
        fix="Write the value out.  To use the same rows twice, give them a name as a stage.  Write a value that begins "
        "with &, * or ! in quotes.",
        kind="pipeline",
        example=SOURCES + OUT.replace("out.parquet", "&path out.parquet"),
        message="""\
example.yaml:6:31: gpuetl does not support anchors and aliases  [GE1004]
    out: {from: sales, parquet: &path out.parquet, mode: overwrite}
                                ^^^^^^^^^^^^^^^^^
Write it out, or make it a stage.""",
        fixed=SOURCES + OUT,
    ),
    ErrorPage(
        code="GE1005",
        title="key given twice",
        cause="A map has the same key twice.  Only one of the two values could count.",
        fix="Delete one of the two keys, or rename it.",
        example="- with_columns:\n    tax: amount * 0.1\n    tax: amount * 0.2",
        message="""\
example.yaml:11:11: the key 'tax' is here twice  [GE1005]
    tax: amount * 0.2
    ^^^
The first is on line 10.""",
        fixed="- with_columns:\n    tax: amount * 0.2",
    ),
    ErrorPage(
        code="GE1006",
        title="unknown key",
        cause="A map has a key that gpuetl does not know there.  The message lists the keys that it takes.",
        fix="Correct the spelling, indent the key where it belongs, or delete it.",
        kind="pipeline",
        example=SOURCES + OUT.replace("mode", "if_exists"),
        message="""\
example.yaml:6:44: sink 'out': unknown key 'if_exists'  [GE1006]
    out: {from: sales, parquet: out.parquet, if_exists: overwrite}
                                             ^^^^^^^^^
Keys: from, partition_by, sort_by, mode, on, on_empty, run_key, keep_foreign, storage, storage_options, compression, row_group_rows, statistics, page_index, bloom_filters, dictionary.""",
        fixed=SOURCES + OUT,
    ),
    ErrorPage(
        code="GE1007",
        title="missing key",
        cause="A key that must be given is missing.",
        fix="Add the key.  The message says what it takes.",
        example="- join: {on: id, how: semi}",
        message="""\
example.yaml:9:15: stage 'result', step 1: the key 'with' is missing  [GE1007]
    - join: {on: id, how: semi}
            ^^^^^^^^^^^^^^^^^^^
It takes a name.""",
        fixed="- join: {with: sales, on: id, how: semi}",
    ),
    ErrorPage(
        code="GE1008",
        title="value that a key does not take",
        cause="A key has a value of the wrong kind, out of its range, or not among its choices.",
        fix="Use a value that the message lists.",
        example="- limit: ten",
        message="""\
example.yaml:9:16: stage 'result', step 1: takes a whole number, got text 'ten'  [GE1008]
    - limit: ten
             ^^^""",
        fixed="- limit: 10",
    ),
    ErrorPage(
        code="GE1009",
        title="unknown language version",
        cause="The key `gpuetl` names the version of the pipeline language, and your gpuetl does not know that "
        "version.",
        fix="Write `gpuetl: 1`.  If the file needs a later version of the language, upgrade gpuetl.",
        kind="pipeline",
        example=(SOURCES + OUT).replace("gpuetl: 1", "gpuetl: 9"),
        message="""\
example.yaml:1:9: version 9 of the language is not supported  [GE1009]
    gpuetl: 9
            ^
This is gpuetl: 1.""",
        fixed=SOURCES + OUT,
    ),
    ErrorPage(
        code="GE1010",
        title="unknown step",
        cause="A stage has a step that gpuetl does not know.  The message lists the steps.",
        fix="Use one of the steps that the message lists.",
        example="- where: amount > 0",
        message="""\
example.yaml:9:9: stage 'result', step 1: unknown step 'where'  [GE1010]
    - where: amount > 0
      ^^^^^
Steps: filter, select, with_columns, drop, rename, cast, join, aggregate, window, kernel, sort, distinct, limit, union, intersect, except, explode, unnest, pivot, unpivot, fill_gaps, fill_null, sample, fit, apply. Did you mean 'filter'?""",
        fixed="- filter: amount > 0",
    ),
    ErrorPage(
        code="GE1011",
        title="a step is one verb and its arguments",
        cause="An item of `steps` is not a map with exactly one key.  Often two steps share one dash, or the arguments "
        "are missing.",
        fix="Begin each step with its own dash.  Write `{}` for a step without arguments.",
        example="- filter: amount > 0\n  limit: 10",
        message="""\
example.yaml:9:9: stage 'result', step 1: a step is one verb and its arguments  [GE1011]
    - filter: amount > 0
      ^^^^^^^^^^^^^^^^^^
Begin each step with its own dash.""",
        fixed="- filter: amount > 0\n- limit: 10",
    ),
    ErrorPage(
        code="GE1012",
        title="not a valid name",
        cause="The name of a parameter, source, stage or sink has a character that names cannot have, or begins with a "
        "digit.",
        fix="Use letters, digits and `_`, and begin with a letter or `_`.",
        kind="pipeline",
        example=SOURCES + OUT.replace("out: {", "all-sales: {"),
        message="""\
example.yaml:6:3: 'all-sales' is not a valid name of a sink  [GE1012]
    all-sales: {from: sales, parquet: out.parquet, mode: overwrite}
    ^^^^^^^^^
Use letters, digits and _.""",
        fixed=SOURCES + OUT.replace("out: {", "all_sales: {"),
    ),
    ErrorPage(
        code="GE1013",
        title="name declared twice",
        cause="Two parts of a pipeline have the same name.  Sources and stages share their names, since steps and "
        "sinks read both.",
        fix="Give one of them another name.",
        kind="pipeline",
        example=SOURCES + "stages:\n  sales: {from: sales, steps: [filter: amount > 0]}\n" + OUT,
        message="""\
example.yaml:6:3: 'sales' is a source and a stage  [GE1013]
    sales: {from: sales, steps: [filter: amount > 0]}
    ^^^^^
Rename one.""",
        fixed=SOURCES
        + "stages:\n  paid: {from: sales, steps: [filter: amount > 0]}\n"
        + OUT.replace("from: sales", "from: paid"),
    ),
    ErrorPage(
        code="GE1014",
        title="stages go in a circle",
        cause="A stage reads itself, directly or through other stages.  The message lists the stages of the circle.",
        fix="Begin one of the stages with a source, or with a stage outside the circle.",
        kind="pipeline",
        example=SOURCES
        + "stages:\n  paid: {from: large, steps: [filter: amount > 0]}\n"
        + "  large: {from: paid, steps: [filter: amount > 10]}\n"
        + OUT.replace("from: sales", "from: large"),
        message="""\
example.yaml:6:16: stage 'paid': the stages go in a circle: paid → large → paid  [GE1014]
    paid: {from: large, steps: [filter: amount > 0]}
                 ^^^^^
Begin one of them with a source.""",
        fixed=SOURCES
        + "stages:\n  paid: {from: sales, steps: [filter: amount > 0]}\n"
        + "  large: {from: paid, steps: [filter: amount > 10]}\n"
        + OUT.replace("from: sales", "from: large"),
    ),
    ErrorPage(
        code="GE1015",
        title="a comma cuts an expression in { }",
        cause="An expression without quotes stands in `{ }` and has a comma.  YAML ends the value there.",
        fix="Write the expression in quotes, or on a separate line.",
        example="- with_columns: {paid: coalesce(amount, 0)}",
        message="""\
example.yaml:9:30: a comma in { } ends the value 'coalesce(amount'  [GE1015]
    - with_columns: {paid: coalesce(amount, 0)}
                           ^^^^^^^^^^^^^^^^^^^
Quote the expression, or write it on a separate line.""",
        fixed="- with_columns: {paid: 'coalesce(amount, 0)'}",
    ),
    ErrorPage(
        code="GE1016",
        title="a parameter has no value",
        cause="The pipeline declares a parameter as required, and the run gives it no value.",
        fix="Give the value with `-p NAME=VALUE`, in Python with `params={name: value}`.  Or declare a default.",
        files={"example.yaml": WITH_PARAMETER},
        kind="command",
        example=RUN,
        message="""\
parameter 'min_amount' (float64) has no value  [GE1016]
Give it with -p min_amount=VALUE.""",
        fixed=f"{RUN} -p min_amount=1",
    ),
    ErrorPage(
        code="GE1017",
        title="a parameter's value is not of its type",
        cause="The value or the default of a parameter is not a valid value of the declared type.",
        fix="Write the value as the type needs it, such as `2026-11-01` for a date and `1000` for a number.",
        files={"example.yaml": WITH_PARAMETER},
        kind="command",
        example=f"{RUN} -p min_amount=1,000",
        message="""\
parameter 'min_amount': '1,000' is not a valid float64  [GE1017]""",
        fixed=f"{RUN} -p min_amount=1000",
    ),
    ErrorPage(
        code="GE1018",
        title="wrong declaration of a parameter",
        cause="A parameter has no default and is not required, its type is a list, or its default is not a single "
        "value.",
        fix="Add `required: true` or a `default`.  `default: null` is a default, too.",
        kind="pipeline",
        example=WITH_PARAMETER.replace(", required: true", ""),
        message="""\
example.yaml:4:15: parameter 'min_amount': has neither required: true nor a default  [GE1018]
    min_amount: {type: float64}
                ^^^^^^^^^^^^^^^
Add required: true, or a default.""",
        fixed=WITH_PARAMETER.replace("required: true", "default: 1"),
    ),
    ErrorPage(
        code="GE1019",
        title="${...} in a path cannot be filled in",
        cause="A path refers to something that does not exist, or to an environment variable that is not set.",
        fix="Use `${params.NAME}` with a declared parameter, `${env.NAME:-default}` or `${run.id}`.",
        kind="pipeline",
        example=SOURCES + OUT.replace("out.parquet", '"${run.date}.parquet"'),
        message="""\
example.yaml:6:31: sink 'out': unknown reference '${run.date}': a path takes ${params.NAME}, ${env.NAME:-default} and ${run.id}  [GE1019]
    out: {from: sales, parquet: "${run.date}.parquet", mode: overwrite}
                                ^^^^^^^^^^^^^^^^^^^^^""",
        fixed=SOURCES + OUT.replace("out.parquet", '"${run.id}.parquet"'),
    ),
    ErrorPage(
        code="GE1027",
        title="path outside of the sandbox",
        cause="The pipeline runs with --sandbox, and a source or a sink lies outside of that folder, or a symbolic "
        "link leads out of it.",
        fix="Use a path in the sandbox.  If you trust the author of the file, run it without --sandbox.",
        kind="pipeline",
        example=SOURCES + OUT.replace("out.parquet", "/etc/out.parquet"),
        message="""\
example.yaml:6:31: sink 'out': /etc/out.parquet is outside of the sandbox .  [GE1027]
    out: {from: sales, parquet: /etc/out.parquet, mode: overwrite}
                                ^^^^^^^^^^^^^^^^
Use a path in the sandbox, or run without --sandbox if you trust the author of the file.""",
        fixed=SOURCES + OUT,
        untested="it needs --sandbox",
    ),
    ErrorPage(
        code="GE1028",
        title="code or environment variable in a sandbox",
        cause="The pipeline runs with --sandbox, and has a kernel step, whose twin is Python code, or a path that reads "
        "an environment variable.",
        fix="If you trust the author of the file, run it without --sandbox.",
        kind="pipeline",
        example=SOURCES + OUT.replace("out.parquet", '"${env.HOME}/out.parquet"'),
        message="""\
example.yaml:6:31: sink 'out': '${env.HOME}/out.parquet' reads an environment variable, which a sandbox does not allow  [GE1028]
    out: {from: sales, parquet: "${env.HOME}/out.parquet", mode: overwrite}
                                ^^^^^^^^^^^^^^^^^^^^^^^^^
Use a path in the sandbox, or run without --sandbox if you trust the author of the file.""",
        fixed=SOURCES + OUT,
        untested="it needs --sandbox",
    ),
)
