"""aggregate with group_sets: groups by several sets of keys in one result, compared with DuckDB and by hand."""

from datetime import timedelta
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest

from gpuetl import count, expr
from gpuetl.optimize import optimize
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.nodes import Aggregate
from tables import table

TYPES = {"a": "string", "b": "int64", "x": "int64", "y": "float64"}
ROWS = [
    ("p", 1, 1, 0.5),
    ("p", None, 2, 1.5),
    ("q", 1, None, 2.0),
    (None, 1, 4, None),
    ("p", 1, 5, 0.25),
    (None, None, 6, 8.0),
]
TABLE = table(TYPES, *ROWS)
OUT = {"a": "string", "b": "int64", "n": "int64", "s": "int64", "ga": "int64", "gab": "int64"}
COLUMNS = {"n": count(), "s": expr("sum(x)"), "ga": expr("grouping(a)"), "gab": expr("grouping(a, b)")}

FINEST = [
    ("p", 1, 2, 6, 0, 0),
    ("p", None, 1, 2, 0, 0),
    ("q", 1, 1, None, 0, 0),
    (None, 1, 1, 4, 0, 0),
    (None, None, 1, 6, 0, 0),
]
BY_A = [("p", None, 3, 8, 0, 1), ("q", None, 1, None, 0, 1), (None, None, 2, 10, 0, 1)]
BY_B = [(None, 1, 4, 10, 1, 2), (None, None, 2, 8, 1, 2)]
TOTAL = [(None, None, 6, 18, 1, 3)]


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("sets", "rows"),
    [
        ("rollup", [*FINEST, *BY_A, *TOTAL]),
        ("cube", [*FINEST, *BY_A, *BY_B, *TOTAL]),
        ([["a"], ["b"]], [*BY_A, *BY_B]),
        ([["b", "a"], "a", "a", []], [*FINEST, *BY_A, *BY_A, *TOTAL]),
    ],
)
def test_nulls_of_keys_and_keys_left_out_are_told_apart(source, check, sets, rows):
    check(source(TABLE).aggregate(["a", "b"], group_sets=sets, **COLUMNS), table(OUT, *rows))


def test_the_set_of_no_keys_has_a_row_also_of_no_rows(source, check):
    empty = table(TYPES)
    t = source(empty).aggregate(["a", "b"], group_sets="cube", **COLUMNS)
    check(t, table(OUT, (None, None, 0, None, 1, 3)))
    t = source(empty).aggregate("a", group_sets=[["a"]], n=count())
    check(t, table({"a": "string", "n": "int64"}))
    t = source(TABLE).aggregate("a", group_sets="rollup", g=expr("grouping(a)"))
    check(t, table({"a": "string", "g": "int64"}, ("p", 0), ("q", 0), (None, 0), (None, 1)))


def test_having_keys_that_are_expressions_and_outputs_over_keys(source, check):
    t = source(TABLE).aggregate(
        ["a", {"even": expr("x % 2 = 0")}], group_sets="rollup", having=expr("grouping(even) = 1 AND n > 1"),
        n=count(), name=expr("coalesce(upper(a), CASE grouping(a) WHEN 1 THEN 'all' ELSE 'none' END)"),
    )  # fmt: skip
    types = {"a": "string", "even": "bool", "n": "int64", "name": "string"}
    check(t, table(types, ("p", None, 3, "P"), (None, None, 2, "none"), (None, None, 6, "all")))


CALLS = {
    "n": "count(*)",
    "nx": "count(x)",
    "s": "sum(x)",
    "sy": "sum(y)",
    "m": "avg(x)",
    "my": "avg(y)",
    "lo": "min(y)",
    "hi": "max(a)",
    "p": "sum(x) FILTER (WHERE y > 1)",
    "r": "sum(x) / count(*) + grouping(b)",
}
OTHERS = {"d": "count(DISTINCT x)", "md": "median(y)", "v": "var_samp(y)"}


