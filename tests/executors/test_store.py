"""Frames that wait: spilled, oldest first, beyond a limit, and read back as they were."""

import gc
import math
import weakref
from collections import Counter
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache

import pyarrow as pa
import pytest

from gpuetl import InvalidPipeline, RunOptions
from gpuetl.engines.registry import load_backend
from gpuetl.executors.store import Store
from gpuetl.io import spill_space
from gpuetl.io.spill_space import HostRoom, SpillSpace
from gpuetl.memory_limits import HostMemory
from gpuetl.telemetry.recorder import Recorder
from left_to_full import after
from open_files import open_files
from small_pipelines import PIPELINES, answers, pipeline_of, rows_of

ROWS = pa.table(
    {
        "i": pa.array([1, None, 3] * 400, "int64"),
        "s": pa.array(["a", "", None] * 400),
        "b": pa.array([True, None, False] * 400),
        "l": pa.array([[1, None], None, []] * 400, pa.list_(pa.int32())),
        "t": pa.array([[["x"]], None, [[None, "y"], None]] * 400, pa.list_(pa.list_(pa.string()))),
        "d": pa.array([None, Decimal("1.50"), Decimal("-2.25")] * 400, pa.decimal128(30, 2)),
        "n": pa.nulls(1200),
        "at": pa.array([datetime(1969, 1, 1), None, datetime(2026, 1, 1)] * 400, pa.timestamp("us")),
        "day": pa.array([date(1969, 1, 1), None, date(2026, 1, 1)] * 400),
        "for": pa.array([timedelta(1), None, timedelta(-1)] * 400, pa.duration("us")),
    }
)
AS_WRITTEN = RunOptions(optimize=False)
SHAPES = {
    "rows": ROWS, "no rows": ROWS.slice(0, 0), "a slice": ROWS.slice(5, 17), "no columns": ROWS.select([]),
    "chunks": pa.concat_tables([ROWS.slice(0, 7), ROWS.slice(3, 40)]),
}  # fmt: skip


@pytest.fixture
def backend(local_engine):
    """The engine's."""
    return load_backend(local_engine)


@pytest.fixture(params=["in memory", "in files"])
def space(request, monkeypatch, tmp_path):
    """Room in host memory, or where that has none."""
    available = 1 << 40 if request.param == "in memory" else 0
    monkeypatch.setattr(spill_space, "host_memory", lambda: HostMemory(available, 1 << 40))
    monkeypatch.setattr(spill_space, "HOST", HostRoom())
    return SpillSpace(tmp_path)


@pytest.mark.parametrize(("recent", "asked"), [(math.inf, 3), (-1, 4)])
def test_the_host_is_asked_after_a_while_and_before_room_is_denied(monkeypatch, recent, asked):
    """A quarter is left to others; what was taken counts meanwhile."""
    free_bytes = [40, 60, 100] if recent > 0 else [40, 60, 80, 100]
    monkeypatch.setattr(spill_space, "RECENT_S", recent)
    monkeypatch.setattr(spill_space, "host_memory", lambda: HostMemory(free_bytes.pop(), 100))
    room, before = HostRoom(), len(free_bytes)
    assert [room.take(size) for size in (50, 20, 30, 30)] == [True, True, True, False]
    assert before - len(free_bytes) == asked


def test_tables_in_files_keep_no_descriptor_open(tmp_path):
    """A run in many partitions spills thousands of pieces, and a process may open a thousand files."""
    backend, before = load_backend("pandas"), open_files()
    kept = [backend.spill(ROWS.slice(at, 3), SpillSpace(tmp_path)) for at in range(9)]
    assert open_files() - before == set()
    assert [table.restored() for table in kept] == [ROWS.slice(at, 3) for at in range(9)]


@pytest.mark.parametrize("rows", SHAPES.values(), ids=list(SHAPES))
def test_a_frame_that_was_spilled_comes_back_as_it_was(rows, backend, space):
    """Whatever its types are, as often as it is wanted."""
    spilled = backend.spill(backend.from_arrow(rows), space)
    for _ in range(2):
        back = backend.to_arrow(spilled.restored())
        assert back.equals(rows)
        assert back.num_rows == rows.num_rows


