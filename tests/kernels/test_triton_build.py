"""Kernels in Triton before a run: what `gpuetl validate` finds, and what `gpuetl kernel build` compiles."""

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

from command import gpuetl
from gpu_engine import nvrtc
from gpuetl import lit
from gpuetl.engines.cudf.codegen import triton_compiler
from gpuetl.engines.cudf.codegen.triton_compiler import cache_of, compiled_ahead
from gpuetl.engines.cudf.programs import plan_programs
from gpuetl.errors import EvaluationError
from gpuetl.kernels.check.kernel_check import kernels_of
from tables import table, write_source

FILES = Path(__file__).parent.parent / "kernel_files"
TYPES = {"x": "float64", "n": "int64"}
OUTPUTS = {"total": "float64", "positive": "bool"}
HAS_TRITON = importlib.util.find_spec("triton") is not None
needs_triton = pytest.mark.skipif(not HAS_TRITON, reason="needs the extra triton")
needs_nvrtc = pytest.mark.skipif(nvrtc.library() is None, reason="needs NVRTC")
MORE = """
import triton
import triton.language as tl
@triton.jit
def swapped(n, x, total, positive, scale, n_rows, block: tl.constexpr): pass
@triton.jit
def reused(x_ptr, values, out, flags, factor, count, block: tl.constexpr): pass
@triton.jit
def constant(x, n, total, positive, scale: tl.constexpr, n_rows, block: tl.constexpr): pass
@triton.autotune(configs=[], key=[])
@triton.jit
def tuned(x, n, total, positive, scale, n_rows, block: tl.constexpr): pass
@triton.jit
def by_name(x, n, total, positive, scale, n_rows, *, block: tl.constexpr): pass
"""


@pytest.fixture
def t(pipeline, tmp_path):
    for name in ("blocks.py", "blocks_twins.py", "frames.py"):
        shutil.copy(FILES / name, tmp_path)
    (tmp_path / "more.py").write_text(MORE)
    return write_source(pipeline, "t", table(TYPES, (1.0, 2)))


def scaled(t, function="blocks.py:scaled"):
    keys = {"args": {"scale": lit(2.0)}, "block": 16}
    return t.triton_kernel(function, ["x", "n"], OUTPUTS, "blocks_twins.py:scaled", **keys).stage("s")


def wrong(t, function="blocks.py:wrong"):
    return t.triton_kernel(function, "x", {"y": "float64"}, "blocks_twins.py:beyond", block=16).stage("w")


@pytest.fixture
def command(t, tmp_path, monkeypatch):
    """Runs a command on the pipeline; the closed set is left out, which takes long to compile."""
    monkeypatch.setattr(plan_programs, "closed_set", lambda: [])
    monkeypatch.setattr(plan_programs, "common_set", lambda: [])
    monkeypatch.setenv("GPUETL_KERNEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TRITON_CACHE_DIR", raising=False)

    def run(*words):
        t.pipeline.to_yaml(tmp_path / "p.yaml")
        done = gpuetl(*words, tmp_path / "p.yaml")
        return done.exit_code, done.output.replace(f"{tmp_path}/", "")

    return run


# gpuetl validate.


def test_parameters_with_each_others_names_are_warned_of(t, command):
    scaled(t, "more.py:swapped")
    code, output = command("validate")
    assert code == 0
    assert "parameter 1 of kernel 'swapped' is called 'n', and gets input 'x'.  Are two of them swapped?" in output
    assert "parameter 2 of kernel 'swapped' is called 'x', and gets input 'n'" in output


def test_parameters_with_names_of_their_own_are_not_warned_of(t, command):
    scaled(t, "more.py:reused")
    code, output = command("validate")
    assert (code, "swapped" in output) == (0, False)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("constant", "parameter 'scale' of kernel 'constant' is a constexpr, and only the block is one"),
        ("tuned", "kernel 'tuned' has the decorator triton.autotune, which gpuetl does not run.  Remove it, and set"),
        ("by_name", "kernel 'by_name' has parameters with *, ** or /.  Declare each one by a name of its own"),
    ],
)
def test_a_form_that_is_not_launched_is_refused(t, command, function, message):
    scaled(t, f"more.py:{function}")
    code, output = command("validate")
    assert (code, message in output) == (2, True), output


