"""pivot and unpivot: values of a column become columns, and columns become rows."""

from datetime import date

import duckdb
import pytest

from gpuetl import count, expr
from gpuetl.errors import RunFailed
from gpuetl.pipeline import loads
from tables import NAN, table

TYPES = {"k": "int64", "s": "string", "x": "int64", "y": "float64"}
ROWS = [
    (1, "a", 1, 0.5),
    (1, "b", 2, NAN),
    (2, "a", 3, None),
    (None, "b", None, 4.0),
    (1, "a", 7, 1.5),
    (3, "c", 9, 2.5),
]
TABLE = table(TYPES, *ROWS)


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("values", "types", "rows"),
    [
        (
            expr("sum(x)"),
            {"a": "int64", "b": "int64"},
            [(1, 8, 2), (2, 3, None), (None, None, None), (3, None, None)],
        ),
        (
            {"n": count(), "y": expr("max(y)")},
            {"a_n": "int64", "a_y": "float64", "b_n": "int64", "b_y": "float64"},
            [(1, 2, 1.5, 1, NAN), (2, 1, None, 0, None), (None, 0, None, 1, 4.0), (3, 0, None, 0, None)],
        ),
        (
            {"m": expr("median(x)"), "e": expr("count(*) * 10 + coalesce(k, 0)"), "t": expr("max(s || 'z')")},
            {"a_m": "float64", "a_e": "int64", "a_t": "string", "b_m": "float64", "b_e": "int64", "b_t": "string"},
            [
                (1, 4.0, 21, "az", 2.0, 11, "bz"),
                (2, 3.0, 12, "az", None, 2, None),
                (None, None, 0, None, None, 10, "bz"),
                (3, None, 3, None, None, 3, None),
            ],
        ),
    ],
)
def test_pivot(source, check, values, types, rows):
    t = source(TABLE).pivot("s", values, ["a", "b"], by="k", others="ignore")
    check(t, table({"k": "int64", **types}, *rows))


def test_pivot_of_all_rows_and_of_no_rows(source, check):
    t = source(TABLE).pivot("s", {"n": count(), "x": expr("first(x)")}, ["c", "d", "b"], order_by="x", others="ignore")
    types = {"c_n": "int64", "c_x": "int64", "d_n": "int64", "d_x": "int64", "b_n": "int64", "b_x": "int64"}
    check(t, table(types, (1, 9, 0, None, 2, 2)))


def test_pivot_of_no_rows(source, check):
    t = source(table(TYPES)).pivot("s", count(), ["a"], by="k")
    check(t, table({"k": "int64", "a": "int64"}))


def test_values_have_the_type_of_their_column(source, check):
    rows = table({"d": "date", "x": "int64"}, (date(2026, 1, 1), 1), (date(2026, 1, 2), 2), (date(2026, 1, 1), 3))
    t = source(rows).pivot("d", expr("sum(x)"), ["2026-01-02", "2026-01-01"])
    check(t, table({"2026-01-02": "int64", "2026-01-01": "int64"}, (2, 4)))


@pytest.mark.parametrize(("last", "shown"), [("c", "s = c"), (None, "s = null")])
def test_a_value_that_is_not_listed_stops_the_run(source, failure, last, shown):
    rows = table(TYPES, *ROWS[:-1], (3, last, 9, 2.5))
    message = failure(source(rows).pivot("s", count(), ["a", "b"], by="k"), RunFailed)
    where = "stage 'result', step 1: column 's': "
    assert message == f"{where}{shown} is not in columns of the pivot\nAdd it to columns, or set others: ignore."


