"""fill_null: values in the place of nulls; columns keep their types."""

from datetime import date, datetime
from decimal import Decimal

import pytest

from gpuetl import InvalidPipeline, col, expr, loads, param
from tables import NAN, table

pytestmark = pytest.mark.single_rows

TYPES = {"a": "int64", "b": "string", "c": "float64"}


def test_nulls_are_filled_and_nan_is_not_null(source, check):
    t = source(table(TYPES, (1, None, NAN), (None, "", None), (None, None, -0.0)))
    check(t.fill_null(a=0, b="none", c=1.5), table(TYPES, (1, "none", NAN), (0, "", 1.5), (0, "none", -0.0)))
    check(t.fill_null(a=7), table(TYPES, (1, None, NAN), (7, "", None), (7, None, -0.0)))


def test_values_are_expressions_over_the_input(source, check):
    t = source(table({"a": "int64", "b": "int64"}, (None, 2), (1, None), (None, None)))
    swapped = t.fill_null(a=col("b") * 10, b=col("a"))
    check(swapped, table({"a": "int64", "b": "int64"}, (20, 2), (1, 1), (None, None)))


def test_no_rows_and_columns_without_nulls(source, check):
    check(source(table(TYPES)).fill_null(a=0, b="x"), table(TYPES))
    full = [(1, "x", 0.5), (2, "", NAN), (3, "y", -0.0)]
    check(source(table(TYPES, *full), "full").fill_null(a=0, b="z", c=9.0), table(TYPES, *full))


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("dtype", "value", "filled"),
    [
        ("int8", -128, -128), ("uint8", 255, 255), ("uint64", 2**63 - 1, 2**63 - 1), ("float32", 0.5, 0.5), ("float32", 3, 3.0),
        ("float64", 3, 3.0), ("bool", True, True), ("date", date(1969, 12, 31), date(1969, 12, 31)),
        ("timestamp", date(2024, 2, 29), datetime(2024, 2, 29)), ("timestamp", datetime(2024, 1, 1, 1), datetime(2024, 1, 1, 1)),
        ("decimal(5,2)", 999, Decimal("999.00")), ("decimal(5,2)", -0.25, Decimal("-0.25")), ("int64", None, None),
        ("string", "é", "é"), ("duration", expr("interval '1 day'"), datetime(1970, 1, 2) - datetime(1970, 1, 1)),
    ],
)  # fmt: skip
def test_a_value_that_fits_takes_the_column_s_type(source, check, dtype, value, filled):
    check(source(table({"x": dtype}, (None,), (None,))).fill_null(x=value), table({"x": dtype}, (filled,), (filled,)))


def test_a_float32_is_filled_with_the_nearest_one(source, answer):
    got = answer(source(table({"x": "float32"}, (None,))).fill_null(x=0.1))
    assert got["x"].to_pylist() == [0.10000000149011612]


@pytest.mark.parametrize(
    ("dtype", "value", "found"),
    [
        ("int8", 128, "128 (int64)"), ("uint8", -1, "-1 (int64)"), ("int64", 1.5, "1.5 (float64)"), ("int64", 1.0, "1.0 (float64)"),
        ("float32", 1e39, "1e+39 (float64)"), ("string", 0, "0 (int64)"), ("int64", "text", "'text' (string)"),
        ("date", datetime(2024, 1, 1), "TIMESTAMP '2024-01-01 00:00:00' (timestamp)"), ("bool", 1, "1 (int64)"),
        ("timestamp[UTC]", datetime(2024, 1, 1), "TIMESTAMP '2024-01-01 00:00:00' (timestamp)"), ("null", 1, "1 (int64)"),
        ("decimal(5,2)", 1000, "1000 (int64)"), ("decimal(5,2)", 0.125, "0.125 (float64)"), ("decimal(5,2)", NAN, "CAST('nan' AS float64) (float64)"),
        ("float32", col("y"), "y (float64)"), ("int32", col("z"), "z (int64)"),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_refused(source, problem, dtype, value, found):
    t = source(table({"x": dtype, "y": "float64", "z": "int64"}))
    assert f"step 1: cannot fill 'x' ({dtype}) with {found}\nCast the value" in problem(t.fill_null(x=value))


def test_unknown_columns_are_reported(source, problem):
    t = source(table(TYPES))
    assert "unknown column 'd'" in problem(t.fill_null(d=0))
    assert "unknown column 'nothing'" in problem(t.fill_null(a=col("nothing")))


def test_a_parameter_fills(source, check, pipeline):
    pipeline.param("low", "float64", required=True)
    pipeline.param("n", "int64", 5)
    t = source(table({"x": "float32", "a": "int8"}, (None, None), (1.0, 1)))
    filled = t.fill_null(x=param("low"), a=param("n"))
    check(filled, table({"x": "float32", "a": "int8"}, (0.25, 5), (1.0, 1)), params={"low": 0.25})
    filled.stage("filled")
    pipeline.plan(unbound=True)
    with pytest.raises(InvalidPipeline, match="cannot fill 'a'"):
        pipeline.plan({"low": 0.25, "n": 300})


def test_text_in_yaml_is_an_expression(source, pipeline):
    source(table(TYPES, (None, None, None)))
    stages = """stages:
  s: {from: t, steps: [fill_null: {a: 1 + 1, b: "'x'", c: a}]}
"""
    run = loads(pipeline.to_yaml() + stages, pipeline.root).run()
    assert run["s"].to_arrow().to_pylist() == [{"a": 2, "b": "x", "c": None}]
