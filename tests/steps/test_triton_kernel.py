"""kernel: {triton: …}: columns from a user's block kernel, whose meaning is its NumPy twin."""

import importlib.util
import shutil
from pathlib import Path

import pytest

from generate_language import rows_of
from gpuetl import RunFailed, RunOptions, lit
from gpuetl.engines.cudf.codegen import triton_compiler
from gpuetl.engines.cudf.codegen.triton_compiler import triton_program
from gpuetl.errors import EvaluationError
from gpuetl.kernels.check.kernel_check import check_kernel, kernels_of
from gpuetl.spec.language_page.triton_kernels import EXAMPLES
from gpuetl.user_kernels.triton_kernel import TritonKernel
from tables import NAN, table

FILES = Path(__file__).parent.parent / "kernel_files"
TYPES = {"x": "float64", "n": "int64"}
ROWS = [(1.0, 1), (None, 2), (-2.0, None), (NAN, 4), (3.0, -9), (0.5, 7)]
GROUPED = {"k": "string", "t": "int64", "x": "float64"}
HAS_TRITON = importlib.util.find_spec("triton") is not None
needs_triton = pytest.mark.skipif(not HAS_TRITON, reason="needs the extra triton")


@pytest.fixture(autouse=True)
def files(tmp_path):
    for name in ("blocks.py", "blocks_twins.py"):
        shutil.copy(FILES / name, tmp_path)


@pytest.fixture
def engine(engine):
    """An engine; those that run the kernel need Triton."""
    if engine not in ("pandas", "dask") and not HAS_TRITON:
        pytest.skip("needs the extra triton")
    return engine


def scaled(t, **changes):
    keys = {
        "triton": "blocks.py:scaled", "inputs": ["x", "n"], "outputs": {"total": "float64", "positive": "bool"},
        "reference": "blocks_twins.py:scaled", "args": {"scale": lit(2.0)}, "block": 16,
    }  # fmt: skip
    return t.triton_kernel(**{**keys, **changes})


def test_a_kernel_over_rows(source, check):
    outputs = [(3.0, True), (None, None), (None, None), (NAN, False), (-3.0, False), (8.0, True)]
    rows = [(*a, *b) for a, b in zip(ROWS, outputs, strict=True)]
    expected = table({**TYPES, "total": "float64", "positive": "bool"}, *rows)
    check(scaled(source(table(TYPES, *ROWS))), expected, ordered=True)


def test_a_kernel_over_groups(source, check):
    rows = [("b", 1, 5.0), ("a", 2, 1.0), (None, 1, 7.0), ("a", 1, 2.0), ("b", 2, None), ("a", 3, 4.0), ("c", 1, None)]
    t = source(table(GROUPED, *rows)).triton_kernel(
        "blocks.py:running", "x", {"total": "float64"}, "blocks_twins.py:running", by="k", order_by="t", block=16
    )
    totals = [5.0, 3.0, 7.0, 2.0, None, 7.0, None]
    check(t, table({**GROUPED, "total": "float64"}, *((*row, s) for row, s in zip(rows, totals, strict=True))))


def test_a_kernel_with_masks(source, check):
    t = source(table({"x": "float64"}, (1.0,), (None,), (-2.0,), (0.0,))).triton_kernel(
        "blocks.py:filled", "x", {"y": "float64"}, "blocks_twins.py:filled", args={"value": lit(7.0)}, nulls="masks"
    )
    expected = table({"x": "float64", "y": "float64"}, (1.0, 1.0), (None, 7.0), (-2.0, None), (0.0, 0.0))
    check(t, expected, ordered=True)


