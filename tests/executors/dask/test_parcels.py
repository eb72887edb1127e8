"""Frames of the cudf engine between workers: what arrives is what was sent."""

import numpy as np
import pyarrow as pa
import pytest

from gpuetl import RunOptions, col
from gpuetl.backends.engines import BACKENDS, CLUSTERED, load_backend
from gpuetl.testing import assert_tables_equal
from tables import NAN, table, write_source

pytest.importorskip("distributed")
from distributed.protocol import deserialize, serialize

from conftest import COMPILER, ON_CPU
from gpuetl.executors.dask.parcels import Parcel, bytes_of, in_one, opened, sealed, taken_apart

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


def test_buffers_lie_in_one_at_multiples_of_256_bytes():
    """Also arrays of two dimensions, and empty ones."""
    buffers = [np.arange(3), np.arange(4, dtype="int16").reshape(2, 2), np.empty(0), np.arange(7, dtype="uint8")]
    places, whole = in_one(buffers)
    assert [start for start, _, _ in places] == [0, 256, 512, 512]
    for got, sent in zip(taken_apart(places, whole), buffers, strict=True):
        assert got.dtype == sent.dtype
        np.testing.assert_array_equal(got, sent)


@needs_compiler
def test_a_parcel_says_its_bytes():
    """Dask counts what workers hold by it."""
    frame = load_backend(ON_CPU).from_arrow(pa.table({"x": pa.array(range(100), pa.int64())}))
    assert bytes_of(Parcel(frame)) == 800


def test_frames_of_arrow_are_sent_as_they_are():
    """By `distributed`, which cuts slices."""
    rows = pa.table({"x": range(10_000)})
    assert sealed(rows) is rows
    _, frames = serialize(rows.slice(5, 10), serializers=("dask",))
    assert sum(memoryview(frame).nbytes for frame in frames) < 2000


@needs_compiler
def test_the_cudf_engine_runs_on_workers(pipeline, cluster, monkeypatch):
    """Its frames are split, sent and put together."""
    monkeypatch.setitem(CLUSTERED, "dask-on-cpu", ON_CPU)
    monkeypatch.setattr("gpuetl.backends.engines.CLUSTER_PACKAGES", {"dask-on-cpu": ("distributed", "")})
    assert ON_CPU in BACKENDS
    rows = table({"k": "string", "x": "int64"}, *(("abc"[i % 3], i) for i in range(12)))
    t = write_source(pipeline, "t", rows)
    t.join(t.aggregate("k", s=col("x").sum()), "k").stage("joined").write_parquet("out", "out")
    options = RunOptions(partition_rows=2, broadcast_bytes=0)
    expected = pipeline.run(engine="pandas", keep=["joined"], options=options)["joined"].to_arrow()
    (pipeline.root / "out").rename(pipeline.root / "before")
    assert_tables_equal(
        pipeline.run(engine="dask-on-cpu", keep=["joined"], options=options)["joined"].to_arrow(), expected
    )
