"""What each worker of a cluster did, and how evenly they shared it."""

import pytest

from gpuetl import RunOptions, col, count
from gpuetl.report.html.page import page
from gpuetl.report.workers import skew
from tables import table


@pytest.fixture
def report(cluster, source, pipeline):
    """Of a join whose rows are exchanged between two workers."""
    pytest.importorskip("distributed")
    rows = source(table({"k": "string", "x": "int64"}, *(("abcd"[i % 4], i) for i in range(64))))
    rows.join(rows.select("k", y=col("x")).distinct(), "k").aggregate("k", n=count()).stage("joined")
    options = RunOptions(partition_rows=4, broadcast_bytes=0)
    return pipeline.run(engine="dask", keep=["joined"], options=options).report


def test_workers_have_their_tasks_and_what_came_to_them(report):
    assert len(report.workers) == 2
    assert all(worker.tasks > 0 and worker.seconds > 0 for worker in report.workers)
    assert sum(worker.received_bytes for worker in report.workers) > 0
    assert sum(worker.received_rows for worker in report.workers) > 0
    exchanged = sum(stage.exchanged_bytes for stage in report.stages)
    assert exchanged == sum(worker.received_bytes for worker in report.workers)
    assert {track.name for track in report.timeline if track.kind == "worker"} == {
        one.address for one in report.workers
    }
    assert [curve.where for curve in report.memory_curves] == [worker.address for worker in report.workers]


def test_the_page_shows_workers_and_skew(report):
    text = page(report)
    assert "Skew of time" in text
    assert "Skew of exchanged bytes" in text
    for worker in report.workers:
        assert worker.address in text


def test_skew_is_the_largest_share_as_a_multiple_of_the_mean():
    assert skew([1, 1, 1, 1]) == 1.0
    assert skew([4, 0, 0, 0]) == 4.0
    assert skew([3, 1]) == 1.5
    assert skew([0, 0]) == 1.0


def test_a_run_in_one_process_has_exchanged_bytes_and_no_workers(source, pipeline, local_engine):
    rows = source(table({"k": "string", "x": "int64"}, *(("abcd"[i % 4], i) for i in range(64))))
    rows.aggregate("k", n=count()).stage("counted")
    options = RunOptions(partition_rows=4, broadcast_bytes=0)
    report = pipeline.run(engine=local_engine, options=options).report
    assert report.workers == ()
    assert sum(stage.exchanged_bytes for stage in report.stages) > 0
