"""The handlers of all operations: importing this module registers them."""

from __future__ import annotations

from gpuetl.engines.cudf.gpu_operation import run_operation
from gpuetl.engines.cudf.io.read import read_row_groups
from gpuetl.engines.cudf.relational import (
    aggregate,  # noqa: F401  each registers its handler
    asof_join,  # noqa: F401
    condition_join,  # noqa: F401
    insert_rows,  # noqa: F401
    join,  # noqa: F401
    kernel,  # noqa: F401
    kernel_reduction,  # noqa: F401
    list_statistics,  # noqa: F401
    python_kernel,  # noqa: F401
    row_operations,  # noqa: F401
    vocabulary,  # noqa: F401
    window,  # noqa: F401
)
from gpuetl.plan.nodes import Read

run_operation.register(Read, lambda read, machine: read_row_groups(read, read.dataset.row_groups, machine))
