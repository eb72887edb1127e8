"""mean of integers, decimals and durations: the nearest float64, or microsecond, to the exact sum by the count."""

from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from math import inf

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuetl import Pipeline, RunOptions, expr
from tables import INT64_MAX, INT64_MIN, table, write_source

BY_CARRIES = RunOptions(partition_rows=2, carried_share=inf)
MICROSECOND = timedelta(microseconds=1)
BEYOND = 2**53 + 1  # no float64
LONG = Decimal("99999999999999999999999999999.999999999")  # 38 digits
MINUS_LONG = LONG.copy_negate()
AGGREGATES = {"mean": "mean(x)", "some": "mean(x) FILTER (WHERE t % 3 > 0)"}
WINDOWS = {
    "running": "cum_mean(x)", "three": "rolling_mean(x, 3)", "hour": "rolling_mean(x, interval '1 hour')",
    "some": "cum_mean(x) FILTER (WHERE t % 3 > 0)",
}  # fmt: skip


def mean(values):
    """Return the mean of values that are not null: a float, rounded once, or a duration in whole microseconds."""
    values = [value for value in values if value is not None]
    if not values:
        return None
    if isinstance(values[0], timedelta):
        return round(sum(Fraction(value // MICROSECOND) for value in values) / len(values)) * MICROSECOND
    return float(sum(map(Fraction, values)) / len(values))  # Python rounds a fraction once


EXAMPLES = {
    "int64": [
        [INT64_MIN, INT64_MAX], [INT64_MAX] * 3, [BEYOND, BEYOND], [BEYOND, BEYOND + 1, None], [None], [1, 2, 2], [-1, 1],
    ],
    "uint64": [[2**64 - 1, 2**64 - 1, 0], [2**63 + 1]],
    "int8": [[-128, 127, 127], [None, None]],
    "decimal(9,2)": [[Decimal("0.05"), Decimal("0.07")], [Decimal("0.10"), Decimal("0.20"), Decimal("0.30")]],
    "decimal(19,4)": [[Decimal("999999999999999.9999"), Decimal("-0.0001")], [Decimal("0.0003"), None]],
    "decimal(38,9)": [[LONG, LONG, LONG], [LONG, MINUS_LONG, Decimal("1e-9")], [MINUS_LONG, MINUS_LONG, None]],
    "decimal(38,38)": [[Decimal("0.1"), Decimal("1e-38"), Decimal("0.2")]],
    "duration": [
        [timedelta(microseconds=n) for n in (1, 2)], [timedelta(microseconds=n) for n in (-1, 0)],
        [timedelta(days=10**8), timedelta(days=10**8), MICROSECOND], [None],
    ],
}  # fmt: skip


@pytest.mark.part(2)
@pytest.mark.parametrize("dtype", EXAMPLES)
def test_the_mean_of_a_group_is_rounded_once(source, check, dtype):
    groups = list(enumerate(EXAMPLES[dtype]))
    rows = [(k, t, x) for t, (k, x) in enumerate((k, x) for k, values in groups for x in values)]
    result = "duration" if dtype == "duration" else "float64"
    means = [(k, mean(values), mean([x for of, t, x in rows if of == k and t % 3])) for k, values in groups]
    t = source(table({"k": "int64", "t": "int64", "x": dtype}, *rows))
    calls = {name: expr(call) for name, call in AGGREGATES.items()}
    check(t.aggregate("k", **calls), table({"k": "int64", "mean": result, "some": result}, *means))


def test_many_rows_of_decimals(source, check):
    """The mean of the floats is 0.05999999999999999."""
    rows = table({"x": "decimal(4,2)"}, *[(Decimal("0.05"),), (Decimal("0.07"),)] * 60)
    check(source(rows).aggregate(m=expr("avg(x)")), table({"m": "float64"}, (0.06,)))


def integers_near(edges):
    return st.one_of(*(st.integers(edge - 3, edge + 3) for edge in edges))


VALUES = {
    "int64": integers_near([0, 2**53, -(2**53), 2**62, -(2**62)]),
    "decimal(12,2)": st.decimals(-(10**9), 10**9, places=2),
    "decimal(38,15)": integers_near([0, 10**15, 2**53, 10**37, -(10**37)]).map(lambda n: Decimal(f"{n}e-15")),
    "duration": integers_near([0, 10**15, -(10**15)]).map(lambda n: n * MICROSECOND),
}


@pytest.mark.part(5)
@pytest.mark.parametrize("dtype", VALUES)
def test_means_agree_with_fractions(engine, tmp_path_factory, dtype):
    """Aggregates and windows, in one partition, in tiny ones, and by what partitions carry."""

    @settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(st.none() | VALUES[dtype], min_size=1, max_size=9))
    def agree(values):
        pipeline = Pipeline("means", root=tmp_path_factory.mktemp("means"))
        times = [3600 * 10**6 * t // 2 for t in range(len(values))]
        rows = [(t % 2, t, time, x) for t, (time, x) in enumerate(zip(times, values, strict=True))]
        t = write_source(pipeline, "t", table({"k": "int64", "t": "int64", "ts": "timestamp", "x": dtype}, *rows))
        t.aggregate("k", **{name: expr(call) for name, call in AGGREGATES.items()}).stage("groups")
        t.window((), "ts", **{name: expr(call) for name, call in WINDOWS.items()}).stage("rows")
        assert len(values) < 3 or "; window state of up to" in pipeline.explain(options=BY_CARRIES, engine="pandas")
        for options in (RunOptions(), RunOptions(partition_rows=2, broadcast_bytes=0), BY_CARRIES):
            found = pipeline.run(engine=engine, keep=["groups", "rows"], options=options)
            groups = found["groups"].to_arrow().sort_by("k").to_pylist()
            for group in groups:
                own = [(place, x) for k, place, _, x in rows if k == group["k"]]
                assert group["mean"] == mean([x for _, x in own])
                assert group["some"] == mean([x for place, x in own if place % 3])
            for row in found["rows"].to_arrow().to_pylist():
                place = row["t"]
                frame = values[max(0, place - 2) : place + 1]
                assert row["three"] == row["hour"] == mean(frame)
                assert row["running"] == (None if row["x"] is None else mean(values[: place + 1]))
                some = [x for t, x in enumerate(values[: place + 1]) if t % 3]
                assert row["some"] == (None if row["x"] is None or place % 3 == 0 else mean(some))

    agree()
