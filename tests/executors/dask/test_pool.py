"""The memory pool of a worker's GPU."""

import sys
from types import SimpleNamespace

import pytest

from gpuetl import RunFailed
from gpuetl.executors.dask import pool
from gpuetl.executors.dask.cluster import make_pools

GIB = 1 << 30


@pytest.fixture
def free(monkeypatch):
    """Makes a GPU of 100 GiB say, time after time, that so many are free."""

    def say(*gib):
        said = iter(gib)
        runtime = SimpleNamespace(memGetInfo=lambda: (next(said) * GIB, 100 * GIB))
        monkeypatch.setitem(sys.modules, "cupy.cuda", SimpleNamespace(runtime=runtime))

    return say


def test_a_pool_is_a_share_of_the_memory(free):
    """Where there is room for it."""
    free(99)
    assert pool.pool_bytes() == 60 * GIB


def test_memory_that_a_dead_process_had_is_waited_for(free):
    """A moment after a kill it is free again."""
    free(30, 30, 99)
    assert pool.pool_bytes() == 60 * GIB


def test_a_pool_leaves_others_their_memory(free, monkeypatch):
    """What UCX keeps mapped never comes back."""
    monkeypatch.setattr(pool, "SETTLE_S", 0)
    free(39.001)
    size = pool.pool_bytes()
    assert size % 256 == 0
    assert 35 * GIB < size < 35.2 * GIB


def test_workers_without_memory_for_a_pool_are_an_error(cluster, monkeypatch):
    """As those are that do not start."""

    def fail(plugin, worker):
        raise MemoryError("std::bad_alloc: out_of_memory\nwhere it was")

    monkeypatch.setattr(pool.DevicePool, "setup", fail)
    with pytest.raises(RunFailed, match=r"cannot start a cluster on this machine: std::bad_alloc: out_of_memory$"):
        make_pools(cluster)
    cluster.unregister_worker_plugin(pool.DevicePool.name)
