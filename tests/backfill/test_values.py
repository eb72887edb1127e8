"""The values of a range, by steps."""

import pyarrow as pa
import pytest

from gpuetl import InvalidPipeline
from gpuetl.backfill.values import text_of, values_of
from gpuetl.types.data_types import DATE, INT64, STRING

TIMESTAMP = pa.timestamp("us")
ZONED = pa.timestamp("us", "UTC")


@pytest.mark.parametrize(
    ("dtype", "first", "last", "step", "expected"),
    [
        (DATE, "2026-02-27", "2026-03-01", None, ["2026-02-27", "2026-02-28", "2026-03-01"]),
        (DATE, "2026-01-01", "2026-01-01", "1d", ["2026-01-01"]),
        (DATE, "2026-01-01", "2026-01-20", "1 week", ["2026-01-01", "2026-01-08", "2026-01-15"]),
        (DATE, "2026-01-01", "2026-01-06", "2 days", ["2026-01-01", "2026-01-03", "2026-01-05"]),
        (DATE, "2025-11-30", "2026-03-31", "1 month", ["2025-11-30", "2025-12-30", "2026-01-30", "2026-02-28", "2026-03-30"]),
        (DATE, "2024-02-29", "2026-03-01", "1 year", ["2024-02-29", "2025-02-28", "2026-02-28"]),
        (DATE, "9999-12-30", "9999-12-31", "1d", ["9999-12-30", "9999-12-31"]),
        (DATE, "9999-12-01", "9999-12-31", "1 month", ["9999-12-01"]),
        (TIMESTAMP, "2026-01-01", "2026-01-01 06:00", "3h", ["2026-01-01 00:00:00", "2026-01-01 03:00:00", "2026-01-01 06:00:00"]),
        (TIMESTAMP, "2026-01-01 23:59:30", "2026-01-02", "30 seconds", ["2026-01-01 23:59:30", "2026-01-02 00:00:00"]),
        (ZONED, "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "1d", ["2026-01-01 00:00:00+00:00", "2026-01-02 00:00:00+00:00"]),
        (INT64, "-1", "2", None, ["-1", "0", "1", "2"]),
        (INT64, "1", "10", "4", ["1", "5", "9"]),
    ],
)  # fmt: skip
def test_values(dtype, first, last, step, expected):
    found = [text_of(value) for value in values_of("p", dtype, first, last, step)]
    assert found == expected
    assert [text_of(value) for text in found for value in values_of("p", dtype, text, text, None)] == found


@pytest.mark.parametrize(
    ("dtype", "first", "last", "step", "problem"),
    [
        (DATE, "2026-01-02", "2026-01-01", None, "--from 2026-01-02 comes after --to 2026-01-01"),
        (DATE, "2026-01-32", "2026-01-01", None, "parameter 'p': '2026-01-32' is not a valid date"),
        (DATE, "2026-01-01", "2026-01-02", "6h", "--step 6h is no number of whole days"),
        (DATE, "2026-01-01", "2026-01-02", "0d", "--step 0d is not a step"),
        (DATE, "2026-01-01", "2026-01-02", "1 fortnight", "--step 1 fortnight is not a step"),
        (DATE, "2026-01-01", "2026-01-02", "999999999999999 days", "is too long"),
        (DATE, "0001-01-01", "9999-01-01", "1d", "the range has more than 100,000 values"),
        (INT64, "1", "2", "1d", "--step 1d is not a whole number above 0"),
        (INT64, "1", "2", "0", "--step 0 is not a whole number above 0"),
        (STRING, "a", "b", None, "parameter 'p' is string, and a backfill takes a date, a timestamp or an integer"),
    ],
)
def test_ranges_that_are_refused(dtype, first, last, step, problem):
    with pytest.raises(InvalidPipeline) as caught:
        values_of("p", dtype, first, last, step)
    assert problem in str(caught.value)
