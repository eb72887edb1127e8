"""Dates and timestamps made, moved, truncated and compared, and durations; what does not fit is an error, never a wrap."""

from datetime import UTC, date, datetime, timedelta
from math import isnan

import pyarrow as pa
import pytest

from expressions.evaluation import ONE_ROW, table, typed, value, values
from expressions.test_calendar import extremes
from gpuetl.errors import EvaluationError, InvalidExpression
from gpuetl.types.data_types import parse_type

LEAST, GREATEST = -(2**63), 2**63 - 1
DAY, HOUR = timedelta(days=1), timedelta(hours=1)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("add_months(DATE '2024-01-31', 1)", date(2024, 2, 29)), ("add_months(DATE '2023-01-31', 1)", date(2023, 2, 28)),
        ("add_months(DATE '2024-02-29', 12)", date(2025, 2, 28)), ("add_months(DATE '2024-02-29', -48)", date(2020, 2, 29)),
        ("add_months(DATE '1970-01-31', -2)", date(1969, 11, 30)), ("add_months(TIMESTAMP '1969-12-31 23:59:59.5', 2)", datetime(1970, 2, 28, 23, 59, 59, 500_000)),
        ("add_days(DATE '2024-02-28', 2)", date(2024, 3, 1)), ("add_days(DATE '1970-01-01', -1)", date(1969, 12, 31)),
        ("add_days(TIMESTAMP '2024-02-28 01:00:00', 2)", datetime(2024, 3, 1, 1)),
        ("DATE '2024-03-01' - DATE '2024-02-28'", 2), ("DATE '2024-02-28' + 2", date(2024, 3, 1)), ("-1 + DATE '1970-01-01'", date(1969, 12, 31)),
        ("DATE '2024-03-01' - 2", date(2024, 2, 28)), ("DATE '2024-03-01' - TIMESTAMP '2024-02-28'", 2 * DAY), ("DATE '2024-03-01' + INTERVAL '1 day'", datetime(2024, 3, 2)),
        ("make_date(2024, 2, 29)", date(2024, 2, 29)), ("make_date(1, 1, 1)", date(1, 1, 1)), ("make_date(9999, 12, 31)", date(9999, 12, 31)),
        ("make_timestamp(2024, 2, 29, 23, 59, 59.999999)", datetime(2024, 2, 29, 23, 59, 59, 999_999)),
        ("make_timestamp(2024, 2, 29, 23, 59, 59.9999999)", datetime(2024, 3, 1)), ("make_timestamp(1969, 12, 31, 0, 0, 1)", datetime(1969, 12, 31, 0, 0, 1)),
        ("from_epoch(-1)", datetime(1969, 12, 31, 23, 59, 59)), ("from_epoch(0.0000005)", datetime(1970, 1, 1)),
        ("from_epoch(0.0000015)", datetime(1970, 1, 1, 0, 0, 0, 2)), ("from_epoch_ms(-1)", datetime(1969, 12, 31, 23, 59, 59, 999_000)),
    ],
)  # fmt: skip
def test_timestamps_are_made_and_shifted(sql, expected):
    assert value(sql) == expected


def test_columns_and_constants_mix_and_null_gives_null():
    frame = table(d=("date", [date(2024, 1, 31), None, date(1969, 12, 31)]), n=("int64", [1, 1, None]))
    assert values("add_months(d, n)", frame) == [date(2024, 2, 29), None, None]
    assert values("add_months(DATE '2024-01-31', n)", frame) == [date(2024, 2, 29), date(2024, 2, 29), None]
    assert values("make_date(2024, n, 31)", frame) == [date(2024, 1, 31), date(2024, 1, 31), None]
    assert values("date_diff('day', d, DATE '2024-02-01')", frame) == [1, None, 19_755]
    assert values("add_months(d, n)", frame.slice(0, 0)) == []
    assert values("seconds(n)", frame.slice(2)) == [None]


