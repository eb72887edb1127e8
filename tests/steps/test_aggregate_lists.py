"""aggregate: lists and joined strings, orders of calls, and aggregates of distinct values."""

from decimal import Decimal

import pytest

from gpuetl import InvalidPipeline, RunFailed, col, expr
from tables import INF, NAN, table


def exprs(calls):
    return {name: expr(text) for name, text in calls.items()}


ROWS = [
    ("a", 3, "z", 1.0), ("b", 1, None, 5.0), ("a", 1, "y", 3.0), ("a", None, "x", 2.0), ("c", 4, None, None),
    ("a", 1, "y", 4.0), ("b", 2, "", 4.0), ("b", 2, "w", 4.0), ("d", None, "u, v", 0.0),
]  # fmt: skip
TYPES = {"k": "string", "n": "int64", "s": "string", "x": "float64"}


def test_lists_keep_nulls_and_are_in_order(source, check):
    calls = {
        "values": "array_agg(n)", "by_x": "list(n ORDER BY x DESC)", "down": "array_agg(s ORDER BY n DESC NULLS FIRST, s)",
        "distinct": "array_agg(DISTINCT n)", "falling": "list(DISTINCT n ORDER BY n DESC)",
        "some": "array_agg(n) FILTER (WHERE x > 2)",
    }  # fmt: skip
    lists = {"values": "list<int64>", "by_x": "list<int64>", "down": "list<string>", "distinct": "list<int64>",
             "falling": "list<int64>", "some": "list<int64>"}  # fmt: skip
    expected = table(
        {"k": "string", **lists},
        ("a", [1, 1, 3, None], [1, 1, None, 3], ["x", "z", "y", "y"], [1, 3, None], [3, 1, None], [1, 1]),
        ("b", [1, 2, 2], [1, 2, 2], ["", "w", None], [1, 2], [2, 1], [1, 2, 2]),
        ("c", [4], [4], [None], [4], [4], None),
        ("d", [None], [None], ["u, v"], [None], [None], None),
    )
    check(source(table(TYPES, *ROWS)).aggregate("k", **exprs(calls)), expected)


def test_strings_are_joined_without_nulls(source, check):
    calls = {
        "plain": "string_agg(s)", "by_x": "string_agg(s, '; ' ORDER BY x DESC)", "distinct": "string_agg(DISTINCT s, '')",
        "falling": "string_agg(DISTINCT s, '→' ORDER BY s DESC)", "some": "string_agg(s, '-') FILTER (WHERE n > 1)",
    }  # fmt: skip
    expected = table(
        {"k": "string", **dict.fromkeys(calls, "string")},
        ("a", "x,y,y,z", "y; y; x; z", "xyz", "z→y→x", "z"),
        ("b", ",w", "; w", "w", "w→", "-w"),
        ("c", None, None, None, None, None),
        ("d", "u, v", "u, v", "u, v", "u, v", None),
    )
    check(source(table(TYPES, *ROWS)).aggregate("k", **exprs(calls)), expected)


@pytest.mark.parametrize("rows", [[], [("a", None, None, None)]])
def test_no_values_without_keys(source, check, rows):
    calls = {
        "l": "array_agg(n)", "s": "string_agg(s)", "d": "sum(DISTINCT n)", "c": "count(DISTINCT n, s)",
        "f": "first(n ORDER BY x)",
    }  # fmt: skip
    types = {"l": "list<int64>", "s": "string", "d": "int64", "c": "int64", "f": "int64"}
    expected = table(types, ([None] if rows else None, None, None, 0, None))
    check(source(table(TYPES, *rows)).aggregate(**exprs(calls)), expected)


def test_the_order_of_the_step_is_for_calls_without_their_own(source, check):
    calls = {
        "l": "array_agg(n)", "first": "first(n)", "own": "first(n ORDER BY x)", "last": "last(s ORDER BY n NULLS FIRST, x)",
        "s": "string_agg(s)", "other": "array_agg(n ORDER BY x + 0)",
    }  # fmt: skip
    types = {
        "l": "list<int64>",
        "first": "int64",
        "own": "int64",
        "last": "string",
        "s": "string",
        "other": "list<int64>",
    }
    expected = table(
        {"k": "string", **types},
        ("a", [1, 1, None, 3], 1, 3, "z", "y,y,x,z", [3, None, 1, 1]),
    )
    rows = source(table(TYPES, *(row for row in ROWS if row[0] == "a")))
    check(rows.aggregate("k", order_by="x desc", **exprs(calls)), expected)


def test_lists_of_structs_and_of_other_types(source, check):
    rows = source(table({"k": "int64", "o": "int64", "d": "decimal(5,2)", "b": "bool", "x": "float64"},
                        (1, 2, Decimal("1.50"), True, NAN), (1, 1, None, None, -0.0), (1, 3, Decimal("0.25"), False, INF)))  # fmt: skip
    calls = {
        "d": "array_agg(d)", "b": "array_agg(b ORDER BY o)", "x": "array_agg(DISTINCT x)",
        "s": "array_agg(struct_pack(o := o, d := d) ORDER BY o DESC)",
    }  # fmt: skip
    types = {
        "d": "list<decimal(5,2)>",
        "b": "list<bool>",
        "x": "list<float64>",
        "s": "list<struct<o: int64, d: decimal(5,2)>>",
    }
    structs = [{"o": 3, "d": Decimal("0.25")}, {"o": 2, "d": Decimal("1.50")}, {"o": 1, "d": None}]
    expected = table(
        {"k": "int64", **types},
        (1, [Decimal("0.25"), Decimal("1.50"), None], [None, True, False], [0.0, INF, NAN], structs),
    )
    check(rows.aggregate("k", **exprs(calls)), expected)


