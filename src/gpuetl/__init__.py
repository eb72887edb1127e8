"""gpuetl: declarative ETL pipelines on NVIDIA GPUs, from YAML or Python, with answers that can be checked.

The way of the data, and of a reader through the code:

    pipeline.py    Pipeline and load(): the first file to read
    spec/          1  YAML text → model → bound plan; steps/ has one class a verb of the language
    expressions/   2  expressions: SQL or Python → typed IR; functions/ is the closed table
    plan/          3  the logical plan: nodes/, a file each; no engine code
    optimize/      4  named rewrites Plan → Plan, a file each
    physical/      5  partitions, exchanges, and the memory that they need
    executors/     6  run a physical plan, in this process or on a dask cluster
    engines/      7  frames and the operations on them: pandas (also the oracle)
    kernels/          users' CUDA kernels: contract and NumPy twin
    formats/          Parquet, CSV and rows in memory: described, checked, read and written
    io/               files: listed, opened, staged and committed
    report/        8  what a run did
    file_tests/       the tests that a pipeline's file holds
    testing/          for the tests of pipelines and of gpuetl itself
    cli/              the command gpuetl
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gpuetl.uncaught import show_short_tracebacks
from gpuetl.version import __version__ as __version__

if TYPE_CHECKING:
    from gpuetl.declarations import NameReplaced
    from gpuetl.errors import (
        ContractBroken,
        EngineUnavailable,
        GpuetlError,
        InvalidExpression,
        InvalidPipeline,
        OutOfMemory,
        PackageMissing,
        RunFailed,
        SinkExists,
    )
    from gpuetl.expressions.build import (
        col,
        count,
        cume_dist,
        dense_rank,
        expr,
        lag,
        lead,
        lit,
        ntile,
        param,
        percent_rank,
        rank,
        row_number,
        run_id,
        session_id,
        struct,
        when,
    )
    from gpuetl.expressions.expression import Expression
    from gpuetl.options import Cluster, RunOptions
    from gpuetl.pipeline import Pipeline, load, loads
    from gpuetl.run.result_cache import result_cache
    from gpuetl.sandbox import in_sandbox
    from gpuetl.table import Table


__all__ = [
    "Cluster", "ContractBroken", "EngineUnavailable", "Expression", "GpuetlError", "InvalidExpression",
    "InvalidPipeline", "NameReplaced", "OutOfMemory", "PackageMissing", "Pipeline", "RunFailed", "RunOptions",
    "SinkExists", "Table", "col", "count", "cume_dist", "dense_rank", "expr", "in_sandbox", "lag", "lead", "lit",
    "load", "loads", "ntile", "param", "percent_rank", "rank", "result_cache", "row_number", "run_id", "session_id",
    "struct", "when",
]  # fmt: skip

show_short_tracebacks()

_MODULES = (
    "errors",
    "expressions.build",
    "declarations",
    "options",
    "pipeline",
    "run.result_cache",
    "sandbox",
    "table",
)


def __getattr__(name: str) -> Any:
    """Import the public names when they are first used: `gpuetl --help` needs none of them."""
    if name in __all__:
        for module in map(import_module, (f"{__name__}.{module}" for module in _MODULES)):
            if name in vars(module):
                return vars(module)[name]
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    """List the public names."""
    return [*__all__, "__version__"]
