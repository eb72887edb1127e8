"""The beginning of the language's page, and its first example."""

from gpuetl.spec.language_page.session import Session

START = """\
# The language

A pipeline is one YAML file, or the same calls in Python. `Pipeline.to_yaml()` and `gpuetl.load()` convert between the
two. [Functions](functions.md) has the functions of expressions, and [formats](formats.md) the file formats.
[Projects](projects.md) is about pipelines of several files.
"""
FIRST = """\
## A first example

A pipeline reads sources, computes stages, and writes sinks. Save these two files in one folder:
"""
DAILY = Session(
    {
        "txns.csv": "card,amount,status\n7,10.50,OK\n7,0.10,OK\n8,3.00,FAILED\n9,2.25,OK\n",
        "daily.yaml": """\
gpuetl: 1                                 # the version of the language
name: daily
params:
  least: {type: "decimal(9,2)", default: 1.00}
sources:                                  # where rows come from
  txns: {csv: txns.csv, schema: {card: int64, amount: "decimal(9,2)", status: string}}
stages:                                   # named sequences of steps
  spend:
    from: txns                            # a source or another stage
    steps:
      - filter: status = 'OK' AND amount >= $least
      - aggregate: {by: card, columns: {spent: sum(amount), n: count(*)}}
      - sort: spent desc
    expect:                               # rules for the rows of the stage
      - unique: card
sinks:                                    # where rows go
  out: {from: spend, parquet: out/spend, mode: overwrite}
tests:                                    # given rows, and the rows to expect
  - name: small amounts do not count
    given: {txns: [{card: 1, amount: 10, status: OK}, {card: 2, amount: 0.1, status: OK}]}
    expect: {spend: [{card: 1}]}
""",
    },
    "show daily.yaml spend",
)
COMMANDS = """\
`gpuetl run daily.yaml` writes all sinks, or changes none of them. `gpuetl test daily.yaml` runs the tests.
`gpuetl validate daily.yaml` checks the file without a run. [Commands](commands.md) has the other commands.

These keys begin a file:

| key | takes | default | meaning |
|---|---|---|---|
| gpuetl | `1` | required | the version of the language |
| name | a name | required | the name of the pipeline |
| description | a string | none | what the pipeline is for |
| params | a map | none | [parameters](#parameters) |
| include, defaults, profiles | | none | [several files, and settings by place](projects.md) |
| storage | a map | none | [options of object stores](#storage) |
| sources | a map | none | [where rows come from](#sources) |
| stages | a map | none | [sequences of steps](#steps) |
| sinks | a map | none | [where rows go](#sinks) |
| tests | a list | none | [tests of the pipeline](#tests) |

A stage has these keys:

| key | takes | default | meaning |
|---|---|---|---|
| from | a name | required | a source or stage to begin with |
| steps | a list of [steps](#steps) | required | what to do with the rows, in order |
| expect | a list of [rules](#expectations) | none | what must be true of the resulting rows |
| checkpoint | true or false | false | [keep the rows](resume.md), so that `gpuetl run --resume` reads them |

gpuetl reads YAML by the core rules of YAML 1.2: `NO` is a string. It refuses anchors, merge keys, tags and duplicate
keys ([GE1004](errors/GE1004.md), [GE1005](errors/GE1005.md)). In `{ }`, put an expression that has a comma in quotes
([GE1015](errors/GE1015.md)).
"""
