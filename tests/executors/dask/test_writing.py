"""A worker for each GPU writes several files at a time, though dask tells it to take one thread."""

import os
import threading
import weakref

import pyarrow.parquet as pq
import pytest

pytest.importorskip("distributed")

from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.engines.cudf.cudf_engine import CudfBackend
from gpuetl.engines.pandas.pandas_engine import PandasBackend
from gpuetl.executors.dask import cluster_sinks
from gpuetl.executors.dask.cluster_sinks import files_at_once
from gpuetl.executors.dask.task_slots import SlotCounts
from gpuetl.io.staging import MOST_PARTS


def write_rows(path, rows):
    """Write a file of the rows; return its path."""
    pq.write_table(rows, path)
    return path


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """Let there be as many threads as dask gives a worker."""
    monkeypatch.setattr(cluster_sinks, "thread_count", lambda: 1)


def test_a_worker_for_a_processor_writes_one_file_at_a_time():
    """As it is told."""
    assert files_at_once(PandasBackend()) == 1


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_a_worker_for_a_gpu_writes_as_many_as_there_are_processors(monkeypatch):
    """Up to those that a large frame becomes."""
    backend = CudfBackend(HostMachine())
    for processors, files in ((1, 1), (8, 8), (64, MOST_PARTS)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, processors=processors: set(range(processors)))
        assert files_at_once(backend) == files


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_files_of_a_partition_are_written_side_by_side(pipeline, cluster, monkeypatch):
    """Each waits for the others, and none in vain."""
    import pyarrow as pa

    from gpuetl.engines.registry import ENGINES, ClusterEngine
    from gpuetl.formats import parquet_rows

    monkeypatch.setitem(ENGINES, "dask-on-cpu", ClusterEngine("cudf-on-cpu", "distributed", ""))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(3)))
    together, write = threading.Barrier(3, timeout=20), parquet_rows.write_parquet

    def write_with_others(*given):
        together.wait()
        write(*given)

    monkeypatch.setattr(parquet_rows, "write_parquet", write_with_others)
    rows = pipeline.from_frame("t", pa.table({"k": [1, 2, 3] * 10, "x": range(30)}))
    rows.write_parquet("out", "out", partition_by=["k"])
    assert pipeline.run(engine="dask-on-cpu").report.sinks[0].files == 3


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_who_waits_for_files_waits_for_the_frame_that_is_written(pipeline, cluster, monkeypatch):
    """Its memory is free when the turn is given up."""
    import pyarrow as pa

    from gpuetl.engines.registry import ENGINES, ClusterEngine

    monkeypatch.setitem(ENGINES, "dask-on-cpu", ClusterEngine("cudf-on-cpu", "distributed", ""))
    frames, alive, release, write = [], [], SlotCounts.release, cluster_sinks.write_frame

    def note_frame(runner, work, frame, *given):
        frames.append(weakref.ref(frame))
        write(runner, work, frame, *given)

    def note_slot(self, kind, slot):
        if kind == "writing":
            alive.append(frames[-1]() is not None)
        release(self, kind, slot)

    monkeypatch.setattr(cluster_sinks, "write_frame", note_frame)
    monkeypatch.setattr(SlotCounts, "release", note_slot)
    rows = pipeline.read_parquet("t", write_rows(pipeline.root / "t.parquet", pa.table({"x": range(30)})))
    rows.with_columns(y="x + 1").write_parquet("out", "out")
    pipeline.run(engine="dask-on-cpu", keep=[])
    assert alive == [False]