@pytest.mark.parametrize("parts", ["2023, 2, 29", "2023, 0, 1", "2023, 13, 1", "2023, 1, 0", "2023, 1, 32", "9223372036854775807, 1, 1", "2023, 1, -9223372036854775807"])  # fmt: skip
def test_make_date_refuses_what_is_no_date(parts):
    with pytest.raises(EvaluationError, match=f"make_date.{parts}. has no result, for {parts}: not a valid date"):
        value(f"make_date({parts})")


@pytest.mark.parametrize("second", ["60.0", "-0.5", "CAST('nan' AS float64)", "1e300"])
def test_make_timestamp_refuses_a_second_that_is_none(second):
    with pytest.raises(EvaluationError, match="not a valid date and time"):
        value(f"make_timestamp(2023, 1, 1, 0, 0, {second})")


def test_a_day_beyond_the_range_of_dates_is_an_error_naming_its_row():
    with pytest.raises(
        EvaluationError, match=r"^d \+ 1 has no result in row 1, for 5881580-07-11, 1: the result is beyond"
    ):
        values("d + 1", extremes())
    with pytest.raises(
        EvaluationError, match=r"^d - 1 has no result in row 0, for -5877641-06-23, 1: the result is beyond"
    ):
        values("d - 1", extremes())
    assert values("d - d", extremes()) == [0, 0, None]
    frame = extremes().append_column("e", pa.array([date(1970, 1, 1), date(1970, 1, 1), None]))
    assert values("e - d", frame) == [2**31, -(2**31) + 1, None]


@pytest.mark.parametrize(
    ("unit", "a", "b", "expected"),
    [
        ("year", "2023-12-31 23:59:59", "2024-01-01", 1), ("year", "2024-01-01", "2023-12-31", -1), ("quarter", "2023-12-31", "2024-04-01", 2),
        ("month", "2024-01-31", "2024-02-01", 1), ("month", "1969-12-31", "1970-01-01", 1), ("week", "2024-01-07", "2024-01-08", 1),
        ("week", "2024-01-08", "2024-01-14", 0), ("week", "1969-12-28", "1970-01-05", 2), ("day", "2024-01-01 23:59:59.999999", "2024-01-02", 1),
        ("hour", "1969-12-31 23:59:59", "1970-01-01", 1), ("hour", "1970-01-01 00:30:00", "1969-12-31 23:30:00", -1),
        ("minute", "2024-01-01 00:00:59", "2024-01-01 00:02:00", 2), ("second", "1970-01-01", "1969-12-31 23:59:59.999999", -1),
        ("millisecond", "1970-01-01", "1970-01-01 00:00:00.0019", 1), ("microsecond", "1970-01-01", "1969-12-31 23:59:59.999999", -1),
    ],
)  # fmt: skip
def test_date_diff_counts_the_units_that_begin_after_a_and_up_to_b(unit, a, b, expected):
    assert value(f"date_diff('{unit}', TIMESTAMP '{a}', TIMESTAMP '{b}')") == expected


def test_date_diff_of_zoned_timestamps_counts_days_of_the_clock_and_hours_that_pass():
    frame = table(
        a=(
            "timestamp[Europe/Berlin]",
            [datetime(2024, 3, 30, 23), datetime(2024, 10, 26, 22), datetime(2024, 10, 27, 0, 30)],
        ),
        b=(
            "timestamp[Europe/Berlin]",
            [datetime(2024, 3, 31, 22), datetime(2024, 10, 27, 23), datetime(2024, 10, 27, 1, 30)],
        ),
    )
    assert values("date_diff('day', a, b)", frame) == [1, 1, 0]
    assert values("date_diff('hour', a, b)", frame) == [23, 25, 1]


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("year", datetime(1969, 1, 1)), ("quarter", datetime(1969, 10, 1)), ("month", datetime(1969, 11, 1)), ("week", datetime(1969, 11, 10)),
        ("day", datetime(1969, 11, 16)), ("hour", datetime(1969, 11, 16, 23)), ("minute", datetime(1969, 11, 16, 23, 58)),
        ("second", datetime(1969, 11, 16, 23, 58, 57)), ("millisecond", datetime(1969, 11, 16, 23, 58, 57, 123_000)),
        ("microsecond", datetime(1969, 11, 16, 23, 58, 57, 123_456)),
    ],
)  # fmt: skip
def test_date_trunc_goes_down_before_1970(unit, expected):
    assert value(f"date_trunc('{unit}', TIMESTAMP '1969-11-16 23:58:57.123456')") == expected


