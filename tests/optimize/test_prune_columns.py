"""prune_columns: only what somebody wants is read and computed."""

import pytest

from gpuetl import col, count, expr, row_number
from gpuetl.optimize.prune_columns import prune_columns
from plans import assert_optimized_same, described, kept_plan
from tables import table


@pytest.fixture
def lines(pipeline):
    """Returns the plan after the pass as lines; it gives the same answer."""

    def after(steps):
        steps.stage("result")
        plan = kept_plan(pipeline)
        pruned = prune_columns(plan)
        assert pruned.kept["result"].schema == plan.kept["result"].schema
        assert_optimized_same(pipeline)
        return described(pruned)

    return after


def test_a_source_reads_the_columns_that_are_wanted(t, lines):
    assert lines(t.filter(expr("x > 1")).select("k")) == [
        "Read t: 2 of 3 columns",
        "Filter x > 1",
        "Project 1 columns kept",
    ]


def test_a_plan_that_wants_all_stays(t, lines):
    assert lines(t.filter(expr("x > 1"))) == ["Read t: 3 of 3 columns", "Filter x > 1"]


def test_computed_columns_that_nobody_wants_are_not_computed(t, lines):
    steps = t.with_columns(a=col("x") + 1, b=expr("upper(s)")).window("k", ["x", "a"], n=row_number(), m=expr("lag(b)"))
    assert lines(steps.select("k", "n")) == [
        "Read t: 2 of 3 columns", "Project a = x + 1, 2 columns kept",
        "Window n = row_number() by k order by x, a", "Project 2 columns kept",
    ]  # fmt: skip


def test_aggregates_that_nobody_wants_are_not_computed(t, lines):
    steps = t.aggregate("k", n=count(), high=expr("max(s)"), s=expr("sum(x)")).select("s")
    assert lines(steps) == [
        "Read t: 2 of 3 columns",
        "Aggregate s = sum(x) by k (not kept: k)",
        "Project 1 columns kept",
    ]


@pytest.mark.parametrize(("kept", "expected"), [("f", "Read t: 3 of 3 columns"), ("n", "Read t: 1 of 3 columns")])
def test_an_order_is_read_where_an_aggregate_that_is_wanted_needs_it(t, lines, kept, expected):
    steps = t.aggregate("k", ["s", "x desc"], n=count(), f=col("x").first())
    assert lines(steps.select(kept))[0] == expected


@pytest.mark.parametrize("aggregated", [{"n": count()}, {"one": expr("1")}])
def test_rows_are_counted_by_the_cheapest_column(t, lines, aggregated):
    assert lines(t.aggregate(**aggregated))[0] == "Read t: 1 of 3 columns"


def test_rows_of_strings_alone_are_counted(t, lines):
    assert lines(t.select("s").select(one=expr("1")))[0] == "Read t: 1 of 3 columns"


def test_what_goes_into_a_join_is_narrowed(t, u, lines):
    steps = t.filter(expr("x > 1")).join(u.filter(expr("w > 0")), "k").select("s", "y")
    assert lines(steps) == [
        "Read t: 3 of 3 columns", "Filter x > 1", "Project 2 columns kept", "Read u: 3 of 3 columns",
        "Filter w > 0",
        "Project 2 columns kept", "Join inner on k", "Project 2 columns kept",
    ]  # fmt: skip


def test_a_left_column_of_the_name_of_a_right_key_is_the_left_one_s(t, u, lines):
    steps = t.join(u.rename({"k": "x"}), {"k": "x"}).select("x", "y")
    assert lines(steps)[0] == "Read t: 2 of 3 columns"


def test_a_shared_node_keeps_what_all_its_readers_want(t, pipeline):
    shared = t.filter(expr("s IS NOT NULL")).stage("shared")
    shared.select("k").stage("a")
    shared.aggregate(n=expr("sum(x)")).stage("b")
    after = described(prune_columns(kept_plan(pipeline)))
    assert after[0] == "Read t: 3 of 3 columns"
    assert len([line for line in after if line.startswith("Filter")]) == 1
    assert_optimized_same(pipeline)


def test_a_distinct_keeps_its_keys_and_its_order(t, lines):
    steps = t.distinct("k", keep="first", order_by=["x", "s"]).select(one=expr("1"))
    assert lines(steps)[0] == "Read t: 3 of 3 columns"


def test_keys_that_nobody_reads_are_not_kept(t, lines):
    """They tell groups apart all the same, on every engine and in any partitions."""
    steps = t.aggregate(["k", "s"], n=count(), total=expr("sum(x)"))
    assert lines(steps.aggregate("s", groups=count(), n=expr("sum(n)")))[1:] == [
        "Aggregate n = count(*) by k, s (not kept: k)", "Aggregate groups = count(*), n = sum(n) by s",
    ]  # fmt: skip


def test_one_column_is_kept_of_groups_that_are_only_counted(t, lines):
    found = lines(t.aggregate(["k", "s"], total=expr("sum(x)")).aggregate(groups=count()))
    assert found[1:] == ["Aggregate  by k, s (not kept: s)", "Aggregate groups = count(*)"]


def test_groups_without_their_keys_are_as_many(source, check):
    rows = table({"k": "string", "l": "int64", "x": "int64"}, ("a", 1, 1), ("a", 1, 2), ("a", None, 4), (None, 1, 8), ("b", 1, 16))  # fmt: skip
    steps = source(rows, "pairs").aggregate(["k", "l"], t=expr("sum(x)"), m=expr("mean(x)")).select("t", "m")
    check(steps, table({"t": "int64", "m": "float64"}, (3, 1.5), (4, 4.0), (8, 8.0), (16, 16.0)))
