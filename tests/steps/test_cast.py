"""cast: columns' types changed, exactly or with an error."""

from datetime import date, datetime
from decimal import Decimal

import pytest

from gpuetl import RunFailed, col, expr, loads
from tables import NAN, table

pytestmark = pytest.mark.single_rows


@pytest.mark.part(2)
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
    assert message.endswith("\nTRY_CAST gives null instead.")


def test_a_cast_of_an_unknown_column_is_refused(source, problem):
    assert "unknown column 'z'" in problem(source(table({"x": "int64"})).cast(z="int8"))


def test_a_decimal_without_digits_is_the_one_of_a_cast(source, check):
    """In the step, as in the expression, `decimal` is decimal(18,3), and decimal(5) has no digits after the point."""
    t = source(table({"x": "int64"}, (1,), (None,)))
    expected = table({"x": "decimal(18,3)", "y": "decimal(5,0)"}, (Decimal("1.000"), Decimal(1)), (None, None))
    check(t.with_columns(y=col("x")).cast(x="decimal", y="decimal(5)"), expected)
    check(t.select(x=expr("CAST(x AS decimal)"), y=expr("CAST(x AS decimal(5))")), expected)


def test_a_schema_and_a_parameter_take_sql_s_names(pipeline, check):
    """They are written back by the language's own."""
    (pipeline.root / "s.csv").write_text("x,y\n1,2.5\n")
    scale = pipeline.param("scale", "double", default=2.0)
    rows = pipeline.read_csv("s", "s.csv", {"x": "INT", "y": "numeric"})
    check(
        rows.with_columns(z=scale * col("x")),
        table({"x": "int32", "y": "decimal(18,3)", "z": "float64"}, (1, Decimal("2.500"), 2.0)),
    )
    written = pipeline.to_yaml()
    assert "x: int32\n      y: decimal(18,3)\n" in written
    assert loads(written, root=pipeline.root).plan().fingerprint == pipeline.plan().fingerprint


@pytest.mark.parametrize(
    ("text", "dtype", "holder"),
    [
        ("5.0", "int64", "decimal(18,1)"), ("300", "int8", "int64"), ("1e30", "int64", "float64"),
        ("99999999999999999999", "int64", "decimal(38,0)"), ("1.25", "decimal(3,1)", "decimal(18,2)"),
    ],
)  # fmt: skip
def test_a_number_that_its_type_does_not_hold_is_reported_with_a_type_that_does(source, failure, text, dtype, holder):
    """Null in its place would lose it."""
    t = source(table({"s": "string"}, ("1",), (text,)))
    message = failure(t.cast(s=dtype), RunFailed)
    assert message.endswith(f"\n{holder} holds this value; TRY_CAST gives null instead.")
