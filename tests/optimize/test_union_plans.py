"""Unions in plans: filters go to both inputs, and both are narrowed to the same columns."""

import pytest

from gpuetl import RunFailed, col, count, expr
from gpuetl.optimize.prune_columns import prune_columns
from gpuetl.optimize.push_filters import push_filters
from plans import assert_optimized_same, described, kept_plan


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


READ_T, READ_U = "Read t: 3 of 3 columns", "Read u: 3 of 3 columns"


def test_a_filter_goes_to_both_inputs(t, u, lines):
    both = t.select("k", "x").union(u.select("k", x=col("y")))
    before, after = lines(both.filter(expr("k > 1 AND x > 3")), push_filters)
    assert before == [
        READ_T,
        "Project 2 columns kept",
        READ_U,
        "Project x = y, 1 columns kept",
        "Union",
        "Filter k > 1 AND x > 3",
    ]
    assert after == [
        READ_T, "Filter k > 1 AND x > 3", "Project 2 columns kept",
        READ_U, "Filter k > 1 AND y > 3", "Project x = y, 1 columns kept", "Union",
    ]  # fmt: skip


def test_a_filter_goes_through_nested_unions(t, lines):
    before, after = lines(t.union(t.sort("x")).union(t.sort("k")).filter(expr("x > 1")), push_filters)
    assert before == [READ_T, "Sort by x", "Union", "Sort by k", "Union", "Filter x > 1"]
    assert after == [READ_T, "Filter x > 1", "Filter x > 1", "Sort by x", "Union", "Filter x > 1", "Sort by k", "Union"]


def test_a_filter_on_a_column_that_one_side_lacks_becomes_one_on_null(t, u, lines):
    both = t.select("k", "s").union(u.select("k"), missing="null")
    _, after = lines(both.filter(expr("s = 'a'")), push_filters)
    assert after == [
        READ_T, "Filter s = 'a'", "Project 2 columns kept",
        READ_U, "Filter NULL = 'a'", "Project 1 columns kept", "Project s = NULL, 1 columns kept", "Union",
    ]  # fmt: skip


def test_a_filter_that_can_fail_stays(t, pipeline):
    t.union(t).filter(expr("CAST(s AS int64) > 3")).stage("result")
    plan = kept_plan(pipeline)
    assert described(push_filters(plan)) == described(plan)
    with pytest.raises(RunFailed, match=r"^\S+: stage 'result', step 2: CAST\(s AS int64\)"):
        pipeline.run(engine="pandas")


def test_a_filter_does_not_pass_a_union_that_another_reads(t, pipeline):
    shared = t.union(t).stage("shared")
    shared.filter(expr("x > 1")).stage("some")
    shared.select("k").stage("all")
    plan = kept_plan(pipeline)
    assert described(push_filters(plan)) == described(plan)
    assert_optimized_same(pipeline)


def test_both_inputs_are_narrowed(t, u, lines):
    both = t.union(u.select("k", x=col("y"), s=expr("CAST(w AS string)"))).select("x")
    before, after = lines(both, prune_columns)
    assert before == [
        READ_T,
        READ_U,
        "Project x = y, s = CAST(w AS string), 1 columns kept",
        "Union",
        "Project 1 columns kept",
    ]
    assert after == [
        "Read t: 1 of 3 columns", "Read u: 1 of 3 columns", "Project x = y", "Union", "Project 1 columns kept",
    ]  # fmt: skip


def test_inputs_that_keep_columns_for_others_are_narrowed_to_the_same(t, pipeline):
    shared = t.filter(expr("s IS NOT NULL")).stage("shared")
    shared.union(t.filter(expr("x > 1"))).aggregate("k", n=count()).stage("counts")
    shared.select("s").stage("texts")
    after = described(prune_columns(kept_plan(pipeline)))
    assert after.count("Project 1 columns kept") == 3
    assert_optimized_same(pipeline)


def test_rows_of_a_union_are_counted_by_one_column(t, lines):
    _, after = lines(t.union(t.sort("x")).aggregate(n=count()), prune_columns)
    assert after == [
        "Read t: 2 of 3 columns", "Project 1 columns kept", "Sort by x", "Project 1 columns kept", "Union",
        "Aggregate n = count(*)",
    ]  # fmt: skip


def test_a_union_promises_no_order(t, pipeline):
    t.sort("x").union(t.sort("x")).stage("result")
    assert kept_plan(pipeline).kept["result"].ordering == ()


def test_columns_that_a_side_computes_alike_stay_apart(t, lines):
    both = t.with_columns(k=col("k") + 1).union(t.with_columns(k=col("k") + 2)).filter(expr("k > 2"))
    before, after = lines(both, push_filters)
    assert after == [READ_T, before[1], "Filter k > 2", before[2], "Filter k > 2", "Union"]
