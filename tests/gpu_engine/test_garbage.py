"""A run lets go of its columns as it goes on: none is garbage, which holds device memory until it is collected."""

import gc

import pytest

from gpu_engine.host_machine import COMPILER, ON_CPU
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.vector import Vector
from small_pipelines import OPTIONS, PIPELINES, SPILLS, answers, pipeline_of

pytestmark = [pytest.mark.skipif(COMPILER is None, reason="needs g++"), pytest.mark.usefixtures("encoded_on_device")]


@pytest.fixture
def garbage():
    """What nobody holds but others of it: collected at the end of the test, and not before."""
    gc.collect()
    gc.freeze()  # what other tests have left is looked through no more
    gc.disable()
    yield lambda: [each for each in gathered() if isinstance(each, Vector | Frame)]
    gc.enable()
    gc.collect()


def gathered():
    """Find garbage, and forget it."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        return list(gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


@pytest.mark.part(6)
@pytest.mark.parametrize("options", [OPTIONS, SPILLS], ids=["", "spilled"])
@pytest.mark.parametrize("name", PIPELINES)
def test_no_column_is_garbage_after_a_run(name, options, tmp_path, garbage):
    """Whatever the operations are, and where pieces are spilled and come back."""
    answers(pipeline_of(name, tmp_path), ON_CPU, options)
    assert garbage() == []
