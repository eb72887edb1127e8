"""Parameters: typed values, from Python or from the text of a command line, bound as constants."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from gpuetl.errors import InvalidPipeline
from gpuetl.expressions.ir import Literal, Parameter
from gpuetl.spec.model import ParameterSpec
from gpuetl.spec.parameters import bind_parameters, parse_value
from gpuetl.types.data_types import DATE, FLOAT64, INT64, STRING, parse_type


@pytest.mark.parametrize(
    ("given", "dtype", "value"),
    [
        ("12", "int64", 12), (12, "int8", 12), ("-1", "int8", -1), ("1.5", "float64", 1.5), (1, "float64", 1.0), ("1e3", "float32", 1000.0), ("+7", "int64", 7), ("-.5", "float64", -0.5), ("2.", "float64", 2.0), ("-inf", "float64", -float("inf")), ("1e2", "decimal(5,2)", Decimal("100.00")), ("x", "string", "x"),
        ("12", "string", "12"), ("true", "bool", True), ("False", "bool", False), (True, "bool", True), ("2026-11-01", "date", date(2026, 11, 1)),
        (date(2026, 11, 1), "date", date(2026, 11, 1)), ("2026-11-01T10:00:00", "timestamp", datetime(2026, 11, 1, 10)),
        ("2026-11-01 10:00:00+00:00", "timestamp[UTC]", datetime(2026, 11, 1, 10, tzinfo=UTC)), ("1 hour", "duration", timedelta(hours=1)),
        (timedelta(days=1), "duration", timedelta(days=1)), (None, "int64", None),
        (date(2026, 11, 1), "timestamp", datetime(2026, 11, 1)), ("1.5", "decimal(5,2)", Decimal("1.50")), (2, "decimal(5,2)", Decimal("2.00")),
        (Decimal("1.25"), "decimal(5,2)", Decimal("1.25")),
    ],
)  # fmt: skip
def test_values_of_a_type_are_read(given, dtype, value):
    read = parse_value(given, parse_type(dtype))
    assert (type(read), read) == (type(value), value)


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        ("x", "int64"), ("1.5", "int64"), (1.5, "int64"), (True, "int64"), (300, "int8"), ("-1", "uint8"), ("x", "float64"), (True, "float64"), ("yes", "bool"), (1, "bool"),
        ("2026-13-01", "date"), ("soon", "date"), (datetime(2026, 1, 1), "date"), ("2026-11-01T10:00:00Z", "timestamp"), ("2026-11-01", "timestamp[UTC]"),
        ("1 month", "duration"), ("'; drop table t", "duration"), (3, "duration"),
        (5, "timestamp"), ("", "timestamp"), ("", "date"), (date(2026, 1, 1), "timestamp[UTC]"), ("1.234", "decimal(5,2)"), (1.5, "decimal(5,2)"),
        ("1_000", "int64"), ("\u0661", "int64"), (" 1", "int64"), ("", "int64"), ("1_0.5", "float64"), ("\u0661", "float64"), ("1e999", "float64"), ("1_0", "decimal(5,2)"),
        ("\u0661", "decimal(5,2)"), ("20261101", "date"), ("2026-W01-1", "date"), ("2026-11-01T00:00", "date"), ("\u0661 hour", "duration"), ("1_0 hours", "duration"),
        ("12345", "decimal(5,2)"), ("NaN", "decimal(5,2)"), ("x", "decimal(5,2)"), ({"a": 1}, "string"), ({"a": 1}, "float64"),
    ],
)  # fmt: skip
def test_other_values_are_refused(given, dtype):
    with pytest.raises(ValueError, match="is not a"):
        parse_value(given, parse_type(dtype))


def test_a_float_is_no_decimal_and_the_way_to_write_one_is_reported():
    with pytest.raises(
        ValueError, match=r"'0\.19' is not a valid decimal\(4,2\): write '0\.19' as a string, or a Decimal"
    ):
        parse_value(0.19, parse_type("decimal(4,2)"))


DECLARED = {
    "day": ParameterSpec(DATE, required=True),
    "low": ParameterSpec(FLOAT64, default=0.5),
    "name": ParameterSpec(STRING, default=None),
}


def test_given_values_and_defaults_are_typed_literals():
    bound = bind_parameters(DECLARED, {"day": "2026-11-01"}, need_all=True)
    assert bound == {
        "day": Literal(date(2026, 11, 1), DATE),
        "low": Literal(0.5, FLOAT64),
        "name": Literal(None, STRING),
    }


def test_a_required_parameter_stays_open_where_a_pipeline_is_only_checked():
    assert bind_parameters(DECLARED, {}, need_all=False)["day"] == Parameter("day", DATE)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "parameter 'day' (date) has no value\nGive it with -p day=VALUE."),
        ({"day": "soon"}, "parameter 'day': 'soon' is not a valid date"),
        ({"day": "2026-11-01", "lwo": 1}, "unknown parameter 'lwo'\nParameters: day, low, name. Did you mean 'low'?"),
        ({"low": "x", "days": 1}, "unknown parameter 'days'\nParameters: day, low, name. Did you mean 'day'?\n\nparameter 'day' (date) has no value\n"
                                  "Give it with -p day=VALUE.\n\nparameter 'low': 'x' is not a valid float64"),
    ],
)  # fmt: skip
def test_all_wrong_parameters_are_reported_at_once(given, text):
    with pytest.raises(InvalidPipeline) as error:
        bind_parameters(DECLARED, given, need_all=True)
    assert str(error.value) == text


def test_text_is_a_value_and_never_sql():
    bound = bind_parameters({"name": ParameterSpec(STRING, required=True)}, {"name": "x' OR true --"}, need_all=True)
    assert bound["name"] == Literal("x' OR true --", STRING)
    assert bind_parameters({"n": ParameterSpec(INT64, default=1)}, {"n": "2"}, need_all=True)["n"] == Literal(2, INT64)
