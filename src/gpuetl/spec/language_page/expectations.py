"""The section of the language's page on rules for the rows of a stage."""

from inspect import cleandoc

from gpuetl.spec.expect.rules import RULES, Rule
from gpuetl.spec.fields import form_of, keys_of
from gpuetl.spec.language_page.options_table import options_table, table
from gpuetl.spec.language_page.session import Print, Session, shown_session

EXPECTATIONS = """\
## Expectations

A stage can say what it expects of its rows. A run counts the rows that break each rule, and checks the counts before
a sink changes.
"""
CHECKS = Session(
    {
        "sales.csv": "id,amount,status\n1,10.0,OK\n2,-3.0,OK\n3,,SETTLED\n3,7.5,FAILED\n",
        "checks.yaml": """\
gpuetl: 1
name: checks
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64, status: string}}
stages:
  clean:
    from: sales
    steps:
      - filter: id > 0
    expect:
      - not_null: id
      - {range: {amount: [0, null]}, on_fail: quarantine}
      - {in: {status: [OK, SETTLED]}, on_fail: quarantine}
      - {unique: id, on_fail: warn}
      - rows: {min: 1}
  bad:
    from: clean.rejected
    steps:
      - drop: _run
sinks:
  good: {from: clean, parquet: out/good, mode: overwrite}
  bad: {from: bad, parquet: out/bad, partition_by: [_rule], mode: append}
""",
    },
    "show checks.yaml bad",
)
RULES_HEAD = """\
### Rules of a stage

An entry of `expect` is one of these rules, with the keys below:
"""
ON_FAIL = """\
| on_fail | rows that break the rule | the run |
|---|---|---|
| `fail` | the error shows the first five | ends with exit code 4, `ContractBroken` ([GE1601](errors/GE1601.md)); no sink changes |
| `warn` | stay | warns, and continues |
| `drop` | are removed | continues |
| `quarantine` | move to `<stage>.rejected` | continues |

- A row breaks a rule if the condition is false. Null is not false: it breaks only `not_null`. NaN is outside of every
  range.
- Every rule checks all rows that the steps give, whatever the other rules do with them.
- A list or map of columns means one rule for each of them. Only `unique` compares its columns together. All rows of a
  repeated value break it.
- Values in `in` and `range` are read in the type of the column, as values of parameters are.
- `references` names a column of a stage or source, or of rows in quarantine. Types match as in a join.
- `rows` counts the rows after `drop` and `quarantine`.
- `max_fraction` is for `fail` and `warn`: the rule holds if at most this share of the rows breaks it.
- To put rows in quarantine, and to stop if there are too many, write the rule twice: once with `max_fraction`.
- A rule's name is `not_null(txn_id)` and so on, unless `name` gives another. With several columns it is
  `name(column)`.

### Rows in quarantine

`<stage>.rejected` has the columns of the stage and two more: `_rule` has the names of all rules that the row breaks,
and `_run` the id of the run. Stages and sinks read it. If nothing reads it, the pipeline is not valid
([GE1602](errors/GE1602.md)). A row that breaks one rule with `drop` and one with `quarantine` is in quarantine. The
other rows keep their order.

`partition_by: [_rule]` makes folders such as `_rule=plausible`. gpuetl and DuckDB read them. PyArrow leaves out names
that begin with `_`: call `pq.read_table("out/rejects", ignore_prefixes=["."])`.

### Expectations in Python

`expect` ends a stage:

```python
clean = (
    txns.expect(not_null=["txn_id", "card_id"], unique="txn_id", rows=(1, None))
    .expect(in_={"status": ["OK", "SETTLED"]}, range={"amount": (0, None)}, on_fail="drop")
    .expect(name="plausible", that=col("amount") < 1e6, on_fail="quarantine")
    .stage("clean")
)
clean.rejected.write_parquet("rejects", "out/rejects", mode="append")
```

The summary and the report (`run.report.checks`) have all counts. A run whose rules hold only counts. A run that fails
computes the rows that it shows again, from the sources. `gpuetl verify` compares `<stage>.rejected` like a stage, and
enforces no rule.

| error | reason |
|---|---|
| [GE1601](errors/GE1601.md) | rows break a rule |
| [GE1602](errors/GE1602.md) | nothing reads the rows in quarantine |
| [GE1603](errors/GE1603.md) | rows in quarantine of a stage that has none |
| [GE1604](errors/GE1604.md) | rule not valid |
| [GE1113](errors/GE1113.md) | pattern that gpuetl does not support |
"""


def expectations_markdown(printed: Print) -> str:
    """Return the section."""
    rules = [f"| {verb} | {takes(verb, rule)} | {cleandoc(str(rule.__doc__))} |" for verb, rule in RULES.items()]
    parts = [
        EXPECTATIONS, shown_session(CHECKS, printed), RULES_HEAD, table(("rule", "takes", "holds if"), rules),
        options_table(Rule), ON_FAIL,
    ]  # fmt: skip
    return "\n".join(parts)


def takes(verb: str, rule: type[Rule]) -> str:
    """Return what the verb of a rule takes."""
    return form_of(keys_of(rule)[verb]).what
