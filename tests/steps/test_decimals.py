"""Decimals through the steps: sums, windows, keys, orders and joins, however the rows are split."""

import random
from datetime import timedelta
from decimal import Context, Decimal

import pytest

from gpuetl import Pipeline, RunFailed, col, expr, load
from tables import INT64_MAX, INT64_MIN, table

pytestmark = pytest.mark.single_rows

EXACT = Context(prec=200)
MOST, LEAST = Decimal("9" * 38), Decimal("-" + "9" * 38)
CENTS, LEAST_CENTS = "9" * 36 + ".99", "-" + "9" * 36 + ".99"


def exprs(calls):
    return {name: expr(text) for name, text in calls.items()}


def rows(*texts):
    return [None if text is None else Decimal(text) for text in texts]


# Aggregates


@pytest.mark.parametrize("by", [(), ("k",)])
@pytest.mark.parametrize("dtype", ["decimal(38,0)", "decimal(20,0)"])
def test_a_sum_whose_parts_overflow_is_right_where_the_whole_fits(source, check, by, dtype):
    most = Decimal("9" * int(dtype[8:10]))
    least = most.copy_negate()
    values = [most, most, least, least, Decimal(1), Decimal(-3)]
    t = source(table({"k": "int64", "x": dtype}, *((1, value) for value in values)))
    expected = table({"k": "int64", "total": "decimal(38,0)"}, (1, Decimal(-2)))
    check(t.aggregate(by, total=expr("sum(x)")), expected if by else expected.select(["total"]))


@pytest.mark.parametrize(
    "values", [[MOST, 1], [MOST, 0, 0, 1], [LEAST, 0, -1], [MOST] * 5, [MOST, 5 * 10**18, 0, LEAST, MOST, 1]]
)
def test_a_sum_of_39_digits_is_an_error_in_every_layout(source, failure, values):
    t = source(table({"x": "decimal(38,0)"}, *((Decimal(value),) for value in values)))
    assert failure(t.aggregate(total=expr("sum(x)")), RunFailed).startswith("stage 'result', step 1: column 'total': ")


@pytest.mark.parametrize(
    "values",
    [
        [MOST, 1, 0, -1],
        [MOST, MOST, LEAST],
        [LEAST, 0, -1, 1],
        [10**37] * 9,
        [-(10**19), 1, -1],
        [10**19 - 1, 1, 10**19],
    ],
)
def test_a_sum_just_within_38_digits_is_exact(source, check, values):
    t = source(table({"x": "decimal(38,2)"}, *((Decimal(value).scaleb(-2, EXACT),) for value in values)))
    check(
        t.aggregate(total=expr("sum(x)")),
        table({"total": "decimal(38,2)"}, (Decimal(sum(map(int, values))).scaleb(-2, EXACT),)),
    )


def test_a_sum_of_durations_whose_parts_overflow_is_right_where_the_whole_fits(source, check, failure):
    values = [INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN, 1, 1]
    t = source(table({"x": "int64"}, *((value,) for value in values))).cast(x="duration")
    check(t.aggregate(total=expr("sum(x)")), table({"total": "duration"}, (timedelta(0),)))
    assert "column 'total': " in failure(
        t.filter(expr("CAST(x AS int64) > 0")).aggregate(total=expr("sum(x)")), RunFailed
    )


