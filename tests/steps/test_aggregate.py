"""aggregate: one row a group."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuetl import Pipeline, RunFailed, expr
from gpuetl.testing import Tolerance, assert_same
from tables import INF, INT64_MAX, INT64_MIN, NAN, table, write_source

CALLS = {
    "n": "count(*)", "values": "count(x)", "distinct": "count(DISTINCT x)", "total": "sum(x)",
    "low": "min(x)", "high": "max(x)",
    "average": "mean(x)", "variance": "var(x)", "deviation": "std(x)", "middle": "median(x)",
}  # fmt: skip


def exprs(calls):
    return {name: expr(text) for name, text in calls.items()}


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("dtype", "keys"),
    [
        ("float64", [NAN, None, 0.0, -0.0, NAN, None, 1.0]),
        ("float32", [NAN, None, 0.0, -0.0, NAN, None, 1.0]),
        ("string", ["", None, "a", "a", "", None, "b"]),
        ("int64", [INT64_MIN, None, 0, 0, INT64_MIN, None, INT64_MAX]),
        ("date", [date.min, None, date(2024, 1, 1), date(2024, 1, 1), date.min, None, date.max]),
        (
            "decimal(38,2)",
            [Decimal("-1.10"), None, Decimal(0), Decimal(0), Decimal("-1.10"), None, Decimal(7)],
        ),
    ],
)
def test_null_is_a_group_and_nan_another_and_both_zeros_are_one(source, check, dtype, keys):
    t = source(table({"k": dtype, "x": "int64"}, *((key, 2**i) for i, key in enumerate(keys))))
    expected = table(
        {"k": dtype, "n": "int64", "s": "int64"},
        (keys[0], 2, 17),
        (None, 2, 34),
        (keys[2], 2, 12),
        (keys[6], 1, 64),
    )
    check(t.aggregate("k", n=expr("count(*)"), s=expr("sum(x)")), expected)


def test_booleans_are_keys(source, check):
    t = source(table({"k": "bool"}, (True,), (None,), (False,), (True,)))
    expected = table({"k": "bool", "n": "int64"}, (True, 2), (False, 1), (None, 1))
    check(t.aggregate("k", n=expr("count(*)")), expected)


def test_several_keys_tell_groups_apart_by_null(source, check):
    t = source(
        table(
            {"a": "int64", "b": "string"},
            (1, "x"),
            (None, "x"),
            (1, None),
            (None, None),
            (1, "x"),
            (None, None),
        )
    )
    expected = table(
        {"a": "int64", "b": "string", "n": "int64"},
        (1, "x", 2),
        (None, "x", 1),
        (1, None, 1),
        (None, None, 2),
    )
    check(t.aggregate(["a", "b"], n=expr("count(*)")), expected)


def test_every_aggregate_of_floats_with_null_and_nan(source, check):
    rows = [
        ("a", 1.0),
        ("b", None),
        ("c", NAN),
        ("a", 2.0),
        ("b", None),
        ("c", None),
        ("d", NAN),
        ("a", 4.0),
        ("d", 3.0),
        ("e", 7.0),
    ]
    result = {
        "k": "string", "n": "int64", "values": "int64", "distinct": "int64", "total": "float64",
        "low": "float64", "high": "float64",
        "average": "float64", "variance": "float64", "deviation": "float64", "middle": "float64",
    }  # fmt: skip
    expected = table(
        result,
        ("a", 3, 3, 3, 7.0, 1.0, 4.0, 7 / 3, 7 / 3, (7 / 3) ** 0.5, 2.0),
        ("b", 2, 0, 0, None, None, None, None, None, None, None),
        ("c", 2, 1, 1, NAN, NAN, NAN, NAN, None, None, NAN),
        ("d", 2, 2, 2, NAN, 3.0, NAN, NAN, NAN, NAN, NAN),
        ("e", 1, 1, 1, 7.0, 7.0, 7.0, 7.0, None, None, 7.0),
    )
    check(source(table({"k": "string", "x": "float64"}, *rows)).aggregate("k", **exprs(CALLS)), expected)


@pytest.mark.parametrize("rows", [[], [(None,)], [(None,), (None,), (None,)]])
@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_without_keys_there_is_one_row_also_of_nothing(source, check, rows, dtype):
    types = dict.fromkeys(CALLS, "float64") | dict.fromkeys(["n", "values", "distinct"], "int64")
    types |= dict.fromkeys(["total", "low", "high"], dtype)
    check(
        source(table({"x": dtype}, *rows)).aggregate(**exprs(CALLS)),
        table(types, (len(rows), 0, 0, *[None] * 7)),
    )


def test_with_keys_zero_rows_give_no_group(source, check):
    t = source(table({"k": "string", "x": "int64"}))
    check(t.aggregate("k", s=expr("sum(x)")), table({"k": "string", "s": "int64"}))


def test_an_all_null_column_of_unknown_type(source, check):
    t = source(table({"k": "null", "x": "null"}, (None, None), (None, None), (None, None)))
    check(
        t.aggregate("k", n=expr("count(*)"), v=expr("count(x)")),
        table({"k": "null", "n": "int64", "v": "int64"}, (None, 3, 0)),
    )


def test_distinct_counts_one_nan_one_zero_and_no_null(source, check):
    t = source(table({"x": "float64"}, (NAN,), (0.0,), (None,), (-0.0,), (NAN,), (1.0,)))
    check(t.aggregate(n=expr("count(DISTINCT x)")), table({"n": "int64"}, (3,)))


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("dtype", "values", "low", "high"),
    [
        ("string", ["é", "z", None, "", "Z"], "", "é"),
        ("date", [date(2024, 1, 1), None, date(1969, 1, 1)], date(1969, 1, 1), date(2024, 1, 1)),
        (
            "timestamp",
            [datetime(2024, 1, 1), None, datetime(1969, 1, 1)],
            datetime(1969, 1, 1),
            datetime(2024, 1, 1),
        ),
        ("duration", [timedelta(days=1), None, timedelta(-1)], timedelta(-1), timedelta(days=1)),
        ("bool", [True, None, False], False, True),
        ("int8", [1, None, -128], -128, 1),
        ("uint64", [2**64 - 1, None, 1], 1, 2**64 - 1),
        ("decimal(10,2)", [Decimal("1.50"), None, Decimal("-2.25")], Decimal("-2.25"), Decimal("1.50")),
        ("float32", [1.5, None, -INF], -INF, 1.5),
    ],
)
def test_least_and_greatest_of_every_type(source, check, dtype, values, low, high):
    t = source(table({"x": dtype}, *((value,) for value in values)))
    check(
        t.aggregate(low=expr("min(x)"), high=expr("max(x)")),
        table({"low": dtype, "high": dtype}, (low, high)),
    )


@pytest.mark.parametrize(
    ("dtype", "values", "result", "total"),
    [
        ("int8", [127, 127, None, 127], "int64", 381),
        ("uint32", [2**32 - 1] * 3, "int64", 3 * (2**32 - 1)),
        ("float32", [1.0, 2.0**-30, None], "float64", 1.0 + 2.0**-30),
        ("float64", [INF, -INF, 1.0], "float64", NAN),
        ("decimal(5,2)", [Decimal("999.99")] * 3, "decimal(38,2)", Decimal("2999.97")),
        ("duration", [timedelta(days=1), None, timedelta(hours=1)], "duration", timedelta(days=1, hours=1)),
    ],
)
def test_a_sum_has_the_wide_type(source, check, dtype, values, result, total):
    t = source(table({"x": dtype}, *((value,) for value in values)))
    check(t.aggregate(total=expr("sum(x)")), table({"total": result}, (total,)))


@pytest.mark.parametrize("by", [(), ("k",)])
def test_an_integer_sum_whose_parts_overflow_is_right_where_the_whole_fits(source, check, by):
    values = [INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN, 1, 1]
    t = source(table({"k": "int64", "x": "int64"}, *((1, value) for value in values)))
    expected = table({"k": "int64", "total": "int64"}, (1, 0))
    check(t.aggregate(by, total=expr("sum(x)")), expected if by else expected.select(["total"]))


@pytest.mark.parametrize("by", [(), ("k",)])
@pytest.mark.parametrize("values", [[INT64_MAX, 1], [INT64_MAX, 0, 0, 1], [INT64_MIN, 0, -1], [INT64_MAX] * 5])
def test_an_integer_sum_that_overflows_is_an_error_that_names_stage_and_column(source, failure, by, values):
    t = source(table({"k": "int64", "x": "int64"}, *((1, value) for value in values)))
    message = failure(t.aggregate(by, n=expr("count(*)"), total=expr("sum(x)")), RunFailed)
    assert message.startswith("stage 'result', step 1: column 'total': ")


@pytest.mark.parametrize("values", [[9 * 10**37] * 2, [9 * 10**37, 0, 0, 9 * 10**37]])
def test_a_decimal_sum_that_overflows_is_an_error(source, failure, values):
    t = source(table({"x": "decimal(38,0)"}, *((Decimal(value),) for value in values)))
    assert failure(t.aggregate(total=expr("sum(x)")), RunFailed).startswith("stage 'result', step 1: column 'total': ")


def test_expressions_stand_around_and_inside_the_calls(source, check):
    t = source(
        table(
            {"k": "string", "x": "int64", "y": "int64"},
            ("a", 1, 2),
            ("a", 3, 4),
            ("b", 5, None),
            ("a", None, 6),
        )
    )
    columns = exprs({
        "ratio": "sum(x) / count(*)", "product": "sum(x * y) + 1",
        "label": "CASE WHEN max(y) IS NULL THEN 'none' ELSE upper(k) END",
        "five": "5",
    })  # fmt: skip
    expected = table(
        {"k": "string", "ratio": "float64", "product": "int64", "label": "string", "five": "int64"},
        ("a", 4 / 3, 15, "A", 5), ("b", 5.0, None, "none", 5),
    )  # fmt: skip
    check(t.aggregate("k", **columns), expected)


def test_filter_chooses_the_rows_of_one_call(source, check):
    t = source(table({"k": "string", "x": "int64"}, ("a", 1), ("a", -2), ("b", -3), ("a", None), ("b", -5)))
    columns = exprs({
        "positive": "sum(x) FILTER (WHERE x > 0)", "n": "count(*) FILTER (WHERE x < 0)",
        "all_of_them": "count(*)",
    })  # fmt: skip
    expected = table(
        {"k": "string", "positive": "int64", "n": "int64", "all_of_them": "int64"},
        ("a", 1, 1, 3),
        ("b", None, 2, 2),
    )
    check(t.aggregate("k", **columns), expected)


def test_any_and_all_skip_nulls(source, check):
    t = source(table({"k": "string", "x": "int64"}, ("a", 1), ("a", None), ("b", None), ("a", 3), ("b", None)))
    expected = table({"k": "string", "one": "bool", "every": "bool"}, ("a", True, False), ("b", None, None))
    check(t.aggregate("k", one=expr("any(x > 2)"), every=expr("all(x > 2)")), expected)


def test_a_column_outside_the_calls_must_be_a_key(source, problem):
    t = source(table({"k": "string", "x": "int64"}))
    assert "column 'x' has many values in a group\nAggregate it, as in max(x)" in problem(
        t.aggregate("k", y=expr("x + sum(x)"))
    )


def test_an_output_must_not_have_a_key_s_name(source, problem):
    t = source(table({"k": "string", "x": "int64"}))
    assert "'k' is a key and an output" in problem(t.aggregate("k", k=expr("sum(x)")))


floats = st.none() | st.sampled_from([NAN, -0.0, 0.0, 1.0, -2.5, 1e16])
rows = st.lists(
    st.tuples(st.none() | st.sampled_from([NAN, 0.0, -0.0, 1.0]), st.sampled_from([None, "", "a"]), floats),
    max_size=9,
)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=rows)
def test_every_layout_gives_the_same_groups(tmp_path, rows):
    pipeline = Pipeline("random", root=tmp_path)
    t = write_source(pipeline, "t", table({"k": "float64", "s": "string", "x": "float64"}, *rows))
    t.aggregate(["k", "s"], **exprs(CALLS)).stage("groups")
    t.aggregate(**exprs(CALLS)).stage("whole")
    assert_same(pipeline, tolerance=Tolerance(atol=64.0, rtol=1e-9))