@pytest.mark.parametrize(
    ("zone", "unit", "instant", "start"),
    [
        ("Europe/Berlin", "day", datetime(2024, 3, 31, 10), datetime(2024, 3, 30, 23)),
        ("Europe/Berlin", "day", datetime(2024, 10, 27, 10), datetime(2024, 10, 26, 22)),
        ("Europe/Berlin", "month", datetime(2024, 10, 31, 10), datetime(2024, 9, 30, 22)),
        ("Europe/Berlin", "year", datetime(2024, 7, 1), datetime(2023, 12, 31, 23)),
        ("Europe/Berlin", "week", datetime(2024, 4, 1, 10), datetime(2024, 3, 31, 22)),
        ("Europe/Berlin", "hour", datetime(2024, 10, 27, 0, 30), datetime(2024, 10, 27)),
        ("Europe/Berlin", "hour", datetime(2024, 10, 27, 1, 30), datetime(2024, 10, 27, 1)),
        ("Asia/Kolkata", "hour", datetime(2024, 1, 1, 5, 15), datetime(2024, 1, 1, 4, 30)),
        ("America/Sao_Paulo", "day", datetime(2017, 10, 15, 15), datetime(2017, 10, 15, 3)),  # its midnight did not exist
        ("America/Havana", "day", datetime(2024, 11, 3, 15), datetime(2024, 11, 3, 4)),  # its midnight came twice
    ],
)  # fmt: skip
def test_date_trunc_of_a_zoned_timestamp_is_on_its_clock(zone, unit, instant, start):
    frame = table(ts=(f"timestamp[{zone}]", [instant]))
    assert values(f"convert_zone(date_trunc('{unit}', ts), 'UTC')", frame) == [start.replace(tzinfo=UTC)]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("time_bucket(INTERVAL '15 minutes', TIMESTAMP '1969-12-31 23:59:59')", datetime(1969, 12, 31, 23, 45)),
        ("time_bucket(INTERVAL '7 days', DATE '2024-02-29')", datetime(2024, 2, 26)),
        ("time_bucket(INTERVAL '5 days', TIMESTAMP '1999-12-30')", datetime(1999, 12, 29)),
        ("time_bucket(INTERVAL '7 days', TIMESTAMPTZ '2024-03-01 00:00:00+01:00')", datetime(2024, 2, 26, tzinfo=UTC)),
        ("time_bucket(INTERVAL '7 days', TIMESTAMP '2024-02-29', INTERVAL '1 day')", datetime(2024, 2, 27)),
        ("time_bucket(INTERVAL '7 months', DATE '1999-12-30')", date(1999, 6, 1)),
        ("time_bucket(INTERVAL '7 days', TIMESTAMP '2024-02-29 12:00:00', DATE '2024-01-01')", datetime(2024, 2, 26)),
        ("time_bucket(INTERVAL '7 days', TIMESTAMP '2023-12-31', origin => DATE '2024-01-01')", datetime(2023, 12, 25)),
        ("date_bin(INTERVAL '1 microsecond', TIMESTAMP '1969-12-31 23:59:59.999999')", datetime(1969, 12, 31, 23, 59, 59, 999_999)),
        ("time_bucket(INTERVAL '1 day', TIMESTAMPTZ '2024-07-01 01:00:00+02:00')", datetime(2024, 6, 30, tzinfo=UTC)),
    ],
)  # fmt: skip
def test_time_buckets_go_down_from_the_origin(sql, expected):
    assert value(sql) == expected


