"""Random expressions of many functions over columns of every type: generated kernels against the pandas engine."""

import random

import pyarrow as pa
import pytest

from fuzz.data import TYPES
from fuzz.draws import SeededDraws
from fuzz.expressions import Expressions, Leaf, typed
from fuzz.precision import Precision, precision_of
from gpu_engine.differential import assert_same, nasty
from gpu_engine.host_machine import COMPILER
from gpuetl.engines.cudf.codegen.functions import DEVICE_FUNCTIONS, Device
from gpuetl.expressions.ir import Call, columns_of, walk
from gpuetl.expressions.syntax import Name
from gpuetl.types.data_types import can_be_key

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
MADE_BY_THE_COMPILER = {"case", "coalesce"}
DRAWN = 25


def table_of_all_types(seed):
    """A table with a nasty column of each type that is no list."""
    draws = random.Random(seed)
    return pa.table({f"x{i}": nasty(dtype, draws) for i, dtype in enumerate(TYPES.values()) if can_be_key(dtype)})


def drawn(seed, table):
    """An expression three calls deep that the seed stands for; None where it has no types."""
    leaves = [Leaf(Name(field.name), field.type, Precision.EXACT) for field in table.schema]
    expressions = Expressions(SeededDraws(seed), leaves)
    return typed(expressions.any(depth=3), expressions.scope())


def is_compared(expr):
    """Whether all functions are in CUDA, and none branches on what is rounded."""
    names = {node.function.name for node in walk(expr) if isinstance(node, Call)} - MADE_BY_THE_COMPILER
    compiled = bool(names) and all(isinstance(DEVICE_FUNCTIONS.get(name), Device) for name in names)
    return compiled and precision_of(expr, dict.fromkeys(columns_of(expr), Precision.EXACT)) is not Precision.NOTHING


@pytest.mark.parametrize("seed", range(DRAWN))
def test_nested_expressions_have_the_values_and_refusals_of_the_pandas_engine(seed):
    table = table_of_all_types(seed)
    candidates = (drawn(1000 * seed + attempt, table) for attempt in range(1000))
    assert_same(next(expr for expr in candidates if expr is not None and is_compared(expr)), table)
