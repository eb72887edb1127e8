"""aggregate: keys that are expressions, and groups that a condition keeps."""

from datetime import datetime

import pytest

from gpuetl import col, count, expr
from gpuetl.pipeline import loads
from tables import NAN, table

TYPES = {"region": "string", "ts": "timestamp", "x": "float64", "n": "int64"}
ROWS = [
    ("eu", datetime(2026, 1, 3), 1.0, 1),
    ("eu", datetime(2026, 1, 30), -0.0, 2),
    ("eu", datetime(2026, 2, 1), NAN, 3),
    ("us", datetime(2026, 2, 9), 0.0, None),
    (None, None, None, 5),
    ("us", datetime(2026, 2, 28), 4.0, 6),
]
SALES = table(TYPES, *ROWS)
MONTH = expr("date_trunc('month', ts)")
JANUARY, FEBRUARY = datetime(2026, 1, 1), datetime(2026, 2, 1)


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("aggregate", "types", "rows"),
    [
        (
            lambda t: t.aggregate(["region", MONTH.alias("month")], n=expr("sum(n)")),
            {"region": "string", "month": "timestamp", "n": "int64"},
            [("eu", JANUARY, 3), ("eu", FEBRUARY, 3), ("us", FEBRUARY, 6), (None, None, 5)],
        ),
        (  # inside an aggregate function `ts` is the column of the input; outside it is the key
            lambda t: t.group_by({"ts": MONTH}).agg(last=expr("max(ts)"), next=expr("ts + INTERVAL '1 day'")),
            {"ts": "timestamp", "last": "timestamp", "next": "timestamp"},
            [
                (JANUARY, datetime(2026, 1, 30), datetime(2026, 1, 2)),
                (FEBRUARY, datetime(2026, 2, 28), datetime(2026, 2, 2)),
                (None, None, None),
            ],
        ),
        (  # the expression of a key stands for it
            lambda t: t.aggregate({"m": MONTH}, day=MONTH + expr("INTERVAL '2 days'"), n=count()),
            {"m": "timestamp", "day": "timestamp", "n": "int64"},
            [(JANUARY, datetime(2026, 1, 3), 2), (FEBRUARY, datetime(2026, 2, 3), 3), (None, None, 1)],
        ),
        (  # a key inside an aggregate function
            lambda t: t.aggregate({"big": expr("n > 2")}, any_big=expr("any(big)"), n=count()),
            {"big": "bool", "any_big": "bool", "n": "int64"},
            [(False, False, 2), (True, True, 3), (None, None, 1)],
        ),
        (
            lambda t: t.aggregate({"zero": col("x") * 0}, n=count()),
            {"zero": "float64", "n": "int64"},
            [(0.0, 4), (NAN, 1), (None, 1)],
        ),
        (
            lambda t: t.aggregate({"one": expr("1")}, n=count()),
            {"one": "int64", "n": "int64"},
            [(1, 6)],
        ),
        (
            lambda t: t.aggregate("region", order_by=["-n % 3", "n desc"], f=expr("first(n)")),
            {"region": "string", "f": "int64"},
            [("eu", 2), ("us", 6), (None, 5)],
        ),
    ],
)
def test_keys_are_expressions(source, check, aggregate, types, rows):
    check(aggregate(source(SALES)), table(types, *rows))


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("having", "regions"),
    [
        ("c > 2", ["eu"]),
        ("count(*) > 1 AND region <> 'us'", ["eu"]),
        ("max(n) = 6", ["us"]),
        ("n = 6", ["eu", "us"]),  # the output, and not the column
        ("sum(n) / c >= 2 AND n < 7", ["eu", "us", None]),
        ("max(n) + n > 10", ["us"]),
        ("region IS NULL", [None]),
        ("null", []),
        ("sum(n) IS NULL", []),
    ],
)
def test_having_keeps_groups(source, check, having, regions):
    counted = {"eu": 3, "us": 2, None: 1}
    sums = {"eu": 6, "us": 6, None: 5}
    expected = [(region, counted[region], sums[region]) for region in regions]
    t = source(SALES).aggregate("region", having=expr(having), c=count(), n=expr("sum(n)"))
    check(t, table({"region": "string", "c": "int64", "n": "int64"}, *expected))


def test_having_of_the_one_group_of_all_rows(source, check):
    t = source(table(TYPES))
    check(t.aggregate(having=expr("n = 0"), n=count()), table({"n": "int64"}, (0,)))
    check(t.aggregate(having=expr("n > 0"), n=count()), table({"n": "int64"}))
    check(t.aggregate({"m": MONTH}, n=count()), table({"m": "timestamp", "n": "int64"}))


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (
            lambda t: t.aggregate("date_trunc('month', ts)", n=count()),
            "unknown column 'date_trunc('month', ts)'\nTo group by an expression, name it: {key: date_trunc('month', ts)}.",
        ),
        (lambda t: t.aggregate({"n": MONTH}, n=count()), "'n' is a key and an output\nGive the output another name."),
        (
            lambda t: t.aggregate("region", having=expr("ts IS NULL"), n=count()),
            "column 'ts' has many values in a group\nAggregate it, as in max(ts), or add it to by.",
        ),
        (
            lambda t: t.aggregate("region", having=expr("sum(n)"), n=count()),
            "having takes a condition, and sum(n) is int64\nCompare it with something.",
        ),
        (
            lambda t: t.aggregate("region", having=expr("first(n) > 1"), n=count()),
            "first needs order_by\nAdd order_by: the columns that order a group's rows.",
        ),
        (
            lambda t: t.aggregate({"month": expr("date_trunc('month', tss)")}, n=count()),
            "unknown column 'tss'\nColumns: n, region, ts, x. Did you mean 'ts'?",
        ),
        (
            lambda t: t.aggregate({"n": MONTH}, m=col("n")),  # the key, which nothing aggregates
            None,
        ),
        (lambda t: t.aggregate({"t": MONTH}, m=col("ts")), "column 'ts' has many values in a group\n"
         "Aggregate it, as in max(ts), or add it to by."),
    ],
)  # fmt: skip
def test_what_is_no_key_and_no_condition_is_refused(source, problem, steps, message):
    t = source(SALES)
    if message is None:
        steps(t).stage("right")
        t.pipeline.plan()
        return
    assert problem(steps(t)) == f"stage 'wrong_1', step 1: {message}"


def test_yaml_names_keys_and_a_condition(tmp_path):
    text = """\
gpuetl: 1
name: p
sources:
  t: {parquet: t.parquet, schema: {region: string, ts: timestamp, n: int64}}
stages:
  r:
    from: t
    steps:
    - aggregate:
        by: [region, {month: "date_trunc('month', ts)"}]
        columns: {total: sum(n)}
        having: total > 10 AND count(*) > 1
"""
    pipeline = loads(text, tmp_path)
    again = loads(pipeline.to_yaml(), tmp_path)
    assert again.to_yaml() == pipeline.to_yaml()
    assert "month: date_trunc('month', ts)" in pipeline.to_yaml()
    assert again.spec == pipeline.spec