def test_a_file_has_no_name_and_links_tell_the_way(backend, space, tmp_path):
    """What is not there cannot be left behind."""
    spilled = backend.spill(backend.from_arrow(ROWS), space)
    assert not list(tmp_path.iterdir())
    spill_traffic = {
        "device to host": backend.name == "cudf",
        "host to file": backend.name == "pandas" or space.room(1).in_file,
    }
    assert set(spilled.spill_traffic) == {link for link, used in spill_traffic.items() if used}
    assert set(spilled.restore_traffic) == {" to ".join(link.split(" to ")[::-1]) for link in spilled.spill_traffic}
    assert set(spilled.spill_traffic.values()) == set(spilled.restore_traffic.values()) != {0}


def numbers(start):
    return pa.table({"x": pa.array(range(start, start + 1000), "int64")})


def store_of(backend, limit):
    return Store(backend, Recorder(), limit)


def test_the_oldest_frames_are_spilled_beyond_the_limit(backend):
    """Frames of a key come in the order in which they were added, and all of them go at once."""
    store = store_of(backend, 17_000)
    for start in range(4):
        store.add(start % 2, backend.from_arrow(numbers(start)), ["x"])
    assert [[bool(waiting.spilled) for waiting in store.waiting[key]] for key in (0, 1)] == [[True, False]] * 2
    assert store.size == 16_000
    assert [backend.to_arrow(frame).equals(numbers(key)) for key, frame in zip((1, 3), store.read(1), strict=True)]
    assert [backend.to_arrow(frame)["x"][0].as_py() for frame in store.take(1)] == [1, 3]
    assert 1 not in store
    assert store.take(1) == []
    assert store.size == 8_000
    assert store.spill_all() == ""
    assert store.size == 0
    assert backend.to_arrow(store.take(0)[1]).equals(numbers(2))


def test_what_is_spilled_or_dropped_is_not_in_memory(backend):
    """Nobody else holds it."""
    store = store_of(backend, 1 << 30)
    refs = []
    for key in range(3):
        frame = backend.from_arrow(pa.table({"x": pa.array([key]).take(pa.array([0] * 1000))}))
        refs.append(weakref.ref(frame))
        store.add(key, frame, ["x"])
        del frame
    store.drop(2)
    store.spill(8_000)
    gc.collect()
    assert [ref() is None for ref in refs] == [True, False, True]


def test_a_full_disk_leaves_frames_where_they_are(backend, monkeypatch):
    """And whoever wanted the memory is told."""

    def refused(frame, space):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(backend), "spill", lambda self, frame, space: refused(frame, space))
    store = store_of(backend, 0)
    store.add("k", backend.from_arrow(numbers(0)), ["x"])
    assert store.spill_all() == "frames that wait cannot be spilled: [Errno 28] No space left on device"
    assert backend.to_arrow(store.take("k")[0]).equals(numbers(0))


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Returns the rows of a pipeline as it is written."""
    return cache(lambda name: answers(pipeline_of(name, tmp_path_factory.mktemp(name)), "pandas", AS_WRITTEN))


@pytest.mark.part(8)
@pytest.mark.parametrize(
    "limit", after(1, [0, 100], "frames that wait in part in memory, in part spilled, by pipeline")
)
@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines_that_spill_give_the_same_rows(name, limit, local_engine, tmp_path, expected):
    """The report says over which links; the bytes that went have come, but for what nobody read."""
    options = RunOptions(partition_rows=2, broadcast_bytes=0, resident_bytes=limit)
    run = pipeline_of(name, tmp_path).run(engine=local_engine, options=options)
    assert rows_of(run) == expected(name)
    spilled = Counter(run.report.spilled)
    spill_traffic = spilled["device to host" if local_engine != "pandas" else "host to file"]
    came = spilled["host to device" if local_engine != "pandas" else "file to host"]
    assert 0 < spill_traffic <= came
    assert any(note.startswith("frames that waited were spilled to leave room: ") for note in run.report.notes)


def test_what_cannot_be_a_limit_or_a_folder_is_refused(tmp_path):
    """Before anything runs."""
    with pytest.raises(InvalidPipeline, match=r"resident_bytes takes a whole number from 0, got -1\nIt counts bytes\."):
        RunOptions(resident_bytes=-1)
    with pytest.raises(
        InvalidPipeline, match=r"option spill_folder: there is no folder .*\nMake it, or name another\."
    ):
        RunOptions(spill_folder=tmp_path / "none")
