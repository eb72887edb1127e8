"""Pipelines of several files: includes, profiles, values of parameters, `.env`."""

from gpuetl.error_codes.page import ErrorPage
from gpuetl.error_codes.pipeline_file import OUT, RUN, SOURCES, WITH_PARAMETER

INCLUDING = """\
gpuetl: 1
name: example
include: sources.yaml
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
"""
INCLUDED = SOURCES.replace("name: example\n", "")
PROFILES = """\
gpuetl: 1
name: example
profiles:
  dev: {engine: pandas}
  prod: {engine: pandas, memory: 8GB}
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}}
sinks:
  out: {from: sales, parquet: out.parquet, mode: overwrite}
"""
LISTS = """\
gpuetl: 1
name: example
params:
  rates: {type: "map<string, int64>", default: {EU: 1, US: 2}}
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}}
stages:
  result:
    from: sales
    steps:
      - with_columns: {rate: $rates}
sinks:
  out: {from: result, parquet: out.parquet, mode: overwrite}
"""

PAGES = (
    ErrorPage(
        code="GE1030",
        title="unknown profile",
        cause="`--profile`, `load(profile=…)` or the environment variable GPUETL_PROFILE names a profile that the "
        "pipeline does not have.",
        fix="Correct the name, or add the profile under `profiles`.",
        kind="command",
        files={"example.yaml": PROFILES},
        example=f"{RUN} --profile prd",
        message="""\
unknown profile 'prd'  [GE1030]
Profiles: dev, prod. Did you mean 'prod'?""",
        fixed=f"{RUN} --profile prod",
    ),
    ErrorPage(
        code="GE1031",
        title="a map in the place of a single value",
        cause="A parameter that is a map stands where an engine needs a single value or a column, or a list, struct or map "
        "stands in a path.  The parts of such parameters are constants.",
        fix="Take a part of it: `$ids[1]`, `$limits.least`, `$rates[currency]`.  A list stands as a whole.  To have the map "
        "as a column, put it into a file of one row, such as JSON, and join that with `how: cross`.",
        kind="pipeline",
        example=LISTS,
        message="""\
example.yaml:11:30: stage 'result', step 1: a constant of map<string, int64> cannot stand here as a whole  [GE1031]
    - with_columns: {rate: $rates}
                           ^^^^^^
A map takes [key]; a list, or a struct, stands as a whole.  To have all of it in each row, put it into a file of one row, and write join: {with: SOURCE, how: cross}.""",
        fixed=LISTS.replace("rate: $rates", "rate: \"$rates['EU']\""),
    ),
    ErrorPage(
        code="GE1032",
        title="files include each other",
        cause="A file includes itself, directly or through other files.",
        fix="Take one of the includes out.  Put what both files need into a third one.",
        kind="pipeline",
        files={"sources.yaml": INCLUDED.replace("gpuetl: 1\n", "gpuetl: 1\ninclude: sources.yaml\n")},
        example=INCLUDING,
        message="""\
sources.yaml:2:10: the files include each other: sources.yaml → sources.yaml  [GE1032]
    include: sources.yaml
             ^^^^^^^^^^^^
Take one of the includes out.""",
    ),
    ErrorPage(
        code="GE1033",
        title="an included file cannot be read",
        cause="A file under `include` does not exist, or its path is not that of one file.  Paths begin at the folder of "
        "the file that includes.",
        fix="Correct the path.",
        kind="pipeline",
        files={"sources.yaml": INCLUDED},
        example=INCLUDING.replace("sources.yaml", "source.yaml"),
        message="""\
example.yaml:3:10: include: cannot read source.yaml: No such file or directory  [GE1033]
    include: source.yaml
             ^^^^^^^^^^^
Check the path: it begins at this file's folder.""",
        fixed=INCLUDING,
    ),
    ErrorPage(
        code="GE1034",
        title="a stage that an included file does not have",
        cause="`stages` of an entry under `include` names a stage that its file does not declare.",
        fix="Correct the name.  The message lists the stages of the file.",
        kind="pipeline",
        files={"sources.yaml": INCLUDED + "stages:\n  known: {from: sales, steps: [filter: id < 3]}\n"},
        example=INCLUDING.replace("sources.yaml", "[{file: sources.yaml, stages: [knwon]}]").replace(
            "from: sales", "from: known"
        ),
        message="""\
example.yaml:3:41: sources.yaml has no stage 'knwon'  [GE1034]
    include: [{file: sources.yaml, stages: [knwon]}]
                                            ^^^^^
Stages: known. Did you mean 'known'?""",
        fixed=INCLUDING.replace("sources.yaml", "[{file: sources.yaml, stages: [known]}]").replace(
            "from: sales", "from: known"
        ),
    ),
    ErrorPage(
        code="GE1035",
        title="a line in .env that is no variable",
        cause="The file `.env` next to the pipeline has a line that is not `NAME=value`.  The message does not show the "
        "line, which may hold a secret.",
        fix="Write one variable a line.  Put values with `#` or spaces at their ends in quotes.",
        kind="pipeline",
        files={".env": "LAKE sales.csv\n"},
        example=SOURCES.replace("sales.csv", '"${env.LAKE:-sales.csv}"') + OUT,
        message="""\
.env:1: is not NAME=value  [GE1035]
Write NAME=value, one a line; quote values with spaces around them or a #.""",
    ),
    ErrorPage(
        code="GE1036",
        title="a file with values of parameters cannot be read",
        cause="The file of `--params-file` does not exist, or is not a map of names to values.",
        fix="Correct the path.  Write one `NAME: value` per line.",
        kind="command",
        files={"example.yaml": WITH_PARAMETER, "values.yaml": "min_amount: 1.5\n"},
        example=f"{RUN} --params-file value.yaml",
        message="""\
cannot read value.yaml: No such file or directory  [GE1036]
--params-file takes a YAML file.""",
        fixed=f"{RUN} --params-file values.yaml",
    ),
    ErrorPage(
        code="GE1037",
        title="a path of an included file cannot be written into one file",
        cause="`to_yaml` writes a pipeline of several files as one.  A path in an included file begins with a reference, "
        "such as `${env.LAKE}`, so whether it is relative to that file's folder is not known.",
        fix="Write a folder in front of the reference, or keep the files as they are.",
        kind="python",
        files={
            "example.yaml": INCLUDING.replace("sources.yaml", "shared/sources.yaml"),
            "shared/sources.yaml": INCLUDED.replace("sales.csv", '"${env.LAKE:-sales}.csv"'),
        },
        example="""\
import gpuetl

print(gpuetl.load("example.yaml").to_yaml())
""",
        message="""\
gpuetl.errors.InvalidPipeline: '${env.LAKE:-sales}.csv' stands in an included file: whether it is relative is not known  [GE1037]
Write a folder in front of it, or keep the files as they are.""",
    ),
    ErrorPage(
        code="GE1045",
        title="a file of a new project exists already",
        cause="`gpuetl init` never changes a file.  The folder has one of the files that it writes, or cannot be written.",
        fix="Give another NAME, or remove the file.",
        kind="command",
        files={"shop/pipeline.yaml": INCLUDED},
        example="gpuetl init shop",
        message="""\
shop/pipeline.yaml exists already  [GE1045]
Give another NAME, or remove it.""",
        fixed="gpuetl init other",
    ),
)
