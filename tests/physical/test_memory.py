"""What a plan is expected to need at once, and the partitions that are chosen by it."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import Pipeline, RunOptions, col, expr
from gpuetl.io.data_file import DataFile, RowGroup
from gpuetl.physical.explain_physical import memory_lines
from gpuetl.physical.fit import fitted
from gpuetl.physical.layout import Layout
from gpuetl.physical.memory import expected_memory
from gpuetl.physical.nodes import Map, Scan
from gpuetl.physical.size_estimates import column_widths, estimated_rows
from gpuetl.physical.working_sets import HOST_WORK, SORTING, SPLIT, WORK
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.nodes import NODES, TOGETHER, Aggregate, Filter, Join, NewRows, Read, Sort, Window, Write
from plans import kept_plan, lowered
from tables import table, write_source

ROWS, GROUP = 8_000_000, 1_000_000
AT_ONCE = RunOptions(partition_rows=ROWS)
MIB = 1 << 20


@pytest.fixture
def pipeline(tmp_path):
    """Sources t (k, x: int64) of 8 row groups of a million rows each, as footers that nobody wrote, and u of one."""
    pipeline = Pipeline("test", root=tmp_path)
    for name in ("t", "u"):
        write_source(pipeline, name, table({"k": "int64", "x": "int64"}, (0, 0)))
    return pipeline


@pytest.fixture
def plan(pipeline):
    """Returns the plan of a table's steps over the sources as their made-up footers have them."""

    def of(*steps):
        for place, table_of in enumerate(steps):
            table_of.stage(f"s{place}")
        made = kept_plan(pipeline)
        for node in walk_graph(*made.roots):
            if isinstance(node, Read):
                groups = range(8 if node.dataset.name == "t" else 1)
                file = DataFile(node.dataset.path, {})
                made_up = tuple(RowGroup(file, group, GROUP, {"k": GROUP, "x": GROUP}, {}) for group in groups)
                vars(node.dataset)["row_groups"] = made_up
        return made

    return of


def needs(plan, options=AT_ONCE):
    """Return what a plan needs at once in a layout, as it is written."""
    return fitted(plan, Layout(options.partition_rows, options.broadcast_bytes), 1 << 40, fixed=True).expected


def test_every_operation_says_what_it_works_with():
    """A node that is new needs an entry."""
    assert WORK.keys() == HOST_WORK.keys() == {*NODES, *TOGETHER, NewRows} - {Read, Write}


def test_reading_needs_the_file_as_it_is_and_decompressed_and_its_rows(pipeline, plan):
    expected = needs(plan(pipeline.table("t")))
    assert expected.bytes == ROWS * (16 + 3 * 2)
    assert isinstance(expected.at, Scan)
    assert (expected.ahead, expected.waiting) == (expected.bytes, 0)


def test_a_filter_reads_all_rows_and_writes_them_beside(pipeline, plan):
    expected = needs(plan(pipeline.table("t").filter(col("x") > 0)))
    assert expected.bytes == ROWS * (16 + 16 + WORK[Filter].beside)
    assert str(expected.at.origin) == "stage 's0', step 1"


def test_a_projection_holds_columns_once_that_it_passes_on(pipeline, plan):
    expected = needs(plan(pipeline.table("t").with_columns(y=col("x") * 2, z=col("x") > 0)))
    assert expected.bytes == ROWS * (16 + 8 + 1)


def test_a_sort_of_narrow_rows_needs_its_keys(pipeline, plan):
    """More than the rows in order, which are written when the keys are gone."""
    t = pipeline.table("t")
    assert needs(plan(t.sort("x"))).bytes == ROWS * (16 + SORTING)


def test_a_sort_of_wide_rows_needs_them_twice(pipeline, plan):
    wide = pipeline.table("t").with_columns(**{f"y{place}": col("x") * place for place in range(4)}).sort("x")
    assert needs(plan(wide)).bytes == ROWS * (48 + 48 + WORK[Sort].beside)


def test_a_window_over_rows_in_order_does_not_sort_them(pipeline, plan):
    t = pipeline.table("t")
    first = t.window("k", "x", n=expr("row_number()"))
    assert needs(plan(first)).bytes == ROWS * (16 + max(SORTING, 16 + 8 + WORK[Window].beside))


def test_a_join_holds_both_sides(pipeline, plan):
    t, u = pipeline.table("t"), pipeline.table("u").rename({"x": "y"})
    expected = needs(plan(t.join(u, "k", validate="many_to_one")))
    left, right = ROWS * 16, GROUP * 16
    assert expected.bytes == left + right + ROWS * 24 + WORK[Join].beside * (ROWS + GROUP)