def test_aggregates_of_distinct_values(source, check):
    calls = {
        "sum": "sum(DISTINCT n)", "mean": "avg(DISTINCT n)", "both": "count(DISTINCT n, s)", "count": "count(DISTINCT n)",
        "product": "product(DISTINCT n)", "median": "median(DISTINCT x)", "var": "var(DISTINCT x)", "std": "stddev(DISTINCT x)",
        "min": "min(DISTINCT n)", "n": "count(*)", "x": "sum(DISTINCT x) FILTER (WHERE n IS NOT NULL)",
    }  # fmt: skip
    types = {"sum": "int64", "mean": "float64", "both": "int64", "count": "int64", "product": "float64", "median": "float64",
             "var": "float64", "std": "float64", "min": "int64", "n": "int64", "x": "float64"}  # fmt: skip
    expected = table(
        {"k": "string", **types},
        ("a", 4, 2.0, 2, 2, 3.0, 2.5, 5 / 3, (5 / 3) ** 0.5, 1, 4, 8.0),
        ("b", 3, 1.5, 2, 2, 2.0, 4.5, 0.5, 0.5**0.5, 1, 3, 9.0),
        ("c", 4, 4.0, 0, 1, 4.0, None, None, None, 4, 1, None),
        ("d", None, None, 0, 0, None, 0.0, None, None, None, 1, None),
    )
    check(source(table(TYPES, *ROWS)).aggregate("k", **exprs(calls)), expected)


def test_a_sum_of_distinct_values_that_leaves_int64_is_an_error(source, failure):
    rows = source(table({"n": "int64"}, (2**62,), (2**62,), (2**62 + 1,)))

    assert "'total'" in failure(rows.aggregate(total=expr("sum(DISTINCT n)")), RunFailed)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sum(n ORDER BY x)", "sum does not take ORDER BY"),
        ("array_agg(n ORDER BY 1)", "ORDER BY takes an expression over columns, got a constant"),
        ("array_agg(DISTINCT n ORDER BY x)", "array_agg of DISTINCT values is ordered by the values alone"),
        ("array_agg(struct_pack(n := n))", "array_agg needs order_by"),
        ("string_agg(n)", "takes strings, got int64"),
        ("string_agg(s, s)", "takes a constant or a $parameter as separator"),
        ("array_agg(nope ORDER BY n)", "unknown column 'nope'"),
        ("array_agg(n ORDER BY nope)", "unknown column 'nope'"),
        ("array_agg(sum(n))", "cannot stand inside"),
    ],
)
def test_what_is_refused(pipeline, source, text, message):
    source(table(TYPES, *ROWS)).aggregate("k", v=expr(text)).stage("out")
    with pytest.raises(InvalidPipeline) as caught:
        pipeline.validate()
    assert message in str(caught.value)


def test_python_gives_an_order_by_text_or_by_expressions(source, check):
    rows = source(table(TYPES, *(row for row in ROWS if row[0] == "a")))
    calls = {
        "one": col("n").array_agg(order_by="x desc"),
        "two": col("s").string_agg("/", order_by=["n desc nulls first", -col("x")]),
        "distinct": col("n").array_agg_distinct(order_by="n desc"),
        "kept": col("n").array_agg(only=col("x") > 1.5),
    }
    expected = table(
        {"one": "list<int64>", "two": "string", "distinct": "list<int64>", "kept": "list<int64>"},
        ([1, 1, None, 3], "x/z/y/y", [3, 1, None], [1, 1, None]),
    )
    check(rows.aggregate(**calls), expected)
    text = repr(calls["two"])
    assert text == "<Expression string_agg(s, '/' ORDER BY n DESC NULLS FIRST, -x)>"
    assert repr(expr(text.removeprefix("<Expression ").removesuffix(">"))) == text


def test_rows_that_repeat_leave_partitions_once_where_only_distinct_values_count(source, check):
    calls = {"n": "count(DISTINCT n)", "s": "sum(DISTINCT x)", "low": "min(n)", "l": "array_agg(DISTINCT s)"}
    types = {"n": "int64", "s": "float64", "low": "int64", "l": "list<string>"}
    rows = source(table(TYPES, *ROWS, *ROWS))
    check(rows.aggregate(**exprs(calls)), table(types, (4, 15.0, 1, ["", "u, v", "w", "x", "y", "z", None])))
    expected = table(
        {"k": "string", **types},
        ("a", 2, 10.0, 1, ["x", "y", "z"]),
        ("b", 2, 9.0, 1, ["", "w", None]),
        ("c", 1, None, 4, [None]),
        ("d", 0, 0.0, None, ["u, v"]),
    )
    check(rows.aggregate("k", **exprs(calls)), expected)
