"""Places, lengths and frames far beyond the rows or the text, and negative ones: DuckDB's meaning, or a refusal."""

from datetime import datetime, timedelta
from math import inf

import pytest

from gpuetl import RunOptions, expr
from gpuetl.engines.pandas.expressions.evaluate import evaluate_column
from gpuetl.errors import EvaluationError
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import Scope
from gpuetl.testing import assert_tables_equal
from tables import INT64_MAX, table

BY_CARRIES = RunOptions(partition_rows=2, carried_share=inf)
TEXTS = {
    "left(t, -2)": ["", "", "", "añ", None],
    "right(t, -2)": ["", "", "", "😀b", None],
    "left(t, 2147483647)": ["", "a", "ñb", "añ😀b", None],
    "right(t, -2147483647)": ["", "", "", "", None],
    "substring(t, -3)": ["", "a", "ñb", "ñ😀b", None],
    "substring(t, -3, 2)": ["", "", "ñ", "ñ😀", None],
    "substring(t, -2147483647, 2147483647)": ["", "a", "ñb", "añ😀b", None],
    "substring(t, 2147483647, 2147483647)": ["", "", "", "", None],
    "split_part(t, 'ñ', -9223372036854775807)": ["", "", "", "", None],
}
"""DuckDB's answers."""


def test_positions_in_strings(source, check):
    texts = ["", "a", "ñb", "añ😀b", None]
    names = [f"y{place}" for place in range(len(TEXTS))]
    t = source(table({"t": "string"}, *((text,) for text in texts)))
    expected = table({"t": "string", **dict.fromkeys(names, "string")}, *zip(texts, *TEXTS.values(), strict=True))
    check(t.with_columns(**{name: expr(call) for name, call in zip(names, TEXTS, strict=True)}), expected)


WINDOWS = {
    f"ntile({INT64_MAX})": [1, 2, 3, 4, 5],
    f"lag(x, {INT64_MAX})": [None] * 5,
    f"lead(x, {INT64_MAX}, -1, true)": [-1] * 5,
    f"diff(x, {INT64_MAX})": [None] * 5,
    f"rolling_sum(x, {INT64_MAX})": [1, 3, 3, 7, 15],
    "rolling_max(x, 2147483648)": [1, 2, 2, 4, 8],
    "rolling_sum(x, interval '9223372036854775807 microseconds')": [1, 3, 3, 7, 15],
    "rolling_count(x, interval '0 days')": [1, 1, 0, 1, 1],
    "session_id(gap => interval '9223372036854775807 microseconds')": [0] * 5,
}


@pytest.mark.parametrize("options", [RunOptions(), BY_CARRIES], ids=["one partition", "by carries"])
def test_windows_beyond_the_rows(source, pipeline, engine, options):
    values = [1, 2, None, 4, 8]
    rows = [(datetime(2024, 1, 1) + timedelta(days=day), x) for day, x in enumerate(values)]
    t = source(table({"ts": "timestamp", "x": "int64"}, *rows))
    calls = {f"y{place}": call for place, call in enumerate(WINDOWS)}
    kept = [name for name, call in calls.items() if options is not BY_CARRIES or not call.startswith(("ntile", "lead"))]
    t.window((), "ts", **{name: expr(calls[name]) for name in kept}).select(*kept, "ts").stage("rows")
    found = pipeline.run(engine=engine, keep=["rows"], options=options)["rows"].to_arrow().sort_by("ts")
    expected = table(dict.fromkeys(kept, "int64"), *zip(*(WINDOWS[calls[name]] for name in kept), strict=True))
    assert_tables_equal(found.select(kept), expected, ordered=True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("repeat(t, 1000000000000)", "repeat takes a count from 0 to 1,000,000, got 1,000,000,000,000"),
        ("lpad(t, -1)", "lpad takes a length from 0 to 1,000,000, got -1"),
        ("left(t, 4294967296)", "left takes a count from -2,147,483,647 to 2,147,483,647, got 4,294,967,296"),
    ],
)
def test_what_has_no_meaning_is_refused_when_the_plan_is_made(source, problem, call, message):
    t = source(table({"t": "string", "x": "float64"}, ("a", 1.0)))
    assert message in problem(t.with_columns(y=expr(call)))


def test_strings_that_no_column_holds_are_reported():
    """Arrow's have 31 bits for their bytes."""
    rows = table({"t": "string"}, *[("x" * 3000,)])
    call = resolve(expr("repeat(t, 1000000)").syntax, Scope({"t": rows.schema.field("t").type}, {}, ("scalar",)))
    with pytest.raises(EvaluationError, match=r"repeat\(t, 1000000\) .*the string would have 3,000,000,000 bytes"):
        evaluate_column(call, rows)
