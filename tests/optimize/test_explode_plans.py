"""Explodes in plans: filters on other columns go below, unwanted columns and an unwanted index are left out."""

import pytest

from gpuetl import RunOptions, col, count, expr, row_number
from gpuetl.optimize.prune_columns import prune_columns
from gpuetl.optimize.push_filters import push_filters
from gpuetl.optimize.share_sorts import share_sorts
from plans import assert_optimized_same, described, kept_plan, lowered, physical_lines
from tables import table, write_source


@pytest.fixture
def w(pipeline):
    """Source w with a list of integers a row."""
    rows = (1, "a", [1, 2, 3]), (2, "b", None), (3, "c", []), (None, "3", [4, None])
    return write_source(pipeline, "w", table({"k": "int64", "s": "string", "l": "list<int64>"}, *rows))


@pytest.fixture
def lines(pipeline):
    """Returns the plan of a table's steps as lines, as written and after one pass; both give the same answer."""

    def both(steps, rewrite):
        steps.stage("result")
        plan = kept_plan(pipeline)
        rewritten = rewrite(plan)
        assert rewritten.kept["result"].schema == plan.kept["result"].schema
        assert_optimized_same(pipeline)
        return described(plan), described(rewritten)

    return both


READ = "Read w: 3 of 3 columns"


@pytest.mark.parametrize("keep_empty", [True, False])
def test_a_filter_on_other_columns_goes_below(w, lines, keep_empty):
    exploded = w.explode("l", keep_empty=keep_empty, index="i").filter(expr("k > 1 AND l > 1 AND i < 1"))
    before, after = lines(exploded, push_filters)
    explode = "Explode l with index i" + ("" if keep_empty else ", without empty lists")
    assert before == [READ, explode, "Filter k > 1 AND l > 1 AND i < 1"]
    assert after == [READ, "Filter k > 1", explode, "Filter l > 1 AND i < 1"]


def test_a_filter_that_can_fail_stays(w, lines):
    steps = w.filter(expr("s = '3'")).explode("l", keep_empty=False).filter(expr("CAST(s AS int64) > 2"))
    before, after = lines(steps, push_filters)
    assert before == after


def test_columns_that_nobody_wants_are_not_repeated(w, lines):
    _, after = lines(w.explode("l", index="i").select("l"), prune_columns)
    assert after == ["Read w: 1 of 3 columns", "Explode l", "Project 1 columns kept"]


def test_the_list_is_read_to_count_its_rows(w, lines):
    _, after = lines(w.explode("l").aggregate("k", n=count()), prune_columns)
    assert after == ["Read w: 2 of 3 columns", "Explode l", "Aggregate n = count(*) by k"]


def test_rows_in_order_stay_so(w, lines):
    steps = w.sort("k", "s").explode("l").window("k", "s", n=row_number())
    steps.stage("ties")
    _, after = lines(w.sort("k").explode("l", index="i").window("k", "i", n=row_number()), prune_columns)
    assert after[-1] == "Window n = row_number() by k order by i"
    shared = described(share_sorts(kept_plan(w.pipeline, "ties")))
    assert shared[-1] == "Window n = row_number() by k order by s (already in order)"


def test_an_explode_needs_no_exchange_and_keeps_keys_where_they_met(w, pipeline):
    exploded = w.window("k", "s", n=row_number()).explode("l")
    exploded.distinct("k", "l").stage("result")
    assert physical_lines(lowered(pipeline)) == [
        "Read [2]",
        "hash k [2]",
        "Window [2]",
        "Explode [2]",
        "Distinct [2]",
        "gather [1]",
    ]
    w.explode("l").filter(col("l") > 1).stage("other")
    assert "Explode l  ~32 rows" in pipeline.explain(options=RunOptions(partition_rows=2))
