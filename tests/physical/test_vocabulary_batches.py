"""Vocabularies of the same rows are one operation, and so are lookups of one after another."""

import pytest

from gpuetl import transforms
from gpuetl.executors.dask.packed_plan import nodes_of, pack_nodes, unpack_nodes
from gpuetl.optimize import optimize
from gpuetl.physical import vocabulary_batches
from gpuetl.physical.layout import Layout
from gpuetl.physical.lower import lower
from gpuetl.physical.memory import expected_memory
from gpuetl.physical.nodes import Map
from gpuetl.physical.size_estimates import estimated_bytes, estimated_rows
from gpuetl.physical.working_sets import DEVICE
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.nodes import TOGETHER, Vocabulary, VocabularyLookup
from plans import kept_plan
from tables import table, write_source

TYPES = {"a": "int64", "b": "int64", "c": "string"}
ROWS = [(place, place % 2, str(place % 3)) for place in range(6)]


@pytest.fixture
def t(pipeline):
    return write_source(pipeline, "t", table(TYPES, *ROWS))


def lowered(pipeline, rows=100, batches=True):
    layout = Layout(rows, 0, batches_vocabularies=batches)
    return lower(optimize(kept_plan(pipeline)).plan, layout)


def operations(plan):
    """Return the names of what is together, and of vocabularies and lookups alone."""
    nodes = [node.operation for node in walk_graph(*plan.roots) if isinstance(node, Map)]
    return [type(node).__name__ for node in nodes if isinstance(node, (*TOGETHER, Vocabulary, VocabularyLookup))]


def test_columns_of_a_fit_are_numbered_together(pipeline, t):
    t.fit(transforms.categorify(["a", "b", "c"])).stage("features")
    assert operations(lowered(pipeline)) == ["Vocabularies", "VocabularyLookups"]
    assert operations(lowered(pipeline, batches=False)) == ["Vocabulary", "VocabularyLookup"] * 3


def test_rows_of_several_partitions_are_counted_in_each(pipeline, t):
    t.fit(transforms.categorify(["a", "b", "c"])).stage("features")
    assert operations(lowered(pipeline, rows=2)) == ["VocabularyLookup"] * 3


def test_one_column_stays_alone(pipeline, t):
    t.fit([transforms.categorify("a"), transforms.normalise("b"), transforms.categorify("c")]).stage("features")
    assert operations(lowered(pipeline)) == ["Vocabulary", "VocabularyLookup"] * 2


def test_rows_that_are_scored_are_looked_up_in_the_same(pipeline, t):
    learned = t.fit(transforms.categorify(["a", "b"]))
    learned.stage("features")
    write_source(pipeline, "others", table(TYPES, *ROWS)).apply(learned).stage("scored")
    plan = lowered(pipeline)
    assert sorted(operations(plan)) == ["Vocabularies"] + ["VocabularyLookups"] * 3  # two stages have the fit
    (batch,) = (node for node in walk_graph(*plan.roots) if operations_of(node) == "Vocabularies")
    assert [part.column for part in batch.operation.parts] == ["a", "b"]


def test_what_is_saved_is_a_part_of_several(pipeline, t):
    t.fit(transforms.categorify(["a", "b"]), save="model").stage("features")
    assert sorted(operations(lowered(pipeline))) == [
        "Vocabularies", "VocabularyLookups", "VocabularyPart", "VocabularyPart"
    ]  # fmt: skip


def test_workers_are_sent_what_is_saved_and_looked_up(pipeline, t):
    """The logical vocabularies that are saved come after the operation that counts them."""
    t.fit(transforms.categorify(["a", "b", "c"]), save="model").stage("features")
    write_source(pipeline, "others", table(TYPES, *ROWS)).apply(pipeline.table("features")).stage("scored")
    nodes = nodes_of(lowered(pipeline))
    sent = unpack_nodes(pack_nodes(nodes))
    assert [type(node) for node in sent] == [type(node) for node in nodes]
    assert [node.describe() for node in sent if isinstance(node, TOGETHER)] == [
        node.describe() for node in nodes if isinstance(node, TOGETHER)
    ]


def test_columns_that_keep_many_values_are_in_several_batches(pipeline, t, monkeypatch):
    monkeypatch.setattr(vocabulary_batches, "MOST_VALUES", 6)
    monkeypatch.setattr(vocabulary_batches, "MOST_COLUMNS", 1)
    few = transforms.categorify({"x": "a", "y": "b", "z": "c"}, min_count=3)
    t.fit([few, transforms.categorify(["a", "b"])]).stage("features")
    plan = lowered(pipeline)
    parts = [node.operation.parts for node in walk_graph(*plan.roots) if operations_of(node) == "Vocabularies"]
    assert [[part.column for part in batch] for batch in parts] == [["a", "b", "c"], ["a"], ["b"]]


def test_memory_is_that_of_the_values_of_all(pipeline, t):
    t.fit(transforms.categorify({"x": "a", "y": "b"}, min_count=2)).stage("features")
    plan = lowered(pipeline)
    (batch,) = (node for node in walk_graph(*plan.roots) if operations_of(node) == "Vocabularies")
    assert estimated_rows(batch)[id(batch)] == 2 * (6 // 2)
    assert estimated_bytes(batch) == 6 * (8 + 8 + 4)
    assert expected_memory(plan, DEVICE).bytes > 6 * (64 + 20)


def operations_of(node):
    return type(node.operation).__name__ if isinstance(node, Map) else ""