@pytest.mark.part(12)
@pytest.mark.parametrize(
    ("sets", "calls"),
    [("cube", CALLS), ([["a", "b"], ["c"], ["b", "c"], []], {**CALLS, **OTHERS})],
    ids=["cube", "list"],
)
def test_results_are_those_of_duckdb(source, check, sets, calls):
    """Also where coarser groups come from the states of finer ones."""
    rows = pa.table({
        "a": pa.array([None if i % 7 == 0 else "pqr"[i % 3] for i in range(20)], pa.string()),
        "b": pa.array([None if i % 5 == 0 else i % 4 for i in range(20)], pa.int64()),
        "c": pa.array([i % 2 == 0 for i in range(20)], pa.bool_()),
        "x": pa.array([None if i % 6 == 0 else i * i for i in range(20)], pa.int64()),
        "y": pa.array([None if i % 9 == 0 else i / 4 for i in range(20)], pa.float64()),
    })  # fmt: skip
    keys = ["a", "b", "c"]
    texts = [f"({', '.join(one)})" for one in sets] if isinstance(sets, list) else []
    groups = f"GROUPING SETS ({', '.join(texts)})" if texts else f"{sets}({', '.join(keys)})"
    names = ", ".join(f"{text} AS {name}" for name, text in calls.items())
    with duckdb.connect() as database:
        database.register("rows", rows)
        found = database.sql(f"SELECT {', '.join(keys)}, {names} FROM rows GROUP BY {groups}").to_arrow_table()
    t = source(rows).aggregate(keys, group_sets=sets, **{name: expr(text) for name, text in calls.items()})
    wide = {name: pa.int64() for name in ("s", "p")}
    expected = found.cast(pa.schema([(f.name, wide.get(f.name, f.type)) for f in found.schema]))
    check(t, expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": [], "group_sets": "rollup"}, "group_sets needs by\nAdd by: the columns that the sets are made of."),
        ({"by": ["a", "b"], "group_sets": [["a"], ["c"]]}, "'c' is not in by\nKeys: a, b."),
        ({"by": ["a", "b"], "group_sets": [["a"], []]}, "no set has the key 'b'\nAdd it to a set, or leave it out of by."),
        (
            {"by": ["a", "b", "x", "y", {"k": expr("x + 1")}, {"l": expr("x + 2")}, {"m": expr("x")}], "group_sets": "cube"},
            "128 sets of keys, and an aggregate takes 64\nWrite two aggregate steps, and a union.",
        ),
        (
            {"by": ["a"], "g": expr("grouping(b)")},
            "grouping(b): grouping takes keys of the groups\nKeys: a.",
        ),
        (
            {"by": ["a"], "g": expr("max(grouping(a))")},
            "unknown function 'grouping'\n"
            "It stands in columns and having of an aggregate step, outside of aggregates.",
        ),
    ],
)  # fmt: skip
def test_sets_that_do_not_fit_the_keys_are_refused(source, problem, options, message):
    assert problem(source(TABLE).aggregate(n=count(), **options)) == f"stage 'wrong_1', step 1: {message}"


def test_sums_and_means_of_every_kind_of_number_are_merged(source, check):
    """Decimals, durations, large integers and floats, whose groups of fewer keys come from those of more."""
    types = {"k": "int64", "d": "decimal(20,2)", "t": "duration", "i": "int64", "f": "float32"}
    large = 2**62
    rows = [
        (1, Decimal("1.25"), timedelta(seconds=1), large, 0.5),
        (1, Decimal("2.25"), timedelta(seconds=4), large - 2, None),
        (2, None, timedelta(seconds=1), -large, 1.5),
        (2, None, None, None, None),
    ]
    columns = {name: expr(f"sum({name})") for name in "dt"} | {f"m{name}": expr(f"avg({name})") for name in "tif"}
    out = {"k": "int64", "d": "decimal(38,2)", "t": "duration", "mt": "duration", "mi": "float64", "mf": "float64"}
    seconds = [timedelta(seconds=n) for n in (5, 1, 6, 2)]
    expected = [
        (1, Decimal("3.50"), seconds[0], timedelta(seconds=2.5), float(large - 1), 0.5),
        (2, None, seconds[1], seconds[1], float(-large), 1.5),
        (None, Decimal("3.50"), seconds[2], seconds[3], float((large - 2) // 3), 1.0),
    ]
    check(source(table(types, *rows)).aggregate("k", group_sets="rollup", **columns), table(out, *expected))


def test_rows_are_grouped_once_where_calls_can_be_merged(source):
    rows = source(TABLE)
    merged = rows.aggregate(["a", "b"], group_sets="cube", n=count(), m=expr("avg(x)"))
    others = rows.aggregate(["a", "b"], group_sets="cube", n=count(), m=expr("median(x)"))
    merged.stage("merged")
    others.stage("others")
    optimized = optimize(rows.pipeline.plan().keeping(["merged", "others"])).plan
    counts = [
        len({id(node) for node in walk_graph(optimized.kept[name]) if isinstance(node, Aggregate)
             and not isinstance(node.source, Aggregate)})
        for name in ("merged", "others")
    ]  # fmt: skip
    assert counts == [1, 4]
