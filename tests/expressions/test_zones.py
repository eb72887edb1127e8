"""Between clocks and instants: AT TIME ZONE and its functions, around both changes of a clock."""

from datetime import UTC, datetime

import pytest

from expressions.evaluation import ONE_ROW, table, typed, value, values
from expressions.test_calendar import extremes
from gpuetl.errors import EvaluationError, InvalidExpression
from gpuetl.expressions.ir import Literal, Parameter
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.unparse import to_sql
from gpuetl.types.data_types import STRING, TIMESTAMP, parse_type

BERLIN = parse_type("timestamp[Europe/Berlin]")
GAP, TWICE = datetime(2024, 3, 31, 2, 30), datetime(2024, 10, 27, 2, 30)


def utc(*parts):
    return datetime(*parts, tzinfo=UTC)


def test_at_time_zone_makes_an_instant_of_a_clock_and_a_clock_of_an_instant():
    frame = table(
        ts=(
            "timestamp",
            [datetime(2024, 1, 1, 12), None, datetime(2024, 7, 1, 12), datetime(1960, 7, 1), datetime(2050, 7, 1)],
        ),
        tz=("timestamp[UTC]", [utc(2024, 1, 1, 12), None, utc(2024, 7, 1, 12), utc(1960, 7, 1), utc(2050, 7, 1)]),
    )
    assert values("ts AT TIME ZONE 'Europe/Berlin'", frame) == [
        utc(2024, 1, 1, 11),
        None,
        utc(2024, 7, 1, 10),
        utc(1960, 6, 30, 23),
        utc(2050, 6, 30, 22),
    ]
    assert values("tz AT TIME ZONE 'Europe/Berlin'", frame) == [
        datetime(2024, 1, 1, 13),
        None,
        datetime(2024, 7, 1, 14),
        datetime(1960, 7, 1, 1),
        datetime(2050, 7, 1, 2),
    ]
    assert values("ts AT TIME ZONE 'Asia/Tokyo' AT TIME ZONE 'Asia/Tokyo' = ts", frame) == [
        True,
        None,
        True,
        True,
        True,
    ]
    assert values("ts AT TIME ZONE 'UTC' = tz", frame) == [True, None, True, True, True]
    assert values("local_time(convert_zone(tz, '-03:30'))", frame.slice(0, 1)) == [datetime(2024, 1, 1, 8, 30)]
    assert values("ts AT TIME ZONE 'UTC'", frame.slice(0, 0)) == []


@pytest.mark.parametrize(
    ("clock", "choices", "instant"),
    [
        (GAP, "'raise', 'earliest'", utc(2024, 3, 31, 0, 59, 59, 999_999)), (GAP, "'raise', 'latest'", utc(2024, 3, 31, 1)),
        (TWICE, "'earliest'", utc(2024, 10, 27, 0, 30)), (TWICE, "'latest'", utc(2024, 10, 27, 1, 30)),
        (datetime(2024, 10, 27, 2), "'earliest'", utc(2024, 10, 27)), (datetime(2024, 10, 27, 2), "'latest'", utc(2024, 10, 27, 1)),
        (datetime(2024, 3, 31, 1, 59, 59, 999_999), "'raise'", utc(2024, 3, 31, 0, 59, 59, 999_999)), (datetime(2024, 3, 31, 3), "'raise'", utc(2024, 3, 31, 1)),
        (datetime(2024, 10, 27, 1, 59, 59, 999_999), "'raise'", utc(2024, 10, 26, 23, 59, 59, 999_999)), (datetime(2024, 10, 27, 3), "'raise'", utc(2024, 10, 27, 2)),
        (datetime(2400, 3, 26, 2, 30), "'raise', 'latest'", utc(2400, 3, 26, 1)),
    ],
)  # fmt: skip
def test_times_around_a_change_are_those_that_are_asked_for(clock, choices, instant):
    frame = table(ts=("timestamp", [clock, None]))
    assert values(f"convert_zone(assume_zone(ts, 'Europe/Berlin', {choices}), 'UTC')", frame) == [instant, None]


@pytest.mark.parametrize(
    ("clock", "reason"),
    [
        (GAP, "the zone's clock never shows it; see assume_zone's nonexistent"),
        (TWICE, "the zone's clock shows it twice; see assume_zone's ambiguous"),
    ],
)
def test_a_time_that_a_clock_shows_twice_or_never_is_an_error_naming_it(clock, reason):
    frame = table(ts=("timestamp", [datetime(2024, 1, 1), None, clock]))
    with pytest.raises(EvaluationError) as error:
        values("ts AT TIME ZONE 'Europe/Berlin'", frame)
    assert (
        str(error.value)
        == f"ts AT TIME ZONE 'Europe/Berlin' has no result in row 2, for {clock}, Europe/Berlin: {reason}"
    )


@pytest.mark.parametrize(("sql", "row"), [("local_time(tz)", 1), ("ts AT TIME ZONE 'America/New_York'", 1), ("ts AT TIME ZONE 'Europe/Berlin'", 0), ("tz AT TIME ZONE 'UTC'", None)])  # fmt: skip
def test_no_clock_wraps_at_the_ends_of_int64(sql, row):
    if row is None:
        assert values(f"epoch_us({sql})", extremes()) == [-(2**63), 2**63 - 1, None]
        return
    with pytest.raises(EvaluationError, match=f"in row {row}, .*: the result is beyond the range of timestamps"):
        values(sql, extremes())


