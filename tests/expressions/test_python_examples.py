"""Functions in Python: the examples in the docstrings of methods and functions give the results of the table."""

import re
from datetime import date, datetime, time, timedelta

import pytest

import gpuetl.functions
from expressions.evaluation import aggregated, value, values, windowed
from expressions.test_function_examples import A_MAP, FOUR_HOURS, FOUR_ROWS, ORDERLESS, assert_equal
from gpuetl import Expression, InvalidExpression, col, expr, lit, struct
from gpuetl.expressions.functions import FUNCTIONS, maps
from gpuetl.expressions.functions.aggregates import ORDERED
from gpuetl.expressions.unparse import to_sql

EXAMPLE = re.compile(r"Example: `(.*)` is `(.*)`", re.DOTALL)
PYTHON_NAMES = {"and": "and_", "or": "or_", "not": "not_", "in": "is_in", "count_rows": "count"}
BY_HAND = {"in", "count_rows", "count", "struct_pack", "struct_insert", "struct_update", "list_value", "json_object"}
NAMES = {
    **{name: getattr(gpuetl.functions, name) for name in gpuetl.functions.__all__},
    "col": col, "expr": expr, "lit": lit, "struct": struct, "date": date, "datetime": datetime, "time": time, "timedelta": timedelta,
}  # fmt: skip


def examples():
    for (kind, name), function in FUNCTIONS.items():
        python = PYTHON_NAMES.get(name, name)
        if name not in BY_HAND and (kind, name) not in (("window", "first"), ("window", "last")):
            for where, of in (("function", gpuetl.functions), ("method", Expression)):
                if hasattr(of, python):
                    yield pytest.param(function, getattr(of, python), id=f"{where} {python}")


@pytest.mark.parametrize(("function", "python"), [*examples()])
def test_the_example_of_a_docstring_gives_its_result(function, python):
    code, _ = EXAMPLE.search(python.__doc__).groups()
    sql = to_sql(eval(code, NAMES).syntax)
    if function.kind == "window":
        order = [] if function.name in ORDERLESS else ["ts"]
        for one, expected in zip(windowed(sql, FOUR_HOURS, order), function.result, strict=True):
            assert_equal(one, expected)
    elif function.kind == "aggregate":
        (got,) = aggregated(sql, FOUR_ROWS, order_by=["x"] if function.name in ORDERED else [])
        assert_equal(got, function.result)
    else:
        assert_equal(values(sql, A_MAP)[0] if function in maps.FUNCTIONS else value(sql), function.result)


@pytest.mark.parametrize(
    ("call", "sql"),
    [
        (lambda f: f.date_trunc("month", col("t")), "date_trunc('month', t)"),
        (lambda f: f.lag(col("x"), 2, default=0, ignore_nulls=True), "lag(x, 2, default => 0, ignore_nulls => true)"),
        (lambda f: f.lag(col("x"), ignore_nulls=True), "lag(x, ignore_nulls => true)"),
        (lambda f: f.ewm_mean(col("x"), com=1, adjust=True), "ewm_mean(x, com => 1, adjust => true)"),
        (lambda f: f.concat("a", col("x"), "b", None), "concat('a', x, 'b', NULL)"),
        (lambda f: f.concat_ws("-", col("x"), col("y")), "concat_ws('-', x, y)"),
        (lambda f: f.and_(col("x"), col("y"), col("z")), "x AND y AND z"),
        (lambda f: f.is_in(col("x"), [1, 2]), "x IN (1, 2)"),
        (lambda f: f.count(), "count(*)"),
        (lambda f: f.count(col("x")), "count(x)"),
        (lambda f: f.struct_pack(a=col("x"), b=1), "struct_pack(a := x, b := 1)"),
        (lambda f: f.json_object(a=col("x"), b=1), "json_object('a', x, 'b', 1)"),
        (lambda f: f.struct_update(col("s"), a="x").struct_insert(b=1), "struct_insert(struct_update(s, a := 'x'), b := 1)"),
        (lambda f: f.case(col("c"), 1, 2), "CASE WHEN c THEN 1 ELSE 2 END"),
        (lambda f: f.make_timestamp(2026, 1, 2, 3, 4), "make_timestamp(2026, 1, 2, 3, 4)"),
        (lambda f: f.time_bucket(timedelta(minutes=15), col("t"), date(2026, 1, 1)), "time_bucket(INTERVAL '15 minutes', t, DATE '2026-01-01')"),
    ],
)  # fmt: skip
def test_functions_of_the_module_build_what_sql_builds(call, sql):
    assert to_sql(call(gpuetl.functions).syntax) == sql


@pytest.mark.parametrize(
    "call", [lambda f: f.upper("name"), lambda f: f.max("x"), lambda f: f.coalesce("a", "b"), lambda f: f.min_by("x", "y")]
)  # fmt: skip
def test_a_string_without_an_expression_is_refused(call):
    with pytest.raises(InvalidExpression, match="which may be a column or a constant"):
        call(gpuetl.functions)
