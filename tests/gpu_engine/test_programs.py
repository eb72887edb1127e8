"""The programs of a plan are listed by types alone, and are those that its run asks for."""

import shutil
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gpuetl
from benchmarks.suites.pdsh.make import make
from gpu_engine.host_machine import COMPILER, ON_CPU, HostMachine
from gpuetl import col, expr
from gpuetl.choices import skipping
from gpuetl.engines.cudf.codegen.expression_programs import evaluated
from gpuetl.engines.cudf.columns.kind import Kind, Kinds
from gpuetl.engines.cudf.cudf_engine import CudfBackend
from gpuetl.engines.cudf.gpu_operation import programs
from gpuetl.engines.cudf.io.source_kinds import scan_kinds
from gpuetl.engines.cudf.machine import KernelSource
from gpuetl.engines.cudf.programs import plan_listing
from gpuetl.engines.cudf.programs.plan_listing import own_first
from gpuetl.engines.cudf.programs.plan_programs import PlanWalk, name_of
from gpuetl.engines.cudf.relational import row_operations as filters
from gpuetl.engines.interface import Share
from gpuetl.engines.registry import load_backend
from gpuetl.executors.runner import combined, own_state, window_with_state
from gpuetl.options import RunOptions
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Scan
from gpuetl.physical.stateful_window import StatefulWindow
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.nodes import NODES, Project
from gpuetl.run.planning import lowered
from gpuetl.telemetry.trace import tracing
from gpuetl.types.data_types import INT64, STRING

TESTS = Path(__file__).parents[1]
PIPELINES, QUERIES = TESTS.parent / "pipelines", TESTS / "benchmarks" / "suites" / "pdsh"
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++")
TINY = RunOptions(partition_rows=100, broadcast_bytes=0)


@dataclass
class Programs:
    """The texts that machines were asked for, and those that were listed before."""

    asked: set[str] = field(default_factory=set)
    listed: list[str] = field(default_factory=list)

    @property
    def missing(self) -> set[str]:
        """Those that were not listed."""
        return self.asked - set(self.listed)

    def difference(self) -> str:
        """Return the first lines of kernels that only one of them has."""
        missing = [f"missing: {head(text)}" for text in sorted(self.missing)]
        return "\n".join([*missing, *(f"in vain: {head(text)}" for text in sorted(self.in_vain))])

    @property
    def in_vain(self) -> set[str]:
        """Those that were never asked for."""
        return set(self.listed) - self.asked


def head(text: str) -> str:
    """Return the parameters of a text's first kernel that reads columns."""
    lines = [line for line in text.splitlines() if line.startswith(("KERNEL", 'extern "C"'))]
    return next((line for line in lines if "data0" in line), lines[0])[:400]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Return what runs on the CPU ask for, and what they list."""
    found, compiled, user_kernel = Programs(), HostMachine.compiled, HostMachine.user_kernel

    def ask(self: HostMachine, source: str) -> object:
        found.asked.add(source)
        return compiled(self, source)

    def ask_user(self: HostMachine, source: str, path: Path, entry: str) -> object:
        found.asked.add(source)
        return user_kernel(self, source, path, entry)

    monkeypatch.setattr(HostMachine, "compiled", ask)
    monkeypatch.setattr(HostMachine, "user_kernel", ask_user)
    monkeypatch.setattr(HostMachine, "begin_plan", lambda self, plan: True)
    monkeypatch.setattr(
        HostMachine, "expect", lambda self, plan, sources: found.listed.extend(text.source for text in sources)
    )
    return found


def until_listed() -> None:
    """Wait for the threads that list."""
    for thread in threading.enumerate():
        if thread.name == "gpuetl-programs":
            thread.join(60)


def physical_of(pipeline: gpuetl.Pipeline, stage: str = "", options: RunOptions | None = None) -> PhysicalPlan:
    """Return what a run executes, of one stage or of all sinks."""
    plan = pipeline.plan({})
    return lowered(plan.keeping([stage]) if stage else plan, options or RunOptions(), "cudf")[0]


def listed(physical: PhysicalPlan) -> list[str]:
    """Return the texts of a plan, of which each part can be listed."""
    walk = PlanWalk(physical)
    sources = [text.source for text in walk.sources()]
    assert walk.missing == []
    return sources


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of PDS-H's tables."""
    folder = tmp_path_factory.mktemp("pdsh") / "tables"
    try:
        make(folder, 0.02)
    except SystemExit as reason:
        pytest.skip(str(reason))
    return folder


