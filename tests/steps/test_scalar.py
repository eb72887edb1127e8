"""scalar(stage.column): the one value of another stage in an expression."""

import re
from datetime import date
from decimal import Decimal

import pytest

from gpuetl import InvalidPipeline, Pipeline, RunFailed, col, count, expr, loads
from gpuetl.optimize import optimize
from gpuetl.plan.plan import explain_plan
from messages import without_place
from tables import table, write_source

ROWS = {"k": "int64", "x": "float64"}
SALES = [(1, 1.0), (2, 5.0), (3, None), (4, 9.0), (5, -0.0)]


@pytest.fixture
def sales(source):
    return source(table(ROWS, *SALES), "sales")


def test_filter_by_an_average(sales, check):
    average = sales.aggregate(value=col("x").mean()).stage("average")  # 3.75
    check(sales.filter(expr("x > scalar(average.value)")), table(ROWS, (2, 5.0), (4, 9.0)))
    check(
        sales.filter(col("x") > average.scalar("value")).sort("x desc"), table(ROWS, (4, 9.0), (2, 5.0)), ordered=True
    )


def test_values_in_columns_keep_the_order(sales, check):
    totals = sales.aggregate(total=col("x").sum(), n=count(col("x"))).stage("totals")
    shares = sales.sort("x desc nulls first").with_columns(share=expr("x / scalar(totals.total)"))
    share = {"k": "int64", "x": "float64", "share": "float64"}
    rows = [(3, None, None), (4, 9.0, 0.6), (2, 5.0, 5 / 15), (1, 1.0, 1 / 15), (5, -0.0, -0.0)]
    check(shares, table(share, *rows), ordered=True)
    check(shares.limit(2), table(share, *rows[:2]), ordered=True)
    first = sales.sort("k").limit(1).scalar("k")
    numbers = sales.select("k", d=col("k") - first, n=totals.scalar("n")).filter(col("d") > 2)
    check(numbers, table({"k": "int64", "d": "int64", "n": "int64"}, (4, 3, 4), (5, 4, 4)))


def test_in_calls_windows_and_joins(sales, source, check):
    sales.aggregate(least=col("k").min(), most=col("k").max()).stage("low")
    check(sales.aggregate(s=expr("sum(k - scalar(low.least))")), table({"s": "int64"}, (10,)))
    check(
        sales.aggregate(by="k", s=expr("sum(k * scalar(low.most))")).filter(expr("s > scalar(low.most) * 3")),
        table({"k": "int64", "s": "int64"}, (4, 20), (5, 25)),
    )
    windowed = sales.window(order_by="k", so_far=expr("cum_sum(k + scalar(low.least))")).select("k", "so_far")
    check(windowed, table({"k": "int64", "so_far": "int64"}, (1, 2), (2, 5), (3, 9), (4, 14), (5, 20)))
    names = source(table({"k": "int64", "name": "string"}, (4, "four"), (5, "five")), "names")
    joined = sales.join(names, "k").filter(expr("k < scalar(low.most)")).select("name")
    check(joined, table({"name": "string"}, ("four",)))


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("string", "é"), ("string", None), ("bool", True), ("date", date(2024, 2, 29)),
        ("decimal(9, 2)", Decimal("1.25")), ("float64", float("nan")), ("int8", -128), ("uint64", 2**64 - 1),
    ],
)  # fmt: skip
@pytest.mark.single_rows
def test_every_type_is_a_value(sales, source, check, dtype, value):
    source(table({"v": dtype}, (value,)), "one")
    check(
        sales.select("k", v=expr("scalar(one.v)")), table({"k": "int64", "v": dtype}, *((k, value) for k, _ in SALES))
    )


def test_no_row_is_null(sales, check):
    sales.filter(col("k") > 100).stage("none")
    check(sales.select(v=expr("scalar(none.k)")), table({"v": "int64"}, *[(None,)] * 5))
    check(sales.filter(expr("k > scalar(none.k)")), table(ROWS))
    check(sales.filter(expr("k > 100")).with_columns(v=expr("scalar(none.x)")), table({**ROWS, "v": "float64"}))


