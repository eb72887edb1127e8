"""Months and years in intervals: at the ends of months, on zones' clocks, beside columns, and where none may stand."""

from datetime import UTC, date, datetime

import pyarrow as pa
import pytest

from expressions.evaluation import table, typed, value, values
from gpuetl.errors import InvalidExpression
from gpuetl.expressions.fold import fold
from gpuetl.expressions.ir import Column, Literal
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.unparse import to_sql
from gpuetl.formats.row_group_limits import is_prunable, may_hold
from gpuetl.types.data_types import DATE, TIMESTAMP, parse_type

duckdb = pytest.importorskip("duckdb")
SAME = (
    "DATE '2024-01-31' + INTERVAL '1 month'", "DATE '2023-01-31' + INTERVAL '1 month'", "DATE '2024-02-29' - INTERVAL '1 year'",
    "INTERVAL '3 months' + DATE '1993-07-01'", "DATE '1994-01-01' + INTERVAL '1' YEAR", "DATE '1995-09-01' + INTERVAL 1 MONTH",
    "TIMESTAMP '2024-01-31 02:30:00' + INTERVAL '1 month 3 days 25 hours'", "DATE '2024-01-31' + INTERVAL '1 year 2 months -3 days'",
    "TIMESTAMP '2024-03-31 00:00:00' - INTERVAL '1 month 1 day'", "TIMESTAMP '2024-03-31 00:00:00' + (-INTERVAL '1 month 1 day')",
    "DATE '2024-01-31' + 2 * INTERVAL '1 month'", "DATE '2024-01-31' - INTERVAL '1 quarter' * 2", "DATE '2024-01-31' + INTERVAL (1 + 1) MONTH",
    "DATE '2024-03-31' - (INTERVAL '1 month' - INTERVAL '36 hours')", "DATE '2024-01-31' + to_months(13)", "DATE '2024-02-29' + to_years(-1)",
    "DATE '2024-01-31' + INTERVAL '1 century'", "DATE '2024-01-31' + INTERVAL '2 decades'", "date_add(DATE '2024-01-31', INTERVAL '1 month')",
    "DATE '2024-01-31' + INTERVAL (3) DAY", "TIMESTAMP '1969-12-31 23:59:59.5' + INTERVAL '2 months'", "DATE '2024-01-31' + 3", "3 + DATE '2024-01-31'",
    "DATE '2024-01-31' - 31", "DATE '2024-03-01' - DATE '2024-02-28'", "time_bucket(INTERVAL '1 month', DATE '2024-02-29')",
    "time_bucket(INTERVAL '7 months', TIMESTAMP '1999-02-28 12:00:00', TIMESTAMP '2000-01-01')", "time_bucket(INTERVAL '1 year', TIMESTAMP '1969-02-28 12:00:00')",
    "time_bucket(INTERVAL '3 months', DATE '2024-02-29', DATE '2000-02-01')",
)  # fmt: skip


SHORT = (
    "2h", "90m", "1h30m", "-2 hrs", "45 s", "250ms", "7us", "2 d", "1w", "3 mons", "1 yr 2 mon", "2 decs", "1c", "2:30", "2:30:15.25",
    "1 mil", "20 msecond 16 usecond", "2Y 4 days 1 MinUteS 3S ago", "@ 1 day ago", "1 hour -2:30", "1:2:3", "-0:45", "1 day 2:00", "1 month -1:30", "100:00:00", "0.5 day 1:00",
)  # fmt: skip


@pytest.mark.parametrize("text", SHORT)
def test_short_units_and_times_in_intervals_are_duckdbs(text):
    sql = f"TIMESTAMP '2024-01-31 02:30:00' + INTERVAL '{text}'"
    assert value(sql) == duckdb.sql(f"SELECT {sql}").fetchall()[0][0]


@pytest.mark.parametrize("text", ["42", "-1.5", "1 day", "3 months", "1 year 2 days ago", "2:30"])
def test_a_cast_of_a_constant_is_an_interval_and_a_number_is_seconds(text):
    for cast in ("CAST", "TRY_CAST"):
        sql = f"TIMESTAMP '2024-01-31 02:30:00' + {cast}('{text}' AS INTERVAL)"
        assert value(sql) == duckdb.sql(f"SELECT {sql}").fetchall()[0][0]


@pytest.mark.parametrize(
    ("sql", "message", "hint"),
    [
        ("CAST('3 eons' AS INTERVAL)", "interval unit 'eons' is not supported", "Write it like INTERVAL '1 day 2 hours'."),
        ("CAST('x' AS INTERVAL)", "'x' is not a valid interval", "Write it like INTERVAL '1 day 2 hours'."),
        ("CAST('1.5 us' AS INTERVAL)", "'1.5 us' is not a whole number of microseconds", "Write it like INTERVAL '1 day 2 hours'."),
    ],
)  # fmt: skip
def test_a_constant_that_is_no_interval_is_refused(sql, message, hint):
    with pytest.raises(InvalidExpression) as error:
        parse_expression(sql)
    assert (error.value.message, error.value.hint) == (message, hint)
    assert value(f"TRY_{sql}") is None


