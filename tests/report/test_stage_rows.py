"""How many rows a stage had when it began, and how many when it ended, whatever the optimizer moved."""

import pytest

from gpuetl import RunOptions, col
from tables import table


@pytest.fixture
def counted(pipeline, engine, layout):
    """Returns the rows that came into a stage, and those that left it."""

    def rows(steps):
        steps.stage("counted")
        stages = pipeline.run(engine=engine, keep=["counted"], options=layout).report.stages
        return next((s.rows_in, s.rows_out) for s in stages if s.name == "counted")

    return rows


@pytest.fixture
def small(source):
    """Three rows, those of a stage's beginning."""
    return source(table({"k": "int64", "x": "int64"}, (1, 1), (2, 2), (3, 3)), "small")


@pytest.fixture
def large(source):
    """Nine rows to join with them."""
    return source(table({"k": "int64", "y": "int64"}, *((k, k) for k in range(9))), "large")


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("how", "leaving"), [("inner", 3), ("left", 3), ("right", 9), ("full", 9), ("semi", 3), ("anti", 0)]
)
def test_a_join_begins_with_the_rows_before_it(small, large, counted, how, leaving):
    """Those of the other side do not come into the stage, also where the plan exchanges the sides."""
    assert counted(small.join(large, "k", how=how)) == (3, leaving)


def test_a_cross_join_begins_with_the_rows_before_it(small, large, counted):
    """They are paired, and counted once."""
    assert counted(small.join(large.drop("k"), how="cross")) == (3, 27)


@pytest.mark.parametrize(("how", "leaving"), [("inner", 2), ("right", 7)])
def test_a_filter_that_moves_to_the_other_side_does_not_begin_the_stage(small, large, counted, how, leaving):
    """It runs before the join does, on rows that are not the stage's own."""
    assert counted(small.join(large, "k", how=how).filter(col("y") > 1)) == (3, leaving)


def test_a_filter_that_moves_through_the_other_side_s_stage_does_not_begin_the_stage(small, large, counted):
    """It runs before a projection of another stage."""
    renamed = large.with_columns(z=col("y") * 1).rename({"y": "w"}).stage("renamed")
    assert counted(small.join(renamed, "k").filter(col("w") > 1)) == (3, 2)


def test_filters_that_move_to_both_inputs_of_a_union_begin_the_stage_with_the_first(small, large, counted):
    """The rows that are added do not come into the stage."""
    assert counted(small.union(large.rename({"y": "x"})).filter(col("x") > 1)) == (3, 9)


def test_a_right_join_counts_the_rows_of_its_beginning_once(small, large, pipeline):
    """They go to every partition of the side that is kept."""
    small.join(large, "k", how="right").stage("counted")
    stages = pipeline.run(options=RunOptions(partition_rows=2)).report.stages
    assert next(s.rows_in for s in stages if s.name == "counted") == 3
