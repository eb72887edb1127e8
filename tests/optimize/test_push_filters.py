"""push_filters: parts of filters go as far down as the contract allows."""

from datetime import datetime

import pyarrow as pa
import pytest

from gpuetl import RunFailed, RunOptions, col, count, expr, row_number
from gpuetl.optimize.push_filters import push_filters
from plans import assert_optimized_same, described, kept_plan
from tables import table, write_source


@pytest.fixture
def lines(pipeline):
    """Returns the plan of a table's steps as lines, before and after the pass; both give the same answer."""

    def both(steps):
        steps.stage("result")
        plan = kept_plan(pipeline)
        pushed = push_filters(plan)
        assert pushed.kept["result"].schema == plan.kept["result"].schema
        assert_optimized_same(pipeline)
        return described(plan), described(pushed)

    return both


READ_T, READ_U = "Read t: 3 of 3 columns", "Read u: 3 of 3 columns"


def test_a_filter_passes_columns_that_are_passed_on_or_renamed(t, lines):
    before, after = lines(
        t.rename({"x": "z"}).with_columns(c=col("k") + 1, one=expr("1")).filter(expr("z > 2 AND one = 1"))
    )
    assert before[-1] == "Filter z > 2 AND one = 1"
    assert after == [READ_T, "Filter x > 2 AND 1 = 1", *before[1:-1]]


def test_a_filter_stays_above_the_computation_that_it_reads(t, lines):
    before, after = lines(t.with_columns(c=col("k") + 1).filter(expr("c > 2 AND x > 3")))
    assert before[-1] == "Filter c > 2 AND x > 3"
    assert after == [READ_T, "Filter x > 3", before[1], "Filter c > 2"]


def test_filters_meet_each_in_its_step_and_repeats_are_dropped(t, lines):
    _, after = lines(t.filter(expr("x > 1")).filter(expr("s IS NOT NULL AND x > 1")))
    assert after == [READ_T, "Filter x > 1", "Filter NOT s IS NULL"]


def test_a_filter_passes_a_sort(t, lines):
    before, after = lines(t.sort("x").filter(expr("x > 1")))
    assert after == [READ_T, "Filter x > 1", "Sort by x"]
    assert before == [READ_T, "Sort by x", "Filter x > 1"]


@pytest.mark.parametrize(
    ("steps", "below", "above"),
    [
        (lambda t: t.aggregate("k", n=count()), "k > 1", "n > 1"),
        (lambda t: t.distinct("k", keep="first", order_by=["x", "s"]), "k > 1", "x > 1"),
        (lambda t: t.window("k", ["x", "s"], n=row_number()), "k > 1", "n > 1"),
        (lambda t: t.window("k", ["x", "s"], n=row_number()), "k > 1", "x > 1"),
    ],
)
def test_only_a_filter_on_keys_passes_groups(t, lines, steps, below, above):
    before, after = lines(steps(t).filter(expr(f"{below} AND {above}")))
    assert after == [READ_T, f"Filter {below}", *before[1:-1], f"Filter {above}"]


@pytest.mark.parametrize(
    "groups",
    [
        lambda t: t.aggregate("k", n=count()), lambda t: t.distinct("k", keep="first", order_by=["x", "s"]),
        lambda t: t.window("k", ["x", "s"], n=row_number()),
    ],
    ids=["aggregate", "distinct", "window"],
)  # fmt: skip
@pytest.mark.parametrize(
    ("predicate", "moves"),
    [
        ("k > 1.0", True),
        ("k IN (0.0, 1.0) OR k IS NULL", True),
        ("1 / k > 0", False),
        ("k > 1.0 OR 1.0 / k = k", False),
    ],
)
def test_a_filter_that_tells_equal_floats_apart_stays_above_their_groups(t, lines, groups, predicate, moves):
    """-0.0 and 0.0 are one key: a part of their group must not go."""
    floats = t.with_columns(k=expr("CAST(k AS float64)")).sort("x")
    before, after = lines(groups(floats).filter(expr(predicate)))
    moved = [line.split()[0] for line in after].index("Filter") < len(after) - 1
    assert moved is moves
    assert (before == after) is not moves


