"""Memory that runs out at any allocation: the right rows or an error that names the step, and nothing is left."""

import gc
import pickle
import threading
import weakref

import numpy as np
import pyarrow as pa
import pytest

import gpuetl.run.pipeline_run
from gpu_engine.host_machine import COMPILER, HostBackend, HostMachine
from gpuetl import OutOfMemory, RunOptions, col, expr
from gpuetl.engines.pandas.pandas_engine import PandasBackend
from gpuetl.executors.run_memory import Guard
from gpuetl.memory_limits import is_out_of_memory
from gpuetl.telemetry.origin import Origin
from left_to_full import in_full
from messages import without_place
from open_files import open_files
from sink_files import leftovers
from small_pipelines import OPTIONS, PIPELINES, pipeline_of, rows_of
from tables import table

SOME = in_full(3, 2)
"""How many of the allocations fail, one a run, in most pipelines: all of them take too long."""


class Allocations:
    """Counts allocations, of which those that `fails` names raise; threads share it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.begin(lambda number: False)

    def begin(self, fails):
        self.made, self.fails = 0, fails

    def __call__(self):
        with self.lock:
            self.made += 1
            if self.fails(self.made):
                raise MemoryError(f"failed to allocate {self.made}.5 GiB")


class CountedCall:
    """A function that allocates."""

    def __init__(self, function, allocations):
        self.function, self.allocations = function, allocations

    def __call__(self, *arguments, **options):
        self.allocations()
        return self.function(*arguments, **options)

    def __getattr__(self, name):
        return getattr(self.function, name)


class CountedArrays:
    """NumPy, each of whose functions allocates."""

    def __init__(self, allocations):
        self.allocations = allocations

    def __getattr__(self, name):
        found = getattr(np, name)
        return found if isinstance(found, type) or not callable(found) else CountedCall(found, self.allocations)


class Watched:
    """A backend whose frames are known."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.allocations, self.frames = Allocations(), []

    def noted(self, made):
        self.frames.extend(weakref.ref(frame) for frame in (made if isinstance(made, list) else [made]))
        return made

    def read(self, *arguments):
        return self.noted(super().read(*arguments))

    def run(self, *arguments):
        return self.noted(super().run(*arguments))

    def split_by_hash(self, *arguments):
        return self.noted(super().split_by_hash(*arguments))

    def concat(self, *arguments):
        return self.noted(super().concat(*arguments))


class WatchedPandas(Watched, PandasBackend):
    """Allocates where it is called, and where it returns."""


def allocating(name):
    def method(self, *arguments):
        self.allocations()
        made = getattr(super(WatchedPandas, self), name)(*arguments)
        self.allocations()
        return made

    return method


for name in ("read", "run", "split_by_hash", "concat", "to_arrow", "head", "spill"):
    setattr(WatchedPandas, name, allocating(name))


class WatchedHost(Watched, HostBackend):
    """Allocates in the array module."""

    def __init__(self):
        super().__init__(HostMachine())
        self.machine.arrays = CountedArrays(self.allocations)


@pytest.fixture(params=[WatchedPandas, WatchedHost])
def backend(request, monkeypatch):
    """The engine of all runs; what was there before is no garbage that each failure looks through."""
    if request.param is WatchedHost and COMPILER is None:
        pytest.skip("needs g++")
    backend = request.param()
    monkeypatch.setattr(gpuetl.run.pipeline_run, "load_driver_backend", lambda name: backend)
    gc.collect()
    gc.freeze()
    return backend


def outcome(pipeline, backend, options=OPTIONS, fails=lambda made: False):
    """Return a run's rows and notes, or what it raised, as text; say which allocations of the run fail."""
    backend.allocations.begin(fails)
    try:
        run = pipeline.run(engine="pandas", options=options)
    except OutOfMemory as error:
        return without_place(str(error)), ()
    backend.allocations.fails, backend.allocations.of_run = lambda made: False, backend.allocations.made
    return rows_of(run), run.report.notes


def assert_nothing_is_left(backend, folder, files):
    """No frame, no open file, and beside the targets no folder."""
    gc.collect()
    assert [ref() for ref in backend.frames if ref() is not None] == []
    assert not leftovers(folder)
    assert open_files() <= files