LISTED_IN_PART = {"q16": 1}  # a dictionary of a small table has about as many texts as there are rows
"""Programs that a run asks for and that are not listed, and as many in vain."""
IN_VAIN = {"features": 2}
"""Programs that are listed and that no run asks for: filters leave fewer rows than a tile of a window's pass has."""


def check(name: str, seen: Programs) -> None:
    """Compare what a run asked for with what it listed; the counts are printed."""
    until_listed()
    missing, in_vain, most = len(seen.missing), len(seen.in_vain), LISTED_IN_PART.get(name, 0)
    print(f"{name}: {len(seen.asked)} asked for, {len(seen.listed)} listed, {missing} missing, {in_vain} in vain")
    assert seen.asked
    assert len(seen.listed) == len(set(seen.listed))
    assert missing <= most, seen.difference()
    assert in_vain <= max(most, IN_VAIN.get(name, 0)), seen.difference()


@pytest.mark.part(2)
@needs_compiler
@pytest.mark.parametrize("name", sorted(path.stem for path in PIPELINES.glob("*.yaml")))
def test_what_a_pipeline_asks_for_is_listed(seen: Programs, tmp_path: Path, name: str) -> None:
    """With its sinks."""
    shutil.copytree(PIPELINES, tmp_path / "pipelines")
    (tmp_path / "data").symlink_to(PIPELINES.parent / "data")
    gpuetl.load(tmp_path / "pipelines" / f"{name}.yaml").run(engine=ON_CPU)
    check(name, seen)


