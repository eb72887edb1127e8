"""Lowering: where rows are exchanged, and where not."""

import pickle

import pytest

from gpuetl import Pipeline, RunOptions, col, expr
from gpuetl.expressions.functions import table_entry
from gpuetl.expressions.unparse import to_sql
from gpuetl.io.data_file import DataFile, RowGroup
from gpuetl.physical.layout import Layout, split_groups
from gpuetl.physical.nodes import Map, Scan
from gpuetl.plan.graph import walk_graph
from plans import lowered, physical_line, physical_lines
from tables import table, write_source

NO_BROADCAST = RunOptions(partition_rows=2, broadcast_bytes=0)


@pytest.fixture
def pipeline(tmp_path):
    """Sources t of 6 rows, u of 4 and one of 1."""
    pipeline = Pipeline("test", root=tmp_path)
    types = {"k": "int64", "x": "int64"}
    write_source(pipeline, "t", table(types, *((i % 3, i) for i in range(6))))
    write_source(pipeline, "u", table({"k": "int64", "y": "int64"}, *((i, i) for i in range(4))))
    write_source(pipeline, "one", table({"k": "int64", "z": "int64"}, (0, 0)))
    return pipeline


@pytest.fixture
def lines(pipeline):
    """Lowers the plan that keeps a table's rows."""

    def of(steps, options=None, optimized=True):
        steps.stage("result")
        return physical_lines(lowered(steps.pipeline, options, optimized))

    return of


@pytest.fixture
def t(pipeline):
    return pipeline.table("t")


@pytest.fixture
def u(pipeline):
    return pipeline.table("u")


def test_one_partition_needs_no_exchange(t, u, lines):
    steps = t.join(u, "k").aggregate("k", s=col("x").sum()).sort("s").limit(1)
    expected = ["Read [1]", "Read [1]", "Join [1]", "Aggregate [1]", "Sort [1]", "Limit [1]"]
    assert lines(steps, RunOptions()) == expected


def test_rows_that_stand_alone_stay_and_are_gathered_to_be_kept(t, lines):
    assert lines(t.filter(col("x") >= 0).select(y=col("x") + 1)) == [
        "Read [3]",
        "Filter [3]",
        "Project [3]",
        "gather [1]",
    ]


@pytest.mark.parametrize("how", ["inner", "left"])
def test_a_small_right_side_is_broadcast_and_a_large_one_is_exchanged(t, u, pipeline, how):
    t.join(u, "k", how).stage("result")
    assert physical_lines(lowered(pipeline)) == [
        "Read [3]",
        "Read [2]",
        "broadcast [1]",
        "Join [3]",
        "gather [1]",
    ]
    by_hash = ["Read [3]", "hash k [3]", "Read [2]", "hash k [3]", "Join [3]", "gather [1]"]
    assert physical_lines(lowered(pipeline, NO_BROADCAST)) == by_hash


def test_a_right_side_of_one_partition_is_broadcast_whatever_its_size(t, pipeline, lines):
    steps = t.join(pipeline.table("one"), "k")
    assert lines(steps, NO_BROADCAST) == ["Read [3]", "Read [1]", "broadcast [1]", "Join [3]", "gather [1]"]


def test_a_left_side_of_one_partition_meets_by_hash(u, pipeline, lines):
    steps = pipeline.table("one").join(u, "k")
    assert lines(steps, NO_BROADCAST) == [
        "Read [1]",
        "hash k [2]",
        "Read [2]",
        "hash k [2]",
        "Join [2]",
        "gather [1]",
    ]


BY_HASH = ["Read [3]", "hash k [3]", "Read [2]", "hash k [3]", "Join [3]", "gather [1]"]


@pytest.mark.parametrize("options", [None, NO_BROADCAST])
def test_the_rows_of_a_full_join_meet_whatever_their_size(t, u, lines, options):
    assert lines(t.join(u, "k", "full"), options) == BY_HASH