def test_every_aggregate_of_decimals(source, check):
    values = rows("0.10", None, "0.20", "0.10", "-99999999.99", None)
    keys = "aaaabc"
    t = source(table({"k": "string", "x": "decimal(10,2)"}, *zip(keys, values, strict=True)))
    calls = exprs({
        "n": "count(x)", "distinct": "count(DISTINCT x)", "total": "sum(x)", "low": "min(x)", "high": "max(x)", "average": "mean(x)", "middle": "median(x)",
        "variance": "var(x)", "scaled": "sum(x * 1.1)", "over": "sum(x) FILTER (WHERE x > 0.15)",
    })  # fmt: skip
    types = {"k": "string", "n": "int64", "distinct": "int64", "total": "decimal(38,2)", "low": "decimal(10,2)", "high": "decimal(10,2)",
             "average": "float64", "middle": "float64", "variance": "float64", "scaled": "decimal(38,3)", "over": "decimal(38,2)"}  # fmt: skip
    expected = table(
        types,
        ("a", 3, 2, *rows("0.40", "0.10", "0.20"), 0.4 / 3, 0.1, 0.01 / 3, *rows("0.440", "0.20")),
        (
            "b",
            1,
            1,
            *rows("-99999999.99", "-99999999.99", "-99999999.99"),
            -99999999.99,
            -99999999.99,
            None,
            *rows("-109999999.989", None),
        ),
        ("c", 0, 0, *[None] * 8),
    )
    check(t.aggregate("k", **calls), expected)


def test_random_sums_are_those_of_integers(source, check):
    chance = random.Random(5)
    types = {"k": "int64", "x": "decimal(36,6)", "y": "decimal(19,19)"}
    given = [
        (
            chance.randrange(3),
            *(Decimal(chance.randrange(1 - 10**n, 10**n)).scaleb(-s, EXACT) for n, s in ((36, 6), (19, 19))),
        )
        for _ in range(40)
    ]
    totals = {key: (Decimal(0), Decimal(0)) for key, _, _ in given}
    for key, x, y in given:
        totals[key] = (EXACT.add(totals[key][0], x), EXACT.add(totals[key][1], y))
    expected = table(
        {"k": "int64", "s": "decimal(38,6)", "t": "decimal(38,19)"}, *((k, *sums) for k, sums in totals.items())
    )
    check(source(table(types, *given)).aggregate("k", s=expr("sum(x)"), t=expr("sum(y)")), expected)


# Windows


def test_windows_that_add_decimals_are_exact(source, check):
    given = [
        (1, 1, "1.10"),
        (1, 2, None),
        (1, 3, "-99999999.99"),
        (1, 4, "0.01"),
        (2, 1, "5"),
        (2, 2, "5.05"),
        (None, 1, None),
    ]
    t = source(table({"k": "int64", "t": "int64", "x": "decimal(10,2)"}, *((k, i, *rows(x)) for k, i, x in given)))
    calls = {
        "cum": "cum_sum(x)",
        "roll": "rolling_sum(x, 2)",
        "step": "diff(x)",
        "far": "diff(x, 2)",
        "back": "lag(x)",
        "low": "cum_min(x)",
        "average": "cum_mean(x)",
    }
    types = {"k": "int64", "t": "int64", "cum": "decimal(38,2)", "roll": "decimal(38,2)", "step": "decimal(11,2)", "far": "decimal(11,2)",
             "back": "decimal(10,2)", "low": "decimal(10,2)", "average": "float64"}  # fmt: skip
    expected = table(
        types,
        (1, 1, *rows("1.10", "1.10", None, None, None, "1.10"), 1.1),
        (1, 2, *rows(None, "1.10", None, None, "1.10", None), None),
        (1, 3, *rows("-99999998.89", "-99999999.99", None, "-100000001.09", None, "-99999999.99"), -99999998.89 / 2),
        (
            1,
            4,
            *rows("-99999998.88", "-99999999.98", "100000000.00", None, "-99999999.99", "-99999999.99"),
            -99999998.88 / 3,
        ),
        (2, 1, *rows("5", "5", None, None, None, "5"), 5.0),
        (2, 2, *rows("10.05", "10.05", "0.05", None, "5", "5"), 5.025),
        (None, 1, *[None] * 7),
    )
    check(t.window("k", "t", **exprs(calls)).select("k", "t", *calls), expected)


