"""Runs on a cluster: the same rows, files, reports and errors as in one process."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import InvalidPipeline, PackageMissing, Pipeline, RunFailed, RunOptions, col
from gpuetl.engines import registry
from gpuetl.engines.pandas.pandas_engine import PandasBackend
from gpuetl.executors.dask import task_reports
from gpuetl.executors.dask.cluster_run import job_of
from gpuetl.executors.dask.job import OpenJob, TaskRunner
from gpuetl.executors.dask.packed_plan import nodes_of, pack_nodes
from gpuetl.executors.dask.results import check
from gpuetl.executors.dask.task_graph import source_part
from gpuetl.executors.dask.task_slots import TaskSlot
from gpuetl.executors.dask.tasks import RowsInMemory, Step, run_step
from gpuetl.options import Cluster
from gpuetl.physical.nodes import Scan
from gpuetl.places.local.staged_sink import LocalStagedSink
from gpuetl.plan.graph import walk_graph
from gpuetl.telemetry.recorder import Recorder
from gpuetl.testing import assert_tables_equal
from plans import lowered
from sink_files import is_manifest
from tables import table, write_source

pytest.importorskip("distributed")
TINY = RunOptions(partition_rows=2, broadcast_bytes=0)


@pytest.fixture
def flights(pipeline):
    """A pipeline with an exchange by key, a join, a file, a folder and a partitioned folder."""
    t = write_source(pipeline, "t", table({"k": "int64", "x": "int64"}, *((i % 3, i) for i in range(12))))
    sums = t.aggregate("k", s=col("x").sum()).stage("sums")
    joined = t.join(sums, "k").filter(col("x") > 1).stage("joined")
    joined.write_parquet("folder", "out/folder")
    joined.write_parquet("by_key", "out/by_key", partition_by="k")
    sums.write_csv("file", "out/file.csv")
    return pipeline


def files_below(folder):
    """Return the rows of each file, by the path without the run's name."""
    return {
        str(path.relative_to(folder)).replace(path.name, path.name.split("-")[-1]): sorted(rows_of(path))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not is_manifest(path)
    }


def rows_of(path):
    if path.suffix == ".csv":
        return path.read_text().splitlines()
    return [str(row) for row in pq.ParquetFile(path).read().to_pylist()]


def test_files_stages_and_the_report_are_those_of_one_process(flights, cluster, tmp_path):
    """Files have the same names, numbers and rows; operations the same rows in and out."""
    runs = {}
    for engine in ("pandas", "dask"):
        runs[engine] = flights.run(engine=engine, keep=["sums", "joined"], options=TINY)
        (tmp_path / "out").rename(tmp_path / engine)
    assert files_below(tmp_path / "dask") == files_below(tmp_path / "pandas")
    assert len(files_below(tmp_path / "dask")) > 3
    for name in ("sums", "joined"):
        assert_tables_equal(runs["dask"][name].to_arrow(), runs["pandas"][name].to_arrow())
    local, far = (runs[engine].report for engine in ("pandas", "dask"))
    assert [(s.name, s.rows_in, s.rows_out, s.file_bytes, s.device) for s in far.stages] == [
        (s.name, s.rows_in, s.rows_out, s.file_bytes, s.device) for s in local.stages
    ]
    assert [replace(s, file_bytes=0) for s in far.sinks] == [replace(s, file_bytes=0) for s in local.sinks]
    assert far.head["sums"].num_rows == 3
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_progress_counts_partitions_as_tasks_end(flights, cluster):
    """Each operation comes to all of its partitions."""
    told = {}

    def progress(origin, done, of):
        assert done <= of
        told[str(origin)] = (done, of)

    flights.run(engine="dask", options=TINY, progress=progress)
    assert told["source 't'"] == (6, 6)
    assert told["sink 'folder'"] == (6, 6)


def test_the_first_rows_of_a_sink_come_from_as_many_partitions_as_it_takes(flights, cluster):
    """A partition has two rows, and five are shown."""
    report = flights.run(engine="dask", options=replace(TINY, head_rows=5)).report
    assert report.head["folder"].num_rows == 5


def test_rows_in_memory_travel_with_the_tasks_that_read_them(pipeline, cluster):
    """Each partition is sent to who reads it, and the source without its rows."""
    rows = pa.table({"x": pa.array(range(3 << 20), pa.int32())})
    t = pipeline.from_frame("t", rows)
    t.aggregate(s=col("x").sum(), n=col("x").count()).stage("total")
    got = pipeline.run(engine="dask", options=RunOptions(partition_rows=1 << 20))["total"].to_arrow()
    assert got.to_pydict() == {"s": [sum(range(3 << 20))], "n": [3 << 20]}


def test_rows_in_memory_are_recorded_under_the_source_of_the_plan(pipeline):
    """And not under what a task makes to read them, which dies with it."""
    pipeline.from_frame("t", pa.table({"x": [1, 2]})).stage("s")
    nodes = nodes_of(lowered(pipeline))
    job, runner = (
        OpenJob(job_of("run", "driver", "pandas", pack_nodes(nodes), TINY)),
        TaskRunner(PandasBackend(), Recorder(), TaskSlot(is_concurrent=False, reads_ahead=False)),
    )
    (scan,) = (number for number, node in enumerate(nodes) if isinstance(node, Scan))
    before = dict(job.numbers)
    frame = run_step(job, runner, Step(scan, 0, (), RowsInMemory(pa.table({"x": [1, 2]}))), ())
    assert frame.num_rows == 2
    assert job.numbers == before
    assert [job.numbers[key] for key in runner.recorder.work] == [scan]


