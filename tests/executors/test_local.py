"""The local executor: what is computed once, and how long it is held."""

from collections import Counter
from threading import current_thread

import pytest

from gpuetl import InvalidPipeline, Pipeline, RunFailed, RunOptions, col, expr
from gpuetl.engines.pandas.pandas_engine import PandasBackend
from gpuetl.executors.local import LocalExecutor
from gpuetl.executors.runner import Runner
from gpuetl.telemetry.recorder import Recorder
from plans import lowered
from tables import table, write_source


class CountingBackend(PandasBackend):
    """Counts reads of row groups, and runs of operations."""

    def __init__(self):
        self.reads, self.runs = Counter(), Counter()

    def read(self, read, groups):
        self.reads.update(group.index for group in groups)
        return super().read(read, groups)

    def run(self, operation, *frames):
        self.runs[type(operation).__name__] += 1
        return super().run(operation, *frames)


@pytest.fixture
def pipeline(tmp_path):
    """Source t of 3 row groups, and u of one."""
    pipeline = Pipeline("test", root=tmp_path)
    write_source(pipeline, "t", table({"k": "int64", "x": "int64"}, *((i % 2, i) for i in range(6))))
    write_source(pipeline, "u", table({"k": "int64", "y": "int64"}, (0, 10), (1, 11)))
    return pipeline


def execute(pipeline, options=None):
    """Ask for every partition of every root, as a run does; return the executor and the rows by stage."""
    physical = lowered(pipeline, options)
    executor = LocalExecutor(Runner(CountingBackend(), Recorder()), physical.roots)
    return executor, {name: next(executor.partitions(node)).to_pydict() for name, node in physical.kept.items()}


@pytest.mark.parametrize(
    "options", [RunOptions(partition_rows=2), RunOptions(partition_rows=2, broadcast_bytes=0), RunOptions()]
)
def test_what_several_stages_read_is_computed_once(pipeline, options):
    shared = pipeline.table("t").with_columns(z=col("x") * 2).filter(col("z") >= 0).stage("shared")
    shared.aggregate("k", s=col("z").sum()).stage("sums")
    shared.join(pipeline.table("u"), "k").aggregate(n=expr("count(*)")).stage("joined")
    shared.sort("x desc").stage("sorted")
    executor, rows = execute(pipeline, options)
    partitions = 1 if options == RunOptions() else 3
    assert executor.runner.backend.reads == {0: 2, 1: 1, 2: 1}  # row group 0 of t, and of u
    assert executor.runner.backend.runs["Filter"] == partitions
    assert rows["joined"] == {"n": [6]}
    assert rows["sorted"]["z"] == [10, 8, 6, 4, 2, 0]


def test_a_table_that_is_joined_with_itself_is_read_once(pipeline):
    t = pipeline.table("t")
    t.join(t, ["k", "x"]).stage("s")
    executor, rows = execute(pipeline)
    assert executor.runner.backend.reads == {0: 1, 1: 1, 2: 1}
    assert rows["s"]["x"] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("options", [RunOptions(partition_rows=2), RunOptions(partition_rows=2, broadcast_bytes=0)])
def test_every_partition_is_let_go_after_its_last_reader(pipeline, options):
    shared = pipeline.table("t").filter(col("x") >= 0).stage("shared")
    shared.join(shared.aggregate("k", s=col("x").sum()), "k").stage("a")
    shared.window("k", "x", n=expr("row_number()")).stage("b")
    shared.limit(3).stage("c")
    executor, _ = execute(pipeline, options)
    assert not executor.store.waiting
    assert not executor.store.resident
    assert executor.store.size == 0
    assert not +executor.readers


def test_what_one_stage_reads_is_not_held(pipeline):
    pipeline.table("t").filter(col("x") > 0).with_columns(y=col("x") + 1).stage("s")
    physical, held = lowered(pipeline), []
    executor = LocalExecutor(Runner(CountingBackend(), Recorder()), physical.roots)
    executor.runner.map = lambda *what, run=executor.runner.map: held.extend(executor.store.waiting) or run(*what)
    next(executor.partitions(physical.kept["s"]))
    assert {kind for kind, *_ in held} == {"pieces"}