def test_a_full_join_with_one_partition_meets_by_hash(t, pipeline, lines):
    one = pipeline.table("one")
    by_hash = ["Read [3]", "hash k [3]", "Read [1]", "hash k [3]", "Join [3]", "gather [1]"]
    assert lines(t.join(one, "k", "full")) == by_hash


def test_the_left_side_of_a_right_join_is_broadcast(t, u, lines):
    right = ["Read [2]", "Read [3]", "broadcast [1]", "Join [2]", "Project [2]", "gather [1]"]
    assert lines(t.join(u, "k", "right")) == right


@pytest.mark.parametrize("how", ["semi", "anti"])
@pytest.mark.parametrize(
    ("options", "left", "right"), [(None, [], "broadcast [1]"), (NO_BROADCAST, ["hash k [3]"], "hash k [3]")]
)
def test_of_a_semi_join_s_right_side_distinct_keys_are_moved(t, u, lines, how, options, left, right):
    expected = ["Read [3]", *left, "Read [2]", "Distinct [2]", right, "Join [3]", "gather [1]"]
    assert lines(t.join(u, "k", how), options) == expected


def test_a_semi_join_reads_the_keys_of_its_right_side_alone(t, u, pipeline):
    t.join(u, "k", "semi").stage("result")
    reads = [node.read.columns for node in walk_graph(*lowered(pipeline).roots) if isinstance(node, Scan)]
    assert reads == [("k", "x"), ("k",)]


@pytest.mark.parametrize("options", [None, NO_BROADCAST, RunOptions(broadcast_bytes=0)])
def test_the_right_side_of_a_cross_join_goes_everywhere(t, u, lines, options):
    steps = t.join(u, how="cross", suffix="_u")
    several = options is None or options.partition_rows == 2
    spread = ["Read [3]", "Read [2]", "Project [2]", "broadcast [1]", "Join [3]", "gather [1]"]
    assert lines(steps, options) == (spread if several else ["Read [1]", "Read [1]", "Project [1]", "Join [1]"])


def test_a_cross_join_of_one_partition_with_several_gathers_them(t, pipeline, lines):
    steps = pipeline.table("one").join(t, how="cross", suffix="_t")
    assert lines(steps) == ["Read [1]", "Read [3]", "Project [3]", "broadcast [1]", "Join [1]"]


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
def test_rows_that_met_to_be_joined_do_not_meet_again(t, u, lines, how):
    got = lines(t.join(u, "k", how).distinct("k"), NO_BROADCAST)
    assert got.count("hash k [3]") == 2


def test_the_right_rows_of_a_left_join_are_not_where_their_keys_are(t, u, lines):
    steps = t.join(u.rename({"k": "y", "y": "k2"}), {"k": "y"}, "left").distinct("k2")
    assert [line for line in lines(steps, NO_BROADCAST) if "hash" in line][-1] == "hash k2 [3]"


@pytest.mark.parametrize("validate", ["one_to_one", "one_to_many"])
def test_a_check_of_the_left_keys_needs_them_to_meet(t, u, lines, validate):
    assert "broadcast [1]" not in lines(t.join(u, "k", validate=validate))


@pytest.mark.parametrize(
    "call",
    [
        "sum(x)", "count(x)", "count(*)", "count_if(x > 1)", "min(x)", "max(x)", "mean(x)", "any(x > 1)", "all(x > 1)",
        "var(x)", "std(x)", "var_pop(x)", "std_pop(x)", "covar_samp(x, k)", "covar_pop(x, k)", "corr(x, k)",
        "min_by(x, k)", "max_by(x, k)",
    ],
)  # fmt: skip
def test_aggregates_that_merge_are_computed_before_the_exchange_too(t, lines, call):
    got = [line for line in lines(t.aggregate("k", y=expr(call)), optimized=False) if line != "Project [3]"]
    assert got == ["Read [3]", "Aggregate [3]", "hash k [3]", "Aggregate [3]", "gather [1]"]


