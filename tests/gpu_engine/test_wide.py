"""Frames of many columns: no kernel takes more arguments than a driver does, which is 4 KB on older ones."""

import numpy as np
import pyarrow as pa
import pytest

from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.gather import take_rows
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_arrow
from gpuetl.engines.cudf.relational.aggregate_reduction import reduced
from gpuetl.engines.cudf.relational.grouping import Groups
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column
from gpuetl.types.data_types import INT64, STRING

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
MOST_BYTES, WIDTH = 4096, 150
VALUES = [3, None, -1, 7]


class CountingMachine(HostMachine):
    """Counts the bytes of arguments of each kernel."""

    def __init__(self):
        self.most = 0

    def launch(self, module, entry, rows, arguments):
        """Every argument is a word."""
        self.most = max(self.most, 8 * len(arguments))
        super().launch(module, entry, rows, arguments)


@pytest.fixture
def machine():
    """Tells at the end whether a kernel was passed too much."""
    made = CountingMachine()
    yield made
    assert 0 < made.most <= MOST_BYTES


@pytest.fixture
def frame(machine):
    """Numbers, each column with a null, and two columns of texts with one."""
    columns = {f"x{place}": from_arrow(pa.array(VALUES), machine) for place in range(WIDTH)}
    texts = {f"s{place}": from_arrow(pa.array(["a", None, "bc", ""]), machine) for place in range(2)}
    return Frame(columns | texts, len(VALUES))


def test_rows_of_many_columns_are_gathered(frame, machine):
    taken = take_rows(frame, np.array([2, 1, 0, 2], np.int32), machine)
    assert list(taken.columns) == list(frame.columns)
    for vector in taken.columns.values():
        expected = ["bc", None, "a", "bc"] if vector.dtype == STRING else [-1, None, 3, -1]
        assert to_arrow(vector, machine).to_pylist() == expected


def test_many_columns_are_computed(frame, machine):
    """Those that read the same ones, too."""
    negate = FUNCTIONS["scalar", "negate"]
    exprs = {f"y{place}": Call(negate, (Column(f"x{place}", INT64),), INT64) for place in range(WIDTH)}
    exprs |= {f"again {name}": expr for name, expr in exprs.items()}
    made = evaluate(exprs, frame.columns, frame.rows, machine)
    assert list(made) == list(exprs)
    assert all(to_arrow(vector, machine).to_pylist() == [-3, None, 1, -7] for vector in made.values())


def test_many_sums_are_computed(frame, machine):
    names = [f"x{place}" for place in range(WIDTH)]
    sums = {f"sum {n}": Call(FUNCTIONS["aggregate", "sum"], (Column(n, INT64),), INT64) for n in names}
    counts = {f"n {n}": Call(FUNCTIONS["aggregate", "count"], (Column(n, INT64),), INT64) for n in names}
    made = reduced(Groups.by(frame, [], machine), sums | counts)
    assert list(made) == [*sums, *counts]
    assert {to_arrow(made[name], machine).to_pylist()[0] for name in sums} == {9}
    assert {to_arrow(made[name], machine).to_pylist()[0] for name in counts} == {3}
