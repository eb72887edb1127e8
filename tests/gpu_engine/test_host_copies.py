"""Arrays copied to the host and back by threads."""

import concurrent.futures

import numpy as np
import pytest

from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.engines.cudf.io import threaded_file

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")


def test_an_interrupt_leaves_no_thread_at_work(monkeypatch):
    """What it copies to or from may be freed then."""
    waited = []

    def wait(futures):
        waited.append(futures)
        if len(waited) == 1:
            raise KeyboardInterrupt
        concurrent.futures.wait(futures)

    monkeypatch.setattr(threaded_file, "wait", wait)
    machine, memory = HostMachine(), np.zeros(1 << 20, np.uint8)
    with pytest.raises(KeyboardInterrupt):
        machine.to_host([np.ones(1 << 20, np.uint8)], memory)
    assert len(waited) == 2
    assert all(future.done() for future in waited[0])


def test_arrays_go_and_come_back():
    """One behind another."""
    machine = HostMachine()
    arrays = [np.arange(1000), np.arange(7, dtype=np.uint8), np.zeros(0), np.arange(10.0).reshape(5, 2)]
    memory = np.zeros(sum(array.nbytes for array in arrays), np.uint8)
    machine.to_host(arrays, memory)
    assert memory.tobytes() == b"".join(array.tobytes() for array in arrays)
    back = [np.empty_like(array) for array in arrays]
    machine.from_host(memory, back)
    for array, other in zip(arrays, back, strict=True):
        np.testing.assert_array_equal(array, other)
