"""The operations of the pandas backend: one handler for each node of the plan, registered by its file."""

from __future__ import annotations

from functools import singledispatch

import pyarrow as pa

from gpuetl.plan.node import Node


@singledispatch
def run_operation(operation: Node, *frames: pa.Table) -> pa.Table:
    """Run `operation` on one partition of each input."""
    raise NotImplementedError(f"the pandas backend has no handler for {type(operation).__name__}")
