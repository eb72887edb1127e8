"""may_hold: whether statistics leave room for a row that a predicate accepts."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import col, expr
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import Scope
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.row_group_limits import is_prunable, may_hold
from gpuetl.types.data_types import parse_type

COLUMNS = {
    "i": "int64", "n": "int8", "f": "float64", "s": "string", "d": "date", "t": "timestamp",
    "z": "timestamp[UTC]", "b": "bool",
    "none": "int64", "unknown": "int64", "m": "decimal(10,2)", "u": "uint64",
}  # fmt: skip
RANGES = {
    "i": (10, 20, 0), "n": (1, 5, 2), "f": (-1.5, 2.5, 0), "s": ("b", "d", 1),
    "d": (date(2024, 1, 10), date(2024, 1, 20), 0),
    "t": (datetime(2024, 1, 10), datetime(2024, 1, 20), 0),
    "z": (datetime(2024, 1, 10), datetime(2024, 1, 20), 0),
    "b": (False, False, 0), "none": (None, None, 4),
    "m": (Decimal("1.50"), Decimal("2.50"), 0), "u": (2**63, 2**64 - 1, 0),
}  # fmt: skip


SCOPE = Scope({name: parse_type(dtype) for name, dtype in COLUMNS.items()}, {})


def typed(text):
    return resolve(expr(text).syntax, SCOPE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i = 9", False), ("i = 10", True), ("i = 20", True), ("i = 21", False), ("15 = i", True),
        ("21 = i", False),
        ("i < 10", False), ("i < 11", True), ("i <= 10", True), ("i <= 9", False),
        ("i > 20", False), ("i > 19", True), ("i >= 20", True), ("i >= 21", False),
        ("10 > i", False), ("11 > i", True), ("20 < i", False), ("20 <= i", True), ("21 <= i", False),
        ("9 >= i", False),
        ("i IN (1, 2)", False), ("i IN (1, 15)", True), ("i IN (1, NULL)", False), ("i = NULL", False),
        ("i IS NULL", False), ("n IS NULL", True), ("none IS NULL", True),
        ("i IS NOT NULL", True), ("n IS NOT NULL", True), ("none IS NOT NULL", False),
        ("none = 1", False), ("none < 1", False), ("none IN (1)", False),
        ("n > 4", True), ("n > 5", False), ("n > 300", False), ("n = 300", False),
        ("f > 2.5", False), ("f >= 2.5", True), ("f < -1.5", False), ("f = 0", True), ("f = -0.0", True),
        ("s = 'a'", False), ("s = 'c'", True), ("s > 'd'", False), ("s >= 'd'", True),
        ("s IN ('a', 'e')", False),
        ("d > DATE '2024-01-20'", False), ("d >= DATE '2024-01-20'", True),
        # A date is its midnight.
        ("d = TIMESTAMP '2025-01-01 00:00:00'", False), ("d = TIMESTAMP '2024-01-15 00:00:00'", True),
        ("d > TIMESTAMP '2024-01-20 00:00:00'", False), ("d >= TIMESTAMP '2024-01-20 00:00:00'", True),
        ("d < TIMESTAMP '2024-01-10 00:00:00'", False), ("d < TIMESTAMP '2024-01-10 00:00:01'", True),
        ("t < TIMESTAMP '2024-01-10 00:00:00'", False),
        ("t = TIMESTAMP '2024-01-10 00:00:00'", True), ("b = true", False), ("b = false", True),
        ("m > 2.5", False), ("m >= 2.50", True), ("m < 1.501", True), ("m < 1.5", False), ("m = 2.505", False), ("m = 2.495", True), ("m IN (1, 2.51)", False), ("m = 2", True),
          ("u > -1", True), ("u < -1", False), ("u = 9223372036854775807", False),
    ],
)  # fmt: skip
def test_what_the_ranges_exclude_is_not_held(text, expected):
    assert is_prunable(typed(text))
    assert may_hold(typed(text), RANGES, rows=4) is expected


@pytest.mark.parametrize(
    "text",
    [
        "i <> 15", "NOT (i > 5)", "i + 1 = 3", "i = n", "i > 99 OR n > 99", "f * 2 > 99", "is_nan(f)",
        "unknown = 5", "unknown IS NULL",
        "unknown IS NOT NULL", "i = CAST(99.5 AS float64)", "i > 9e99",
        "CAST(i AS string) = 'a'", "b", "NOT b",
    ],
)  # fmt: skip
def test_of_everything_else_anything_may_be_held(text):
    assert may_hold(typed(text), RANGES, rows=4)


def test_times_that_python_does_not_compare_may_hold_anything():
    later = (col("z") > datetime(2025, 1, 1, tzinfo=UTC)).syntax
    assert may_hold(resolve(later, SCOPE), RANGES, rows=4)


@pytest.mark.parametrize(("text", "expected"), [("i IS NOT NULL", True), ("i IS NULL", True), ("i = 5", False)])
def test_the_rows_of_a_csv_file_are_not_known(text, expected):
    assert may_hold(typed(text), {"i": (None, None, 1)}, rows=-1) is expected


@pytest.mark.parametrize(
    ("unit", "numbers", "expected"),
    [
        ("us", [-1, 5, None], (datetime(1969, 12, 31, 23, 59, 59, 999999, UTC), datetime(1970, 1, 1, 0, 0, 0, 5, UTC), 1)),
        ("ms", [-1, 5], (datetime(1969, 12, 31, 23, 59, 59, 999000, UTC), datetime(1970, 1, 1, 0, 0, 0, 5000, UTC), 0)),
        ("us", [253_402_300_799_999_999] * 2, (datetime.max.replace(tzinfo=UTC),) * 2 + (0,)),
        ("us", [0, 253_402_300_800_000_000], None),
        ("us", [-(2**63), 2**63 - 1], None),
        ("ms", [-(2**63), 2**63 - 1], None),
        ("ns", [0, 1], None),
        ("us", [None, None], (None, None, 2)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu"])
def test_the_range_of_instants_is_that_of_their_statistics(tmp_path, unit, numbers, expected, zone):
    """Instants that Python has not, and nanoseconds, have no range."""
    pq.write_table(pa.table({"z": pa.array(numbers, pa.timestamp(unit, zone))}), tmp_path / "t.parquet")
    (group,) = Dataset("t", "parquet", tmp_path / "t.parquet").row_groups
    assert group.ranges.get("z") == expected


@pytest.mark.parametrize(
    ("unit", "numbers", "expected"),
    [
        ("s", [-1, 5, None], (timedelta(seconds=-1), timedelta(seconds=5), 1)),
        ("us", [-(2**63), 2**63 - 1], (timedelta(microseconds=-(2**63)), timedelta(microseconds=2**63 - 1), 0)),
        ("ms", [0, 2**63 - 1], None),
        ("ns", [0, 1000], None),
    ],
)
def test_the_range_of_durations_is_in_their_unit(tmp_path, unit, numbers, expected):
    """Which the statistics do not have."""
    pq.write_table(pa.table({"d": pa.array(numbers, pa.duration(unit))}), tmp_path / "t.parquet")
    (group,) = Dataset("t", "parquet", tmp_path / "t.parquet").row_groups
    assert group.ranges.get("d") == expected
