"""Functions of times that DuckDB has too, where it means the same: equal over random times of all years."""

from datetime import datetime

import numpy as np
import pyarrow as pa
import pytest

from expressions.evaluation import values

duckdb = pytest.importorskip("duckdb")

ROWS = 2_000
SECOND = 1_000_000


def times(seed):
    """Two columns of timestamps, most of them of 1900 to 2100 and around midnights, a date, and months to add."""
    random = np.random.default_rng(seed)
    low, high = (
        (int(np.datetime64(year, "us").astype(np.int64)) for year in years)
        for years in (("0002", "1900"), ("9990", "2100"))
    )
    spread = [random.integers(*bounds, ROWS // 2) for bounds in zip(low, high, strict=True)]
    a = np.concatenate(spread)
    near = a + random.integers(-90 * 86_400, 90 * 86_400, ROWS) * SECOND
    midnights = near // (86_400 * SECOND) * (86_400 * SECOND) - random.integers(0, 2, ROWS)
    null = random.random(ROWS) < 0.05
    return pa.table(
        {
            "a": pa.array(a, pa.int64(), mask=null).cast(pa.timestamp("us")),
            "b": pa.array(np.where(random.random(ROWS) < 0.5, near, midnights)).cast(pa.timestamp("us")),
            "d": pa.array((near // (86_400 * SECOND)).astype(np.int32)).cast(pa.date32()),
            "n": pa.array(random.integers(-50, 50, ROWS)),
        }
    )


UNITS = ["year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond"]
WEEKS = "date_diff('day', date_trunc('week', {}), date_trunc('week', {})) // 7"  # DuckDB's own begin on Thursday
SAME = [
    *((f"date_diff('{unit}', a, b)", f"date_diff('{unit}', a, b)") for unit in UNITS if unit != "week"),
    ("date_diff('week', a, b)", WEEKS.format("a", "b")), ("date_diff('week', d, DATE '1970-01-01')", WEEKS.format("d", "DATE '1970-01-01'")),
    *((f"date_trunc('{unit}', b)", f"date_trunc('{unit}', b)") for unit in UNITS),
    *((f"date_diff('{unit}', d, DATE '1970-01-01')", f"date_diff('{unit}', d, DATE '1970-01-01')") for unit in UNITS[:5] if unit != "week"),
    *((f"{part}(b)", f"{part}(b)") for part in ["year", "quarter", "month", "week", "day", "isodow", "dayofweek", "dayofyear", "hour", "minute", "second"]),
    ("iso_year(d)", "isoyear(d)"), ("millisecond(b)", "millisecond(b) % 1000"), ("microsecond(b)", "microsecond(b) % 1000000"),
    ("day_name(d)", "dayname(d)"), ("month_name(d)", "monthname(d)"), ("last_day(b)", "last_day(b)"), ("epoch_us(a)", "epoch_us(a)"),
    ("add_months(a, n)", "a + n * INTERVAL '1 month'"), ("add_months(d, n)", "(d + n * INTERVAL '1 month')::date"), ("add_days(d, n)", "d + n::int"),
    ("a + hours(n)", "a + n * INTERVAL '1 hour'"), ("make_date(year(a), month(a), 1)", "make_date(year(a), month(a), 1)"),
    ("time_bucket(INTERVAL '17 minutes', b, TIMESTAMP '2000-01-03')", "time_bucket(INTERVAL '17 minutes', b, TIMESTAMP '2000-01-03')"),
    ("strftime(b, '%Y-%m-%d %H:%M:%S.%f %j %y %b %B %a %A %p %I %G %V %u %w %%')", "strftime(b, '%Y-%m-%d %H:%M:%S.%f %j %y %b %B %a %A %p %I %G %V %u %w %%')"),
    ("strptime(strftime(b, '%d/%m/%Y %H:%M:%S.%f'), '%d/%m/%Y %H:%M:%S.%f')", "strptime(strftime(b, '%d/%m/%Y %H:%M:%S.%f'), '%d/%m/%Y %H:%M:%S.%f')"),
]  # fmt: skip


@pytest.mark.part(4)
@pytest.mark.parametrize(("ours", "theirs"), SAME, ids=[ours for ours, _ in SAME])
def test_times_are_duckdbs(ours, theirs):
    frame = times(7)
    with duckdb.connect() as connection:
        connection.register("frame", frame)
        expected = [row[0] for row in connection.sql(f"SELECT {theirs} FROM frame").fetchall()]
    got = values(ours, frame)
    wrong = [(x, y, row) for x, y, row in zip(got, expected, frame.to_pylist(), strict=True) if x != y]
    assert not wrong, wrong[:3]


def test_the_random_times_are_of_all_years():
    assert {type(x) for x in times(7)["a"].to_pylist()} == {datetime, type(None)}
    years = values("year(b)", times(7))
    assert min(years) < 1000
    assert max(years) > 9000