@pytest.mark.parametrize(
    ("sql", "row", "shown"),
    [
        ("date_trunc('hour', ts)", 0, "hour, -290308-12-21 19:59:05.224192"), ("date_trunc('day', tz)", 0, "day, -290308-12-21 19:59:05.224192"),
        ("date_trunc('month', d)", 0, "month, -5877641-06-23"), ("time_bucket(INTERVAL '7 days', ts)", 0, "7 days, 0:00:00, -290308-12-21 19:59:05.224192, 2000-01-03 00:00:00"),
        ("ts + INTERVAL '1 microsecond'", 1, "294247-01-10 4:00:54.775807, 0:00:00.000001"), ("ts - INTERVAL '1 microsecond'", 0, "-290308-12-21 19:59:05.224192, 0:00:00.000001"),
        ("ts - TIMESTAMP '1969-12-31'", 1, "294247-01-10 4:00:54.775807, 1969-12-31 00:00:00"), ("d + INTERVAL '1 day'", 0, "-5877641-06-23"),
        ("add_days(d, 1)", 1, "5881580-07-11, 1"), ("add_months(d, -1)", 0, "-5877641-06-23, -1"), ("add_days(ts, 1)", 1, "294247-01-10 4:00:54.775807, 1"),
        ("date_diff('microsecond', ts, TIMESTAMP '1969-12-31')", 1, "microsecond, 294247-01-10 4:00:54.775807, 1969-12-31 00:00:00"),
        ("date_diff('microsecond', d, DATE '1970-01-01')", 0, "microsecond, -5877641-06-23, 1970-01-01"),
    ],
)  # fmt: skip
def test_no_timestamp_wraps_at_the_ends_of_its_type(sql, row, shown):
    with pytest.raises(EvaluationError) as error:
        values(sql, extremes())
    assert f" in row {row}, for {shown}: " in str(error.value)


@pytest.mark.parametrize("sql", ["add_months(DATE '2024-01-01', n)", "add_days(DATE '2024-01-01', n)", "add_days(TIMESTAMP '2024-01-01', n)",
                                 "days(n)", "microseconds(n / 0.5)", "from_epoch(n)", "from_epoch_ms(n)", "seconds(n / 1)", "INTERVAL '1 day' * n", "n * INTERVAL '-1 day'"])  # fmt: skip
@pytest.mark.parametrize("n", [LEAST, GREATEST])
def test_amounts_beyond_the_range_are_errors(sql, n):
    with pytest.raises(EvaluationError, match="in row 1, for "):
        values(sql, table(n=("int64", [0, n])))


@pytest.mark.parametrize(("unit", "micros"), [("days", 86_400_000_000), ("hours", 3_600_000_000), ("minutes", 60_000_000), ("seconds", 1_000_000), ("milliseconds", 1000), ("microseconds", 1)])  # fmt: skip
def test_durations_of_numbers_are_exact_up_to_the_last_that_fits(unit, micros):
    most = GREATEST // micros
    assert values(f"CAST({unit}(n) AS int64)", table(n=("int64", [most, -most, None]))) == [
        most * micros,
        -most * micros,
        None,
    ]
    if micros > 1:
        with pytest.raises(EvaluationError, match=f"for {most + 1}: "):
            values(f"{unit}(n)", table(n=("int64", [most + 1])))


@pytest.mark.parametrize("x", ["nan", "inf", "-inf", "9.3e18", "-9.3e18"])
def test_a_float_that_is_no_duration_is_an_error(x):
    with pytest.raises(EvaluationError, match="more microseconds than int64 can hold"):
        value(f"microseconds(CAST('{x}' AS float64))")


def test_a_float_whose_microseconds_are_beyond_floats_is_an_error():
    with pytest.raises(EvaluationError, match="more microseconds than int64 can hold"):
        value("days(1e300)")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("INTERVAL '7 hours' * 3", 21 * HOUR), ("-2 * INTERVAL '7 hours'", -14 * HOUR), ("INTERVAL '7 hours' // 2", 3.5 * HOUR),
        ("INTERVAL '-3 microseconds' // 2", timedelta(microseconds=-1)), ("INTERVAL '1 day' // 0", None), ("INTERVAL '1 day' // INTERVAL '7 hours'", 3),
        ("INTERVAL '1 day' // INTERVAL '0 days'", None), ("INTERVAL '1 day' % INTERVAL '7 hours'", 3 * HOUR), ("INTERVAL '-1 day' % INTERVAL '7 hours'", -3 * HOUR),
        ("INTERVAL '1 day' / INTERVAL '16 hours'", 1.5), ("-INTERVAL '1 day'", -DAY), ("abs(INTERVAL '-1 day')", DAY), ("INTERVAL '1 day' + INTERVAL '1 hour'", DAY + HOUR),
        ("INTERVAL '1 day' * NULL", None),
    ],
)  # fmt: skip
def test_durations_are_numbers_of_microseconds(sql, expected):
    assert value(sql) == expected