@pytest.mark.parametrize("call", ["first(x)", "last(x, ignore_nulls => true)", "first(x) FILTER (WHERE x > 1)"])
def test_first_and_last_pass_their_keys_from_partition_to_partition(t, lines, call):
    got = [line for line in lines(t.aggregate("k", "x", y=expr(call)), optimized=False) if line != "Project [3]"]
    assert got == ["Read [3]", "Aggregate [3]", "hash k [3]", "Aggregate [3]", "gather [1]"]


@pytest.mark.parametrize(
    ("calls", "shared"),
    [
        (
            ["mean(x / 2)", "var(x / 2)", "std(x / 2)"],
            ["count(a)", "sum(a)", "center(a)", "co_moment(a, a)"],
        ),
        (["mean(x)", "sum(x)", "count(x)"], ["count(x)", "wide_sum(x)"]),
    ],
)
def test_what_calls_share_is_computed_once(t, pipeline, calls, shared):
    t.aggregate("k", **{f"y{place}": expr(call) for place, call in enumerate(calls)}).stage("s")
    plan = lowered(pipeline)
    partial = next(node.operation for node in walk_graph(*plan.roots) if physical_line(node) == "Aggregate")
    assert [to_sql(call).replace('"y0:argument0"', "a") for call in partial.calls.values()] == shared


@pytest.mark.parametrize("call", ["median(x)", "quantile(x, 0.9)", "mode(x)", "count(DISTINCT x)"])
def test_other_aggregates_need_all_rows_of_a_group(t, lines, call):
    steps = t.aggregate("k", y=expr(call), n=expr("count(*)"))
    got = [line for line in lines(steps, optimized=False) if line != "Project [3]"]
    assert got == ["Read [3]", "hash k [3]", "Aggregate [3]", "gather [1]"]


def test_without_keys_the_partitions_results_are_gathered(t, lines):
    steps = t.aggregate(s=col("x").sum())
    assert lines(steps) == ["Read [3]", "Aggregate [3]", "gather [1]", "Aggregate [1]", "Project [1]"]


def numbered(t, by, order):
    return t.window(by, order, n=expr("row_number()"))


WINDOW = ["hash k [3]", "Window [3]"]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (lambda t: numbered(t, "k", "x").aggregate("k", s=col("n").sum()), [*WINDOW, "Aggregate [3]"]),
        (
            lambda t: numbered(t, "k", "x").aggregate(["k", "n"], s=expr("count(*)")),
            [*WINDOW, "Aggregate [3]"],
        ),
        (lambda t: numbered(t, "k", "x").distinct("k"), [*WINDOW, "Distinct [3]"]),
        (
            lambda t: numbered(t.distinct("k").rename({"k": "j"}), "j", "x"),
            ["Distinct [3]", "hash k [3]", "Distinct [3]", "Project [3]", "Window [3]"],
        ),
    ],
)
def test_keys_that_have_met_do_not_meet_again(t, lines, steps, expected):
    assert lines(steps(t)) == ["Read [3]", *expected, "gather [1]"]


def test_keys_that_are_computed_anew_meet_again(t, lines):
    steps = t.distinct("k").with_columns(k=col("k") + 1).distinct("k")
    expected = [
        "Distinct [3]",
        "hash k [3]",
        "Distinct [3]",
        "Project [3]",
        "Distinct [3]",
        "hash k [3]",
        "Distinct [3]",
    ]
    assert lines(steps) == ["Read [3]", *expected, "gather [1]"]


def test_fewer_keys_than_have_met_meet_again(t, lines):
    got = lines(t.distinct("k", "x").distinct("k"))
    assert [line for line in got if "hash" in line] == ["hash k x [3]", "hash k [3]"]


def test_sides_that_are_partitioned_by_the_join_s_keys_are_not_exchanged(t, lines):
    sums = t.aggregate("k", s=col("x").sum())
    most = t.aggregate("k", m=col("x").max())
    got = lines(sums.join(most, "k"), NO_BROADCAST)
    assert [line for line in got if "hash" in line] == ["hash k [3]", "hash k [3]"]


