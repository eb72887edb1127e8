"""Shared memory of users' kernels: what a step may state, and kernels whose threads work together."""

import shutil
from pathlib import Path

import pytest

from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl import expr, lit, param
from gpuetl.engines.cudf.codegen.nvrtc import refuse_shared
from gpuetl.errors import EvaluationError
from gpuetl.kernels.check.kernel_check import check_kernel, kernels_of
from gpuetl.user_kernels.contract import KernelMismatch
from gpuetl.user_kernels.size_expression import SizeExpression
from tables import table, write_source

FILES = Path(__file__).parent.parent / "kernel_files"
ROWS = [("a", 1, 1.0), ("a", 2, 2.0), ("b", 1, 8.0), ("a", 3, 6.0), ("b", 2, None), ("a", 4, 4.0)]
TYPES = {"k": "string", "t": "int64", "x": "float64"}


@pytest.fixture(autouse=True)
def files(tmp_path):
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)


def smoothed(t, **changes):
    keys = {
        "args": {"width": lit(1)}, "by": "k", "order_by": "t", "block": 32,
        "shared_bytes": "8 * (block + 2 * width)",
    }  # fmt: skip
    return t.kernel("sums.cu", "smoothed", "x", {"y": "float64"}, "sums.py:smoothed", **{**keys, **changes})


def test_threads_of_a_block_share_what_a_step_gives(source, check):
    """In each group, the mean of a row and its neighbours."""
    expected = [("a", 1, 1.0, 1.5), ("a", 2, 2.0, 3.0), ("a", 3, 6.0, 4.0), ("a", 4, 4.0, 5.0)]
    expected += [("b", 1, 8.0, 8.0), ("b", 2, None, None)]
    check(smoothed(source(table(TYPES, *ROWS))), table({**TYPES, "y": "float64"}, *expected))


def test_a_parameter_decides_how_much_is_shared(source, check, pipeline):
    pipeline.param("width", "int32", default=0)
    t = smoothed(source(table(TYPES, *ROWS)), args={"width": param("width")}).filter(expr("k = 'a'")).select("t", "y")
    check(t, table({"t": "int64", "y": "float64"}, (1, 1.0), (2, 2.0), (3, 6.0), (4, 4.0)))
    check(t, table({"t": "int64", "y": "float64"}, (1, 3.0), (2, 3.25), (3, 3.25), (4, 4.0)), params={"width": 2})


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_a_kernel_with_shared_memory_is_checked(pipeline):
    t = write_source(pipeline, "t", table(TYPES, *ROWS))
    name = smoothed(t, shared_bytes="8 * (block + 2 * width)").named()
    (operation,) = kernels_of([pipeline.plan().stages[name]])
    assert check_kernel(operation, HostMachine(), (0, 1, 33)).ok


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shared_bytes": ""}, "kernel 'smoothed' has extern __shared__ memory, and the step gives it none"),
        ({"shared_bytes": "8 * width + rows"}, "has an unknown name 'rows'.  It can use block, width"),
        ({"shared_bytes": "8 ** block"}, "shared_bytes '8 ** block' is not a size.  Sizes take whole numbers"),
        ({"shared_bytes": "8 * (block"}, "shared_bytes '8 * (block' is not a size"),
        ({"shared_bytes": 300_000}, "shared_bytes '300000' is 300,000, and a block has at most 232,448"),
        (
            {"shared_bytes": "1024 * block", "block": 256},
            "is 262,144, where block = 256, and a block has at most 232,448",
        ),
        ({"shared_bytes": "block - 64"}, "shared_bytes 'block - 64' is -32, where block = 32"),
    ],
)
def test_shared_memory_that_no_device_has_is_a_problem(source, problem, changes, message):
    assert message in problem(smoothed(source(table(TYPES, *ROWS)), **changes))


def test_memory_that_the_kernel_does_not_declare_is_a_problem(source, problem, tmp_path):
    (tmp_path / "k.cu").write_text(
        "__global__ void twice(const double* x, double* y, long long n_rows) { y[0] = x[0]; }"
    )
    (tmp_path / "k.py").write_text("def twice(x):\n    return {'y': x}\n")
    t = source(table(TYPES, *ROWS)).kernel("k.cu", "twice", "x", {"y": "float64"}, "k.py:twice", shared_bytes=64)
    assert "shared_bytes, and its file has no extern __shared__ array" in problem(t)


def test_only_kernels_in_files_have_shared_memory(source, problem):
    t = source(table(TYPES, *ROWS))
    steps = t.kernel("", "", "x", {"y": "float64"}, "sums.py:norm", kind="reduction", shared_bytes="8 * block", by="k")
    assert "a kernel of kind reduction has no shared_bytes" in problem(steps)


def test_a_device_that_has_less_says_so():
    refuse_shared("k", 1000, 1000)
    with pytest.raises(
        EvaluationError, match=r"'k' takes at most 1,000 shared bytes a block on this GPU, and .* 1,001"
    ):
        refuse_shared("k", 1001, 1000)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4 * input", 12), ("input // 2 + 1", 2), ("1.5 * input", 5), ("min(input, 2, bins)", 2), ("max(input, bins)", 7),
        ("-input + bins", 4), ("bins % input", 1), ("16", 16), ("input / 2", 2),
    ],
)  # fmt: skip
def test_sizes_are_arithmetic_that_is_rounded_up(text, value):
    assert SizeExpression("rows", text).value({"input": 3, "bins": 7}) == value


@pytest.mark.parametrize("text", ["input / 0", "input // (bins - bins)", "1e400 * input", "input - bins"])
def test_sizes_without_a_value_are_refused(text):
    with pytest.raises(KernelMismatch, match="input = 3"):
        SizeExpression("rows", text).value({"input": 3, "bins": 7})


@pytest.mark.parametrize(
    "text", ["", "input.real", "f(input)", "min(input)", "input if bins else 1", "'a'", "True", "~input", "a = 1"]
)
def test_sizes_are_nothing_but_arithmetic(text):
    with pytest.raises(KernelMismatch, match="is not a size"):
        SizeExpression("rows", text).value({"input": 3, "bins": 7})
