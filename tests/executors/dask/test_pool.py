"""The memory pool of a worker's GPU."""

import sys
import time
from types import SimpleNamespace

import pytest

from conftest import workers_here
from gpuetl import RunFailed
from gpuetl.engines.cudf.runtime import worker_pool
from gpuetl.executors.dask.cluster import make_pools

GIB = 1 << 30


@pytest.fixture
def free(monkeypatch):
    """Makes a GPU of 100 GiB say, time after time, that so many are free; returns what is left to say, and the pools."""
    pools = []

    def say(*gib):
        left = list(gib)
        runtime = SimpleNamespace(memGetInfo=lambda: (int(left.pop(0) * GIB), 100 * GIB))
        monkeypatch.setitem(sys.modules, "cupy.cuda", SimpleNamespace(runtime=runtime))
        made = SimpleNamespace(reinitialize=lambda pool_allocator, initial_pool_size: pools.append(initial_pool_size))
        monkeypatch.setitem(sys.modules, "rmm", made)
        return left, pools

    return say


@pytest.fixture
def client():
    """A client of a worker in this process, which may leave."""
    with workers_here(1) as client:
        yield client


def test_a_pool_is_a_share_of_the_memory(free):
    """Where there is room for it."""
    free(99)
    assert worker_pool.pool_bytes() == 60 * GIB


def test_memory_that_a_dead_process_had_is_waited_for(free):
    """A moment after a kill it is free again."""
    free(30, 30, 99)
    assert worker_pool.pool_bytes() == 60 * GIB


def test_a_pool_leaves_others_their_memory(free, monkeypatch):
    """What UCX keeps mapped never comes back."""
    monkeypatch.setattr(worker_pool, "SETTLE_S", 0)
    free(39.001)
    size = worker_pool.pool_bytes()
    assert size % 256 == 0
    assert 35 * GIB < size < 35.2 * GIB


def test_each_worker_makes_its_pool(free, client):
    """Also one that starts later, before it gets tasks."""
    _, pools = free(99, 99)
    make_pools(client, "cudf")
    assert pools == [60 * GIB]
    client.cluster.scale(2)
    client.wait_for_workers(2)
    assert pools == [60 * GIB] * 2


def test_workers_without_memory_for_a_pool_are_an_error(free, client, monkeypatch):
    """It says what to do."""
    monkeypatch.setattr(worker_pool, "SETTLE_S", 0)
    free(9)
    with pytest.raises(RunFailed, match=r"machine: 9\.7 GB of a GPU's 107\.4 GB are free, too little .*_DEVICES$"):
        make_pools(client, "cudf")


def test_a_worker_that_comes_back_without_memory_leaves(free, client, monkeypatch):
    """The others go on: plans are made for what the one with the least has."""
    monkeypatch.setattr(worker_pool, "SETTLE_S", 0)
    left, _ = free(99, 9)
    make_pools(client, "cudf")
    (first,) = client.nthreads()
    client.cluster.scale(2)
    deadline = time.monotonic() + 20
    while left or client.nthreads().keys() != {first}:
        assert time.monotonic() < deadline
        time.sleep(0.05)
