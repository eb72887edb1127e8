"""The order of rows by any keys: that of the pandas engine, with the same marks."""

import random

import numpy as np
import pytest

from gpu_engine.host_machine import COMPILER, HostMachine
from gpu_engine.test_columns import columns, uploaded
from gpuetl.engines.cudf.columns.order import sort_rows
from gpuetl.engines.pandas.columns.order import sort_rows as expected_order
from gpuetl.plan.node import SortKey
from gpuetl.types.data_types import can_be_key

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
MACHINE = HostMachine()


@pytest.mark.parametrize(("rows", "seed"), [(0, 0), (1, 0), (90, 0), (90, 1)])
def test_rows_are_in_the_order_of_the_pandas_engine(rows, seed):
    draws = random.Random(seed)
    table = columns(rows, nulls=seed % 3, seed=seed)
    names = [name for name, dtype in zip(table.column_names, table.schema.types, strict=True) if can_be_key(dtype)]
    for name in names:
        keys = [SortKey(other, draws.random() < 0.5, draws.random() < 0.5) for other in [name, *draws.sample(names, 2)]]
        keys = keys[: draws.randint(1, 3)]
        got, expected = sort_rows(uploaded(table), keys, 1, False, MACHINE), expected_order(table, keys, 1)
        order = np.arange(rows) if expected.rows is None else expected.rows
        np.testing.assert_array_equal(np.arange(rows) if got.rows is None else MACHINE.host(got.rows), order)
        np.testing.assert_array_equal(MACHINE.host(got.new_group) != 0, expected.new_group)
        np.testing.assert_array_equal(MACHINE.host(got.new_value) != 0, expected.new_value)
        assert got.ties == rows - expected.new_value.sum()
        again = sort_rows(got.apply(uploaded(table), MACHINE), keys, 1, seed % 2 == 0, MACHINE)
        assert again.rows is None
        np.testing.assert_array_equal(MACHINE.host(again.new_group), MACHINE.host(got.new_group))
        np.testing.assert_array_equal(MACHINE.host(again.new_value), MACHINE.host(got.new_value))
