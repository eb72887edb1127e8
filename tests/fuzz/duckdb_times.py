"""Dates, timestamps, durations and zones in DuckDB's SQL; timestamps and durations are BIGINT microseconds there."""

from fuzz.duckdb_text import Text, clock, constant_of, moment
from fuzz.duckdb_types import sql_type
from gpuetl.expressions.ir import Call
from gpuetl.types.calendar_intervals import CALENDAR
from gpuetl.types.data_types import DATE, TIMESTAMP, is_floating
from gpuetl.types.time_zones import fixed_offset

SECOND = 1_000_000
HOUR, DAY = 3600 * SECOND, 86_400 * SECOND
LENGTHS = {
    "microsecond": 1, "millisecond": 1000, "second": SECOND, "minute": 60 * SECOND, "hour": HOUR, "day": DAY,
}  # fmt: skip
MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200, "millennium": 12_000}

TIME_MACROS = """
CREATE MACRO days_of(x) AS date_diff('day', DATE '1970-01-01', CAST(x AS DATE));
CREATE MACRO months_of(x) AS year(x) * 12 + month(x) - 1;
CREATE MACRO past(x, length) AS ((CAST(x AS HUGEINT) % length) + length) % length;
CREATE MACRO start_of(x, length) AS CAST(CAST(x AS HUGEINT) - past(x, length) AS BIGINT);
CREATE MACRO checked(wrong, x) AS CASE WHEN wrong THEN error('no such moment') ELSE x END;
CREATE MACRO picked(choice, first, last) AS
    CASE choice WHEN 'earliest' THEN first WHEN 'latest' THEN last ELSE error('no one moment') END;
"""


def part(text: str) -> Text:
    """A part of a date or of a clock."""
    return lambda call, x: f"CAST({text.format(moment(x, call.args[0].dtype))} AS {sql_type(call.dtype)})"


def epoch(call: Call, x: str) -> str:
    """Seconds with their fraction."""
    if call.args[0].dtype == DATE:
        return f"(CAST(days_of({x}) AS DOUBLE) * 86400)"
    return f"(CAST({x} AS DOUBLE) / 1000000)"


def measured(length: int) -> Text:
    """A number of units, in microseconds; floats to whole ones, half to even."""

    def text(call: Call, x: str) -> str:
        if is_floating(call.args[0].dtype):
            return f"CAST(round_even({x} * {length}, 0) AS BIGINT)"
        return f"CAST(CAST({x} AS HUGEINT) * {length} AS BIGINT)"

    return text


def make_timestamp(year: str, month: str, day: str, hour: str, minute: str, second: str = "CAST(0 AS DOUBLE)") -> str:
    """DuckDB takes 24 hours and 60 seconds as well; a null part makes null of any others."""
    known = " AND ".join(f"{part} IS NOT NULL" for part in (year, month, day, hour, minute, second))
    wrong = f"{hour} NOT BETWEEN 0 AND 23 OR {second} < 0 OR {second} >= 60"
    return (
        f"checked({known} AND ({wrong}), epoch_us(make_timestamp({year}, {month}, {day}, {hour}, {minute}, {second})))"
    )


def make_timestamptz(call: Call, *args: str) -> str:
    """The clock of a zone, which must show it once."""
    return instant(make_timestamp(*args[:-1]), constant_of(call, 6), "'raise'", "'raise'")


def make_time(call: Call, hour: str, minute: str, second: str) -> str:
    """DuckDB takes 60 seconds as well; a null part makes null of any others."""
    known = " AND ".join(f"{part} IS NOT NULL" for part in (hour, minute, second))
    wrong = f"{hour} NOT BETWEEN 0 AND 23 OR {minute} NOT BETWEEN 0 AND 59 OR {second} < 0 OR {second} >= 60 OR isnan({second})"
    micros = f"CAST(round_even({second} * {SECOND}, 0) AS BIGINT) + ({hour} * 3600 + {minute} * 60) * {SECOND}"
    return f"(CASE WHEN {known} THEN checked({wrong} OR {micros} >= {DAY}, {micros}) END)"


