"""Columns whose names the planner might make."""

import pytest

from gpuetl import col, count, expr
from tables import table

pytestmark = pytest.mark.single_rows


@pytest.fixture
def rows(source):
    types = {"k": "int64", "n:part0": "int64", "x:part0": "int64", "v": "float64"}
    return source(table(types, *((i % 3, i, 10, float(i)) for i in range(9))))


def test_a_key_may_have_the_name_of_a_partial_result(rows, check):
    check(rows.aggregate("n:part0", n=count()), table({"n:part0": "int64", "n": "int64"}, *((i, 1) for i in range(9))))


def test_a_column_may_have_the_name_of_a_prepared_argument(rows, check):
    steps = rows.aggregate("k", x=expr("covar_samp(v, k)"), z=col("x:part0").sum()).select("k", "z")
    check(steps, table({"k": "int64", "z": "int64"}, (0, 30), (1, 30), (2, 30)))


def test_outputs_may_have_the_names_of_calls_inside_others(rows, check):
    columns = {"d": expr("sum(v) + 1"), "d:0": expr("sum(k)")}
    found = rows.aggregate("k", **columns)
    check(found, table({"k": "int64", "d": "float64", "d:0": "int64"}, (0, 10.0, 0), (1, 13.0, 3), (2, 16.0, 6)))
    steps = rows.filter(col("k") == 1).window("k", "v", **{"q": expr("cum_sum(v) + 1"), "q:0": expr("cum_count(k)")})
    check(steps.select("q", "q:0"), table({"q": "float64", "q:0": "int64"}, (2.0, 1), (6.0, 2), (13.0, 3)))


def test_a_constant_list_of_no_rows_is_no_error(rows, check):
    none = rows.filter(col("k") > 99).with_columns(parts=expr("split('a,b', ',')"))
    check(none.select("parts"), table({"parts": "list<string>"}))
    check(none.explode("parts").select("parts"), table({"parts": "string"}))
    check(none.select(has=expr("list_contains(split('a', ','), CAST(k AS string))")), table({"has": "bool"}))
