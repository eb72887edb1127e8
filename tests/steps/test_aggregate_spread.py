"""aggregate: variances, covariances, correlations, quantiles, modes and counts of what is true."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuetl import Pipeline, col, expr
from gpuetl.testing import Tolerance, assert_same
from tables import INF, NAN, table, write_source


def exprs(**calls):
    return {name: expr(text) for name, text in calls.items()}


PAIRS = {
    "cov": "covar_samp(x, y)", "pop": "covar_pop(x, y)", "r": "corr(x, y)",
    "vp": "var_pop(x)", "sp": "std_pop(x)", "v": "var(x)", "s": "std(x)",
}  # fmt: skip
TYPES = {"k": "string", "x": "float64", "y": "float64"}


def test_pairs_with_a_null_are_skipped_and_few_pairs_give_null(source, check):
    rows = [
        ("a", 1.0, 2.0), ("one", 5.0, 5.0), ("a", 2.0, None), ("a", 3.0, 6.0), ("none", None, 1.0), ("a", None, 9.0),
        ("nan", NAN, 1.0), ("none", 2.0, None), ("nan", 1.0, 2.0), ("inf", INF, 1.0), ("inf", 1.0, 3.0), ("a", 5.0, 1.0),
    ]  # fmt: skip
    expected = table(
        {"k": "string", **dict.fromkeys(PAIRS, "float64")},
        (
            "a",
            -1.0,
            -2 / 3,
            -1 / math.sqrt(4 * 7),
            2.1875,
            math.sqrt(2.1875),
            2.1875 * 4 / 3,
            math.sqrt(2.1875 * 4 / 3),
        ),
        ("one", None, 0.0, None, 0.0, 0.0, None, None),
        ("none", None, None, None, 0.0, 0.0, None, None),
        ("nan", NAN, NAN, NAN, NAN, NAN, NAN, NAN),
        ("inf", NAN, NAN, NAN, NAN, NAN, NAN, NAN),
    )
    check(source(table(TYPES, *rows)).aggregate("k", **exprs(**PAIRS)), expected)


@pytest.mark.parametrize("rows", [[], [(None, 1.0), (2.0, None), (None, None)]])
def test_no_pairs_without_keys(source, check, rows):
    t = source(table({"x": "float64", "y": "float64"}, *rows))
    calls = exprs(cov="covar(x, y)", pop="covar_pop(x, y)", r="corr(x, y)", q="quantile(y, 0.1)", n="count_if(x > 1)")
    types = dict.fromkeys(["cov", "pop", "r", "q"], "float64") | {"n": "int64"}
    expected = (None, None, None, None, 0) if not rows else (None, None, None, 1.0, 1)
    check(t.aggregate(**calls), table(types, expected))


@pytest.mark.part(3)
@pytest.mark.parametrize("x", [0.1, 1e15 + 0.3, -7.0, 0.0])
def test_a_constant_has_no_variance_and_no_correlation_however_it_is_split(source, check, x):
    t = source(table({"x": "float64", "y": "float64"}, *((x, float(i % 3)) for i in range(101))), "c")
    types = {"v": "float64", "r": "float64", "c": "float64"}
    check(t.aggregate(**exprs(v="var(x)", r="corr(x, y)", c="covar_pop(y, x)")), table(types, (0.0, NAN, 0.0)))


def test_a_large_mean_does_not_cancel_however_rows_are_split(source, check):
    rows = [(1e9 + d, -3 * d) for d in (4.0, 7.0, 13.0, 16.0)]
    calls = exprs(v="var(x)", s="std_pop(x)", c="covar_samp(x, y)", r="corr(x, y)")
    expected = table(dict.fromkeys(calls, "float64"), (30.0, math.sqrt(22.5), -90.0, -1.0))
    check(source(table({"x": "float64", "y": "float64"}, *rows)).aggregate(**calls), expected)


def test_a_correlation_is_never_beyond_one(source, check, pipeline):
    rows = [(i / 3, -i / 7 + 0.1) for i in range(50)]
    calls = exprs(within="abs(corr(x, y)) <= 1", near="abs(corr(x, y)) > 0.999999")
    t = source(table({"x": "float64", "y": "float64"}, *rows))
    check(t.aggregate(**calls), table(dict.fromkeys(calls, "bool"), (True, True)))


def test_filter_takes_pairs_out(source, check):
    rows = [(1, 2, True), (2, 1, False), (3, 6, True), (9, 9, None), (2, 7, True)]
    t = source(table({"x": "int64", "y": "int32", "b": "bool"}, *rows))
    calls = exprs(c="covar_samp(x, y) FILTER (WHERE b)", v="var_samp(x) FILTER (WHERE b)",
                  q="quantile(x, 0.5) FILTER (WHERE b)", n="count_if(y > 2) FILTER (WHERE b)",
                  m="mode(x) FILTER (WHERE NOT b)")  # fmt: skip
    types = {"c": "float64", "v": "float64", "q": "float64", "n": "int64", "m": "int64"}
    check(t.aggregate(**calls), table(types, (2.0, 1.0, 2.0, 2, 2)))


def test_aliases_name_the_same_functions(source, check):
    t = source(table({"x": "float64", "b": "bool"}, (1.0, True), (3.0, None), (5.0, False)))
    calls = exprs(v="var_samp(x)", s="stddev_samp(x)", p="stddev_pop(x)", q="quantile_cont(x, 0)", c="covar(x, x)",
                  a="bool_and(b)", o="bool_or(b)", e="every(b)", lo="arg_min(x, x)")  # fmt: skip
    types = dict.fromkeys("vspqc", "float64") | dict.fromkeys("aoe", "bool") | {"lo": "float64"}
    check(t.aggregate(**calls), table(types, (4.0, 2.0, math.sqrt(8 / 3), 1.0, 4.0, False, True, False, 1.0)))


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("values", "q", "result"),
    [
        ([3.0, 1.0, 2.0, 4.0], 0.0, 1.0),
        ([3.0, 1.0, 2.0, 4.0], 1.0, 4.0),
        ([3.0, 1.0, 2.0, 4.0], 0.5, 2.5),
        ([3.0, 1.0, 2.0, 4.0], 0.25, 1.75),
        ([3.0, None, 1.0, None], 0.75, 2.5),
        ([7.0], 0.3, 7.0),
        ([None], 0.3, None),
        ([NAN, 1.0, 2.0], 0.5, 2.0),
        ([NAN, 1.0, 2.0], 0.75, NAN),
        ([NAN, NAN], 0.0, NAN),
        ([-INF, INF, 0.0], 0.5, 0.0),
        ([-INF, INF, 0.0], 0.25, -INF),
        ([-INF, INF], 0.5, NAN),
        ([INF, INF, 1.0], 0.75, INF),
        ([1e308, 1e308, -1e308], 0.75, 1e308),
        ([1e308, -1e308], 0.5, 0.0),
        ([-0.0, 0.0], 0.5, 0.0),
        ([0.1, 0.1, 0.1], 0.3, 0.1),
    ],
)
def test_a_quantile_is_linear_and_exact(source, check, values, q, result):
    t = source(table({"x": "float64"}, *((value,) for value in values)))
    check(t.aggregate(y=expr(f"quantile(x, {q})")), table({"y": "float64"}, (result,)))


def test_quantiles_of_each_group_and_of_integers(source, check):
    rows = [("a", 4), ("b", -1), ("a", 1), ("a", 2), ("b", None), (None, 9), ("b", 2), ("c", None)]
    t = source(table({"k": "string", "x": "int8"}, *rows))
    calls = exprs(a="quantile(x, 0.1)", b="quantile(x, 0.9)", c="median(x)", d="quantile(x, q => 1)")
    expected = table(
        {"k": "string", **dict.fromkeys(calls, "float64")},
        ("a", 1.2, 3.6, 2.0, 4.0),
        ("b", -0.7, 1.7, 0.5, 2.0),
        ("c", None, None, None, None),
        (None, 9.0, 9.0, 9.0, 9.0),
    )
    check(t.aggregate("k", **calls), expected)


def test_a_parameter_is_a_quantile(pipeline, source, check):
    q = pipeline.param("q", "float64", 0.5)
    steps = source(table({"x": "int64"}, (1,), (3,))).aggregate(y=col("x").quantile(q))
    check(steps, table({"y": "float64"}, (2.0,)))
    check(steps, table({"y": "float64"}, (1.5,)), params={"q": 0.25})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("quantile(x, 1.5)", "quantile takes q from 0 to 1, got 1.5"),
        ("quantile(x, -1)", "quantile takes q from 0 to 1, got -1"),
        ("quantile(x, x)", "quantile takes a constant or a $parameter as q"),
        ("quantile(x, NULL)", "quantile takes a constant that is not null as q"),
        ("quantile(x)", "quantile got 1 argument"),
        ("quantile(s, 0.5)", "quantile takes numbers, got string"),
        ("corr(x, s)", "corr takes numbers, got string"),
        ("corr(x)", "corr got 1 argument"),
        ("count_if(x)", "count_if takes bool, got int64"),
    ],
)
def test_what_does_not_fit_is_reported(source, problem, call, message):
    assert message in problem(source(table({"x": "int64", "s": "string"})).aggregate(y=expr(call)))


def test_the_mode_is_the_least_of_the_most_frequent_values(source, check):
    rows = [
        (1, "b", 0.0), (1, "a", NAN), (2, None, 1.0), (1, "b", -0.0), (1, "a", NAN), (3, "é", NAN), (1, None, None),
        (1, None, None), (3, "z", 2.0), (1, None, None), (4, "x", -0.0), (3, "é", NAN),
    ]  # fmt: skip
    t = source(table({"k": "int64", "s": "string", "x": "float64"}, *rows))
    expected = table({"k": "int64", "s": "string", "x": "float64"}, (1, "a", 0.0), (2, None, 1.0), (3, "é", NAN),
                     (4, "x", 0.0))  # fmt: skip
    check(t.aggregate("k", **exprs(s="mode(s)", x="mode(x)")), expected)


def test_count_if_counts_what_is_true_and_is_never_null(source, check):
    t = source(table({"k": "string", "x": "int64"}, ("a", 1), ("a", None), ("b", None), ("a", 3), ("a", 5)))
    expected = table({"k": "string", "n": "int64"}, ("a", 2), ("b", 0))
    check(t.aggregate("k", n=expr("count_if(x > 2)")), expected)


numbers = st.none() | st.sampled_from([NAN, -0.0, 0.5, 1.0, -2.5, 1e6])
rows = st.lists(st.tuples(st.none() | st.integers(0, 2), numbers, numbers), max_size=9)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=rows)
def test_every_layout_gives_the_same_spread(tmp_path, rows):
    pipeline = Pipeline("random", root=tmp_path)
    t = write_source(pipeline, "t", table({"k": "int64", "x": "float64", "y": "float64"}, *rows))
    calls = exprs(**PAIRS, q="quantile(x, 0.3)", m="mode(x)", n="count_if(x > y)")
    t.aggregate("k", **calls).stage("groups")
    t.aggregate(**calls).stage("whole")
    assert_same(pipeline, tolerance=Tolerance(rtol=1e-9, atol=1e-3))