def test_one_side_alone_is_exchanged_where_the_other_is_there(t, u, lines):
    got = lines(t.window("k", "x", n=expr("row_number()")).join(u, "k"), NO_BROADCAST)
    assert got == ["Read [3]", "hash k [3]", "Window [3]", "Read [2]", "hash k [3]", "Join [3]", "gather [1]"]


def test_a_window_without_keys_gathers(t, lines):
    assert lines(t.window((), "x", n=expr("row_number()"))) == ["Read [3]", "gather [1]", "Window [1]"]


def test_limit_takes_its_rows_of_each_partition_first(t, lines):
    steps = t.filter(col("x") >= 0).limit(2)
    assert lines(steps) == ["Read [3]", "Filter [3]", "Limit [3]", "gather [1]", "Limit [1]"]


def test_the_first_rows_in_an_order_are_taken_of_each_partition_first(t, lines):
    assert lines(t.sort("x desc").limit(2)) == ["Read [3]", "Sort [3]", "gather [1]", "Sort [1]", "Limit [1]"]


def test_limit_of_ordered_rows_restores_their_order(t, lines):
    steps = t.window("k", "x", n=expr("row_number()")).limit(2)
    assert lines(steps) == [
        "Read [3]",
        "hash k [3]",
        "Window [3]",
        "Limit [3]",
        "gather [1]",
        "Sort [1]",
        "Limit [1]",
    ]


def test_distinct_drops_repeats_before_the_exchange(t, lines):
    assert lines(t.distinct("k")) == ["Read [3]", "Distinct [3]", "hash k [3]", "Distinct [3]", "gather [1]"]


def marks(plan):
    nodes = (node.operation for node in walk_graph(*plan.roots) if isinstance(node, Map))
    return [(type(node).__name__, node.presorted) for node in nodes if hasattr(node, "presorted")]


def test_rows_in_order_are_not_sorted_again_unless_an_exchange_lies_between(t, pipeline):
    steps = t.sort("k", "x").window("k", "x", n=expr("row_number()")).window("k", "x", m=expr("lag(n)"))
    steps.stage("result")
    assert marks(lowered(pipeline, RunOptions())) == [("Sort", False), ("Window", True), ("Window", True)]
    assert marks(lowered(pipeline)) == [("Sort", False), ("Window", False), ("Window", True)]


def test_an_exchange_undoes_an_order(t, pipeline):
    steps = t.window("k", "x", n=expr("row_number()")).window("k", "x", m=expr("lag(n)"))
    steps.window((), ["k", "x"], total=expr("cum_sum(x)")).stage("result")
    assert marks(lowered(pipeline)) == [("Window", False), ("Window", True), ("Window", False)]


def test_a_sort_of_one_partition_that_is_in_order_is_left_out(t, pipeline):
    steps = t.window("k", "x", n=expr("row_number()")).sort("k")
    steps.stage("result")
    assert marks(lowered(pipeline, RunOptions())) == [("Window", False)]
    assert marks(lowered(pipeline)) == [("Window", False), ("Sort", False)]


def test_a_file_takes_one_partition_and_a_folder_all(t, pipeline):
    t.write_parquet("file", "out.parquet")
    t.write_parquet("folder", "out")
    sinks = lowered(pipeline).sinks
    assert [source.partitions for _, source in sinks.values()] == [1, 3]


def test_what_two_stages_read_is_one_node(t, pipeline):
    clean = t.filter(col("x") > 0).stage("clean")
    clean.limit(1).stage("a")
    clean.distinct("k").stage("b")
    assert physical_lines(lowered(pipeline)).count("Filter [3]") == 1


