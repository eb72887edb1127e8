"""Every scalar function in CUDA, compiled for the CPU, over nasty values: the pandas engine's answers and refusals."""

import pytest

from gpu_engine.differential import assert_same, expressions
from gpu_engine.host_machine import COMPILER
from gpuetl.engines.cudf.codegen.functions import DEVICE_FUNCTIONS, Device
from gpuetl.expressions.functions import FUNCTIONS
from left_to_full import after

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
MADE_BY_THE_COMPILER = {"case", "coalesce"}
NAMES = [name for kind, name in FUNCTIONS if kind == "scalar"]


@pytest.mark.part(3)
@pytest.mark.parametrize(
    ("seed", "most"),
    after(1, [(0, 1), (0, 2), (1, 2)], "compiled functions of more types"),
    ids=["", "two", "more types"],
)
@pytest.mark.parametrize("name", [n for n in NAMES if isinstance(DEVICE_FUNCTIONS.get(n), Device)])
def test_function_has_the_values_and_refusals_of_the_pandas_engine(name, seed, most):
    for expr, table in expressions(name, most, seed):
        assert_same(expr, table)
