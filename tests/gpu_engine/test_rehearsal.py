"""A rehearsal names the kernels of a run before it, and is heard of in no other way."""

import shutil
import threading
from math import inf
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gpuetl
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl import expr
from gpuetl.backends.backend import Share
from gpuetl.backends.cudf.backend import CudfBackend
from gpuetl.backends.cudf.choices import skipping
from gpuetl.backends.cudf.device.closed_set import closed_programs, closed_source
from gpuetl.backends.cudf.interchange import from_arrow, to_arrow
from gpuetl.backends.cudf.rehearsal import rehearse as rehearsal
from gpuetl.backends.cudf.rehearsal.machine import RehearsalMachine
from gpuetl.backends.cudf.rehearsal.sample import widened
from gpuetl.backends.cudf.rehearsal.turns import InTurns
from gpuetl.backends.engines import load_backend
from gpuetl.executors.carries import carried_by_itself, carried_on, combined
from gpuetl.options import RunOptions
from gpuetl.physical.carries import Carried
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Scan
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.schema import Schema
from gpuetl.planning import lowered
from gpuetl.report.recorder import Recorder, recording
from gpuetl.report.trace import Trace, tracing

FILES = Path(__file__).parent.parent / "kernels_files"
FLIGHTS = Path(__file__).parents[2] / "pipelines" / "flights.yaml"
MOST_OF_FLIGHTS = 35
"""Of 40 generated texts that its rehearsal names."""
PIPELINE = """
gpuetl: 1
name: p
sources:
  visits: {parquet: visits.parquet}
  places: {parquet: places.parquet}
stages:
  s:
    from: visits
    steps:
      - filter: seconds > 10
      - join: {with: places, on: place, how: left}
      - with_columns: {late: "seconds > 100 AND area > 1"}
      - aggregate: {by: name, columns: {visits: count(*), longest: max(seconds)}}
  t:
    from: visits
    steps:
      - window: {by: place, order_by: seconds, columns: {before: lag(seconds), total: cum_sum(seconds)}}
      - kernel: {body: "y = 2 * total;", inputs: [total], outputs: {y: float64}, reference: "twice.py:twice"}
      - aggregate: {by: [place, seconds], columns: {y: median(y), different: count(DISTINCT before)}}
      - sort: [place, y desc]
sinks:
  out: {from: s, parquet: out.parquet}
  parts: {from: t, parquet: parts, partition_by: place}
"""
TWICE = "def twice(total):\n    return {'y': 2.0 * total}\n"
PAGES = closed_source("pages")
CLOSED = {closed_source(program) for program in closed_programs()}
NAMED, IN_VAIN = 0.85, 0.25
"""Of as many texts as a run asks for."""


class Named:
    """Takes the kernels that are expected; programs of the closed set apart, of which a machine has all."""

    def __init__(self) -> None:
        self.sources: list[str] = []
        self.programs: list[str] = []
        self.ended = False

    def source(self, source: str) -> None:
        (self.programs if source in CLOSED else self.sources).append(source)

    def user_kernel(self, source: str, path: Path, entry: str) -> None:
        self.sources.append(source)

    def end(self) -> None:
        self.ended = True