def test_the_quotient_of_no_durations_is_nan():
    assert isnan(value("INTERVAL '0 days' / INTERVAL '0 days'"))


@pytest.mark.parametrize(
    ("sql", "message", "hint"),
    [
        ("INTERVAL '1 day' * 1.5", "cannot multiply duration and float64", ""),
        ("INTERVAL '1 day' / 2", "'/' takes float64, got duration", ""),
        ("TIMESTAMP '2024-01-01' + 1", "cannot add timestamp and int64", "Write x + INTERVAL '1 day'."),
        ("1 - d", "cannot subtract int64 and date", "Write x + INTERVAL '1 day'."), ("d + 1.5", "cannot add date and float64", "Write x + INTERVAL '1 day'."),
        ("add_months('x', 1)", "add_months takes a date or a timestamp, got string", ""),
        ("add_days(d, 1.5)", "add_days takes int64, got float64", ""),
        ("date_diff('fortnight', d, d)", "date_diff takes one of millennium, century, decade, year, quarter, month, week, day, hour, minute, second, millisecond, microsecond, got 'fortnight'", ""),
        ("date_diff('day', d, tz)", "date_diff cannot compare date and timestamp[Europe/Berlin]",
         "A naive and a zoned timestamp are different types: x AT TIME ZONE 'Europe/Berlin' makes one of the other, local_time(x) shows the clock of a zoned one."),
        ("time_bucket(INTERVAL '0 days', d)", "time_bucket takes an interval above zero, got 0:00:00", ""),
        ("time_bucket(7, d)", "time_bucket takes an interval above zero, got 7", ""),
        ("time_bucket(INTERVAL '1 day', tz, DATE '2024-01-01')", "time_bucket takes an origin of timestamp[Europe/Berlin], got date", ""),
        ("seconds('x')", "seconds takes a number, got string", ""), ("seconds(d)", "seconds takes a number, got date", ""),
        ("now()", "gpuetl does not support the current time, 'now'", "Pass it as a parameter, such as $run_date: a run can then be repeated with the same answer."),
        ("d < CURRENT_DATE", "gpuetl does not support the current time, 'CURRENT_DATE'", "Pass it as a parameter, such as $run_date: a run can then be repeated with the same answer."),
    ],
)  # fmt: skip
def test_what_has_no_meaning_is_refused_before_the_run(sql, message, hint):
    with pytest.raises(InvalidExpression) as error:
        typed(sql, {"d": parse_type("date"), "tz": parse_type("timestamp[Europe/Berlin]")})
    assert (error.value.message, error.value.hint) == (message, hint)


def test_a_column_may_be_called_now():
    assert values("now", ONE_ROW.append_column("now", pa.array([7]))) == [7]


@pytest.mark.parametrize("text", ["20240229", "2024-W09-4", "2024-02-29x10:00:00", "2024-02-29 1000"])
def test_constants_have_the_forms_that_a_cast_of_a_column_takes(text):
    with pytest.raises(InvalidExpression, match="is not a valid timestamp"):
        value(f"TIMESTAMP '{text}'")
    assert values("TRY_CAST(t AS timestamp)", table(t=("string", [text]))) == [None]


def test_intervals_are_exact_to_the_microsecond_and_bounded_by_int64():
    assert value("interval '9007199254.740993 seconds'") == timedelta(microseconds=9_007_199_254_740_993)
    assert value("interval '106751991 days 4 hours 54.775807 seconds'") == timedelta(microseconds=GREATEST)
    with pytest.raises(InvalidExpression, match="is too long"):
        value("interval '106751992 days'")
