"""The operations of the cudf backend: one handler for each node of the plan, registered by its file."""

from __future__ import annotations

from functools import singledispatch

from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.machine import Machine
from gpuetl.plan.node import Node


@singledispatch
def run_operation(operation: Node, machine: Machine, *frames: Frame) -> Frame:
    """Run `operation` on one partition of each input."""
    raise NotImplementedError(f"the cudf backend has no handler for {type(operation).__name__}")