def date_sub(call: Call, unit: str, a: str, b: str) -> str:
    """Whole units, as DuckDB has them."""
    dtype = call.args[1].dtype
    if getattr(dtype, "tz", None) and LENGTHS.get(constant_of(call, 0), DAY) < DAY:
        dtype = TIMESTAMP
    return f"date_sub('{constant_of(call, 0)}', {', '.join(f'CAST({moment(x, dtype)} AS TIMESTAMP)' for x in (a, b))})"


def add_days(call: Call, x: str, n: str) -> str:
    """A date stays one."""
    if call.dtype == DATE:
        return f"(DATE '1970-01-01' + CAST(days_of({x}) + {n} AS INTEGER))"
    later = f"CAST(CAST({clock(x, call.dtype)} AS HUGEINT) + CAST({n} AS HUGEINT) * {DAY} AS BIGINT)"
    return shown_at(later, call)


def shown_at(later: str, call: Call) -> str:
    """When a clock shows this: the later time of two, and of none as much later as it was turned forward."""
    return instant(later, call.dtype.tz, "'latest'", "'shifted'") if call.dtype.tz else later


def date_add(call: Call, x: str, interval: str) -> str:
    """As DuckDB has it, on a naive clock."""
    return shown_at(f"epoch_us({moment(x, call.dtype)} + {interval})", call)


def add_months(call: Call, x: str, n: str) -> str:
    """On the month's last day where it has no such day, as DuckDB has it too; to no day any number may be added."""
    later = f"({moment(x, call.dtype)} + to_months(CAST(CASE WHEN {x} IS NOT NULL THEN {n} END AS INTEGER)))"
    return f"CAST({later} AS DATE)" if call.dtype == DATE else shown_at(f"epoch_us({later})", call)


def date_trunc(call: Call, unit: str, x: str) -> str:
    """The start of the unit on the clock; what is smaller than a day keeps the offset."""
    dtype, name = call.dtype, constant_of(call, 0)
    if dtype == DATE:
        return x if LENGTHS.get(name, DAY) < DAY else f"CAST(date_trunc('{name}', {x}) AS DATE)"
    if LENGTHS.get(name, DAY) < DAY:
        return f"CAST(CAST({x} AS HUGEINT) - past({clock(x, dtype)}, {LENGTHS[name]}) AS BIGINT)"
    start = f"epoch_us(CAST(date_trunc('{name}', {moment(x, dtype)}) AS TIMESTAMP))"
    return instant(start, dtype.tz, "'earliest'", "'latest'") if dtype.tz else start


def date_diff(call: Call, unit: str, a: str, b: str) -> str:
    """What begins after a and up to b; DuckDB counts other weeks."""
    name, dtype = constant_of(call, 0), call.args[1].dtype
    one, other = moment(a, dtype), moment(b, dtype)
    if name in MONTHS:
        return f"CAST(months_of({other}) // {MONTHS[name]} - months_of({one}) // {MONTHS[name]} AS BIGINT)"
    if name == "week":
        return f"((days_of(date_trunc('week', {other})) - days_of(date_trunc('week', {one}))) // 7)"
    if name == "day" or dtype == DATE:
        days = f"CAST(days_of({other}) - days_of({one}) AS HUGEINT)"
        return f"CAST({days} * {DAY // LENGTHS[name]} AS BIGINT)"
    x, y = (f"(CAST({v} AS HUGEINT) - past({clock(v, dtype)}, {LENGTHS[name]}))" for v in (a, b))
    return f"CAST(CAST({y} - {x} AS BIGINT) // {LENGTHS[name]} AS BIGINT)"


def time_bucket(call: Call, width: str, x: str, origin: str = "CAST(0 AS BIGINT)") -> str:
    """Counted from the origin, down; months on the clock."""
    if call.args[0].dtype == CALENDAR:
        first = origin if len(call.args) > 2 else "DATE '1970-01-01'"
        start = f"time_bucket({width}, CAST({moment(x, call.dtype)} AS TIMESTAMP), CAST({first} AS TIMESTAMP))"
        if call.dtype == DATE:
            return f"CAST({start} AS DATE)"
        return (
            instant(f"epoch_us({start})", call.dtype.tz, "'earliest'", "'latest'")
            if call.dtype.tz
            else f"epoch_us({start})"
        )
    start = f"CAST(CAST({x} AS HUGEINT) - past(CAST({x} AS HUGEINT) - {origin}, {width}) AS BIGINT)"
    return f"checked({x} IS NOT NULL AND {origin} IS NOT NULL AND {width} <= 0, {start})"


