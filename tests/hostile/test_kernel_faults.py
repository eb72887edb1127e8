"""On a GPU: kernels that fault, or never end, fail the command with one message, and leave nothing behind."""

import os
import re
import signal
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]
CUDA = """\
extern "C" __global__ void nowhere(const double* x, double* y, long long n) {
    long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row < n) reinterpret_cast<double*>(16)[row] = x[row];
}
extern "C" __global__ void misaligned(const double* x, double* y, long long n) {
    long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row + 1 < n) *reinterpret_cast<double*>(reinterpret_cast<char*>(y + row) + 1) = x[row];
}
extern "C" __global__ void asserted(const double* x, double* y, long long n) {
    long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row < n) { assert(x[row] < 0); y[row] = x[row]; }
}
extern "C" __global__ void endless(const double* x, double* y, long long n) {
    volatile double* at = y;
    while (at[0] >= 0) at[0] = 1;
}
extern "C" __global__ void late(const double* x, double* y, long long n) {
    long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row <= n) y[row] = row < n ? x[row] : 1;
}
"""
STEPS = {
    "nowhere": "{cuda: k.cu, entry: nowhere, inputs: x, outputs: {y: float64}, reference: 'k.py:twin'}",
    "misaligned": "{cuda: k.cu, entry: misaligned, inputs: x, outputs: {y: float64}, reference: 'k.py:twin'}",
    "asserted": "{cuda: k.cu, entry: asserted, inputs: x, outputs: {y: float64}, reference: 'k.py:twin'}",
    "endless": "{cuda: k.cu, entry: endless, inputs: x, outputs: {y: float64}, reference: 'k.py:twin'}",
    "late": "{cuda: k.cu, entry: late, inputs: x, outputs: {y: float64}, reference: 'k.py:twin'}",
    "body": "{body: 'y = x; while (clock64() != -1);', inputs: x, outputs: {y: float64}, reference: 'k.py:twin'}",
}
PIPELINE = """\
gpuetl: 1
name: p
sources: {{t: {{parquet: t}}}}
stages: {{s: {{from: t, steps: [kernel: {step}]}}}}
sinks: {{o: {{from: s, parquet: o, mode: overwrite}}, u: {{from: t, parquet: u.parquet}}}}
"""
ENGINES = ["cudf", "dask-cuda"]


@pytest.fixture
def gpu():
    """Skips the test where there is no GPU."""
    look_for = pytest.importorskip("cupy").cuda.runtime.getDeviceCount
    assert look_for() > 0


@pytest.fixture
def folder(tmp_path):
    """A pipeline's folder with a source of several files."""
    (tmp_path / "k.cu").write_text(CUDA)
    (tmp_path / "k.py").write_text('def twin(x):\n    return {"y": x}\n')
    (tmp_path / "t").mkdir()
    for number in range(4):
        rows = pa.table({"x": [float(number)] * 50_000})
        pq.write_table(rows, tmp_path / f"t/{number}.parquet", row_group_size=10_000)
    return tmp_path


def command(folder, kind, engine, *more):
    (folder / "p.yaml").write_text(PIPELINE.format(step=STEPS[kind]))
    return [sys.executable, "-m", "gpuetl", "run", "p.yaml", "--engine", engine, "--partition-rows", "20000", *more]


def ran(folder, kind, engine, *more):
    done = subprocess.run(
        command(folder, kind, engine, *more),
        cwd=folder,
        env={**os.environ, "PYTHONFAULTHANDLER": "1"},  # a crash shows where
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stderr


def left(folder):
    """Return what a run made in its folder."""
    return sorted(
        path.name
        for path in folder.iterdir()
        if path.name not in ("k.cu", "k.py", "t", "p.yaml", "__pycache__", ".gpuetl")
    )


CAUSES = {
    "nowhere": "read or wrote memory outside its arrays",
    "misaligned": "used an address that is not a multiple of its type's size",
    "asserted": r"has an assert\(\) that failed",
}
"""What is said of each kernel."""
HANGS = "did not end within 20 s"
"""What is said on virtual machines whose GPU tells nobody of a fault: the kernel seems to run on."""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", CAUSES)
def test_a_fault_is_one_message_that_names_the_kernel(folder, kind, engine):
    code, reported = ran(folder, kind, engine, "--kernel-timeout", "20")
    assert code == 1, reported
    assert re.search(rf"stage 's', step 1: kernel '{kind}' \((.*/)?k\.cu\) ({CAUSES[kind]}|{HANGS})", reported), (
        reported
    )
    assert "gpuetl kernel check" in reported or HANGS in reported
    assert "Traceback" not in reported
    assert "cuda_runtime" not in reported
    assert left(folder) == []


@pytest.mark.parametrize("kind", ["endless", "body"])
def test_a_kernel_that_never_ends_is_given_up(folder, kind):
    start = time.monotonic()
    code, reported = ran(folder, kind, "cudf", "--kernel-timeout", "2")
    assert code == 1, reported
    assert "did not end within 2 s" in reported
    assert "Traceback" not in reported
    assert time.monotonic() - start < 60
    assert left(folder) == []


def test_a_kernel_that_never_ends_is_given_up_on_workers(folder):
    code, reported = ran(folder, "endless", "dask-cuda", "--kernel-timeout", "2")
    assert code == 1, reported
    assert "did not end within 2 s" in reported
    assert "Traceback" not in reported
    assert left(folder) == []


def test_ctrl_c_ends_a_run_whose_kernel_never_ends(folder):
    run = subprocess.Popen(command(folder, "endless", "cudf"), cwd=folder, stderr=subprocess.PIPE, text=True)
    time.sleep(15)
    os.kill(run.pid, signal.SIGINT)
    reported = run.communicate(timeout=30)[1]
    assert run.returncode == 130, reported
    assert "Traceback" not in reported
    assert left(folder) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_sanitize_names_the_kernel_that_wrote_outside(folder, engine):
    code, reported = ran(folder, "late", engine, "--sanitize")
    assert code == 1, reported
    outside = r"wrote outside of its outputs: 1 values after the last row of output 'y'"
    assert re.search(rf"kernel 'late' \((.*/)?k\.cu\) {outside}", reported), reported
    assert left(folder) == []
