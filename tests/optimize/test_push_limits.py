"""push_limits: sorts keep, and sources read, only the rows that a limit wants."""

import pytest

from gpuetl import RunOptions, col
from gpuetl.optimize.push_limits import push_limits
from gpuetl.physical.nodes import Exchange, Scan
from gpuetl.plan.graph import walk_graph
from plans import assert_optimized_same, described, kept_plan, lowered


@pytest.fixture
def lines(pipeline):
    """Describes the plan of a table's steps after the pass, inputs first."""

    def of(steps):
        steps.stage("result")
        return described(push_limits(kept_plan(pipeline)))

    return of


def test_a_sort_under_a_limit_keeps_the_first_rows(t, lines):
    assert lines(t.sort("x").limit(2)) == ["Read t: 3 of 3 columns", "Sort by x, first 2", "Limit 2"]


def test_a_limit_passes_projections(t, lines):
    steps = t.sort("x desc").with_columns(y=col("x") + 1).select("y").limit(3)
    assert lines(steps)[1] == "Sort by x desc, first 3"


@pytest.mark.parametrize("counts", [(2, 5), (5, 2)])
def test_the_least_of_two_limits_counts(t, lines, counts):
    assert lines(t.sort("x").limit(counts[0]).limit(counts[1]))[1] == "Sort by x, first 2"


def test_a_source_is_read_as_far_as_a_limit_wants(t, lines):
    assert lines(t.select("k").limit(2))[0] == "Read t: 3 of 3 columns, first 2 rows"


@pytest.mark.parametrize("steps", [
    lambda t: t.filter(col("x") > 1).limit(2),
    lambda t: t.distinct("k").limit(2),
    lambda t: t.aggregate("k", n=col("x").count()).limit(2),
    lambda t: t.window("k", "x", n=col("x").cum_sum()).limit(2),
    lambda t: t.join(t.pipeline.table("u"), "k").limit(2),
    lambda t: t.join(t.pipeline.table("u"), "k", how="left", validate="one_to_one").limit(2),
])  # fmt: skip
def test_a_limit_does_not_pass_what_drops_or_checks_rows(t, lines, steps):
    assert "first" not in "".join(lines(steps(t)))


def test_a_left_join_needs_no_more_left_rows_than_are_wanted(t, u, lines):
    steps = t.sort("x").join(u, "k", how="left").limit(2)
    assert [line for line in lines(steps) if "first" in line] == ["Sort by x, first 2"]


def test_a_limit_says_nothing_to_a_sort_that_another_stage_reads(pipeline, t):
    ordered = t.sort("x").stage("ordered")
    ordered.limit(1).stage("one")
    ordered.select("k").stage("keys")
    plan = push_limits(kept_plan(pipeline, "one", "keys"))
    assert "Sort by x" in described(plan)


def test_row_groups_beyond_a_limit_are_not_read(pipeline, t):
    t.select("x").limit(3).stage("result")
    scans = [node for node in walk_graph(*lowered(pipeline).roots) if isinstance(node, Scan)]
    assert [len(part) for part in scans[0].parts] == [1, 1]  # of three


def test_gathering_stops_where_a_limit_has_its_rows(pipeline, t):
    t.filter(col("x") > 0).limit(1).stage("result")
    exchanges = [node for node in walk_graph(*lowered(pipeline).roots) if isinstance(node, Exchange)]
    assert [node.limit for node in exchanges] == [1]
    report = pipeline.run(options=RunOptions(partition_rows=2)).report
    assert {s.name: s.rows_in for s in report.stages if s.kind == "source"} == {"t": 2}


def test_a_gather_of_rows_in_order_takes_all_partitions(pipeline, t):
    t.window("k", "x", n=col("x").cum_sum()).limit(1).stage("result")
    assert [n.limit for n in walk_graph(*lowered(pipeline).roots) if isinstance(n, Exchange)] == [None, None]


@pytest.mark.part(2)
@pytest.mark.parametrize("count", [0, 1, 2, 5, 6, 100])
@pytest.mark.parametrize("order", [["x"], ["x desc"], ["x nulls first"], ["s desc", "x"], ["x desc nulls first", "k"]])
def test_the_first_rows_in_order_are_the_same(pipeline, t, count, order):
    t.sort(*order).with_columns(y=col("x") + 1).limit(count).stage("result")
    assert assert_optimized_same(pipeline, ordered=True)["result"].num_rows == min(count, 6)


def test_rows_that_tie_keep_the_order_of_the_input(pipeline, t):
    t.with_columns(even=col("x") % 2).sort("even").limit(2).stage("result")
    assert pipeline.run()["result"].to_arrow().column("x").to_pylist() == [4, 6]
