"""`IN` of many constants in CUDA, compiled for the CPU: tables of each type against the pandas engine."""

import random

import pyarrow as pa
import pytest

from fuzz.data import TYPES, pool
from gpu_engine.differential import assert_same, nasty
from gpu_engine.host_machine import COMPILER
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column, Literal
from gpuetl.types.data_types import BOOL, can_be_key

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
SCALARS = [name for name, dtype in TYPES.items() if can_be_key(dtype)]
MANY = 2000


@pytest.mark.parametrize("name", SCALARS)
def test_many_constants_are_found_as_the_pandas_engine_finds_them(name):
    """Half of the nasty values of a type, in no order and more than once, in every other type beside a null."""
    dtype, draws = TYPES[name], random.Random(name)
    values = pool(dtype, wild=True)
    wanted = draws.choices(values[::2], k=20) + [None] * (SCALARS.index(name) % 2)
    constants = [Literal(value, dtype) for value in wanted]
    assert_same(
        Call(FUNCTIONS["scalar", "in"], (Column("x", dtype), *constants), BOOL), pa.table({"x": nasty(dtype, draws)})
    )


def test_thousands_of_constants_are_found():
    """So many compile as fast as few: they are data."""
    constants = [Literal(7 * i, pa.int64()) for i in range(MANY)]
    column = pa.array([0, 7, 8, -7, 7 * MANY, 7 * MANY - 7, None], pa.int64())
    assert_same(Call(FUNCTIONS["scalar", "in"], (Column("x", pa.int64()), *constants), BOOL), pa.table({"x": column}))
