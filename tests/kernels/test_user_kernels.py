"""How users' kernels run: guard bands, time limits and faults, on machines of the CPU that fail as a GPU does."""

import os
import subprocess
import sys

import pytest

from gpu_engine import host_machine
from gpu_engine.host_machine import COMPILER, ON_CPU, HostMachine
from gpuetl import Pipeline, RunFailed, RunOptions, lost_device
from messages import without_place
from tables import table, write_source

CUDA = """\
extern "C" __global__ void twice(const double* x, double* y, long long n) {
    long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row < n) y[row] = 2 * x[row];
}
extern "C" __global__ void late(const double* x, double* y, long long n) {
    long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row <= n) y[row] = row < n ? 2 * x[row] : 1;
}
extern "C" __global__ void masked(const double* x, const unsigned* xv, double* y, unsigned* yv, long long n) {
    long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row == 0) { yv[0] = 7u; yv[-1] = 7u; }
    if (row < n) y[row] = 2 * x[row];
}
"""
TWIN = """\
import os
import sys

def twice(x):
    return {"y": 2 * x}

def masked(x):
    return {"y": 2 * x}

def leaves(x):
    os._exit(0)

def exits(x):
    sys.exit(0)
"""


class FailingMachine(HostMachine):
    """A machine whose user kernels do not end, or end in a fault."""

    def __init__(self, ends=True, fault=""):
        self.ends, self.fault, self.limits = ends, fault, []

    def wait(self, timeout_s, slow):
        self.limits.append(timeout_s)
        slow()
        if self.fault:
            raise RuntimeError(self.fault)
        if not self.ends:
            lost_device.lose_device()
        return self.ends


@pytest.fixture
def device(monkeypatch):
    """Forgets at the end that the device was lost."""
    monkeypatch.setattr(lost_device, "_lost", [])
    monkeypatch.setattr(lost_device, "_running", [])
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)


@pytest.fixture
def run_on(tmp_path, monkeypatch, device):
    """Runs a kernel step on a machine."""
    if COMPILER is None:
        pytest.skip("needs g++")
    (tmp_path / "k.cu").write_text(CUDA)
    (tmp_path / "k.py").write_text(TWIN)
    p = Pipeline("p", root=tmp_path)
    t = write_source(p, "t", table({"x": "float64"}, (1.0,), (2.0,), (3.0,)))

    def run(machine, entry="twice", options=None, twin="twice", engine=ON_CPU, progress=None, **keys):
        monkeypatch.setattr(host_machine, "HostMachine", lambda: machine)
        made = t.kernel("k.cu", entry, "x", {"y": "float64"}, f"k.py:{twin}", **keys).stage(f"s_{entry}_{twin}")
        del made
        out = p.run(engine=engine, options=options, progress=progress, keep=f"s_{entry}_{twin}")
        return out[f"s_{entry}_{twin}"].to_arrow().column("y").to_pylist()

    return run


def failure(run_on, *given, **keys):
    with pytest.raises(RunFailed) as caught:
        run_on(*given, **keys)
    return without_place(str(caught.value))


def test_a_kernel_that_stays_in_its_outputs_passes_between_guard_bands(run_on):
    assert run_on(HostMachine(), options=RunOptions(sanitize=True)) == [2.0, 4.0, 6.0]


def test_a_write_behind_an_output_is_found_and_names_the_kernel(run_on, tmp_path):
    message = failure(run_on, HostMachine(), "late", RunOptions(sanitize=True))
    assert (
        f"kernel 'late' ({tmp_path}/k.cu) wrote outside of its outputs: 1 values after the last row of output 'y'"
        in message
    )
    assert "the nearest 1 away" in message


def test_a_write_before_validity_words_is_found(run_on):
    message = failure(run_on, HostMachine(), "masked", RunOptions(sanitize=True), twin="masked", nulls="masks")
    assert "1 values before the first row of the validity words of 'y', the nearest 1 away" in message


def test_a_kernel_that_does_not_end_fails_the_run_and_loses_the_device(run_on, tmp_path):
    machine = FailingMachine(ends=False)
    message = failure(run_on, machine, options=RunOptions(kernel_timeout_s=2.5))
    assert f"kernel 'twice' ({tmp_path}/k.cu) did not end within 2.5 s" in message
    assert "Start Python again to use the GPU." in message
    assert machine.limits == [2.5]
    assert lost_device.is_lost()


def test_a_kernel_that_runs_long_is_reported_while_it_runs(run_on, tmp_path):
    seen = []
    run_on(FailingMachine(), progress=lambda origin, done, of: seen.append(str(origin)))
    assert f"kernel 'twice ({tmp_path}/k.cu) has run for 30 s; Ctrl-C ends the run'" in seen


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (
            "cudaErrorIllegalAddress: an illegal memory access was encountered",
            "read or wrote memory outside its arrays",
        ),
        (
            "cudaErrorMisalignedAddress: misaligned address",
            "used an address that is not a multiple of its type's size",
        ),
        ("CUDA_ERROR_ASSERT: device-side assert triggered", "has an assert() that failed"),
        (
            "CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure",
            "ended in a fault, which __trap() raises too",
        ),
    ],
)
def test_a_fault_names_the_kernel_and_its_file(run_on, tmp_path, words, cause):
    message = failure(run_on, FailingMachine(fault=words))
    assert f"kernel 'twice' ({tmp_path}/k.cu) {cause}, and the GPU stopped" in message
    assert "gpuetl kernel check" in message
    assert "cuda" not in message.lower().replace("k.cu", "")
    assert lost_device.is_lost()


def test_another_error_of_a_launch_does_not_lose_the_device(run_on):
    message = failure(run_on, FailingMachine(fault="cudaErrorInvalidValue: invalid argument"))
    assert "invalid argument" in message
    assert not lost_device.is_lost()


def test_a_device_that_has_recovered_is_not_lost(device):
    ended = []
    lost_device.lose_device(lambda: bool(ended))
    assert lost_device.is_lost()
    ended.append(True)
    assert not lost_device.is_lost()


@pytest.mark.parametrize("twin", ["leaves", "exits"])
def test_a_twin_that_ends_the_process_fails_the_run(run_on, twin):
    message = failure(run_on, HostMachine(), "twice", twin=twin, engine="pandas")
    assert f"{twin} in k.py raised" in message


def test_a_twin_that_leaves_does_not_end_the_command_with_0(tmp_path):
    (tmp_path / "k.cu").write_text(CUDA)
    (tmp_path / "k.py").write_text("import os\nos._exit(0)\n" + TWIN)
    (tmp_path / "t.csv").write_text("x\n1.5\n")
    (tmp_path / "p.yaml").write_text(
        "gpuetl: 1\nname: p\nsources: {t: {csv: t.csv, schema: {x: float64}}}\n"
        "stages: {s: {from: t, steps: [kernel: {cuda: k.cu, entry: twice, inputs: x, outputs: {y: float64}, "
        "reference: 'k.py:twice'}]}}\nsinks: {o: {from: s, parquet: o.parquet}}\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "gpuetl", "run", "p.yaml", "--engine", "pandas"],
        cwd=tmp_path, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONWARNINGS": "error"},
    )  # fmt: skip
    assert (done.returncode, (tmp_path / "o.parquet").exists()) == (1, False)
    assert "os._exit(0)" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("seconds", [0, -1, "soon"])
def test_a_time_limit_is_a_number_of_seconds(seconds):
    with pytest.raises(Exception, match="option kernel_timeout_s takes a number of seconds above 0"):
        RunOptions(kernel_timeout_s=seconds)