def test_random_windows_are_those_of_integers(source, check):
    chance = random.Random(7)
    xs = [None if chance.random() < 0.2 else chance.randrange(-(10**36), 10**36) for _ in range(60)]
    frames = [[x for x in xs[max(0, i - 4) : i + 1] if x is not None] for i in range(60)]
    so_far = [[x for x in xs[: i + 1] if x is not None] for i in range(60)]
    before = [None, None, None, *xs[:-3]]
    t = source(table({"t": "int64", "x": "decimal(38,8)"}, *((i, units(x)) for i, x in enumerate(xs))))
    steps = t.window((), "t", cum=expr("cum_sum(x)"), roll=expr("rolling_sum(x, 5)"), step=expr("diff(x, 3)"))
    expected = table(
        dict.fromkeys(["cum", "roll", "step"], "decimal(38,8)"),
        *(
            (
                units(sum(past)) if x is not None else None,
                units(sum(frame)) if frame else None,
                units(x - y) if None not in (x, y) else None,
            )
            for x, y, past, frame in zip(xs, before, so_far, frames, strict=True)
        ),
    )
    check(steps.select("cum", "roll", "step"), expected, ordered=True)


def units(number):
    return None if number is None else Decimal(number).scaleb(-8, EXACT)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("cum_sum(x)", "cum_sum leaves decimal(38,0); cast the column to float64"),
        ("rolling_sum(x, 2)", "rolling_sum leaves decimal(38,0); cast the column to float64"),
        ("diff(x)", "diff: overflow of decimal(38,0); cast the column to float64"),
    ],
)
def test_a_window_of_39_digits_is_an_error(source, failure, call, message):
    t = source(table({"t": "int64", "x": "decimal(38,0)"}, (0, None), (1, MOST), (2, MOST if "sum" in call else LEAST)))
    first, *row = failure(t.window((), "t", s=expr(call)), RunFailed).splitlines()
    assert first.endswith(f"column 's': {message}")
    assert row == [f"The row: t = 2, x = {MOST if 'sum' in call else LEAST}"]


def test_the_extremes_of_38_digits_pass_through_windows(source, check):
    values = [MOST, LEAST, LEAST, MOST]
    t = source(table({"t": "int64", "x": "decimal(38,0)"}, *enumerate(values)))
    sums = [MOST, Decimal(0), LEAST, Decimal(0)]
    check(
        t.window((), "t", s=expr("cum_sum(x)")).select("s"),
        table({"s": "decimal(38,0)"}, *((s,) for s in sums)),
        ordered=True,
    )


def test_windows_over_no_rows(source, check):
    t = source(table({"t": "int64", "x": "decimal(10,2)"}))
    steps = t.window((), "t", cum=expr("cum_sum(x)"), roll=expr("rolling_sum(x, 2)"), step=expr("diff(x)")).select(
        "cum", "roll", "step"
    )
    check(steps, table({"cum": "decimal(38,2)", "roll": "decimal(38,2)", "step": "decimal(11,2)"}))


# Keys and orders


def test_decimals_sort_by_value(source, check, pipeline):
    values = rows("0.00", None, "-1.50", "1.50", "-0.01", CENTS, LEAST_CENTS, "0.01")
    t = source(table({"i": "int64", "x": "decimal(38,2)"}, *enumerate(values)))
    check(t.sort("x").select("i"), table({"i": "int64"}, *((i,) for i in (6, 2, 4, 0, 7, 3, 5, 1))), ordered=True)
    check(
        t.sort("x desc nulls first").select("i"),
        table({"i": "int64"}, *((i,) for i in (1, 5, 3, 7, 0, 4, 2, 6))),
        ordered=True,
    )