def all_or_some(last, name, backend):
    """Return the numbers of the allocations to fail."""
    everyone = isinstance(backend, PandasBackend) and name in ("whole_window", "sort")
    return range(1, last + 1, 1 if everyone else max(1, last // SOME))


@pytest.mark.part(10)
@pytest.mark.parametrize("name", PIPELINES)
def test_whichever_allocation_fails_the_rows_are_right_or_the_error_names_the_step(name, backend, tmp_path):
    """One that fails once is asked for again; from some on all fail, and no partitions are small enough."""
    pipeline = pipeline_of(name, tmp_path)
    expected, _ = outcome(pipeline, backend)
    files, last = open_files(), backend.allocations.of_run
    for number in all_or_some(last, name, backend):
        rows, notes = outcome(pipeline, backend, fails=lambda made, number=number: made == number)
        assert rows == expected
        assert not any("begun again" in note for note in notes)
        message, _ = outcome(pipeline, backend, fails=lambda made, number=number: made >= number)
        assert message == expected or message.startswith(("source '", "stage '", "sink '", "expect '"))
        assert message == expected or ": out of memory: " in message
    assert_nothing_is_left(backend, tmp_path, files)


def test_a_step_that_fails_twice_begins_the_run_again_in_smaller_partitions(backend, tmp_path):
    """As often as it takes; the report tells."""
    pipeline = pipeline_of("join", tmp_path)
    expected, _ = outcome(pipeline, backend)
    rows = RunOptions(partition_rows=1 << 20, broadcast_bytes=0)
    most = 7

    def run(operation, *frames, run=backend.run):
        if max(map(backend.rows, frames)) > most:
            raise MemoryError("Unable to allocate 7.45 GiB for an array")
        return run(operation, *frames)

    backend.run = run
    got, notes = outcome(pipeline, backend, rows)
    assert got == expected
    assert notes[0].endswith("begun again with partitions of at most 3 rows of a source")
    assert ": out of memory: 7.45 GiB were asked for, with " in notes[0]


def test_an_operation_on_the_whole_table_is_not_tried_in_smaller_partitions(backend, tmp_path):
    """They would give it the same rows."""
    pipeline, runs = pipeline_of("whole_window", tmp_path), []

    def run(operation, *frames, run=backend.run):
        runs.append(backend.rows(frames[0]))
        if runs[-1] > 8:
            raise MemoryError
        return run(operation, *frames)

    backend.run = run
    got, _ = outcome(pipeline, backend, RunOptions(partition_rows=4))
    assert got.startswith("stage 'tiles', step 1: out of memory: ")
    assert "Smaller partitions give this step no fewer rows" in got
    assert runs == [12, 12]


def test_groups_that_were_thought_few_meet_by_key_where_they_are_many(backend, source, pipeline):
    """All of them in one partition are no more than files tell, which may be wrong."""
    rows = source(table({"s": "string", "x": "int64"}, *(("abc"[i % 3], i) for i in range(12))))
    rows.aggregate("s", n=expr("count(*)"), x=expr("sum(x)")).stage("groups")

    def run(operation, *frames, run=backend.run):
        if backend.rows(frames[0]) > 8:
            raise MemoryError
        return run(operation, *frames)

    backend.run = run
    made = pipeline.run(engine="pandas", keep=["groups"], options=RunOptions(partition_rows=4))
    assert "begun again" in made.report.notes[0]
    assert made["groups"].to_arrow().sort_by("s").to_pydict() == {"s": [*"abc"], "n": [4] * 3, "x": [18, 22, 26]}


def test_partitions_of_one_row_group_are_the_smallest(backend, source, pipeline):
    """The error says what would help."""
    source(table({"x": "int64"}, (1,), (2,), (3,))).with_columns(y=col("x") + 1).stage("s")
    backend.allocations.begin(lambda made: True)
    with pytest.raises(OutOfMemory) as caught:
        pipeline.run(engine="pandas", options=RunOptions(partition_rows=2))
    message = without_place(str(caught.value))
    assert message.startswith("source 't': out of memory: ")
    assert message.endswith(
        "Partitions are single row groups.  Write the sources in smaller row groups, or read fewer columns, "
        "or run where there is more memory."
    )


def test_a_sink_that_is_short_of_memory_is_written_again(backend, source, pipeline, monkeypatch):
    """In the thread that writes it; once more in vain, and the run begins again."""
    source(table({"x": "int64"}, *((i,) for i in range(8)))).write_csv("out", "out", mode="overwrite")
    from gpuetl.formats.csv import CsvFormat

    tables = []

    def write_short(csv, rows, path, options, write=CsvFormat.write):
        tables.append(rows.num_rows)
        if rows.num_rows > 2 or len(tables) == 3:
            raise pa.ArrowMemoryError("malloc of size 123 failed")
        write(csv, rows, path, options)

    monkeypatch.setattr(CsvFormat, "write", write_short)
    run = pipeline.run(engine="pandas", options=RunOptions(partition_rows=8))
    assert sorted(tables) == [2, 2, 2, 2, 2, 8, 8]
    assert run.report.notes[0].startswith("sink 'out': out of memory: 123 B were asked for, with ")
    assert sum(path.read_text().count("\n") - 1 for path in (pipeline.root / "out").glob("*.csv")) == 8


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError("std::bad_alloc: out_of_memory: CUDA error (failed to allocate 1.000 GiB)"), "1.000 GiB were"),
        (pa.ArrowMemoryError("malloc of size 64 failed"), "64 B were"),
        (RuntimeError("cudaErrorMemoryAllocation: out of memory"), ""),
        (RuntimeError("cudaErrorIllegalAddress"), None),
        (ValueError("out of memory"), None),
    ],
)
def test_errors_that_tell_of_memory(error, expected):
    """By their class, or by CUDA's name of it; also where another error was raised from it."""
    outer = RuntimeError("cannot write")
    outer.__cause__ = error
    assert is_out_of_memory(error) is is_out_of_memory(outer) is (expected is not None)
    if expected is not None:
        assert Guard(PandasBackend()).described(outer).startswith(expected)


def test_what_an_error_came_through_holds_nothing(backend):
    """Whoever keeps the error does not keep the frames of the functions that it ended."""
    refs = []

    def step():
        rows = pa.table({"x": [1]})
        refs.append(weakref.ref(rows))
        raise MemoryError

    with pytest.raises(OutOfMemory) as caught:
        Guard(backend).run(Origin("stage", "s", 1), step, rows=1)
    assert [ref() for ref in refs] == [None, None]
    assert pickle.loads(pickle.dumps(caught.value)).__dict__ == caught.value.__dict__
    assert caught.value.where == "stage 's', step 1"
