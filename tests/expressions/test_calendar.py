"""Parts of dates and timestamps: before 1970, in leap years, around ISO years, at the ends of the types, in zones."""

from datetime import date, datetime, timedelta

import pyarrow as pa
import pytest

from expressions.evaluation import table, typed, value, values
from gpuetl.errors import EvaluationError, InvalidExpression

LEAST, GREATEST = -(2**63), 2**63 - 1


def extremes():
    """The first and the last value of each type, and a null."""
    micros = pa.array([LEAST, GREATEST, None], pa.int64())
    return pa.table(
        {
            "ts": micros.cast(pa.timestamp("us")),
            "tz": micros.cast(pa.timestamp("us", "Europe/Berlin")),
            "d": pa.array([-(2**31), 2**31 - 1, None], pa.int32()).cast(pa.date32()),
        }
    )


@pytest.mark.parametrize(
    ("day", "year", "week", "weekday"),
    [
        (date(2004, 12, 31), 2004, 53, 5), (date(2005, 1, 2), 2004, 53, 7), (date(2005, 1, 3), 2005, 1, 1),
        (date(2008, 12, 29), 2009, 1, 1), (date(2020, 12, 31), 2020, 53, 4), (date(2021, 1, 3), 2020, 53, 7),
        (date(1969, 12, 28), 1969, 52, 7), (date(1969, 12, 29), 1970, 1, 1), (date(1, 1, 1), 1, 1, 1), (date(9999, 12, 31), 9999, 52, 5),
    ],
)  # fmt: skip
def test_iso_weeks_begin_on_monday_and_week_1_has_the_first_thursday(day, year, week, weekday):
    frame = table(d=("date", [day, None]))
    assert values("iso_year(d)", frame) == [year, None]
    assert values("week(d)", frame) == [week, None]
    assert values("isodow(d)", frame) == [weekday, None]


def test_every_day_of_400_years_has_the_parts_that_python_gives_it():
    days = [date(1800, 1, 1) + timedelta(n) for n in range(146_097)]
    frame = table(d=("date", days))
    assert values("iso_year(d) * 1000 + week(d) * 10 + isodow(d)", frame) == [
        y * 1000 + w * 10 + d for y, w, d in (day.isocalendar() for day in days)
    ]
    assert values("year(d) * 10000 + month(d) * 100 + day(d)", frame) == [
        day.year * 10_000 + day.month * 100 + day.day for day in days
    ]
    assert values("dayofyear(d)", frame) == [day.timetuple().tm_yday for day in days]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("extract(week FROM ts)", [1, 9, None]), ("extract(isoyear FROM ts)", [1970, 2024, None]),
        ("extract(isodow FROM ts)", [3, 4, None]), ("extract(dow FROM ts)", [3, 4, None]),
        ("extract(millisecond FROM ts)", [999, 250, None]), ("extract(microsecond FROM ts)", [999_999, 250_000, None]),
        ("weekofyear(ts)", [1, 9, None]), ("isoyear(ts)", [1970, 2024, None]),
        ("day_name(ts)", ["Wednesday", "Thursday", None]), ("month_name(ts)", ["December", "February", None]),
        ("last_day(ts)", [date(1969, 12, 31), date(2024, 2, 29), None]), ("days_in_month(ts)", [31, 29, None]),
        ("is_leap_year(ts)", [False, True, None]),
        ("epoch_ms(ts)", [-1, 1_709_209_815_250, None]), ("epoch_us(ts)", [-1, 1_709_209_815_250_000, None]),
        ("epoch_ms(to_date(ts))", [-86_400_000, 1_709_164_800_000, None]), ("epoch_us(ts - TIMESTAMP '1970-01-01')", [-1, 1_709_209_815_250_000, None]),
    ],
)  # fmt: skip
def test_parts_before_and_after_1970(sql, expected):
    moments = [datetime(1969, 12, 31, 23, 59, 59, 999_999), datetime(2024, 2, 29, 12, 30, 15, 250_000), None]
    assert values(sql, table(ts=("timestamp", moments))) == expected
    assert values(sql, table(ts=("timestamp", []))) == []


