"""The work of a plan: what of it is done, by bytes, and how that is corrected by the rows that there really are."""

from __future__ import annotations

import pytest

from gpuetl import Pipeline, RunOptions, col
from gpuetl.physical.planned_work import planned_work
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.recorder import Recorder, Work
from gpuetl.telemetry.run_totals import PlannedStep, PlannedWork, RunTotals
from plans import lowered
from tables import table, write_source


def work(partitions: int, rows: int = 0, file_bytes: int = 0) -> Work:
    """Return the work that is recorded of so many partitions."""
    return Work("Any", Origin("stage", "s"), rows_out=rows, partitions=partitions, file_bytes=file_bytes)


READ_AND_MAP = PlannedWork(
    (PlannedStep(1, 4, 400, 1000.0, None, is_source=True), PlannedStep(2, 4, 400, 3000.0, 0)), file_bytes=800
)


def test_the_share_is_by_bytes():
    assert READ_AND_MAP.totals({}) == RunTotals(0, 0, 800, 0.0)
    assert READ_AND_MAP.totals({1: work(2, 200, 400)}) == RunTotals(200, 400, 800, 500 / 4000)
    assert READ_AND_MAP.totals({1: work(4, 400, 800), 2: work(3, 300)}) == RunTotals(400, 800, 800, 3250 / 4000)


def test_all_is_never_done_before_the_end():
    assert READ_AND_MAP.share({1: work(4, 400), 2: work(4, 400)}) == 0.99


def test_rows_that_a_filter_drops_are_no_work_after_it():
    """A tenth of the rows stay: what comes after them takes in a tenth of the bytes."""
    steps = (
        PlannedStep(1, 1, 100, 100.0, None, is_source=True),
        PlannedStep(2, 1, 100, 100.0, 0),
        PlannedStep(3, 1, 100, 1000.0, 1),
    )
    planned = PlannedWork(steps)
    assert planned.share({1: work(1, 100)}) == pytest.approx(100 / 1200)
    assert planned.share({1: work(1, 100), 2: work(1, 10)}) == pytest.approx(200 / 300)


def test_more_bytes_than_planned_are_no_share_above_one():
    """Of a file that has grown."""
    assert READ_AND_MAP.totals({1: work(4, 400, 900)})[1:3] == (900, 900)


def test_a_plan_without_rows_has_no_share():
    assert PlannedWork((PlannedStep(1, 1, 0, 0.0, None, is_source=True),)).share({}) is None
    assert PlannedWork().share({}) is None


@pytest.fixture
def pipeline(tmp_path):
    pipeline = Pipeline("test", root=tmp_path)
    rows = [(n % 5, n, f"{n}") for n in range(200)]
    t = write_source(pipeline, "t", table({"k": "int64", "x": "int64", "s": "string"}, *rows))
    u = write_source(pipeline, "u", table({"k": "int64", "z": "int64"}, *((n, n) for n in range(5))))
    joined = t.filter(col("x") > 50).join(u, on="k").stage("joined")
    joined.sort("x").stage("sorted").write_parquet("rows", "out/rows", mode="overwrite")
    t.aggregate(by="k", n=col("x").sum()).union(u.select("k", n=col("z"))).write_csv("sums", "out/sums.csv")
    return pipeline


@pytest.mark.parametrize("rows", [None, 20])
def test_every_operation_of_a_plan_is_a_step_after_its_source(pipeline, rows):
    planned = planned_work(lowered(pipeline, RunOptions(partition_rows=rows)))
    assert planned.file_bytes > 0
    assert all(step.source is None or step.source < place for place, step in enumerate(planned.steps))
    assert all(step.partitions >= 1 for step in planned.steps)
    assert sum(step.is_source for step in planned.steps) >= 2


class Follower:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.shares: list[float] = []
        self.last = RunTotals()
        self.totals = RunTotals

    def follow(self, totals) -> None:
        self.totals = totals

    def __call__(self, origin: Origin, done: int, of: int) -> None:
        self.last = self.totals()
        if self.last.share is not None:  # None while a cluster is started
            self.shares.append(self.last.share)


@pytest.mark.parametrize("engine", ["pandas", "dask"])
@pytest.mark.parametrize("rows", [None, 20])
def test_a_run_can_be_followed(pipeline, engine, rows):
    """All rows of all sources are counted, on a cluster as here."""
    follower = Follower()
    pipeline.run(engine=engine, options=RunOptions(partition_rows=rows), progress=follower)
    assert follower.last.rows == 205 + 200 * (sum_of_scans(pipeline) - 2)
    assert follower.last.file_bytes == follower.last.planned_bytes > 0
    assert 0 <= follower.shares[0] < follower.shares[-1]
    assert follower.shares[-1] > 0.9


def sum_of_scans(pipeline: Pipeline) -> int:
    """Return how many sources the plan reads; one whose columns differ by reader may be read twice."""
    return sum(step.is_source for step in planned_work(lowered(pipeline)).steps)


def test_who_only_counts_partitions_is_asked_for_nothing():
    """The plan's work is not computed for it."""
    recorder = Recorder(lambda origin, done, of: None)
    recorder.begin_plan(lambda: pytest.fail("computed"))
    assert recorder.follower is None
