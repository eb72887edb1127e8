"""Rows of every input of a stage, and in and out of every step, whatever the optimizer moved and however rows are split."""

from dataclasses import replace

import pytest

from gpuetl import col, count, expr
from tables import table

KX = {"k": "int64", "x": "int64"}


@pytest.fixture
def small(source):
    """Four rows, those of a stage's beginning; one has no match."""
    return source(table(KX, (1, 1), (2, 2), (3, 3), (-1, 4)), "small")


@pytest.fixture
def large(source):
    """Nine rows to join with them."""
    return source(table({"k": "int64", "y": "int64"}, *((k, k * 10) for k in range(9))), "large")


@pytest.fixture
def funnel(pipeline, engine, layout):
    """Runs what ends in a stage `s`; returns the inputs and the steps of each stage by its name."""

    def run(steps, optimize=True):
        steps.stage("s")
        options = replace(layout, optimize=optimize)
        report = pipeline.run(engine=engine, keep=["s"], options=options).report
        return {
            stage.name: (
                [(one.verb, one.name, one.rows) for one in stage.inputs],
                [(one.step, one.verb, one.rows_in, one.rows_out, one.remark) for one in stage.steps],
            )
            for stage in report.stages
            if stage.kind == "stage"
        }

    return run


def test_a_stage_has_the_rows_of_all_its_inputs_and_steps(small, large, funnel):
    some = large.filter(expr("y % 20 = 0")).stage("some")
    steps = (
        small.filter(expr("x + 0 < 4"))
        .join(some, "k", how="left")
        .union(small.with_columns(y=col("x")), small_y(large))
    )
    assert funnel(steps.aggregate("x", n=count()).sort("x").limit(2)) == {
        "some": ([("from", "large", 9)], [(1, "filter", 9, 5, "")]),
        "small_1": ([("from", "small", 4)], [(1, "with_columns", 4, 4, "")]),
        "large_1": ([("from", "large", 9)], [(1, "select", 9, 9, "")]),
        "s": (
            [("from", "small", 4), ("join", "some", 5), ("union", "small_1", 4), ("union", "large_1", 9)],
            [
                (1, "filter", 4, 3, ""),
                (2, "join", 3, 3, ""),
                (3, "union", 3, 16, ""),
                (4, "aggregate", 16, 9, ""),
                (5, "sort", 9, 2, "only the first 2 rows, which is what a later limit takes"),
                (6, "limit", 2, 2, ""),
            ],
        ),
    }


def small_y(large):
    """Return the rows of the other table under the names of the first one's."""
    return large.select("k", "y", x=col("k"))


def test_as_written_nothing_is_moved(small, large, funnel):
    joined = small.join(large, "k").filter(col("y") != 10).distinct("x").sort("x")
    assert funnel(joined, optimize=False)["s"] == (
        [("from", "small", 4), ("join", "large", 9)],
        [
            (1, "join", 4, 3, ""),
            (2, "filter", 3, 2, ""),
            (3, "distinct", 2, 2, ""),
            (4, "sort", 2, 2, ""),
        ],
    )


@pytest.mark.parametrize(
    ("how", "joined"),
    [("inner", 2), ("right", 8)],
)
def test_a_filter_that_was_moved_is_reported_where_it_ran(small, large, funnel, how, joined):
    """Of a right join the rows that are added are those that the plan begins with."""
    inputs, steps = funnel(small.join(large, "k", how=how).filter(col("y") != 10))["s"]
    assert inputs == [("from", "small", 4), ("join", "large", 9)]
    assert steps[0] == (1, "join", 4, joined, "")
    assert steps[1] == (2, "filter", 9, 8, "moved: ran before step 1, on the rows that it adds")


def test_a_filter_in_both_inputs_of_a_union_has_a_line_for_each(small, large, funnel):
    inputs, steps = funnel(small.union(large.rename({"y": "x"})).filter(col("x") != 1))["s"]
    assert inputs == [("from", "small", 4), ("union", "large_1", 9)]
    assert steps == [
        (1, "union", 3, 12, "after step 2, which was moved here"),
        (2, "filter", 4, 3, "moved: ran before step 1"),
        (2, "filter", 9, 9, "moved: ran in stage 'large_1', before its step 1"),
    ]


