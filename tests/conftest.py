"""What tests share: pipelines over small files, every layout of the rows, every engine."""

import ctypes
import gc
from contextlib import contextmanager
from dataclasses import replace

import pytest
from hypothesis import settings

from gpu_engine.host_machine import COMPILER, ON_CPU
from gpuetl import InvalidPipeline, Pipeline, messages
from gpuetl.engines.cudf.io import parquet_writer
from gpuetl.engines.cudf.runtime import start as gpu_settings
from gpuetl.engines.registry import BACKENDS, CLUSTERED, ENGINES
from gpuetl.options import Cluster
from gpuetl.testing import LAYOUTS, assert_tables_equal
from messages import without_place
from tables import write_source

settings.register_profile("repeatable", deadline=None, derandomize=True)  # a test suite that passed passes again
settings.load_profile("repeatable")

messages.with_code = lambda text, message: text  # tests compare texts; tests/error_codes has their codes

GPU_ENGINES = ("cudf", "dask-cuda")


def has_driver():
    """Tell whether an NVIDIA driver is there to be loaded."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


NO_PAGES = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
CLUSTER_LAYOUT = "2-rows-a-partition-no-broadcast"
"""The one in which tests run on a cluster: with an exchange wherever one can be."""


def pytest_collection_modifyitems(config, items):
    """Leave out layouts that show nothing new: on clusters what is different is between partitions."""
    chosen = [item for item in items if not is_left_out(item)]
    config.hook.pytest_deselected(items=[item for item in items if is_left_out(item)])
    items[:] = chosen


def pytest_collection_finish():
    """Keep the garbage collector away from what lives until the end: tests and modules, millions of objects."""
    gc.collect()
    gc.freeze()


OF_VALUES = {
    f"test_{name}.py"
    for name in (
        "cast", "decimals", "drop", "exact_numbers", "fill_null", "filter", "names", "rename", "select", "semantics", "times",
        "with_columns",
    )
}  # fmt: skip
"""Tests of single rows, most of them: a task computes these as a run in one process does."""


def is_left_out(item):
    """Tell whether a test is of a layout that shows nothing new: of single rows, or on a cluster."""
    callspec = getattr(item, "callspec", None)
    if callspec is None:
        return False
    of_values, in_layouts = item.path.name in OF_VALUES, "layout" in callspec.params
    if callspec.params.get("engine") in CLUSTERED:
        return of_values or (in_layouts and CLUSTER_LAYOUT not in callspec.id)
    return of_values and in_layouts and "2-rows-a-partition" in callspec.id and CLUSTER_LAYOUT not in callspec.id


@contextmanager
def workers_here(count, **options):
    """Give a client of so many workers in this process, which is quick, each with one thread."""
    distributed = pytest.importorskip("distributed")
    options |= {"processes": False, "threads_per_worker": 1, "memory_limit": 0, "scheduler_kwargs": NO_PAGES}
    with distributed.LocalCluster(n_workers=count, **options) as made, distributed.Client(made) as client:
        yield client


@pytest.fixture(scope="session")
def cluster():
    """Two workers in this process; what runs on `dask` finds their client."""
    with workers_here(2) as client:
        yield client


@pytest.fixture(scope="session")
def two_gpus():
    """Skips where there are none for a cluster."""
    dask_cuda = pytest.importorskip("dask_cuda")
    if (there := dask_cuda.utils.get_n_gpus()) < 2:
        pytest.skip(f"needs two GPUs, here is {there}")


@pytest.fixture(scope="session")
def gpu_cluster():
    """A worker for each of two GPUs, or of the one that is there; what runs on `dask-cuda` finds their client."""
    distributed = pytest.importorskip("distributed")
    dask_cuda = pytest.importorskip("dask_cuda")
    from gpuetl.executors.dask.cluster import connected

    with (
        connected("dask-cuda", Cluster(workers=min(2, dask_cuda.utils.get_n_gpus()))) as made,
        distributed.Client(made.cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def read_on_device(monkeypatch):
    """Let the cudf engine read small files by libcudf, too; commands and workers, which are other processes, do not."""
    monkeypatch.setattr(gpu_settings, "HOST_VALUES", 0)
    monkeypatch.setattr(gpu_settings, "HOST_VALUES_AT_FIRST", 0)


@pytest.fixture
def encoded_on_device(monkeypatch):
    """Let the cudf engine encode small files, too."""
    monkeypatch.setattr(parquet_writer, "LEAST_BYTES", 0)


def engine_params(names):
    """Return parameters for engines, of which those that need a GPU are marked."""
    return [pytest.param(name, marks=[pytest.mark.gpu] * (name in GPU_ENGINES)) for name in names]


def skip_where_it_cannot_run(name):
    """Skip a test where there is not what the engine needs."""
    if name in GPU_ENGINES and not has_driver():
        pytest.skip("no NVIDIA driver was found")
    if name == ON_CPU and COMPILER is None:
        pytest.skip("needs g++")


@pytest.fixture(params=engine_params((*ENGINES, ON_CPU)))
def engine(request):
    """The engine to run on; those that need a GPU are skipped where there is none."""
    skip_where_it_cannot_run(request.param)
    if request.param in CLUSTERED:
        request.getfixturevalue("cluster" if request.param == "dask" else "gpu_cluster")
    return request.param


@pytest.fixture(params=engine_params((*(name for name in ENGINES if name in BACKENDS), ON_CPU)))
def local_engine(request):
    """An engine that runs in this process."""
    skip_where_it_cannot_run(request.param)
    return request.param


@pytest.fixture(params=LAYOUTS.values(), ids=[name.replace(" ", "-").replace(",", "") for name in LAYOUTS])
def layout(request):
    """How the rows are split: one partition, or partitions of 2 rows with and without broadcast joins."""
    return request.param


@pytest.fixture
def pipeline(tmp_path):
    """An empty pipeline whose paths start in a folder of its own."""
    return Pipeline("test", root=tmp_path)


@pytest.fixture
def source(pipeline):
    """Writes a table in row groups of 2 rows, and declares it as a source, `t` unless named."""
    return lambda rows, name="t": write_source(pipeline, name, rows)


@pytest.fixture
def answer(engine, layout):
    """Runs a table's steps on the engine, in the layout; returns the rows."""

    def run(steps, optimize=True, params=None):
        name, options = steps.named(), replace(layout, optimize=optimize)
        return steps.pipeline.run(params, engine=engine, keep=[name], options=options)[name].to_arrow()

    return run