def test_decimals_group_and_join_by_value(source, check):
    left = source(
        table(
            {"k": "decimal(10,2)", "a": "int64"},
            *zip(rows("1.50", "0.00", None, "-2.00", "1.5"), range(5), strict=True),
        ),
        "left",
    )
    right = source(
        table(
            {"k": "decimal(38,2)", "b": "int64"},
            *zip(rows("1.5", "-0.00", None, CENTS), range(4), strict=True),
        ),
        "right",
    )
    check(
        left.join(right, "k"),
        table(
            {"k": "decimal(10,2)", "a": "int64", "b": "int64"},
            (Decimal("1.50"), 0, 0),
            (Decimal("1.50"), 4, 0),
            (Decimal(0), 1, 1),
        ),
    )
    expected = [(Decimal("1.50"), 2), (Decimal(0), 1), (None, 1), (Decimal(-2), 1)]
    check(left.aggregate("k", n=expr("count(*)")), table({"k": "decimal(10,2)", "n": "int64"}, *expected))
    check(left.select("k").distinct("k"), table({"k": "decimal(10,2)"}, *((k,) for k, _ in expected)))


def test_integers_of_32_and_unsigned_64_bits_join(source, check):
    left = source(table({"i": "int32", "a": "string"}, (-1, "x"), (2, "y"), (None, "z")), "left")
    right = source(
        table({"j": "uint64", "b": "string"}, (2, "p"), (2**64 - 1, "q"), (2**63, "r"), (None, "s")), "right"
    )
    check(left.join(right, {"i": "j"}), table({"i": "int32", "a": "string", "b": "string"}, (2, "y", "p")))


@pytest.mark.parametrize("values", [[2**63], [1, 2**63, None], [2**62, 2**62], [1, 1, INT64_MAX, None]])
def test_a_sum_of_uint64_beyond_int64_is_an_error(source, failure, values):
    t = source(table({"x": "uint64"}, *((value,) for value in values)))
    assert "column 's': " in failure(t.aggregate(s=expr("sum(x)")), RunFailed)


def test_a_sum_of_uint64_is_int64(source, check):
    t = source(table({"x": "uint64"}, (2**62,), (2**62 - 1,), (None,)))
    check(t.aggregate(s=expr("sum(x)")), table({"s": "int64"}, (INT64_MAX,)))


# Texts


def test_decimal_constants_go_to_yaml_and_back(tmp_path, source, check):
    t = source(table({"x": "decimal(10,2)"}, *((x,) for x in rows("100.50", "100.49", None))))
    steps = t.filter(col("x") >= 100.5).with_columns(y=col("x") * Decimal("1.10"), z=expr("x * 1.1"))
    expected = table(
        {"x": "decimal(10,2)", "y": "decimal(13,4)", "z": "decimal(12,3)"}, tuple(rows("100.50", "110.55", "110.55"))
    )
    check(steps, expected)
    text = t.pipeline.to_yaml()
    assert "x * CAST('1.10' AS decimal(3,2))" in text
    path = tmp_path / "again.yaml"
    path.write_text(text)
    again = load(path)
    assert isinstance(again, Pipeline)
    assert again.fingerprint == t.pipeline.fingerprint


def test_a_file_s_decimals_are_not_read_as_floats(source, pipeline, failure):
    source(table({"x": "decimal(10,2)"}, (Decimal("0.10"),)), "stored")
    t = pipeline.read_parquet("declared", "stored.parquet", schema={"x": "float64"})
    assert "column 'x' is decimal(10,2), and the source says float64" in failure(t.filter(expr("x > 0")), RunFailed)


def test_a_file_s_numbers_are_read_as_wider_decimals(source, pipeline, check):
    source(table({"x": "decimal(10,2)", "i": "int32"}, (Decimal("0.10"), -7), (None, None)), "stored")
    t = pipeline.read_parquet("declared", "stored.parquet", schema={"x": "decimal(20,4)", "i": "decimal(12,2)"})
    check(
        t.filter(expr("true")),
        table({"x": "decimal(20,4)", "i": "decimal(12,2)"}, (Decimal("0.1000"), Decimal(-7)), (None, None)),
    )
