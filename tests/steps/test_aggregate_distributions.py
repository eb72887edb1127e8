"""aggregate: histograms, entropy, the most frequent values, and lists of the least, the greatest, and of quantiles."""

from datetime import date
from decimal import Decimal

import duckdb
import numpy as np
import pytest

from gpuetl import expr
from gpuetl.testing import Tolerance, assert_tables_equal
from tables import INF, NAN, table, write_source


def exprs(calls):
    return {name: expr(text) for name, text in calls.items()}


ROWS = [
    ("a", 3, "z", 1.0), ("b", 1, None, 5.0), ("a", 1, "y", 3.0), ("a", None, "x", -0.0), ("c", 4, "", None),
    ("a", 1, "y", 0.0), ("b", 2, "", NAN), ("b", 2, "w", NAN), ("d", None, None, None), ("b", 3, "w", INF),
]  # fmt: skip
TYPES = {"k": "string", "n": "int64", "s": "string", "x": "float64"}


def test_distinct_values_and_how_often_they_come(source, check):
    calls = {
        "h": "histogram(n)", "t": "histogram(s)", "f": "histogram(x)", "some": "histogram(n) FILTER (WHERE x > 2)", "e": "entropy(n)",
        "two": "approx_top_k(s, 2)", "all": "approx_top_k(n, 10)", "m": "mode(n)",
    }  # fmt: skip
    types = {
        "h": "map<int64, int64>", "t": "map<string, int64>", "f": "map<float64, int64>", "some": "map<int64, int64>",
        "e": "float64", "two": "list<string>", "all": "list<int64>", "m": "int64",
    }  # fmt: skip
    expected = table(
        {"k": "string", **types},
        ("a", [(1, 2), (3, 1)], [("x", 1), ("y", 2), ("z", 1)], [(0.0, 2), (1.0, 1), (3.0, 1)], [(1, 1)],
         0.9182958340544896, ["y", "x"], [1, 3], 1),
        ("b", [(1, 1), (2, 2), (3, 1)], [("", 1), ("w", 2)], [(5.0, 1), (INF, 1), (NAN, 2)], [(1, 1), (3, 1)], 1.5, ["w", ""],
         [2, 1, 3], 2),
        ("c", [(4, 1)], [("", 1)], None, None, 0.0, [""], [4], 4),
        ("d", None, None, None, None, 0.0, None, None, None),
    )  # fmt: skip
    check(source(table(TYPES, *ROWS)).aggregate("k", **exprs(calls)), expected)


def test_lists_of_the_least_and_the_greatest(source, check):
    calls = {
        "low": "min(n, 2)", "high": "max(x, 2)", "text": "max(s, 1)", "some": "min(n, 9) FILTER (WHERE x > 2)",
        "near": "min_by(s, x, 2)", "last": "arg_max(n, s, 3)",
    }  # fmt: skip
    types = {"low": "list<int64>", "high": "list<float64>", "text": "list<string>", "some": "list<int64>",
             "near": "list<string>", "last": "list<int64>"}  # fmt: skip
    expected = table(
        {"k": "string", **types},
        ("a", [1, 1], [3.0, 1.0], ["z"], [1], ["x", "y"], [3, 1, 1]),
        ("b", [1, 2], [NAN, NAN], ["w"], [1, 3], ["w", ""], [2, 3, 2]),
        ("c", [4], None, [""], None, None, [4]),
        ("d", None, None, None, None, None, None),
    )
    check(source(table(TYPES, *ROWS)).aggregate("k", **exprs(calls)), expected)


def test_lists_of_quantiles(source, check):
    calls = {
        "q": "quantile_cont(n, [0.25, 0.5])", "d": "quantile_disc(s, [1, 0])", "a": "approx_quantile(n, [0.5])",
        "some": "quantile(n, [0, 1]) FILTER (WHERE x > 2)",
    }  # fmt: skip
    floats = "list<float64>"
    expected = table(
        {"k": "string", "q": floats, "d": "list<string>", "a": floats, "some": floats},
        ("a", [1.0, 1.0], ["z", "x"], [1.0], [1.0, 1.0]),
        ("b", [1.75, 2.0], ["w", ""], [2.0], [1.0, 3.0]),
        ("c", [4.0, 4.0], ["", ""], [4.0], None),
        ("d", None, None, None, None),
    )
    check(source(table(TYPES, *ROWS)).aggregate("k", **exprs(calls)), expected)


