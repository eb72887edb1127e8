"""Union."""

from __future__ import annotations

from gpuetl.backends.cudf.columns.concat import concat
from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.machine import Machine
from gpuetl.backends.cudf.operation import run_operation
from gpuetl.plan.nodes import Union


@run_operation.register
def stack_rows(operation: Union, machine: Machine, left: Frame, right: Frame) -> Frame:
    """Put the right rows below the left ones."""
    return concat([left, right], operation.schema, machine)
