"""Limit."""

from __future__ import annotations

from gpuetl.engines.cudf.columns.gather import first_rows
from gpuetl.engines.cudf.frame import Frame
from gpuetl.engines.cudf.machine import Machine
from gpuetl.engines.cudf.operation import run_operation
from gpuetl.plan.nodes import Limit


@run_operation.register
def limit_rows(operation: Limit, machine: Machine, frame: Frame) -> Frame:
    """Keep the first rows."""
    return first_rows(frame, operation.count, machine)
