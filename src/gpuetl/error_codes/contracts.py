"""Expectations, and tests in the pipeline file."""

from gpuetl.error_codes.page import ErrorPage

PIPELINE = """\
gpuetl: 1
name: example
sources:
  sales: {{csv: sales.csv, schema: {{id: int64, amount: float64, day: date}}}}
stages:
  result:
    from: sales
    steps:
      - filter: id > 0
    expect:
      - {rule}
sinks:
  out: {{from: {reads}, parquet: out.parquet, mode: overwrite}}
"""
TESTED = """\
gpuetl: 1
name: example
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64, day: date}}
stages:
  result:
    from: sales
    steps:
      - filter: amount > 0
  large:
    from: sales
    steps:
      - filter: amount > 100
tests:
  - name: negative_amounts
    given: {sales: [{id: 1, amount: 10.5}, {id: 2, amount: -3}]}
    expect: {result: [{id: 1}]}
"""


def with_rule(rule: str, reads: str = "result") -> str:
    """Return a pipeline whose stage has a rule, and whose sink reads the stage or its rejected rows."""
    return PIPELINE.format(rule=rule, reads=reads)


PAGES = (
    ErrorPage(
        code="GE1601",
        title="contract failed",
        cause="More rows of a stage break a rule of expect than the rule allows.  With on_fail: fail, which is the "
        "default, the run stops before any sink changes.  With on_fail: warn the same text is a warning.",
        fix="Correct the data or a step before.  To go on without such rows, choose on_fail: drop or quarantine; to "
        "keep them, on_fail: warn.",
        example=with_rule("not_null: amount"),
        message="""\
1 expectation failed; no sink has changed  [GE1601]

example.yaml:11:19: stage 'result': rule 'not_null(amount)': 1 of 3 rows (33.3 %) breaks it
    amount  id  day
    null    3   2026-01-02""",
        fixed=with_rule("{not_null: amount, on_fail: drop}"),
        kind="pipeline",
    ),
    ErrorPage(
        code="GE1602",
        title="nothing reads the rows in quarantine",
        cause="A rule has on_fail: quarantine, and no sink or stage reads the rows that it removes.",
        fix="Add a sink or a stage from: STAGE.rejected, or choose on_fail: drop.",
        example=with_rule("{not_null: amount, on_fail: quarantine}"),
        message="""\
example.yaml:11:20: stage 'result': nothing reads 'result.rejected', the rows that its rules put in quarantine  [GE1602]
    - {not_null: amount, on_fail: quarantine}
                 ^^^^^^
Add a sink: {from: result.rejected, parquet: …}, or choose on_fail: drop.""",
        fixed=with_rule("{not_null: amount, on_fail: quarantine}")
        + "  rejected: {from: result.rejected, parquet: rejected.parquet, mode: overwrite}\n",
        kind="pipeline",
    ),
    ErrorPage(
        code="GE1603",
        title="no rejected rows",
        cause="A sink or a stage reads NAME.rejected, and the source or stage of that name puts no rows in quarantine.",
        fix="Set on_fail: quarantine on a rule of the stage, or on_bad_row: quarantine on the source.",
        example=with_rule("not_null: id", "result.rejected"),
        message="""\
example.yaml:13:15: sink 'out': 'result' puts no rows in quarantine, so there is no 'result.rejected'  [GE1603]
    out: {from: result.rejected, parquet: out.parquet, mode: overwrite}
                ^^^^^^^^^^^^^^^
Give one of its rules on_fail: quarantine, or read 'result'.""",
        fixed=with_rule("{not_null: id, on_fail: quarantine}", "result.rejected"),
        kind="pipeline",
    ),
    ErrorPage(
        code="GE1604",
        title="rule not valid",
        cause="An entry of expect is not one of the rules, has a value that does not fit the rule or the type of its "
        "column, or has keys that mean nothing together.",
        fix="Give each entry one rule, with values of the column's type.",
        example=with_rule("range: {amount: [100, 0]}"),
        message="""\
example.yaml:11:26: stage 'result': the least value is greater than the greatest  [GE1604]
    - range: {amount: [100, 0]}
                       ^^^
Exchange them.""",
        fixed=with_rule("{range: {amount: [0, 100]}, on_fail: warn}"),
        kind="pipeline",
    ),
    ErrorPage(
        code="GE1605",
        title="test not valid",
        cause="A test has neither expect nor expect_failure, has both, or has rows that do not fit the columns of "
        "the source or stage.",
        fix="Give expect with the rows of a stage, or expect_failure with words of an error.  Write values in the "
        "types of their columns.",
        example=TESTED.replace("    expect: {result: [{id: 1}]}\n", ""),
        message="""\
example.yaml:15:5: test 'negative_amounts': expects nothing  [GE1605]
    - name: negative_amounts
      ^^^^^^^^^^^^^^^^^^^^^^
Give it expect: rows of stages; or expect_failure: the words of an error.""",
        fixed=TESTED,
        kind="pipeline",
    ),
    ErrorPage(
        code="GE1606",
        title="no such test",
        cause="The pipeline file has no tests, or none of the name that --test gives.",
        fix="Correct the name, or add the test to the section tests.",
        example="gpuetl test example.yaml --test amounts --engine pandas",
        message="""\
no test is named 'amounts'  [GE1606]
Tests: negative_amounts. Did you mean 'negative_amounts'?""",
        fixed="gpuetl test example.yaml --test negative_amounts --engine pandas",
        kind="command",
        files={"example.yaml": TESTED},
    ),
    ErrorPage(
        code="GE1607",
        title="test cannot be recorded",
        cause="gpuetl test --from-run makes a test from real rows.  The stage has no rows, a value has no form in "
        "YAML, or the section tests is not written as a list with one item a line.",
        fix="Choose a stage that has rows, or write the test by hand.",
        example="gpuetl test example.yaml --from-run large --engine pandas",
        message="""\
stage 'large' has no rows, so it gives no test  [GE1607]
Choose a stage that has rows.""",
        fixed="gpuetl test example.yaml --from-run result --engine pandas",
        kind="command",
        files={"example.yaml": TESTED},
    ),
)