def group(rows, index=0):
    return RowGroup(DataFile("f", {}), index, rows, {}, {})


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], [[]]),
        ([5], [[5]]),
        ([2, 2, 2], [[2, 2], [2]]),
        ([4, 1], [[4], [1]]),
        ([9, 9], [[9], [9]]),
        ([1, 3, 1, 3, 1], [[1, 3], [1, 3], [1]]),
        ([0, 2, 0, 2], [[0, 2, 0, 2]]),
        ([-1, -1], [[-1], [-1]]),
    ],
)
def test_row_groups_are_packed_into_partitions(rows, expected):
    parts = split_groups([group(count) for count in rows], Layout(4, 0))
    assert [[g.rows for g in part] for part in parts] == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([4] * 8, [4, 4]),
        ([3] * 5, [3, 2]),
        ([1] * 4, [4]),  # too few to be worth a worker each
        ([9, 1, 1, 1], [1, 3]),
        ([20] * 3, [1, 1, 1]),  # more than workers, where they would be too large
        ([-1, -1], [1, 1]),
    ],
)
def test_each_worker_gets_a_share_of_a_large_source(rows, expected):
    """Two workers; how many row groups each partition has."""
    groups = [group(count << 18 if count > 0 else count) for count in rows]
    assert [len(part) for part in split_groups(groups, Layout(21 << 18, 0, partitions=2))] == expected


def test_row_groups_that_statistics_exclude_are_not_read(t, pipeline):
    t.filter(col("x") >= 4).stage("result")
    (scan,) = (node for node in walk_graph(*lowered(pipeline).roots) if isinstance(node, Scan))
    assert (len(scan.parts), scan.skipped) == (1, 2)


def test_a_source_of_which_nothing_is_left_has_one_empty_partition(t, pipeline):
    t.filter(col("x") > 99).stage("result")
    (scan,) = (node for node in walk_graph(*lowered(pipeline).roots) if isinstance(node, Scan))
    assert (scan.parts, scan.skipped) == (((),), 3)
    assert pipeline.run(engine="pandas")["result"].to_arrow().num_rows == 0


def test_a_lowered_plan_travels_to_another_process(t):
    steps = t.filter(expr("x > 1")).aggregate("k", n=expr("sum(x) / count(*)"), w=expr("sum(x)"))
    steps.stage("result")
    plan = lowered(steps.pipeline, NO_BROADCAST)
    again = pickle.loads(pickle.dumps(plan))
    assert physical_lines(again) == physical_lines(plan)
    operations = [node.operation for node in walk_graph(*again.roots) if isinstance(node, Map)]
    calls = [call for operation in operations for call in getattr(operation, "calls", {}).values()]
    assert all(call.function is table_entry("aggregate", call.function.name) for call in calls)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (RunOptions(partition_rows=2), ["Read [3]", "Read [2]", "Union [5]", "gather [1]"]),
        (RunOptions(partition_rows=9), ["Read [1]", "Read [1]", "Union [2]", "gather [1]"]),
        (RunOptions(partition_rows=10), ["Read [1]", "Read [1]", "Union [1]"]),
    ],
)
def test_a_union_moves_no_row_and_two_small_inputs_share_a_partition(t, u, lines, options, expected):
    got = lines(t.select("k").union(u.select("k")), options)
    assert [line for line in got if "Project" not in line] == expected


def test_a_union_of_rows_that_met_by_key_keeps_them_so(t, lines):
    sides = t.distinct("k"), t.filter(col("x") > 0).distinct("k")
    got = lines(sides[0].union(sides[1]).aggregate("k", n=expr("count(*)")))
    assert [line for line in got if "hash" in line] == ["hash k [3]", "hash k [3]"]
    assert got[-3:] == ["Union [3]", "Aggregate [3]", "gather [1]"]


def test_a_union_of_rows_that_met_by_other_keys_exchanges_them(t, lines):
    got = lines(t.distinct("k").union(t.distinct("x")).aggregate("k", n=expr("median(x)")))
    assert [line for line in got if "hash" in line] == ["hash k [3]", "hash x [3]", "hash k [6]"]


def test_a_union_is_explained(t, u, pipeline):
    t.select("k").union(u.select("k")).stage("result")
    text = pipeline.explain(options=RunOptions(partition_rows=2))
    assert (
        "  Exchange gather: 5 to 1 partitions  ~10 rows\n    Union: 5 partitions, one input's after the other's  ~10 rows\n"
        in text
    )
    assert "  Union  ~10 rows\n" in pipeline.explain()
