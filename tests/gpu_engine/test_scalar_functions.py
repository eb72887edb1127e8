"""Every scalar function in CUDA, compiled for the CPU, over nasty values: the pandas engine's answers and refusals."""

import pytest

from gpu_engine.differential import assert_same, expressions
from gpu_engine.host_machine import COMPILER
from gpuetl.engines.cudf.codegen.functions import DEVICE_FUNCTIONS, Device
from gpuetl.expressions.functions import FUNCTIONS

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
MADE_BY_THE_COMPILER = {"case", "coalesce"}
NAMES = [name for kind, name in FUNCTIONS if kind == "scalar"]


@pytest.mark.parametrize(
    "seed",
    [0, pytest.param(1, marks=pytest.mark.full(reason="compiled functions of more types"))],
    ids=["", "more types"],
)
@pytest.mark.parametrize("name", [n for n in NAMES if isinstance(DEVICE_FUNCTIONS.get(n), Device)])
def test_function_has_the_values_and_refusals_of_the_pandas_engine(name, seed):
    for expr, table in expressions(name, most=2, seed=seed):
        assert_same(expr, table)