def test_a_side_that_goes_to_every_partition_stays(pipeline, plan):
    """It counts beside each partition of a million rows; the next one is read in what is added for that."""
    t, u = pipeline.table("t"), pipeline.table("u").rename({"x": "y"})
    expected = needs(plan(t.join(u, "k", validate="many_to_one").aggregate(n=expr("count(*)"))),
                     RunOptions(partition_rows=GROUP))  # fmt: skip
    left, right, pairs = GROUP * 16, GROUP * 16, GROUP * 24 + WORK[Join].beside * 2 * GROUP
    assert expected.bytes == left + right + pairs
    assert expected.ahead - expected.bytes == GROUP * (16 + 3 * 2)


def test_a_hash_exchange_needs_its_rows_three_times(pipeline, plan):
    steps = pipeline.table("t").aggregate("k", m=expr("median(x)"))
    expected = needs(plan(steps), RunOptions(partition_rows=GROUP))
    split = GROUP * (3 * 16 + SPLIT.beside)
    assert expected.bytes >= split
    assert expected.waiting >= ROWS * 16


def test_a_stage_that_is_computed_counts_as_what_it_is(pipeline, plan):
    """The second stage that reads it does not compute it again, and the rows of the first are held."""
    sorted_rows = pipeline.table("t").sort("x").stage("sorted")
    expected = needs(plan(sorted_rows.with_columns(y=col("x") + 1), sorted_rows.with_columns(z=col("x") + 2)))
    assert expected.bytes == ROWS * (16 + SORTING)


def test_strings_are_as_wide_as_the_footer_says(pipeline):
    """Written plain: as many bytes as they have, and 4 of an offset; as codes: half of the least and the greatest."""
    rows = pa.table({"plain": ["a" * 30, "b" * 50] * 50, "few": ["ab", "wxyz"] * 50, "list": [[1, 2, 3], [4]] * 50})
    pq.write_table(rows, pipeline.root / "w.parquet", use_dictionary=["few"])
    pipeline.read_parquet("w", "w.parquet").stage("s")
    (root,) = lowered(pipeline).roots
    widths = {name: width.bytes for name, width in column_widths(root)[id(root)].items()}
    assert widths["plain"] == pytest.approx(44, abs=2)
    assert widths["few"] == 4 + 3
    assert widths["list"] == 2 * 8


def test_states_of_estimates_are_as_wide_as_groups_have_rows(pipeline):
    """At most as all registers, or buckets; without a key, there is one group a partition."""
    rows = pa.table({"few": [i % 9 for i in range(90)], "id": range(90), "x": [0.5] * 90})
    pq.write_table(rows, pipeline.root / "g.parquet", row_group_size=45)
    source, calls = pipeline.read_parquet("g", "g.parquet"), ("approx_count_distinct(x)", "approx_quantile(x, 0.5)")
    for key in ("few", "id", ()):
        source.aggregate(key, n=expr(calls[0]), q=expr(calls[1])).stage(f"by_{key or 'none'}")
    plan, found = lowered(pipeline, RunOptions(partition_rows=45)), {}
    widths = column_widths(*plan.roots)
    for node in walk_graph(*plan.roots):
        if isinstance(node, Map) and isinstance(node.operation, Aggregate) and node.partitions == 2:
            states = [width for name, width in widths[id(node)].items() if ":part" in name]
            found.setdefault(node.operation.by, [width.bytes for width in states])
    few, one = 90 / 20, 1
    assert found == {
        ("few",): [4 * few + 4, 8 * few + 4],
        ("id",): [4 * one + 4, 8 * one + 4],
        (): [4 * 4096, 8 * 1280],
    }


def test_lists_of_a_frame_are_as_wide_as_they_are(pipeline):
    """Five numbers in two rows, and three texts, with the offsets of texts and rows."""
    rows = pa.table({"numbers": [[1, 2, 3, 4], [5]], "texts": [["ab", "cd"], ["ef"]]})
    pipeline.from_frame("f", rows).stage("s")
    (root,) = lowered(pipeline).roots
    widths = {name: width.bytes for name, width in column_widths(root)[id(root)].items()}
    assert widths["numbers"] == 2.5 * 8
    assert widths["texts"] == (3 * (2 + 4) + 2 * 4) / 2


