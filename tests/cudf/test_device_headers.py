"""All headers of device code in one text: any expressions can be in one kernel."""

import pytest

from cudf import host_machine, nvrtc
from gpuetl.backends.cudf.expressions.kernels import DEVICE, _with_includes

NOTHING = "\nKERNEL compute(int64_t rows) {}\n"


@pytest.fixture(scope="module")
def source():
    """The text of every header, each once, and a kernel that does nothing."""
    included = {}
    return (
        "".join(_with_includes(path.name, included) for path in [DEVICE / "rows.cuh", *sorted(DEVICE.glob("*.cuh"))])
        + NOTHING
    )


@pytest.mark.skipif(host_machine.COMPILER is None, reason="needs g++")
def test_headers_go_together_on_a_cpu(source):
    """No name has two meanings."""
    host_machine.library(source)


@pytest.mark.skipif(nvrtc.library() is None, reason="needs NVIDIA's runtime compiler")
@pytest.mark.parametrize("architecture", nvrtc.ARCHITECTURES)
def test_headers_go_together_on_a_gpu(source, architecture):
    """For the oldest and the newest architecture that RAPIDS runs on."""
    assert nvrtc.problems(source, architecture) == ""
