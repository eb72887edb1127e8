"""The memory of a run over time."""

import time

from gpuetl import RunOptions, col
from gpuetl.telemetry.memory_meter import MemoryUse
from gpuetl.telemetry.memory_samples import MOST_SAMPLES, MemoryCurve, MemorySampler, thinned
from tables import table


def test_samples_are_thinned_by_their_peaks():
    assert thinned([(0.0, 1), (1.0, 5), (2.0, 4), (3.0, 2), (4.0, 7)]) == [(1.0, 5), (2.0, 4), (4.0, 7)]


def test_a_long_run_keeps_a_few_hundred_samples():
    sampler = MemorySampler(lambda: MemoryUse(7, 10), time.perf_counter())
    period = sampler.period_s
    for _ in range(3 * MOST_SAMPLES):
        sampler.look()
    assert len(sampler.samples) <= MOST_SAMPLES
    assert sampler.period_s == 16 * period
    assert sampler.curve("GPU").limit == 10
    assert sampler.curve("GPU").peak == 7


def test_memory_that_cannot_be_asked_for_ends_the_samples():
    """A device is lost; the run's own error matters."""
    answers = iter([MemoryUse(1, 2)])
    sampler = MemorySampler(lambda: next(answers), time.perf_counter(), period_s=0.001)
    try:
        with sampler:
            sampler.thread.join(10)
            assert not sampler.thread.is_alive()
            raise OSError("lost")
    except OSError:
        pass
    assert [count for _, count in sampler.curve("GPU").samples] == [1]


def test_memory_that_cannot_be_asked_for_at_all_fails_no_run():
    def use():
        raise OSError("lost")

    with MemorySampler(use, time.perf_counter()) as sampler:
        pass
    assert sampler.curve("GPU") is None


def test_a_run_has_its_memory_against_the_plan(source, pipeline, local_engine):
    source(table({"x": "int64"}, (1,), (2,))).filter(col("x") > 1).stage("kept")
    report = pipeline.run(engine=local_engine, options=RunOptions()).report
    (curve,) = report.memory_curves
    assert isinstance(curve, MemoryCurve)
    assert curve.where in ("CPU", "GPU")
    assert len(curve.samples) >= 2
    assert [at for at, _ in curve.samples] == sorted(at for at, _ in curve.samples)
    assert report.memory_budget > 0