def test_a_filter_of_a_stage_that_ran_in_another_one(small, funnel):
    """The stage that is left without an operation has no rows that came into it."""
    doubled = small.with_columns(z=col("x") * 2).stage("doubled")
    assert funnel(doubled.filter(col("x") != 1)) == {
        "doubled": (
            [("from", "small", 4)],
            [(1, "with_columns", 3, 3, "after stage 's', step 1, which was moved here")],
        ),
        "s": ([("from", "doubled", None)], [(1, "filter", 4, 3, "moved: ran in stage 'doubled', before its step 1")]),
    }


def test_steps_that_did_not_run_have_no_numbers(small, funnel):
    assert funnel(small.sort("x").window(order_by="x", n=expr("row_number()")).sort("x").filter(expr("1 = 1")))["s"][
        1
    ] == [
        (1, "sort", 4, 4, ""),
        (2, "window", 4, 4, ""),
        (3, "sort", None, None, "did not run: it changes no row here"),
        (4, "filter", None, None, "did not run: it changes no row here"),
    ]


def test_distinct_keys_of_a_semi_join_do_not_count_for_the_other_stage(small, large, funnel):
    twice = large.union(large).filter(expr("y + 0 > 0")).stage("twice")
    found = funnel(small.join(twice, "k", how="semi"))
    assert found["twice"][1][-1][3] == 16
    assert found["s"] == ([("from", "small", 4), ("join", "twice", 16)], [(1, "join", 4, 3, "")])


def test_groups_that_a_later_join_asks_for(large, small, funnel):
    sums = large.aggregate("k", s=expr("sum(y)")).stage("sums")
    found = funnel(small.filter((col("x") != 3) & (col("x") != 4)).join(sums, "k"))
    assert found["sums"] == (
        [("from", "large", 9)],
        [(1, "aggregate", 9, 2, "only groups that a later join asks for")],
    )
    assert found["s"] == ([("from", "small", 4), ("join", "sums", 2)], [(1, "filter", 4, 2, ""), (2, "join", 2, 2, "")])


def test_a_left_join_that_grows_is_noted(small, large, pipeline, engine, layout):
    doubled = large.union(large).stage("doubled")
    small.join(doubled, "k", how="left").stage("s")
    small.join(large, "k", how="left").stage("same")
    report = pipeline.run(engine=engine, options=layout).report
    assert [note for note in report.notes if "join" in note] == [
        "stage 's', step 1: the left join made 7 rows of 4, because its right side has several rows of one key.  "
        "Set validate: many_to_one if it should have one"
    ]


def test_a_source_tells_the_rows_that_were_not_read(small, pipeline, engine):
    small.filter(col("x") > 2).stage("s")
    source = pipeline.run(engine=engine).report.stages[0]
    assert (source.rows_out, source.skipped_rows) == (2, 2)


def test_rows_that_rules_remove_are_a_line_of_their_own(small, funnel):
    found = funnel(small.filter(expr("x > 1")).expect(that=expr("x < 4"), name="few", on_fail="drop"))
    assert found["s"][1] == [(1, "filter", 4, 3, ""), (2, "expect", 3, 2, "")]


def test_sinks_and_quarantines_have_the_rows_that_they_were_given(small, pipeline, engine, layout):
    kept = small.expect(that=expr("x < 4"), name="few", on_fail="quarantine").stage("kept")
    kept.write_csv("out", "out.csv", mode="overwrite")
    kept.rejected.write_csv("rejects", "rejects.csv", mode="overwrite")
    report = pipeline.run(engine=engine, keep=(), options=layout).report
    rows = {stage.name: (stage.rows_in, stage.rows_out) for stage in report.stages if stage.kind != "source"}
    assert (rows["out"], rows["rejects"], rows["kept.rejected"]) == ((3, 3), (1, 1), (4, 1))
