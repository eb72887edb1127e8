"""Tests of rules and quarantine: what they reject can be expected, and a rule that must fail."""

import pytest

import gpuetl as ge
from file_tests.daily import outcomes
from gpuetl import RunOptions

PIPELINE = """\
gpuetl: 1
name: contracts
sources:
  txns: {csv: nowhere.csv, schema: {id: int64, amount: float64, card: int64}, on_bad_row: quarantine}
  cards: {parquet: nowhere.parquet, schema: {card: int64}}
stages:
  clean:
    from: txns
    steps: []
    expect:
      - {name: plausible, that: amount < 1e6, on_fail: quarantine}
      - not_null: [id]
      - rows: {max: 2}
  counts: {from: clean, steps: [{aggregate: {columns: {n: count(*)}}}]}
  known: {from: clean, steps: [], expect: [references: {card: cards.card}]}
  some: {from: cards, steps: [], expect: [rows: {min: 1}]}
sinks:
  rejects: {from: clean.rejected, parquet: out/rejects}
  bad: {from: txns.rejected, parquet: out/bad}
tests:
  - name: huge amounts are quarantined
    given: {txns: [{id: 1, amount: 10}, {id: 2, amount: 2e6}, {id: 3}]}
    expect:
      clean: [{id: 1, amount: 10}, {id: 3, amount: null}]
      clean.rejected: [{id: 2, amount: 2e6, _rule: plausible}]
      txns.rejected: []
  - name: ids are not null
    given: {txns: [{amount: 1}]}
    expect_failure: not_null(id)
  - name: no id fails a test that expects rows
    given: {txns: [{amount: 1}]}
    expect: {counts: [{n: 1}]}
  - name: rules of what is not read do not count
    given: {txns: [{id: 1}]}
    expect: {counts: [{n: 1}]}
  - name: references
    given: {txns: [{id: 1, card: 7}], cards: [{card: 8}]}
    expect_failure: references(card)
"""


@pytest.mark.part(2)
@pytest.mark.parametrize("rows", [None, 1])
def test_rules_are_checked_where_a_test_reads(engine, rows):
    found = outcomes(ge.loads(PIPELINE).test(engine=engine, options=RunOptions(partition_rows=rows)))
    assert found.pop("no id fails a test that expects rows").startswith("the run failed: ")
    assert found == dict.fromkeys(
        ("huge amounts are quarantined", "ids are not null", "rules of what is not read do not count", "references"),
        "passed",
    )


def test_bad_rows_of_a_given_file_are_rejected(tmp_path):
    (tmp_path / "rows.csv").write_text("id,amount,card\n1,2.5,7\nx,1,7\n")
    text = (
        PIPELINE.partition("tests:")[0]
        + """\
tests:
  - name: bad rows
    given: {txns: {csv: rows.csv}}
    expect: {clean: [{id: 1}], txns.rejected: [{line: 3, text: "x,1,7"}]}
"""
    )
    assert outcomes(ge.loads(text, root=tmp_path).test(engine="pandas")) == {"bad rows": "passed"}