def test_types_name_the_zone():
    columns = {"ts": TIMESTAMP, "tz": BERLIN}
    assert typed("ts AT TIME ZONE 'Asia/Tokyo'", columns).dtype == parse_type("timestamp[Asia/Tokyo]")
    assert typed("convert_zone(tz, '+02:00')", columns).dtype == parse_type("timestamp[+02:00]")
    assert typed("tz AT TIME ZONE 'Asia/Tokyo'", columns).dtype == TIMESTAMP
    assert typed("ts AT TIME ZONE $zone", columns, {"zone": Literal("Asia/Tokyo", STRING)}).dtype == parse_type(
        "timestamp[Asia/Tokyo]"
    )


def test_a_zone_whose_parameter_has_no_value_yet_is_taken_for_utc():
    assert typed("ts AT TIME ZONE $zone", {"ts": TIMESTAMP}, {"zone": Parameter("zone", STRING)}).dtype == parse_type(
        "timestamp[UTC]"
    )


@pytest.mark.parametrize(
    ("sql", "message", "hint"),
    [
        ("ts AT TIME ZONE 'Europe/Berln'", "AT TIME ZONE does not know the time zone 'Europe/Berln'", "Did you mean 'Europe/Berlin'?"),
        ("convert_zone(tz, '+25:00')", "convert_zone does not know the time zone '+25:00'", "A zone is named as in the tz database: 'Europe/Berlin', '+01:00'."),
        ("ts AT TIME ZONE 'Europe'", "AT TIME ZONE does not know the time zone 'Europe'", "Did you mean 'Europe/Rome'?"),
        ("ts AT TIME ZONE '../zoneinfo/UTC'", "AT TIME ZONE does not know the time zone '../zoneinfo/UTC'", "A zone is named as in the tz database: 'Europe/Berlin', '+01:00'."),
        ("ts AT TIME ZONE 7", "AT TIME ZONE takes the name of a time zone, got int64", ""), ("ts AT TIME ZONE t", "AT TIME ZONE takes a constant or a $parameter as zone", ""),
        ("t AT TIME ZONE 'UTC'", "AT TIME ZONE takes a naive timestamp, got string", ""), ("assume_zone(tz, 'UTC')", "assume_zone takes a naive timestamp, got timestamp[Europe/Berlin]", ""),
        ("assume_zone(ts, 'UTC', 'first')", "assume_zone takes 'earliest', 'latest' or 'raise', got 'first'", ""),
        ("assume_zone(ts, 'UTC', nonexistent => 'latest')", "assume_zone needs ambiguous where nonexistent is given", "It is assume_zone(x, zone, ambiguous?, nonexistent?)."),
        ("local_time(ts)", "local_time takes a zoned timestamp, got timestamp", ""), ("convert_zone(ts, 'UTC')", "convert_zone takes a zoned timestamp, got timestamp", ""),
        ('CAST(ts AS "timestamp[Europe/Berln]")', "unknown time zone 'Europe/Berln'", "Did you mean 'Europe/Berlin'?"),
    ],
)  # fmt: skip
def test_zones_are_checked_before_the_run(sql, message, hint):
    with pytest.raises(InvalidExpression) as error:
        typed(sql, {"ts": TIMESTAMP, "tz": BERLIN, "t": STRING})
    assert error.value.message == message
    assert error.value.hint == hint or message.endswith("'Europe'")


@pytest.mark.parametrize(
    "sql",
    [
        "a AT TIME ZONE 'UTC'", "a AT TIME ZONE $zone", "f(a) AT TIME ZONE 'UTC'", "(a + b) AT TIME ZONE 'UTC'", "a + (b AT TIME ZONE 'UTC')", "(a AT TIME ZONE 'UTC') + b",
        "(a AT TIME ZONE 'UTC') AT TIME ZONE 'Asia/Tokyo'", "NOT a AT TIME ZONE 'UTC'", "(a AT TIME ZONE 'UTC') IS NULL", "(a AT TIME ZONE 'UTC') < b", "b < (a AT TIME ZONE 'UTC')",
        "(-a) AT TIME ZONE 'UTC'", "-(a AT TIME ZONE 'UTC')", "a * (b AT TIME ZONE 'UTC')", "(a AT TIME ZONE 'UTC') * b", "a || (b AT TIME ZONE 'UTC')", "a AT TIME ZONE 'UTC' AND b",
        "b IN (a AT TIME ZONE 'UTC')", "(a AT TIME ZONE 'UTC') IN (b)", "CASE WHEN a THEN b END AT TIME ZONE 'UTC'", "TIMESTAMP '2024-01-01 00:00:00' AT TIME ZONE 'UTC'",
        "INTERVAL '1 day' AT TIME ZONE 'UTC'", "NULL AT TIME ZONE 'UTC'", "CAST(a AS timestamp) AT TIME ZONE 'UTC'", "1 AT TIME ZONE 'UTC'", "(-1) AT TIME ZONE 'UTC'",
    ],
)  # fmt: skip
def test_at_time_zone_is_written_as_it_is_read(sql):
    written = to_sql(parse_expression(sql))
    assert parse_expression(written) == parse_expression(sql)
    assert written == sql or "(-1)" in sql


def test_a_date_has_a_midnight_in_a_zone_and_null_has_none():
    assert value("DATE '2024-07-01' AT TIME ZONE 'Europe/Berlin'") == utc(2024, 6, 30, 22)
    assert values("CAST(NULL AS timestamp) AT TIME ZONE 'Europe/Berlin'", ONE_ROW) == [None]
