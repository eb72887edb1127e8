"""What tests share: pipelines over small files, every layout of the rows, every engine."""

import ctypes
from dataclasses import replace

import pytest
from hypothesis import settings

from gpu_engine.host_machine import COMPILER, ON_CPU
from gpuetl import InvalidPipeline, Pipeline
from gpuetl.backends.engines import ENGINES
from gpuetl.testing import LAYOUTS, assert_tables_equal
from tables import write_source

settings.register_profile("repeatable", deadline=None, derandomize=True)  # a test suite that passed passes again
settings.load_profile("repeatable")

GPU_ENGINES = ("cudf", "dask-cuda")


def has_driver():
    """Tell whether an NVIDIA driver is there to be loaded."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


@pytest.fixture(params=[pytest.param(n, marks=[pytest.mark.gpu] * (n in GPU_ENGINES)) for n in (*ENGINES, ON_CPU)])
def engine(request):
    """The engine to run on; those that need a GPU are skipped where there is none."""
    if request.param in GPU_ENGINES and not has_driver():
        pytest.skip("no NVIDIA driver was found")
    if request.param == ON_CPU and COMPILER is None:
        pytest.skip("needs g++")
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
def check(answer):
    """Compares the rows of a table's steps, optimized and as written, with those expected."""

    def compare(steps, expected, ordered=False, params=None):
        result = steps.pipeline.table(steps.named())
        for optimize in (True, False):
            got = answer(result, optimize, params)
            assert_tables_equal(got, expected, ordered, what="optimized" if optimize else "as written")

    return compare


@pytest.fixture
def failure(answer):
    """Returns the message with which a table's steps fail, the same optimized and as written."""

    def message(steps, error):
        texts, result = set(), steps.stage("result")
        for optimize in (True, False):
            with pytest.raises(error) as caught:
                answer(result, optimize)
            texts.add(str(caught.value))
        assert len(texts) == 1
        return texts.pop()

    return message


@pytest.fixture
def problem(pipeline):
    """Returns the text of the problems that a pipeline has when it is planned."""

    def text(steps):
        steps.stage(steps.pipeline.unused_name("wrong"))
        with pytest.raises(InvalidPipeline) as caught:
            steps.pipeline.plan()
        return str(caught.value)

    return text
