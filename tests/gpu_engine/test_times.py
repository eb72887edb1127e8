"""Times in CUDA over the whole range of their types, around every change of a clock, and in any form of text."""

import random

import pyarrow as pa
import pytest

from expressions.evaluation import typed, values
from gpu_engine.differential import assert_same
from gpu_engine.host_machine import COMPILER
from gpuetl.engines.cudf.codegen.row_kernels import headers
from gpuetl.engines.zones import zone_clock
from gpuetl.types.data_types import parse_type
from left_to_full import after

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")

LEAST, GREATEST = -(2**63), 2**63 - 1
SECOND, DAY = 1_000_000, 86_400_000_000
YEAR_0, YEAR_10_000 = -62_167_219_200 * SECOND, 253_402_300_800 * SECOND
ZONES = ("Europe/Berlin", "Pacific/Apia", "Africa/Monrovia", "+05:30", "Asia/Hebron")
"""Clocks that change by a rule, with a day that never was, ahead by seconds, never changed, and changed most often."""

PARTS = (
    "((year(x) * 100 + month(x)) * 100 + day(x)) * 10 + isodow(x)", "(iso_year(x) * 100 + week(x)) * 1000 + dayofyear(x)",
    "is_leap_year(x)", "last_day(x)", "day_name(x) || month_name(x)", "date_trunc('year', x)", "date_trunc('quarter', x)",
    "date_trunc('week', x)", "date_trunc('hour', x)", "add_months(x, n)", "add_days(x, n)",
    "x + INTERVAL '1 month'", "x - INTERVAL '5 years'", "time_bucket(INTERVAL '7 months', x, DATE '2000-03-01')",
)  # fmt: skip
OF_ZONES = (
    "(day(x) * 100 + hour(x)) * 100 + minute(x)", "date_trunc('day', x)", "date_trunc('month', x)", "date_trunc('minute', x)",
    "date_diff('day', x, y)", "date_diff('hour', x, y)", "local_time(x)", "TRY_CAST(x AS string)", "strftime(x, '%F%z')",
    "x + INTERVAL '1 month'", "add_months(x, n)", "add_days(x, n)", "time_bucket(INTERVAL '5 months', x)",
)  # fmt: skip
OF_MOMENTS = (
    "x - y", "x + k", "k - k * n", "d - d2", "d + n", "n + d", "d - n", "x + n * INTERVAL '1 year'", "d - INTERVAL '1 month 40 days -3 hours'", "d + k", "d = x", "epoch(x)", "epoch(d)", "epoch_ms(x)", "epoch_us(d)", "date_diff('week', d, d2)",
    "date_diff('second', d, d2)", "date_diff('millisecond', x, y)", "time_bucket(INTERVAL '7 hours', x, TIMESTAMP '1969-12-31 13:00:00.5')",
    "make_date(n, 2, 29)", "make_timestamp(n, 1, 31, 23, 59, f)", "days(n)", "days(f)", "from_epoch(f)", "microseconds(f)",
    "CAST(x AS date)", "TRY_CAST(d AS timestamp)", "CAST(k AS int64)", "TRY_CAST(d AS string)", "strftime(x, '%G %d')",
)  # fmt: skip
FORMS = (
    "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S%z", "%A, %d %B %Y, %I.%M %p", "%a%d%b%y", "%G-W%V-%u", "%G %V %a", "%w%u%Y%j",
    "%y%Y%m%d", "%d%b%B%m%Y%H%I%p", "日%Y😀%m-%d 50%%", "%Y %j %d",
)  # fmt: skip


