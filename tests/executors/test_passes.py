"""What several outputs are made from is computed once, and waits no longer than it must."""

import pytest

from gpuetl import RunOptions, col, expr
from gpuetl.engines.registry import load_backend
from gpuetl.executors.local import LocalExecutor
from gpuetl.executors.runner import Runner
from gpuetl.executors.store import Store
from gpuetl.physical.passes import passes_of, separate_nodes
from gpuetl.plan.graph import walk_graph
from gpuetl.telemetry.recorder import Recorder, recording
from plans import lowered
from tables import table


class WatchedStore(Store):
    """Knows how many partitions of shared nodes waited at the same time at most."""

    most = 0

    def add(self, key, frame, columns):
        super().add(key, frame, columns)
        self.most = max(self.most, sum(isinstance(held[0], int) for held in self.waiting))


@pytest.fixture
def run(pipeline, local_engine):
    """Computes the last stages in partitions of two rows; returns each one's x, and how many shared ones waited."""

    def compute(broadcast_bytes=0):
        physical = lowered(pipeline, RunOptions(partition_rows=2, broadcast_bytes=broadcast_bytes))
        recorder, backend = Recorder(), load_backend(local_engine)
        store, found = WatchedStore(backend, recorder), [[] for _ in physical.roots]
        with recording(recorder):
            LocalExecutor(Runner(backend, recorder), physical.roots, store).compute([rows.append for rows in found])
        assert not store.waiting
        return {
            name: sorted(x for frame in frames for x in backend.to_arrow(frame)["x"].to_pylist())
            for name, frames in zip(physical.kept, found, strict=True)
        }, store.most

    return compute


@pytest.fixture
def shared(source):
    """A stage of 5 partitions."""
    rows = source(table({"k": "int64", "x": "int64"}, *((i % 3, i) for i in range(10))))
    return rows.with_columns(x=col("x") * 2).stage("shared")


TOTALS = {"x": expr("sum(x)")}


def test_readers_take_a_partition_while_it_is_there(shared, run):
    """Also where it goes into an exchange of each."""
    shared.aggregate("k", **TOTALS).stage("sums")
    shared.aggregate("k", x=expr("median(x)")).stage("medians")
    shared.filter(col("x") > 10).stage("some")
    found, waited = run()
    assert found == {"sums": [24, 30, 36], "medians": [8.0, 9.0, 10.0], "some": [12, 14, 16, 18]}
    assert waited == 1


def test_what_needs_an_exchange_of_the_same_rows_has_them_wait(shared, pipeline, run):
    """They are computed once, and taken when that is there."""
    sums = shared.aggregate("k", s=expr("sum(x)")).stage("sums")
    shared.join(sums, "k").filter(col("x") == 18).stage("joined")
    shared.filter(col("x") > 14).stage("some")
    found, waited = run(broadcast_bytes=1 << 20)
    assert found == {"joined": [18], "some": [16, 18]}
    assert waited >= 5


def test_a_union_reads_its_second_input_further_on(shared, source, run):
    """The partitions of the first input come before."""
    other = source(table({"k": "int64", "x": "int64"}, (7, 100), (8, 101), (9, 102)), "other")
    other.union(shared).filter(col("x") > 15).stage("both")
    shared.aggregate("k", **TOTALS).stage("sums")
    found, waited = run()
    assert found == {"both": [16, 18, 100, 101, 102], "sums": [24, 30, 36]}
    assert waited == 1


def test_a_limit_takes_no_more_than_it_wants(shared, run):
    """The others go on."""
    shared.limit(3).select("x").stage("first")
    shared.aggregate("k", **TOTALS).stage("sums")
    found, waited = run()
    assert len(found["first"]) == 3
    assert found["sums"] == [24, 30, 36]
    assert waited == 1


def test_a_plan_says_which_shared_rows_go_along(shared, pipeline):
    """Those of which no reader needs an exchange that comes after the first reader."""
    shared.aggregate("k", **TOTALS).stage("sums")
    shared.filter(col("x") > 10).stage("some")
    (waits, passes) = shared_and_passes(pipeline)
    assert [id(node) not in separate_nodes(passes) for node in waits] == [True]
    sums = shared.aggregate("k", s=expr("sum(x)")).stage("more")
    shared.join(sums, "k").stage("joined")
    (waits, passes) = shared_and_passes(pipeline)
    assert [id(node) not in separate_nodes(passes) for node in waits] == [False]


def shared_and_passes(pipeline):
    """Return the shared nodes of several partitions, and the passes, of the lowered plan."""
    physical = lowered(pipeline, RunOptions(partition_rows=2))
    passes = passes_of(physical.roots)
    found = {node for one in passes for node, _ in one.shared}
    return [node for node in walk_graph(*physical.roots) if node in found], passes