def test_a_null_x_is_skipped_or_kept(source, check):
    rows = table({"x": "int64", "y": "int64"}, (None, 1), (1, 2), (2, 2), (5, None), (None, 9))
    calls = {
        "lo": "arg_min(x, y)", "hi": "max_by(x, y)", "lo_null": "arg_min_null(x, y)", "hi_null": "arg_max_null(x, y)",
        "kept": "arg_min_null(x, y) FILTER (WHERE y > 1)",
    }  # fmt: skip
    check(source(rows).aggregate(**exprs(calls)), table(dict.fromkeys(calls, "int64"), (1, 1, None, None, 1)))


@pytest.mark.parametrize("rows", [[], [(None, None, None, None)]])
def test_no_values_without_keys(source, check, rows):
    calls = {
        "h": "histogram(n)",
        "e": "entropy(s)",
        "k": "approx_top_k(x, 3)",
        "l": "min(n, 3)",
        "q": "quantile(x, [0.5])",
        "c": "min('a', 3)",
    }
    types = {"h": "map<int64, int64>", "e": "float64", "k": "list<float64>", "l": "list<int64>", "q": "list<float64>"}
    expected = table({**types, "c": "list<string>"}, (None, 0.0, None, None, None, ["a"] if rows else None))
    check(source(table(TYPES, *rows)).aggregate(**exprs(calls)), expected)


DUCKDB = {
    "h": ("histogram(i)", "CAST(histogram(i) AS MAP(BIGINT, BIGINT))"),
    "d": ("histogram(t)", "CAST(histogram(t) AS MAP(DATE, BIGINT))"),
    "m": ("histogram(c)", "CAST(histogram(c) AS MAP(DECIMAL(9, 2), BIGINT))"),
    "e": ("entropy(i)", "entropy(i)"),
    "lo": ("min(x, 3)", "min(x, 3)"),
    "hi": ("max(c, 2)", "max(c, 2)"),
    "lo_by": ("arg_min(i, u, 4)", "arg_min(i, u, 4)"),
    "hi_by": ("max_by(c, u, 2)", "max_by(c, u, 2)"),
    "one": ("arg_max(i, u)", "arg_max(i, u)"),
    "null": ("arg_min_null(i, u)", "arg_min_null(i, u)"),
    "q": ("quantile_cont(x, [0.1, 0.5, 0.9])", "quantile_cont(x, [0.1, 0.5, 0.9])"),
    "qd": ("quantile_disc(c, [0.1, 0.5])", "quantile_disc(c, [0.1, 0.5])"),
}


def test_what_duckdb_gives_for_random_rows(source, pipeline, local_engine):
    rng = np.random.default_rng(3)
    rows = [
        (
            f"g{rng.integers(4)}",
            *(None if rng.random() < 0.2 else value for value in (
                int(rng.integers(5)), date(2024, 1, int(rng.integers(1, 4))), Decimal(int(rng.integers(-9, 9))) / 4,
                float(rng.normal()))),
            unique,
        )
        for unique in rng.permutation(48).tolist()
    ]  # fmt: skip
    frame = table({"k": "string", "i": "int64", "t": "date", "c": "decimal(9, 2)", "x": "float64", "u": "int64"}, *rows)
    calls = ", ".join(f"{text} AS {name}" for name, (_, text) in DUCKDB.items())
    expected = duckdb.sql(f"SELECT k, {calls} FROM frame GROUP BY k").to_arrow_table()
    source(frame).aggregate("k", **exprs({name: ours for name, (ours, _) in DUCKDB.items()})).stage("out")
    got = pipeline.run(engine=local_engine, keep=["out"])["out"].to_arrow()
    names = [name for name in got.column_names if name not in ("h", "d", "m")]  # DuckDB's entries are named otherwise
    assert_tables_equal(got.select(names), expected.select(names), tolerance=Tolerance(1e-12))
    for name in ("h", "d", "m"):
        pairs = dict(zip(expected["k"].to_pylist(), expected[name].to_pylist(), strict=True))
        assert dict(zip(got["k"].to_pylist(), got[name].to_pylist(), strict=True)) == pairs


ERRORS = [
    ("max(i, j)", "max takes a constant or a $parameter as n\nWrite greatest(a, b)"),
    ("min(i, 0)", "min takes a number of values from 1"),
    ("approx_top_k(i, 0)", "approx_top_k takes a number of values from 1"),
    ("quantile(i, [])", "quantile takes at least one q"),
    ("quantile(i, [0.5, 2])", "quantile takes q from 0 to 1"),
    ("histogram(NULL)", "histogram takes values, got null"),
    ("fsum(i)", "unknown function 'fsum'"),
]


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_errors(pipeline, problem, text, message):
    rows = write_source(pipeline, "t", table({"i": "int64", "j": "int64"}, (1, 2)))
    assert message in problem(rows.aggregate(y=expr(text)))
