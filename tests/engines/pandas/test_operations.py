"""The pandas backend's table of operations."""

import pytest

from gpuetl.engines.pandas import pandas_engine  # noqa: F401  registers the handlers
from gpuetl.engines.pandas.pandas_operation import run_operation
from gpuetl.plan.nodes import NODES, Write


@pytest.mark.parametrize("node", [node for node in NODES if node is not Write], ids=lambda node: node.__name__)
def test_every_operation_has_a_handler_of_its_own(node):
    assert node in run_operation.registry


def test_an_operation_without_a_handler_is_reported():
    with pytest.raises(NotImplementedError, match="the pandas backend has no handler for object"):
        run_operation(object())
