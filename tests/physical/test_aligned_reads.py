"""As-of joins that read the right rows near each left partition: which these are, and that the rows stay the same."""

import random
from datetime import datetime, timedelta

import pytest

from gpuetl import RunOptions, col
from gpuetl.optimize import optimize
from gpuetl.physical.layout import Layout
from gpuetl.physical.lower import lower
from gpuetl.physical.nodes import Exchange, Scan
from gpuetl.plan.graph import walk_graph
from gpuetl.testing import assert_tables_equal
from plans import kept_plan
from tables import table, write_source

LEFT, RIGHT = {"k": "int64", "t": "int64"}, {"k": "int64", "u": "int64", "v": "int64"}
TINY = RunOptions(partition_rows=2, broadcast_bytes=0)


def reads(pipeline):
    """Return the row groups of the right side by left partition, or the routes of the exchanges, where there are some."""
    plan = lower(optimize(kept_plan(pipeline)).plan, Layout(2, 0, aligned_reads=True))
    nodes = [*walk_graph(*plan.roots)]
    routes = [node.route for node in nodes if isinstance(node, Exchange) and node.route != "gather"]
    (right,) = [node for node in nodes if isinstance(node, Scan) and node.read.origin.name == "r"]
    return routes or [[group.index for group in part] for part in right.parts]


@pytest.fixture
def sides(pipeline):
    def write(left=(0, 1, 10, 11, 20, 21), right=(0, 2, 8, 9, 14, 14, 30, 31)):
        rows = [table(LEFT, *((i % 2, t) for i, t in enumerate(left)))]
        rows.append(table(RIGHT, *((i % 2, u, i) for i, u in enumerate(right))))
        return [write_source(pipeline, name, each) for name, each in zip("lr", rows, strict=True)]

    return write


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"tolerance": 2}, [[0], [1], []]),
        ({"tolerance": 6}, [[0], [1], [2]]),
        ({"tolerance": 0}, [[0], [], []]),
        ({"tolerance": 4, "direction": "forward"}, [[0], [2], []]),
        ({"tolerance": 9, "direction": "nearest"}, [[0, 1], [0, 1, 2], [2, 3]]),
    ],
)
def test_a_tolerance_says_which_rows_are_near(pipeline, sides, options, found):
    left, right = sides()
    asof = {"left": "t", "right": "u", **options}
    left.join(right.filter(col("v") >= 0), "k", asof=asof).stage("result")
    assert reads(pipeline) == found


@pytest.mark.parametrize(
    ("direction", "found"),
    [("backward", [[0], [1], [2]]), ("forward", [[0, 1], [2], [3]]), ("nearest", [[0, 1], [1, 2], [2, 3]])],
)
def test_without_keys_the_nearest_row_group_is_enough(pipeline, sides, direction, found):
    left, right = sides()
    left.join(right.drop("k"), asof={"left": "t", "right": "u", "direction": direction}).stage("result")
    assert reads(pipeline) == found


def test_otherwise_rows_move(pipeline, sides):
    left, right = sides()
    asof = {"left": "t", "right": "u"}
    left.join(right, "k", asof=asof).stage("by_key")
    assert reads(pipeline) == ["hash", "hash"]
    left.join(right.filter(col("v") > 1).drop("k"), asof=asof).stage("filtered")
    left.join(right, "k", asof={**asof, "tolerance": 2}, validate="many_to_one").stage("checked")
    left.join(right, "k", asof={**asof, "tolerance": 99, "direction": "nearest"}).stage("wide")
    plan = pipeline.plan()
    for stage, routes in (("filtered", ["broadcast"]), ("checked", ["hash", "hash"]), ("wide", ["hash", "hash"])):
        lowered = lower(optimize(plan.keeping([stage])).plan, Layout(2, 0, aligned_reads=True))
        found = [n.route for n in walk_graph(*lowered.roots) if isinstance(n, Exchange) and n.route != "gather"]
        assert found == routes, stage


def test_nulls_and_partitions_without_a_time(pipeline, sides):
    left, right = sides((0, None, None, None, 20, 21), (None, 0, None, None, 20, 20))
    left.join(right.drop("k"), asof={"left": "t", "right": "u"}).stage("result")
    assert reads(pipeline) == [[0], [], [0, 2]]


@pytest.mark.part(4)
@pytest.mark.parametrize("seed", range(2))
def test_the_rows_are_the_same(pipeline, engine, seed):
    rng = random.Random(seed)
    start = datetime(2026, 3, 1, tzinfo=None)

    def times(count, span):
        found = sorted(rng.randrange(span) for _ in range(count))
        return [None if rng.random() < 0.1 else start + timedelta(seconds=s) for s in found]

    types = {"k": "int64", "t": "timestamp", "n": "int64"}
    left, right = (
        write_source(
            pipeline, name, table(types, *((rng.randrange(2), t, i) for i, t in enumerate(times(count, span))))
        )
        for name, count, span in (("l", 11, 60), ("r", 13, 90))
    )
    right = right.rename({"t": "u", "n": "m"})
    for direction in ("backward", "forward", "nearest"):
        for keys, limit in ((None, None), ("k", "7 seconds"), (None, "3 seconds")):
            asof = {"left": "t", "right": "u", "direction": direction, "order_by": "m", "strict": rng.random() < 0.4}
            asof |= {"tolerance": limit} if limit else {}
            joined = left.join(right if keys else right.drop("k"), keys, "left", asof=asof)
            name = joined.named()
            rows = [
                pipeline.run(engine=engine, keep=[name], options=options, write=False)[name].to_arrow()
                for options in (RunOptions(), TINY)
            ]
            assert_tables_equal(rows[1], rows[0], what=f"{direction} {keys} {limit}")
