"""A small pipeline for tests of tests, and the problems that its tests have."""

import gpuetl as ge
from gpuetl.errors import InvalidPipeline

PIPELINE = """\
gpuetl: 1
name: daily
params:
  least: {type: "decimal(10,2)", default: 1.00}
sources:
  txns:
    parquet: nowhere/*.parquet
    schema: {txn_id: int64, card_id: int64, amount: "decimal(10,2)", status: string}
    filter: status <> 'VOID'
  cards: {parquet: nowhere/cards.parquet, schema: {card_id: int64}, partitions: {country: string}}
stages:
  clean: {from: txns, steps: [filter: amount >= $least]}
  features:
    from: clean
    steps:
      - aggregate: {by: card_id, columns: {n: count(*), spend: "CAST(sum(amount) AS float64)", last: max(status)}}
  top: {from: features, steps: [sort: spend desc]}
  known: {from: clean, steps: [join: {with: cards, on: card_id, validate: many_to_one}]}
sinks:
  out: {from: top, parquet: out}
"""


def daily(tests, text=PIPELINE, **keys):
    """Return the pipeline with a section of tests."""
    return ge.loads(f"{text}tests:\n{tests}", name="daily.yaml", **keys)


def problems(tests, text=PIPELINE):
    """Return the problems of tests as texts, their lines counted from the section's first line."""
    first = len(text.splitlines()) + 1
    try:
        daily(tests, text).validate(files=False)
    except InvalidPipeline as error:
        return [str(problem).replace(f":{problem.place.line}:", f":{problem.place.line - first}:", 1)
                for problem in error.problems]  # fmt: skip
    return []


def outcomes(report):
    """Return what came of each test by its name."""
    return {result.name: result.differences or result.outcome for result in report.results}