@pytest.mark.part(2)
@pytest.mark.parametrize(
    "steps",
    [
        lambda t, u: t.limit(3).filter(expr("x > 1")),
        lambda t, u: t.sort("x").limit(3).filter(expr("x > 1")),
        lambda t, u: t.window((), ["x", "s"], n=row_number()).filter(expr("x > 3")),
        lambda t, u: t.aggregate(n=count()).filter(expr("false")),
        lambda t, u: t.aggregate(n=count()).filter(expr("n > 99")),
        lambda t, u: t.with_columns(x=col("x") * 2).filter(expr("x > 3")),
        lambda t, u: t.join(u, "k", "left").filter(expr("y > 1")),
        lambda t, u: t.join(u, "k", "left").filter(expr("y IS NULL")),
        lambda t, u: t.join(u, "k", "left").filter(expr("k < y")),
        lambda t, u: t.join(u, "k", "full").filter(expr("x > 1")),
        lambda t, u: t.join(u, "k", "full").filter(expr("y > 1")),
        lambda t, u: t.join(u.distinct("k"), "k", "full", validate="many_to_one").filter(expr("k > 1")),
        lambda t, u: t.join(u, "k", "semi").filter(expr("x + 1 > 3")),
        lambda t, u: t.join(u, "k", "semi").filter(expr("k + 1 > 3")),
        lambda t, u: t.join(u, "k").filter(expr("x > y")),
        lambda t, u: t.join(u, "k").filter(expr("x + 1 > 3")),
        lambda t, u: t.join(u.distinct("k"), "k", validate="many_to_one").filter(expr("y > 1")),
        lambda t, u: (
            t.distinct("k", keep="first", order_by=["x", "s"])
            .join(u, "k", validate="one_to_many")
            .filter(expr("x > 1"))
        ),
        lambda t, u: (
            t.distinct("k", keep="first", order_by=["x", "s"])
            .join(u, "k", "left", validate="one_to_one")
            .filter(expr("x > 1"))
        ),
        lambda t, u: t.aggregate("k", n=count()).filter(expr("k * 2 > 2")),
        lambda t, u: t.filter(expr("s <> 'a' AND s <> 'b'")).filter(expr("CAST(s AS int64) > 3")),
    ],
)
def test_a_filter_stays_where_it_must(t, u, lines, steps):
    before, after = lines(steps(t, u))
    assert before == after


@pytest.mark.parametrize("how", ["inner", "left"])
def test_parts_go_to_the_side_that_they_read(t, u, lines, how):
    _, after = lines(t.join(u, "k", how).filter(expr("x > 1 AND y > 2 AND x < y")))
    right = ["Filter y > 2"] if how == "inner" else []
    left = [] if how == "inner" else ["y > 2"]
    assert after == [
        READ_T,
        "Filter x > 1",
        READ_U,
        *right,
        f"Join {how} on k",
        f"Filter {' AND '.join([*left, 'x < y'])}",
    ]


@pytest.mark.part(2)
@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
@pytest.mark.parametrize("predicate", ["k > 1", "NOT k IS NULL", "k IS NULL"])
def test_a_filter_on_a_key_goes_to_both_sides(t, u, lines, how, predicate):
    before, after = lines(t.join(u, "k", how).filter(expr(predicate)))
    first, second, *rest = before[:-1]
    assert after == [first, f"Filter {predicate}", second, f"Filter {predicate}", *rest]


@pytest.mark.parametrize("how", ["inner", "left", "right", "semi"])
def test_a_filter_on_keys_that_are_null_goes_to_both_sides_where_nulls_are_equal(t, u, lines, how):
    _, after = lines(t.join(u, "k", how, nulls_equal=True).filter(expr("k IS NULL")))
    assert [line for line in after if line.startswith("Filter")] == ["Filter k IS NULL"] * 2


def test_a_filter_on_a_key_reads_the_right_key_by_its_name(t, u, lines):
    _, after = lines(t.join(u.rename({"k": "j"}), {"k": "j"}, "semi").filter(expr("k > 1")))
    renamed = "Project j = k, 2 columns kept"
    assert after == [READ_T, "Filter k > 1", READ_U, "Filter k > 1", renamed, "Join semi on k = j"]


@pytest.mark.parametrize(("how", "kept"), [("inner", []), ("full", ["Filter k > 1.0"])])
def test_equal_floats_that_differ_are_filtered_on_their_own_side(t, u, lines, how, kept):
    left, right = (side.with_columns(k=expr("CAST(k AS float64)")).sort("k") for side in (t, u))
    _, after = lines(left.join(right, "k", how).filter(expr("k > 1")))
    assert after[after.index(f"Join {how} on k") + 1 :] == kept
    assert len([line for line in after if line.startswith("Filter")]) == 1


def test_keys_of_other_widths_are_filtered_on_their_own_side(t, u, lines):
    _, after = lines(t.join(u.cast(k="int32"), "k").filter(expr("k > 1")))
    assert after.count("Filter k > 1") == 1


def test_a_left_column_that_is_named_as_a_right_key_is_filtered_on_the_left_side(t, u, lines):
    before, after = lines(t.join(u.rename({"k": "x"}), {"k": "x"}).filter(expr("x < y")))
    assert before == after


