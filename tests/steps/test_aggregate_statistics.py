"""aggregate: products, bits, skewness, kurtosis, regressions, and what else is defined over other aggregates."""

import duckdb
import numpy as np
import pytest

from gpuetl import expr
from tables import INF, INT64_MAX, INT64_MIN, NAN, table


def exprs(calls):
    return {name: expr(text) for name, text in calls.items()}


MOMENTS = {"s": "skewness(x)", "k": "kurtosis(x)", "p": "kurtosis_pop(x)"}


def test_moments_of_few_equal_and_infinite_values(source, check):
    rows = [
        *(("a", x) for x in (1.0, 1.0, None, 2.0, 7.0)), ("one", 5.0), ("none", None), ("two", 1.0), ("two", 2.0),
        *(("same", 0.1) for _ in range(5)), *(("inf", x) for x in (INF, 1.0, 2.0, 3.0)), ("nan", NAN),
        *(("nan", x) for x in (1.0, 2.0, 3.0)), *(("three", x) for x in (1.0, 2.0, 4.0)),
    ]  # fmt: skip
    expected = table(
        {"g": "string", **dict.fromkeys(MOMENTS, "float64")},
        ("a", 1.8462781692270986, 3.4123048668503206, -0.7450260177532906),
        ("one", None, None, None),
        ("none", None, None, None),
        ("two", None, None, -2.0),
        ("same", None, None, None),
        ("inf", NAN, NAN, NAN),
        ("nan", NAN, NAN, NAN),
        ("three", 0.9352195295828243, None, -1.5),
    )
    check(source(table({"g": "string", "x": "float64"}, *rows)).aggregate("g", **exprs(MOMENTS)), expected)


def test_a_large_mean_leaves_moments_as_they_are(source, check):
    rows = [(1e9 + d,) for d in (4.0, 7.0, 13.0, 16.0, 16.0)]
    small = duckdb.sql("SELECT skewness(x), kurtosis(x), kurtosis_pop(x) FROM (VALUES (4), (7), (13), (16), (16)) t(x)")
    expected = table(dict.fromkeys(MOMENTS, "float64"), small.fetchall()[0])
    check(source(table({"x": "float64"}, *rows)).aggregate(**exprs(MOMENTS)), expected)


BITS = {"a": "bit_and(x)", "o": "bit_or(x)", "x": "bit_xor(x)"}


@pytest.mark.parametrize(
    ("dtype", "values", "expected"),
    [
        ("int64", [INT64_MIN, -1, None, INT64_MAX], (0, -1, 0)),
        ("int8", [-128, 127, -1], (0, -1, 0)),
        ("int32", [12, 10, None], (8, 14, 6)),
        ("uint8", [255, 129, 7], (1, 255, 121)),
        ("uint64", [2**64 - 1, 2**63], (2**63, 2**64 - 1, 2**63 - 1)),
        ("int64", [None, None], (None, None, None)),
        ("int16", [], (None, None, None)),
    ],
)
def test_bits_of_integers(source, check, dtype, values, expected):
    rows = source(table({"x": dtype}, *((v,) for v in values)))
    check(rows.aggregate(**exprs(BITS)), table(dict.fromkeys(BITS, dtype), expected))


def test_products(source, check):
    rows = [
        ("a", 2.0), ("a", None), ("a", -3.0), ("a", 0.5), ("zero", -0.0), ("zero", 5.0), ("none", None),
        ("nan", NAN), ("nan", 0.0), ("inf", INF), ("inf", -1.0), ("both", INF), ("both", 0.0),
    ]  # fmt: skip
    expected = table(
        {"g": "string", "p": "float64"},
        ("a", -3.0), ("zero", 0.0), ("none", None), ("nan", NAN), ("inf", -INF), ("both", NAN),
    )  # fmt: skip
    check(source(table({"g": "string", "x": "float64"}, *rows)).aggregate("g", p=expr("product(x)")), expected)


PAIRS = ("count", "avgx", "avgy", "sxx", "syy", "sxy", "slope", "intercept", "r2")
DEFINED = {
    **{name: f"regr_{name}(y, x)" for name in PAIRS},
    "sem": "sem(x)", "geometric": "geometric_mean(abs(x) + 1)", "weighted": "weighted_avg(x, abs(y))",
}  # fmt: skip


@pytest.mark.part(3)
def test_what_is_defined_over_other_aggregates_is_what_duckdb_gives(source, check):
    rng = np.random.default_rng(1)
    rows = [
        (f"g{rng.integers(5)}", *(None if rng.random() < 0.2 else float(v) for v in rng.integers(-6, 7, 2)))
        for _ in range(60)
    ]
    rows += [("flat x", 1.0, 1.0), ("flat x", 1.0, 4.0), ("flat y", 1.0, 2.0), ("flat y", 3.0, 2.0), ("one", 1.0, 2.0)]
    frame = table({"k": "string", "x": "float64", "y": "float64"}, *rows)
    rounded = {name: f"round({text}, 9)" for name, text in DEFINED.items()}
    calls = ", ".join(f"CAST({text} AS DOUBLE) AS {name}" for name, text in rounded.items())
    expected = duckdb.sql(f"SELECT k, {calls} FROM frame GROUP BY k").to_arrow_table()
    floats = {name: f"CAST({text} AS float64)" for name, text in rounded.items()}
    check(source(frame).aggregate("k", **exprs(floats)), expected)


def test_filter_leaves_pairs_out(source, check):
    rows = source(table({"x": "float64", "y": "float64"}, (1.0, 2.0), (2.0, 4.0), (9.0, 0.0), (None, 1.0)))
    calls = {"s": "regr_slope(y, x) FILTER (WHERE x < 5)", "w": "weighted_avg(x, y) FILTER (WHERE y < 4)"}
    check(rows.aggregate(**exprs(calls)), table(dict.fromkeys(calls, "float64"), (2.0, 1.0)))


def test_discrete_quantiles_and_deviations_from_the_median(source, check):
    calls = {
        "low": "quantile_disc(s, 0)", "some": "quantile_disc(s, 0.4)", "half": "percentile_disc(x, 0.5)", "top": "quantile_disc(s, 1)",
        "mad": "mad(x)", "n": "approx_count_distinct(s)", "q": "approx_quantile(x, 0.5)",
    }  # fmt: skip
    rows = [
        ("a", "d", 1.0), ("a", "b", 2.0), ("a", "c", 9.0), ("a", None, None), ("a", "a", 4.0), ("one", "x", -0.0),
        ("none", None, None), ("inf", "y", INF), ("inf", "z", 1.0), ("inf", "y", NAN),
    ]  # fmt: skip
    types = {
        "low": "string",
        "some": "string",
        "half": "float64",
        "top": "string",
        "mad": "float64",
        "n": "int64",
        "q": "float64",
    }
    expected = table(
        {"g": "string", **types},
        ("a", "a", "b", 2.0, "d", 1.5, 4, 3.0),
        ("one", "x", "x", 0.0, "x", 0.0, 1, 0.0),
        ("none", None, None, None, None, None, 0, None),
        ("inf", "y", "y", INF, "z", NAN, 2, INF),
    )
    check(source(table({"g": "string", "s": "string", "x": "float64"}, *rows)).aggregate("g", **exprs(calls)), expected)
