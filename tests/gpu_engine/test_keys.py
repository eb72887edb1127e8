"""Keys as the GPU's threads measure, pack, mark, count and find them: what one thread after another finds too."""

import numpy as np
import pyarrow as pa
import pytest

from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.backends.cudf.columns.compact import numbers_where
from gpuetl.backends.cudf.columns.keys import keys_of
from gpuetl.backends.cudf.columns.order import sort_rows
from gpuetl.backends.cudf.columns.words import Layout, measured, packed
from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.interchange import from_arrow
from gpuetl.plan.node import SortKey

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
HOST, GPU = HostMachine(), EmulatedMachine()
INT64 = np.iinfo(np.int64)


def frame(machine=HOST, **columns):
    """Return columns of one length in the machine's memory."""
    vectors = {name: from_arrow(pa.chunked_array([values]), machine) for name, values in columns.items()}
    return Frame(vectors, len(next(iter(columns.values()))))


def keys_in(values, dtype, *key):
    """Return a single column as the keys of its rows."""
    made = frame(x=pa.array(values, dtype))
    return keys_of(made.columns, [SortKey("x", *key)], made.rows, HOST)


@pytest.mark.parametrize(
    ("values", "dtype", "bits", "width"),
    [
        ([5, 6, 8], "int64", (2,), 8),
        ([INT64.min, INT64.max], "int64", (64,), 64),
        ([-1, 255], "int32", (9,), 16),
        ([7, 7], "int64", (0,), None),
        ([None, 7], "int64", (1, 0), 8),
        ([None, None], "int64", (0, 0), None),
        ([0.0, -0.0], "float64", (0,), None),
        ([1.0, float("nan")], "float32", (31,), 32),
    ],
)
def test_digits_take_the_bits_that_their_range_needs(values, dtype, bits, width):
    """And words are the narrowest that hold them."""
    keys = keys_in(values, dtype)
    layout = measured(keys, HOST)
    assert layout.bits == bits
    assert [8 * word.dtype.itemsize for word in packed(keys, layout, HOST)] == [width] * (width is not None)


def test_digits_are_whole_in_words():
    """Those that do not fit beside others begin the next word; those without bits are in none."""
    layout = Layout((0,) * 5, (30, 0, 30, 10, 64), in_order=False)
    assert layout.words == [[0, 2], [3], [4]]
    assert layout.shift([0, 2], 0) == 30


@pytest.mark.parametrize(("values", "descending", "in_order"), [
    ([1, 2, 2, None], False, True), ([3, 1], False, False), ([3, 1], True, True), ([None, 1], False, False),
])  # fmt: skip
def test_order_is_noticed(values, descending, in_order):
    """Nulls are last both ways."""
    assert measured(keys_in(values, "int64", descending), HOST).in_order is in_order


def random_frame(rows, seed, machine):
    """Return columns of few values: a with nulls, b of floats, d of long decimals."""
    draws = np.random.default_rng(seed)
    a = pa.array(draws.integers(-3, 9, rows), "int64", mask=draws.random(rows) < 0.2)
    b = pa.array(draws.choice([0.0, -0.0, 1.5, np.nan, -np.inf], rows))
    d = pa.array([int(x) * 10**25 for x in draws.integers(-2, 3, rows)], pa.decimal128(38, 0))
    return frame(machine, a=a, b=b, d=d)


@pytest.mark.parametrize("rows", [1, 31, 500])
def test_the_gpu_s_threads_sort_as_one_thread_does(rows):
    """By one word, and by several."""
    for keys in ([SortKey("a"), SortKey("b", True)], [SortKey("b"), SortKey("d"), SortKey("a", True, True)]):
        for leading in range(len(keys) + 1):
            one, many = (sort_rows(random_frame(rows, 1, m), keys, leading, False, m) for m in (HOST, GPU))
            for name in ("rows", "new_group", "new_value", "ties"):
                np.testing.assert_array_equal(getattr(one, name), getattr(many, name))


@pytest.mark.parametrize("rows", [0, 1, 1023, 1024, 5000])
def test_marked_rows_are_numbered(rows):
    """Also where no row is marked, or every one."""
    marks = (np.random.default_rng(0).random(rows) < 0.3).astype("uint8")
    for each in (marks, marks * 0, marks * 0 + 1):
        for machine in (HOST, GPU):
            np.testing.assert_array_equal(numbers_where(each, machine), np.flatnonzero(each))