def moments(draws: random.Random, zone: str = "") -> pa.Array:
    """Draw timestamps: of any year, of years of 4 digits, at the ends of int64, around changes of a clock, and null."""
    drawn = [LEAST, GREATEST, LEAST + DAY // 2, GREATEST - DAY // 2, 0, -1]
    drawn += [draws.randint(LEAST, GREATEST) for _ in range(20)]
    drawn += [draws.randint(YEAR_0 - DAY, YEAR_10_000 + DAY) for _ in range(20)]
    clock = zone_clock(zone or "UTC")
    for change in draws.choices(clock.transitions.tolist(), k=40) if len(clock.transitions) else ():
        cycles = draws.choice((0, 0, 1, 700)) * 146_097 * 86_400 * clock.repeats
        beside = draws.choice((0, 1, 2, -1, -2, 5, -5, 24, -24, 14)) * 3600 + draws.choice((0, 0, 1800, -60))
        drawn.append((change + cycles + beside) * SECOND + draws.choice((0, -1, 1, 500_000)))
    shuffled = draws.sample(drawn, len(drawn))
    return pa.array([*(m for m in shuffled if LEAST <= m <= GREATEST), None], pa.int64()).cast(pa.timestamp("us"))


def dates(draws: random.Random) -> pa.Array:
    """Draw dates of any year and of years near ours, and a null."""
    days = [
        -(2**31),
        2**31 - 1,
        0,
        -1,
        *(draws.randint(-(2**31), 2**31 - 1) >> draws.choice((0, 11)) for _ in range(60)),
    ]
    return pa.array([*draws.sample(days, len(days)), None], pa.int32()).cast(pa.date32())


def numbers(draws: random.Random) -> pa.Array:
    """Draw integers of any size."""
    return pa.array([draws.randint(LEAST, GREATEST) >> draws.choice((0, 1, 12, 24, 40, 52, 60)) for _ in range(64)])


def floats(draws: random.Random) -> pa.Array:
    """Draw floats, some of them beyond what a duration holds."""
    special = (1e300, float("nan"), float("-inf"), -0.0, 2.0**63, -(2.0**63), 59.9999999, 5e-7)
    return pa.array([draws.choice((draws.uniform(-1e13, 1e13), draws.uniform(0, 70), *special)) for _ in range(64)])


def check(sql: str, **columns: pa.Array) -> None:
    """Compare the engines over the columns that an expression names."""
    rows = min(map(len, columns.values()))
    table = pa.table({name: column[:rows] for name, column in columns.items()})
    assert_same(typed(sql, {field.name: field.type for field in table.schema}), table)


@pytest.mark.parametrize("sql", PARTS)
@pytest.mark.parametrize("drawn", [dates, moments])
def test_calendar_of_any_year(drawn, sql):
    draws = random.Random(sql)
    check(sql, x=drawn(draws), n=numbers(draws))


@pytest.mark.part(3)
@pytest.mark.parametrize("sql", OF_MOMENTS)
def test_moments_and_durations_of_any_size(sql):
    draws = random.Random(sql)
    spans = numbers(draws).cast(pa.duration("us"))
    days = {"d": dates(draws), "d2": dates(draws)}
    check(sql, x=moments(draws), y=moments(draws), k=spans, n=numbers(draws), f=floats(draws), **days)


@pytest.mark.part(4)
@pytest.mark.parametrize("zone", ZONES[:3])
@pytest.mark.parametrize("sql", OF_ZONES)
def test_clocks_of_zones_around_their_changes(zone, sql):
    draws = random.Random(zone)
    zoned = {name: moments(draws, zone).cast(parse_type(f"timestamp[{zone}]")) for name in "xy"}
    check(sql.replace("%F", "%Y-%m-%d %H:%M:%S.%f"), n=numbers(draws), **zoned)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("choices", ["", ", 'earliest', 'latest'", ", 'latest', 'earliest'"])
def test_instants_of_what_a_clock_shows_around_its_changes(zone, choices):
    check(f"assume_zone(x, '{zone}'{choices})", x=moments(random.Random(zone), zone))


@pytest.mark.parametrize(("sql", "tables"), [("hour(x)", 1), ("x < y", 0), ("convert_zone(x, 'Asia/Tokyo')", 0), ("epoch_us(x)", 0), ("CAST(x AS string)", 1)])  # fmt: skip
def test_a_kernel_has_the_tables_of_the_zones_whose_clocks_it_reads(sql, tables):
    zoned = parse_type("timestamp[Europe/Berlin]")
    assert headers([typed(sql, {"x": zoned, "y": zoned})]).count("TABLE int64_t zone_") == tables


def mangled(text: str, draws: random.Random) -> str:
    """Change a text in a few places, or not at all."""
    letters = list(text)
    for _ in range(draws.choice((0, 0, 1, 1, 2))):
        place = draws.randrange(len(letters) + 1)
        letters[place : place + draws.choice((0, 1))] = draws.choice([*"0123456789-+:.TZ /,ñaPM", ""])
    return "".join(letters)


@pytest.mark.part(3)
@pytest.mark.parametrize(
    ("function", "form"),
    after(
        len(FORMS) + 3,
        [(function, form) for function in ("try_strptime", "strptime") for form in FORMS],
        "formats of strptime, which reads as try_strptime does",
    ),
)
def test_texts_are_read_by_a_format_or_not(form, function):
    draws = random.Random(form)
    drawn = pa.array([draws.randint(YEAR_0, YEAR_10_000 - 1) for _ in range(30)])
    written = values(
        f"strftime(x, '{form}')", pa.table({"x": drawn.cast(pa.timestamp("us", "UTC" if "%z" in form else None))})
    )
    check(f"{function}(x, '{form}')", x=pa.array([*(mangled(text, draws) for text in written * 5), None, "", "ñ"]))


@pytest.mark.part(2)
@pytest.mark.parametrize("target", ["date", "timestamp", '"timestamp[UTC]"'])
@pytest.mark.parametrize("cast", ["CAST", "TRY_CAST"])
def test_texts_are_cast_from_iso_forms_or_not(cast, target):
    draws = random.Random(1)
    days = (
        "2020-02-29",
        "2021-02-29",
        "1969-12-31",
        "0000-01-01",
        "9999-12-31",
        "2013-3-09",
        "2024-04-31",
        "2024-13-01",
    )
    hours = (
        "10",
        "23:59",
        "24:00",
        "23:59:59",
        "23:59:60",
        "00:00:00.1",
        "12:34:56.123456",
        "12:34:56.1234567",
        "1000",
        "",
    )
    zones = ("", "Z", "+02", "-0330", "+05:30", "+24", "-00:00", "+5", "z", "+02:", " Z", "Z+02")
    forms = [draws.choice(days) + draws.choice(" Tx") + draws.choice(hours) + draws.choice(zones) for _ in range(150)]
    check(f"{cast}(x AS {target})", x=pa.array([*days, *forms, *(mangled(text, draws) for text in forms), None, ""]))
