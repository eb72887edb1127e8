"""Frames of the cudf engine between workers: what arrives is what was sent."""

import re
import weakref
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import local
from types import SimpleNamespace

import pyarrow as pa
import pytest

from gpuetl import RunOptions, col, expr
from gpuetl.engines.cudf.columns.string_codes import with_dictionary
from gpuetl.engines.registry import ENGINES, ClusterEngine, load_backend, load_cluster_support
from gpuetl.io.spill_space import SpillSpace
from gpuetl.testing import assert_tables_equal
from tables import NAN, table, write_source

pytest.importorskip("distributed")
from dask.sizeof import sizeof
from distributed.protocol import deserialize, serialize

from conftest import COMPILER, ON_CPU, workers_here
from gpuetl.engines.cudf.runtime import packed_frames
from gpuetl.engines.interface import PackedFrames
from gpuetl.executors.dask import fetching, spillable_frames
from gpuetl.executors.dask.spill_registry import SPILL_REGISTRY
from gpuetl.executors.dask.spillable_frames import FrameBatch, SpillableFrame, unwrapped

SUPPORT = load_cluster_support(ON_CPU)
wrapped = partial(spillable_frames.wrapped, support=SUPPORT)
all_wrapped = partial(spillable_frames.all_wrapped, support=SUPPORT)
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
    header, frames = serialize(wrapped(backend.from_arrow(rows)), serializers=("dask",), on_error="raise")
    assert len(frames) == 1
    got = unwrapped(deserialize(header, frames, deserializers=("dask",)))
    assert_tables_equal(backend.to_arrow(got), rows, ordered=True)


@needs_compiler
def test_pieces_of_an_exchange_are_sent_together_as_they_lie():
    """In one buffer, of which each is a part; texts find the dictionary that is there already."""
    backend = load_backend(ON_CPU)
    rows = pa.table({"k": range(100), "s": [f"text {row % 3}" for row in range(100)]})
    frame = backend.from_arrow(rows)
    frame = frame.updated({"s": with_dictionary(frame.columns["s"], backend.machine)})
    sent = all_wrapped(backend.split_by_hash(frame, ["k"], 3))
    header, frames = serialize(FrameBatch(sent), serializers=("dask",), on_error="raise")
    assert len(frames) == 1
    assert memoryview(frames[0]).nbytes == sum(frame.frame.columns["k"].data.base.nbytes for frame in sent)
    got = deserialize(header, frames, deserializers=("dask",))
    for here, there in zip(got, sent, strict=True):
        assert backend.to_arrow(unwrapped(here)).equals(backend.to_arrow(unwrapped(there)))
        assert unwrapped(here).columns["s"].dictionary is unwrapped(there).columns["s"].dictionary
    dictionary = unwrapped(got[0]).columns["s"].dictionary.nbytes
    came = memoryview(frames[0]).nbytes
    assert sum(map(sizeof, got)) == came + len(got) * dictionary, "each counts its part of what came"


@needs_compiler
def test_a_frame_says_its_bytes():
    """Dask counts what workers hold by it."""
    frame = load_backend(ON_CPU).from_arrow(pa.table({"x": pa.array(range(100), pa.int64())}))
    assert sizeof(SpillableFrame(frame, SUPPORT)) == 800


def test_frames_of_arrow_are_sent_as_they_are():
    """By `distributed`, which cuts slices."""
    rows = pa.table({"x": range(10_000)})
    assert wrapped(rows) is rows
    _, frames = serialize(rows.slice(5, 10), serializers=("dask",))
    assert sum(memoryview(frame).nbytes for frame in frames) < 2000


@needs_compiler
def test_a_frame_that_is_spilled_is_sent_as_it_was(tmp_path):
    """What it takes on the device is known without it."""
    rows, backend = table(TYPES, *ROWS), load_backend(ON_CPU)
    frame = wrapped(backend.from_arrow(rows))
    size = sizeof(frame)
    assert frame.spill(backend, SpillSpace(tmp_path)) == size
    assert frame.waiting is None
    assert frame.spill(backend, SpillSpace(tmp_path)) == 0
    header, frames = serialize(frame, serializers=("dask",), on_error="raise")
    assert_tables_equal(backend.to_arrow(unwrapped(deserialize(header, frames, deserializers=("dask",)))), rows, True)
    assert_tables_equal(backend.to_arrow(unwrapped(frame)), rows, ordered=True)
    assert sizeof(frame) == size