def assume_zone(call: Call, x: str, zone: str, ambiguous: str = "'raise'", nonexistent: str = "'raise'") -> str:
    """A time that the clock shows twice or never is an error unless a choice is made."""
    return instant(x, constant_of(call, 1), ambiguous, nonexistent)


def instant(x: str, zone: str, ambiguous: str, nonexistent: str) -> str:
    """Return the microseconds at which the zone's clock shows x: by its offsets a day before and a day after.

    The clock changes once at most in two days, at a whole hour of UTC.
    """
    if (offset := fixed_offset(zone)) is not None:
        return f"({x} - {offset * SECOND})"
    before, after = (f"({x} - {_ahead(f'({x} {sign} {DAY})', zone)})" for sign in "-+")
    change = f"start_of({before}, {HOUR})"
    never = before if nonexistent == "'shifted'" else f"picked({nonexistent}, {change} - 1, {change})"
    return (
        f"(CASE WHEN {before} = {after} THEN {before} "
        f"WHEN {before} < {after} AND {_shows(before, x, zone)} AND {_shows(after, x, zone)} "
        f"THEN picked({ambiguous}, {before}, {after}) "
        f"WHEN {_shows(before, x, zone)} THEN {before} WHEN {_shows(after, x, zone)} THEN {after} "
        f"WHEN {x} IS NOT NULL THEN {never} END)"
    )


def _ahead(utc: str, zone: str) -> str:
    return f"({_clock_at(utc, zone)} - {utc})"


def _shows(utc: str, x: str, zone: str) -> str:
    return f"{_clock_at(utc, zone)} = {x}"


def _clock_at(utc: str, zone: str) -> str:
    return f"epoch_us(timezone('{zone}', timezone('UTC', make_timestamp({utc}))))"


def at_time_zone(call: Call, x: str, zone: str) -> str:
    """Naive to zoned, zoned to naive."""
    name, dtype = constant_of(call, 1), call.args[0].dtype
    if not dtype.tz:
        return instant(x, name, "'raise'", "'raise'")
    offset = fixed_offset(name)
    return _clock_at(x, name) if offset is None else f"({x} + {offset * SECOND})"


TIMES: dict[str, Text] = {
    **{
        name: part(name + "({0})")
        for name in ("year", "quarter", "month", "week", "day", "dayofweek", "isodow", "dayofyear", "hour", "minute", "second")
    },
    **{name: part(name + "({0})") for name in ("decade", "century", "millennium", "yearweek", "julian")},
    "era": part("era({0})"),
    "iso_year": part("isoyear({0})"),
    "millisecond": part("microsecond({0}) % 1000000 // 1000"),
    "microsecond": part("microsecond({0}) % 1000000"),
    "day_name": part("dayname({0})"),
    "month_name": part("monthname({0})"),
    "last_day": part("last_day({0})"),
    "days_in_month": part("day(last_day({0}))"),
    "is_leap_year": part("dayofyear(make_date(year({0}), 12, 31)) = 366"),
    "to_date": part("{0}"),
    "epoch": epoch,
    "epoch_ms": "CAST((CAST({0} AS HUGEINT) - past({0}, 1000)) // 1000 AS BIGINT)",
    "epoch_us": "{0}",
    "epoch_ns": "CAST(CAST({0} AS HUGEINT) * 1000 AS BIGINT)",
    "make_time": make_time,
    "to_timestamp": measured(SECOND),
    "date_sub": date_sub,
    "weeks": measured(7 * DAY),
    "make_date": "make_date({0}, {1}, {2})",
    "make_timestamp": lambda call, *parts: make_timestamp(*parts),
    "from_epoch": measured(SECOND),
    "from_epoch_ms": measured(1000),
    "from_epoch_us": "{0}",
    "make_timestamptz": make_timestamptz,
    **{f"{unit}s": measured(length) for unit, length in LENGTHS.items()},
    "date_add": date_add,
    "add_days": add_days,
    "add_months": add_months,
    "date_trunc": date_trunc,
    "date_diff": date_diff,
    "time_bucket": time_bucket,
    "assume_zone": assume_zone,
    "at_time_zone": at_time_zone,
    "local_time": lambda call, x: clock(x, call.args[0].dtype),
    "convert_zone": "{0}",
}  # fmt: skip
