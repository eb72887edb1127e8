"""Steps fit and apply."""

from gpuetl.error_codes.page import ErrorPage

PAGES = (
    ErrorPage(
        code="GE1880",
        title="transform of fit is wrong",
        cause="A transform does not exist, lacks a key, has two keys that exclude each other, or gets a column of a type "
        "that it does not take.",
        fix="Follow the hint.  docs/features.md shows every transform.",
        example="- fit: [normalise: day]",
        message="""\
example.yaml:9:26: stage 'result', step 1: normalise takes numbers, and 'day' is date  [GE1880]
    - fit: [normalise: day]
                       ^^^
Cast it in a step before.""",
        fixed="- fit: [normalise: amount]",
    ),
    ErrorPage(
        code="GE1881",
        title="column of apply has another type than when it was fitted",
        cause="An apply step computes what the fit step computed, so the columns that it reads must have the same types.",
        fix="Cast the column in a step before apply.",
        kind="pipeline",
        example="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}}
stages:
  train: {from: sales, steps: [fit: [normalise: {columns: {scaled: amount}}]]}
  result: {from: sales, steps: [cast: {amount: int64}, apply: {fit: train}]}
sinks:
  out: {from: result, parquet: out.parquet, mode: overwrite}
""",
        message="""\
example.yaml:7:69: stage 'result', step 2: 'amount' is int64, and was float64 in stage 'train'  [GE1881]
    result: {from: sales, steps: [cast: {amount: int64}, apply: {fit: train}]}
                                                                      ^^^^^
Cast it to float64 in a step before.""",
        fixed="""\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64}}
stages:
  train: {from: sales, steps: [fit: [normalise: {columns: {scaled: amount}}]]}
  result: {from: sales, steps: [apply: {fit: train}]}
sinks:
  out: {from: result, parquet: out.parquet, mode: overwrite}
""",
    ),
    ErrorPage(
        code="GE1882",
        title="fit and apply do not fit together",
        cause="An apply step names a stage without a fit step, or gives both fit and load.  A stage has two fit steps.",
        fix="Name a stage that has one fit step, or the folder that one saved.",
        example="- apply: {}",
        message="""\
example.yaml:9:9: stage 'result', step 1: apply takes either fit or load  [GE1882]
    - apply: {}
      ^^^^^
Write apply: {fit: STAGE}, or apply: {load: FOLDER}.""",
        fixed="- fit: [normalise: amount]",
    ),
    ErrorPage(
        code="GE1883",
        title="saved fit cannot be read",
        cause="The folder that apply loads has no fit.json, or one that another version wrote or that was changed.",
        fix="Run the pipeline whose fit step saves it, or check the path.",
        example="- apply: {load: model}",
        message="""\
example.yaml:9:23: stage 'result', step 1: there is no fit.json in model  [GE1883]
    - apply: {load: model}
                    ^^^^^
Run the pipeline whose fit step saves it first, or check the path.""",
        fixed="- fit: [normalise: amount]",
    ),
)
