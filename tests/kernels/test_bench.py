"""`gpuetl kernel bench`: what it times, what it says a row costs, and when a kernel pays; on a machine of the CPU."""

import ast
import importlib.util
import json
import shutil
from pathlib import Path

import pytest

from command import gpuetl
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl import Pipeline, col, expr, load
from gpuetl.cli import kernel as command
from gpuetl.cli import kernel_bench as bench_command
from gpuetl.engines import registry
from gpuetl.kernels.bench import device as devices
from gpuetl.kernels.bench.device import DeviceLimits
from gpuetl.kernels.bench.kernel_bench import KernelBench, SizeTimes
from gpuetl.kernels.bench.kernel_clock import Seconds, timed
from gpuetl.kernels.bench.kernel_work import KernelWork, body_of, operations_in, work_of
from gpuetl.kernels.bench.triton_work import triton_flops
from gpuetl.kernels.check.kernel_check import kernels_of
from tables import table, write_source

FILES = Path(__file__).parent.parent / "kernel_files"
PIPELINES = Path(__file__).parents[2] / "pipelines"
DEVICE = DeviceLimits("a test's device", 1e10, 1e11, 2e11)


@pytest.fixture
def t(pipeline, tmp_path):
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    rows = ((1, 1.0), (1, None), (2, 3.0), (None, 4.0))
    return write_source(pipeline, "t", table({"k": "int64", "x": "float64"}, *rows))


@pytest.fixture
def file(t, tmp_path):
    """A pipeline of a kernel in a file between two steps, and a reduction that no sink reads."""
    twice = t.filter(expr("abs(k) = 1")).kernel(
        "wrong.cu", "twice", "x", {"y": "float64"}, "wrong.py:twice", block=32, flops_per_row=1
    )
    twice.aggregate(by="k", total=expr("sum(y)")).stage("totals").write_csv("out", "out.csv")
    t.reduction_kernel(
        "x", {"norm": "float64"}, "sums.py:norm", reduce="a + b", map="x * x", identity=0, post="sqrt(a)", by="k"
    ).stage("norms")
    t.pipeline.to_yaml(tmp_path / "p.yaml")
    return tmp_path / "p.yaml"


@pytest.fixture
def on_cpu(monkeypatch):
    """Lets the command run on the CPU."""
    if COMPILER is None:
        pytest.skip("needs g++")
    monkeypatch.setattr(command, "the_machine", lambda name: HostMachine())
    monkeypatch.setattr(bench_command, "memory_rate", lambda machine: DEVICE.memory_bytes_per_s)
    monkeypatch.setattr(devices, "device_limits", lambda machine, rate: DEVICE)


