"""Memory that runs out before any row is read: the same steps, and the same words, as in a run."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl
from gpuetl import GpuetlError, InvalidPipeline, OutOfMemory, Pipeline, RunOptions, col
from gpuetl.memory_limits import planned_in_memory

WORDS = re.compile(r"out of memory: .*3\.5 GiB were asked for, with [\d.]+ [kMG]?B in use of [\d.]+ [kMG]B")
"""What all of these errors say."""
PLACES = {
    "binding": "gpuetl.spec.definition.bind",
    "optimizing": "gpuetl.run.planning.optimize",
    "cutting into partitions": "gpuetl.run.planning.fitted",
    "reading footers": "gpuetl.formats.footers.footer_of",
}


class Fails:
    """A function that runs out of memory so many times."""

    def __init__(self, function, times, error):
        self.function, self.left, self.error, self.calls = function, times, error, 0

    def __call__(self, *arguments, **options):
        self.calls += 1
        if self.left:
            self.left -= 1
            raise self.error("failed to allocate 3.5 GiB")
        return self.function(*arguments, **options)


def failing(monkeypatch, place, times, error=MemoryError):
    module, name = place.rsplit(".", 1)
    own = Fails(getattr(__import__(module, fromlist=[name]), name), times, error)
    monkeypatch.setattr(place, own)
    return own


@pytest.fixture
def pipeline(tmp_path):
    """A sort of 100 rows in 4 row groups, from file to file."""
    pq.write_table(pa.table({"x": np.arange(100)[::-1]}), tmp_path / "t.parquet", row_group_size=25)
    pipeline = Pipeline("test", root=tmp_path)
    pipeline.read_parquet("t", "t.parquet").filter(col("x") >= 50).sort("x").stage("made").write_parquet("out", "out")
    return pipeline


@pytest.mark.part(2)
@pytest.mark.parametrize("error", [MemoryError, pa.ArrowMemoryError])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_it_is_done_once_more_after_memory_was_freed(pipeline, tmp_path, monkeypatch, place, error):
    own = failing(monkeypatch, place, 1, error)
    pipeline.run(engine="pandas")
    assert own.calls >= 2
    assert pq.read_table(tmp_path / "out").column("x").to_pylist() == list(range(50, 100))


@pytest.mark.part(2)
@pytest.mark.parametrize("engine", ["pandas", "dask"])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_the_second_time_is_an_error_in_the_words_of_a_run(pipeline, tmp_path, monkeypatch, place, engine):
    """The sink is as it was, and the plan ends the same way."""
    if engine == "dask" and place != PLACES["cutting into partitions"]:
        pytest.skip("planned before there is a cluster, as for pandas")
    failing(monkeypatch, place, 1 << 30)
    for act in (lambda: pipeline.run(engine=engine), lambda: pipeline.explain(engine=engine)):
        with pytest.raises(GpuetlError) as failed:
            act()
        assert type(failed.value) is (InvalidPipeline if place == PLACES["reading footers"] else OutOfMemory)
        assert WORDS.search(str(failed.value))
        assert "or run where there is more memory." in str(failed.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.part(4)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("command", ["plan", "run"])
def test_the_command_line_shows_no_traceback(pipeline, tmp_path, monkeypatch, place, command):
    pipeline.to_yaml(tmp_path / "p.yaml")
    failing(monkeypatch, place, 1 << 30)
    done = gpuetl(command, tmp_path / "p.yaml", "--engine", "pandas")
    assert done.exit_code == (2 if place == PLACES["reading footers"] else 1), done.output
    assert WORDS.search(" ".join(done.stderr.split()))
    assert "Traceback" not in done.output


def test_other_errors_of_planning_stay_what_they_are():
    def other():
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        planned_in_memory(other)


def test_an_error_that_says_which_step_lacked_memory_is_not_worded_again():
    """It is raised after the second attempt inside, which is not made twice."""
    calls = []

    def inner():
        calls.append(1)
        raise OutOfMemory.during("stage 'made'", "8 B were asked for")

    with pytest.raises(OutOfMemory, match="stage 'made': out of memory: 8 B were asked for"):
        planned_in_memory(inner)
    assert len(calls) == 1


@pytest.mark.parametrize("step", ["read", "run"])
def test_steps_of_the_run_use_the_same_words(pipeline, tmp_path, monkeypatch, step):
    from gpuetl.engines.pandas.pandas_engine import PandasBackend

    own = Fails(getattr(PandasBackend, step), 1 << 30, MemoryError)
    monkeypatch.setattr(PandasBackend, step, own)
    with pytest.raises(OutOfMemory) as failed:
        pipeline.run(engine="pandas", options=RunOptions(partition_rows=25))
    assert WORDS.search(str(failed.value))
    assert not (tmp_path / "out").exists()
