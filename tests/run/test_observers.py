"""Observers of a run: which calls they get, in which order, and that they change nothing of it."""

from __future__ import annotations

import pyarrow as pa
import pytest

from gpuetl import InvalidPipeline, Pipeline, RunFailed, col
from gpuetl.run import pipeline_run
from gpuetl.run.observers import Observers, RunObserver


class Log(RunObserver):
    def __init__(self, warning=""):
        self.calls, self.partitions, self.warning = [], [], warning

    def started(self, account):
        self.calls.append(("started", account.run_id, account.plan))

    def bound(self, account):
        self.calls.append(("bound", sorted(account.plan.stages), account.physical))

    def planned(self, account):
        self.calls.append(("planned", account.physical is not None, account.fit is not None))

    def progress(self, account, origin, done, of):
        self.partitions.append((str(origin), done, of))

    def ended(self, account, report, error):
        self.calls.append(("ended", report.status, type(error).__name__, report.run_id == account.run_id))
        return [self.warning] if self.warning else []


class Faulty(RunObserver):
    def started(self, account):
        raise KeyError("rows")

    def progress(self, account, origin, done, of):
        raise IndexError(done)

    ended = progress


@pytest.fixture
def observe(monkeypatch):
    def use(*observers):
        monkeypatch.setattr(pipeline_run, "observers_of", lambda account: Observers(observers))

    return use


def pipeline(values=("1", "2")):
    small = Pipeline("small")
    rows = small.from_frame("rows", pa.table({"x": list(values)}))
    rows.with_columns(y=col("x").cast("int8")).stage("kept")
    return small


@pytest.mark.parametrize("engine", ["pandas", "dask"])
def test_an_observer_sees_a_run_from_start_to_end(observe, engine):
    log = Log("nobody listens")
    observe(log)
    reported = []
    run = pipeline().run(engine=engine, progress=lambda *one: reported.append(one))
    assert log.calls == [
        ("started", run.report.run_id, None),
        ("bound", ["kept"], None),
        ("planned", True, True),
        ("ended", "done", "NoneType", True),
    ]
    assert ("stage 'kept', step 1", 1, 1) in log.partitions
    assert reported
    assert run.report.warnings == ("nobody listens",)


def test_it_sees_the_end_of_runs_that_fail_while_planning_or_running(observe):
    log = Log("late")
    observe(log)
    with pytest.raises(RunFailed) as failed:
        pipeline(["1", "300"]).run(engine="pandas")
    assert [call[0] for call in log.calls] == ["started", "bound", "planned", "ended"]
    assert log.calls[-1] == ("ended", "failed", "RunFailed", True)
    assert failed.value.report.warnings == ("late",)
    log.calls.clear()
    broken = pipeline()
    broken.add_sink("out", "parquet", "nowhere/*.parquet", "kept")
    with pytest.raises(InvalidPipeline):
        broken.run(engine="pandas")
    assert log.calls == [("started", log.calls[0][1], None), ("ended", "failed", "InvalidPipeline", True)]


def test_one_that_fails_is_a_warning_and_the_others_are_called(observe):
    log = Log()
    observe(Faulty(), log)
    run = pipeline().run(engine="pandas")
    assert [call[0] for call in log.calls] == ["started", "bound", "planned", "ended"]
    (warning,) = run.report.warnings
    assert warning.startswith("Faulty failed: gpuetl failed unexpectedly: KeyError: 'rows'\nThis is a bug in gpuetl")
    assert run["kept"].to_arrow().num_rows == 2


def test_first_rows_of_a_table_and_tests_are_not_observed(observe):
    log = Log()
    observe(log)
    assert pipeline().table("kept").count() == 2
    assert log.calls == []
