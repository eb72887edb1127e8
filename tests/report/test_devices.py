"""Every run says where it ran; what an engine refuses is an error before the run, or runs on pandas and is recorded."""

import pytest

from command import gpuetl
from gpuetl import InvalidPipeline, RunOptions, col, count
from gpuetl.engines.pandas.pandas_engine import PandasBackend
from gpuetl.engines.registry import BACKENDS
from gpuetl.plan.nodes import Aggregate, Read
from gpuetl.testing import assert_tables_equal
from tables import table


class Frames:
    """The rows of a backend that has no frames in common with another."""

    def __init__(self, rows):
        self.rows = rows


class Picky(PandasBackend):
    """Says that it is a GPU, has frames of its own, and refuses some kinds of operations."""

    name, device, refused = "picky", "GPU", (Aggregate,)

    def refuses(self, operation):
        return "too many groups" if isinstance(operation, self.refused) else ""

    def device_of(self, operation):
        return "GPU"

    def read(self, read, groups):
        assert not self.refuses(read)
        return Frames(super().read(read, groups))

    def run(self, operation, *frames):
        assert not self.refuses(operation)
        return Frames(super().run(operation, *(frame.rows for frame in frames)))

    def split_by_hash(self, frame, keys, count):
        return [Frames(rows) for rows in super().split_by_hash(frame.rows, keys, count)]

    def concat(self, frames, schema):
        return Frames(super().concat([frame.rows for frame in frames], schema))

    def rows(self, frame):
        return frame.rows.num_rows

    def nbytes(self, frame, columns):
        return super().nbytes(frame.rows, columns)

    def head(self, frame, count):
        return super().head(frame.rows, count)

    def to_arrow(self, frame):
        return frame.rows

    def from_arrow(self, rows):
        return Frames(rows)


class NoReads(Picky):
    """Reads no file."""

    refused = (Read,)


@pytest.fixture(autouse=True)
def engines(monkeypatch):
    """The test's backends are engines."""
    monkeypatch.setitem(BACKENDS, "picky", "report.test_devices:Picky")
    monkeypatch.setitem(BACKENDS, "no-reads", "report.test_devices:NoReads")


@pytest.fixture
def counted(source):
    """Rows that are filtered, then counted by key."""
    rows = source(table({"k": "string", "x": "int64"}, ("a", 1), ("b", 2), ("a", 3)))
    return rows.filter(col("x") > 0).stage("kept").aggregate(by="k", n=count()).stage("counted")


EXPECTED = table({"k": "string", "n": "int64"}, ("a", 2), ("b", 1))


def test_the_report_says_where_a_run_ran(counted, pipeline, engine, layout):
    """On one device, from the first operation to the last."""
    report = pipeline.run(engine=engine, options=layout).report
    device = "CPU" if engine in ("pandas", "dask") else "GPU"
    assert report.device == device
    assert [stage.device for stage in report.stages] == [device] * 3
    assert report.to_dict()["device"] == device


def test_what_an_engine_refuses_is_an_error_before_the_run(counted, pipeline):
    """With the step, the reason, and what to do."""
    with pytest.raises(InvalidPipeline) as caught:
        pipeline.run(engine="picky")
    assert str(caught.value) == (
        "stage 'counted', step 1: Aggregate cannot run on engine 'picky': too many groups\n"
        "Run with --fallback, which runs it on pandas and says so, or with --engine pandas."
    )


def test_with_fallback_it_runs_on_pandas_and_the_report_says_so(counted, pipeline, layout):
    """That operation alone; the run is mixed."""
    options = RunOptions(layout.partition_rows, layout.broadcast_bytes, fallback=True)
    run = pipeline.run(engine="picky", options=options)
    assert_tables_equal(run["counted"].to_arrow(), EXPECTED)
    assert run.report.device == "MIXED"
    devices = {stage.name: stage.device for stage in run.report.stages}
    assert (devices["t"], devices["kept"]) == ("GPU", "GPU")
    assert devices["counted"] in ("CPU", "MIXED")  # partial aggregates have projections around them
    assert run.report.notes == ("stage 'counted', step 1: Aggregate ran on pandas: too many groups",)


def test_a_source_can_fall_back_too(counted, pipeline):
    """Its rows are handed over."""
    run = pipeline.run(engine="no-reads", options=RunOptions(fallback=True))
    assert_tables_equal(run["counted"].to_arrow(), EXPECTED)
    assert [stage.device for stage in run.report.stages] == ["CPU", "GPU", "GPU"]
    assert run.report.notes == ("source 't': Read ran on pandas: too many groups",)


def test_fallback_changes_nothing_where_nothing_is_refused(counted, pipeline):
    """A run on the GPU alone stays one."""
    options = RunOptions(fallback=True)
    assert pipeline.run(engine="picky", keep=["kept"], options=options).report.device == "GPU"


def test_the_command_refuses_with_2_and_falls_back_when_told_to(counted, pipeline):
    """It prints where the run ran."""
    pipeline.to_yaml(pipeline.root / "p.yaml")
    refused = gpuetl("run", pipeline.root / "p.yaml", "--engine", "picky")
    assert refused.exit_code == 2
    assert "Aggregate cannot run on engine 'picky'" in refused.stderr
    done = gpuetl("run", pipeline.root / "p.yaml", "--engine", "picky", "--fallback")
    assert done.exit_code == 0, done.output
    assert "test: done on MIXED in" in done.stdout
    assert "Aggregate ran on pandas: too many groups" in done.stdout
