"""The section of the language's page on tests of a pipeline."""

from gpuetl.spec.language_page.session import Print, Session, shown_session

TESTS = """\
## Tests

A test gives rows to sources, and says which rows it expects of stages. `gpuetl test FILE` runs the tests and writes
no sink. It shows what differs, and ends with exit code 5 if a test fails. In this file, the second test expects too
much:
"""
TESTED = Session(
    {
        "cards.yaml": """\
gpuetl: 1
name: cards
sources:
  txns: {csv: txns.csv, schema: {card: int64, amount: float64}}
  cards: {csv: cards.csv, schema: {card: int64, owner: string}}
stages:
  spend:
    from: txns
    steps:
      - aggregate: {by: card, columns: {spent: sum(amount)}}
      - join: {with: cards, on: card, how: left, validate: many_to_one}
sinks:
  out: {from: spend, parquet: out, mode: overwrite}
tests:
  - name: amounts of a card are added
    given:
      txns: [{card: 7, amount: 10.0}, {card: 7, amount: 0.5}]
      cards: {columns: [card, owner], rows: [[7, ann]]}
    expect: {spend: [{card: 7, spent: 10.5, owner: ann}]}
  - name: a card without an owner
    given: {txns: [{card: 8, amount: 1.0}]}
    expect: {spend: [{card: 8, spent: 2.0, owner: null}]}
  - name: a card must not have two owners
    given: {txns: [{card: 7, amount: 1.0}], cards: [{card: 7}, {card: 7}]}
    expect_failure: many_to_one
""",
    },
    "test cards.yaml --engine pandas",
)
TEST_RULES = """\
| key | takes | meaning |
|---|---|---|
| name | a string | what the test shows; no two tests have the same name |
| params | a map | values of parameters; they count before those of the command line |
| given | a map of sources to rows | a list of maps, `{columns: [a, b], rows: [[1, 2]]}`, `{csv: PATH}`, or `{parquet: PATH}` |
| expect | a map of stages to rows | rows of stages, of sources, or of `….rejected`: the first two forms, with `ordered` and `tolerance` |
| expect_failure | a string | words of the error with which the run must fail, such as a rule's name; instead of `expect` |

| command or call | does |
|---|---|
| `gpuetl test FILE --test 'late *'` | runs the tests whose names match |
| `gpuetl test FILE --engine cudf` | runs the tests on one engine |
| `gpuetl test FILE --junit results.xml` | writes the results as JUnit XML for a CI system |
| `gpuetl test FILE --json` | prints the results as JSON |
| `gpuetl test FILE --from-run STAGE --rows 20` | prints a test made from real rows; `--write` adds it to the file |
| `gpuetl validate FILE` | checks names and values of tests without a run |
| `pipeline.test()` | runs the tests in Python, and returns the report |
| `pipeline.add_test(name, given=…, expect=…)` | declares a test in Python |

`--from-run` samples the sources, keeps the rows that the stage needs, and prints them with at most 20 rows of the
stage.

**Given rows**

- A value is read in the type of its column, as the value of a parameter is. For example, `2026-11-01` is a date,
  `2026-11-01T10:00:00Z` a timestamp with a zone, and `8 hours` a duration. Decimals keep their digits as written.
- A column that a row leaves out is null. A source without given rows has no rows.
- The `filter` and `columns` of the source apply to the given rows. Its `partitions` are given as columns.
- The types come from the source's `schema`, or from its files. Without either, they follow from the values, and a
  note says so. true and false are bool, whole numbers int64, and numbers with a point float64. Strings are date,
  timestamp or timestamp[UTC] if all values of a column are, else string.

**Expected rows**

- Only the columns that a test names are compared. `[]` expects no row.
- The order of rows counts where the stage is sorted, in the columns of the sort. `ordered: true` compares row by row.
  `ordered: false` accepts any order.
- Floats are equal within 1e-9 of their size, or 1e-12 of the largest value of their column. For float32 it is 2^-22.
  `tolerance: 0.01` also allows a difference of 0.01. NaN equals NaN. All other types compare exactly.
- A test computes the stages that it expects, and those that they read. With `expect_failure` it computes all. It
  checks the rules (`expect`) of the stages that it computes.

| error | reason |
|---|---|
| [GE1605](errors/GE1605.md) | test not valid |
| [GE1606](errors/GE1606.md) | no such test |
| [GE1607](errors/GE1607.md) | rows that cannot become a test |
"""


def tests_markdown(printed: Print) -> str:
    """Return the section."""
    return "\n".join([TESTS, shown_session(TESTED, printed), TEST_RULES])
