"""`gpuetl kernel check` of kernels that make rows: on the rows of the pipeline, on a machine of the CPU."""

import shutil
from pathlib import Path

import pytest

from gpu_engine.host_machine import COMPILER, ON_CPU, HostMachine
from gpuetl import RunFailed, RunOptions, col
from gpuetl.kernels.bench.device import DeviceLimits
from gpuetl.kernels.bench.kernel_bench import bench_kernel
from gpuetl.kernels.check.kernel_check import check_kernel, kernels_of
from tables import table, write_source

FILES = Path(__file__).parent.parent / "kernel_files"
MADE = {"place": "int32", "y": "float64"}
WRONG = """
extern "C" __global__ void repeated(const double* x, const int* n, int* place, double* y, const long long* starts, int* counts,
                                    long long n_rows) {
    const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row >= n_rows) return;
    for (int i = 0; i < n[row]; ++i) y[starts[row] + i] = x[row] + WHAT;
    counts[row] = n[row];
}
"""
pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")


@pytest.fixture
def t(pipeline, tmp_path):
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    rows = [("a", 1.0, 2), ("b", None, 1), ("a", 5.0, 0), ("c", 2.0, 3)]
    return write_source(pipeline, "t", table({"k": "string", "x": "float64", "n": "int32"}, *rows))


def checked(t, file="tables.cu", **changes):
    keys = {"per": "row", "rows": 4, "keep": ["k"], "block": 32, **changes}
    steps = t.table_kernel(file, "repeated", ["x", "n"], MADE, "tables.py:repeated", **keys)
    name = steps.named()
    (operation,) = kernels_of([steps.pipeline.plan().stages[name]])
    return check_kernel(operation, HostMachine(), (0, 1, 3, 33))


def test_a_kernel_that_is_right_equals_its_twin(t):
    outcome = checked(t)
    assert outcome.ok
    assert (outcome.cases, outcome.compared) == (4, 3 * (2 + 2 + 42))


def test_a_kernel_that_makes_other_values_is_reported(t, tmp_path):
    (tmp_path / "wrong.cu").write_text(WRONG.replace("WHAT", "2 * i"))
    (mismatch,) = checked(t, "wrong.cu").mismatches
    assert mismatch.case == "1 rows of the pipeline"
    assert mismatch.what == "output 'place': 1 of 2 differ; row 1: got 0, expected 1"


def test_a_kernel_that_writes_beyond_its_slots_is_reported(t, tmp_path):
    """Guard values tell."""
    (tmp_path / "wrong.cu").write_text(WRONG.replace("WHAT", "i").replace("i < n[row]", "i < 9"))
    (mismatch,) = checked(t, "wrong.cu").mismatches
    assert (
        "wrote outside of its outputs: 5 values after the last row of output 'y', the nearest 1 away" in mismatch.what
    )


def test_both_may_say_that_there_are_too_many_rows(t):
    """Then there is nothing to compare."""
    outcome = checked(t, rows=2)
    assert outcome.ok
    assert outcome.compared < 3 * (2 + 2 + 42)


def test_a_pipeline_without_rows_compares_nothing(t):
    (mismatch,) = checked(t.filter(col("x") > 99).limit(5)).mismatches
    assert mismatch.what == "no row of the pipeline reaches the kernel, so nothing was compared"


def test_a_run_with_guard_values_gives_the_same_rows(t, tmp_path):
    steps = t.table_kernel("tables.cu", "repeated", ["x", "n"], MADE, "tables.py:repeated", per="row", rows=3)
    steps.stage("s")
    run = steps.pipeline.run(engine=ON_CPU, options=RunOptions(sanitize=True))
    assert run["s"].to_arrow()["y"].to_pylist() == [1.0, 2.0, 2.0, 3.0, 4.0]
    (tmp_path / "tables.cu").write_text(WRONG.replace("WHAT", "i").replace("i < n[row]", "i < 9"))
    with pytest.raises(RunFailed, match="wrote outside of its outputs"):
        steps.pipeline.run(engine=ON_CPU, options=RunOptions(sanitize=True))


def test_kernels_that_make_rows_are_timed(t):
    """Bytes are those of the rows that it gets and makes."""
    steps = t.table_kernel("tables.cu", "repeated", ["x", "n"], MADE, "tables.py:repeated", per="row", rows=3)
    name = steps.named()
    plan = steps.pipeline.plan()
    (operation,) = kernels_of([plan.stages[name]])
    found = bench_kernel(plan, operation, HostMachine(), DeviceLimits("a test", 1e9), (4, 40), 0.01)
    assert [(size.rows, size.rows_out) for size in found.sizes] == [(4, 5), (40, 50)]
    assert found.work.bytes(40, 50) == 40 * 12 + 50 * 12
