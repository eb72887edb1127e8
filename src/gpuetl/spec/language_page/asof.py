"""The section of the language's page on as-of joins."""

from __future__ import annotations

from gpuetl.spec.language_page.example import Example, Given, Run, shown
from gpuetl.spec.language_page.options_table import options_table
from gpuetl.spec.steps.asof import AsofSpec

TRADES = Given(
    {"symbol": "string", "at": "timestamp", "size": "int64"},
    [
        ("GPU", "2026-11-02T10:00:03", 5),
        ("GPU", "2026-11-02T10:00:00", 2),
        ("CPU", "2026-11-02T10:00:09", 1),
        ("GPU", "2026-11-02T10:01:00", 4),
    ],
)
QUOTES = Given(
    {"symbol": "string", "at": "timestamp", "price": "float64"},
    [
        ("GPU", "2026-11-02T10:00:01", 9.5),
        ("CPU", "2026-11-02T10:00:02", 3.0),
        ("GPU", "2026-11-02T10:00:02", 9.6),
        ("GPU", "2026-11-02T10:00:05", 9.9),
    ],
)
NEAREST = Given(
    {"symbol": "string", "quoted": "timestamp", "price": "float64"},
    [(symbol, at, price) for symbol, at, price in QUOTES.rows],
)
SHORT = Example("- join: {with: quotes, on: symbol, how: left, asof: at}\n", {"trades": TRADES, "quotes": QUOTES})
LONG = Example(
    "- join:\n    with: quotes\n    on: symbol\n    how: left\n"
    "    asof: {left: at, right: quoted, direction: nearest, tolerance: 5 seconds}\n",
    {"trades": TRADES, "quotes": NEAREST},
)
EXAMPLES = (SHORT, LONG)
HEAD = """\
## As-of joins

An as-of join gives each left row one right row: the last one that is not after it. Here each trade gets the price that
was quoted before it. It is a [join](#join) with the key `asof`, which names the column that is compared. Keys in `on`
are equal on both sides, and there may be none.
"""
MIDDLE = """\
A map has more options. Here the columns have two names, so the right one stays in the result:
"""
RULES = """\
- `how` is `inner` or `left`. Inner joins drop left rows without a match.
- The columns are timestamps, dates, times, durations or numbers. Both have one type, or are integers, floats or decimals
  of two widths.
- Null and NaN in these columns match nothing. Null keys match nothing, unless `nulls_equal: true`.
- `tolerance` is an interval for times, an interval of whole days for dates, and a number for numbers. A match at just this
  distance counts.
- `direction: backward` takes the last right row before, `forward` the first one after, and `nearest` the one at the least
  distance. Of two rows at the same distance, `nearest` takes the later one. Equal values match, unless `strict: true`.
- The compared columns and the keys of `order_by` may be expressions, each over the columns of its side: `asof: {left:
  at, right: quoted + interval '1 second'}`. Columns that an expression reads stay in the result.
- Right rows with equal keys and equal times tie. They stand in the order of `order_by`, for example `order_by: id`.
  Without it, they stand in the order of the input, and the report notes that rows tie. `backward` and `nearest` take the
  last one, `forward` the first one.
- `validate: many_to_one` makes ties an error. Other checks do not apply: each left row has one match at most.
- A filter on right columns after the join does not change the matches. To choose among fewer right rows, filter the
  right stage.

The rows of both sides can come in any order: you do not sort them first. Files in the order of time still help large
joins. With a `tolerance`, or without `on`, each partition then reads the right rows near it, and no row moves between
partitions or GPUs. Right row groups that are near two partitions are read twice, and the report counts them twice.
Without such files, rows of equal keys are moved to one partition, and without `on` each partition gets the whole right
side.

An as-of join has no state between runs. With an [incremental source](incremental.md) on the right, a run finds only the
right rows that it reads. Read the right side in full, or keep the last rows by key with a
[window with state](window-state.md).
"""
POLARS = """\
| other libraries | here |
|---|---|
| Polars: `join_asof(quotes, on="at", by="symbol")` | `join: {with: quotes, on: symbol, how: left, asof: at}` |
| pandas: `merge_asof(..., allow_exact_matches=False)` | `asof: {on: at, strict: true}` |
| DuckDB: `ASOF JOIN quotes ON t.symbol = q.symbol AND t.at >= q.at` | `join: {with: quotes, on: symbol, asof: at}` |
| DuckDB: `t.at < q.at` | `asof: {on: at, direction: forward, strict: true}` |
"""


def asof_markdown(run: Run) -> str:
    """Return the section; `run` runs its examples."""
    on = {"on": ("a name", "in place of `left` and `right`: the column that is compared, if both sides have it")}
    keys = options_table(AsofSpec).replace("| required |", "| required, or `on` |")
    table_of_keys = keys + "".join(f"| {name} | {what} | none | {doc} |\n" for name, (what, doc) in on.items())
    return "\n".join([HEAD, shown(SHORT, run), MIDDLE, shown(LONG, run), table_of_keys, RULES, POLARS])
