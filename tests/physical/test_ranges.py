"""Sorts of several partitions: where rows are moved by range, and where they are gathered."""

import pytest

from gpuetl import RunOptions, col, expr
from gpuetl.physical.nodes import Boundaries, Exchange, Map, by_range
from gpuetl.plan.graph import walk_graph
from gpuetl.telemetry.origin import Origin
from plans import lowered, physical_line, physical_lines
from tables import table, write_source

RANGES = ["Read [3]", "sample x desc [1]", "range x desc [3]", "Sort [3]"]
GATHERED = ["Read [3]", "gather [1]", "Sort [1]"]


@pytest.fixture
def t(pipeline):
    """Six rows in partitions of 2."""
    return write_source(pipeline, "t", table({"k": "int64", "x": "int64"}, *((i % 3, i) for i in range(6))))


def lines(steps):
    steps.stage("result")
    return physical_lines(lowered(steps.pipeline))


def test_partitions_are_sorted_by_ranges_and_gathered_to_be_kept(t):
    """A sample of the keys says where the ranges end."""
    assert lines(t.sort("x desc")) == [*RANGES, "gather [1]"]


def test_a_folder_takes_ranges_and_a_file_rows_that_are_sorted_in_one_partition(t, pipeline):
    """One file is written of one partition, so one sort is less work than two."""
    t.sort("x desc").write_parquet("folder", "out")
    t.sort("x desc").write_parquet("file", "out.parquet")
    plan = lowered(pipeline)
    assert [lines_of(source) for _, source in plan.sinks.values()] == [RANGES, GATHERED]


def lines_of(root):
    return [f"{physical_line(node)} [{node.partitions}]" for node in walk_graph(root)]


def test_few_rows_are_sorted_in_one_partition(pipeline):
    """Where the planner knows that they fit, there is nothing to split."""
    for name in "ab":
        (pipeline.root / f"{name}.csv").write_text("x\n1\n")
    steps = pipeline.read_csv("files", "*.csv", schema={"x": "int64"}).sort("x")
    assert lines(steps) == ["Read [2]", "gather [1]", "Sort [1]"]


@pytest.mark.parametrize(
    ("steps", "after"),
    [
        (lambda t: t.filter(col("k") > 0).sort("x desc"), ["Filter [3]", "gather [1]"]),
        (lambda t: t.with_columns(y=col("x") + 1).limit(2), ["Project [3]", "Limit [3]", "gather [1]", "Limit [1]"]),
        (lambda t: t.window((), "x desc", n=expr("row_number()")), ["gather [1]", "Window [1]"]),
    ],
)
def test_what_keeps_an_order_keeps_ranges_in_sequence(t, pipeline, steps, after):
    """They are not sorted again: not after a filter, not to be limited, not for a window over all rows."""
    ordered = t.sort("x desc").with_columns(z=col("x") * 2).stage("sorted")
    ordered.filter(col("z") > 100).stage("other")  # a second reader: no limit, no filter goes below the sort
    assert lines(steps(ordered))[: len(RANGES)] == RANGES
    result = lowered(pipeline).kept["result"]
    drawn = [line for line in lines_of(result) if line not in RANGES]
    assert drawn == ["Project [3]", *after]
    operations = [node.operation for node in walk_graph(result) if isinstance(node, Map)]
    assert all(getattr(o, "presorted", True) for o in operations if type(o).__name__ == "Window")


def test_a_limit_of_ranges_stops_where_it_has_its_rows(t, pipeline):
    """The first rows are in the first partitions."""
    ordered = t.sort("x desc").stage("sorted")
    ordered.limit(2).stage("first")
    ordered.filter(col("x") > 100).stage("other")
    gather = next(n for n in walk_graph(lowered(pipeline).kept["first"]) if isinstance(n, Exchange) and n.limit)
    assert (gather.route, gather.source.partitions, gather.limit) == ("gather", 3, 2)


def test_a_window_over_all_rows_sorts_them_once(t):
    """Rows that come together anyway are sorted where they are."""
    assert lines(t.sort("x desc").window((), "x desc", n=expr("row_number()"))) == [*GATHERED, "Window [1]"]


def test_groups_that_meet_undo_ranges(t, pipeline):
    """They are sorted by the window."""
    steps = t.sort("k", "x").window("k", "x", n=expr("row_number()"))
    assert lines(steps)[3:] == ["Sort [3]", "hash k [3]", "Window [3]", "gather [1]"]


def test_boundaries_are_at_even_ranks_of_as_many_ranges_as_are_worth_it(t, pipeline):
    """A range of less than a 16th of a full partition is none."""
    t.stage("result")
    (scan,) = (node for node in walk_graph(*lowered(pipeline).roots) if not node.inputs)
    boundaries = by_range(scan, (), 1 << 24, Origin("plan", "")).boundaries
    assert isinstance(boundaries, Boundaries)
    assert (boundaries.one_in, boundaries.least, boundaries.ranges) == (4096, 1 << 20, 3)
    assert boundaries.ranks(3 * 4096) == [4096, 8192]
    assert boundaries.ranks(512) == [256]
    assert boundaries.ranks(511) == boundaries.ranks(0) == []


def test_ranges_are_explained(t, pipeline):
    """The plan names the order, and what is read twice."""
    t.sort("x desc").stage("result")
    text = pipeline.explain(options=RunOptions(partition_rows=2))
    assert text.splitlines()[:5] == [
        "Keep result",
        "  Exchange gather: 3 to 1 partitions  ~6 rows",
        "    Sort by x desc  ~6 rows",
        "      Exchange range by x desc: 3 to 3 partitions  ~6 rows",
        text.splitlines()[4],
    ]
    assert "        Exchange sample of 1 row in 1 by x desc: 3 to 1 partitions  ~2 rows\n          = #1, above" in text
    assert "sorts: 1; exchanges: 1 sample, 1 range, 1 gather" in text