def test_the_command_times_each_kernel_alone_with_copies_by_its_twin_and_in_the_pipeline(file, on_cpu):
    done = gpuetl("kernel", "bench", file, "--rows", "40,1e2", "--seconds", "0.02", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["device"]["memory_bytes_per_s"] == 1e10
    twice, norm = found["kernels"]
    assert (twice["stage"], twice["kernel"], twice["neighbours"]) == ("totals", "twice", "Filter, Kernel, Aggregate")
    assert (twice["read_bytes_per_row"], twice["written_bytes_per_row"]) == (8, 8)
    assert (twice["flops_per_row"], twice["flops_by"], twice["peak_flops_per_s"]) == (1, "declared", 1e11)
    assert [(s["source_rows"], s["rows"], s["rows_out"]) for s in twice["sizes"]] == [(40, 20, 20), (100, 50, 50)]
    assert (norm["stage"], norm["flops_per_row"], norm["flops_by"]) == ("norms", 2, "estimated from the text")
    assert [(s["rows"], s["rows_out"]) for s in norm["sizes"]] == [(40, 3), (100, 3)]
    for kernel in (twice, norm):
        for size in (*kernel["sizes"], kernel["one_row"]):
            times = ("kernel", "step", "with_copies", "pipeline")
            assert all(size[name]["median_s"] >= size[name]["min_s"] > 0 for name in times)
        assert kernel["sizes"][0]["twin"]["min_s"] > 0
        assert kernel["sizes"][0]["pipeline_on_cpu"]["min_s"] > 0
    size = twice["sizes"][1]
    assert size["bytes_per_s"] == pytest.approx(800 / size["kernel"]["min_s"])
    assert size["bandwidth_share"] == pytest.approx(size["bytes_per_s"] / 1e10)
    assert size["peak_share"] == pytest.approx(50 / size["kernel"]["min_s"] / 1e11)


def test_the_command_prints_a_table(file, on_cpu):
    done = gpuetl("kernel", "bench", file, "--rows", "40", "--seconds", "0.02", "--stage", "totals")
    head, work, limits, neighbours, launch, names, size, verdict = done.stdout.splitlines()
    assert head.startswith("stage 'totals', step 2: kernel 'twice' (")
    assert work == "  8 B read and 8 B written a row; 1 operations a row (declared)"
    assert limits == "  a test's device; memory 10 GB/s (measured); float64 0.1 Tflop/s (nominal)"
    assert neighbours == "  in the pipeline: Filter, Kernel, Aggregate"
    assert launch.startswith("  one row takes ")
    assert names.split()[:4] == ["rows", "kernel", "ms", "median"]
    assert size.split()[0] == "20"
    assert "faster than its twin" in verdict


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("many", "'many' is not a list of numbers such as 1e6,1e8"),
        ("0,10", "a size has at least 1 row, got 0"),
    ],
)
def test_sizes_are_numbers_of_rows(file, rows, message):
    done = gpuetl("kernel", "bench", file, "--rows", rows)
    assert done.exit_code == 2
    assert message in done.stderr


def test_without_a_gpu_the_command_says_what_to_do(file, monkeypatch):
    search = registry.GpuSearch(problem="no NVIDIA driver was found", fix="Install a driver")
    monkeypatch.setattr(registry, "look_for_gpu", lambda: search)
    done = gpuetl("kernel", "bench", file)
    assert done.exit_code == 2
    assert done.stderr == (
        "kernel bench runs kernels on an NVIDIA GPU: no NVIDIA driver was found.  Install a driver, or see "
        "`gpuetl doctor`\n"
    )


def test_a_source_without_rows_is_an_error(t, tmp_path, on_cpu):
    t.filter(col("x") > 9).limit(9).elementwise_kernel("y = 2 * x;", "x", {"y": "float64"}, "wrong.py:twice").stage("s")
    t.pipeline.to_yaml(tmp_path / "p.yaml")
    done = gpuetl("kernel", "bench", tmp_path / "p.yaml")
    assert done.exit_code == 1
    assert "step 3: no row reaches kernel 'twice', so there is nothing to time" in done.stderr


def test_a_pipeline_without_kernels_needs_no_gpu():
    assert gpuetl("kernel", "bench", PIPELINES / "hello.yaml").stdout == "the pipeline has no kernels\n"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("y = x * scale + 1;", 2),
        ("y = sqrt(x * x + z * z);", 4),
        ("y[row] = -x[row - 1];", 0),
        ("y[row + 1] = 2.0 * x[row - 1] / 1e-3;", 2),
        ("long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;\nif (row < n) y[row] = 2 * x[row];", 1),
        ("total += fabs(x); n++;", 2),
        ("const double* p = x; y = *p;", 0),
        ("total = a.total + b.total; least = a.least > b.least ? a.least : b.least;", 1),
    ],
)
def test_arithmetic_is_estimated_by_operators_and_calls(text, count):
    """Addresses do not count."""
    assert operations_in(text) == count


def test_a_body_that_calls_functions_of_its_own_is_not_estimated():
    source = "__device__ double f(double x) { return x * x; }\n__global__ void k(const double* x) { f(x[0] * 2); }"
    assert body_of(source, "k") == ""
    assert body_of(source, "other") == ""
    assert body_of("__global__ void k(double* x) { if (1) { x[0] = 2; } }", "k") == " if (1) { x[0] = 2; } "