def test_pivot_is_that_of_duckdb(source, check):
    with duckdb.connect() as database:
        database.register("rows", TABLE)
        query = "PIVOT rows ON s IN ('a', 'b') USING count(*) AS n, max(y) AS y, min(x) AS x GROUP BY k"
        expected = database.sql(query).to_arrow_table()
    values = {"n": count(), "y": expr("max(y)"), "x": expr("min(x)")}
    check(source(TABLE).pivot("s", values, ["a", "b"], by="k", others="ignore"), expected)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (lambda t: t.pivot("z", count(), ["a"]), "unknown column 'z'\nColumns: k, s, x, y."),
        (lambda t: t.pivot("s", count(), [1]), "'1' is not a string\n's' is string."),
        (lambda t: t.pivot("k", count(), ["one"]), None),
        (lambda t: t.pivot("s", count(), ["a", "a"]), "'a' is listed twice\nLeave one of them out."),
        (lambda t: t.pivot("s", count(), ["a", "k"], by="k"), "pivot gives two columns the name 'k'\nRename one."),
        (lambda t: t.pivot("s", count(), ["a"], by="s"), "'s' makes groups and names columns\nLeave it out of by."),
        (
            lambda t: t.pivot("s", expr("x"), ["a"]),
            "column 'x' has many values in a group\nAggregate it, as in max(x), or add it to by.",
        ),
        (
            lambda t: t.unpivot("x", "s"),
            "'s' is string, and columns before it are int64\nCast it in a step before, or leave it out.",
        ),
        (
            lambda t: t.unpivot("x", values_to="k"),
            "unpivot gives two columns the name 'k'\nGive names_to or values_to another name.",
        ),
        (lambda t: t.unpivot("x", "z"), "unknown column 'z'\nColumns: k, s, x, y."),
    ],
)
def test_what_is_no_pivot_is_refused(source, problem, steps, message):
    found = problem(steps(source(TABLE)))
    assert found.startswith("stage 'wrong_1', step 1: ") if message is None else message in found


@pytest.mark.parametrize("nulls", ["keep", "drop"])
def test_unpivot(source, check, nulls):
    rows = [(k, s, name, value) for k, s, x, y in ROWS for name, value in (("x", x), ("y", y))]
    expected = [(k, s, name, None if value is None else float(value)) for k, s, name, value in rows]
    expected = [row for row in expected if nulls == "keep" or row[3] is not None]
    types = {"k": "int64", "s": "string", "which": "string", "value": "float64"}
    check(source(TABLE).unpivot("x", "y", names_to="which", nulls=nulls), table(types, *expected))


def test_unpivot_of_one_column_and_of_no_rows(source, check):
    t = source(table(TYPES)).unpivot("y", "x", "k")
    check(t, table({"s": "string", "name": "string", "value": "float64"}))


def test_unpivot_undoes_a_pivot_as_in_duckdb(source, check):
    with duckdb.connect() as database:
        database.register("rows", TABLE)
        query = "UNPIVOT (PIVOT rows ON s IN ('a', 'b') USING sum(y) GROUP BY k) ON a, b"
        expected = database.sql(query).to_arrow_table()
    t = source(TABLE).pivot("s", expr("sum(y)"), ["a", "b"], by="k", others="ignore").unpivot("a", "b", nulls="drop")
    check(t, expected)


def test_values_are_those_of_a_parameter(tmp_path):
    text = """\
gpuetl: 1
name: p
parameters: {statuses: {type: list<string>, default: [a, b]}}
sources:
  t: {parquet: t.parquet, schema: {k: int64, s: string, x: int64}}
stages:
  r:
    from: t
    steps:
    - pivot: {by: k, names: s, values: sum(x), columns: $statuses, others: ignore}
    - unpivot: {columns: [a, b], names_to: s, values_to: x, nulls: drop}
"""
    pipeline = loads(text, tmp_path)
    assert loads(pipeline.to_yaml(), tmp_path).to_yaml() == pipeline.to_yaml()
    assert "columns: $statuses" in pipeline.to_yaml()


def test_cells_may_be_nested(source, check):
    types = {"k": "int64", "name": "string", "x": "int64"}
    t = source(table(types, (1, "a", 5), (1, "b", None), (1, "a", 3), (2, "b", 7), (2, None, 1)))
    values = {"all": expr("array_agg(x)"), "pair": expr("max({'x': x, 'n': name})"), "n": expr("count(x)")}
    pivoted = t.pivot("name", values, ["a", "b"], by="k", others="ignore").select("k", "a_all", "b_pair", "a_n", "b_n")
    expected = {
        "k": "int64",
        "a_all": "list<int64>",
        "b_pair": "struct<x: int64, n: string>",
        "a_n": "int64",
        "b_n": "int64",
    }
    rows = [(1, [3, 5], {"x": None, "n": "b"}, 2, 0), (2, None, {"x": 7, "n": "b"}, 0, 1)]
    check(pivoted, table(expected, *rows))
