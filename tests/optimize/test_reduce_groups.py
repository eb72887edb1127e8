"""reduce_groups: a semi join below an operation on groups drops those that a join does not ask for."""

import pytest

from gpuetl import col, expr, row_number
from gpuetl.optimize.reduce_groups import reduce_groups
from gpuetl.plan.graph import walk_graph
from plans import assert_optimized_same, described, kept_plan


@pytest.fixture
def lines(pipeline):
    """Describes the plan of a table's steps after the pass, inputs first."""

    def of(steps):
        steps.stage("result")
        return described(reduce_groups(kept_plan(pipeline)))

    return of


@pytest.fixture
def few(u):
    """Some of the keys."""
    return u.filter(col("y") > 5).select("k", "y").stage("few")


def sums(t):
    return t.aggregate("k", s=col("x").sum())


def test_groups_that_a_join_does_not_want_are_dropped_before_they_are_summed(t, few, lines):
    assert lines(sums(t).join(few, "k")) == [
        "Read t: 3 of 3 columns",
        "Read u: 3 of 3 columns",
        "Filter y > 5",
        "Project 2 columns kept",
        "Join semi on k",
        "Aggregate s = sum(x) by k",
        "Join inner on k",
    ]


@pytest.mark.part(2)
@pytest.mark.parametrize(
    "steps",
    [
        lambda t, few: sums(t).join(few, "k", how="semi"),
        lambda t, few: few.join(sums(t), "k"),
        lambda t, few: few.join(sums(t), "k", how="left"),
        lambda t, few: few.join(sums(t), "k", how="anti"),
        lambda t, few: sums(t).join(few, "k", how="right"),
        lambda t, few: sums(t).rename({"k": "key"}).filter(col("s") > 1).join(few, {"key": "k"}),
        lambda t, few: t.window("k", "x", n=row_number()).select("k", "n").join(few, "k"),
        lambda t, few: t.distinct("k", "s").select("k", "s").join(few, "k"),
        lambda t, few: t.aggregate(["k", "s"], n=expr("count(*)")).join(few, "k"),
        lambda t, few: sums(t).join(few.limit(1), "k"),
        lambda t, few: sums(t).join(few, "k", validate="many_to_one"),
    ],
)
def test_rows_that_a_join_drops_are_not_grouped_and_the_answer_is_the_same(pipeline, t, few, lines, steps):
    assert any("Join semi" in line for line in lines(steps(t, few))[:-1])
    assert_optimized_same(pipeline)


@pytest.mark.parametrize(
    "steps",
    [
        lambda t, few: sums(t).join(few, "k", how="left"),
        lambda t, few: sums(t).join(few, "k", how="full"),
        lambda t, few: sums(t).join(few, "k", how="anti"),
        lambda t, few: sums(t).join(few, "k", validate="one_to_one"),
        lambda t, few: sums(t).join(few.pipeline.table("u"), "k"),
        lambda t, few: t.aggregate("s", k=col("k").max()).join(few, "k"),
        lambda t, few: sums(t).with_columns(k=col("k") + 1).join(few, "k"),
        lambda t, few: sums(t).sort("k").limit(2).join(few, "k"),
        lambda t, few: t.join(few, "k"),
    ],
)
def test_groups_stay_where_their_rows_count_or_nothing_is_gained(pipeline, t, few, lines, steps):
    assert not any("Join semi" in line for line in lines(steps(t, few)))
    assert_optimized_same(pipeline)


def test_groups_that_another_stage_reads_stay(pipeline, t, few):
    summed = sums(t).stage("summed")
    summed.join(few, "k").stage("some")
    summed.filter(col("s") > 1).stage("all")
    plan = reduce_groups(kept_plan(pipeline))
    assert not any("semi" in line for line in described(plan))


def test_a_side_that_is_made_of_the_groups_does_not_reduce_them(pipeline, t):
    summed = sums(t).stage("summed")
    summed.join(summed.filter(col("s") > 1).select("k"), "k").stage("some")
    assert not any("semi" in line for line in described(reduce_groups(kept_plan(pipeline))))
    assert_optimized_same(pipeline)


def test_two_sums_reduce_one_of_each_other(pipeline, t, few):
    left = sums(t.filter(col("x") > 1)).stage("left")
    right = few.aggregate("k", y=col("y").max()).stage("right")
    left.join(right, "k").stage("both")
    plan = reduce_groups(kept_plan(pipeline, "both"))
    assert sum("semi" in node.describe() for node in walk_graph(*plan.roots)) == 1
    assert_optimized_same(pipeline)
