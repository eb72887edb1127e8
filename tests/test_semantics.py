"""What every operation means: a test for each row of the table of the contract, on every engine and layout."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from clusters import needs_this_process
from gpuetl import RunFailed, RunOptions, col, expr
from gpuetl.engines.cudf.relational import join as cudf_checks
from gpuetl.engines.cudf.relational import kernel as cudf_kernel
from gpuetl.engines.pandas.relational import join as join_checks
from gpuetl.engines.pandas.relational import kernel
from tables import INF, INT64_MAX, INT64_MIN, NAN, table, write_source

pytestmark = pytest.mark.single_rows

INT, FLOAT = {"x": "int64"}, {"x": "float64"}
KEYED = {"k": "float64", "x": "int64"}


@pytest.fixture
def aggregated(source, check):
    """Compares aggregates of one column without keys with the values expected."""

    def compare(types, values, **outputs):
        (name,) = types
        rows = source(table(types, *((value,) for value in values)))
        calls = {output: expr(text) for output, (text, _, _) in outputs.items()}
        expected = table({n: dtype for n, (_, dtype, _) in outputs.items()}, tuple(v for _, _, v in outputs.values()))
        assert name in rows.pipeline.plan().sources["t"].schema
        check(rows.aggregate(**calls), expected)

    return compare


@pytest.fixture
def windowed(source, check):
    """Compares a window over x within k in the order of t with the values expected, in the order of t."""

    def compare(call, dtype, values, rows, types=None):
        types = types or {"k": "int64", "t": "int64", "x": "float64"}
        steps = source(table(types, *rows)).window("k", "t", y=expr(call)).select("k", "t", "y")
        expected = table(
            {"k": types["k"], "t": types["t"], "y": dtype},
            *((*row[:2], value) for row, value in zip(rows, values, strict=True)),
        )
        check(steps, expected)

    return compare


@pytest.mark.parametrize(
    ("predicate", "kept"),
    [("x > 3", [4]), ("NOT (x > 3)", [1]), ("x <> 4", [1]), ("x IN (4, NULL)", [4]), ("NOT (x IN (4))", [1]), ("NULL", []), ("x > 3 OR TRUE", [1, 4, None])],
)  # fmt: skip
def test_filter_keeps_rows_where_the_predicate_is_true_and_null_is_not_true(source, check, predicate, kept):
    rows = source(table(INT, (1,), (4,), (None,)))
    check(rows.filter(expr(predicate)), table(INT, *((x,) for x in kept)))


@pytest.mark.part(3)
@pytest.mark.parametrize(
    ("text", "true", "false", "null"),
    [
        ("b AND TRUE", True, False, None), ("b AND FALSE", False, False, False), ("b AND NULL", None, False, None),
        ("b OR TRUE", True, True, True), ("b OR FALSE", True, False, None), ("b OR NULL", True, None, None),
        ("NOT b", False, True, None), ("b = TRUE", True, False, None), ("b = nullif(b, b)", None, None, None),
        ("b IN (TRUE)", True, False, None), ("b IN (TRUE, NULL)", True, None, None), ("b NOT IN (TRUE)", False, True, None),
        ("b NOT IN (TRUE, nullif(b, b))", False, None, None), ("b IS NULL", False, False, True), ("b IS DISTINCT FROM NULL", True, True, False),
    ],
)  # fmt: skip
def test_equality_in_and_or_not_are_kleene_s(source, check, text, true, false, null):
    rows = source(table({"b": "bool"}, (True,), (False,), (None,)))
    check(
        rows.select(y=expr(text), b=col("b")),
        table({"y": "bool", "b": "bool"}, (true, True), (false, False), (null, None)),
    )


@pytest.mark.parametrize("nulls_equal", [False, True])
def test_join_keys_null_matches_nothing_unless_asked_and_nan_is_nan_and_zeros_are_one(source, check, nulls_equal):
    left = source(table(KEYED, (None, 1), (NAN, 2), (-0.0, 3), (INF, 4)))
    right = source(table({"k": "float64", "y": "int64"}, (None, 10), (NAN, 20), (0.0, 30)), "r")
    pairs = [(2, 20), (3, 30), *([(1, 10)] if nulls_equal else [])]
    check(left.join(right, "k", nulls_equal=nulls_equal).select("x", "y"), table({"x": "int64", "y": "int64"}, *pairs))


BIG = 2**53 + 1
OUTER = {"k": "int8", "x": "int64", "d": "date", "y": "uint64", "b": "bool", "s": "string"}
JOINED = (1, BIG, date(1969, 12, 31), 2**64 - 1, True, "")
LEFT_ALONE = (2, INT64_MIN, date(2020, 1, 1), None, None, None)
RIGHT_ALONE = (3, None, None, 0, False, "é")


@pytest.mark.parametrize(
    ("how", "rows"),
    [
        ("inner", [JOINED]), ("left", [JOINED, LEFT_ALONE]), ("right", [JOINED, RIGHT_ALONE]),
        ("full", [JOINED, LEFT_ALONE, RIGHT_ALONE]),
    ],
)  # fmt: skip
def test_the_columns_of_an_outer_join_keep_their_types_and_become_nullable(source, check, how, rows):
    """A row of the right side alone has its key in the one key column; 2**53 + 1 is no float64."""
    left = source(table({"k": "int8", "x": "int64", "d": "date"}, JOINED[:3], LEFT_ALONE[:3]))
    right = source(
        table({"k": "int8", "y": "uint64", "b": "bool", "s": "string"}, (1, *JOINED[3:]), (3, *RIGHT_ALONE[3:])), "r"
    )
    check(left.join(right, "k", how), table(OUTER, *rows))


@pytest.mark.parametrize("nulls_equal", [False, True])
@pytest.mark.parametrize("how", ["right", "full"])
def test_null_keys_of_an_outer_join_are_rows_without_a_partner_unless_nulls_are_equal(source, check, how, nulls_equal):
    left, right = (
        source(table(KEYED, (None, 1), (-0.0, 2))),
        source(table({"k": "float64", "y": "int64"}, (None, 3)), "r"),
    )
    rows = [(None, 1, 3)] if nulls_equal else [(None, None, 3), *[(None, 1, None)] * (how == "full")]
    rows += [(-0.0, 2, None)] * (how == "full")
    check(left.join(right, "k", how, nulls_equal=nulls_equal), table({**KEYED, "y": "int64"}, *rows))


@pytest.mark.parametrize("nulls_equal", [False, True])
def test_a_null_key_is_in_the_anti_join_and_in_the_semi_join_only_where_nulls_are_equal(source, check, nulls_equal):
    left = source(table(KEYED, (None, 1), (NAN, 2), (-0.0, 3), (INF, 4)))
    right = source(table({"k": "float64", "y": "int64"}, (None, 1), (None, 2), (NAN, 3), (0.0, 4), (0.0, 5)), "r")
    matched = [(NAN, 2), (-0.0, 3), *[(None, 1)] * nulls_equal]
    rest = [(INF, 4), *[(None, 1)] * (not nulls_equal)]
    check(left.join(right, "k", "semi", nulls_equal=nulls_equal), table(KEYED, *matched))
    check(left.join(right, "k", "anti", nulls_equal=nulls_equal), table(KEYED, *rest))


def test_a_cross_join_has_no_keys_and_pairs_nulls_like_other_values(source, check):
    left, right = source(table(INT, (1,), (None,))), source(table({"y": "int64"}, (None,), (2,), (3,)), "r")
    pairs = [(x, y) for x in (1, None) for y in (None, 2, 3)]
    check(left.join(right, how="cross"), table({"x": "int64", "y": "int64"}, *pairs))


def test_a_join_larger_than_a_frame_is_refused_before_it_is_built(pipeline, engine):
    """2^31 pairs of one key: they are counted, and the key is named."""
    rows = pa.table({"k": pa.repeat(pa.scalar(7), 1 << 16)})
    left, right = (
        write_source(pipeline, name, rows.slice(0, n), 1 << 16) for name, n in (("l", 1 << 16), ("r", 1 << 15))
    )
    left.join(right, "k").stage("result")
    with pytest.raises(
        RunFailed, match=r"the join would have 2,147,483,648 rows .*: a frame holds 2,147,483,647 at most"
    ):
        pipeline.run(engine=engine)


def test_a_join_is_as_large_as_its_partitions_are_and_one_that_is_too_large_names_the_key(
    source, pipeline, engine, layout, monkeypatch
):
    """In partitions of 2 rows beside a side of 5, no partition of the result has more than 10 rows."""
    needs_this_process(engine, "limit")
    monkeypatch.setattr(join_checks, "MAX_ROWS", 20)
    monkeypatch.setattr(cudf_checks, "MAX_ROWS", 20)
    rows = table({"k": "int64"}, *[(7,)] * 5)
    source(rows).join(source(rows, "r"), "k").select(x=expr("k + 1")).aggregate(n=expr("count(*)")).stage("result")
    if layout.partition_rows == 2 and layout.broadcast_bytes:
        assert pipeline.run(engine=engine, options=layout)["result"].to_arrow().to_pydict() == {"n": [25]}
    else:
        with pytest.raises(
            RunFailed, match=r"join would have 25 rows .*k = 7 repeats most: in 5 rows on the left side"
        ):
            pipeline.run(engine=engine, options=layout)


def test_a_name_that_both_sides_of_a_join_have_needs_a_suffix(source, problem):
    left, right = source(table(KEYED, (1.0, 1))), source(table(KEYED, (1.0, 2)), "r")
    text = problem(left.join(right, "k"))
    assert "both sides have x" in text
    assert "Set suffix: _r" in text


@pytest.mark.parametrize(
    ("validate", "left", "right", "valid"),
    [
        ("one_to_one", [1, 2], [1, 2], True), ("one_to_one", [1, 1], [1], False), ("one_to_one", [1], [1, 1], False),
        ("many_to_one", [1, 1], [1], True), ("many_to_one", [1], [1, 1], False),
        ("one_to_many", [1], [1, 1], True), ("one_to_many", [1, 1], [1], False), ("many_to_many", [1, 1], [1, 1], True),
    ],
)  # fmt: skip
def test_validate_is_checked(source, answer, failure, validate, left, right, valid):
    joined = source(table(INT, *((x,) for x in left))).join(
        source(table(INT, *((x,) for x in right)), "r"), "x", validate=validate
    )
    if valid:
        assert answer(joined).num_rows == len(left) * len(right) // (len(set(left)))
    else:
        assert validate in failure(joined, RunFailed)


def test_group_keys_null_is_a_group_and_nan_another_and_zeros_are_one(source, check):
    rows = source(table(KEYED, (None, 1), (NAN, 2), (0.0, 3), (None, 4), (-0.0, 5), (NAN, 6)))
    check(rows.aggregate("k", s=expr("sum(x)")), table({"k": "float64", "s": "int64"}, (None, 5), (NAN, 8), (0.0, 8)))


def signs_and_bits(column):
    """Return a float column's bits: they tell -0.0 from 0.0, and one NaN from another."""
    return [float(x).hex() if x == x else x.view(np.int64) for x in column.to_numpy()]


