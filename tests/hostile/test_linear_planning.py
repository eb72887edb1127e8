"""Planning twice as much takes twice the work: function calls are counted, not seconds."""

import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gpuetl as ge
from benchmarks.suites.large_plans import SHAPES
from gpuetl import GpuetlError, RunOptions, errors
from gpuetl.engines.capacity import Capacity
from gpuetl.run.pipeline_run import RunRequest
from gpuetl.run.planning import explained, planned
from gpuetl.spec import read

SIZE = 30
MEMORY = 8 << 30
MOST = 2.3
"""Of calls, for twice the size: some work does not grow, so a linear plan takes less than twice the calls."""


def plan(make, size, folder):
    pipeline = make(size, folder)
    pipeline = ge.loads(pipeline, folder) if isinstance(pipeline, str) else pipeline
    pipeline = pipeline() if callable(pipeline) else pipeline
    try:
        plan = RunRequest().of(pipeline.plan())
        planned(plan, RunOptions(), "pandas", Capacity(MEMORY))
        explained(plan, RunOptions(memory=MEMORY), "pandas")
        assert plan.fingerprint
    except GpuetlError as error:
        str(error)


def calls(work):
    count = 0

    def counted(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.part(10)
@pytest.mark.parametrize("shape", SHAPES)
def test_twice_as_much_takes_twice_the_calls(tmp_path, monkeypatch, shape):
    monkeypatch.setattr(errors, "HINTED_PROBLEMS", SIZE // 2)  # so few problems list all names
    found = {}
    for name, size in (("first", 2 * SIZE), ("once", SIZE), ("twice", 2 * SIZE)):  # the first one fills caches
        read._SOUND.clear()
        folder = tmp_path / name
        folder.mkdir()
        rows = pa.table({"x": pa.array([1, 2], pa.int64()), "y": pa.array(["a", "b"])})
        pq.write_table(rows, folder / "t.parquet")
        found[size] = calls(lambda size=size, folder=folder: plan(SHAPES[shape].make, size, folder))
    assert found[2 * SIZE] <= MOST * found[SIZE], found