@pytest.fixture
def ways(engine):
    """Whether to optimize: both ways, but on a cluster, where it makes no difference."""
    return (True,) if engine in CLUSTERED else (True, False)


@pytest.fixture
def check(answer, ways):
    """Compares the rows of a table's steps, optimized and as written, with those expected."""

    def compare(steps, expected, ordered=False, params=None):
        result = steps.pipeline.table(steps.named())
        for optimize in ways:
            got = answer(result, optimize, params)
            assert_tables_equal(got, expected, ordered, what="optimized" if optimize else "as written")

    return compare


@pytest.fixture
def failure(answer, ways):
    """Returns the message with which a table's steps fail, the same optimized and as written, without its place."""

    def message(steps, error):
        texts, result = {}, steps.stage("result")
        for optimize in ways:
            with pytest.raises(error) as caught:
                answer(result, optimize)
            texts[without_place(str(caught.value))] = optimize
        assert len(texts) == 1
        return next(iter(texts))

    return message


@pytest.fixture
def problem(pipeline):
    """Returns the text of the problems that a pipeline has when it is planned."""

    def text(steps):
        steps.stage(steps.pipeline.unused_name("wrong"))
        with pytest.raises(InvalidPipeline) as caught:
            steps.pipeline.plan()
        return without_place(str(caught.value))

    return text
