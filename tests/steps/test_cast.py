"""cast: columns' types changed, exactly or with an error."""

from datetime import date, datetime
from decimal import Decimal

import pytest

from gpuetl import RunFailed
from tables import NAN, table


@pytest.mark.parametrize(
    ("before", "after", "values", "expected"),
    [
        ("int64", "int8", [1, None, -128], [1, None, -128]),
        ("int64", "float64", [1, None, 2**53], [1.0, None, 2.0**53]),
        ("float64", "int64", [1.0, None, -0.0], [1, None, 0]),
        ("float64", "float32", [1.5, None, NAN], [1.5, None, NAN]),
        ("string", "int64", ["1", None, "-9223372036854775808"], [1, None, -(2**63)]),
        ("int64", "string", [1, None, -2], ["1", None, "-2"]),
        ("string", "date", ["2024-02-29", None, "1969-12-31"], [date(2024, 2, 29), None, date(1969, 12, 31)]),
        ("date", "timestamp", [date(2024, 2, 29), None], [datetime(2024, 2, 29), None]),
        ("int64", "decimal(21,2)", [1, None], [Decimal("1.00"), None]),
        ("null", "int64", [None, None, None], [None, None, None]),
        ("int64", "int8", [None, None, None], [None, None, None]),
        ("int64", "int8", [], []),
        ("int64", "int8", [5], [5]),
    ],
)
def test_cast_is_exact_and_keeps_null(source, check, before, after, values, expected):
    t = source(table({"k": "int64", "x": before}, *enumerate(values)))
    check(t.cast(x=after), table({"k": "int64", "x": after}, *enumerate(expected)), ordered=True)


@pytest.mark.parametrize(
    ("before", "after", "value"),
    [
        ("int64", "int8", 128),
        ("float64", "int64", 1.5),
        ("float64", "int64", NAN),
        ("float64", "int64", 1e300),
        ("int64", "float64", 2**53 + 1),
        ("string", "int64", "x"),
        ("string", "date", "2023-02-29"),
    ],
)
def test_a_cast_that_loses_is_an_error_with_the_value_and_the_column(source, failure, before, after, value):
    t = source(table({"x": before}, (None,), (None,), (None,), (value,)))
    message = failure(t.cast(x=after), RunFailed)
    assert message.startswith("stage 'result', step 1: column 'x': CAST(x AS ")
    assert str(value) in message


def test_a_cast_of_an_unknown_column_is_refused(source, problem):
    assert "unknown column 'z'" in problem(source(table({"x": "int64"})).cast(z="int8"))
