"""Days of any rows, cut anywhere, give what one run over all of them gives."""

import tempfile
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuetl import Pipeline, expr
from gpuetl.testing import assert_tables_equal
from stateful_windows import START
from tables import table, write_source
from window_days import feed

TYPES = {"ts": "timestamp", "k": "int32", "x": "int64"}
CALLS = {
    "n": "row_number()", "r": "rank()", "d": "dense_rank()", "s": "cum_sum(x)", "m": "cum_max(x)", "f": "ffill(x)",
    "b": "lag(x, 2)", "v": "lag(x, 1, ignore_nulls => true)", "z": "diff(x)", "first": "first(x)", "w": "rolling_sum(x, 3)",
    "h": "rolling_count(x, interval '10 minutes')", "e": "session_id(gap => interval '5 minutes')",
    "a": "ewm_mean(x, span => 4)",
}  # fmt: skip
EVENTS = st.lists(
    st.tuples(st.integers(0, 40), st.sampled_from([None, 0, 1]), st.none() | st.integers(-5, 5)), max_size=20
)


@settings(max_examples=20)
@given(events=EVENTS, cuts=st.lists(st.integers(0, 20), max_size=4))
def test_days_of_any_rows(events, cuts):
    """With ties, groups that rest, and days without rows."""
    events = sorted(events, key=lambda event: event[0])
    rows = table(TYPES, *((START + timedelta(minutes=minute), k, x) for minute, k, x in events))
    ends = [0, *sorted(min(cut, len(events)) for cut in cuts), len(events)]
    columns = {name: expr(call) for name, call in CALLS.items()}
    with tempfile.TemporaryDirectory() as folder:
        pipeline = Pipeline("any", root=Path(folder))
        t = write_source(pipeline, "t", rows)
        t.window("k", "ts", **columns).stage("expected")
        t.window("k", "ts", state="keep", **columns).stage("result")
        expected = pipeline.run(engine="pandas", keep=["expected"])["expected"].to_arrow()
        found, _ = feed(pipeline.table("result"), [rows[a:b] for a, b in pairwise(ends)], "pandas")
    assert_tables_equal(found if found.num_rows else pa.table(expected.schema.empty_table()), expected)
