"""What workers say of their memory, and how often they are asked."""

from types import SimpleNamespace

import pytest

pytest.importorskip("distributed")

from gpuetl import RunOptions
from gpuetl.engines.capacity import Capacity
from gpuetl.executors.dask import workers
from gpuetl.executors.dask.installed import installed
from gpuetl.executors.dask.workers import capacity_of, in_worker_thread
from gpuetl.telemetry.recorder import silent
from tables import table, write_source


class Saying:
    """A client of workers that say how much memory they have; all have the same installed."""

    scheduler = SimpleNamespace(address="tcp://head:8786")

    def __init__(self, memory):
        self.memory, self.asked = memory, 0

    def nthreads(self):
        return dict.fromkeys(self.memory, 1)

    def run(self, function, *given, on_error):
        if function is not in_worker_thread:
            return dict.fromkeys(self.memory, installed())
        self.asked += 1
        return {at: said if isinstance(said, OSError) else (*said, installed()) for at, said in self.memory.items()}

    def run_on_scheduler(self, function):
        return installed()


@pytest.fixture
def client():
    """Of two workers on one host, which share its memory."""
    return Saying({"tcp://a:1": (100, True), "tcp://a:2": (90, True)})


def test_a_plan_is_made_for_the_worker_with_the_least_memory(client):
    """Those on one host share what is free there; a GPU is one's own."""
    assert capacity_of(client, "pandas", silent) == Capacity(45, 2, frozenset({"tcp://a:1", "tcp://a:2"}))
    client.memory["tcp://b:1"] = (40, False)
    assert capacity_of(client, "pandas", silent) == Capacity(40, 3, frozenset(client.memory))


def test_workers_are_not_asked_again_at_once(client, monkeypatch):
    """But when some time has passed, where others are there, and for another engine."""
    monkeypatch.setattr(workers, "RECENT_S", 1e9)
    first = capacity_of(client, "pandas", silent)
    client.memory["tcp://a:1"] = (2, True)
    assert capacity_of(client, "pandas", silent) == first
    assert client.asked == 1
    assert capacity_of(client, "cudf", silent).memory == 1
    assert client.asked == 2
    del client.memory["tcp://a:2"]
    assert capacity_of(client, "cudf", silent).memory == 2
    assert client.asked == 3
    monkeypatch.setattr(workers, "RECENT_S", 0)
    capacity_of(client, "cudf", silent)
    assert client.asked == 4


def test_a_worker_that_has_died_since_is_asked_again_for(client, monkeypatch):
    """Its answer is an error until the scheduler knows; the others' answers do."""
    monkeypatch.setattr(workers, "RECENT_S", 1e9)
    client.memory["tcp://a:2"] = OSError("closed")
    assert [capacity_of(client, "pandas", silent) for _ in range(2)] == [Capacity(100, 1, frozenset({"tcp://a:1"}))] * 2
    assert client.asked == 2


def test_a_run_asks_once_which_workers_there_are(pipeline, cluster, monkeypatch):
    """Each call of the scheduler takes a short run some milliseconds."""
    write_source(pipeline, "t", table({"x": "int64"}, (1,))).limit(1).stage("one")
    calls, nthreads = [], cluster.nthreads
    monkeypatch.setattr(cluster, "nthreads", lambda: calls.append("nthreads") or nthreads())
    pipeline.run(engine="dask", client=cluster, options=RunOptions())
    assert calls == ["nthreads"]