def test_validate_says_what_was_not_compiled_without_triton(t, command, monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", None)
    scaled(t)
    code, output = command("validate")
    assert code == 0
    assert output.splitlines()[0] == (
        "not checked: kernel 'scaled' of stage 's', step 1, because kernel 'scaled' is written in Triton, and triton "
        "cannot be imported.  Install it: pip install 'gpuetl[triton]'"
    )


@needs_triton
def test_validate_compiles_where_triton_is_installed(t, command):
    scaled(t)
    assert command("validate") == (0, "p.yaml: valid, 1 source, 1 stage, 0 sinks\n")
    wrong(t)
    code, output = command("validate")
    assert code == 2
    assert "stage 'w', step 1: kernel 'wrong' does not compile: " in output
    assert "has no attribute 'lode'" in output
    assert "blocks.py:53:\n    tl.store(y + rows, tl.lode(x + rows))" in output


@needs_triton
def test_a_file_whose_imports_are_missing_here_is_not_compiled(t, command, tmp_path):
    (tmp_path / "more.py").write_text("import no_such_package\n" + MORE)
    scaled(t, "more.py:reused")
    code, output = command("validate")
    assert (code, "No module named 'no_such_package'" in output.splitlines()[0]) == (0, True), output
    (tmp_path / "more.py").write_text("1 / 0\n" + MORE)
    code, output = command("validate")
    assert (code, "ZeroDivisionError" in output) == (2, True), output


# gpuetl kernel build.


BUILD = ("kernel", "build", "--arch", "sm_80,sm_90")


@needs_nvrtc
@needs_triton
def test_build_compiles_for_each_architecture_once(t, command, tmp_path):
    scaled(t)
    t.python_kernel("frames.py:score", ["x", "n"], {"y": "float64", "long": "bool"}).stage("p")
    code, output = command(*BUILD, "--to", tmp_path / "image")
    assert code == 0, output
    assert "Triton kernels for sm_80, sm_90: 2 programs, 2 compiled, 0 there already, in image/triton\n" in output
    assert "note: p.yaml: nothing to compile: stage 'p', step 1 calls the Python function 'score'\n" in output
    code, output = command(*BUILD, "--to", tmp_path / "image")
    assert "2 programs, 0 compiled, 2 there already" in output
    assert not (tmp_path / "cache" / "triton").exists()


@needs_nvrtc
@needs_triton
def test_build_ends_with_the_line_that_does_not_compile(t, command):
    wrong(t)
    code, output = command(*BUILD)
    assert code == 1
    assert output.splitlines()[-3].startswith("error: p.yaml, for sm_80: kernel 'wrong' does not compile: ")
    assert output.splitlines()[-2:] == ["blocks.py:53:", "    tl.store(y + rows, tl.lode(x + rows))"]


@needs_nvrtc
def test_build_without_triton_says_what_to_install(t, command, monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", None)
    scaled(t)
    code, output = command(*BUILD)
    assert code == 2
    assert "p.yaml: kernel 'scaled' is written in Triton, and triton cannot be imported\nInstall it: " in output


@needs_triton
def test_a_run_finds_what_was_built(t, tmp_path, monkeypatch):
    """With arrays that are aligned, as nearly all are."""
    monkeypatch.setenv("GPUETL_KERNEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TRITON_CACHE_DIR", raising=False)
    scaled(t)
    (operation,) = kernels_of(t.pipeline.plan().stages.values())
    compiled_ahead(operation, "sm_90")
    before = sorted(Path(cache_of()).rglob("*.cubin"))
    assert len(before) == 1
    types = ("*fp64", "*i64", "*fp64", "*i1", "fp64", "i64")
    assert triton_compiler.launch_types(operation) == types
    triton_compiler.triton_program(operation.contract, types, 16, 90, (True,) * 4 + (False,) * 2)
    assert sorted(Path(cache_of()).rglob("*.cubin")) == before


@needs_triton
def test_a_cache_that_cannot_be_written_is_left_alone(t, tmp_path):
    (tmp_path / "file").write_text("")
    scaled(t)
    (operation,) = kernels_of(t.pipeline.plan().stages.values())
    assert compiled_ahead(operation, "sm_90", tmp_path / "file").name == "scaled"


@needs_triton
def test_a_block_that_no_gpu_has_room_for_is_refused(t, tmp_path, monkeypatch):
    monkeypatch.setattr(triton_compiler, "MOST_BYTES", -1)
    scaled(t)
    (operation,) = kernels_of(t.pipeline.plan().stages.values())
    with pytest.raises(EvaluationError, match="takes 0 shared bytes a block, and no GPU gives more than -1"):
        compiled_ahead(operation, "sm_90", tmp_path)
