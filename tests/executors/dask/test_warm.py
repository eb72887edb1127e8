"""Workers move rows of no use to each other once, before a first exchange."""

import time

import pytest

pytest.importorskip("distributed")

from gpuetl.executors.dask import installed, warm_up

UNTIL_S = 20


GOT = []
"""How many frames each worker got; workers are in this process, and take functions of modules by their names."""


def nothing(engine):
    """Stand for a frame."""


def note(frames):
    """Count them."""
    GOT.append(len(frames))


@pytest.fixture
def moved(monkeypatch):
    """Return how many frames each worker gets, which has been asked for none."""
    installed.forget()
    monkeypatch.setattr(warm_up, "some_rows", nothing)
    monkeypatch.setattr(warm_up, "receive", note)
    GOT.clear()
    return GOT


def ended():
    """Wait until nothing is held."""
    until = time.monotonic() + UNTIL_S
    while warm_up._WARMING and time.monotonic() < until:
        time.sleep(0.01)
    return not warm_up._WARMING


def test_each_worker_takes_a_frame_from_all(cluster, moved):
    """Whether or not the run still goes on; nothing is kept afterwards."""
    warm_up.warm(cluster, "cudf", frozenset(cluster.nthreads()))
    assert ended()
    assert moved == [2, 2]


def test_workers_are_warmed_once(cluster, moved):
    """Each run would wait for it otherwise."""
    warm_up.warm(cluster, "cudf", frozenset(cluster.nthreads()))
    assert ended()
    warm_up.warm(cluster, "cudf", frozenset(cluster.nthreads()))
    assert ended()
    assert len(moved) == 2