def test_arithmetic_of_kernels_with_loops_is_left_out():
    """Haversine's loops over rows; its text tells nothing of how often."""
    (operation,) = kernels_of([load(PIPELINES / "flights.yaml").plan({}).stages["flown"]])
    assert work_of(operation).flops_per_row is None
    assert (work_of(operation).read_bytes, work_of(operation).written_bytes) == (32, 8)


def test_a_kernel_pays_from_the_first_size_at_which_it_is_faster():
    def size(rows, step, copies, twin):
        own = (Seconds((seconds,)) if seconds else None for seconds in (step, step, copies, twin))
        return SizeTimes(rows, rows, rows, *own)

    sizes = (size(10, 3.0, 4.0, 1.0), size(100, 3.0, 9.0, 5.0), size(1000, 4.0, 90.0, None))
    one = KernelBench("s", 1, "k", "k.cu", DEVICE, KernelWork(8, 8, 2.0), "float64", 1e11, "Kernel", sizes[0], sizes)
    assert one.pays_from(lambda size: size.step) == 100
    assert one.pays_from(lambda size: size.with_copies) is None
    assert one.bytes_per_s(sizes[1]) == pytest.approx(1600 / 3)
    assert one.flops_per_s(sizes[1]) == pytest.approx(200 / 3)
    assert bench_command.verdict(one) == (
        "faster than its twin from 100 rows on, where rows are on the device already; with copies at none of these sizes"
    )


def test_a_call_that_takes_the_whole_budget_is_made_once():
    calls = []
    assert len(timed(lambda: calls.append(1), -1.0).all) == 1
    assert len(calls) == 1
    assert len(timed(lambda: calls.append(1), 60.0).all) == 7


def test_an_annotation_does_not_change_what_a_plan_computes(t):
    def plan(flops):
        p = Pipeline(f"p{flops}", root=t.pipeline.root)
        rows = p.read_parquet("t", "t.parquet")
        rows.kernel("wrong.cu", "twice", "x", {"y": "float64"}, "wrong.py:twice", flops_per_row=flops).stage("s")
        return p.plan().fingerprint

    assert plan(0) == plan(9)


# Python functions over frames: a size is a partition.


@pytest.fixture
def functions(pipeline, tmp_path):
    """Functions over rows with a null, over groups, and over cuDF frames."""
    shutil.copy(FILES / "frames.py", tmp_path)
    rows = ((1, 1.0, "a"), (1, None, "b"), (2, 3.0, "a"), (9, 4.0, "a"))
    t = write_source(pipeline, "t", table({"n": "int64", "x": "float64", "k": "string"}, *rows))
    outputs = {"y": "float64", "long": "bool"}
    few = t.filter(expr("n < 5"))
    few.python_kernel("frames.py:score", ["x", "n"], outputs, nulls="propagate").filter(col("long")).stage("rows")
    t.python_kernel("frames.py:share", "x", {"share": "float64"}, by="k").stage("groups")
    t.python_kernel(
        "frames.py:score", ["x", "n"], outputs, frame="cudf", reference="frames.py:framed", timeout="20s"
    ).stage("device")
    t.pipeline.to_yaml(tmp_path / "p.yaml")
    return tmp_path / "p.yaml"


