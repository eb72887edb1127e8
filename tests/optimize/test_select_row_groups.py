"""select_row_groups: sources get the predicates that statistics answer, and no row that matters is lost."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuetl import InvalidPipeline, Pipeline, RunOptions, expr
from gpuetl.optimize import NAMES, PASSES, optimize
from gpuetl.optimize.select_row_groups import select_row_groups
from gpuetl.testing import assert_same, assert_tables_equal
from left_to_full import in_full
from plans import assert_optimized_same, described, kept_plan
from tables import INF, INT64_MAX, INT64_MIN, NAN, table, write_source


def test_the_prunable_parts_go_to_the_source_and_the_filter_stays(t, pipeline):
    t.filter(expr("x > 2 AND x + 1 > 2 AND s IS NOT NULL AND k IN (1, 2)")).stage("result")
    before = described(kept_plan(pipeline))
    after = described(select_row_groups(kept_plan(pipeline)))
    assert after[0].startswith("Read t: 3 of 3 columns where row groups may hold x > 2 AND ")
    assert after[0].endswith("k IN (1, 2)")
    assert "x + 1" not in after[0]
    assert after[1:] == before[1:]
    assert_optimized_same(pipeline)


@pytest.mark.parametrize(
    "predicate", ["x + 1 > 2", "x > k", "x > 1 OR k > 1", "length(s) = 1", "x <> 1", "NOT (x > 1)", "true"]
)
def test_a_filter_without_prunable_parts_changes_nothing(t, pipeline, predicate):
    t.filter(expr(predicate)).stage("result")
    plan = kept_plan(pipeline)
    assert described(select_row_groups(plan)) == described(plan)


def test_a_source_that_another_reads_is_read_whole(t, pipeline):
    t.filter(expr("x > 4")).stage("some")
    t.limit(3).stage("first")
    plan = kept_plan(pipeline)
    assert described(select_row_groups(plan)) == described(plan)
    assert_optimized_same(pipeline)


def test_a_filter_that_two_others_read_is_not_computed_for_each(t, pipeline):
    """It has a prunable part of its own; theirs stay above it."""
    some = t.filter(expr("x > 1")).stage("some")
    some.filter(expr("k > 1")).stage("more")
    some.filter(expr("k < 2")).stage("less")
    reads = [line for line in described(select_row_groups(kept_plan(pipeline))) if line.startswith("Read")]
    assert reads == ["Read t: 3 of 3 columns where row groups may hold x > 1"]
    assert_optimized_same(pipeline)


@pytest.mark.parametrize(
    ("predicate", "rows"),
    [
        ("d > DATE '2024-01-04'", 2), ("ts < TIMESTAMP '2024-01-02 00:00:00'", 2), ("k = 3", 2),
        ("k IN (1, 6)", 4),
        ("ts > TIMESTAMP '2024-01-04 00:00:00'", 2), ("d IS NULL", 0), ("k > 99", 0), ("d IS NOT NULL", 6),
    ],
)  # fmt: skip
def test_row_groups_that_cannot_hold_a_row_are_not_read(pipeline, predicate, rows):
    pipeline.table("v").filter(expr(predicate)).stage("result")
    report = pipeline.run(engine="pandas").report
    assert report.stages[0].rows_in == rows
    assert_optimized_same(pipeline)


def test_the_passes_run_in_their_order_and_stop_before_one(t, pipeline):
    t.sort("x").filter(expr("x > 1 + 1")).select("x").stage("result")
    plan = kept_plan(pipeline)
    assert [rewrite.__name__ for rewrite in PASSES] == list(NAMES)
    for i, name in enumerate(NAMES):
        assert list(optimize(plan, before=name).seconds) == list(NAMES[:i])
    assert described(optimize(plan, before="fold_expressions").plan) == described(plan)
    assert described(optimize(plan, before="prune_columns").plan)[1] == "Filter x > 2"


@pytest.mark.part(2)
@pytest.mark.parametrize("name", NAMES)
def test_a_pass_may_be_skipped_by_name(t, u, pipeline, name):
    steps = t.filter(expr("1 = 1")).sort("k", "x").join(u, "k", "left").filter(expr("x > 2 AND y > 1"))
    steps.window("k", ["x", "s"], n=expr("cum_sum(y)")).window("k", ["x", "s"], m=expr("lag(n)")).select(
        "k", "m"
    ).stage("result")
    options = {
        "skipped": RunOptions(skip_passes=(name,)),
        "skipped, split": RunOptions(skip_passes=(name,), partition_rows=2),
    }
    assert_same(pipeline, partitions=options)
    assert name not in optimize(kept_plan(pipeline), skip=(name,)).seconds


def test_an_unknown_pass_is_refused():
    with pytest.raises(InvalidPipeline, match=r"unknown pass 'push_filter'\nPasses: .*Did you mean 'push_filters'"):
        RunOptions(skip_passes=("push_filter",))


TYPES = {"i": "int64", "n": "int8", "f": "float64", "g": "float32", "s": "string", "b": "bool"}
INTEGERS, FLOATS = [INT64_MIN, -1, 0, 1, 2**53, 2**53 + 1, INT64_MAX], [NAN, -INF, -1.5, -0.0, 0.0, 1.0, INF]
rows = st.lists(
    st.tuples(
        st.none() | st.sampled_from(INTEGERS), st.none() | st.sampled_from([-128, -1, 0, 1, 127]),
        st.none() | st.sampled_from(FLOATS),
        st.none() | st.sampled_from(FLOATS),
        st.none() | st.sampled_from(["", "a", "b", "é", "\uffff", "\U0001f600"]),
        st.none() | st.booleans(),
    ),
    max_size=9,
)  # fmt: skip
NONE = "$none"
"""A null by a parameter: one that is written is an error."""
LITERALS = {
    "i": [
        "-1",
        "0",
        "1",
        "9007199254740992",
        "9007199254740993",
        "9223372036854775807",
        "0.5",
        "9007199254740992.0",
        NONE,
    ],
    "n": ["-128", "0", "127", "300", "0.5", NONE],
    "f": ["0.0", "-0.0", "-1.5", "1", "1e300", NONE],
    "g": ["0.0", "-0.0", "0.1", "1", "1e300", NONE],
    "s": ["''", "'a'", "'é'", "'\U0001f600'", NONE],
    "b": ["true", "false", NONE],
}


@st.composite
def comparisons(draw):
    name = draw(st.sampled_from(list(TYPES)))
    literals = st.sampled_from([literal.replace(NONE, f"{NONE}_{name}") for literal in LITERALS[name]])
    value = draw(literals)
    operator = draw(st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "IN", "IS NULL", "IS NOT NULL", "mirrored"]))
    if operator == "IN":
        return f"{name} IN ({value}, {draw(literals)})"
    if operator == "mirrored":
        return f"{value} {draw(st.sampled_from(['=', '<', '<=', '>', '>=']))} {name}"
    return f"{name} {operator}" if operator.startswith("IS") else f"{name} {operator} {value}"


predicates = st.lists(comparisons(), min_size=1, max_size=3).map(" AND ".join)


@settings(max_examples=in_full(120, 50), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=rows, predicate=predicates, negated=st.booleans())
def test_statistics_never_drop_a_row_that_matters(tmp_path, rows, predicate, negated):
    pipeline = Pipeline("random", root=tmp_path)
    t = write_source(pipeline, "t", table(TYPES, *rows), row_group_size=3)
    for name, dtype in TYPES.items():
        pipeline.param(f"none_{name}", dtype)
    t.filter(expr(f"NOT ({predicate})" if negated else predicate)).stage("s")
    pruned = pipeline.run(engine="pandas", options=RunOptions(partition_rows=1))["s"].to_arrow()
    whole = pipeline.run(engine="pandas", options=RunOptions(optimize=False))["s"].to_arrow()
    assert_tables_equal(pruned, whole, ordered=True)
