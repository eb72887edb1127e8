"""A limit that no allocator keeps: room that is made, reserved and given back, by several threads, also on errors."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl
from gpuetl import Pipeline, RunFailed, RunOptions, col, expr
from gpuetl.engines.pandas.pandas_engine import PandasBackend
from gpuetl.executors.ahead import ReadAhead
from gpuetl.executors.outputs import warn_of_excess
from gpuetl.executors.run_memory import Budget
from gpuetl.executors.runner import Runner
from gpuetl.telemetry.recorder import Recorder
from left_to_full import after
from plans import lowered
from tables import table, write_source

MB = 1_000_000
STEP, OTHER = 1, 2


class Meter:
    """Tells what a test says is taken."""

    def __init__(self, taken=0):
        self.taken = self.most = taken

    def __call__(self):
        return self.taken

    def highest(self):
        return self.most


def budget(taken=0, **needs):
    """Return a budget of 100 MB, 90 of which are aimed at, for steps of 30 and 60 MB."""
    return Budget(100 * MB, Meter(taken), {STEP: 30 * MB, OTHER: 60 * MB})


class Freeable:
    """So many pieces of 10 MB that a budget may free."""

    def __init__(self, meter, pieces):
        self.meter, self.pieces, self.asked = meter, pieces, 0

    def __call__(self):
        self.asked += 1
        if not self.pieces:
            return False
        self.pieces -= 1
        self.meter.taken -= 10 * MB
        return True


@pytest.mark.parametrize(
    ("taken", "size", "lacking"), [(0, 90, 0), (0, 91, 1), (50, 40, 0), (50, 60, 20), (120, 0, 30)]
)
def test_what_is_lacking_is_counted_from_nine_tenths_of_the_limit(taken, size, lacking):
    assert budget(taken * MB).lacks(size * MB) == lacking * MB


def test_no_more_is_freed_than_a_step_needs():
    own = budget(90 * MB)
    waiting = Freeable(own.meter, 5)
    own.frees.append(waiting)
    with own.freed_for(STEP):
        assert (own.meter.taken, waiting.pieces, own.reserved) == (60 * MB, 2, 30 * MB)
    with own.freed_for(STEP):
        assert waiting.asked == 3  # there is room already
    assert own.reserved == 0


def test_what_has_nothing_more_to_free_is_asked_once_and_the_next_one_after_it():
    own = budget(90 * MB)
    first, second = Freeable(own.meter, 1), Freeable(own.meter, 5)
    own.frees += [first, second]
    with own.freed_for(STEP):
        pass
    assert (first.asked, second.asked, own.meter.taken) == (2, 2, 60 * MB)


def test_a_request_larger_than_the_limit_frees_everything_and_goes_on():
    """A step is never refused: planning did what it could, and the run warns where it took too much."""
    own = budget(90 * MB)
    waiting = Freeable(own.meter, 9)
    own.frees.append(waiting)
    own.make_room(500 * MB)
    assert (own.meter.taken, waiting.pieces) == (0, 0)
    with own.reserving(500 * MB):
        assert own.lacks(0) == 410 * MB
    assert own.reserved == 0


def test_a_step_of_no_known_need_takes_nothing():
    own = budget()
    with own.room(99) as fits:
        assert (fits, own.reserved) == (True, 0)


def test_a_reservation_counts_until_its_block_ends():
    own = budget()
    with own.room(OTHER) as fits, own.room(STEP) as others:
        assert (fits, others, own.reserved) == (True, True, 90 * MB)
        with own.room(STEP) as third:  # refused, and so not reserved
            assert (third, own.reserved) == (False, 90 * MB)
        assert own.reserved == 90 * MB
    assert own.reserved == 0
    with own.room(STEP) as fits:  # what had to wait is let in
        assert fits


@pytest.mark.parametrize("step", [STEP, 99])
def test_an_error_gives_the_reservation_back(step):
    own = budget()
    with pytest.raises(ValueError, match="mine"), own.room(step):
        raise ValueError("mine")
    with pytest.raises(ValueError, match="mine"), own.reserving(10 * MB):
        raise ValueError("mine")
    assert own.reserved == 0


def test_a_step_holds_its_room_against_threads_that_read_ahead():
    """The room was made for the step, which has not taken it yet."""
    own = budget(60 * MB)
    with own.freed_for(STEP), own.room(STEP) as fits:
        assert not fits
    with pytest.raises(ValueError, match="mine"), own.freed_for(STEP):
        raise ValueError("mine")
    with own.room(STEP) as fits:
        assert (fits, own.reserved) == (True, 30 * MB)


def test_a_refused_reservation_gives_back_nothing_on_an_error():
    own = budget(90 * MB)
    with pytest.raises(ValueError, match="mine"), own.room(STEP):
        raise ValueError("mine")
    assert own.reserved == 0


def test_reserved_memory_makes_others_free_theirs():
    own = budget(60 * MB)
    waiting = Freeable(own.meter, 6)
    own.frees.append(waiting)
    with own.room(STEP) as fits:
        assert fits
        own.make_room(20 * MB)
        assert own.meter.taken == 40 * MB
    own.make_room(20 * MB)
    assert own.meter.taken == 40 * MB


def test_threads_never_reserve_more_than_there_is():
    """Of 8 threads that want 30 MB each at once, 3 get them; when they are done, the others do."""
    own, gate, done = budget(), threading.Barrier(8), threading.Event()
    entered = threading.Semaphore(0)

    def reserve():
        gate.wait(10)
        with own.room(STEP) as fits:
            entered.release()
            assert done.wait(10)
        return fits

    with ThreadPoolExecutor(8) as threads:
        first = [threads.submit(reserve) for _ in range(8)]
        assert all(entered.acquire(timeout=10) for _ in range(8))
        assert own.reserved == 90 * MB
        done.set()
        assert sum(one.result() for one in first) == 3
    assert own.reserved == 0
    with own.room(STEP) as fits:
        assert fits


def test_many_short_reservations_of_threads_leave_nothing_behind():
    own, most = budget(), [0]

    def reserve(seed):
        rng = np.random.default_rng(seed)
        for step in rng.integers(1, 3, 300):
            with own.room(int(step)), own.reserving(1):
                most[0] = max(most[0], own.reserved)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(reserve, range(8)))
    assert own.reserved == 0
    assert 30 * MB < most[0] <= 90 * MB + 8


@pytest.mark.parametrize(("took", "warned"), [(114, False), (116, True)])
def test_a_run_that_took_more_than_its_limit_warns(took, warned):
    recorder = Recorder()
    warn_of_excess(budget(took * MB), recorder)
    expected = "the run took 116.0 MB of memory, and --memory allows 100.0 MB.  Give it that much with --memory"
    assert [warning.startswith(expected) for warning in recorder.shown_warnings] == [True] * warned


def test_what_there_is_no_room_to_read_ahead_is_read_when_it_is_asked_for(tmp_path):
    """And the next partitions are read ahead again once there is room."""
    pipeline = Pipeline("test", root=tmp_path)
    write_source(pipeline, "t", table({"x": "int64"}, *((i,) for i in range(8))))
    pipeline.table("t").stage("kept")
    (gather,) = lowered(pipeline, RunOptions(partition_rows=2)).roots
    scan = gather.source
    own = Budget(100, Meter(taken=95), {id(scan): 10})
    with ReadAhead(Runner(PandasBackend(), Recorder(), budget=own), [gather]) as reader:
        frames = [reader.scan(scan, 0)]
        assert reader.take(1) is None
        own.meter.taken = 0
        frames += [reader.scan(scan, 1)]
        frames += [reader.take(2)]
    assert [frame.column("x").to_pylist() for frame in frames] == [[0, 1], [2, 3], [4, 5]]
    assert own.reserved == 0


ROWS = 200_000
STEPS = {
    "filter": lambda t: t.filter(col("x") > 0),
    "sort": lambda t: t.sort("x"),
    "join": lambda t: t.join(t.select("x", z=col("y")), "x"),
    "window": lambda t: t.window("k", "x", s=expr("cum_sum(y)")),
    "group by": lambda t: t.aggregate("x", s=expr("sum(y)")),
    "distinct": lambda t: t.distinct("x", "y"),
}


@pytest.fixture
def big(tmp_path):
    """Folder `t` with 8 row groups: k of few values, x that differs, y."""
    rng = np.random.default_rng(3)
    columns = {"k": np.arange(ROWS) % 7, "x": rng.permutation(ROWS), "y": rng.integers(0, 1 << 20, ROWS)}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=ROWS // 8)
    return tmp_path


def written(folder, steps):
    pipeline = Pipeline("test", root=folder)
    STEPS[steps](pipeline.read_parquet("t", "t.parquet")).stage("made").write_parquet("out", "out", mode="overwrite")
    return pipeline


def memory_line(plan):
    """Return what the plan says of memory."""
    return next(line for line in plan.splitlines() if line.startswith("expected memory: "))


@pytest.mark.part(5)
@pytest.mark.parametrize("engine", ["pandas", "dask"])
@pytest.mark.parametrize("memory", after(2, ["20MB", "5MB", "10GB"], "expected memory where all rows fit"))
@pytest.mark.parametrize("steps", STEPS)
def test_the_plan_the_run_and_the_report_name_one_number(big, steps, memory, engine):
    """Where all fits, where sources are cut, and where not even row groups fit."""
    if engine == "dask" and (steps, memory) != ("sort", "20MB"):
        pytest.skip("the number is the planner's; one case takes it through the cluster")
    written(big, steps).to_yaml(big / "p.yaml")
    planned = gpuetl("plan", big / "p.yaml", "--engine", engine, "--memory", memory)
    assert planned.exit_code == 0, planned.output
    run = gpuetl(
        "run", big / "p.yaml", "--engine", engine, "--memory", memory, "--measure-memory", "--report", big / "r.json"
    )
    assert run.exit_code == 0, run.output
    expected = json.loads((big / "r.json").read_text())["expected_memory"]
    assert memory_line(planned.stdout).startswith(f"expected memory: {printed(expected)} of ")
    assert f"expected memory: {printed(expected)}" in " ".join(run.stdout.split())


def printed(count):
    """Print a size as the commands do, by hand."""
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count} B"


def test_a_plan_that_is_kept_names_the_number_of_the_memory_there_is_now(big):
    """One that needs no more than there is is not planned again, so this must not go with another run's memory."""
    pipeline = written(big, "sort")
    for memory in (10_000 * MB, 35 * MB, 20 * MB, 10_000 * MB):
        options = RunOptions(memory=memory)
        expected = pipeline.run(engine="pandas", options=options, keep=()).report.expected_memory
        plan = pipeline.explain(engine="pandas", options=options)
        assert memory_line(plan).startswith(f"expected memory: {printed(expected)} of {printed(memory)}, ")


def test_bytes_that_may_wait_are_part_of_the_number(big):
    """`resident_bytes` says how many; the rest is spilled."""
    pipeline = written(big, "sort")
    found = []
    for resident in (0, 2 * MB):
        options = RunOptions(memory=60 * MB, resident_bytes=resident, partition_rows=ROWS // 8)
        found.append(pipeline.run(engine="pandas", options=options, keep=()).report.expected_memory)
        assert memory_line(pipeline.explain(engine="pandas", options=options)).startswith(
            f"expected memory: {printed(found[-1])}"
        )
    assert found[1] - found[0] == 2 * MB


def test_a_failed_run_leaves_no_reservation(big, monkeypatch):
    """An error in a writer's thread ends the run, and what was reserved for it is given back."""
    made = []

    class Kept(Budget):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append(self)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gpuetl.executors.outputs.Budget", Kept)
    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(RunFailed):
        written(big, "filter").run(engine="pandas", options=RunOptions(memory=30 * MB))
    assert [one.reserved for one in made] == [0]
