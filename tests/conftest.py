"""What tests share: pipelines over small files, every layout of the rows, every engine."""

from __future__ import annotations

import ctypes
import gc
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import settings

import left_to_full
from gpu_engine.host_machine import COMPILER, ON_CPU
from gpuetl import InvalidPipeline, Pipeline, RunOptions, Table, memory_limits, messages
from gpuetl.engines.cudf.io import parquet_writer
from gpuetl.engines.cudf.runtime import start as gpu_settings
from gpuetl.engines.registry import engine_names, is_clustered
from gpuetl.executors import checkpointing
from gpuetl.memory_limits import GROUPS, PROC, group_folders, group_memory
from gpuetl.options import Cluster
from gpuetl.testing import LAYOUTS, assert_tables_equal
from messages import without_place
from tables import write_source

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet
    from _pytest.terminal import TerminalReporter
    from distributed import Client

Answer = Callable[..., pa.Table]

gc.disable()  # until all tests are collected, which are millions of objects, and none of them garbage
settings.register_profile("repeatable", deadline=None, derandomize=True)  # a test suite that passed passes again
settings.load_profile("repeatable")

messages.with_code = lambda text, message: text  # tests compare texts; tests/error_codes has their codes

LIMITED = [folder for folder in group_folders(PROC, GROUPS) if group_memory(folder)]
memory_limits.group_folders = lambda proc, groups: iter(LIMITED) if proc == PROC else group_folders(proc, groups)
"""Each run asks how much memory there is: to look for the limits of this process anew takes a fifteenth of a small run."""

GPU_ENGINES = ("cudf", "dask-cuda")


def has_driver() -> bool:
    """Tell whether an NVIDIA driver is there to be loaded."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


NO_PAGES = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
QUIET = {
    # The profiler calls sys._current_frames(), which can hang Python 3.11: garbage that it frees there needs its lock.
    "distributed.worker.profile.enabled": False,
    # The cluster of a session waits most of the time: at the usual 20 ms and 500 ms, that took 4 % of a core.
    "distributed.admin.tick.interval": "2s",
    "distributed.admin.system-monitor.interval": "60s",
}
CLUSTER_LAYOUT = "2-rows-a-partition-no-broadcast"
"""The one in which tests run on a cluster: with an exchange wherever one can be."""
EVERY_PARAMETER = 5
"""Of a test's parameters, every fifth runs on clusters and by kernels on the CPU in that layout, from the first on."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --full and --quick."""
    parser.addoption("--full", action="store_true", help="also run what `make test` leaves to `make test-all`")
    parser.addoption(
        "--quick", action="store_true", help="leave slow tests and other engines than pandas to `make test`"
    )


