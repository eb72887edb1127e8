"""Union."""

from __future__ import annotations

import pyarrow as pa

from gpuetl.backends.pandas.operation import run_operation
from gpuetl.plan.nodes import Union


@run_operation.register
def stack_rows(operation: Union, left: pa.Table, right: pa.Table) -> pa.Table:
    """Put the right rows below the left ones."""
    return pa.concat_tables([left, right])