@pytest.mark.parametrize("text", ["2:75", "1 :30", "2:30 1 day", "1mo", "1cs", "1:30.5", ":30"])
def test_other_units_and_times_are_refused(text):
    with pytest.raises(InvalidExpression, match="interval"):
        parse_expression(f"ts + INTERVAL '{text}'")


@pytest.mark.parametrize("sql", SAME)
def test_intervals_of_months_are_duckdbs(sql):
    assert value(sql) == duckdb.sql(f"SELECT {sql}").fetchall()[0][0]


def test_columns_are_moved_by_constants_and_by_columns():
    frame = table(
        d=("date", [date(2024, 1, 31), None, date(1969, 12, 31)]),
        ts=("timestamp", [datetime(2024, 2, 29, 12), datetime(1970, 1, 1), None]),
        n=("int64", [1, 1, None]),
    )
    assert values("d + INTERVAL '1 month'", frame) == [datetime(2024, 2, 29), None, datetime(1970, 1, 31)]
    assert values("ts - INTERVAL '1 year'", frame) == [datetime(2023, 2, 28, 12), datetime(1969, 1, 1), None]
    assert values("d + n * INTERVAL '1 month'", frame) == [datetime(2024, 2, 29), None, None]
    assert values("ts - INTERVAL (n) YEAR", frame) == [datetime(2023, 2, 28, 12), datetime(1969, 1, 1), None]
    assert values("to_months(2 * n) + ts", frame) == [datetime(2024, 4, 29, 12), datetime(1970, 3, 1), None]
    assert values("d + n", frame) == [date(2024, 2, 1), None, None]
    assert values("d - DATE '2024-01-01'", frame) == [30, None, -19_724]
    assert values("d + INTERVAL '1 month'", frame.slice(0, 0)) == []