def test_an_error_says_stage_and_step_and_no_sink_changes(flights, cluster, tmp_path):
    """It is the error of one process, not one of dask."""
    t = flights.table("t")
    t.with_columns(z=col("x") * 9223372036854775807).stage("wrong").write_parquet("w", "out/w.parquet")
    messages = []
    for engine in ("pandas", "dask"):
        with pytest.raises(RunFailed, match="stage 'wrong', step 1") as caught:
            flights.run(engine=engine, options=RunOptions(partition_rows=100))
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert not (tmp_path / "out").exists()


def test_a_worker_that_does_not_see_the_folder_of_a_sink_is_an_error(flights, cluster, monkeypatch):
    """Workers of a cluster may have disks of their own."""
    monkeypatch.setattr(LocalStagedSink, "share", lambda self: None)
    with pytest.raises(RunFailed, match=r"sink '.*': the worker on .* does not see the folder .*/attempts"):
        flights.run(engine="dask", options=TINY)


def test_a_run_that_begins_again_calls_its_tasks_by_other_names():
    """What tasks tell that are still at the first attempt is not of those of the same numbers."""
    first, again = (job_of("run", "driver", "pandas", b"", TINY) for _ in range(2))
    assert first.run_id == again.run_id
    assert first.name != again.name


def test_a_timeline_of_the_driver_says_that_it_is(flights, cluster, tmp_path):
    """Workers are not traced."""
    report = flights.run(engine="dask", options=replace(TINY, trace=tmp_path / "t.json")).report
    assert report.notes == (
        "the timeline shows the driver: what workers did is in the report, and on the pages of dask",
    )


def test_the_same_stages_are_verified_on_a_cluster(flights, cluster):
    """`verify` runs the engine on the cluster, and the oracle here."""
    report = flights.verify(engine="dask", options=TINY)
    assert report.same
    assert report.engine == "dask"


def test_a_client_is_taken_and_left_open(flights, cluster):
    """Also one that is not current."""
    flights.run(engine="dask", client=cluster, options=TINY)
    assert cluster.status == "running"
    assert not cluster.futures


def test_options_of_a_cluster_go_with_engines_that_run_on_one(flights):
    """What would not be used is refused."""
    with pytest.raises(InvalidPipeline, match="engine 'pandas' does not run on a cluster"):
        flights.run(engine="pandas", options=RunOptions(cluster=Cluster(workers=2)))
    with pytest.raises(InvalidPipeline, match="option workers is for a cluster that the run starts"):
        Cluster(address="tcp://127.0.0.1:1", workers=2)


@pytest.mark.parametrize(("engine", "install"), [("dask", "gpuetl.dask"), ("dask-cuda", "gpuetl.cu12")])
def test_the_package_that_is_missing_is_told(flights, monkeypatch, engine, install):
    """With what to install."""
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    with pytest.raises(PackageMissing, match=f"engine '{engine}' needs the package .* pip install .{install}"):
        flights.run(engine=engine)


def test_a_result_that_is_lost_after_it_was_told_is_waited_for():
    """Its worker died just then, and the scheduler is there: it has the result computed again."""
    check(SimpleNamespace(status="lost"), graph=None)


def test_a_plan_of_a_thousand_stages_reaches_the_workers(pipeline, cluster):
    """Nodes are written one after another, so that none recurses."""
    t = write_source(pipeline, "t", table({"x": "int64"}, (1,), (2,), (3,)))
    for number in range(1000):
        t = t.limit(3).stage(f"s{number}")
    options = RunOptions(partition_rows=2, optimize=False)
    assert pipeline.run(engine="dask", options=options)["s999"].to_arrow().to_pydict() == {"x": [1, 2, 3]}


def test_workers_are_given_whole_paths(flights, tmp_path, monkeypatch):
    """They may run in another folder than the driver, whose paths begin in its own."""
    monkeypatch.chdir(tmp_path)
    here = Pipeline("here", root=Path())
    here.read_parquet("t", "t.parquet").stage("s")
    (scan,) = (node for node in walk_graph(*lowered(here).roots) if isinstance(node, Scan))
    (group, *_) = source_part(scan, 0)
    assert (scan.parts[0][0].file.path.is_absolute(), group.file.path) == (False, tmp_path / "t.parquet")


def test_small_results_come_with_what_tasks_tell(flights, cluster, monkeypatch):
    """To gather them would take two more calls."""
    monkeypatch.setattr(cluster, "gather", lambda futures: pytest.fail("gathered"))
    run = flights.run(engine="dask", client=cluster, keep=["sums"], options=TINY)
    assert run["sums"].to_arrow().num_rows == 3


def test_large_results_are_gathered(flights, cluster, monkeypatch):
    """A scheduler would keep them for long.  Workers of this test are in this process."""
    monkeypatch.setattr(task_reports, "MAX_INLINE_BYTES", 0)
    run = flights.run(engine="dask", client=cluster, keep=["sums"], options=TINY)
    assert run["sums"].to_arrow().num_rows == 3


def test_a_client_that_was_connected_again_hears_of_its_tasks(flights, cluster, tmp_path, monkeypatch):
    """The scheduler that it finds there knows nothing of what the one before was asked for."""
    flights.run(engine="dask", client=cluster, options=TINY)
    (tmp_path / "out").rename(tmp_path / "before")
    cluster.unsubscribe_topic(cluster.id)
    monkeypatch.setitem(task_reports._CONNECTIONS, cluster, "the one before")
    report = flights.run(engine="dask", client=cluster, keep=["joined"], options=TINY).report
    assert {stage.name: stage.rows_out for stage in report.stages}["joined"] == 10