@pytest.hookimpl(trylast=True)  # of what -k and -m have chosen
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked `full`, which the end of the run counts, and skip what needs a GPU where there is none."""
    chosen: list[pytest.Item] = []
    left: list[pytest.Item] = []
    full, quick, driver = config.getoption("full"), config.getoption("quick"), has_driver()
    for item in items:
        why = why_left_out(item, full, quick)
        if not why and not driver and item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="needs an NVIDIA GPU: see the README"))
        (left if why else chosen).append(item)
        config.stash[LEFT_OUT].update([why] if why else [])
    if left:
        config.hook.pytest_deselected(items=left)
    items[:] = chosen


def why_left_out(item: pytest.Item, full: bool, quick: bool) -> str:
    """Return why a test is left out; nothing where it is not."""
    marker = item.get_closest_marker("full")
    if marker and not full:
        return f"left to `make test-all`: {marker.kwargs['reason']}"
    if quick and engine_of(item) not in (None, "pandas"):
        return "left to `make test`: other engines than pandas"
    return "left to `make test`: slow ones" if quick and item.get_closest_marker("slow") else ""


def engine_of(item: pytest.Item) -> str | None:
    """Return the engine that a test is for; None where it is for all or any."""
    params = parameters_of(item)
    name: str | None = params.get("engine", params.get("local_engine"))
    return name


def parameters_of(item: pytest.Item) -> Mapping[str, Any]:
    """Return the parameters of a test; none where it has none."""
    callspec = getattr(item, "callspec", None)
    return dict(callspec.params) if callspec else {}


LEFT_OUT: pytest.StashKey[Counter[str]] = pytest.StashKey()
ONE_WAY: pytest.StashKey[list[int]] = pytest.StashKey()
"""How many tests did not also run their plan as it is written, by process."""


def pytest_configure(config: pytest.Config) -> None:
    """Begin to count."""
    left_to_full.begin(config.getoption("full"))
    config.stash[LEFT_OUT] = Counter()
    config.stash[ONE_WAY] = []


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand over the counts of a process of pytest-xdist."""
    if hasattr(session.config, "workeroutput"):
        counts, one_way = session.config.stash[LEFT_OUT], session.config.stash[ONE_WAY]
        session.config.workeroutput |= {"left out": dict(counts), "one way": sum(one_way)}


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take over the counts: each process collects all tests, so any one's are those of the run, and runs its own."""
    output = getattr(node, "workeroutput", {})
    node.config.stash[LEFT_OUT] |= Counter(output.get("left out", {}))
    node.config.stash[ONE_WAY].append(output.get("one way", 0))


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    """Say how many tests were left out, and why."""
    counts, one_way = config.stash[LEFT_OUT], config.stash[ONE_WAY]
    if any(one_way):
        terminalreporter.section(f"{sum(one_way):,} tests did not also run their plan as it is written")
    if counts:
        terminalreporter.section(f"{counts.total():,} tests were left out")
        for why, count in sorted(counts.items(), key=lambda each: (-each[1], each[0])):
            terminalreporter.line(f"{count:7,} {why}")
        terminalreporter.line(
            "pytest runs what is left to `make test`, and pytest --full what is left to `make test-all`."
        )


def pytest_collection_finish() -> None:
    """Keep the garbage collector away from what lives until the end: tests and modules, millions of objects."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark a test `full` in a layout that another one covers, where a cluster does what one process does, or by `part`."""
    callspec = getattr(item, "callspec", None)
    if callspec is None:
        return
    single_rows, in_layouts = item.get_closest_marker("single_rows"), "layout" in callspec.params
    in_tiny_partitions = in_layouts and "2-rows-a-partition" in callspec.id
    in_cluster_layout = in_layouts and CLUSTER_LAYOUT in callspec.id
    engine = engine_of(item)
    on_cluster = engine is not None and is_clustered(engine)
    if on_cluster and single_rows:
        item.add_marker(pytest.mark.full(reason="single rows on a cluster, whose tasks compute as one process does"))
    elif on_cluster and in_layouts and not in_cluster_layout:
        item.add_marker(pytest.mark.full(reason="other layouts on a cluster than the one with every exchange"))
    elif single_rows and in_tiny_partitions and not in_cluster_layout:
        item.add_marker(pytest.mark.full(reason="single rows in a second layout of tiny partitions"))
    elif engine == ON_CPU and in_tiny_partitions and not in_cluster_layout:
        item.add_marker(pytest.mark.full(reason="kernels on the CPU in a second layout of tiny partitions"))
    elif in_tiny_partitions and not in_cluster_layout and "join" not in item.path.name:
        item.add_marker(
            pytest.mark.full(reason="a second layout of tiny partitions, with broadcasts, where nothing is joined")
        )
    elif in_cluster_layout and engine in ("dask", ON_CPU) and is_left_of_many(item, engine):
        item.add_marker(
            pytest.mark.full(
                reason="four of five of a test's many parameters, on clusters and by kernels on the CPU, exchanged"
            )
        )
    if not item.get_closest_marker("full") and is_left_of_part(item):
        item.add_marker(pytest.mark.full(reason="more parameters of slow tests"))


