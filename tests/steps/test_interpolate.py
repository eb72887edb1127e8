"""interpolate: values on the line between neighbours, by rows, times and numbers, and never beyond the ends."""

from datetime import date, datetime

import pytest

from gpuetl import col, expr
from tables import INF, INT64_MAX, INT64_MIN, NAN, table, write_source

N = None


def test_lines_by_rows_times_and_numbers(pipeline, check):
    """A row without its `by` gets null, and ends no line; distances of integers may be 2^64 - 1."""
    types = {"k": "string", "id": "int64", "x": "int64", "t": "timestamp", "d": "date", "n": "int64", "f": "float64"}
    t, d = (lambda hour: datetime(2026, 1, 1, hour)), (lambda day: date(2026, 1, day))
    rows = [
        ("a", 1, N, t(0), d(1), 0, 0.0), ("a", 2, 10, t(1), d(1), INT64_MIN, 1.0), ("a", 3, N, t(2), d(2), 0, 1.0),
        ("a", 4, N, N, N, N, NAN), ("a", 5, 20, t(5), d(11), INT64_MAX, INF), ("a", 6, N, t(6), d(12), INT64_MAX, INF),
        ("a", 7, N, t(5), d(11), 5, 2.0), ("a", 8, 50, t(7), d(11), INT64_MAX, INF), ("a", 9, 1, N, N, N, N),
        ("b", 1, N, t(1), d(1), 1, 1.0), ("b", 2, 3, t(2), d(1), 1, 1.0), (N, 1, N, N, N, N, N),
    ]  # fmt: skip
    calls = {
        "rows": "interpolate(x)", "time": "interpolate(x, by => t)", "day": "interpolate(x, by => d)",
        "number": "interpolate(x, by => n)", "float": "interpolate(x, by => f)",
    }  # fmt: skip
    found = [
        (N, N, N, N, N), (10.0,) * 5, (10 + 10 * (1 / 3), 12.5, 11.0, 15.0, 10.0), (10 + 10 * (2 / 3), N, N, N, N),
        (20.0,) * 5, (30.0, 35.0, N, 20.0, 20.0), (40.0, 20.0, 20.0, N, N), (50.0,) * 5, (1.0,) * 5,
        (N,) * 5, (3.0,) * 5, (N,) * 5,
    ]  # fmt: skip
    made = write_source(pipeline, "s", table(types, *rows)).window("k", "id", **{n: expr(c) for n, c in calls.items()})
    expected = [(*row[:2], *values) for row, values in zip(rows, found, strict=True)]
    check(
        made.select("k", "id", *calls),
        table({"k": "string", "id": "int64", **dict.fromkeys(calls, "float64")}, *expected),
    )


@pytest.mark.parametrize("rows", [[], [(1, N)], [(1, 2)]])
def test_few_rows(pipeline, check, rows):
    made = write_source(pipeline, "s", table({"t": "int64", "x": "int8"}, *rows)).window(
        (), "t", y=col("x").interpolate()
    )
    expected = [(*row, None if row[1] is None else float(row[1])) for row in rows]
    check(made, table({"t": "int64", "x": "int8", "y": "float64"}, *expected))