@needs_compiler
def test_where_there_is_no_room_for_a_frame_others_are_spilled(monkeypatch):
    """And it is tried once more."""
    backend = load_backend(ON_CPU)
    SPILL_REGISTRY.use(backend, None, None)
    first, second = (wrapped(backend.from_arrow(pa.table({"x": [number]}))) for number in range(2))
    first.spill(backend, SpillSpace())
    restored, tries = first.spilled.restored, []

    def without_room():
        tries.append(second.waiting)
        if second.waiting is not None:
            raise MemoryError
        return restored()

    monkeypatch.setattr(first, "spilled", SimpleNamespace(restored=without_room, restore_traffic={}))
    assert backend.to_arrow(unwrapped(first))["x"].to_pylist() == [0]
    assert len(tries) == 2
    assert second.waiting is None


@needs_compiler
@pytest.mark.parametrize("lacks", [1, 2, 3])
def test_a_worker_without_memory_to_send_spills_what_waits_sends_that_or_says_so(monkeypatch, lacks):
    """In the end the reader is out of memory when it opens what came, and so is who gets it from there."""
    backend, failed, in_one = load_backend(ON_CPU), [], packed_frames.in_one
    SPILL_REGISTRY.use(backend, None, None)
    sent, other = (wrapped(backend.from_arrow(pa.table({"x": [number]}))) for number in range(2))

    def without_room(frame):
        failed.append(other.is_resident)
        if len(failed) <= lacks:
            raise MemoryError("failed to allocate 3 GiB")
        return in_one(frame)

    monkeypatch.setattr(packed_frames, "in_one", without_room)
    (got,) = sent_on(FrameBatch([sent]))
    assert failed == [True, False, False][: lacks + 1]
    if lacks < 3:
        assert backend.to_arrow(unwrapped(got))["x"].to_pylist() == [0]
        return
    assert sizeof(got) == got.spill(backend, SpillSpace()) == 0
    for each in (got, sent_on(got)):
        with pytest.raises(MemoryError, match="failed to allocate 3 GiB"):
            unwrapped(each)


@needs_compiler
@pytest.mark.parametrize("lacks", [1, 2])
def test_a_worker_without_memory_to_take_what_came_spills_what_waits_and_is_then_out_of_memory(monkeypatch, lacks):
    """When it opens what came."""
    backend, failed, unpacked = load_backend(ON_CPU), [], spillable_frames.unpack_batch
    SPILL_REGISTRY.use(backend, None, None)
    sent, other = (wrapped(backend.from_arrow(pa.table({"x": [number]}))) for number in range(2))

    def without_room(*given):
        failed.append(other.is_resident)
        if len(failed) <= lacks:
            raise MemoryError("failed to allocate 3 GiB")
        return unpacked(*given)

    monkeypatch.setattr(spillable_frames, "unpack_batch", without_room)
    got = sent_on(sent)
    assert failed == [True, False]
    if lacks == 1:
        assert backend.to_arrow(unwrapped(got))["x"].to_pylist() == [0]
        return
    with pytest.raises(MemoryError, match="failed to allocate 3 GiB"):
        unwrapped(got)


@needs_compiler
@pytest.mark.parametrize("most", [256, 1], ids=["tasks", "fetched"])
def test_a_run_begins_again_where_workers_have_no_memory_to_send(pipeline, on_workers, monkeypatch, most):
    """With smaller partitions; dask by itself waits for ever for what a worker cannot send."""
    in_one = packed_frames.in_one

    def without_room(frame):
        if frame.rows > 6:
            raise MemoryError(f"failed to allocate {frame.rows} GiB")
        return in_one(frame)

    asked, answered = [], fetching.remote_pieces
    monkeypatch.setattr(fetching, "remote_pieces", lambda *given: asked.append(given) or answered(*given))
    monkeypatch.setattr(packed_frames, "in_one", without_room)
    monkeypatch.setattr(fetching, "MOST_PIECES", most)
    report = by_tcp(windowed(pipeline), on_workers, partition_rows=16)
    assert bool(asked) == (most == 1)
    assert report.sinks[0].rows == 32
    notes = [note for note in report.notes if "begun again" in note]
    assert re.match(r".*out of memory: \d+ GiB were asked for.*begun again with partitions of at most 4 rows", notes[0])


@needs_compiler
def test_a_connection_with_half_an_answer_is_not_used_again(pipeline, on_workers, monkeypatch):
    """What is left in it would be taken for the next answer."""
    send_recv, failed = fetching.send_recv, []

    async def half(comm, **message):
        if message["op"] == "gpuetl_serve" and not failed:
            failed.append(comm)
            await comm.write({**message, "reply": True})
            raise MemoryError
        return await send_recv(comm, **message)

    monkeypatch.setattr(fetching, "send_recv", half)
    monkeypatch.setattr(fetching, "MOST_PIECES", 1)
    assert by_tcp(windowed(pipeline), on_workers, partition_rows=8).sinks[0].rows == 32
    assert [comm.closed() for comm in failed] == [True]