@pytest.mark.parametrize(
    ("instant", "sql", "expected"),
    [
        ((2024, 1, 31, 1, 30), "ts + INTERVAL '2 months'", (2024, 3, 31, 1, 30)),  # 02:30 is not shown: 03:30
        ((2024, 9, 27, 0, 30), "ts + INTERVAL '1 month'", (2024, 10, 27, 1, 30)),  # 02:30 is shown twice: the later one
        ((2024, 11, 27, 1, 30), "ts - INTERVAL '1 month'", (2024, 10, 27, 1, 30)),
        ((2024, 1, 31, 11), "ts + INTERVAL '6 months'", (2024, 7, 31, 10)),
        ((2024, 3, 31, 22, 30), "time_bucket(INTERVAL '3 months', ts)", (2024, 3, 31, 22)),
        ((2024, 3, 30, 1, 30), "add_days(ts, 1)", (2024, 3, 31, 1, 30)),
        ((2024, 3, 30, 1, 30), "ts + INTERVAL '1 day'", (2024, 3, 31, 1, 30)),
        ((2024, 3, 30, 11), "add_days(ts, 1)", (2024, 3, 31, 10)),
        ((2024, 3, 30, 11), "ts + INTERVAL '1 day'", (2024, 3, 31, 11)),  # 24 hours; a day of DuckDB's is the clock's
    ],
)  # fmt: skip
def test_months_of_a_zoned_timestamp_are_those_of_its_clock(instant, sql, expected):
    frame = table(ts=("timestamp[Europe/Berlin]", [datetime(*instant), None]))
    assert values(f"convert_zone({sql}, 'UTC')", frame) == [datetime(*expected, tzinfo=UTC), None]
    if "INTERVAL '1 day'" not in sql and sql.startswith("ts"):
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'Europe/Berlin'")
            theirs = connection.sql(
                f"SELECT epoch_us({sql}) FROM (SELECT make_timestamptz(epoch_us(TIMESTAMP '{datetime(*instant)}')) AS ts)"
            )
            assert values(f"epoch_us({sql})", frame.slice(0, 1)) == [theirs.fetchall()[0][0]]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("INTERVAL '1 month'", "an interval of months has no fixed length"),
        ("INTERVAL '1 month' + INTERVAL '1 day'", "an interval of months has no fixed length"),
        ("n * INTERVAL '1 month'", "an interval of months has no fixed length"),
        ("to_months(n)", "an interval of months has no fixed length"),
        ("coalesce(INTERVAL '1 month', k)", "an interval of months has no fixed length"),
        ("ts - ts < INTERVAL '1 month'", "an interval of months has no fixed length"),
        ("INTERVAL '1 month' - d", "an interval of months has no fixed length"),
        ("d + n * INTERVAL '1 month 1 day'", "'1 month 1 day' times a column has no one length"),
        ("tz + INTERVAL '1 month 1 day'", "date_add takes months or a fixed length beside timestamp[Europe/Berlin], got '1 month 1 day'"),
        ("n + INTERVAL '1 month'", "date_add takes a date or a timestamp, got int64"),
        ("d + f * INTERVAL '1 month'", "add_months takes int64, got float64"),
        ("INTERVAL '1.5 months' + d", "'1.5 MONTHS' is not a whole number of months"),
        ("d + INTERVAL '9999999999 months'", "the interval '9999999999 MONTHS' is too long"),
        ("time_bucket(INTERVAL '1 month 1 day', ts)", "time_bucket takes months or a fixed length above zero, got '1 month 1 day'"),
        ("time_bucket(INTERVAL '-1 month', ts)", "time_bucket takes months or a fixed length above zero, got '-1 month'"),
        ("time_bucket(INTERVAL '1 month', ts, DATE '2000-01-03')", "time_bucket takes an origin that is the start of a month, got 2000-01-03"),
        ("time_bucket(INTERVAL '1 month', tz, tz)", "time_bucket takes a constant or a $parameter as origin of months"),
        ("date_add(d)", "date_add got 1 argument"),
    ],
)  # fmt: skip
def test_months_stand_beside_a_date_or_timestamp_only(sql, message):
    columns = {name: parse_type(dtype) for name, dtype in {"d": "date", "ts": "timestamp", "tz": "timestamp[Europe/Berlin]", "n": "int64", "f": "float64", "k": "duration"}.items()}  # fmt: skip
    with pytest.raises(InvalidExpression) as error:
        typed(sql, columns)
    assert error.value.message == message


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("d + INTERVAL '1 month'", "d + INTERVAL '1 month'"), ("d - INTERVAL '14' month", "d - INTERVAL '14 months'"),
        ("INTERVAL '1 year 3 days 90 minutes' + d", "d + INTERVAL '1 year 3 days 90 minutes'"), ("d + n * INTERVAL '1 year'", "add_months(d, n * 12)"),
        ("time_bucket(INTERVAL '36 months', d)", "time_bucket(INTERVAL '3 years', d)"), ("d - (n - INTERVAL '1 month')", None),
    ],
)  # fmt: skip
def test_intervals_are_shown_as_they_are_read(sql, shown):
    syntax = parse_expression(sql)
    assert parse_expression(to_sql(syntax)) == syntax
    if shown:
        assert to_sql(typed(sql, {"d": DATE, "n": pa.int64()})) == shown


@pytest.mark.parametrize(
    ("sql", "folded"),
    [
        ("d >= DATE '1993-07-01' + INTERVAL '3 months'", "d >= DATE '1993-10-01'"),
        ("DATE '1993-07-01' + INTERVAL '3 months' > d", "d < DATE '1993-10-01'"),
        ("d < DATE '1993-07-31' - INTERVAL '1 month'", "d < DATE '1993-06-30'"),
        ("d < DATE '1993-07-01' + INTERVAL '36 hours'", "d <= DATE '1993-07-02'"),
        ("d >= DATE '1993-07-01' + INTERVAL '36 hours'", "d > DATE '1993-07-02'"),
        ("d = DATE '1993-07-01' + INTERVAL '1 year'", "d = DATE '1994-07-01'"),
        ("ts < DATE '1993-07-01' + INTERVAL '1 month 1 second'", "ts < TIMESTAMP '1993-08-01 00:00:01'"),
        ("d < $day + INTERVAL '1 month'", "d < DATE '2024-02-29'"),
    ],
)
def test_sums_of_constants_are_folded_and_compared_as_days(sql, folded):
    parameters = {"day": Literal(date(2024, 1, 31), DATE)}
    assert to_sql(fold(typed(sql, {"d": DATE, "ts": TIMESTAMP}, parameters))) == folded


def test_row_groups_are_skipped_by_them():
    predicate = fold(typed("d < DATE '1993-07-01' + INTERVAL '3 months'", {"d": DATE}))
    assert is_prunable(predicate)
    assert not may_hold(predicate, {"d": (date(1993, 10, 1), date(1994, 1, 1), 0)}, 10)
    assert may_hold(predicate, {"d": (date(1993, 9, 30), date(1994, 1, 1), 0)}, 10)
    moment = typed("d < TIMESTAMP '1993-10-01 00:00:00'", {"d": DATE})  # not folded
    assert not may_hold(moment, {"d": (date(1993, 10, 1), date(1994, 1, 1), 0)}, 10)
    assert Column("d", DATE) in predicate.args
