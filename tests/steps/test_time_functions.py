"""Times of day, parts by name, buckets of columns and zones, on every engine; the values are DuckDB's."""

from datetime import UTC, date, datetime, time, timedelta

import pytest

from gpuetl import RunFailed, expr
from tables import table

pytestmark = pytest.mark.single_rows

TYPES = {
    "ts": "timestamp", "z": "timestamp[Europe/Berlin]", "t": "time", "d": "date", "part": "string", "width": "duration",
    "origin": "timestamp", "us": "int64",
}  # fmt: skip
ROWS = [
    (datetime(2013, 3, 9, 17, 5, 30, 250_000), datetime(2013, 3, 9, 16, tzinfo=UTC), time(23, 30), date(2013, 3, 9), "year",
     timedelta(hours=1), datetime(2000, 1, 1, 0, 7), 0),
    (datetime(1969, 12, 31, 23, 59, 59), datetime(2013, 3, 31, 0, 30, tzinfo=UTC), time(0, 15), date(1969, 12, 31), "Hours",
     timedelta(days=7), datetime(2000, 1, 3), -1),
    (datetime(2020, 2, 29), datetime(2013, 3, 31, 1, 30, tzinfo=UTC), time(12), date(2020, 2, 29), None, None, None, None),
    (None, None, None, None, "doy", timedelta(minutes=7), datetime(2000, 1, 1), 1_574_802_684_123_456),
]  # fmt: skip
COLUMNS = {
    "later": ("t + INTERVAL '45 minutes'", "time", [time(0, 15), time(1), time(12, 45), None]),
    "earlier": ("t - INTERVAL '3 days 30 minutes'", "time", [time(23), time(23, 45), time(11, 30), None]),
    "moved": ("width + t", "time", [time(0, 30), time(0, 15), None, None]),
    "hours": ("date_sub('hour', TIME '12:00:00', t)", "int64", [11, -11, 0, None]),
    "minutes": ("date_diff('minute', TIME '12:00:59', t)", "int64", [690, -705, 0, None]),
    "seconds": ("epoch(t)", "float64", [84_600.0, 900.0, 43_200.0, None]),
    "part": ("date_part(part, ts)", "float64", [2013.0, 23.0, None, None]),
    "no_part": ("date_part(NULL, ts)", "float64", [None] * 4),
    "parts": ("date_part(['year', 'Month'], d)", "struct<year: int64, month: int64>",
              [{"year": 2013, "month": 3}, {"year": 1969, "month": 12}, {"year": 2020, "month": 2}, None]),
    "bucket": ("time_bucket(width, ts, origin)", "timestamp",
               [datetime(2013, 3, 9, 16, 7), datetime(1969, 12, 29), None, None]),
    "offset": ("time_bucket(INTERVAL '1 hour', ts, INTERVAL '7 minutes')", "timestamp",
               [datetime(2013, 3, 9, 16, 7), datetime(1969, 12, 31, 23, 7), datetime(2020, 2, 28, 23, 7), None]),
    "months": ("time_bucket(INTERVAL '3 months', d, INTERVAL '6 days')", "timestamp",
               [datetime(2013, 1, 7), datetime(1969, 10, 7), datetime(2020, 1, 7), None]),
    "no_width": ("time_bucket(CAST(NULL AS INTERVAL), ts)", "timestamp", [None] * 4),
    "moment": ("make_timestamp(us)", "timestamp",
               [datetime(1970, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999_999), None, datetime(2019, 11, 26, 21, 11, 24, 123_456)]),
    "millis": ("epoch_ms(us // 1000)", "timestamp", [datetime(1970, 1, 1), datetime(1970, 1, 1), None, datetime(2019, 11, 26, 21, 11, 24, 123_000)]),
    "zoned": ("make_timestamptz(year(d), 7, 1, 12, 0, 0.5, 'europe/BERLIN')", "timestamp[Europe/Berlin]",
              [datetime(2013, 7, 1, 10, 0, 0, 500_000, tzinfo=UTC), datetime(1969, 7, 1, 11, 0, 0, 500_000, tzinfo=UTC),
               datetime(2020, 7, 1, 10, 0, 0, 500_000, tzinfo=UTC), None]),
    "days": ("date_sub('day', TIMESTAMPTZ '2013-03-30 00:30:00+00:00' AT TIME ZONE 'Europe/Berlin' AT TIME ZONE 'Europe/Berlin', z)", "int64",
             [-20, 1, 1, None]),
    "days_of_clock": ("date_trunc('doy', z)", "timestamp[Europe/Berlin]",
                      [datetime(2013, 3, 8, 23, tzinfo=UTC), datetime(2013, 3, 30, 23, tzinfo=UTC), datetime(2013, 3, 30, 23, tzinfo=UTC), None]),
    "written": ("strftime(ts, '%-d/%-m/%y %-I %p %U %W %g')", "string",
                ["9/3/13 5 PM 09 09 250", "31/12/69 11 PM 52 52 000", "29/2/20 12 AM 08 08 000", None]),
    "read": ("strptime(strftime(ts, '%-d/%-m/%Y %X.%n'), '%-d/%-m/%Y %X.%n') = ts", "bool", [True, True, True, None]),
    "weeks": ("try_strptime(strftime(ts, '%U-%W %Y %w'), '%U-%W %Y %w') = CAST(d AS timestamp)", "bool", [True, True, True, None]),
    "years": ("extract(year FROM INTERVAL '30 months')", "int64", [2] * 4),
}  # fmt: skip


def test_times(source, check):
    expected = table(
        {name: dtype for name, (_, dtype, _) in COLUMNS.items()},
        *zip(*(values for _, _, values in COLUMNS.values()), strict=True),
    )
    made = {name: expr(sql) for name, (sql, _, _) in COLUMNS.items()}
    check(source(table(TYPES, *ROWS)).select(**made), expected)


@pytest.mark.parametrize(("sql", "message"), [
    ("date_part(part, ts)", "for yaer: not the name of a part of a date"),
    ("time_bucket(ts - TIMESTAMP '2020-01-01 00:00:00', ts)", "for 0:00:00, 2020-01-01 00:00:00, 2000-01-03 00:00:00: the width is not above zero"),
])  # fmt: skip
def test_a_name_that_is_no_part_and_a_width_that_is_none(source, failure, sql, message):
    rows = table({"ts": "timestamp", "part": "string"}, (datetime(2020, 1, 1), "year"), (datetime(2020, 1, 2), "yaer"))
    assert message in failure(source(rows).select(x=expr(sql)), RunFailed)