@pytest.mark.parametrize(
    ("year", "leap"), [(1600, True), (1700, False), (1900, False), (2000, True), (2023, False), (4, True)]
)
def test_leap_years_are_gregorian_before_1582_as_well(year, leap):
    assert value(f"is_leap_year(make_date({year}, 1, 1))") is leap
    assert value(f"days_in_month(make_date({year}, 2, 1))") == (29 if leap else 28)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("year(ts)", [-290_308, 294_247, None]), ("month(ts)", [12, 1, None]), ("day(ts)", [21, 10, None]), ("week(ts)", [51, 1, None]),
        ("hour(ts)", [19, 4, None]), ("microsecond(ts)", [224_192, 775_807, None]), ("dayofyear(ts)", [356, 10, None]),
        ("dayofweek(ts)", [0, 0, None]), ("day_name(ts)", ["Sunday", "Sunday", None]), ("last_day(ts) = to_date(ts)", [False, False, None]),
        ("hour(tz)", [20, 5, None]), ("minute(tz)", [52, 0, None]), ("year(tz)", [-290_308, 294_247, None]),
        ("year(d)", [-5_877_641, 5_881_580, None]), ("month(d)", [6, 7, None]), ("day(d)", [23, 11, None]), ("isodow(d)", [2, 5, None]),
        ("epoch_ms(ts)", [-9_223_372_036_854_776, 9_223_372_036_854_775, None]), ("epoch_us(ts)", [LEAST, GREATEST, None]),
    ],
)  # fmt: skip
def test_parts_are_exact_to_the_ends_of_the_types(sql, expected):
    assert values(sql, extremes()) == expected


@pytest.mark.parametrize(
    ("sql", "row", "shown"),
    [("last_day(d)", 1, "5881580-07-11"), ("epoch_us(d)", 0, "-5877641-06-23"), ("epoch_ms(d)", 0, "-5877641-06-23")],
)
def test_what_leaves_the_range_of_its_type_is_an_error_naming_a_value_that_python_cannot_hold(sql, row, shown):
    with pytest.raises(EvaluationError, match=f"in row {row}, for {shown}: "):
        values(sql, extremes())


def test_parts_of_a_zoned_timestamp_follow_its_clock_through_both_changes():
    utc = [
        datetime(2024, 3, 31, 0, 59),
        datetime(2024, 3, 31, 1),
        datetime(2024, 10, 27, 0, 59),
        datetime(2024, 10, 27, 1),
    ]
    frame = table(ts=("timestamp[Europe/Berlin]", utc))
    assert values("hour(ts) * 100 + minute(ts)", frame) == [159, 300, 259, 200]


def test_the_clock_of_a_zone_still_changes_after_2037():
    frame = table(
        ts=("timestamp[Europe/Berlin]", [datetime(2050, 1, 1, 12), datetime(2050, 7, 1, 12), datetime(9000, 7, 1, 12)])
    )
    assert values("hour(ts)", frame) == [13, 14, 14]


def test_several_chunks_are_one_column():
    chunks = pa.chunked_array([[datetime(2024, 1, 1)], [], [None, datetime(1969, 12, 31)]], pa.timestamp("us"))
    assert values("day_name(ts)", pa.table({"ts": chunks})) == ["Monday", None, "Wednesday"]


def test_a_stored_zone_that_is_in_no_database_is_refused_before_the_run():
    frame = pa.table({"ts": pa.array([0], pa.timestamp("us", "Europe/Nowhere"))})
    with pytest.raises(InvalidExpression, match="hour does not know the time zone 'Europe/Nowhere'"):
        typed("hour(ts)", {"ts": frame.schema.field("ts").type})