def test_partitions_are_pulled_one_at_a_time(pipeline):
    pipeline.table("t").filter(col("x") >= 0).write_parquet("out", "out")
    physical = lowered(pipeline)
    executor = LocalExecutor(Runner(CountingBackend(), Recorder()), physical.roots)
    parts = executor.partitions(physical.roots[0])
    for count in (1, 2, 3):
        assert next(parts).num_rows == 2
        assert executor.runner.backend.runs["Filter"] == count


def test_progress_tells_of_each_partition(pipeline):
    heard = []
    pipeline.table("t").filter(col("x") >= 0).stage("s")
    options = RunOptions(partition_rows=2)
    pipeline.run(
        engine="pandas",
        options=options,
        progress=lambda origin, done, of: heard.append((str(origin), done, of)),
    )
    assert [(done, of) for origin, done, of in heard if origin == "stage 's', step 1"] == [
        (1, 3),
        (2, 3),
        (3, 3),
    ]


def test_an_error_names_the_step_that_raised_it(pipeline):
    pipeline.table("t").filter(col("x") > 0).with_columns(
        y=expr("CAST(x AS int8) + 1"), z=expr("CAST(x * 100 AS int8)")
    ).stage("s")
    with pytest.raises(
        RunFailed,
        match=r"^\S*test_local\.py:\d+: stage 's', step 2: column 'z': CAST\(x \* 100 AS int8\) has no result, for",
    ):
        pipeline.run(engine="pandas", options=RunOptions(partition_rows=2))


def test_a_run_that_is_asked_for_nothing_does_nothing(pipeline):
    """There is no sink, and no stage to be kept."""
    pipeline.table("t").stage("s")
    run = pipeline.run(engine="pandas", keep=[])
    assert (dict(run.results), run.report.stages, run.report.expected_memory) == ({}, (), 0)


def test_a_run_keeps_only_what_it_was_asked_for(pipeline):
    t = pipeline.table("t").filter(col("x") > 3).stage("some")
    t.limit(1).stage("first")
    run = pipeline.run(engine="pandas", keep=["some", "t"])
    assert run["some"].to_arrow().num_rows == 2
    assert run["t"].to_pandas().shape == (6, 2)
    with pytest.raises(
        InvalidPipeline,
        match=r"the run did not keep 'first'\nIt kept: some, t\. Keep others with run\(keep=\['first'\]\)",
    ):
        run["first"]
    with pytest.raises(
        InvalidPipeline, match=r"unknown stage 'som'\nSources and stages: first, some, t, u\. Did you mean 'some'\?"
    ):
        pipeline.run(engine="pandas", keep=["som"])


@pytest.mark.parametrize(
    "options", [RunOptions(partition_rows=2), RunOptions(partition_rows=2, broadcast_bytes=0), RunOptions()]
)
def test_a_stage_that_is_united_with_itself_is_computed_once_and_let_go(pipeline, options):
    shared = pipeline.table("t").filter(col("x") >= 0).stage("shared")
    both = shared.union(shared, pipeline.table("t")).stage("both")
    both.aggregate("k", s=col("x").sum()).stage("sums")
    both.limit(1).stage("first")
    executor, rows = execute(pipeline, options)
    assert executor.runner.backend.reads == {0: 1, 1: 1, 2: 1}
    assert executor.runner.backend.runs["Filter"] == (1 if options == RunOptions() else 3)
    assert sorted(rows["sums"]["s"]) == [18, 27]
    assert not executor.store.waiting
    assert not +executor.readers


def test_a_long_chain_of_unions_does_not_recurse(pipeline):
    t = both = pipeline.table("t")
    for _ in range(150):
        both = both.union(t)
    both.aggregate(n=expr("count(*)")).stage("s")
    for options in (RunOptions(), RunOptions(partition_rows=2)):
        assert pipeline.run(engine="pandas", options=options)["s"].to_arrow().to_pydict() == {"n": [151 * 6]}


def test_threads_that_write_are_set_up_by_the_backend(pipeline, monkeypatch):
    """A device is current for each thread apart."""
    set_up = set()
    monkeypatch.setattr(PandasBackend, "thread_setup", lambda self: lambda: set_up.add(current_thread().name))
    pipeline.table("t").write_parquet("out", "out.parquet")
    pipeline.run()
    assert "gpuetl-writer_0" in set_up
