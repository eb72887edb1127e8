"""A run that is profiled says how much memory it took; others measure nothing."""

import json
import subprocess
import sys
from mmap import PAGESIZE, mmap

import numpy as np
import pyarrow as pa
import pytest

from command import gpuetl
from gpuetl import Pipeline, RunOptions, col
from gpuetl.telemetry import memory_meter as memory
from gpuetl.telemetry.memory_meter import ResidentMemory
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.recorder import Recorder
from gpuetl.units import size
from tables import table, write_source

PROFILED = RunOptions(profile=True)
ROWS = 200_000


@pytest.fixture
def steps(pipeline):
    """A stage that makes a column of 1.6 MB."""
    rows = pipeline.from_frame("t", pa.table({"x": np.arange(ROWS)}))
    return rows.with_columns(y=col("x") * 2).stage("doubled")


def test_a_profiled_run_says_what_it_took_at_most(steps, pipeline, engine):
    """No stage takes more than the run, and one that holds a column takes at least that."""
    report = pipeline.run(engine=engine, options=PROFILED).report
    peak = next(iter(report.memory.values()))
    doubled = next(stage for stage in report.stages if stage.name == "doubled")
    assert ROWS * 8 <= doubled.peak_bytes <= peak
    assert (
        set(report.memory)
        == {
            "pandas": {"resident set", "Arrow's pool since the process began"},
            "dask": {"resident set, of one worker", "Arrow's pool since the process began, of one worker"},
            "dask-cuda": {"device memory, of one worker"},
            "cudf": {"device memory"},
            "cudf-on-cpu": {"traced memory"},
        }[engine]
    )


def test_other_runs_measure_nothing(steps, pipeline, engine):
    """And do not claim zeros."""
    report = pipeline.run(engine=engine).report
    assert report.memory == {}
    assert {stage.peak_bytes for stage in report.stages} == {None}


def test_where_the_peak_of_an_operation_cannot_be_had_the_process_has_one(steps, pipeline, tmp_path, monkeypatch):
    """Stages then have none."""
    monkeypatch.setattr(memory, "PROCESS", tmp_path / "none")
    report = pipeline.run(engine="pandas", options=PROFILED).report
    assert report.memory["resident set"] > ROWS * 8
    assert {stage.peak_bytes for stage in report.stages} == {None}


def test_memory_that_is_let_go_of_does_not_count_for_the_next_operation():
    """Each begins anew.

    The memory is mapped: malloc gives out what earlier tests have freed, so that the resident set would stay as it is.
    """
    meter = ResidentMemory()
    meter.begin()
    with mmap(-1, 200 << 20) as large:
        large[::PAGESIZE] = bytes(len(large) // PAGESIZE)
        first = meter.end()
    meter.begin()
    assert first - meter.end() > 100 << 20
    assert meter.peaks()["resident set"] == first


class Counted:
    """Remembers what it was asked."""

    def __init__(self):
        self.calls = []

    def begin(self):
        self.calls.append("begin")

    def end(self):
        self.calls.append("end")
        return len(self.calls)


def test_an_operation_that_fails_ends_its_measurement():
    """What runs next begins with its own."""
    meter = Counted()
    recorder = Recorder(meter=meter)
    work = recorder.of(meter, Origin("stage", "s"))
    with pytest.raises(ValueError, match="no"), recorder.timed(work):
        raise ValueError("no")
    with recorder.timed(work):
        pass
    assert meter.calls == ["begin", "end"] * 2
    assert work.peak_bytes == 4


@pytest.fixture
def file(tmp_path):
    """A pipeline of one stage."""
    pipeline = Pipeline("small", root=tmp_path)
    rows = write_source(pipeline, "t", table({"x": "int64"}, (1,), (2,)))
    rows.filter(col("x") > 1).stage("kept")
    pipeline.to_yaml(tmp_path / "p.yaml")
    return tmp_path / "p.yaml"


def test_the_command_shows_it_and_writes_it(file, tmp_path):
    """In the table, in JSON and in the page."""
    for name in ("r.json", "r.html"):
        done = gpuetl("run", file, "--engine", "pandas", "--measure-memory", "--report", tmp_path / name)
        assert done.exit_code == 0, done.output
    assert "peak memory" in done.stdout
    assert "(resident set)" in done.stdout
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["memory"]["resident set"] > 0
    assert all(stage["peak_bytes"] > 0 for stage in report["stages"])
    page = (tmp_path / "r.html").read_text()
    assert '<h2 id="memory">Memory</h2>' in page
    assert f'planned</th><td class="number">{size(report["expected_memory"])}</td>' in page
    assert "peak memory" not in gpuetl("run", file, "--engine", "pandas").stdout


@pytest.mark.gpu
def test_the_user_s_own_resource_is_set_again():
    """It counts meanwhile, and what was allocated meanwhile is freed later."""
    pytest.importorskip("rmm", reason="needs RMM and an NVIDIA GPU")
    code = """
import rmm
own = rmm.mr.StatisticsResourceAdaptor(rmm.mr.CudaMemoryResource())
rmm.mr.set_current_device_resource(own)
import gpuetl, pyarrow as pa
p = gpuetl.Pipeline("own")
p.from_frame("t", pa.table({"x": list(range(1000))})).with_columns(y=gpuetl.col("x") * 2).stage("s")
run = p.run(engine="cudf", options=gpuetl.RunOptions(profile=True))
assert rmm.mr.get_current_device_resource() is own
assert own.allocation_counts.current_bytes >= 16_000 and run.report.memory["device memory"] >= 16_000
assert run["s"].to_arrow().num_rows == 1000
del run, p
import gc; from concurrent.futures import wait; from gpuetl.engines.cudf.runtime.kernel_cache import ahead
wait(list(ahead().expected.values())); gc.collect()
assert own.allocation_counts.current_bytes == 0, own.allocation_counts
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.gpu
def test_what_waits_in_a_worker_s_pool_is_free():
    """dask-cuda sets most of a GPU apart: its workers count what is used of it, and a run may take all the rest."""
    pytest.importorskip("rmm", reason="needs RMM and an NVIDIA GPU")
    code = """
import rmm
pool = rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=1 << 32)
rmm.mr.set_current_device_resource(pool)
from gpuetl.engines.registry import load_backend
from gpuetl.executors.dask.workers import memory_here
backend = load_backend("cudf")
set_apart = backend.memory_use()
assert set_apart.in_use >= 1 << 32
free, shared, _ = memory_here("cudf")
counted = backend.memory_use()
assert counted.in_use == 0 and 1 << 32 < counted.limit < set_apart.limit
assert not shared and counted.limit / 2 < free < counted.limit
some = backend.machine.arrays.zeros(1 << 20, "uint8")
assert backend.memory_use() == (1 << 20, counted.limit) and memory_here("cudf")[0] < free
assert rmm.mr.get_current_device_resource().get_upstream() is pool
"""
    subprocess.run([sys.executable, "-c", code], check=True)