@pytest.mark.parametrize("rows", [[], [(None, None)] * 3])
def test_zero_rows_or_nulls(source, check, rows):
    expected = table({**TYPES, "total": "float64", "positive": "bool"}, *((*row, None, None) for row in rows))
    check(scaled(source(table(TYPES, *rows))), expected)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"triton": "none.py:f"}, "the Triton file "),
        ({"triton": "blocks.py:scale"}, "blocks.py has no function 'scale'\nFunctions: "),
        ({"triton": "blocks.py:plain"}, "function 'plain' has no decorator @triton.jit"),
        ({"triton": "blocks.py:no_block"}, "the last parameter of kernel 'no_block' is not the block.  Declare it as"),
        (
            {"inputs": ["x"]},
            "kernel 'scaled' has 7 parameters, the step gives 6: input 'x', output 'total', output 'positive', "
            "argument 'scale', n_rows, block",
        ),
        ({"outputs": {"total": "string", "positive": "bool"}}, "a string column cannot reach a kernel"),
        ({"block": 100}, "block of a Triton kernel is a power of two from 16 to 65,536, got 100"),
        ({"warps": 3}, "warps takes 1, 2, 4, 8, 16, 32, got 3"),
        ({"by": "n"}, "a kernel over groups needs order_by"),
        ({"reference": ""}, "the key 'reference' is missing"),
    ],
)
def test_a_declaration_that_does_not_fit_is_refused(source, problem, changes, message):
    assert message in problem(scaled(source(table(TYPES)), **changes))


@pytest.mark.parametrize("example", EXAMPLES, ids=["rows", "groups"])
def test_the_examples_of_the_page_are_the_same_on_every_engine(local_engine, example):
    if local_engine != "pandas" and not HAS_TRITON:
        pytest.skip("needs the extra triton")
    assert rows_of(example, local_engine) == rows_of(example)


def test_triton_that_is_missing_is_reported(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "triton", None)
    with pytest.raises(
        EvaluationError, match="kernel 'scaled' is written in Triton, and triton cannot be imported"
    ) as e:
        triton_compiler.the_library(kernel_named(tmp_path, "scaled"))
    assert e.value.hint == "Install it: pip install 'gpuetl[triton]'."


def kernel_named(folder, name):
    path = folder / "blocks.py"
    return TritonKernel(path, name, folder / "blocks_twins.py", name, text=path.read_bytes())


@needs_triton
def test_kernels_compile_without_a_gpu_and_without_torch(tmp_path, monkeypatch):
    monkeypatch.setenv("GPUETL_KERNEL_CACHE", str(tmp_path / "cache"))
    kernel, types = kernel_named(tmp_path, "scaled"), ("*fp64", "*i64", "*fp64", "*i1", "fp64", "i64")
    program = triton_program(kernel, types, 1024, 90, (True,) * 4 + (False,) * 2)
    assert (program.name, program.threads) == ("scaled", 128)
    assert program.cubin.startswith(b"\x7fELF")
    with pytest.raises(EvaluationError, match=r"kernel 'wrong' does not compile: .*lode") as error:
        triton_program(kernel_named(tmp_path, "wrong"), ("*fp64", "*fp64", "i64"), 16, 90, (True, True, False))
    assert error.value.shown.endswith("blocks.py:53:\n    tl.store(y + rows, tl.lode(x + rows))")


@needs_triton
def test_a_kernel_is_compared_with_its_twin(source, pipeline, local_engine):
    from gpuetl.engines.registry import load_backend

    if local_engine == "pandas":
        pytest.skip("it runs no kernel")
    machine, t = load_backend(local_engine).machine, source(table(TYPES))
    right = scaled(t).named()
    wrong = t.triton_kernel("blocks.py:beyond", "x", {"y": "float64"}, "blocks_twins.py:beyond", block=16).named()
    plan = pipeline.plan()
    assert check_kernel(kernels_of([plan.stages[right]])[0], machine, (0, 1, 33, 300)).ok
    (mismatch, *_) = check_kernel(kernels_of([plan.stages[wrong]])[0], machine, (33,)).mismatches
    assert mismatch.what.startswith("it wrote outside of its rows: 1 values after the last row of output 'y'")


@needs_triton
def test_writes_outside_of_outputs_are_found_by_sanitize(source, pipeline, local_engine):
    t = source(table({"x": "float64"}, (1.0,)))
    t = t.triton_kernel("blocks.py:beyond", "x", {"y": "float64"}, "blocks_twins.py:beyond", block=16)
    name = t.named()
    if local_engine == "pandas":
        pytest.skip("it runs no kernel")
    with pytest.raises(RunFailed, match="wrote outside of its outputs: 1 values after the last row of output 'y'"):
        pipeline.run(engine=local_engine, keep=[name], options=RunOptions(sanitize=True))