def windowed(pipeline):
    t = write_source(pipeline, "t", table({"k": "int64", "x": "int64"}, *((row * 13 % 32, row) for row in range(32))))
    t.window("k", "x", n=expr("row_number()")).write_parquet("out", "out")
    return pipeline


def by_tcp(pipeline, engine, partition_rows):
    """Run on two workers that send each other what they have, and exchange all rows."""
    options = RunOptions(partition_rows=partition_rows, broadcast_bytes=0)
    with workers_here(2, protocol="tcp", host="127.0.0.1") as client:
        return pipeline.run(engine=engine, client=client, options=options).report


@needs_compiler
@pytest.mark.parametrize("there", [True, False])
def test_a_copy_to_the_host_that_fails_is_made_of_what_was_spilled_or_told(monkeypatch, there):
    """It takes host memory."""
    backend = load_backend(ON_CPU)
    SPILL_REGISTRY.use(backend if there else None, None, None)
    sent = wrapped(backend.from_arrow(pa.table({"x": [1]})))

    class NoCopy:
        def get(self):
            raise MemoryError("no pinned memory")

    monkeypatch.setattr(spillable_frames, "pack_batch", lambda frames: PackedFrames(b"", NoCopy(), on_device=True))
    got = sent_on(sent)
    if there:
        assert backend.to_arrow(unwrapped(got))["x"].to_pylist() == [1]
        return
    with pytest.raises(MemoryError, match="no pinned memory"):
        unwrapped(got)


@needs_compiler
def test_what_is_sent_is_held_until_it_is_copied(monkeypatch):
    """Also where it is spilled meanwhile: its memory would be another's, before the device has read it."""
    backend = load_backend(ON_CPU)
    sent, equal = wrapped(frame := backend.from_arrow(pa.table({"x": [1]}))), backend.from_arrow(pa.table({"x": [1]}))
    spilled, memory = backend.spill(equal, SpillSpace()), weakref.ref(frame.columns["x"].data)
    del frame  # that of `sent`, which no thread that spills has held
    alive, put = [], packed_frames.in_one

    @contextmanager
    def stage(name, frames):
        yield
        alive.append(memory() is not None)

    def spilled_meanwhile(frame):
        sent.spilled, sent.waiting = spilled, None
        return put(frame)

    monkeypatch.setattr(spillable_frames, "stage", stage)
    monkeypatch.setattr(packed_frames, "in_one", spilled_meanwhile)
    assert backend.to_arrow(unwrapped(sent_on(sent)))["x"].to_pylist() == [1]
    assert alive[0]


@needs_compiler
def test_what_cannot_be_sent_for_another_reason_is_an_error_of_who_opens_it(monkeypatch):
    """And not of nobody."""
    sent = wrapped(load_backend(ON_CPU).from_arrow(pa.table({"x": [1]})))
    monkeypatch.setattr(packed_frames, "in_one", lambda frame: 1 // 0)
    with pytest.raises(
        RuntimeError, match="rows could not be sent: ZeroDivisionError: integer division or modulo by zero"
    ):
        unwrapped(sent_on(sent))


def sent_on(result):
    header, frames = serialize(result, serializers=("dask",), on_error="raise")
    return deserialize(header, frames)


@pytest.fixture
def on_workers(monkeypatch):
    """The cudf engine on workers without a GPU."""
    monkeypatch.setitem(ENGINES, "dask-on-cpu", ClusterEngine(ON_CPU, "distributed", ""))
    return "dask-on-cpu"


@pytest.fixture
def joined(pipeline, cluster, on_workers):
    """Runs a join with exchanges of the cudf engine's frames on workers, and compares its rows."""
    rows = table({"k": "string", "x": "int64"}, *(("abc"[i % 3], i) for i in range(12)))
    t = write_source(pipeline, "t", rows)
    t.join(t.aggregate("k", s=col("x").sum()), "k").stage("joined").write_parquet("out", "out", mode="overwrite")
    options = RunOptions(partition_rows=2, broadcast_bytes=0)
    expected = pipeline.run(engine="pandas", keep=["joined"], options=options)["joined"].to_arrow()

    def run(**more):
        SPILL_REGISTRY.drain_link_bytes()  # of other tests
        run = pipeline.run(engine=on_workers, keep=["joined"], options=replace(options, **more))
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