def test_few_strings_make_few_groups(pipeline):
    """As many as the bits of their codes tell apart, and one of nulls; of other keys nothing is known."""
    rows = pa.table({"few": ["ab", "wxyz"] * 5000, "x": list(range(10_000))})
    pq.write_table(rows, pipeline.root / "w.parquet")
    w = pipeline.read_parquet("w", "w.parquet")
    w.aggregate("few", n=expr("count(*)")).stage("s")
    w.aggregate(["few", "x"], n=expr("count(*)")).stage("all")
    groups = [estimated_rows(root, widths=column_widths(root))[id(root)] for root in lowered(pipeline, AT_ONCE).roots]
    assert 3 <= groups[0] <= 5
    assert groups[1] == 10_000


def fit(plan, budget, partition_rows=1 << 28, fixed=False):
    return fitted(plan, Layout(partition_rows, 64 * MIB), budget, fixed)


def test_what_fits_is_one_partition(pipeline, plan):
    found = fit(plan(pipeline.table("t").filter(col("x") > 0)), 1 << 30)
    assert [node.partitions for node in walk_graph(*found.plan.roots)] == [1, 1]
    assert (found.fits, found.reads_ahead, found.at_once) == (True, False, None)
    assert memory_lines(found) == ["expected memory: 296.0 MB of 1.1 GB, filter of stage 's0', step 1"]


def test_what_does_not_fit_is_halved_until_two_partitions_do(pipeline, plan):
    """The next one is read while one is computed; the plan says why."""
    steps = pipeline.table("t").filter(col("x") > 0).aggregate(n=expr("sum(x)"))
    found = fit(plan(steps), 150_000_000)
    assert next(node.partitions for node in walk_graph(*found.plan.roots)) == 4
    assert (found.fits, found.reads_ahead) == (True, True)
    assert memory_lines(found) == [
        "expected memory: 118.0 MB of 150.0 MB, filter of stage 's0', step 1, while the next partition is read; "
        "up to 64 B wait between stages",
        "t: 128.0 MB in memory, 4 partitions of up to 2,000,000 rows, since filter of stage 's0', step 1 needs "
        "296.0 MB at once and may take 150.0 MB",
    ]


def test_a_row_group_is_the_least_partition(pipeline, plan):
    """Where that does not fit, the plan says what needs most."""
    found = fit(plan(pipeline.table("t").filter(col("x") > 0).aggregate(n=expr("sum(x)"))), 1000)
    assert next(node.partitions for node in walk_graph(*found.plan.roots)) == 8
    assert not found.fits
    assert not found.reads_ahead
    assert memory_lines(found)[-1].startswith(
        "may not fit, even in its smallest partitions: filter of stage 's0', step"
    )


def test_rows_that_must_be_in_one_place_are_not_cut_for_nothing(pipeline, plan):
    """A window over all rows, in one partition, needs least where these were never apart."""
    found = fit(plan(pipeline.table("t").window((), "x", n=expr("row_number()"))), 100_000_000)
    assert not found.fits
    assert next(node.partitions for node in walk_graph(*found.plan.roots)) == 1


def test_a_side_beyond_its_share_of_memory_goes_nowhere(pipeline, plan):
    t, u = pipeline.table("t"), pipeline.table("t").rename({"x": "y"})
    steps = plan(t.join(u, "k").aggregate(n=expr("count(*)")))
    routes = {
        budget: [node.route for node in walk_graph(*fit(steps, budget, GROUP).plan.roots) if hasattr(node, "route")]
        for budget in (1 << 40, 300_000_000)
    }
    assert routes[1 << 40].count("broadcast") == 0  # t has 128 MB, of which 64 may go
    assert "broadcast" not in routes[300_000_000]


def test_partitions_that_the_user_asks_for_stay(pipeline, plan):
    found = fit(plan(pipeline.table("t")), 1000, GROUP, fixed=True)
    assert next(node.partitions for node in walk_graph(*found.plan.roots)) == 8
    assert found.at_once is None


def test_tables_that_are_written_count_while_the_next_is_computed(pipeline, plan):
    """Two of them and what they are encoded to; at the end, too."""
    pipeline.table("t").write_parquet("out", "out")
    made = plan()
    made_up = fitted(made, Layout(GROUP, 0), 1 << 40, fixed=True)
    table_bytes = GROUP * 16
    assert made_up.expected.bytes == GROUP * (16 + 6) + 2 * 2 * table_bytes
    assert expected_memory(made_up.plan) == made_up.expected
