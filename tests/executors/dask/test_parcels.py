"""Frames of the cudf engine between workers: what arrives is what was sent."""

from dataclasses import replace
from threading import local
from types import SimpleNamespace

import pyarrow as pa
import pytest

from gpuetl import RunOptions, col
from gpuetl.backends.cudf.columns.text_codes import with_dictionary
from gpuetl.backends.engines import BACKENDS, CLUSTERED, load_backend
from gpuetl.io.spill_space import SpillSpace
from gpuetl.testing import assert_tables_equal
from tables import NAN, table, write_source

pytest.importorskip("distributed")
from dask.sizeof import sizeof
from distributed.protocol import deserialize, serialize

from conftest import COMPILER, ON_CPU
from gpuetl.executors.dask.parcels import Bundle, Parcel, all_sealed, opened, sealed
from gpuetl.executors.dask.shelf import SHELF

TYPES = {"k": "int64", "x": "float64", "s": "string", "d": "decimal(30, 2)", "b": "bool", "l": "list<int32>"}
ROWS = (
    (1, NAN, "a", None, True, [1, None]),
    (None, -0.0, "", 1, None, []),
    (2, None, "ä€😀", -2, False, None),
    (1, 1.5, None, 3, True, [2, 3, 4]),
)
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++")


@needs_compiler
@pytest.mark.parametrize("count", [0, 1, 4])
def test_a_frame_comes_back_as_it_was(count):
    """In one buffer, whose parts are aligned as the allocator aligns arrays."""
    rows = table(TYPES, *ROWS[:count])
    backend = load_backend(ON_CPU)
    header, frames = serialize(sealed(backend.from_arrow(rows)), serializers=("dask",), on_error="raise")
    assert len(frames) == 1
    got = opened(deserialize(header, frames, deserializers=("dask",)))
    assert_tables_equal(backend.to_arrow(got), rows, ordered=True)


@needs_compiler
def test_pieces_of_an_exchange_are_sent_together_as_they_lie():
    """In one buffer, of which each is a part; texts find the dictionary that is there already."""
    backend = load_backend(ON_CPU)
    rows = pa.table({"k": range(100), "s": [f"text {row % 3}" for row in range(100)]})
    frame = backend.from_arrow(rows)
    frame = frame.updated({"s": with_dictionary(frame.columns["s"], backend.machine)})
    sent = all_sealed(backend.split_by_hash(frame, ["k"], 3))
    header, frames = serialize(Bundle(sent), serializers=("dask",), on_error="raise")
    assert len(frames) == 1
    assert memoryview(frames[0]).nbytes == sum(parcel.frame.columns["k"].data.base.nbytes for parcel in sent)
    got = deserialize(header, frames, deserializers=("dask",))
    for here, there in zip(got, sent, strict=True):
        assert backend.to_arrow(opened(here)).equals(backend.to_arrow(opened(there)))
        assert opened(here).columns["s"].dictionary is opened(there).columns["s"].dictionary
    arrays = sum(vector.data.nbytes for parcel in got for vector in opened(parcel).columns.values())
    dictionary = opened(got[0]).columns["s"].dictionary.nbytes
    assert sum(map(sizeof, got)) == arrays + len(got) * dictionary, "each counts its part of what came"


@needs_compiler
def test_a_parcel_says_its_bytes():
    """Dask counts what workers hold by it."""
    frame = load_backend(ON_CPU).from_arrow(pa.table({"x": pa.array(range(100), pa.int64())}))
    assert sizeof(Parcel(frame)) == 800


def test_frames_of_arrow_are_sent_as_they_are():
    """By `distributed`, which cuts slices."""
    rows = pa.table({"x": range(10_000)})
    assert sealed(rows) is rows
    _, frames = serialize(rows.slice(5, 10), serializers=("dask",))
    assert sum(memoryview(frame).nbytes for frame in frames) < 2000


@needs_compiler
def test_a_parcel_that_is_spilled_is_sent_as_it_was(tmp_path):
    """What it takes on the device is known without it."""
    rows, backend = table(TYPES, *ROWS), load_backend(ON_CPU)
    parcel = sealed(backend.from_arrow(rows))
    size = sizeof(parcel)
    assert parcel.spill(backend, SpillSpace(tmp_path)) == size
    assert parcel.waiting is None
    assert parcel.spill(backend, SpillSpace(tmp_path)) == 0
    header, frames = serialize(parcel, serializers=("dask",), on_error="raise")
    assert_tables_equal(backend.to_arrow(opened(deserialize(header, frames, deserializers=("dask",)))), rows, True)
    assert_tables_equal(backend.to_arrow(opened(parcel)), rows, ordered=True)
    assert sizeof(parcel) == size


@needs_compiler
def test_where_there_is_no_room_for_a_parcel_others_are_spilled(monkeypatch):
    """And it is tried once more."""
    backend = load_backend(ON_CPU)
    SHELF.use(backend, None, None)
    first, second = (sealed(backend.from_arrow(pa.table({"x": [number]}))) for number in range(2))
    first.spill(backend, SpillSpace())
    restored, tries = first.spilled.restored, []

    def without_room():
        tries.append(second.waiting)
        if second.waiting is not None:
            raise MemoryError
        return restored()

    monkeypatch.setattr(first, "spilled", SimpleNamespace(restored=without_room, comes={}))
    assert backend.to_arrow(opened(first))["x"].to_pylist() == [0]
    assert len(tries) == 2
    assert second.waiting is None


@pytest.fixture
def joined(pipeline, cluster, monkeypatch):
    """Runs a join with exchanges of the cudf engine's frames on workers, and compares its rows."""
    monkeypatch.setitem(CLUSTERED, "dask-on-cpu", ON_CPU)
    monkeypatch.setattr("gpuetl.backends.engines.CLUSTER_PACKAGES", {"dask-on-cpu": ("distributed", "")})
    assert ON_CPU in BACKENDS
    rows = table({"k": "string", "x": "int64"}, *(("abc"[i % 3], i) for i in range(12)))
    t = write_source(pipeline, "t", rows)
    t.join(t.aggregate("k", s=col("x").sum()), "k").stage("joined").write_parquet("out", "out", mode="overwrite")
    options = RunOptions(partition_rows=2, broadcast_bytes=0)
    expected = pipeline.run(engine="pandas", keep=["joined"], options=options)["joined"].to_arrow()

    def run(**more):
        SHELF.taken_moved()  # of other tests
        run = pipeline.run(engine="dask-on-cpu", keep=["joined"], options=replace(options, **more))
        assert_tables_equal(run["joined"].to_arrow(), expected)
        return run.report

    return run


@needs_compiler
def test_the_cudf_engine_runs_on_workers(joined):
    """Its frames are split, sent and put together; with memory enough nothing is spilled."""
    assert joined().spilled == {}


@needs_compiler
def test_what_waits_on_workers_is_spilled_beyond_a_limit(joined, tmp_path):
    """The report says how much; what came back is no more than what readers asked for."""
    spilled = joined(resident_bytes=0, spill_folder=tmp_path).spilled
    assert spilled["device to host"] > 0
    assert spilled["host to device"] > 0


@needs_compiler
def test_a_worker_that_runs_out_of_memory_spills_what_waits(joined, monkeypatch):
    """And does the step once more."""
    engine, here = type(load_backend(ON_CPU)), local()
    concat = engine.concat

    def without_memory_at_first(self, *given):
        here.failed = not getattr(here, "failed", False)
        if here.failed:
            raise MemoryError
        return concat(self, *given)

    monkeypatch.setattr(engine, "concat", without_memory_at_first)
    assert joined().spilled["device to host"] > 0
