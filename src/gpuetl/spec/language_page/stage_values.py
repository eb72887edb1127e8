"""The section of the language's page on values of other stages: `scalar(stage.column)`."""

from __future__ import annotations

from gpuetl.spec.language_page.session import Print, Session, shown_session

HEAD = """\
## Values of other stages

`scalar(stage.column)` is one value of another stage or source. It stands in the expressions of steps:

"""
ORDERS = """\
customer,amount
ann,10
bob,30
cid,20
"""
PIPELINE = """\
gpuetl: 1
name: large
sources:
  orders: {csv: orders.csv, schema: {customer: string, amount: int64}}
stages:
  usual:
    from: orders
    steps:
      - aggregate: {columns: {amount: mean(amount), total: sum(amount)}}
  large:
    from: orders
    steps:
      - filter: amount > scalar(usual.amount)
      - with_columns: {share: amount / scalar(usual.total)}
"""
RULES = """\
- The stage must have one row. If it has more, the run stops and says how many. If it has none, the value is null, as in
  SQL.
- The other rows stay as they are, in their order. A filter that does not read the value moves below it.
- In the calls of an `aggregate` step it works, too: `sum(amount / scalar(usual.total))`. Outside of the calls, use it in
  a step after the aggregate.
- In Python, `usual.scalar("amount")` is `scalar(usual.amount)`.

| error | reason |
|---|---|
| [GE1810](errors/GE1810.md) | scalar stands where no stage can be read |
| [GE1811](errors/GE1811.md) | a value of a stage that has several rows |
| [GE1115](errors/GE1115.md) | a list, struct or map, which is not one value |
"""


def stage_values_markdown(printed: Print) -> str:
    """Return the section."""
    session = Session({"orders.csv": ORDERS, "large.yaml": PIPELINE}, "show large.yaml large")
    return "\n".join([HEAD + shown_session(session, printed), RULES])
