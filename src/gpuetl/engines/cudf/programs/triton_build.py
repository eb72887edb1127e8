"""Triton kernels of pipelines compiled into a folder before a run, without a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from gpuetl.engines.cudf.codegen.triton_compiler import cache_of, compiled_ahead, the_library
from gpuetl.errors import EngineUnavailable, EvaluationError, RunFailed
from gpuetl.messages import code_of, coded, recoded
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Map
from gpuetl.places.paths import FilePath
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Kernel, PythonKernel
from gpuetl.user_kernels.triton_kernel import TritonKernel


class TritonBuild(NamedTuple):
    """What was done: how many programs were compiled, how many were there, and in which folder they are."""

    compiled: int
    there: int
    folder: str


def operations_of(physical: PhysicalPlan) -> Iterator[Node]:
    """Yield the operations of a plan."""
    return (node.operation for node in walk_graph(*physical.roots) if isinstance(node, Map))


def triton_kernels(physical: PhysicalPlan) -> list[Kernel]:
    """Return the steps of a plan that run a Triton kernel."""
    return [
        each for each in operations_of(physical) if isinstance(each, Kernel) and isinstance(each.contract, TritonKernel)
    ]


def python_functions(physical: PhysicalPlan) -> list[str]:
    """Return a sentence for each step of a plan that runs a Python function."""
    return [
        f"{each.origin} calls the Python function '{each.contract.entry}'"
        for each in operations_of(physical) if isinstance(each, PythonKernel)
    ]  # fmt: skip


def check_triton(kernels: Mapping[FilePath, Sequence[Kernel]]) -> None:
    """Raise `EngineUnavailable` where there are kernels in Triton and it is not installed."""
    for file, those in kernels.items():
        for operation in those:
            assert isinstance(operation.contract, TritonKernel)
            try:
                the_library(operation.contract)
            except EvaluationError as error:
                raise EngineUnavailable(recoded(f"{file}: {error.args[0]}\n{error.hint}", error)) from error


def build_triton(
    kernels: Mapping[FilePath, Sequence[Kernel]], architectures: Sequence[str], folder: Path
) -> TritonBuild:
    """Compile the kernels of some pipelines for each architecture, as far as they are not there.

    Triton keeps them in the folder `triton` of a kernel cache, or in `TRITON_CACHE_DIR`.

    Raises
    ------
    RunFailed
        With the pipeline, the kernel and the line, for the first one that does not compile.
    """
    compiled = there = 0
    for file, those in kernels.items():
        for operation in those:
            for architecture in architectures:
                with counted() as found:
                    compile_one(file, operation, architecture, folder)
                compiled, there = compiled + found.count(False), there + found.count(True)
    return TritonBuild(compiled, there, cache_of(folder))


def compile_one(file: FilePath, operation: Kernel, architecture: str, folder: Path) -> None:
    """Compile a kernel; raise `RunFailed` where Triton refuses it."""
    try:
        compiled_ahead(operation, architecture, folder)
    except EvaluationError as error:
        shown = f"\n{error.shown}" if error.shown else ""
        what = f"{file}, for {architecture}: {error.args[0]}{shown}"
        raise RunFailed(coded("GE1322", what) if code_of(error) == "GE1305" else recoded(what, error)) from error


@contextmanager
def counted() -> Iterator[list[bool]]:
    """Give a list that gets, for each kernel that is asked for in the block, whether it was there."""
    import triton

    found = list[bool]()

    def told(*, cache_hit: bool, **_: Any) -> None:
        found.append(cache_hit)

    knobs = triton.knobs.compilation
    before, knobs.listener = knobs.listener, told
    try:
        yield found
    finally:
        knobs.listener = before