@pytest.mark.part(12)
@needs_compiler
@pytest.mark.parametrize("name", sorted(path.stem for path in QUERIES.glob("q*.yaml")))
def test_what_a_query_asks_for_is_listed(
    seen: Programs, tables: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Texts that are coded, joins, and groups in the order of their keys."""
    monkeypatch.setenv("DATA", str(tables))
    gpuetl.load(QUERIES / f"{name}.yaml").run(engine=ON_CPU, keep=["answer"])
    check(name, seen)


def test_a_large_plan_is_listed_without_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file is read but its footer; each program is yielded once."""
    monkeypatch.setattr(pq, "ParquetFile", lambda *given, **options: pytest.fail("read"))
    sources = listed(physical_of(gpuetl.load(PIPELINES / "flights.yaml")))
    assert len(sources) == len(set(sources)) > 34


ROWS = {"place": [3, 1, 2, 9] * 500, "seconds": [5, 50, 500, 20] * 500, "name": ["x", "y", None, "z"] * 500}


@pytest.fixture
def visits(pipeline: gpuetl.Pipeline) -> gpuetl.Table:
    """Return a source of 2,000 rows in four row groups."""
    pq.write_table(pa.table(ROWS), pipeline.root / "visits.parquet", row_group_size=500)
    return pipeline.read_parquet("visits", "visits.parquet")


def elementwise(rows: gpuetl.Table) -> gpuetl.Table:
    """Add a column by a user's statements."""
    twin = "def times(seconds, by):\n    return {'y': by * seconds}\n"
    (rows.pipeline.root / "times.py").write_text(twin, encoding="utf-8")
    return rows.elementwise_kernel(
        body="y = by * seconds;", inputs=["seconds"], args={"by": 2.0}, outputs={"y": "float64"},
        reference="times.py:times",
    )  # fmt: skip


def reduction(rows: gpuetl.Table) -> gpuetl.Table:
    """Reduce groups by a user's expressions."""
    twin = "def most(seconds, groups, count):\n    raise NotImplementedError\n"
    (rows.pipeline.root / "most.py").write_text(twin, encoding="utf-8")
    return rows.reduction_kernel(
        inputs=["seconds"], map="seconds", reduce="a > b ? a : b", identity=-1, by=["place"],
        outputs={"y": "int64"}, reference="most.py:most",
    )  # fmt: skip


def scan(rows: gpuetl.Table) -> gpuetl.Table:
    """Add running values of groups by a user's expressions."""
    twin = "def largest(seconds, groups):\n    raise NotImplementedError\n"
    (rows.pipeline.root / "largest.py").write_text(twin, encoding="utf-8")
    return rows.scan_kernel(
        inputs=["seconds"], map="y = seconds;", combine="y = a.y > b.y ? a.y : b.y;", identity="y = -1;", by=["place"], order_by=["seconds"],
        outputs={"y": "int64"}, reference="largest.py:largest",
    )  # fmt: skip


STEPS: dict[str, Callable[[gpuetl.Table], gpuetl.Table]] = {
    "filter": lambda rows: rows.filter(col("seconds") > 10),
    "texts": lambda rows: rows.with_columns(n=expr("upper(name) || '!'"), m=expr("name || CAST(place AS string)")),
    "patterns": lambda rows: rows.with_columns(n=expr("name LIKE '%x%'")),
    "choice": lambda rows: rows.with_columns(n=expr("CASE WHEN place = 1 THEN name ELSE 'none' END")),
    "constant": lambda rows: rows.with_columns(n=expr("'k'"), z=expr("CAST(NULL AS int64)")),
    "patterns of rows": lambda rows: rows.with_columns(
        v=expr("regexp_replace(name, name || '(.)?', '<\\1>')"), w=expr("list_length(regexp_extract_all(name, name))")
    ).filter(expr("v ~ name")),
    "lists": lambda rows: rows.with_columns(w=expr("split(name, 'x')")).explode("w", index="i").filter(col("i") > 0),
    "structs": lambda rows: (
        rows.with_columns(s=expr("struct_pack(n := name, p := place)"), t=expr("struct_pack(n := 'q', p := seconds)"))
        .with_columns(u=expr("CASE WHEN place = 1 THEN s ELSE t END"))
        .select("place", "u", n=expr("upper(u.n)"), p=expr("coalesce(s, t).p + 1")).unnest("u", prefix="u_")
    ),
    "binary": lambda rows: rows.with_columns(b=expr("encode(name)"), h=expr("hex(encode(name))")).filter(
        expr("b > unhex('78')")
    ).aggregate("b", n=expr("count(*)")),
    "elements": lambda rows: rows.with_columns(w=expr("split(name, 'x')")).select(
        "place", e=expr("w[1]"), s=expr("struct_pack(w := w).w[-1]")
    ),
    "list choice": lambda rows: (
        rows.with_columns(v=expr("split(name, 'x')"), w=expr("split(name, 'y')"))
        .with_columns(u=expr("CASE WHEN place = 1 THEN v ELSE w END")).select("place", "u")
    ),
    "aggregate": lambda rows: rows.aggregate("place", s=col("seconds").sum(), m=expr("median(CAST(seconds AS float64))")),
    "distinct": lambda rows: rows.aggregate("name", d=expr("count(DISTINCT place)")).filter(col("d") > 1),
    "window": lambda rows: rows.window("place", "seconds", t=expr("cum_sum(seconds)"), b=expr("lag(name, 1, 'none')")),
    "frame": lambda rows: rows.window("place", "seconds", t=expr("rolling_sum(seconds, 3)"), p=expr("lead(seconds)")),
    "join": lambda rows: rows.join(rows.aggregate("place", m=col("seconds").max()), "place", how="left").filter(col("m") > 20),
    "union": lambda rows: rows.union(rows.filter(col("place") > 1)).with_columns(s=col("seconds") * 2),
    "kernel": elementwise,
    "reduction kernel": reduction,
    "scan kernel": scan,
    "unlike keys": lambda rows: (
        rows.join(rows.select(place=col("place").cast("uint32")), "place", how="semi").filter(col("seconds") > 5)
    ),
}  # fmt: skip


BY_CHANCE = {
    ("aggregate", "partitions"): 1,  # some partitions of 100 rows come in the order of their keys
    ("join", "partitions"): 1,
    ("window", "partitions"): 1,  # a partition of 100 rows is one tile of a pass, all rows together are more
    ("frame", "partitions"): 2,
}
"""Programs that depend on the rows."""


@pytest.mark.part(4)
@needs_compiler
@pytest.mark.parametrize("split", ["one partition", "partitions"])
@pytest.mark.parametrize("step", STEPS)
def test_what_a_step_asks_for_is_listed(seen: Programs, visits: gpuetl.Table, step: str, split: str) -> None:
    """Of one partition, and with exchanges."""
    STEPS[step](visits).stage("s")
    visits.pipeline.run(engine=ON_CPU, keep="s", options=TINY if split == "partitions" else RunOptions())
    until_listed()
    assert seen.asked
    assert len(seen.missing) <= BY_CHANCE.get((step, split), 0), seen.difference()
    assert len(seen.in_vain) <= BY_CHANCE.get((step, split), 0), seen.difference()


@needs_compiler
def test_what_files_of_other_types_ask_for_is_listed(seen: Programs, pipeline: gpuetl.Pipeline) -> None:
    """Casts to the planned types, columns of the path, whose values are arguments, and columns that files lack."""
    for value in (1, 2):
        folder = pipeline.root / "t" / f"day={value}"
        folder.mkdir(parents=True)
        columns = {"x": pa.array([1, 2, value], "int16"), "t": pa.array([1, 2, 3], pa.timestamp("ms"))}
        pq.write_table(pa.table(columns), folder / "part.parquet")
    schema = {"x": "int64", "t": "timestamp", "gone": "string"}
    rows = pipeline.read_parquet("t", "t", schema=schema, partitions={"day": "int64"}, missing_columns="null")
    rows.filter(col("day") > 0).stage("s")
    found = pipeline.run(engine=ON_CPU, keep="s")["s"].to_arrow()
    assert found["day"].to_pylist() == [1, 1, 1, 2, 2, 2]
    assert found["gone"].null_count == 6
    until_listed()
    assert seen.difference() == ""


def test_every_operation_has_a_list(pipeline: gpuetl.Pipeline) -> None:
    """Those that have none of their own pass all columns as they are."""
    own = {node for node in programs.registry if node in NODES}
    assert {node.__name__ for node in set(NODES) - own} == {"Distinct", "Limit", "Read", "Sort", "Write"}


TEXTS = {"s": Kind(STRING), "c": Kind.coded(10), "n": Kind(INT64)}


@pytest.mark.parametrize(
    ("sql", "kind", "rows"),
    [
        ("s", Kind(STRING), inf),
        ("n + 1", Kind(INT64), inf),
        ("length(s)", Kind(INT64), inf),
        ("upper(s)", Kind(STRING), inf),
        ("upper(c)", Kind.coded(10), inf),
        ("upper(c)", Kind(STRING), 10),
        ("'k'", Kind.coded(1), inf),
        ("coalesce(c, 'k')", Kind.coded(11), inf),
        ("coalesce(s, 'k')", Kind(STRING), inf),
        ("split(c, ',')", Kind.of(pa.list_(STRING)), inf),
    ],
)
def test_the_kind_of_an_expression(pipeline: gpuetl.Pipeline, sql: str, kind: Kind, rows: float) -> None:
    """Coded texts stay coded where there are fewer of them than rows."""
    schema = {name: each.dtype for name, each in TEXTS.items()}
    rows_of = pipeline.from_frame("t", pa.table({n: pa.array([], t) for n, t in schema.items()}))
    plan = rows_of.select(y=expr(sql)).stage("s").pipeline.plan({})
    (project,) = (node for node in walk_graph(plan.stages["s"]) if isinstance(node, Project))
    needed = evaluated(project.columns, Kinds(TEXTS, rows))
    assert needed.columns == {"y": kind}
    assert all(text.source and not text.kernel for text in needed.sources)


TABLE = {
    "few": ["a", "b"] * 3000,
    "many": [f"text {row}" for row in range(6000)],
    "none": pa.array([None] * 6000, STRING),
    "x": [row % 7 or None for row in range(6000)],
}


@pytest.mark.parametrize("where", ["files", "memory"])
def test_the_kinds_of_a_source(pipeline: gpuetl.Pipeline, where: str) -> None:
    """Of files by their footers alone: few distinct texts are coded; rows are in the order of a column."""
    rows = pa.table({**TABLE, "t": range(6000)})
    if where == "memory":
        source = pipeline.from_frame("t", rows)
    else:
        pq.write_table(rows, pipeline.root / "t.parquet", row_group_size=2000)
        source = pipeline.read_parquet("t", "t.parquet")
    source.stage("s")
    (scan,) = (node for node in walk_graph(*physical_of(pipeline, "s").roots) if isinstance(node, Scan))
    known = scan_kinds(scan)
    coded = {name: kind.dictionary is not None for name, kind in known.columns.items() if kind.dtype == STRING}
    assert coded == {"few": True, "many": False, "none": True}
    assert known.stored == {}


def test_a_csv_file_is_taken_to_have_few_distinct_texts(pipeline: gpuetl.Pipeline) -> None:
    """Nothing is known of it but its size."""
    (pipeline.root / "c.csv").write_text("k,s\n1,a\n2,b\n")
    pipeline.read_csv("c", "c.csv", schema={"k": "int64", "s": "string"}).filter(col("s") == "a").stage("s")
    cast, text = listed(physical_of(pipeline, "s"))
    assert "int64" in cast  # the device reads all columns as strings
    assert "CodedStrings<Strings<int32_t>>" in text


def test_choices_of_a_run_are_those_of_its_list(visits: gpuetl.Table) -> None:
    """Without dictionaries, texts are read where they lie."""
    visits.filter(col("name") == "x").stage("s")
    physical = physical_of(visits.pipeline, "s")
    assert "const CodedStrings<" in listed(physical)[0]
    with skipping(["string_codes"]):
        assert "const CodedStrings<" not in listed(physical)[0]


def test_a_run_lists_its_programs_once_unless_that_is_skipped(
    visits: gpuetl.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine is asked by the plan's fingerprint; the list is made on a thread."""
    visits.filter(col("place") > 1).stage("s")
    physical, plans, found = physical_of(visits.pipeline, "s"), list[str](), list[KernelSource]()
    monkeypatch.setattr(HostMachine, "begin_plan", lambda self, plan: plans.append(plan) or len(plans) == 1)
    monkeypatch.setattr(HostMachine, "expect", lambda self, plan, sources: found.extend(sources))
    backend = CudfBackend(HostMachine())
    with skipping(["compile_ahead"]):
        backend.compile_ahead(physical, "plan")
    assert plans == []
    for _ in range(2):
        backend.compile_ahead(physical, "plan")
        until_listed()
    assert plans == ["plan", "plan"]
    assert [text.source for text in found] == listed(physical)


@pytest.mark.parametrize(("place", "order"), [(0, "adbce"), (1, "beacd"), (2, "cabde")])
def test_a_process_that_is_not_alone_begins_with_its_share(place: int, order: str) -> None:
    """Others' programs come after it."""
    sources = [KernelSource(each) for each in "abcde"]
    assert "".join(text.source for text in own_first(sources, Share(place, 3))) == order


def test_what_cannot_be_listed_is_named_and_the_rest_is_listed(
    visits: gpuetl.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run compiles it when it asks for it."""
    visits.filter(col("place") > 1).with_columns(y=col("seconds") * 2).stage("s")
    physical = physical_of(visits.pipeline, "s")
    monkeypatch.setattr(filters, "is_true", lambda predicate: 1 // 0)
    walk = PlanWalk(physical)
    assert len(list(walk.sources())) == 1
    assert walk.missing == ["stage 's', step 1 (integer division or modulo by zero)"]


def test_a_trace_shows_what_goes_wrong_with_a_list(
    visits: gpuetl.Table, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nobody would catch it on the thread."""
    visits.filter(col("place") > 1).stage("s")
    physical = physical_of(visits.pipeline, "s")
    monkeypatch.setattr(HostMachine, "begin_plan", lambda self, plan: True)
    monkeypatch.setattr(HostMachine, "expect", lambda self, plan, sources: list(sources) and 1 // 0)
    with tracing(tmp_path / "trace.json") as trace:
        CudfBackend(HostMachine()).compile_ahead(physical, "plan")
        until_listed()
    assert [event.details["error"] for event in trace.events if "error" in event.details] == [
        "ZeroDivisionError: integer division or modulo by zero"
    ]


def test_a_process_that_ends_waits_for_lists_and_not_for_compilers(
    visits: gpuetl.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs that the run has not asked for may take seconds."""
    go, compiling = threading.Event(), threading.Event()

    def expect(self: HostMachine, plan: str, sources: Iterable[KernelSource]) -> None:
        assert list(sources)
        compiling.set()
        go.wait(60)

    visits.filter(col("place") > 1).stage("s")
    monkeypatch.setattr(HostMachine, "begin_plan", lambda self, plan: True)
    monkeypatch.setattr(HostMachine, "expect", expect)
    monkeypatch.setattr(plan_listing, "_ENDING", threading.Event())
    CudfBackend(HostMachine()).compile_ahead(physical_of(visits.pipeline, "s"), "plan")
    assert compiling.wait(60)
    start = time.monotonic()
    plan_listing.end_listing()
    assert time.monotonic() - start < 5
    go.set()
    until_listed()


@needs_compiler
def test_windows_by_carries_that_workers_combine_are_listed(
    seen: Programs, pipeline: gpuetl.Pipeline, tmp_path: Path
) -> None:
    """What a partition carries by itself, what two carry, and the window that goes on from there."""
    rows = pa.table({"t": range(400), "k": ["a", "b", None, "c"] * 100, "x": [0.5, None, 2.5, 1.0] * 100})
    pq.write_table(rows, tmp_path / "t.parquet", row_group_size=100)
    calls = {"n": "row_number()", "total": "cum_sum(x)", "before": "lag(x)", "three": "rolling_mean(x, 3)"}
    window = pipeline.read_parquet("t", "t.parquet").window("k", "t", **{n: expr(c) for n, c in calls.items()})
    window.stage("s")
    options = RunOptions(partition_rows=100, carried_share=inf)
    plan, _ = lowered(pipeline.plan({}).keeping(["s"]), options, "dask-cuda")
    (node,) = (node for node in walk_graph(*plan.roots) if isinstance(node, StatefulWindow))
    assert node.combined
    seen.listed += listed(plan)
    backend, scan = load_backend(ON_CPU), node.inputs[0]
    assert isinstance(scan, Scan)
    first, second, third = (backend.read(scan.read, part) for part in scan.parts[:3])
    alone = [own_state(backend, node.steps, frame) for frame in (first, second)]
    window_with_state(backend, node.steps, third, combined(backend, node.steps, alone)[1:], last=True)
    assert seen.asked
    assert seen.missing == set(), seen.difference()


def test_aggregates_of_columns_have_no_programs_of_their_own(pipeline: gpuetl.Pipeline) -> None:
    """Only a constant is computed for each row."""
    source = pipeline.from_frame("t", pa.table({"k": [2, 1, 2], "a": [1.0, 2.0, 3.0], "b": [1, 2, 3]}))
    calls = {"x": expr("sum(a)"), "y": expr("var(a)"), "z": expr("count(b)"), "n": expr("count(*)")}
    source.aggregate("k", **calls).stage("columns")
    source.aggregate("k", one=expr("sum(1)")).stage("constants")
    assert listed(physical_of(pipeline, "columns")) == []
    assert [name_of(text) for text in listed(physical_of(pipeline, "constants"))] == ["kernel compute"]