def test_a_part_that_reads_keys_and_right_columns_goes_right(t, u, lines):
    _, after = lines(t.join(u, "k").filter(expr("k < y")))
    assert after == [READ_T, READ_U, "Filter k < y", "Join inner on k"]


def test_parts_go_to_the_sides_of_a_cross_join(t, u, lines):
    steps = t.join(u.rename({"k": "j"}), how="cross").filter(expr("x > 1 AND y > 2 AND x < y"))
    _, after = lines(steps)
    assert after == [
        READ_T, "Filter x > 1", READ_U, "Filter y > 2", "Project j = k, 2 columns kept", "Join cross", "Filter x < y",
    ]  # fmt: skip


@pytest.mark.parametrize("how", ["semi", "anti"])
def test_a_semi_join_lets_its_rows_be_filtered(t, u, lines, how):
    _, after = lines(t.join(u, "k", how).filter(expr("x > 1")))
    assert after == [READ_T, "Filter x > 1", READ_U, f"Join {how} on k"]


def test_a_right_join_lets_its_right_side_be_filtered(t, u, lines):
    _, after = lines(t.join(u, "k", "right").filter(expr("x > 1 AND y > 2")))
    assert after == [
        READ_U, "Filter y > 2", READ_T, "Join right on k", "Filter x > 1", "Project 5 columns kept",
    ]  # fmt: skip


def test_many_to_one_lets_the_left_side_be_filtered(t, u, lines):
    _, after = lines(t.join(u.distinct("k"), "k", validate="many_to_one").filter(expr("x > 1")))
    assert after == [READ_T, "Filter x > 1", READ_U, "Distinct k", "Join inner on k, many_to_one"]


@pytest.mark.parametrize("validate", ["one_to_one", "one_to_many", "many_to_one"])
def test_a_broken_promise_is_found_in_rows_that_a_filter_would_take_out(t, pipeline, validate):
    sides = (t.filter(expr("x = 6")).drop("s"), t) if validate == "many_to_one" else (t, t.distinct("k"))
    joined = sides[0].join(sides[1], "k", validate=validate, suffix="_r")
    joined.filter(expr("x_r > 99" if validate == "many_to_one" else "x > 99")).stage("result")
    for optimize in (True, False):
        with pytest.raises(RunFailed, match=f"not {validate}"):
            pipeline.run(engine="pandas", options=RunOptions(optimize=optimize))


def test_a_filter_does_not_pass_a_node_that_another_reads(t, pipeline):
    shared = t.sort("x").stage("shared")
    shared.filter(expr("x > 1")).stage("some")
    shared.select("k").stage("all")
    plan = kept_plan(pipeline)
    assert described(push_filters(plan)) == described(plan)
    assert_optimized_same(pipeline)


def test_a_filter_does_not_pass_a_stage_that_is_kept(t, pipeline):
    t.sort("x").stage("kept").filter(expr("x > 1")).stage("some")
    plan = kept_plan(pipeline, "kept", "some")
    assert described(push_filters(plan)) == described(plan)


def test_a_shared_node_s_own_filters_still_move(t, pipeline):
    shared = t.sort("x").filter(expr("x > 1")).stage("shared")
    shared.filter(expr("k = 1")).stage("some")
    shared.limit(2).stage("first")
    after = described(push_filters(kept_plan(pipeline)))
    assert after == [READ_T, "Filter x > 1", "Sort by x", "Filter k = 1", "Limit 2"]
    assert_optimized_same(pipeline)


def test_a_date_that_no_timestamp_holds_is_compared_only_where_it_arrives(pipeline):
    """Beyond 292,000 years the cast that typing puts in has no result; the join drops that row."""
    days = pa.table({"k": [1, 2], "d": pa.array([0, 2**30], "int32").cast("date32")})
    far = write_source(pipeline, "far", days)
    near = write_source(pipeline, "near", table({"k": "int64", "ts": "timestamp"}, (1, datetime(2024, 1, 1))))
    far.join(near, "k").filter(expr("d < TIMESTAMP '2024-01-01'")).select("k").stage("result")
    for optimize in (True, False):
        done = pipeline.run(engine="pandas", options=RunOptions(optimize=optimize))
        assert done["result"].to_arrow().to_pydict() == {"k": [1]}


def test_errors_name_the_step_that_wrote_the_part(t, pipeline):
    t.sort("x").rename({"s": "r"}).filter(expr("CAST(r AS int64) > 3")).stage("result")
    with pytest.raises(RunFailed, match=r"^\S+: stage 'result', step 3: CAST\(s AS int64\) has no result"):
        pipeline.run(engine="pandas")
