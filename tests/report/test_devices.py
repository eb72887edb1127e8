"""Every run says where it ran; an engine that gpuetl does not know runs pipelines once it is registered."""

import pickle
import sys
from contextlib import nullcontext
from weakref import WeakSet

import numpy as np
import pyarrow as pa
import pytest

from command import gpuetl
from conftest import workers_here
from gpuetl import InvalidPipeline, RunOptions, col, count
from gpuetl.choices import skipping
from gpuetl.engines.capabilities import Capabilities
from gpuetl.engines.interface import FrameSize, PackedFrames
from gpuetl.engines.pandas.pandas_engine import PandasBackend
from gpuetl.engines.registry import ENGINES, ClusterEngine, Engine, capabilities_of, load_backend, register
from gpuetl.physical.working_sets import DEVICE, HOST
from gpuetl.run.planning import working_sets
from gpuetl.testing import assert_tables_equal
from tables import table

THIRD = Engine(
    f"{__name__}:Third",
    Capabilities("GPU", partition_rows=2, choices={"third_way": "Rows go by a third way."}, spills_to="host memory"),
    f"{__name__}:ThirdSupport",
)


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

    def spill(self, frame, space):
        SPILLED.append(frame.rows.num_rows)
        return Spilled(frame)


SPILLED = []
"""How many rows each frame had that was spilled."""


class Spilled:
    """A frame of the third engine that is said to be elsewhere."""

    spill_traffic, restore_traffic = {"device to host": 1}, {"host to device": 1}

    def __init__(self, frame):
        self.frame = frame

    def restored(self):
        return self.frame

    def on_host(self):
        return self.frame


class ThirdSupport:
    """Packs frames as Arrow streams, one behind another."""

    frame_type = Frames

    def size_of(self, frame, shares_memory):
        return FrameSize(frame.rows.nbytes, on_device=False)

    def pack(self, frames):
        streams = [np.frombuffer(stream_of(frame.rows), "uint8") for frame in frames]
        PACKED.append(len(streams))
        return PackedFrames(pickle.dumps([len(each) for each in streams]), np.concatenate(streams), on_device=False)

    def unpack(self, header, buffer):
        *starts, _ = np.cumsum([0, *(sizes := pickle.loads(header))])
        return [
            Frames(pa.ipc.open_stream(pa.py_buffer(buffer[start : start + size])).read_all())
            for start, size in zip(starts, sizes, strict=True)
        ]

    def copy_to_host(self, buffer):
        return memoryview(buffer)

    def stage(self, name):
        return nullcontext()


PACKED = []
"""How many frames were packed at a time."""


def stream_of(rows):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    return sink.getvalue()


@pytest.fixture(autouse=True)
def engines():
    """The test's backend is an engine, of one process and of workers."""
    register("third", THIRD)
    register("dask-third", ClusterEngine("third", "distributed", "gpuetl[dask]"))
    yield
    del ENGINES["third"], ENGINES["dask-third"]
    if spill_registry := sys.modules.get("gpuetl.executors.dask.spill_registry"):  # one for all runs of the process
        spill_registry.SPILL_REGISTRY.use(None, None, None)


@pytest.fixture
def counted(source):
    """Rows that are filtered, then counted by key."""
    rows = source(table({"k": "string", "x": "int64"}, ("a", 1), ("b", 2), ("a", 3)))
    return rows.filter(col("x") > 0).stage("kept").aggregate(by="k", n=count()).stage("counted")


EXPECTED = table({"k": "string", "n": "int64"}, ("a", 2), ("b", 1))


def test_the_report_says_where_a_run_ran(counted, pipeline, engine, layout):
    """On one device, from the first operation to the last."""
    report = pipeline.run(engine=engine, options=layout).report
    device = capabilities_of(engine).device
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


def test_an_engine_has_its_frames_where_its_capabilities_say(local_engine):
    """They are known before it is imported."""
    assert load_backend(local_engine).device == capabilities_of(local_engine).device


def test_planning_asks_an_engine_and_not_its_name():
    """Of an engine on a cluster, that of its workers."""
    for engine in ("third", "dask-third"):
        assert RunOptions().rows_a_partition(engine) == 2
        assert working_sets(engine) is DEVICE
    assert working_sets("dask") is HOST


def test_partitions_have_the_rows_that_suit_the_engine(counted, pipeline):
    """Unless the user says how many."""
    memory = RunOptions(memory=1 << 30)
    assert "2 partitions" in pipeline.explain(engine="third", options=memory)
    assert "partitions" not in pipeline.explain(engine="pandas", options=memory)


def test_an_engine_declares_its_choices():
    """`--skip` takes them, and nothing else."""
    third = capabilities_of("third")
    assert third.takes("third_way")
    assert not third.takes("compile_ahead")
    assert RunOptions(skip_passes=("third_way",)).skipped_choices == {"third_way"}
    with skipping(["third_way"]):
        assert not third.takes("third_way")
    with pytest.raises(InvalidPipeline, match="Did you mean 'third_way'"):
        RunOptions(skip_passes=("third_wy",))


def test_a_name_means_one_engine():
    """Nor is `auto` a name for one."""
    for name in ("third", "dask-third", "cudf", "auto"):
        with pytest.raises(ValueError, match=f"there is an engine '{name}' already"):
            register(name, THIRD)


@pytest.fixture
def joined(pipeline, source):
    """Runs a join with exchanges, in the partitions that suit the engine; returns the report."""
    t = source(table({"k": "string", "x": "int64"}, *(("abc"[i % 3], i) for i in range(12))))
    t.join(t.aggregate("k", total=col("x").sum()), "k").stage("joined")
    expected = pipeline.run(engine="pandas", keep=["joined"])["joined"].to_arrow()

    def run(engine, resident_bytes, client=None):
        PACKED.clear()
        SPILLED.clear()
        options = RunOptions(broadcast_bytes=0, resident_bytes=resident_bytes)
        run = pipeline.run(engine=engine, keep=["joined"], options=options, client=client)
        assert_tables_equal(run["joined"].to_arrow(), expected)
        return run.report

    return run


def test_an_engine_spills_by_itself(joined):
    """To where it says."""
    spilled = joined("third", resident_bytes=0).spilled
    assert SPILLED
    assert spilled["device to host"] == len(SPILLED)


@pytest.mark.parametrize("resident_bytes", [None, 0])
def test_a_third_engine_runs_on_workers(joined, resident_bytes, monkeypatch):
    """They pack, send and spill its frames by its own support; the driver has Arrow tables."""
    pytest.importorskip("distributed")
    from gpuetl.executors.dask.spill_registry import SPILL_REGISTRY

    monkeypatch.setattr(
        SPILL_REGISTRY, "frames", WeakSet()
    )  # tests of this process may have left frames of other engines
    with workers_here(2, protocol="tcp", host="127.0.0.1") as client:
        report = joined("dask-third", resident_bytes, client)
    assert report.device == "GPU"
    assert PACKED
    assert bool(SPILLED) == (resident_bytes == 0)
    assert bool(report.spilled) == (resident_bytes == 0)
    assert any(worker.spilled_bytes for worker in report.workers) == (resident_bytes == 0)
