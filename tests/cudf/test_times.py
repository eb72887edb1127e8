"""Times in CUDA over the whole range of their types, around every change of a clock, and in any form of text."""

import random
from datetime import datetime

import numpy as np
import pyarrow as pa
import pytest

from cudf.differential import assert_same
from cudf.host_machine import COMPILER
from expressions.given import typed
from gpuetl.backends.zones import zone_clock
from gpuetl.expressions.functions.moments import UNITS
from gpuetl.expressions.types import parse_type, type_name

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")

LEAST, GREATEST = -(2**63), 2**63 - 1
YEAR = 31_556_952_000_000
ZONES = (
    "Europe/Berlin", "UTC", "America/New_York", "+05:30", "America/Havana", "Pacific/Apia", "Africa/Monrovia", "Asia/Hebron",
    "Asia/Kolkata", "Etc/GMT-14",
)  # fmt: skip
CLOCK = (
    "year(x)", "month(x)", "day(x)", "week(x)", "iso_year(x)", "isodow(x)", "dayofyear(x)", "last_day(x)", "days_in_month(x)",
    "is_leap_year(x)", "month_name(x)", *(f"date_trunc('{unit}', x)" for unit in UNITS),
)  # fmt: skip
OF_DAY = ("hour(x)", "minute(x)", "second(x)", "microsecond(x)", "to_date(x)")


def moments(seed: int, zone: str = "") -> list[int]:
    """Draw microseconds: of any year, of those of 4 digits, at the ends of int64, and around changes of a zone's clock."""
    draws = random.Random(seed)
    drawn = [draws.randint(LEAST, GREATEST) for _ in range(25)] + [draws.randint(-1970 * YEAR, 8030 * YEAR) for _ in range(25)]
    ends = [LEAST, GREATEST, LEAST + 43_200_000_000, GREATEST - 43_200_000_000, 0, -1]
    changes = zone_clock(zone).transitions.tolist() if zone else []
    for _ in range(40 * bool(changes)):
        cycles = draws.choice((0, 0, 1, 3, 700)) * 146_097 * 86_400 if zone_clock(zone).repeats else 0
        hours = draws.choice((0, 0, 1, 2, -1, -2, 5, -5, 24, -24, 14)) * 3600 + draws.choice((0, 0, 1800, -60))
        drawn.append((draws.choice(changes) + cycles + hours) * 1_000_000 + draws.choice((0, -1, 1, 500_000)))
    return [moment for moment in [*ends, *drawn] if LEAST <= moment <= GREATEST]


def column(dtype: str, seed: int) -> pa.Array:
    """Draw dates or timestamps, with a null."""
    if dtype == "date":
        days = np.random.default_rng(seed).integers(-(2**31), 2**31, 60).tolist()
        return pa.array([-(2**31), 2**31 - 1, None, 0, -1, 60, *days, *(d >> 10 for d in days)], pa.int32()).cast(pa.date32())
    arrow = parse_type(dtype)
    return pa.array([*moments(seed, arrow.tz or ""), None], pa.int64()).cast(arrow)


def check(sql: str, *types: str) -> None:
    """Compare the engines over drawn columns `x`, `y`."""
    columns = [column(dtype, seed) for seed, dtype in enumerate(types)]
    rows = min(map(len, columns))
    table = pa.table({name: drawn[:rows] for name, drawn in zip("xy", columns, strict=False)})
    assert_same(typed(sql, {field.name: field.type for field in table.schema}), table)


@pytest.mark.parametrize("sql", CLOCK)
def test_parts_and_starts_of_any_date(sql):
    check(sql, "date")


@pytest.mark.parametrize("sql", [*CLOCK, *OF_DAY])
def test_parts_and_starts_of_any_timestamp(sql):
    check(sql, "timestamp")
