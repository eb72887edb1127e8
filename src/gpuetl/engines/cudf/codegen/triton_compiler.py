"""Triton kernels compiled to machine code, without PyTorch and, if need be, without a GPU."""

from __future__ import annotations

import atexit
import linecache
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from gpuetl.engines.kernel_cache_folder import cache_folder
from gpuetl.errors import EvaluationError, first_line
from gpuetl.messages import coded
from gpuetl.places.paths import FilePath
from gpuetl.plan.nodes import Kernel
from gpuetl.user_kernels.shared_memory import MOST_BYTES
from gpuetl.user_kernels.triton_kernel import MISSING, TritonKernel, argument_types
from gpuetl.user_kernels.twin import exits_refused, in_file

MOST_KEPT = 64
ALIGNMENT = 16
"""Bytes; pointers that are multiples of it let Triton move several values at a time."""
WARP = 32
OPTIONS = {"enable_fp_fusion": True}
"""As NVRTC does by default, a product and a sum become one operation; Triton's own default depends on its version."""


class TritonProgram(NamedTuple):
    """Machine code of a kernel, and how to launch it.

    Parameters
    ----------
    cubin, name
        The code, and the name of the kernel in it.
    threads, shared_bytes
        Of each block.
    hidden
        Parameters of Triton's own behind those of the user: pointers to memory that is not needed.
    """

    cubin: bytes
    name: str
    threads: int
    shared_bytes: int
    hidden: int


def the_library(kernel: TritonKernel) -> Any:
    """Import Triton; raise `EvaluationError` where it is not installed."""
    try:
        import triton
        import triton.backends.compiler
        import triton.compiler
    except ImportError as error:
        reason = "" if isinstance(error, ModuleNotFoundError) and error.name == "triton" else f": {first_line(error)}"
        what = f"kernel '{kernel.entry}' is written in Triton, and triton cannot be imported{reason}"
        raise EvaluationError(coded(MISSING, what), "Install it: pip install 'gpuetl[triton]'.") from None
    return triton


@lru_cache(MOST_KEPT)
def loaded(path: FilePath, text: bytes) -> ModuleType:
    """Run a file's text as a module; Triton reads the lines of its functions again, as they were planned."""
    name = str(path)
    module = ModuleType(f"gpuetl_triton_{path.name.removesuffix(path.suffix)}")
    module.__file__ = name
    linecache.cache[name] = len(text), None, text.decode("utf-8", "replace").splitlines(keepends=True), name
    exec(compile(text, name, "exec"), module.__dict__)
    return module


def triton_function(kernel: TritonKernel) -> Any:
    """Return the user's function with its decorator; raise `EvaluationError` where its file does not import."""
    the_library(kernel)
    try:
        with exits_refused():
            module = loaded(kernel.cuda, kernel.text or b"")
    except (Exception, SystemExit) as error:
        own = TritonFile(kernel.cuda, kernel.entry)
        raise in_file("GE1303", f"cannot load {kernel.cuda}:", own, error) from error
    function = getattr(module, kernel.entry, None)
    if not hasattr(function, "arg_names"):
        raise EvaluationError(coded("GE1301", f"{kernel.cuda} has no Triton kernel '{kernel.entry}'"))
    return function


class TritonFile(NamedTuple):
    """The file of a kernel, for errors in it."""

    reference: FilePath
    function: str
    twin: bytes | None = None


def launch_types(operation: Kernel) -> tuple[str, ...]:
    """Return Triton's types of the arguments of a step's launch."""
    return argument_types(
        [operation.source.schema[name] for name in operation.reads], [*operation.outputs.values()],
        [value.dtype for value in operation.expressions], operation.kind == "groups", operation.nulls == "masks",
    )  # fmt: skip