ZEROS_AND_NANS = [-0.0, 0.0, *np.array([-1, 0x7FF8000000000001], np.int64).view(np.float64), -0.0, NAN, -0.0]


@pytest.mark.parametrize("values", [ZEROS_AND_NANS, ZEROS_AND_NANS[::-1]])
@pytest.mark.parametrize(
    "steps",
    [
        lambda t: t.aggregate("k", n=expr("count(*)")), lambda t: t.aggregate("k", n=expr("median(x)")),
        lambda t: t.distinct("k"), lambda t: t.distinct("k", keep="first", order_by="x"),
    ],
    ids=["aggregate", "aggregate at once", "distinct", "distinct first"],
)  # fmt: skip
def test_a_key_leaves_as_0_and_as_the_one_nan_whichever_row_was_first(source, answer, values, steps):
    rows = source(table({"k": "float64", "x": "int64"}, *((k, x) for x, k in enumerate(values))))
    keys = answer(steps(rows)).column("k").combine_chunks()
    assert sorted(signs_and_bits(keys), key=str) == ["0x0.0p+0", np.array(NAN).view(np.int64)]


@pytest.mark.parametrize("predicate", ["1 / k > 0", "CAST(k AS string) = '0'", "k = 0", "k IN (0.0)"])
def test_a_filter_of_keys_keeps_or_drops_whole_groups(source, check, predicate):
    """Also one that tells -0.0 from 0.0: it sees the key that leaves."""
    rows = source(table({"k": "float64", "x": "int64"}, (-0.0, 1), (0.0, 2), (-0.0, 4)))
    check(rows.aggregate("k", s=expr("sum(x)")).filter(expr(predicate)).select("s"), table({"s": "int64"}, (7,)))


