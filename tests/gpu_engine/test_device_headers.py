"""The device code of all functions and casts in one text: any expressions can be in one kernel."""

from itertools import product

import pytest

from fuzz.data import TYPES
from gpu_engine import host_machine, nvrtc
from gpuetl.engines.cudf.codegen.functions import HEADERS
from gpuetl.engines.cudf.codegen.row_kernels import headers
from gpuetl.expressions.functions import table_entry
from gpuetl.expressions.ir import Call, Cast, Column, Literal
from gpuetl.types.data_types import INT64, STRING, can_cast

NOTHING = "\nKERNEL compute(int64_t rows) {}\n"


@pytest.fixture(scope="module")
def source():
    """The text of every header that an expression needs, each once, and a kernel that does nothing."""
    zone = Literal("Europe/Berlin", STRING)
    calls = [Call(table_entry("scalar", name), (zone, zone), INT64) for name in HEADERS]
    pairs = product(TYPES.values(), repeat=2)
    casts = [Cast(Column("x", source), target) for source, target in pairs if can_cast(source, target)]
    return headers([*calls, *casts]) + NOTHING


@pytest.mark.skipif(host_machine.COMPILER is None, reason="needs g++")
def test_headers_go_together_on_a_cpu(source):
    """No name has two meanings."""
    host_machine.library(source)


@pytest.mark.skipif(nvrtc.library() is None, reason="needs NVIDIA's runtime compiler")
@pytest.mark.parametrize("architecture", nvrtc.ARCHITECTURES)
def test_headers_go_together_on_a_gpu(source, architecture):
    """For the oldest and the newest architecture that RAPIDS runs on."""
    assert nvrtc.problems(source, architecture) == ""