def compiled_ahead(operation: Kernel, architecture: str, folder: Path | None = None) -> TritonProgram:
    """Compile a step's kernel for an architecture such as sm_90, as a run does whose arrays are multiples of 16.

    Raises
    ------
    EvaluationError
        Where Triton is not installed or refuses the kernel, or it takes more shared memory than any device has.
    """
    kernel, types = operation.contract, launch_types(operation)
    assert isinstance(kernel, TritonKernel)
    aligned = [dtype.startswith("*") for dtype in types]
    capability = int(architecture.removeprefix("sm_"))
    program = triton_program(kernel, types, operation.block, capability, aligned, folder)
    if program.shared_bytes > MOST_BYTES:
        found = (
            f"kernel '{kernel.entry}' takes {program.shared_bytes:,} shared bytes a block, and no GPU gives more than"
        )
        raise EvaluationError(coded("GE1902", f"{found} {MOST_BYTES:,}.  Set a smaller block, or work in tiles"))
    return program


def cache_of(folder: Path | None = None) -> str:
    """Return the folder of machine code: `TRITON_CACHE_DIR`, or the folder `triton` of a kernel cache."""
    return os.environ.get("TRITON_CACHE_DIR") or str(Path(folder or cache_folder()) / "triton")


@cache
def own_cache() -> str:
    """Return a folder of this process, for where the other one cannot be written."""
    folder = tempfile.mkdtemp(prefix="gpuetl-triton-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def triton_program(
    kernel: TritonKernel, types: Sequence[str], block: int, capability: int, aligned: Sequence[bool],
    folder: Path | None = None,
) -> TritonProgram:  # fmt: skip
    """Compile a kernel for arguments of these types; `aligned` says which are pointers that are multiples of 16.

    Machine code is kept in a kernel cache, by default that of this user.

    Raises
    ------
    EvaluationError
        Where Triton is not installed or refuses the kernel.
    """
    triton, function = the_library(kernel), triton_function(kernel)
    names = function.arg_names
    signature = dict(zip(names, [*types, "constexpr"], strict=True))
    attributes = {(place,): [["tt.divisibility", ALIGNMENT]] for place, whole in enumerate(aligned) if whole}
    source = triton.compiler.ASTSource(function, signature, {(len(names) - 1,): block}, attributes)
    target = triton.backends.compiler.GPUTarget("cuda", capability, WARP)

    def compiled(folder: str) -> Any:
        triton.knobs.cache.dir = folder
        return triton.compile(source, target=target, options={"num_warps": kernel.warps, **OPTIONS})

    try:
        try:
            done = compiled(cache_of(folder))
        except OSError:  # the folder cannot be written, and has no such kernel
            done = compiled(own_cache())
    except Exception as error:  # of Triton's front end, of MLIR or of ptxas
        raise does_not_compile(kernel, error) from error
    if getattr(done.metadata, "global_scratch_size", 0):
        raise EvaluationError(coded("GE1305", f"kernel '{kernel.entry}' needs scratch memory, which is not supported"))
    head = re.search(rf"\.entry {re.escape(done.metadata.name)}\((.*?)\)", done.asm["ptx"], re.DOTALL)
    parameters = len(re.findall(r"\.param\b", head[1])) if head else len(types) + 2
    threads = WARP * done.metadata.num_warps
    return TritonProgram(
        done.asm["cubin"], done.metadata.name, threads, done.metadata.shared, parameters - len(types)
    )  # fmt: skip


def does_not_compile(kernel: TritonKernel, error: Exception) -> EvaluationError:
    """Return the error of a kernel that Triton refuses, with the line of the user's file."""
    text = str(getattr(error, "error_message", None) or error).strip()
    what = f"kernel '{kernel.entry}' does not compile"
    failed = EvaluationError(coded("GE1305", f"{what}: {first_line(Exception(text))}"))
    node, declared = getattr(error, "node", None), kernel.declared
    if node is not None and hasattr(node, "lineno") and declared is not None:
        line = declared.lineno + node.lineno - 1  # Triton counts from `def`, behind the decorators
        shown = linecache.getline(str(kernel.cuda), line).strip()
        failed.shown = f"{kernel.cuda}:{line}:\n    {shown}".rstrip()
    return failed