@pytest.mark.parametrize("values", [[], [None], [None, None, None]])
def test_sum_of_nothing_or_of_nulls_is_null(aggregated, values):
    aggregated(INT, values, s=("sum(x)", "int64", None))


def test_sum_of_integers_is_int64(aggregated):
    aggregated({"x": "int8"}, [127, 127, None, 127], s=("sum(x)", "int64", 381))


def test_sum_of_decimals_has_38_digits(aggregated):
    aggregated(
        {"x": "decimal(5,2)"},
        [Decimal("999.99"), None, Decimal("999.99")],
        s=("sum(x)", "decimal(38,2)", Decimal("1999.98")),
    )


@pytest.mark.part(6)
@pytest.mark.parametrize(
    ("dtype", "value", "instead"),
    [
        ("int64", INT64_MAX, "float64 or decimal"), ("int64", INT64_MIN, "float64 or decimal"),
        ("decimal(38,0)", Decimal("9" * 38), "float64"), ("decimal(38,2)", Decimal("-" + "9" * 36), "float64"),
        ("duration", timedelta(microseconds=INT64_MAX // 2), "a number"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("by", "text"), [((), "sum(x)"), ("k", "sum(x) FILTER (WHERE x IS NOT NULL)"), ("k", "coalesce(sum(x), NULL)")]
)
def test_sum_that_overflows_is_an_error_that_names_column_and_function(
    source, failure, dtype, value, instead, by, text
):
    """It does not say how the rows were split."""
    rows = source(table({"x": dtype, "k": "int64"}, *[(value, 1)] * 41))
    assert failure(rows.aggregate(by, s=expr(text)), RunFailed) == (
        f"stage 'result', step 1: column 's': sum leaves {dtype}; cast the column to {instead}"
    )


def test_a_sum_whose_parts_overflow_and_whose_total_does_not_has_a_result(aggregated):
    aggregated(INT, [INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN, 3], s=("sum(x)", "int64", 1))


def test_decimals_are_summed_exactly_in_38_digits_whatever_the_parts_are(aggregated):
    """No partition's own sum is refused where the sum of all is none that overflows."""
    large, least = Decimal("9" * 38), Decimal("-" + "9" * 38)
    aggregated(
        {"x": "decimal(38,0)"},
        [large, large, Decimal(5), least, least, None],
        s=("sum(x)", "decimal(38,0)", Decimal(5)),
    )


NASTY_FLOATS = {
    1: [1e16, 1.0, -1e16, 1.0] * 10, 2: [0.1] * 150, 3: [1e308, -1e308, 1e-308, 2.5],
    4: [(-1) ** i / (i + 1) for i in range(100)], None: [3.0, -0.1, -0.2] * 7, 5: [2.0**60, 1.0, -(2.0**60)],
}  # fmt: skip


@pytest.mark.part(3)
def test_float_sums_are_within_the_bound_of_any_order_of_additions(source, answer):
    """|result - exact| <= 4·n·ε·Σ|x| in each group, however the rows are split."""
    rows = [(key, x) for key, values in NASTY_FLOATS.items() for x in values]
    got = answer(
        source(table({"k": "int64", "x": "float64"}, *rows[::2], *rows[1::2])).aggregate("k", s=expr("sum(x)"))
    )
    sums = dict(zip(*(got.column(name).to_pylist() for name in "ks"), strict=True))
    assert sums.keys() == NASTY_FLOATS.keys()
    for key, values in NASTY_FLOATS.items():
        bound = 4 * len(values) * Fraction(2.0**-52) * sum(abs(Fraction(x)) for x in values)
        assert abs(Fraction(sums[key]) - sum(map(Fraction, values))) <= bound


def test_count_is_of_values_count_star_of_rows_count_distinct_of_different_values(aggregated):
    values = [None, NAN, NAN, 0.0, -0.0, 1.0]
    aggregated(
        FLOAT, values, n=("count(x)", "int64", 5), rows=("count(*)", "int64", 6), d=("count(DISTINCT x)", "int64", 3)
    )


@pytest.mark.parametrize(
    ("values", "least", "greatest"),
    [([1.0, NAN, None], 1.0, NAN), ([NAN, NAN], NAN, NAN), ([None], None, None), ([], None, None), ([-INF, NAN, INF], -INF, NAN), ([2.0, None, 1.0], 1.0, 2.0)],
)  # fmt: skip
def test_nan_is_the_greatest_value_for_min_and_max_and_nulls_are_skipped(aggregated, values, least, greatest):
    aggregated(FLOAT, values, least=("min(x)", "float64", least), greatest=("max(x)", "float64", greatest))


@pytest.mark.parametrize(
    ("values", "mean", "var"),
    [
        ([], None, None),
        ([None], None, None),
        ([2], 2.0, None),
        ([2, None], 2.0, None),
        ([2, 4], 3.0, 2.0),
        ([1, 2, 3, 4, None], 2.5, 5 / 3),
    ],
)
def test_mean_var_and_std_are_float64_with_ddof_1(aggregated, values, mean, var):
    std = None if var is None else var**0.5
    aggregated(INT, values, m=("mean(x)", "float64", mean), v=("var(x)", "float64", var), s=("std(x)", "float64", std))


@pytest.mark.parametrize(
    ("values", "median"), [([], None), ([None, None], None), ([3.0, None, 1.0], 2.0), ([1.0, 2.0, NAN], 2.0), ([1.0, NAN, NAN], NAN), ([4.0, 1.0, 2.0, 3.0], 2.5)]
)  # fmt: skip
def test_median_is_linear_and_exact_with_nan_greatest_and_nulls_skipped(aggregated, values, median):
    aggregated(FLOAT, values, m=("median(x)", "float64", median))


@pytest.mark.parametrize(
    ("values", "q", "result"),
    [
        ([], 0.5, None), ([None], 0.5, None), ([7.0, None], 0.9, 7.0), ([4.0, 1.0, None, 2.0, 3.0], 0.25, 1.75),
        ([1.0, 2.0, NAN], 1, NAN), ([1.0, 2.0, NAN], 0.5, 2.0), ([NAN, 5.0], 0, 5.0), ([-INF, 0.0, INF], 0, -INF),
        ([10.0, 0.0], 0.3, 3.0), ([1.0, 2.0, 3.0, 4.0, 5.0], 0.75, 4.0),
    ],
)  # fmt: skip
def test_quantile_is_linear_and_exact_with_nan_greatest_and_nulls_skipped(aggregated, values, q, result):
    aggregated(FLOAT, values, m=(f"quantile(x, {q})", "float64", result))


TIMED = [(1, 3, 30), (1, 1, None), (1, 2, 20), (2, 1, None), (None, 2, None), (None, 1, 5)]


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("call", "values"),
    [
        ("first(x)", [None, None, 5]), ("last(x)", [30, None, None]), ("first(x, ignore_nulls => true)", [20, None, 5]),
        ("last(x, ignore_nulls => true)", [30, None, 5]), ("last(x) FILTER (WHERE t < 3)", [20, None, None]),
    ],
)  # fmt: skip
def test_first_and_last_of_an_aggregate_go_by_order_by_and_keep_nulls_by_default(source, check, call, values):
    rows = source(table({"k": "int64", "t": "int64", "x": "int64"}, *TIMED))
    expected = table({"k": "int64", "y": "int64"}, *zip((1, 2, None), values, strict=True))
    check(rows.aggregate("k", "t", y=expr(call)), expected)
    check(rows.with_columns(t=expr("-t")).aggregate("k", "t desc", y=expr(call.replace("t < 3", "t > -3"))), expected)


def test_first_of_an_aggregate_needs_an_order(source, problem):
    rows = source(table({"k": "int64", "x": "int64"}))
    assert "first needs order_by" in problem(rows.aggregate("k", y=expr("first(x)")))


ORDERED = [(1, 1, None), (1, 2, 1.0), (1, 3, None), (2, 1, 5.0)]


@pytest.mark.parametrize(
    ("call", "values"),
    [
        ("first(x)", [None, None, None, 5.0]), ("last(x)", [None, None, None, 5.0]),
        ("lag(x)", [None, None, 1.0, None]), ("lead(x)", [1.0, None, None, None]),
    ],
)  # fmt: skip
def test_first_last_lag_and_lead_go_by_the_order_and_keep_nulls(windowed, call, values):
    windowed(call, "float64", values, ORDERED)


HOLES = [
    (1, 1, None),
    (1, 2, 2.0),
    (1, 3, None),
    (1, 4, None),
    (1, 5, NAN),
    (1, 6, 6.0),
    (None, 1, None),
    (None, 2, 8.0),
]


@pytest.mark.parametrize(
    ("call", "values"),
    [
        ("lag(x, ignore_nulls => true)", [None, None, 2.0, 2.0, 2.0, NAN, None, None]),
        ("lead(x, ignore_nulls => true)", [2.0, NAN, NAN, NAN, 6.0, None, 8.0, None]),
        ("lag(x, 2, ignore_nulls => true)", [None, None, None, None, None, 2.0, None, None]),
        ("lead(x, 2, -1, ignore_nulls => true)", [NAN, 6.0, 6.0, 6.0, -1.0, -1.0, -1.0, -1.0]),
        ("lag(x, 1, 0)", [0.0, None, 2.0, None, None, NAN, 0.0, None]),
        ("first(x, ignore_nulls => true)", [2.0] * 6 + [8.0] * 2), ("last(x, ignore_nulls => true)", [6.0] * 6 + [8.0] * 2),
    ],
)  # fmt: skip
def test_rows_that_ignore_nulls_do_not_count_them_and_nan_is_a_value(windowed, call, values):
    windowed(call, "float64", values, HOLES)


def test_order_matters_and_the_rows_place_in_the_input_does_not(source, check):
    rows = source(table({"t": "int64", "x": "int64"}, (3, 30), (1, 10), (2, 20)))
    check(
        rows.window((), "t", y=expr("lag(x)")).select("t", "y"),
        table({"t": "int64", "y": "int64"}, (1, None), (2, 10), (3, 20)),
    )


CUMULATED = [(1, 1, 1.0), (1, 2, None), (1, 3, 3.0), (1, 4, NAN), (1, 5, 1.0), (None, 1, 7.0), (None, 2, 8.0)]


@pytest.mark.parametrize(
    ("call", "dtype", "values"),
    [
        ("cum_sum(x)", "float64", [1.0, None, 4.0, NAN, NAN, 7.0, 15.0]), ("cum_min(x)", "float64", [1.0, None, 1.0, 1.0, 1.0, 7.0, 7.0]),
        ("cum_max(x)", "float64", [1.0, None, 3.0, NAN, NAN, 7.0, 8.0]), ("cum_mean(x)", "float64", [1.0, None, 2.0, NAN, NAN, 7.0, 7.5]),
        ("cum_count(x)", "int64", [1, None, 2, 3, 4, 1, 2]), ("cum_prod(x)", "float64", [1.0, None, 3.0, NAN, NAN, 7.0, 56.0]),
    ],
)  # fmt: skip
def test_cumulated_values_include_the_row_and_skip_nulls_and_nan_poisons_what_follows(windowed, call, dtype, values):
    windowed(call, dtype, values, CUMULATED)


@pytest.mark.parametrize(
    ("call", "dtype", "values"),
    [
        ("cum_sum(x)", "int64", [None, BIG, None, 0]),
        ("cum_min(x)", "int64", [None, BIG, None, -BIG]), ("cum_max(x)", "int64", [None, BIG, None, BIG]),
        ("cum_mean(x)", "float64", [None, float(BIG), None, 0.0]), ("cum_count(x)", "int64", [None, 1, None, 2]),
    ],
)  # fmt: skip
def test_cumulated_integers_are_exact_and_begin_with_null_where_x_does(windowed, call, dtype, values):
    types = {"k": "int64", "t": "int64", "x": "int64"}
    windowed(call, dtype, values, [(1, 1, None), (1, 2, BIG), (1, 3, None), (1, 4, -BIG)], types)


@pytest.mark.parametrize(("call", "second"), [("cum_sum", 1), ("cum_prod", 2)])
def test_a_cumulated_sum_or_product_that_overflows_is_an_error(source, failure, call, second):
    rows = source(table({"t": "int64", "x": "int64"}, (1, INT64_MAX), (2, second)))
    message = failure(rows.window((), "t", y=expr(f"{call}(x)")), RunFailed)
    assert (
        f"stage 'result', step 1: column 'y': {call} leaves int64; cast the column to float64 or decimal\nThe row: t = 2, x = {second}"
        in message
    )


@pytest.mark.parametrize(("function", "last"), [("ewm_mean", 6.0), ("decayed_sum", 8.0)])
def test_decay_goes_by_rows_and_those_with_a_null_do_not_count(windowed, function, last):
    windowed(f"{function}(x, half_life => 1)", "float64", [8.0, None, last], [(1, 1, 8.0), (1, 5, None), (1, 9, 4.0)])


@pytest.mark.parametrize(("function", "last"), [("ewm_mean", 5.0), ("decayed_sum", 6.0)])
def test_decay_goes_by_time_where_the_order_is_a_time(windowed, function, last):
    types = {"k": "int64", "t": "timestamp", "x": "float64"}
    rows = [(1, datetime(2020, 1, 1, hour), x) for hour, x in ((0, 8.0), (1, None), (2, 4.0))]
    windowed(f"{function}(x, half_life => INTERVAL '1 hour')", "float64", [8.0, None, last], rows, types)


@pytest.mark.parametrize(
    ("call", "dtype", "values"),
    [
        ("rolling_sum(x, 2)", "float64", [1.0, 1.0, INF, INF, 3.0, 7.0]), ("rolling_count(x, 2)", "int64", [1, 1, 1, 2, 2, 2]),
        ("rolling_max(x, 2)", "float64", [1.0, 1.0, INF, INF, 2.0, 5.0]), ("rolling_min(x, 3)", "float64", [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
        ("rolling_mean(x, 9)", "float64", [1.0, 1.0, INF, INF, INF, INF]),
    ],
)  # fmt: skip
def test_frames_hold_the_row_and_those_before_it_and_partial_ones_count(windowed, call, dtype, values):
    xs = [1.0, None, INF, 1.0, 2.0, 5.0]
    windowed(call, dtype, values, [(1, t, x) for t, x in enumerate(xs)])


def test_frames_over_an_interval_include_their_far_end(windowed):
    types = {"k": "int64", "t": "timestamp", "x": "float64"}
    start = datetime(2020, 1, 1)
    rows = [
        (1, start, 1.0),
        (1, start + timedelta(hours=1), 2.0),
        (1, start + timedelta(hours=1, microseconds=1), 4.0),
        (1, start + timedelta(hours=9), NAN),
    ]
    windowed("rolling_sum(x, INTERVAL '1 hour')", "float64", [1.0, 3.0, 6.0, NAN], rows, types)


def test_a_session_ends_with_a_gap_that_is_longer(windowed):
    types = {"k": "int64", "t": "timestamp", "x": "float64"}
    rows = [(1, datetime(2020, 1, 1, hour, minute), 0.0) for hour, minute in ((0, 0), (1, 0), (2, 1), (2, 2), (9, 0))]
    windowed("session_id(gap => INTERVAL '1 hour')", "int64", [0, 0, 1, 1, 2], rows, types)


@pytest.mark.parametrize("step", ["sort", "window"])
def test_ties_are_noted(source, pipeline, engine, layout, step):
    rows = source(table({"t": "int64", "x": "int64"}, (1, 1), (1, 2), (2, 3)))
    (rows.sort("t") if step == "sort" else rows.window((), "t", n=expr("row_number()"))).stage("s")
    (note,) = pipeline.run(engine=engine, options=layout).report.notes
    assert note == "stage 's', step 1: some rows tie in (t); add a column to the order that tells them apart"


def test_ties_keep_the_order_of_the_input_on_one_partition(source, pipeline, engine):
    rows = source(table({"t": "int64", "x": "int64"}, (2, 1), (1, 2), (2, 3), (1, 4)))
    rows.sort("t").stage("s")
    got = pipeline.run(engine=engine, options=RunOptions())["s"].to_arrow()
    assert got.column("x").to_pylist() == [2, 4, 1, 3]


@pytest.mark.parametrize(
    ("order", "values"),
    [
        ("x", [-INF, 0.5, INF, NAN, None]), ("x desc", [NAN, INF, 0.5, -INF, None]),
        ("x nulls first", [None, -INF, 0.5, INF, NAN]), ("x desc nulls first", [None, NAN, INF, 0.5, -INF]),
    ],
)  # fmt: skip
def test_sort_puts_nulls_last_both_ways_unless_stated_and_nan_above_all(source, check, order, values):
    rows = source(table(FLOAT, (INF,), (None,), (0.5,), (NAN,), (-INF,)))
    check(rows.sort(order), table(FLOAT, *((x,) for x in values)), ordered=True)


def test_sort_orders_strings_by_their_utf_8_bytes(source, check):
    words = ["", "A", "Z", "a", "a\0", "aa", "e\u0301", "z", "\u00e9", "\uffff", "\U00010000"]
    check(
        source(table({"s": "string"}, *((w,) for w in reversed(words)))).sort("s"),
        table({"s": "string"}, *((w,) for w in words)),
        ordered=True,
    )


def test_distinct_takes_nulls_for_equal_and_nan_for_equal(source, check):
    rows = source(table(FLOAT, (None,), (NAN,), (None,), (0.0,), (NAN,), (-0.0,)))
    check(rows.distinct("x"), table(FLOAT, (None,), (NAN,), (0.0,)))


def test_distinct_of_several_columns_takes_nulls_and_nans_for_equal_in_each(source, check):
    values = [(None, None), (NAN, None), (None, NAN), (NAN, NAN), (None, None), (NAN, NAN), (0.0, NAN), (-0.0, NAN)]
    both = {"x": "float64", "y": "float64"}
    check(source(table(both, *values)).distinct("x", "y"), table(both, *values[:4], (0.0, NAN)))


def test_distinct_that_keeps_the_first_needs_an_order(source, check, problem):
    rows = source(table({"k": "int64", "t": "int64"}, (1, 3), (1, 2), (2, 9)))
    check(rows.distinct("k", keep="first", order_by="t"), table({"k": "int64", "t": "int64"}, (1, 2), (2, 9)))
    assert "distinct with keep: first needs order_by" in problem(rows.distinct("k", keep="first"))


def test_division_is_ieee_s_in_float64(source, check):
    rows = source(table({"x": "int64", "y": "int64"}, (1, 0), (-1, 0), (0, 0), (7, 2), (None, 1), (1, None)))
    check(rows.select(q=expr("x / y")), table({"q": "float64"}, (INF,), (-INF,), (NAN,), (3.5,), (None,), (None,)))


def test_integer_division_truncates_and_the_remainder_has_the_dividend_s_sign_and_by_zero_is_null(source, check):
    rows = source(table({"x": "int64", "y": "int64"}, (7, 2), (-7, 2), (7, -2), (-7, -2), (7, 0), (0, 0), (None, 1)))
    expected = table(
        {"q": "int64", "r": "int64"}, (3, 1), (-3, -1), (-3, 1), (3, -1), (None, None), (None, None), (None, None)
    )
    check(rows.select(q=expr("x // y"), r=expr("x % y")), expected)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x + 1", INT64_MAX),
        ("x - 1", INT64_MIN),
        ("x * 2", INT64_MAX),
        ("-x", INT64_MIN),
        ("abs(x)", INT64_MIN),
        ("x // -1", INT64_MIN),
    ],
)
def test_integer_arithmetic_that_overflows_names_stage_column_and_row(source, failure, text, value):
    rows = source(table(INT, (0,), (value,)))
    message = failure(rows.with_columns(y=expr(text)), RunFailed)
    assert message.startswith("stage 'result', step 1: column 'y': ")
    assert f"has no result, for {value}" in message
    assert f"\nRow 2 of {rows.pipeline.root}/t.parquet (row group 0): x = {value}\n" in message


CASTS = [
    ("float64", 1.5, "int64", None), ("float64", 1e300, "int64", None), ("float64", NAN, "int64", None), ("float64", 2.0, "int64", 2),
    ("int64", 300, "int8", None), ("int64", -1, "uint8", None), ("int64", 127, "int8", 127), ("int64", 2**53 + 1, "float64", None),
    ("string", "12", "int64", 12), ("string", "1.5", "int64", None), ("string", " ", "float64", None), ("string", "2020-02-30", "date", None),
    ("string", "2020-02-29", "date", date(2020, 2, 29)), ("decimal(5,2)", Decimal("1.50"), "int64", None), ("decimal(5,2)", Decimal("2.00"), "int64", 2),
]  # fmt: skip


@pytest.mark.part(2)
@pytest.mark.parametrize(("source_type", "value", "target", "result"), CASTS)
def test_a_cast_is_exact_or_an_error_and_try_cast_gives_null(
    source, check, failure, source_type, value, target, result
):
    rows = source(table({"x": source_type}, (value,), (None,)))
    check(rows.select(y=col("x").try_cast(target)), table({"y": target}, (result,), (None,)))
    if result is None:
        assert "has no result, for " in failure(rows.select(y=col("x").cast(target)), RunFailed)
    else:
        check(rows.select(y=col("x").cast(target)), table({"y": target}, (result,), (None,)))


def test_round_goes_half_to_even(source, check):
    values = {-2.5: -2.0, -1.5: -2.0, -0.5: -0.0, 0.5: 0.0, 1.5: 2.0, 2.5: 2.0, NAN: NAN, INF: INF}
    check(
        source(table(FLOAT, *((x,) for x in values))).select(y=expr("round(x)")),
        table({"y": "float64"}, *((y,) for y in values.values())),
    )


@pytest.mark.parametrize(
    ("text", "length", "upper"),
    [("", 0, ""), ("aé", 2, "AÉ"), ("e\u0301", 2, "E\u0301"), ("😀", 1, "😀"), ("ﬁ", 1, "ﬁ"), (None, None, None)],
)
def test_a_text_s_length_is_in_code_points_and_upper_maps_one_to_one(source, check, text, length, upper):
    rows = source(table({"s": "string"}, (text,)))
    expected = table({"n": "int64", "u": "string"}, (length, upper))
    check(rows.select(n=expr("CAST(length(s) AS int64)"), u=expr("upper(s)")), expected)


@pytest.mark.parametrize(
    ("pattern", "kept"), [("a%", ["a", "ab", "a\nb"]), ("a_", ["ab"]), ("%", ["", "a", "ab", "a\nb", "b"]), ("", [""])]
)
def test_like_has_wildcards_for_one_character_and_for_any_number(source, check, pattern, kept):
    rows = source(table({"s": "string"}, ("",), ("a",), ("ab",), ("a\nb",), ("b",), (None,)))
    check(rows.filter(expr(f"s LIKE '{pattern}'")), table({"s": "string"}, *((s,) for s in kept)))


@pytest.mark.parametrize(
    ("pattern", "reported"),
    [
        ("(a", "this '(' is not closed"), ("a)", "')' has no '('"), ("[z-a]", "z-a"), ("*a", "'*' repeats nothing"),
        ("(?=a)", "look"), ("(a)\\1", "back reference"), ("a**", "quantifier"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("call", ["regexp_like(s, '{}')", "regexp_replace(s, '{}', '')", "regexp_count(s, '{}') > 0"])
def test_a_regular_expression_beyond_the_shared_subset_is_a_plan_error(source, problem, pattern, reported, call):
    """An engine never sees it: libcudf does not say what it does then."""
    assert reported in problem(source(table({"s": "string"}, ("a",))).select(y=expr(call.format(pattern))))


def test_regular_expressions_of_the_shared_subset_mean_the_same_everywhere(source, check):
    rows = source(
        table(
            {"s": "string"},
            ("order 66",),
            ("",),
            ("٤\n7",),
            (None,),
            ("ä long order of 123",),
            ("twenty 20 and no more",),
        )
    )
    columns = {
        "like": r"regexp_like(s, '^[^\d]+\d+$')",
        "word": r"regexp_like(s, 'order|\bno\b')",
        "first": r"regexp_extract(s, '\d')",
        "n": r"regexp_count(s, '.')",
    }
    expected = table(
        {"like": "bool", "word": "bool", "first": "string", "n": "int64"},
        (True, True, "6", 8), (False, False, None, 0), (True, False, "7", 2), (None, None, None, None), (True, True, "1", 19), (False, True, "2", 21),
    )  # fmt: skip
    check(rows.select(**{name: expr(text) for name, text in columns.items()}), expected)


LONG = r"^(?:[a-z]{1,90} ){1,3}\d+$"
"""A pattern for which a kernel of its own is compiled."""


def test_patterns_of_columns_mean_the_same_everywhere(source, pipeline, check):
    rows = source(
        table(
            {"s": "string", "p": "string", "r": "string", "g": "int64"},
            ("order 66", "(\\d)(\\d)", "\\2\\1", 2), ("", "^$", "none", 0), ("a-b", "(?i)[B-D]", "<\\0>", 0), (None, "[", "\\9", 7), ("x", None, "", 0),
        )
    )  # fmt: skip
    columns = {
        "like": "s RLIKE p", "whole": "regexp_full_match(s, '.*' || p)", "part": "regexp_extract(s, p, g)", "parts": "regexp_extract_all(s, p)",
        "between": "regexp_split_to_array(s, p || '.?')", "changed": "upper(regexp_replace(s, p, r))", "n": "regexp_count(s, p) + 1",
        "word": "regexp_extract(s, '([a-z]+)(.)?', ['word', 'rest']).word", "rests": "regexp_extract_all(s, '([a-z])(\\W)?', ['a', 'b'])[1].b", "similar": "s SIMILAR TO p OR s ~ '-'",
    }  # fmt: skip
    expected = table(
        {"like": "bool", "whole": "bool", "part": "string", "parts": "list<string>", "between": "list<string>", "changed": "string", "n": "int64", "word": "string", "rests": "string", "similar": "bool"},
        (True, True, "6", ["66"], ["order ", ""], "ORDER 66", 2, "order", None, False), (True, True, "", [""], [""], "NONE", 2, None, None, True),
        (True, True, "b", ["b"], ["a-", ""], "A-<B>", 2, "a", "-", True), (None,) * 10, (*(None,) * 7, "x", None, None),
    )  # fmt: skip
    columns["between"] = "CASE WHEN s <> '' THEN regexp_split_to_array(s, p || '.?') WHEN s = '' THEN [''] END"
    check(rows.select(**{name: expr(text) for name, text in columns.items()}), expected)
    kept = rows.filter(expr("CASE WHEN p <> '[' THEN regexp_like('order 77', p) END")).select("g")
    check(kept, table({"g": "int64"}, (2,), (0,)))
    rules = source(table({"rule": "string"}, ("^a",), ("\\d$",), ("[a-z]",), (LONG,)), "rules")
    pairs = rows.join(rules, condition=expr("regexp_like(l.s, r.rule)")).select("s", "rule")
    found = (
        ("a-b", "^a"),
        ("order 66", "\\d$"),
        ("order 66", "[a-z]"),
        ("a-b", "[a-z]"),
        ("x", "[a-z]"),
        ("order 66", LONG),
    )
    check(pairs, table({"s": "string", "rule": "string"}, *found))


def test_a_pattern_of_a_row_that_is_not_valid_stops_the_run(source, failure):
    rows = source(table({"s": "string", "p": "string"}, ("a", "a"), (None, "("), ("b", "x"), ("c", "(b")))
    message = failure(rows.filter(expr("regexp_like(s, p)")), RunFailed)
    assert "for c, (b: the pattern is not valid: this '(' is not closed, at character 1" in message
    assert "Correct it in the data, or leave such rows out." in message


def test_timestamps_are_microseconds(source, check):
    moment = datetime(1969, 12, 31, 23, 59, 59, 999_999)
    check(source(table({"t": "timestamp"}, (moment,))).select(n=expr("CAST(t AS int64)")), table({"n": "int64"}, (-1,)))


@pytest.mark.parametrize("text", ["t = z", "t < z", "coalesce(t, z) IS NULL", "t - z > INTERVAL '1 day'", "t IN (z)"])
def test_naive_and_zoned_timestamps_do_not_mix(source, problem, text):
    rows = source(
        table({"t": "timestamp", "z": "timestamp[UTC]"}, (datetime(2020, 1, 1), datetime(2020, 1, 1, tzinfo=UTC)))
    )
    reported = problem(rows.filter(expr(text)))
    assert "timestamp and timestamp[UTC]" in reported
    assert "A naive and a zoned timestamp are different types: x AT TIME ZONE" in reported


UTC_AND_BERLIN = {"u": "timestamp[UTC]", "b": "timestamp[Europe/Berlin]", "o": "timestamp[-03:30]"}


def test_zoned_timestamps_are_compared_as_instants_whatever_their_zones(source, check):
    noon = datetime(2020, 7, 1, 12, tzinfo=UTC)
    rows = source(table(UTC_AND_BERLIN, (noon, noon, noon), (noon, noon + timedelta(microseconds=1), None)))
    check(
        rows.select(same=expr("u = b"), less=expr("b < o"), gap=expr("b - u")),
        table({"same": "bool", "less": "bool", "gap": "duration"}, (True, False, timedelta(0)), (False, None, timedelta(microseconds=1))),
    )  # fmt: skip


def test_a_zone_s_clock_decides_parts_of_a_timestamp_and_at_time_zone_changes_the_clock(source, check):
    """23:30 of June 30 in UTC is July 1 in Berlin, and 20:00 of June 30 half past three hours west."""
    moment = datetime(2020, 6, 30, 23, 30, tzinfo=UTC)
    rows = source(table(UTC_AND_BERLIN, (moment,) * 3, (None,) * 3))
    columns = {
        "u": "day(u)", "b": "day(b)", "o": "hour(o)", "clock": "u AT TIME ZONE 'Europe/Berlin'",
        "back": "(u AT TIME ZONE 'Europe/Berlin') AT TIME ZONE 'Europe/Berlin' = b", "start": "date_trunc('day', b) = u",
    }  # fmt: skip
    types = dict.fromkeys("ubo", "int64") | {"clock": "timestamp", "back": "bool", "start": "bool"}
    expected = table(types, (30, 1, 20, datetime(2020, 7, 1, 1, 30), True, False), (None,) * 6)
    check(rows.select(**{name: expr(text) for name, text in columns.items()}), expected)


@pytest.mark.parametrize("text", ["u = b", "coalesce(u, b) = u", "u IN (b)", "u - b = INTERVAL '0 seconds'"])
def test_two_zones_mix_and_an_unknown_one_is_a_plan_error(source, check, problem, text):
    moment = datetime(2020, 6, 30, tzinfo=UTC)
    rows = source(table(UTC_AND_BERLIN, (moment,) * 3))
    check(rows.filter(expr(text)), table(UTC_AND_BERLIN, (moment,) * 3))
    reported = problem(rows.select(y=expr("u AT TIME ZONE 'Europe/Berlim'")))
    assert "Europe/Berlim" in reported
    assert "Did you mean 'Europe/Berlin'?" in reported


def test_empty_input_gives_typed_empty_results_and_an_aggregate_without_keys_one_row(source, check):
    rows = source(table(KEYED))
    check(
        rows.aggregate("k", s=expr("sum(x)"), n=expr("count(*)")), table({"k": "float64", "s": "int64", "n": "int64"})
    )
    check(
        rows.aggregate(s=expr("sum(x)"), n=expr("count(*)"), m=expr("mean(x)")),
        table({"s": "int64", "n": "int64", "m": "float64"}, (None, 0, None)),
    )
    check(rows.window("k", "x", r=expr("row_number()")), table({**KEYED, "r": "int64"}))
    check(rows.sort("x").distinct("k").limit(3), table(KEYED))
    check(
        rows.join(source(table({"k": "float64", "y": "string"}), "r"), "k", how="left"), table({**KEYED, "y": "string"})
    )


EMPTY = {"k": "float64", "x": "int64", "s": "string", "tags": "list<string>"}
OTHER = {"k": "float64", "y": "string"}


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("steps", "types"),
    [
        (lambda t, r: t.filter(col("x") > 1), EMPTY), (lambda t, r: t.select(y=expr("x // 0")), {"y": "int64"}),
        (lambda t, r: t.with_columns(y=expr("regexp_extract(s, 'a')")), {**EMPTY, "y": "string"}),
        (lambda t, r: t.drop("s", "tags"), KEYED), (lambda t, r: t.select("x").rename({"x": "z"}), {"z": "int64"}),
        (lambda t, r: t.select("x").cast(x="int8"), {"x": "int8"}), (lambda t, r: t.select("x").fill_null(x=0), INT),
        *((lambda t, r, how=how: t.join(r, "k", how), {**EMPTY, "y": "string"}) for how in ("inner", "left", "right", "full")),
        *((lambda t, r, how=how: t.join(r, "k", how), EMPTY) for how in ("semi", "anti")),
        (lambda t, r: t.join(r.drop("k"), how="cross"), {**EMPTY, "y": "string"}),
        (lambda t, r: t.select("x").union(t.select("x")), INT), (lambda t, r: t.explode("tags", index="i"), {**EMPTY, "tags": "string", "i": "int64"}),
        (lambda t, r: t.aggregate("s", "x", f=expr("first(k)"), q=expr("quantile(x, 0.5)")), {"s": "string", "f": "float64", "q": "float64"}),
        (lambda t, r: t.select("k", "x").window("k", "x", y=expr("cum_sum(x)"), z=expr("lag(x, ignore_nulls => true)")), {**KEYED, "y": "int64", "z": "int64"}),
        (lambda t, r: t.sort("s"), EMPTY), (lambda t, r: t.distinct("s", keep="first", order_by="x"), EMPTY),
        (lambda t, r: t.limit(2), EMPTY), (lambda t, r: t.sample(0.5), EMPTY), (lambda t, r: t.sample(rows=2), EMPTY),
    ],
)  # fmt: skip
def test_every_step_gives_a_typed_empty_result_of_no_rows(source, check, steps, types):
    check(steps(source(table(EMPTY)), source(table(OTHER), "r")), table(types))


@pytest.mark.parametrize("how", ["left", "right", "full", "anti"])
def test_an_outer_join_beside_no_rows_keeps_those_of_the_other_side(source, check, how):
    kept, none = source(table(KEYED, (1.0, 2))), source(table(OTHER), "r")
    left, right = (none, kept) if how == "right" else (kept, none)
    types = {**OTHER, "x": "int64"} if how == "right" else KEYED if how == "anti" else {**KEYED, "y": "string"}
    row = (1.0, None, 2) if how == "right" else (1.0, 2) if how == "anti" else (1.0, 2, None)
    check(left.join(right, "k", how), table(types, row))


@pytest.mark.parametrize("kind", ["rows", "groups"])
def test_a_kernel_of_no_rows_gives_a_typed_empty_result(source, check, pipeline, kind):
    offsets = ", const int* offsets, int n_groups" * (kind == "groups")
    (pipeline.root / "k.cu").write_text(
        f'extern "C" __global__ void k(const long long* x, long long* y{offsets}, long long n) {{}}'
    )
    (pipeline.root / "k.py").write_text(f"def k({'offsets, ' * (kind == 'groups')}x):\n    return {{'y': x + 1}}\n")
    grouped = {"by": "x", "order_by": "x"} if kind == "groups" else {}
    rows = source(table(INT)).kernel("k.cu", "k", "x", {"y": "int64"}, "k.py:k", kind=kind, **grouped)
    check(rows, table({"x": "int64", "y": "int64"}))


def test_groups_of_more_rows_than_offsets_count_are_an_error(source, failure, pipeline, engine, monkeypatch):
    needs_this_process(engine, "limit")
    monkeypatch.setattr(kernel, "MAX_OFFSET", 2)
    monkeypatch.setattr(cudf_kernel, "MAX_OFFSET", 2)
    (pipeline.root / "k.cu").write_text(
        'extern "C" __global__ void k(const long long* x, long long* y, const int* offsets, int n_groups, long long n) {}'
    )
    (pipeline.root / "k.py").write_text("def k(offsets, x):\n    return {'y': x}\n")
    steps = source(table(INT, (1,), (2,), (3,))).kernel("k.cu", "k", "x", {"y": "int64"}, "k.py:k", order_by="x")
    message = failure(steps, RunFailed)
    assert message == (
        "stage 'result', step 1: kernel 'k' has 3 rows in one partition, and offsets hold 2.  Run with smaller partitions"
    )
