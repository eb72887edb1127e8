"""Rounding at places of columns, rests of floats, and choices, on every engine."""

from decimal import Decimal
from math import inf, nan

import pytest

from gpuetl import RunFailed, expr
from tables import table

pytestmark = pytest.mark.single_rows

TYPES = {"x": "float64", "f": "float32", "d": "decimal(10,6)", "i": "int64", "u": "uint8", "n": "int64"}
ROWS = [
    (42.12345, 42.125, Decimal("42.123456"), 54, 15, 2),
    (-3.75, -3.75, Decimal("-3.999999"), -27, 255, -1),
    (0.35, 0.285, Decimal("9999.999999"), 2**63 - 1, 0, 0),
    (1e300, 1e30, None, None, None, 20),
    (nan, nan, Decimal("127"), -(2**63), 7, -400),
    (inf, inf, Decimal("0"), 0, 1, 1),
    (None, None, Decimal("-0.5"), 10, 2, None),
]
D = Decimal


def test_numbers_are_rounded_and_truncated_at_places_of_columns(source, check):
    columns = {
        "trunc_2": ("trunc(x, 2)", "float64", [42.12, -3.75, 0.35, 1e300, nan, inf, None]),
        "trunc_tens": ("trunc(x, -1)", "float64", [40.0, -0.0, 0.0, 1e300, nan, inf, None]),
        "trunc_n": ("trunc(x, n)", "float64", [42.12, -0.0, 0.0, 1e300, nan, inf, None]),
        "round_n": ("round(x, n)", "float64", [42.12, -0.0, 0.0, 1e300, nan, inf, None]),
        "round_far": ("round(x, 100000)", "float64", [42.12345, -3.75, 0.35, 1e300, nan, inf, None]),
        "of_null": ("round(x, NULL)", "float64", [None] * 7),
        "single": ("trunc(f, n)", "float32", [42.119998931884766, -0.0, 0.0, 1.0000000150474662e30, nan, inf, None]),
        "single_round": ("round(f, n)", "float32", [42.119998931884766, -0.0, 0.0, 1.0000000150474662e30, nan, inf, None]),
        "decimal": ("trunc(d, n)", "decimal(10,6)", [D("42.12"), D(0), D(9999), None, D(0), D(0), None]),
        "decimal_round": ("round(d, n)", "decimal(11,6)", [D("42.12"), D(0), D(10000), None, D(0), D(0), None]),
        "whole": ("trunc(i, n)", "int64", [54, -20, 2**63 - 1, None, 0, 0, None]),
        "whole_tens": ("trunc(i, -18)", "int64", [0, 0, 9 * 10**18, None, -9 * 10**18, 0, 0]),
        "small": ("trunc(u, -2)", "uint8", [0, 200, 0, None, 0, 0, 0]),
        "bankers": ("roundbankers(d, 0)", "decimal(11,6)", [D(42), D(-4), D(10000), None, D(127), D(0), D(0)]),
        "constant_n": ("round(CAST(42.5 AS float64), n)", "float64", [42.5, 40.0, 42.0, 42.5, 0.0, 42.5, None]),
        "whole_n": ("trunc(1234, n)", "int64", [1234, 1230, 1234, 1234, 0, 1234, None]),
        "constant": ("trunc(-1.57, 1)", "float64", [-1.5] * 7),
        "rest": ("x % 2", "float64", [0.12344999999999828, -1.75, 0.35, 0.0, nan, nan, None]),
        "rest_of_none": ("x % 0.0", "float64", [nan] * 6 + [None]),
        "rest_single": ("f % f", "float32", [0.0, -0.0, 0.0, 0.0, nan, nan, None]),
    }  # fmt: skip
    expected = table(
        {name: dtype for name, (_, dtype, _) in columns.items()},
        *zip(*(values for _, _, values in columns.values()), strict=True),
    )
    made = {name: expr(sql) for name, (sql, _, _) in columns.items()}
    check(source(table(TYPES, *ROWS)).with_columns(**made).select(*columns), expected)


def test_functions_of_two_numbers(source, check):
    t = source(
        table(
            {"n": "int64", "k": "int64", "y": "float64"},
            (5, 2, 2.0),
            (66, 33, 0.5),
            (3, 5, 10.0),
            (2**62, 1, -1.0),
            (None, 1, None),
        )
    )
    made = t.select(
        choices=expr("binom(n, k)"), base=expr("round(log(y, 64), 9)"),
        gamma=expr("round(lgamma(y), 9)"), day=expr("weekday(DATE '2013-03-10')"),
    )  # fmt: skip
    expected = table(
        {"choices": "int64", "base": "float64", "gamma": "float64", "day": "int64"},
        (10, 6.0, 0.0, 0),
        (7219428434016265740, -6.0, 0.572364943, 0),
        (0, 1.806179974, 12.801827480, 0),
        (2**62, nan, inf, 0),
        (None, None, None, 0),
    )
    check(made, expected)


def test_choices_beyond_int64_are_an_error(source, failure):
    made = source(table({"n": "int64"}, (66,), (67,))).select(x=expr("binom(n, 33)"))
    assert "for 67, 33: overflow of int64" in failure(made, RunFailed)


def test_readable_sizes_and_bars(source, check):
    t = source(table({"n": "int64", "s": "string", "x": "float64"}, (0, "1 byte", 5.0), (-1_048_575, " 1.5 KIB ", 0.4), (2**63 - 1, "3e3Kilobytes", nan),
                     (999_999, "16777215 TiB", 20.0), (None, None, None)))  # fmt: skip
    made = t.select(
        binary=expr("format_bytes(n)"), decimal=expr("formatReadableDecimalSize(n)"), size=expr("parse_formatted_bytes(s)"), bar=expr("bar(x, 0, 10, 4)"),
    )  # fmt: skip
    expected = table(
        {"binary": "string", "decimal": "string", "size": "uint64", "bar": "string"},
        ("0 bytes", "0 bytes", 1, "██  "),
        ("-1023.9 KiB", "-1.0 MB", 1536, "▏   "),
        ("8191.9 PiB", "9223.3 PB", 3_000_000, "    "),
        ("976.5 KiB", "999.9 kB", 18446742974197923840, "████"),
        (None, None, None, None),
    )
    check(made, expected)


def test_what_is_no_size_is_an_error(source, failure):
    made = source(table({"s": "string"}, ("1 KB",), ("1 XB",))).select(x=expr("parse_formatted_bytes(s)"))
    assert "for 1 XB: not a number of bytes with a unit" in failure(made, RunFailed)