def is_left_of_part(item: pytest.Item) -> bool:
    """Tell whether a test has the marker `part`, and its parameters are not in that part: of each engine the first are.

    The others are drawn by a digest of their names: every nth would always be the same layout, or the same type.
    """
    marker, engine = item.get_closest_marker("part"), engine_of(item)
    if not marker or engine in GPU_ENGINES:  # which are skipped at once, or run where there is time for all
        return False
    name, _, parameters = item.nodeid.partition("[")
    return place_among(name, engine, "part") > 0 and zlib.crc32(parameters.encode()) % marker.args[0] != 0


def is_left_of_many(item: pytest.Item, engine: str) -> bool:
    """Tell whether a test's parameters are left to `--full`; those of types stay, which move in their own ways."""
    name = item.nodeid.partition("[")[0]
    return place_among(name, engine, "many") % EVERY_PARAMETER != 0 and "type" not in name


COLLECTED: Counter[tuple[str, str | None, str]] = Counter()
"""How many parameters of a test, of an engine, a rule was asked about."""


def place_among(test: str, engine: str | None, rule: str) -> int:
    """Return the place of the next parameter of a test among those of its engine that a rule is asked about, from 0."""
    COLLECTED[test, engine, rule] += 1
    return COLLECTED[test, engine, rule] - 1


