"""Headers of kernels: read with the kernel's file when a pipeline is planned, and compiled as they were then."""

import pickle
import shutil

import pytest

from gpu_engine.host_machine import COMPILER, ON_CPU, HostMachine
from gpuetl import InvalidPipeline, Pipeline
from gpuetl.engines.cudf.codegen.nvrtc import is_c_function
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.nodes import Kernel
from gpuetl.run import pipeline_run
from gpuetl.user_kernels.contract import KernelContract
from gpuetl.user_kernels.cuda_headers import line_at, with_headers
from messages import without_place
from tables import table, write_source

KERNEL = """\
// #include "none.cuh"
#include "sizes.cuh" /* of blocks */
#include <cmath>

extern "C" __global__ void scaled(const double* x, double* y, long long n) {
    long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row < n) y[row] = scale(x[row]);
}
"""
SIZES = '#pragma once\n#include "sub/factor.cuh"\n__device__ double scale(double v) { return FACTOR * v; }\n'
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "k.cu").write_text(KERNEL)
    (tmp_path / "sizes.cuh").write_text(SIZES)
    (tmp_path / "sub" / "factor.cuh").write_text("#ifndef F\n#define F\n#define FACTOR 3\n#endif\n")
    (tmp_path / "k.py").write_text("def scaled(x):\n    return {'y': 3 * x}\n")
    return tmp_path


def pipeline(folder):
    made = Pipeline("p", root=folder)
    source = write_source(made, "t", table({"x": "float64"}, (1.0,), (2.0,), (3.0,)))
    source.kernel("k.cu", "scaled", "x", {"y": "float64"}, "k.py:scaled").stage("s")
    return made


def test_sources_of_headers_are_in_their_places(folder):
    k, sizes, factor = folder / "k.cu", folder / "sizes.cuh", folder / "sub" / "factor.cuh"
    lines = with_headers(k).split("\n")
    guard = lines[1].removeprefix("#ifndef ")
    assert lines[:20] == [
        '// #include "none.cuh"', f"#ifndef {guard}", f"#define {guard}", f'#line 1 "{sizes}"', "",
        f'#line 1 "{factor}"', "#ifndef F", "#define F", "#define FACTOR 3", "#endif", "", f'#line 3 "{sizes}"',
        "__device__ double scale(double v) { return FACTOR * v; }", "", "#endif", f'#line 3 "{k}"',
        "#include <cmath>", "", *KERNEL.split("\n")[4:6],
    ]  # fmt: skip
    assert line_at(f'#line 1 "{k}"\n{with_headers(k)}', "k.cu", 5).startswith('extern "C" __global__ void scaled')
    assert line_at(with_headers(k), "factor.cuh", 3) == "#define FACTOR 3"


@needs_compiler
def test_a_run_takes_headers_as_they_were_when_it_was_planned(folder, monkeypatch):
    begin = pipeline_run.Execution.run_to_fit

    def changed(*given):
        shutil.rmtree(folder / "sub")
        (folder / "sizes.cuh").write_text("#error changed")
        return begin(*given)

    monkeypatch.setattr(pipeline_run.Execution, "run_to_fit", changed)
    done = pipeline(folder).run(engine=ON_CPU, keep="s")
    assert done["s"].to_arrow().column("y").to_pylist() == [3.0, 6.0, 9.0]


def test_headers_are_sent_to_workers(folder):
    (operation,) = (node for node in walk_graph(*pipeline(folder).plan().stages.values()) if isinstance(node, Kernel))
    shutil.rmtree(folder / "sub")
    assert "#define FACTOR 3" in pickle.loads(pickle.dumps(operation)).contract.source


def test_a_header_that_is_missing_is_an_error_of_the_plan(folder):
    (folder / "sub" / "factor.cuh").unlink()
    with pytest.raises(InvalidPipeline) as error:
        pipeline(folder).plan()
    assert without_place(str(error.value)) == (
        f"stage 's', step 1: {folder}/sizes.cuh:2 includes \"sub/factor.cuh\", and there is no file "
        f"{folder}/sub/factor.cuh.  Write <sub/factor.cuh> for a header of the CUDA toolkit."
    )


def test_a_header_that_cannot_be_read_is_an_error_of_the_plan(folder):
    (folder / "sizes.cuh").write_bytes(b"\xff")
    with pytest.raises(InvalidPipeline, match=r"k\.cu:2: cannot read the header .*sizes\.cuh: it is not UTF-8 text"):
        pipeline(folder).plan()
    (folder / "sizes.cuh").unlink()
    (folder / "sizes.cuh").mkdir()
    with pytest.raises(InvalidPipeline, match=r"k\.cu:2: cannot read the header .*sizes\.cuh: Is a directory"):
        pipeline(folder).plan()


def test_headers_may_include_each_other(folder):
    (folder / "a.cuh").write_text('#ifndef A\n#define A\n#include "b.cuh"\n#endif\n')
    (folder / "b.cuh").write_text('#pragma once\n#include "a.cuh"\n#include "b.cuh"\n')
    (folder / "k.cu").write_text('#include "a.cuh"\n#include "b.cuh"\n' + KERNEL)
    assert with_headers(folder / "k.cu").count("#define A") == 2  # the guard leaves out the second one
    pipeline(folder).plan()


def test_headers_that_double_are_refused(folder):
    for number in range(20):
        (folder / f"h{number}.cuh").write_text(f'#include "h{number + 1}.cuh"\n' * 2)
    (folder / "h20.cuh").write_text("")
    (folder / "k.cu").write_text('#include "h0.cuh"\n' + KERNEL)
    with pytest.raises(InvalidPipeline, match=r"1,000 headers are included already\.  Begin headers with #pragma once"):
        pipeline(folder).plan()


@needs_compiler
def test_an_error_in_a_header_names_its_line(folder):
    (folder / "sizes.cuh").write_text("__device__ double scale(double v) {\n    return nothing * v;\n}\n")
    contract = KernelContract(folder / "k.cu", "scaled", folder / "k.py", "scaled")
    with pytest.raises(Exception, match=r"kernel 'scaled' does not compile: sizes\.cuh:2: ") as error:
        HostMachine().user_kernel(contract.source, contract.cuda, "scaled")
    assert "return nothing * v;" in str(error.value)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('extern "C" __global__ void k(int* a) {}', True),
        ('extern "C" {\nvoid other() {}\n__global__ void k(int* a) {}\n}', True),
        ('extern "C" {\nvoid other() { if (1) {} }\n}\n__global__ void k(int* a) {}', False),
        ('extern "C" void other();\n__global__ void k(int* a) {}', False),
        ('// extern "C" {\n__global__ void k(int* a) {}', False),
    ],
)
def test_a_header_in_c_does_not_change_the_kernel_s_name(source, expected):
    assert is_c_function(source, "k") is expected
