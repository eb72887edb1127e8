"""format and printf: as DuckDB writes values, what is refused, and kernels."""

import random

import duckdb
import pytest

from expressions.evaluation import table, typed, value, values
from gpu_engine.differential import computed
from gpu_engine.host_machine import COMPILER
from gpuetl.engines.no_result import NoResult
from gpuetl.errors import InvalidExpression
from gpuetl.types.schema import Schema

INTEGERS = (0, 7, -7, 123, 1234567, -9223372036854775808, 9223372036854775807, None)
FLOATS = (
    0.0, -0.0, 0.5, 1.5, 2.5, -2.675, 0.125, 1e-9, -1e-300, 5e-324, 1234567.891, 999999.995, 1e15, 9007199254740993.0, float("nan"), float("inf"), float("-inf"), 0.1, None,
)  # fmt: skip
TEXTS = ("", "a", "añb", "😀x", "abcdefgh", None)
CALLS = (
    "format('{}', i)", "format('{:05d}', i)", "format('{:+d}|{:8d}|{:<8d}|{:^8d}|{:*^9d}', i, i, i, i, i)", "format('{:,}', i)", "format('{0}-{0:3d}', i)",
    "format('{:.2f}', f)", "format('{:f}', f)", "format('{:.0f}', f)", "format('{:+.1f}', f)", "format('{:,.2f}', f)", "format('{:>12.3f}|{:<12.1f}|{:_^12.1f}', f, f, f)", "format('{:.15f}', f)",
    "format('{}{{}}{}', s, s)", "format('{:5}|{:>5}|{:^5}|{:*<5}|{:.2}|{:4.1s}', s, s, s, s, s, s)", "format('{1} {0}', s, i)", "format('{} {}', b, d)",
    "format('{:x}|{:X}|{:o}|{:b}|{:08x}|{:>20x}|{:+x}', i, i, i, i, i, i, i)", "printf('%x|%X|%o|%b|%08x|%-20x|', i, i, i, i, i, i)",
    "format('{:_} {:,} {:_d}', i, i, i)", "printf('%_d %lld', i, i)", "printf('%.f %,.f %_.1f', f, f, f)", """printf('%''d|%''.2f', i, f)""",
    "printf('%d|%5d|%-5d|%05d|%+d|%,d|%i|%lld', i, i, i, i, i, i, i, i)", "printf('%f|%.0f|%8.3f|%-8.1f|%+.1f|%,.2f', f, f, f, f, f, f)", "printf('%s|%5s|%-5s|%.1s|100%%', s, s, s, s)", "printf('%s', b)",
)  # fmt: skip


def frame():
    rows = max(len(INTEGERS), len(FLOATS), len(TEXTS))
    columns = {
        "i": ("int64", INTEGERS),
        "f": ("float64", FLOATS),
        "s": ("string", TEXTS),
        "b": ("bool", (True, False, None)),
        "d": ("date", (None,)),
    }
    return table(
        **{name: (dtype, [own[at % len(own)] for at in range(rows)]) for name, (dtype, own) in columns.items()}
    )


def test_values_are_written_as_by_duckdb():
    database, given = duckdb.connect(), frame()
    database.register("given", given)
    for sql in CALLS:
        expected = [row for (row,) in database.execute(f"SELECT {sql} FROM given").fetchall()]
        assert values(sql, given) == expected, sql


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_kernels_write_values():
    given = frame()
    draws = random.Random(2)
    wide = table(f=("float64", [draws.uniform(-1, 1) * 10.0 ** draws.randint(-20, 37) for _ in range(400)]))
    for sql in CALLS:
        assert computed(typed(sql, Schema.of_arrow(given.schema)), given).to_pylist() == values(sql, given), sql
    sql = "format('{:.3f} {:15.0f} {:,.15f}', f, f, f)"
    assert computed(typed(sql, Schema.of_arrow(wide.schema)), wide).to_pylist() == values(sql, wide)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("format('{:08.2f}', -3.14159)", "-0003.14"), ("printf('%08.2f', -1.5)", "-0001.50"), ("format('{:.2f}', CAST('2.675' AS decimal(10,3)))", "2.67"), ("format('{}', DATE '2026-01-02')", "2026-01-02"),
        ("format('{:+,d}', 1234567)", "+1,234,567"), ("format('{}', NULL)", None), ("format('{}', CAST(18446744073709551615 AS uint64))", "18446744073709551615"),
    ],
)  # fmt: skip
def test_formats(sql, expected):
    assert value(sql) == expected


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("format('{', 1)", "a brace is not closed"), ("format('}', 1)", "a brace is not closed, or not opened"), ("format('{} {}', 1)", "takes 2 values"), ("format('{}', 1, 2)", "no field for value 2"), ("format('{0} {}', 1)", "some fields are numbered"),
        ("format('{:e}', 1)", "does not support '{:e}'"), ("format('{:,x}', 1)", "separators in numbers to base 16"), ("format('{:x}', 'a')", "cannot write string"), ("format('{}', 1.5)", "cannot write"), ("format('{:.2f}', 1)", "cannot write int64"), ("format('{:05}', 'a')", "cannot write string"), ("format('{:5}', true)", "cannot write bool"), ("format('{:10,}', 1)", "separators with a width"),
        ("format('{:<05d}', 1)", "zeros with an alignment"), ("format('{:.16f}', 1.5)", "up to 15 digits"), ("format('{:1001}', 'a')", "a width up to 1,000"), ("format(s, 1)", "takes a constant"), ("format('{}', TIMESTAMP '2026-01-02 00:00:00')", "cannot write timestamp"),
        ("printf('%e', 1)", "does not support '%e'"), ("printf('%.d', 1)", "does not support '%.d'"), ("printf('%,_d', 1)", "does not support '%,_d'"), ("printf('%u', 1)", "does not support '%u'"), ("printf('%', 1)", "does not support '%'"), ("printf('%s', 1)", "cannot write int64"),
    ],
)  # fmt: skip
def test_formats_that_are_refused(sql, message):
    with pytest.raises(InvalidExpression) as caught:
        typed(sql, {"s": typed("'a'").dtype})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "sql",
    [
        "format('{:.1f}', CAST('1e38' AS float64))",
        "format('{:05.1f}', CAST('nan' AS float64))",
        "printf('%.1f', CAST('-1e300' AS float64))",
    ],
)
def test_numbers_that_are_not_written(sql):
    with pytest.raises(NoResult, match=r"10\^38"):
        value(sql)
