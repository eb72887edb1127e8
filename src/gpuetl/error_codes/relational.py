"""Values of other stages, and conditions of joins."""

from gpuetl.error_codes.page import ErrorPage

ONE = """\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}}
stages:
  usual: {from: sales, steps: [{aggregate: {columns: {amount: mean(amount)}}}]}
  large:
    from: sales
    steps:
      - filter: amount > scalar(usual.amount)
sinks:
  out: {from: large, parquet: out.parquet, mode: overwrite}
"""

PAGES = (
    ErrorPage(
        code="GE1810",
        title="scalar stands where no stage can be read",
        cause="`scalar(stage.column)` is one value of another stage.  Its argument is not a stage and a column.  Or it "
        "stands in a filter of a source, in a rule of `expect`, or outside the calls of an aggregate step.",
        fix="Write `scalar(stage.column)` in a step such as filter or with_columns.",
        kind="pipeline",
        example=ONE.replace("usual.amount", "amount"),
        message="""\
example.yaml:10:26: stage 'large', step 1: scalar takes a stage and one of its columns  [GE1810]
    - filter: amount > scalar(amount)
                       ^^^^^^
Write scalar(stage.column).""",
        fixed=ONE,
    ),
    ErrorPage(
        code="GE1811",
        title="scalar of a stage with several rows",
        cause="`scalar(stage.column)` needs a stage with one row.",
        fix="Aggregate, filter or limit the stage to one row.",
        kind="pipeline",
        example=ONE.replace("aggregate: {columns: {amount: mean(amount)}}", "sort: amount"),
        message="""\
example.yaml:10:17: stage 'large', step 1: scalar(usual.amount) is one value, and 'usual' has 3 rows  [GE1811]
    - filter: amount > scalar(usual.amount)
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
Aggregate, filter or limit that stage to one row.""",
        fixed=ONE,
    ),
    ErrorPage(
        code="GE1812",
        title="a name in a join's condition that both sides have",
        cause="The left and the right side of a join have a column of this name, and it is not a key of both.",
        fix="Write `l.name` for the left side or `r.name` for the right side.",
        example="- join: {with: sales, on: id, suffix: _other, condition: amount > 5}",
        message="""\
example.yaml:9:64: stage 'result', step 1: both sides have a column 'amount'  [GE1812]
    - join: {with: sales, on: id, suffix: _other, condition: amount > 5}
                                                             ^^^^^^
Write l.amount or r.amount.""",
        fixed="- join: {with: sales, on: id, suffix: _other, condition: l.amount >= r.amount}",
    ),
)
