"""A cluster that loses its last worker while a run goes on."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pyarrow.parquet as pq
import pytest

from conftest import workers_here
from gpuetl import RunFailed
from gpuetl.executors.dask import results
from gpuetl.executors.runner import Runner
from messages import without_place
from tables import table, write_source


def test_a_run_waits_for_new_workers_and_then_ends(pipeline, monkeypatch):
    """The sink is as it was, and the message says how long there was none."""
    begun, go = Event(), Event()
    scan = Runner.scan

    def waiting(runner, node, index):
        begun.set()
        go.wait(60)
        return scan(runner, node, index)

    monkeypatch.setattr(results, "PATIENCE_S", 1.0)
    monkeypatch.setattr(results, "LOOK_S", 0.1)
    monkeypatch.setattr(Runner, "scan", waiting)
    before = table({"x": "int64"}, (1,))
    pq.write_table(before, pipeline.root / "out.parquet")
    write_source(pipeline, "t", table({"x": "int64"}, (1,), (2,))).write_parquet("out", "out.parquet", mode="overwrite")
    with workers_here(1) as client, ThreadPoolExecutor(1) as threads:
        run = threads.submit(pipeline.run, engine="dask", client=client)
        try:
            assert begun.wait(60)
            client.cluster.scale(0)
            with pytest.raises(RunFailed) as caught:
                run.result(30)
        finally:
            go.set()
    assert without_place(str(caught.value)) == "the cluster has had no worker for 1 s"
    assert pq.read_table(pipeline.root / "out.parquet") == before
    assert sorted(path.name for path in pipeline.root.iterdir()) == ["out.parquet", "t.parquet"]
