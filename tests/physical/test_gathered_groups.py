"""Few groups meet in one partition: an exchange by key costs a task for each pair of partitions."""

import pyarrow as pa
import pytest

from gpuetl import Pipeline, RunOptions, expr
from gpuetl.physical import lower
from gpuetl.physical.nodes import Exchange
from gpuetl.plan.graph import walk_graph
from gpuetl.run.planning import lowered
from gpuetl.testing import assert_same
from tables import write_source

FOUR = RunOptions(partition_rows=10)


@pytest.fixture
def groups(tmp_path):
    """Sums by a text of which three are distinct, of forty rows."""
    pipeline = Pipeline("p", root=tmp_path)
    rows = pa.table({"s": ["abc"[i % 3] for i in range(40)], "x": range(40)})
    t = write_source(pipeline, "t", rows, row_group_size=10)
    t.aggregate("s", n=expr("count(*)"), x=expr("sum(x)")).stage("out")
    return pipeline


def routes(pipeline, options, stage="out"):
    """Return how rows are exchanged."""
    physical, _ = lowered(pipeline.plan().keeping([stage]), options, "pandas")
    return [node.route for node in walk_graph(*physical.roots) if isinstance(node, Exchange)]


def test_few_groups_are_gathered(groups):
    """And are where all that is kept is."""
    assert routes(groups, FOUR) == ["gather"]


def test_few_distinct_rows_are_gathered(groups):
    """In the same way."""
    groups.table("t").select("s").distinct().stage("texts")
    assert routes(groups, FOUR, "texts") == ["gather"]


@pytest.mark.parametrize(
    "options",
    [
        RunOptions(partition_rows=10, optimize=False),
        RunOptions(partition_rows=10, broadcast_bytes=0),
        RunOptions(partition_rows=10, skip_passes=("gather_groups",)),
    ],
    ids=["as written", "nothing goes whole", "skipped"],
)
def test_they_meet_by_key_where_that_is_asked_for(groups, options):
    """As many groups do."""
    assert routes(groups, options) == ["hash", "gather"]


def test_many_groups_meet_by_key(groups, monkeypatch):
    """As far as files tell how many there are."""
    monkeypatch.setattr(lower, "FEW_BYTES", 100)
    monkeypatch.setattr(lower, "FEW_BYTES_OF_ONE", 100)
    assert routes(groups, FOUR) == ["hash", "gather"]


def test_of_many_partitions_each_may_have_some(groups, monkeypatch):
    """An exchange by key would have more pieces."""
    monkeypatch.setattr(lower, "FEW_BYTES", 100)
    assert routes(groups, FOUR) == ["gather"]


def test_the_answer_is_the_same(groups, engine):
    """On all engines."""
    assert_same(
        groups, engine, partitions={"gathered": FOUR, "apart": RunOptions(partition_rows=10, broadcast_bytes=0)}
    )