def test_several_rows_are_an_error(sales, failure):
    sales.filter(col("k") > 2).stage("several")
    assert failure(sales.filter(expr("x > scalar(several.x)")), RunFailed) == (
        "stage 'result', step 1: scalar(several.x) is one value, and 'several' has 3 rows\n"
        "Aggregate, filter or limit that stage to one row."
    )


def problem(steps):
    with pytest.raises(InvalidPipeline) as caught:
        steps.stage("result").pipeline.plan()
    return without_place(str(caught.value))


def test_wrong_values_are_refused(pipeline, tmp_path):
    sales = write_source(pipeline, "sales", table(ROWS, *SALES))
    wrong = problem(sales.filter(expr("x > scalar(sales.z)")))
    assert wrong == "stage 'result', step 1: unknown column 'z' in 'sales'\nColumns of sales: k, x."


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("filter: x > scalar(nothing.x)", "unknown source or stage 'nothing'"),
        ("filter: x > scalar(x)", "scalar takes a stage and one of its columns"),
        ("filter: x > scalar(sales.x, 1)", "scalar takes a stage and one of its columns"),
        ("aggregate: {columns: {n: sum(x) / scalar(one.n)}}", "scalar(one.n) stands outside the calls of an aggregate"),
        ("filter: scalar(one.n) = 'a'", "cannot compare"),
    ],
)
def test_mistakes_are_reported(tmp_path, step, message):
    text = f"""
gpuetl: 1
name: test
sources: {{sales: {{parquet: sales.parquet, schema: {{k: int64, x: float64}}}}}}
stages:
  one: {{from: sales, steps: [{{aggregate: {{columns: {{n: count(*)}}}}}}]}}
  out: {{from: sales, steps: [{{{step}}}]}}
"""
    with pytest.raises(InvalidPipeline) as caught:
        loads(text, tmp_path).plan()
    assert message in str(caught.value)


def test_another_pipelines_value_is_refused(tmp_path):
    here, there = Pipeline("here", root=tmp_path), Pipeline("there", root=tmp_path)
    rows = table(ROWS, *SALES)
    value = write_source(there, "b", rows).aggregate(n=count()).scalar("n")
    with pytest.raises(InvalidPipeline, match="belongs to pipeline 'there'"):
        write_source(here, "a", rows).filter(col("k") > value)


def test_a_circle_is_reported(tmp_path):
    text = """
gpuetl: 1
name: test
sources: {s: {parquet: s.parquet, schema: {x: int64}}}
stages:
  a: {from: s, steps: [{filter: x > scalar(b.x)}]}
  b: {from: s, steps: [{filter: x > scalar(a.x)}]}
"""
    with pytest.raises(InvalidPipeline, match="the stages go in a circle: a → b → a"):
        loads(text, tmp_path).plan()


def test_the_plan_and_the_file_show_it(pipeline, sales):
    sales.aggregate(value=col("x").mean()).stage("average")
    above = sales.filter(expr("x > scalar(average.value)")).filter(col("k") > 1).stage("above")
    plan = explain_plan(pipeline.plan().keeping(["above"]))
    assert plan.splitlines()[:4] == [
        "Filter k > 1",
        "  Project 2 columns kept",
        '    Filter x > "scalar(average.value)"',
        "      Join the value scalar(average.value)",
    ]
    pushed = explain_plan(optimize(pipeline.plan().keeping(["above"])).plan)
    assert re.search(r"Join the value scalar\(average.value\)\n +Filter k > 1\n +Read", pushed)
    again = loads(pipeline.to_yaml(), pipeline.root)
    assert "filter: x > scalar(average.value)" in again.to_yaml()
    assert again.fingerprint == pipeline.fingerprint
    assert above.head(5).to_arrow().column("k").to_pylist() == [2, 4]
