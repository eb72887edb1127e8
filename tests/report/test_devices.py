"""Every run says where it ran; an engine that gpuetl does not know runs pipelines once it is registered."""

import pytest

from command import gpuetl
from gpuetl import col, count
from gpuetl.engines.pandas.pandas_engine import PandasBackend
from gpuetl.engines.registry import BACKENDS
from gpuetl.testing import assert_tables_equal
from tables import table


class Frames:
    """The rows of a backend that has no frames in common with another."""

    def __init__(self, rows):
        self.rows = rows


class Third(PandasBackend):
    """An engine of its own: it says that it is a GPU, and its frames are no other engine's."""

    name, device = "third", "GPU"

    def device_of(self, operation):
        return "GPU"

    def read(self, read, groups):
        return Frames(super().read(read, groups))

    def run(self, operation, *frames):
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


@pytest.fixture(autouse=True)
def engines(monkeypatch):
    """The test's backend is an engine."""
    monkeypatch.setitem(BACKENDS, "third", "report.test_devices:Third")


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


def test_a_third_engine_runs_a_pipeline(counted, pipeline, layout):
    """With frames of its own, from the first operation to the last."""
    run = pipeline.run(engine="third", options=layout)
    assert_tables_equal(run["counted"].to_arrow(), EXPECTED)
    assert run.report.device == "GPU"
    assert run.report.engine == "third"


def test_the_command_runs_a_third_engine(counted, pipeline):
    """It prints where the run ran."""
    pipeline.to_yaml(pipeline.root / "p.yaml")
    done = gpuetl("run", pipeline.root / "p.yaml", "--engine", "third")
    assert done.exit_code == 0, done.output
    assert "test: done on GPU in" in done.stdout
