"""A small pipeline for tests of tests, and the problems that its tests have."""

from typing import Any

import gpuetl as ge
from gpuetl.errors import InvalidPipeline
from gpuetl.file_tests.run_tests import TestReport

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


def daily(tests: str, text: str = PIPELINE, **options: Any) -> ge.Pipeline:
    """Return the pipeline with a section of tests."""
    return ge.loads(f"{text}tests:\n{tests}", name="daily.yaml", **options)


def problems(tests: str, text: str = PIPELINE) -> list[str]:
    """Return the problems of tests as strings, their lines counted from the section's first line."""
    first = len(text.splitlines()) + 1
    try:
        daily(tests, text).validate(files=False)
    except InvalidPipeline as error:
        places = [(problem, problem.place) for problem in error.problems]
        assert all(place for _, place in places)
        return [
            str(problem).replace(f":{place.line}:", f":{place.line - first}:", 1) for problem, place in places if place
        ]
    return []


def outcomes(report: TestReport) -> dict[str, Any]:
    """Return the differences of each test that has some, and the outcome of the others, by name."""
    return {result.name: result.differences or result.outcome for result in report.results}