@contextmanager
def workers_here(count: int, **options: Any) -> Iterator[Client]:
    """Give a client of so many workers in this process, which is quick, each with one thread."""
    dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
    options |= {"processes": False, "threads_per_worker": 1, "memory_limit": 0, "scheduler_kwargs": NO_PAGES}
    with (
        dask.config.set(QUIET),
        distributed.LocalCluster(n_workers=count, **options) as made,
        distributed.Client(made) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def _reports(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports that commands write by default go to a folder of the tests, and not to the user's."""
    monkeypatch.setenv("GPUETL_REPORTS", str(tmp_path_factory.getbasetemp() / "reports"))


@pytest.fixture(scope="session")
def cluster() -> Iterator[Client]:
    """Two workers in this process; what runs on `dask` finds their client."""
    with workers_here(2) as client:
        yield client


@pytest.fixture(scope="session")
def two_gpus() -> None:
    """Skips where there are none for a cluster."""
    dask_cuda = pytest.importorskip("dask_cuda")
    if (there := dask_cuda.utils.get_n_gpus()) < 2:
        pytest.skip(f"needs two GPUs, here is {there}")


@pytest.fixture(scope="session")
def gpu_cluster() -> Iterator[Client]:
    """A worker for each of two GPUs, or of the one that is there; what runs on `dask-cuda` finds their client."""
    distributed = pytest.importorskip("distributed")
    dask_cuda = pytest.importorskip("dask_cuda")
    from gpuetl.executors.dask.cluster import open_client

    with (
        open_client("dask-cuda", Cluster(workers=min(2, dask_cuda.utils.get_n_gpus()))) as made,
        distributed.Client(made.cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def read_on_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the cudf engine read small files by libcudf, too; commands and workers, which are other processes, do not."""
    monkeypatch.setattr(gpu_settings, "HOST_VALUES", 0)
    monkeypatch.setattr(gpu_settings, "HOST_VALUES_AT_FIRST", 0)


@pytest.fixture(autouse=True)
def settled_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let checkpoints not wait until their sources are a second old: tests have just written them."""
    monkeypatch.setattr(checkpointing, "SETTLED_NS", 0)


@pytest.fixture
def encoded_on_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the cudf engine encode small files, too."""
    monkeypatch.setattr(parquet_writer, "LEAST_BYTES", 0)


def engine_params(names: Iterable[str]) -> list[ParameterSet]:
    """Return parameters for engines, of which those that need a GPU are marked."""
    return [pytest.param(name, marks=[pytest.mark.gpu] * (name in GPU_ENGINES)) for name in names]


def skip_where_it_cannot_run(name: str) -> None:
    """Skip a test where there is not what the engine needs."""
    if name in GPU_ENGINES and not has_driver():
        pytest.skip("no NVIDIA driver was found")
    if name == ON_CPU and COMPILER is None:
        pytest.skip("needs g++")


@pytest.fixture(params=engine_params(engine_names()))
def engine(request: pytest.FixtureRequest) -> str:
    """The engine to run on; those that need a GPU are skipped where there is none."""
    skip_where_it_cannot_run(request.param)
    if is_clustered(request.param):
        request.getfixturevalue("cluster" if request.param == "dask" else "gpu_cluster")
    return str(request.param)


@pytest.fixture(params=engine_params(name for name in engine_names() if not is_clustered(name)))
def local_engine(request: pytest.FixtureRequest) -> str:
    """An engine that runs in this process."""
    skip_where_it_cannot_run(request.param)
    return str(request.param)


@pytest.fixture(params=LAYOUTS.values(), ids=[name.replace(" ", "-").replace(",", "") for name in LAYOUTS])
def layout(request: pytest.FixtureRequest) -> RunOptions:
    """How the rows are split: one partition, or partitions of 2 rows with and without broadcast joins."""
    chosen: RunOptions = request.param
    return chosen


@pytest.fixture
def pipeline(tmp_path: Path) -> Pipeline:
    """An empty pipeline whose paths start in a folder of its own."""
    return Pipeline("test", root=tmp_path)


@pytest.fixture
def source(pipeline: Pipeline) -> Callable[..., Table]:
    """Writes a table in row groups of 2 rows, and declares it as a source, `t` unless named."""
    return lambda rows, name="t": write_source(pipeline, name, rows)


@pytest.fixture
def answer(engine: str, layout: RunOptions) -> Answer:
    """Runs a table's steps on the engine, in the layout; returns the rows."""

    def run(steps: Table, optimize: bool = True, params: Mapping[str, Any] | None = None) -> pa.Table:
        name, options = steps.named(), replace(layout, optimize=optimize)
        return steps.pipeline.run(params, engine=engine, keep=[name], options=options)[name].to_arrow()

    return run


@pytest.fixture
def ways(engine: str, layout: RunOptions, pytestconfig: pytest.Config) -> tuple[bool, ...]:
    """Whether to optimize: both ways, but not on a cluster, where it makes no difference.

    Without --full, only pandas runs both, and only in one partition.
    """
    if is_clustered(engine):
        return (True,)
    if pytestconfig.getoption("full") or (engine == "pandas" and layout == LAYOUTS["one partition"]):
        return (True, False)
    pytestconfig.stash[ONE_WAY].append(1)
    return (True,)


@pytest.fixture
def check(answer: Answer, ways: tuple[bool, ...]) -> Callable[..., None]:
    """Compares the rows of a table's steps, optimized and as written, with those expected."""

    def compare(
        steps: Table, expected: pa.Table, ordered: bool = False, params: Mapping[str, Any] | None = None
    ) -> None:
        result = steps.pipeline.table(steps.named())
        for optimize in ways:
            got = answer(result, optimize, params)
            assert_tables_equal(got, expected, ordered, what="optimized" if optimize else "as written")

    return compare


@pytest.fixture
def failure(answer: Answer, ways: tuple[bool, ...]) -> Callable[[Table, type[Exception]], str]:
    """Returns the message with which a table's steps fail, the same optimized and as written, without its place."""

    def message(steps: Table, error: type[Exception]) -> str:
        found, result = set(), steps.stage("result")
        for optimize in ways:
            with pytest.raises(error) as caught:
                answer(result, optimize)
            found.add(without_place(str(caught.value)))
        assert len(found) == 1
        return found.pop()

    return message


@pytest.fixture
def problem(pipeline: Pipeline) -> Callable[[Table], str]:
    """Returns the text of the problems that a pipeline has when it is planned."""

    def problems(steps: Table) -> str:
        steps.stage(steps.pipeline.unused_name("wrong"))
        with pytest.raises(InvalidPipeline) as caught:
            steps.pipeline.plan()
        return without_place(str(caught.value))

    return problems