@pytest.fixture
def visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> gpuetl.Pipeline:
    """Return a pipeline over two files, of which one has nulls and keys that the other has not."""
    rows = {"place": [3, 1, 2, 9] * 500, "seconds": [5, 50, 500, 20] * 499 + [5, 50, 500, None]}
    places = {"place": [1, 2, 3], "name": ["x", "y", "x"], "area": [1.5, 2.5, None]}
    for name, columns in (("visits", rows), ("places", places)):
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    (tmp_path / "p.yaml").write_text(PIPELINE, encoding="utf-8")
    (tmp_path / "twice.py").write_text(TWICE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return gpuetl.load(tmp_path / "p.yaml")


def physical_of(pipeline: gpuetl.Pipeline) -> PhysicalPlan:
    """Return what a run of the pipeline executes."""
    return lowered(pipeline.plan({}), RunOptions(), "cudf")[0]


def rehearsed(physical: PhysicalPlan) -> Named:
    """Return what the rehearsal of a plan names."""
    named = Named()
    rehearsal.rehearse(physical, named, CudfBackend)
    return named


def failures(trace: Trace) -> list[str]:
    """Return what a trace tells of what was not rehearsed."""
    return [f"{each.name}: {each.details['error']}" for each in trace.events if "error" in each.details]


def entries(named: Named) -> str:
    """Return the generated parts of all texts."""
    return "\n".join(source[source.index("\nKERNEL ") :] for source in named.sources)


def test_all_of_a_large_pipeline_is_rehearsed(tmp_path: Path) -> None:
    """No exception ends a part of it unheard, whose kernels the run then waits for."""
    pipeline = gpuetl.load(FLIGHTS)
    with tracing(tmp_path / "trace.json") as trace:
        named = rehearsed(physical_of(pipeline))
    assert failures(trace) == []
    assert named.ended
    assert len(set(named.sources)) > MOST_OF_FLIGHTS


@pytest.mark.usefixtures("encoded_on_device")
@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_a_rehearsal_names_nearly_all_kernels_that_the_run_asks_for(
    visits: gpuetl.Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of reading, of each step with the nulls that the data have, and the sinks' encoders; few in vain."""
    named, asked = rehearsed(physical_of(visits)), set()
    compiled = HostMachine.compiled
    monkeypatch.setattr(HostMachine, "compiled", lambda self, source: asked.add(source) or compiled(self, source))
    visits.run(engine="cudf-on-cpu")
    assert named.ended
    assert len(asked & set(named.sources)) >= NAMED * len(asked)
    assert len(set(named.sources) - asked) <= IN_VAIN * len(asked)


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
@pytest.mark.parametrize("unit", ["ms", "ns"])
def test_times_are_rehearsed_in_the_unit_in_which_they_are_stored(
    pipeline: gpuetl.Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: str
) -> None:
    """They are converted by a kernel, and keys of them range as widely as in the run."""
    times = pa.array([row % 7 * 86_400_000_000_000 for row in range(2000)], "int64").cast(pa.timestamp("ns"))
    pq.write_table(pa.table({"t": times.cast(pa.timestamp(unit))}), tmp_path / "t.parquet")
    pipeline.read_parquet("t", "t.parquet").aggregate(by="t", rows=expr("count(*)")).stage("s")
    named, asked = rehearsed(lowered(pipeline.plan({}).keeping(["s"]), RunOptions(), "cudf")[0]), set()
    compiled = HostMachine.compiled
    monkeypatch.setattr(HostMachine, "compiled", lambda self, source: asked.add(source) or compiled(self, source))
    pipeline.run(engine="cudf-on-cpu", keep="s")
    assert closed_source("numbers") in named.programs
    assert asked - set(named.sources) == set()


def test_columns_are_put_below_each_other_as_a_run_does() -> None:
    """What follows a union depends on its values."""
    machine = RehearsalMachine(Named())
    backend = CudfBackend(machine)
    tables = [
        pa.table(
            {"k": pa.array(keys, pa.int64()), "f": pa.array(flags), "d": pa.array(keys).cast(pa.decimal128(38, 1))}
        )
        for keys, flags in (([1, None, 3], [True, None, False]), ([4], [True]), (list(range(40)), [None] * 40))
    ]
    schema = Schema(dict(zip(tables[0].column_names, tables[0].schema.types, strict=True)))
    whole = backend.concat([backend.from_arrow(rows.cast(tables[0].schema)) for rows in tables], schema)
    got = {name: to_arrow(column, machine) for name, column in whole.columns.items()}
    assert pa.table(got) == pa.concat_tables([rows.cast(tables[0].schema) for rows in tables]).combine_chunks()


@pytest.mark.parametrize(
    ("limits", "expected"),
    [((1, 3, 0), [3, 1, 2, 5]), ((1, 5, 1), [1, None, 2, 5]), ((0, 5, 0), [0, 1, 2, 5]), ((0, 9, 2), [0, None, 2, 9])],
)
def test_limits_that_no_row_has_are_given_to_the_first_and_the_last(
    limits: tuple[int, int, int], expected: list[int | None]
) -> None:
    """Keys that differ stay so: a join would take another way."""
    machine = RehearsalMachine(Named())
    column = widened(from_arrow(pa.chunked_array([[3, 1, 2, 5]]), machine), limits, machine)
    assert to_arrow(column, machine).to_pylist() == expected


@pytest.mark.parametrize(("rows", "encoded"), [(1000, False), (200_000, True)])
def test_a_sink_is_rehearsed_as_large_as_it_is_estimated(pipeline: gpuetl.Pipeline, rows: int, encoded: bool) -> None:
    """A rehearsal has few rows of all; small files are Arrow's."""
    pipeline.from_frame("t", pa.table({"x": range(rows)})).write_parquet("out", "out.parquet")
    assert (PAGES in rehearsed(physical_of(pipeline)).programs) == encoded


@pytest.mark.usefixtures("encoded_on_device")
def test_a_rehearsal_takes_the_choices_of_its_run(visits: gpuetl.Pipeline) -> None:
    """Where Arrow writes the files, no kernel encodes them."""
    assert PAGES in rehearsed(physical_of(visits)).programs
    with skipping(["encode_on_gpu"]):
        assert PAGES not in rehearsed(physical_of(visits)).programs


def test_a_run_expects_the_kernels_of_its_plan_unless_that_is_skipped(
    visits: gpuetl.Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread names them; the machine is asked by the plan's fingerprint, and has none where they are in the cache."""
    plans: list[str] = []
    named, begun = Named(), threading.Event()
    monkeypatch.setattr(HostMachine, "expected", lambda self, plan: plans.append(plan) or named)
    monkeypatch.setattr(rehearsal, "rehearse", lambda physical, expected, backend_on: begun.set())
    backend = CudfBackend(HostMachine())
    with skipping(["compile_ahead"]):
        backend.rehearse(physical_of(visits), "plan")
    assert plans == []
    backend.rehearse(physical_of(visits), "plan")
    assert begun.wait(10)
    assert plans == ["plan"]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_process_that_is_not_alone_begins_with_its_share(place: int) -> None:
    """Others' kernels come at the end, each text once."""
    named = Named()
    turns = InTurns(named, Share(place, 3))
    for text in ("a", "b", "a", "c", "d", "e"):
        turns.source(text)
    turns.user_kernel("f", Path("f.cu"), "f")
    own = ["abcdef"[place], "abcdef"[place + 3]]
    assert named.sources == own
    assert not named.ended
    turns.end()
    assert named.sources == [*own, *(text for text in "abcdef" if text not in own)]
    assert named.ended


def test_a_rehearsal_leaves_no_notes_and_writes_no_file(visits: gpuetl.Pipeline, tmp_path: Path) -> None:
    """It is no run."""
    before = sorted(path.name for path in tmp_path.iterdir())
    with recording(Recorder()) as recorder:
        assert rehearsed(physical_of(visits)).sources
    assert recorder.notes == []
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.usefixtures("encoded_on_device")
def test_a_rehearsal_writes_few_files_of_a_sink_of_many(
    pipeline: gpuetl.Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each costs the interpreter, for which the run waits."""
    files, written = [], RehearsalMachine.written_file
    monkeypatch.setattr(RehearsalMachine, "written_file", lambda *args: files.append(args) or written(*args))
    rows = pipeline.from_frame("m", pa.table({"k": range(1000), "x": range(1000)}))
    rows.write_parquet("out", "out", partition_by=["k"])
    assert PAGES in rehearsed(physical_of(pipeline)).programs
    assert len(files) == rehearsal.FILES


def test_a_rehearsal_that_cannot_read_goes_on_with_rows_that_it_makes_up(
    visits: gpuetl.Pipeline, tmp_path: Path
) -> None:
    """What is wrong is told by the run; a trace tells that the rehearsal met it, too."""
    physical = physical_of(visits)
    (tmp_path / "visits.parquet").write_bytes(b"PAR1")
    with tracing(tmp_path / "trace.json") as trace:
        named = rehearsed(physical)
    assert named.ended
    assert "KERNEL reduce_chunks(" in entries(named)
    (failed,) = failures(trace)
    assert failed.startswith("Scan was not rehearsed: DatasetError")


def test_row_groups_without_rows_are_passed_over(
    pipeline: gpuetl.Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are made up where there are no others."""
    groups, read = [], RehearsalMachine.read_parquet
    monkeypatch.setattr(RehearsalMachine, "read_parquet", lambda *args: groups.append(args[1]) or read(*args))
    rows = pa.table({"x": pa.array([1.5, None] * 50)})
    with pq.ParquetWriter(tmp_path / "some.parquet", rows.schema) as writer:
        writer.write_table(rows[:0])
        writer.write_table(rows)
    pq.write_table(rows[:0], tmp_path / "none.parquet")
    for name in ("some", "none"):
        pipeline.read_parquet(name, f"{name}.parquet").filter(expr("x > 1")).write_parquet(name, f"{name}_out.parquet")
    with tracing(tmp_path / "trace.json") as trace:
        named = rehearsed(physical_of(pipeline))
    assert failures(trace) == []
    assert [list(files.values()) for files in groups] == [[[1]]]
    assert "KERNEL compute(" in entries(named)


def test_a_rehearsal_that_fails_is_not_tried_again(visits: gpuetl.Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would fail in each later run, whose kernels are in the cache by then."""
    monkeypatch.setattr(rehearsal.Rehearsal, "run", lambda self, physical: 1 // 0)
    assert rehearsed(physical_of(visits)).ended


def test_windows_and_kernels_over_frames_in_memory_are_named(pipeline: gpuetl.Pipeline, tmp_path: Path) -> None:
    """Those that users write are in the texts around them."""
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    rows = pipeline.from_frame("m", pa.table({"k": ["a", "b"] * 20, "n": range(40), "x": [1.5, None] * 20}))
    rows = rows.window(by="k", order_by="n", total=gpuetl.col("x").cum_sum())
    kernel = {"body": "y = x + n;", "inputs": ["x", "n"], "outputs": {"y": "float64"}, "reference": "texts.py:scaled"}
    rows.elementwise_kernel(**kernel).stage("s")
    texts = entries(rehearsed(lowered(pipeline.plan({}).keeping(["s"]), RunOptions(), "cudf")[0]))
    assert "KERNEL scan(" in texts
    assert "KERNEL elementwise(" in texts


def test_exchanges_between_partitions_are_rehearsed(pipeline: gpuetl.Pipeline, tmp_path: Path) -> None:
    """By hash for a join of two large sides, and by ranges for a sort, whose boundaries are a sample."""
    for name in ("t", "u"):
        rows = pa.table({"k": range(400), name: [row * 7 % 400 for row in range(400)]})
        pq.write_table(rows, tmp_path / f"{name}.parquet", row_group_size=100)
    both = pipeline.read_parquet("t", "t.parquet").join(pipeline.read_parquet("u", "u.parquet"), "k")
    both.union(both).sort("t").stage("s")
    options = RunOptions(partition_rows=100, broadcast_bytes=0)
    with tracing(tmp_path / "trace.json") as trace:
        named = rehearsed(lowered(pipeline.plan({}).keeping(["s"]), options, "cudf")[0])
    assert failures(trace) == []
    assert closed_source("exchange") in named.programs


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_carries_that_workers_combine_are_rehearsed(
    pipeline: gpuetl.Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As their tasks do: what a partition carries by itself, what two carry, and the window that goes on from there."""
    rows = pa.table({"t": range(400), "k": ["a", "b", None, "c"] * 100, "x": [0.5, None, 2.5, 1.0] * 100})
    pq.write_table(rows, tmp_path / "t.parquet", row_group_size=100)
    calls = {"n": "row_number()", "total": "cum_sum(x)", "before": "lag(x)", "three": "rolling_mean(x, 3)"}
    window = pipeline.read_parquet("t", "t.parquet").window("k", "t", **{n: gpuetl.expr(c) for n, c in calls.items()})
    window.stage("s")
    options = RunOptions(partition_rows=100, carried_share=inf)
    plan, _ = lowered(pipeline.plan({}).keeping(["s"]), options, "dask-cuda")
    with tracing(tmp_path / "trace.json") as trace:
        named = rehearsed(plan)
    assert failures(trace) == []
    (node,) = (node for node in walk_graph(*plan.roots) if isinstance(node, Carried))
    assert node.combined
    asked, compiled, backend = set(), HostMachine.compiled, load_backend("cudf-on-cpu")
    monkeypatch.setattr(HostMachine, "compiled", lambda self, source: asked.add(source) or compiled(self, source))
    scan = node.inputs[0]
    assert isinstance(scan, Scan)
    first, second, third = (backend.read(scan.read, part) for part in scan.parts[:3])
    alone = [carried_by_itself(backend, node.steps, frame) for frame in (first, second)]
    carried_on(backend, node.steps, third, combined(backend, node.steps, alone)[1:], last=True)
    assert len(asked & set(named.sources)) >= NAMED * len(asked)
