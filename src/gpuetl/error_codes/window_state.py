"""Window state."""

from gpuetl.error_codes.page import ErrorPage

DROPPING = """\
gpuetl: 1
name: example
params: {least: {type: int64, default: 0}}
sources:
  sales: {csv: sales.csv, schema: {id: int64, amount: float64, day: date}, filter: id >= $least}
stages:
  result:
    from: sales
    steps:
      - window: {by: id, order_by: day, columns: {total: cum_sum(amount)}, state: keep, late_rows: drop}
sinks:
  out: {from: result, parquet: out.parquet, mode: overwrite}
"""

PAGES = (
    ErrorPage(
        code="GE1550",
        title="a row comes before the rows of earlier runs",
        cause="A window with `state: keep` goes on from the last row of each group in earlier runs.  A row has an earlier "
        "order key than that, or none: its place would be in the middle of rows that are written already.",
        fix="Set `late_rows: drop` to leave such rows out and count them, or filter them in a step before.  To put them in "
        "their place, read all rows again with `gpuetl run --full-refresh`.",
        example="- window: {by: id, order_by: day, columns: {total: cum_sum(amount)}, state: keep}",
        message="""\
example.yaml:9:9: stage 'result', step 1: a row comes before the last row of its group in the state of earlier runs: \
day = 2025-12-31 in the group id = 1  [GE1550]
    - window: {by: id, order_by: day, columns: {total: cum_sum(amount)}, state: keep}
      ^^^^^^
The last row of the state: day = 2026-01-02
Set late_rows: drop on the window to leave such rows out, or filter them in a step before.  To build the state anew from \
all rows of the sources, run with --full-refresh, with the late rows in their place.""",
        fixed="- window: {by: id, order_by: day, columns: {total: cum_sum(amount)}, state: keep, late_rows: drop}",
        untested="it takes a state that an earlier run has left",
    ),
    ErrorPage(
        code="GE1551",
        title="a window cannot keep its state",
        cause="With `state: keep`, a function may need rows that come later in its group: later runs have them.  `late_rows` "
        "and `forget` need `state: keep`, and `forget` an interval and an order by time.",
        fix="Compute such a function in a window step of its own, without `state: keep`.",
        example="- window: {by: id, order_by: day, columns: {after: lead(amount)}, state: keep}",
        message="""\
example.yaml:9:58: stage 'result', step 1: state: keep: lead needs rows that come later in its group, which later runs \
may have  [GE1551]
    - window: {by: id, order_by: day, columns: {after: lead(amount)}, state: keep}
                                                       ^^^^^^^^^^^^
Compute it in a window step of its own, without state: keep.""",
        fixed="- window: {by: id, order_by: day, columns: {after: lead(amount)}}",
    ),
    ErrorPage(
        code="GE1552",
        title="a window state is of another computation",
        cause="The state of earlier runs depends on the window step and on what the steps above do to its rows.  One of "
        "these has changed, or the window is gone.  So the state does not fit.",
        fix="Undo the change, or read all rows again with `gpuetl run --full-refresh`.  Other files, other columns of a "
        "source, and other values of parameters in the steps above do not matter.",
        kind="command",
        example="gpuetl run daily.yaml",
        message="""\
daily.yaml:12:9: stage 'totals', step 1: the window state of earlier runs is of another computation  [GE1552]
    - window: {by: id, order_by: day, columns: {total: cum_sum(price)}, state: keep}
      ^^^^^^
was: window column total = cum_sum(amount): float64
is: window column total = cum_sum(price): float64
To build the state anew from all rows of the sources, run with --full-refresh, or undo the change.""",
        untested="it takes a state that an earlier run has left",
    ),
    ErrorPage(
        code="GE1553",
        title="a file of a window state cannot be used",
        cause="A file in the folder `windows` of the state folder is gone or damaged, is not the one that `state.json` names, "
        "or was written by a later version of gpuetl.",
        fix="Restore it from a copy, or read all rows again with `gpuetl run --full-refresh`.",
        kind="command",
        example="gpuetl run daily.yaml",
        message="state '.gpuetl/daily': cannot read .gpuetl/daily/windows/window-1.20260101T020000-0a1b2c3d.arrow, the state "
        "of stage 'totals', step 1: it is gone  [GE1553]\n"
        "Restore it, or begin anew. To build the state anew from all rows of the sources, run with --full-refresh.",
        untested="it takes a state that is damaged",
    ),
    ErrorPage(
        code="GE1554",
        title="rows are appended to another store than that of the window state",
        cause="A run that appends to a sink in one store, and keeps its window state in another, may end between the two: "
        "then the rows are there, and the next run adds them once more.",
        fix="Name a state folder in the store of the sink (`state: PATH`), or set `run_key` on the sink.",
        kind="command",
        example="gpuetl run daily.yaml",
        message="daily.yaml:11:3: sink 'out': appends to another store than that of the window states, .gpuetl/daily  [GE1554]\n"
        "Name a state folder in the same store (state: PATH), or set run_key on the sink.",
        untested="it takes an object store",
    ),
    ErrorPage(
        code="GE1555",
        title="late rows were dropped",
        cause="A window with `state: keep` and `late_rows: drop` got rows that come before the last row of their group in "
        "earlier runs, or that have no order key.",
        fix="Nothing, if you expect such rows.  To put them in their place, read all rows again with `gpuetl run "
        "--full-refresh`.",
        kind="pipeline",
        files={"sales.csv": "id,amount,day\n1,10.50,2026-01-01\n1,-3.00,\n"},
        example=DROPPING,
        message="""\
warning: stage 'result', step 1: 1 row was dropped that comes before the last row of the group's state, or without an \
order key (late_rows: drop)  [GE1555]""",
        fixed=DROPPING.replace("id >= $least", "id >= $least AND day IS NOT NULL"),
    ),
    ErrorPage(
        code="GE1556",
        title="each run feeds a window the same rows",
        cause="A window with `state: keep` goes on from the last run.  Its sources give each run the same rows: none is "
        "incremental, and no path or filter has a parameter in it.  So rows count twice, or are late.",
        fix="Make the source incremental, or put a parameter into its path or filter.",
        example="- window: {by: id, order_by: day, columns: {total: cum_sum(amount)}, state: keep}",
        message="""\
warning: example.yaml:9:9: stage 'result', step 1 keeps its state, and each run reads the same rows of source 'sales'  [GE1556]
    - window: {by: id, order_by: day, columns: {total: cum_sum(amount)}, state: keep}
      ^^^^^^
Make a source incremental, or put a parameter into its path or filter: rows would count twice.""",
        fixed="- window: {by: id, order_by: day, columns: {total: cum_sum(amount)}}",
    ),
)