def timed_stages(file, *stages):
    """Return what the command says of some stages, at 40 and 100 rows."""
    found = []
    for stage in stages:
        done = gpuetl(
            "kernel", "bench", file, "--rows", "40,1e2", "--seconds", "0.01", "--stage", stage, "--json"
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        found += json.loads(done.stdout)["kernels"]
    return found


def without_gpu(monkeypatch):
    monkeypatch.setattr(registry, "look_for_gpu", lambda: registry.GpuSearch(problem="no driver", fix="Install one"))


def test_functions_over_host_frames_are_timed_without_a_gpu(functions, monkeypatch):
    without_gpu(monkeypatch)
    rows, groups = timed_stages(functions, "rows", "groups")
    assert (rows["kind"], rows["kernel"], rows["frame"], rows["device"]) == ("python", "score", "pandas", "")
    assert rows["neighbours"] == "Filter, PythonKernel, Filter"
    sizes = [(s["source_rows"], s["rows"], s["calls"]) for s in (rows["one_row"], *rows["sizes"])]
    assert sizes == [(1, 1, 1), (40, 30, 1), (100, 75, 1)]
    # a float64 with a validity bit and an int64 in; a float64 and a bit out, each with a validity bit
    assert [(s["read_bytes"], s["written_bytes"]) for s in rows["sizes"]] == [(484, 252), (1210, 630)]
    assert [(s["rows"], s["calls"]) for s in groups["sizes"]] == [(40, 2), (100, 2)]
    for size in (*rows["sizes"], *groups["sizes"]):
        assert 0 < size["function"]["min_s"] <= size["function"]["median_s"]
        assert size["function"]["median_s"] < size["step"]["median_s"]
        assert size["rows_per_s"] == pytest.approx(size["rows"] / size["step"]["min_s"])
        assert size["pipeline"]["min_s"] > 0
        assert size["elsewhere"] is None


def test_functions_over_cudf_frames_are_timed_beside_their_reference(functions, on_cpu):
    (device,) = timed_stages(functions, "device")
    assert (device["frame"], device["device"]) == ("cudf", "a test's device")
    for size in device["sizes"]:
        assert size["elsewhere"]["min_s"] > 0
    assert device["pays_from_rows"] in (None, 40, 100)


def test_times_of_functions_are_printed_as_a_table(functions, monkeypatch):
    without_gpu(monkeypatch)
    done = gpuetl("kernel", "bench", functions, "--rows", "40", "--seconds", "0.01", "--stage", "groups")
    head, frames, neighbours, one, names, size, verdict = done.stdout.splitlines()
    assert head.startswith("stage 'groups', step 1: function 'share' (")
    assert frames == "  over pandas frames of a group, on the CPU"
    assert neighbours == "  in the pipeline: PythonKernel"
    assert one.startswith("  one row takes ")
    assert "µs of them in the function" in one
    assert names.split()[:2] == ["rows", "calls"]
    assert names.split()[-2:] == ["in", "pipeline"]
    assert size.split()[:2] == ["40", "2"]
    assert verdict.startswith("  at 40 rows the function takes ")


def test_a_size_that_would_take_too_long_is_left_out(functions, monkeypatch):
    without_gpu(monkeypatch)
    done = gpuetl("kernel", "bench", functions, "--rows", "40,1e9", "--seconds", "1e-5", "--stage", "groups")
    *_, size, verdict = done.stdout.splitlines()
    assert size.split()[:4] == ["1,000,000,000", "left", "out", "-"]
    assert verdict.startswith("  at 40 rows")


def test_functions_over_cudf_frames_need_a_gpu(functions, monkeypatch):
    without_gpu(monkeypatch)
    done = gpuetl("kernel", "bench", functions)
    assert done.exit_code == 2
    assert "kernel bench runs kernels on an NVIDIA GPU: no driver" in done.stderr


# Triton kernels.


TRITON = """
@triton.jit
def k(x, z, y, scale, n_rows, block: tl.constexpr):
    rows = tl.program_id(0) * block + tl.arange(0, block)
    inside = rows < n_rows
"""


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("tl.store(y + rows, tl.load(x + rows, mask=inside) * scale, mask=inside)", 1),
        ("a = tl.load(x + rows)\nb = a * a + tl.load(z + rows * 2)\ntl.store(y + rows, tl.sqrt(b))", 3),
        ("a = tl.load(x + rows)\na += 1\nb = n_rows + 1\ntl.store(y + rows, tl.where(a > 0, a, b))", 1),
        ("tl.store(y + rows, scale * 2 + rows)", 0),
        ("a = tl.load(x + rows).to(tl.float64)\na = rows\ntl.store(y + rows, a * 2)", 0),
        ("tl.store(y + rows, tl.sum(tl.load(x + rows)))", None),
        ("for i in range(3):\n    tl.store(y + rows, tl.load(x + i))", None),
        ("tl.store(y + rows, tl.rand(7, rows))", None),
    ],
)
def test_arithmetic_of_triton_kernels_is_estimated_where_the_text_tells_it(text, count):
    """Addresses, masks and what is the same for a block do not count."""
    body = "".join(f"    {line}\n" for line in text.splitlines())
    (function,) = ast.parse(TRITON + body).body
    assert triton_flops(function) == count


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs the extra triton")
def test_triton_kernels_are_timed_as_cuda_kernels(pipeline, tmp_path, on_cpu):
    for name in ("blocks.py", "blocks_twins.py"):
        shutil.copy(FILES / name, tmp_path)
    t = write_source(pipeline, "t", table({"k": "string", "x": "float64", "n": "int64"}, ("a", 1.0, 2), ("b", None, 3)))
    t.triton_kernel(
        "blocks.py:scaled", ["x", "n"], {"total": "float64", "positive": "bool"}, "blocks_twins.py:scaled",
        args={"scale": 2.0}, block=16,
    ).stage("s")  # fmt: skip
    t.triton_kernel(
        "blocks.py:running", "x", {"total": "float64"}, "blocks_twins.py:running", by="k", order_by="n", block=16
    ).stage("g")
    t.pipeline.to_yaml(tmp_path / "p.yaml")
    rows, groups = timed_stages(tmp_path / "p.yaml", "s", "g")
    assert (rows["kind"], rows["kernel"], rows["read_bytes_per_row"], rows["written_bytes_per_row"]) == (
        "triton", "scaled", 16, 9,
    )  # fmt: skip
    assert (rows["flops_per_row"], rows["flops_by"]) == (2, "estimated from the text")
    assert (groups["kernel"], groups["flops_per_row"]) == ("running", None)
    for size in (*rows["sizes"], *groups["sizes"]):
        assert size["kernel"]["min_s"] > 0
        assert size["bandwidth_share"] == pytest.approx(size["bytes_per_s"] / 1e10)
    done = gpuetl("kernel", "bench", tmp_path / "p.yaml", "--rows", "40", "--seconds", "0.01", "--stage", "g")
    assert done.stdout.splitlines()[1].endswith(
        "arithmetic is not counted: the text does not tell it, flops_per_row does"
    )


@pytest.mark.gpu
def test_functions_are_timed_on_a_gpu(functions):
    done = gpuetl("kernel", "bench", functions, "--rows", "1e4", "--seconds", "0.1", "--json")
    assert done.exit_code == 0, done.output
    rows, groups, device = json.loads(done.stdout)["kernels"]
    assert (rows["device"], groups["device"]) == ("", "")
    assert device["device"] == json.loads(done.stdout)["device"]["name"]
    assert all(size["elsewhere"]["min_s"] > 0 for each in (rows, groups, device) for size in each["sizes"])
    assert all(0 < size["function"]["min_s"] <= size["step"]["median_s"] for size in device["sizes"])


@pytest.mark.gpu
def test_kernels_are_timed_on_a_gpu(file):
    done = gpuetl("kernel", "bench", file, "--rows", "1e4,1e6", "--seconds", "0.1", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["device"]["float64_per_s"] is None or found["device"]["float64_per_s"] > 1e10
    for kernel in found["kernels"]:
        assert all(0 < size["kernel"]["min_s"] <= size["step"]["median_s"] for size in kernel["sizes"])
        assert all(0 < size["bandwidth_share"] < 1.5 for size in kernel["sizes"])
