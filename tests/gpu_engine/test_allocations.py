"""On a GPU: allocations that fail, each in its turn, leave the right rows or an error, and no byte behind."""

import gc
import os
import re
import threading
from concurrent.futures import wait

import pytest

from gpuetl import OutOfMemory
from sink_files import leftovers
from small_pipelines import OPTIONS, PIPELINES, pipeline_of, rows_of

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("encoded_on_device")]
SINGLE, LASTING = (
    int(os.environ.get(f"GPUETL_{kind}_FAILURES", most)) for kind, most in (("SINGLE", 12), ("LASTING", 3))
)
"""How many of a pipeline's allocations fail, one a run, and from how many on all do, spread from the first to the last.

The second kind begins again with smaller partitions, so each takes several times as long.  All of a pipeline's some
hundred would take ten minutes of one process.
"""


class Device:
    """RMM's current resource, before which allocations are counted, and those that `fails` names raise."""

    def __init__(self, rmm):
        pool = rmm.mr.get_current_device_resource()
        self.lock = threading.Lock()
        self.made, self.fails = 0, lambda made: False

        def allocate(size, stream):
            with self.lock:
                self.made += 1
                failing = self.fails(self.made)
            if failing:
                raise MemoryError(f"failed to allocate {size} B")
            return pool.allocate(size, stream)

        def free(address, size, stream):
            pool.deallocate(address, size, stream)

        self.counted = rmm.mr.StatisticsResourceAdaptor(rmm.mr.CallbackMemoryResource(allocate, free))
        rmm.mr.set_current_device_resource(self.counted)

    @property
    def held(self):
        """The bytes that nobody has freed, once what is expected has been made."""
        from gpuetl.engines.cudf.runtime.kernel_cache import ahead

        wait(list(ahead().expected.values()))
        gc.collect()
        return self.counted.allocation_counts.current_bytes


@pytest.fixture
def device():
    """The device's memory, of which every allocation can fail."""
    rmm = pytest.importorskip("rmm")
    from gpuetl.engines.cudf.runtime.gpu_machine import machine

    machine()
    before = rmm.mr.get_current_device_resource()
    yield Device(rmm)
    rmm.mr.set_current_device_resource(before)


def outcome(pipeline, device, fails=lambda made: False):
    """Return a run's rows, or what it raised, as text."""
    device.made, device.fails = 0, fails
    try:
        run = pipeline.run(engine="cudf", options=OPTIONS)
    except OutOfMemory as error:
        return str(error)
    finally:
        device.fails = lambda made: False
    return rows_of(run)


def spread(last, most):
    """Return numbers from 1 to the last one, both among them."""
    return sorted({1 + round(place * (last - 1) / max(1, most - 1)) for place in range(most)})


@pytest.mark.parametrize("name", PIPELINES)
def test_whichever_allocation_fails_the_rows_are_right_or_the_error_names_the_step(name, device, tmp_path):
    """Once, and from one on all of them."""
    pipeline = pipeline_of(name, tmp_path)
    expected = outcome(pipeline, device)  # compiles, and makes what the engine keeps
    held = device.held
    assert outcome(pipeline, device) == expected
    last = device.made
    for number in spread(last, SINGLE):
        assert outcome(pipeline, device, lambda made, number=number: made == number) == expected
    assert device.held == held
    for number in spread(last, LASTING):
        told = outcome(pipeline, device, lambda made, number=number: made >= number)
        assert told == expected or re.search(r"(source|stage|sink) '.*: out of memory: ", told)
    assert device.held == held
    assert not leftovers(tmp_path)
