"""The handlers of all operations: importing this module registers them."""

from __future__ import annotations

from gpuetl.engines.cudf.aggregates import aggregate  # noqa: F401  each registers its handler
from gpuetl.engines.cudf.joins import join  # noqa: F401
from gpuetl.engines.cudf.operation import run_operation
from gpuetl.engines.cudf.operations import (  # noqa: F401
    distinct,
    explode,
    filter,  # noqa: A004
    kernel,
    kernel_reduction,
    limit,
    project,
    sort,
    union,
)
from gpuetl.engines.cudf.sources.read import read_row_groups
from gpuetl.engines.cudf.windows import window  # noqa: F401
from gpuetl.plan.nodes import Read

run_operation.register(Read, lambda read, machine: read_row_groups(read, read.dataset.row_groups, machine))
