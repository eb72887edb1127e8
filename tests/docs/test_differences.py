"""docs/differences.md: what it says of DuckDB and of gpuetl, run in both."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pytest

from expressions.evaluation import aggregated, table, value
from gpuetl import InvalidExpression, InvalidPipeline
from gpuetl.errors import EvaluationError

PAGE = (Path(__file__).parents[2] / "docs" / "differences.md").read_text()
INF, NAN = float("inf"), float("nan")
ROWS = table(
    i=("int64", [3, 1, 1, 3]),
    j=("int64", [None, 2, 2, 2]),
    large=("int64", [2**63 - 1, 1, 0, 0]),
    odd=("int64", [9007199254740997, 9007199254741011, 9007199254740995, None]),
    s=("string", ["b", None, "a", "b"]),
    f=("float64", [INF, 1.0, 2.0, 4.0]),
    one=("float64", [1.0, None, None, None]),
    d=("decimal(9, 2)", [Decimal("1.50"), Decimal("2.25"), None, None]),
)
REFUSED = "refused"
AGGREGATES = {
    "`sum(x)` of integers beyond": ("sum(large)", REFUSED, 2**63),
    "`mean(x)` of large integers": ("avg(odd)", 9007199254741000.0, 9007199254741002.0),
    "`quantile(x, q)`": ("quantile(i, 0.5)", 2.0, 1),
    "`quantile_cont(x, q)`, `median(x)` of": ("median(d)", 1.875, Decimal("1.87")),
    "`corr(x, y)` of one pair": ("corr(one, one)", None, NAN),
    "`skewness(x)`, `kurtosis(x)` of infinite": ("skewness(f)", NAN, REFUSED),
    "`mode(x)` of values that tie": ("mode(i)", 1, 3),
    "`any_value(x)`": ("any_value(s)", "a", "b"),
    "`min_by(x, y)`, `max_by(x, y)` of rows": ("min_by(s, coalesce(j, 2))", "a", "b"),
    "`first(x)`, `last(x)`": ("first(s)", REFUSED, "b"),
    "`array_agg(x)`, `string_agg(x)` without": ("array_agg(s)", ["a", "b", "b", None], ["b", None, "a", "b"]),
    "`count(DISTINCT a, b)`": ("count(DISTINCT i, j)", 2, REFUSED),
    "`histogram(x, bins)`": ("histogram(i, [1, 3])", REFUSED, {1: 2, 3: 2}),
    "`favg`, `fsum`": ("fsum(i)", REFUSED, 8.0),
}
LISTS = {
    "NaN in `list_contains`": ("list_contains([CAST('nan' AS double)], CAST('nan' AS double))", False, True),
    "`list_sum(x)` of integers": ("list_sum([9223372036854775807, 1])", REFUSED, 2**63),
    "`list_contains([], NULL)`": ("list_contains([], NULL)", None, False),
    "`list_select(x, places)`": ("list_select([1, 2], [-1])", [2], [None]),
    "`list_where(x, mask)`": ("list_where([1], [true, true])", [1], [1, None]),
    "`typeof(1)`": ("typeof(1)", "BIGINT", "INTEGER"),
    "`bit_count(x)` of negative": ("bit_count(CAST(-1 AS tinyint))", 64, 8),
}
SCALARS = {
    "`CAST(x AS int)` of a fraction": ("CAST(2.5 AS int)", REFUSED, 3),
    "`round(2.5)`": ("round(2.5)", 2.0, 3.0),
    "`round_even(45.45, 1)` of a float": ("roundbankers(45.45::DOUBLE, 1)", 45.4, 45.5),
    "`trunc(x, -400)` of a float": ("trunc(123.5::DOUBLE, -400)", 0.0, 123.5),
    "`binom(67, 33)`": ("binom(67, 33)", REFUSED, 14226520737620288370),
    "`int8`": ("CAST(128 AS int8)", REFUSED, 128),
    "`CAST(x AS timestamp_s)`": (
        "CAST('2020-01-01 00:00:00.6' AS timestamp_s)",
        REFUSED,
        datetime(2020, 1, 1, 0, 0, 1),
    ),
    "`CAST('2020-01-02 03:04:05.1234567' AS timestamp)`": (
        "CAST('2020-01-02 03:04:05.1234567' AS timestamp)",
        REFUSED,
        datetime(2020, 1, 2, 3, 4, 5, 123456),
    ),
    "`hugeint`, `int128`": ("CAST(repeat('9', 38) AS hugeint) + 1", REFUSED, 10**38),
    "`uhugeint`, `timetz`": ("CAST(1 AS uhugeint)", REFUSED, 1),
    "`try_strptime('3/5/2020', '%m/%d/%Y')`": ("try_strptime('3/5/2020', '%m/%d/%Y')", None, datetime(2020, 3, 5)),
    "`CAST(INTERVAL '26 hours' AS string)`": ("CAST(INTERVAL '26 hours' AS string)", "1 day 02:00:00", "26:00:00"),
    "`CAST('2020-01-01 10:00+02' AS timestamp)`": (
        "CAST('2020-01-01 10:00+02' AS timestamp)",
        REFUSED,
        datetime(2020, 1, 1, 10),
    ),
    "`CAST('2020-01-01 10:00' AS date)`": ("CAST('2020-01-01 10:00' AS date)", REFUSED, date(2020, 1, 1)),
    "CAST of `(1, 2)` to a struct": ("CAST('(1, 2)' AS struct(a int, b int))", REFUSED, {"a": 1, "b": 2}),
    "TRY_CAST of text to a map": ("TRY_CAST('{a=1' AS map(text, int))", REFUSED, None),
    "CAST of a column to interval": ("CAST(lower('1 MONTH') AS interval)", REFUSED, timedelta(days=30)),
    "`x // 0`, `x % 0`": ("5 // 0", None, REFUSED),
    "`1 << 63`, `1 << 64`": ("CAST(1 AS bigint) << 64", None, REFUSED),
    "NaN in `=`": ("CAST('nan' AS double) = CAST('nan' AS double)", False, True),
    "`sign(x)` of NaN": ("sign(CAST('nan' AS double))", NAN, 0),
    "`CAST(1e10 AS string)`": ("CAST(1e10 AS varchar)", "1e+10", "10000000000.0"),
    "`concat(x, NULL)`": ("concat('a', NULL)", None, "a"),
    "`lpad(x, 2)`": ("lpad('abc', 2, ' ')", "abc", "ab"),
    "`repeat(x, -1)`": ("repeat('a', -1)", REFUSED, ""),
    "`reverse(x)` of": ("reverse('S\u0308a')", "a\u0308S", "aS\u0308"),
    "`hash(x)`": ("hash('a')", -3292477735350538661, 12561829011207016135),
    "`millisecond(x)`": ("millisecond(TIMESTAMP '2013-03-09 17:05:30.25')", 250, 30250),
    "`date_trunc('month', x)`": (
        "date_trunc('month', DATE '2013-03-09')",
        date(2013, 3, 1),
        datetime(2013, 3, 1),
    ),
    "`date_diff('week', a, b)`": ("date_diff('week', DATE '2023-01-22', DATE '2024-09-13')", 86, 85),
    "`split(x, NULL)`": ("string_split('a', NULL)", None, ["a"]),
    "`regexp_extract(x, p)` without": ("regexp_extract('a', '(x)(y)?', ['x', 'y'])", None, {"x": "", "y": ""}),
    "`regexp_extract(x, p, NULL)`": ("regexp_extract('a', 'a', NULL)", None, ""),
    "`regexp_replace(x, p, r)`": ("regexp_replace('aa', 'a', 'b')", "bb", "ba"),
    "`json_valid(x)` of": ("json_valid('[NaN]')", False, True),
    "`from_json(x, '\"TINYINT\"')` of": ("json_transform('2.4', '\"TINYINT\"')", None, 2),
    "`json(x)['0']`": ("json('[1, 2]')['0']", REFUSED, "1"),
    "CAST of JSON to lists": ("CAST(json('[\"a\"]') AS VARCHAR[])", REFUSED, ["a"]),
}


def answer(compute):
    try:
        return compute()
    except (InvalidPipeline, InvalidExpression, EvaluationError, duckdb.Error):
        return REFUSED


def of_duckdb(sql, rows):
    return answer(lambda: duckdb.from_arrow(rows).aggregate(sql).fetchall()[0][0])


@pytest.mark.parametrize("what", [*AGGREGATES, *LISTS, *SCALARS])
def test_each_engine_gives_what_the_page_says(what):
    assert f"\n| {what}" in PAGE
    if what in AGGREGATES:
        sql, ours, theirs = AGGREGATES[what]
        got = answer(lambda: aggregated(sql, ROWS)[0])
    else:
        sql, ours, theirs = (LISTS | SCALARS)[what]
        got = answer(lambda: value(sql))
    np.testing.assert_equal(got, ours)
    np.testing.assert_equal(of_duckdb(sql, ROWS), theirs)
