"""How many rows a physical node may give."""

from datetime import date, timedelta

import pyarrow as pa
import pytest

from gpuetl import RunOptions, expr
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.physical.column_statistics import PARTS
from gpuetl.physical.size_estimates import column_widths, estimated_rows
from plans import lowered
from tables import table, write_source


@pytest.mark.parametrize(
    ("how", "validate", "rows"),
    [
        ("inner", "many_to_many", 6),
        ("inner", "many_to_one", 6),
        ("inner", "one_to_many", 4),
        ("inner", "one_to_one", 4),
        ("left", "many_to_many", 6),
        ("left", "many_to_one", 6),
        ("left", "one_to_one", 6),
        ("right", "many_to_many", 6),
        ("right", "one_to_many", 4),
        ("right", "one_to_one", 4),
        ("full", "many_to_many", 10),
        ("semi", "many_to_many", 6),
        ("anti", "many_to_many", 6),
        ("cross", "many_to_many", 24),
    ],
)
@pytest.mark.parametrize("partition_rows", [2, 99])
def test_a_join_gives_the_rows_of_the_side_whose_partners_are_unique(pipeline, how, validate, rows, partition_rows):
    write_source(pipeline, "t", table({"k": "int64"}, *((i,) for i in range(6))))
    write_source(pipeline, "u", table({"k": "int64"}, *((i,) for i in range(4))))
    on, suffix = (None, "_r") if how == "cross" else ("k", "")
    t, u = pipeline.table("t"), pipeline.table("u")
    t.join(u, on, how, validate=validate, suffix=suffix).stage("result")
    (root,) = lowered(pipeline, RunOptions(partition_rows=partition_rows)).roots
    assert estimated_rows(root)[id(root)] == rows


@pytest.mark.parametrize(
    ("made", "fewer"),
    [
        (lambda few, many: few, True),
        (lambda few, many: few.union(few), True),
        (lambda few, many: few.union(many), False),
        (lambda few, many: few.join(many.select("s"), "s", "full"), False),
        (lambda few, many: few.join(many.select("s"), "s", "right"), False),
        (lambda few, many: few.join(many.select("s"), "s"), True),
    ],
    ids=["read", "twice", "union", "full join", "right join", "inner join"],
)
def test_groups_are_few_where_all_that_a_key_is_made_of_has_few_strings(pipeline, made, fewer):
    """A side with few says nothing of another with many."""
    few, many = (
        write_source(pipeline, name, pa.table({"s": map(text, range(4000)), "x": range(4000)}), row_group_size=4000)
        for name, text in (("few", lambda i: "ab"[i % 2]), ("many", str))
    )
    made(few, many).aggregate("s", n=expr("count(*)")).stage("result")
    (root,) = lowered(pipeline, RunOptions()).roots
    rows = estimated_rows(root, widths=column_widths(root))[id(root)]
    assert (rows < 100) == fewer


def test_functions_of_few_values_are_there():
    """By their names in the table."""
    assert {("scalar", name) for name in PARTS} <= FUNCTIONS.keys()


@pytest.fixture
def sales(pipeline):
    """4,000 sales in three shops, which a table of their own tells of."""
    shops = write_source(pipeline, "shops", pa.table({"shop": [0, 1, 2], "city": [7, 7, 9], "rent": [1, 2, 3]}))
    days = [date(2024, 12, 1) + timedelta(days=i % 50) for i in range(4000)]
    rows = pa.table({"shop": [i % 3 for i in range(4000)], "x": range(4000), "day": days})
    return write_source(pipeline, "sales", rows, row_group_size=4000).join(shops, "shop")


@pytest.mark.parametrize(
    ("steps", "key", "groups"),
    [
        (lambda sales: sales, "city", 4),  # and null
        (lambda sales: sales.rename({"city": "town"}), "town", 4),
        (lambda sales: sales, "x", 4000),
        (lambda sales: sales.with_columns(city=expr("city + x")), "city", 4000),
        (lambda sales: sales.with_columns(town=expr("city * 2")), "town", 9),  # of null or one of three, and 2
        (lambda sales: sales.with_columns(far=expr("x > 1000")), "far", 3),
        (lambda sales: sales.with_columns(y=expr("year(day)")), "y", 5),  # two, each side one of a zone's, and null
        (lambda sales: sales.with_columns(day=expr("day + interval '1 day'")).cast(day="date"), "day", 103),
        (lambda sales: sales.with_columns(m=expr("month(date '2024-01-01' + x * interval '1 day')")), "m", 13),
        (
            lambda sales: sales.with_columns(size=expr("CASE WHEN x < 9 THEN 'S' WHEN x < 99 THEN 'M' ELSE 'L' END")),
            "size",
            4,
        ),
        (lambda sales: sales.with_columns(b=expr("cast(x % 100 AS int8)")), "b", 257),
        (lambda sales: sales.window(order_by="x", city=expr("cum_sum(city)")), "city", 4000),
        (lambda sales: sales.aggregate("x", city=expr("sum(city)")), "city", 4000),
        (lambda sales: sales.aggregate(["x", "city"], rent=expr("sum(rent)")), "city", 4),
    ],
    ids=[
        "joined",
        "renamed",
        "another",
        "computed",
        "computed of few",
        "truth",
        "year",
        "a day later",
        "month",
        "case",
        "a byte",
        "window",
        "aggregated",
        "a key before",
    ],
)
def test_a_column_has_no_more_values_than_its_table_has_rows(pipeline, sales, steps, key, groups):
    """As long as it is passed on: what is computed for each row may be another value in each."""
    steps(sales).aggregate(key, n=expr("count(*)")).stage("result")
    (root,) = lowered(pipeline, RunOptions()).roots
    assert estimated_rows(root, widths=column_widths(root))[id(root)] == groups
