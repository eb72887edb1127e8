"""Columns that rows are sorted by, computed from the words that were sorted: the values that a gather would fetch."""

import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from fuzz.data import TYPES, pool
from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.choices import skipping
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_arrow
from gpuetl.engines.cudf.columns.order import sort_rows
from gpuetl.engines.cudf.columns.string_codes import with_dictionary
from gpuetl.plan.node import SortKey
from gpuetl.types.data_types import can_be_key

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
HOST, GPU = HostMachine(), EmulatedMachine()
MACHINES = pytest.mark.parametrize("machine", [HOST, GPU], ids=["host", "emulated"])
TIMES = pa.timestamp("us"), pa.timestamp("us", "UTC")
FIRST, LAST = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999)


def frame(machine, **columns):
    """Return columns of one length in the machine's memory, texts with a dictionary."""
    vectors = {name: from_arrow(pa.chunked_array([values]), machine) for name, values in columns.items()}
    coded = {name: with_dictionary(vector, machine) for name, vector in vectors.items()}
    return Frame(coded, len(next(iter(columns.values()))))


def in_order(machine, keys, **columns):
    """Return the names of the columns that words told, and the sorted rows of all columns."""
    made = frame(machine, **columns)
    order = sort_rows(made, keys, 1, False, machine, whole=True)
    taken = order.apply(made, machine)
    assert list(taken.columns) == list(columns)
    assert [vector.dtype for vector in taken.columns.values()] == [values.type for values in columns.values()]
    assert all((taken.columns[n].dictionary is None) == (v.dictionary is None) for n, v in made.columns.items())
    return set(order.columns), {name: to_arrow(v, machine).to_pylist() for name, v in taken.columns.items()}


@MACHINES
@pytest.mark.parametrize("descending", [False, True], ids=["ascending", "descending"])
@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("int8", [-128, -1, 0, 127]),
        ("int16", [-32768, 5, 32767]),
        ("int32", [-(2**31), -7, 2**31 - 1]),
        ("int64", [-(2**63), -1, 0, 1, 2**63 - 1]),
        ("int64", [2**63 - 3, 2**63 - 1]),
        ("int64", [-(2**63), 2 - 2**63]),
        ("uint8", [0, 128, 255]),
        ("uint16", [1, 65535]),
        ("uint32", [3, 2**31, 2**32 - 1]),
        ("uint64", [0, 2**63 - 1, 2**63, 2**64 - 1]),
        (pa.bool_(), [False, True]),
        (pa.date32(), [date(1, 1, 1), date(1969, 12, 31), date(9999, 12, 31)]),
        (TIMES[0], [FIRST, datetime(1970, 1, 1), LAST]),
        (TIMES[1], [each.replace(tzinfo=UTC) for each in (FIRST, datetime(2026, 1, 1), LAST)]),
        (pa.duration("us"), [timedelta(days=-1), timedelta(microseconds=-1), timedelta(days=400)]),
        (pa.decimal128(18, 2), [Decimal("-9999999999999999.99"), Decimal("-0.01"), Decimal("9999999999999999.99")]),
        ("string", ["", "a", "b", "é"]),
    ],
    ids=str,
)  # fmt: skip
def test_each_type_has_its_own_values_back(machine, dtype, values, descending):
    """From the least of the type to the greatest; rows that are equal stand in their order."""
    rows = [*values[1:], *values]
    numbers = range(len(rows))
    got = in_order(machine, [SortKey("x", descending)], x=pa.array(rows, dtype), n=pa.array(numbers))
    expected = sorted(numbers, key=lambda n: values.index(rows[n]) * (-1 if descending else 1))
    assert got == ({"x"}, {"x": [rows[n] for n in expected], "n": expected})


@MACHINES
def test_components_lie_in_any_word_and_those_of_constants_in_none(machine):
    """Three words here: of a and b, of c alone, and of d."""
    columns = {
        "a": pa.array([7, 7, -7, 7], "int16"), "k": pa.array([-3] * 4, "int32"), "b": pa.array([2, 1, 9, 1], "uint8"),
        "c": pa.array([0, 2**63 - 1, 5, -(2**63)]), "d": pa.array([True, False, True, True]), "x": pa.array([0.5] * 4),
    }  # fmt: skip
    keys = [SortKey("k"), SortKey("a", True), SortKey("b"), SortKey("c", True), SortKey("d", True)]
    names, got = in_order(machine, keys, **columns)
    assert names == set("akbcd")
    assert got == {
        "a": [7, 7, 7, -7], "k": [-3] * 4, "b": [1, 1, 2, 9], "c": [2**63 - 1, -(2**63), 0, 5],
        "d": [False, True, True, True], "x": [0.5] * 4,
    }  # fmt: skip


@MACHINES
def test_a_column_that_is_a_key_twice_is_there_once(machine):
    """Its second component decides nothing."""
    keys = [SortKey("x"), SortKey("x", True)]
    assert in_order(machine, keys, x=pa.array([3, -1, 2])) == ({"x"}, {"x": [-1, 2, 3]})


@MACHINES
@pytest.mark.parametrize("values", [[], [5], [5, 5, 5], [1, 2, 2]], ids=len)
def test_rows_that_are_not_sorted_are_left_as_they_are(machine, values):
    """No rows, one, equal ones, and such as come in order: there are no words."""
    assert in_order(machine, [SortKey("x")], x=pa.array(values, "int64")) == (set(), {"x": values})


@MACHINES
def test_rows_in_order_are_sorted_where_nobody_looks(machine):
    """Words of one or more bits tell their columns then, too."""
    for values in ([1, 2, 2], [4, 4], []):
        with skipping(["notice_order"]):
            names, got = in_order(machine, [SortKey("x")], x=pa.array(values, "int64"))
        assert names == ({"x"} if len(set(values)) > 1 else set())
        assert got == {"x": values}


@pytest.mark.parametrize(
    "values",
    [
        pa.array([0.0, -0.0, float("nan"), -1.0]),
        pa.array([1.5, -0.0, 0.0], "float32"),
        pa.array([Decimal(5), Decimal(-5)], pa.decimal128(19, 0)),
        pa.array([f"text {row * 7 % 2000}" for row in range(2000)]),
        pa.array([3, None, 1]),
        pa.array(["b", None, "a"]),
    ],
    ids=["float64", "float32", "decimal", "many texts", "nulls", "null texts"],
)  # fmt: skip
def test_others_are_gathered(values):
    """Zeros keep their signs, and the values below nulls are no part of a word."""
    names, got = in_order(HOST, [SortKey("k", True), SortKey("x")], x=values, k=pa.array(range(len(values))))
    assert names == {"k"}
    assert str(got["x"]) == str(values.to_pylist()[::-1])


def test_columns_are_gathered_unless_whole_rows_are_wanted_and_the_choice_is_taken():
    """Kernels that nobody has use for are not written."""
    made = frame(HOST, x=pa.array([3, 1, 2]))
    assert sort_rows(made, [SortKey("x")], 0, False, HOST).columns == {}
    with skipping(["keys_from_words"]):
        assert sort_rows(made, [SortKey("x")], 0, False, HOST, whole=True).columns == {}


@pytest.mark.parametrize("seed", range(6))
def test_rows_are_those_of_a_gather(seed):
    """Of random keys of all types, among columns with and without nulls; in memory bit for bit."""
    draws = random.Random(seed)
    types = {name: dtype for name, dtype in TYPES.items() if can_be_key(dtype)}
    columns = {
        name: pa.array([draws.choice([*pool(t, wild=True), *[None] * draws.choice([0, 0, 1])]) for _ in range(60)], t)
        for name, t in types.items()
    }
    made = frame(HOST, **columns)
    keys = [SortKey(name, draws.random() < 0.5, draws.random() < 0.5) for name in draws.sample([*types], 4)]
    ways = []
    for skipped in ([], ["keys_from_words"]):
        with skipping(skipped):
            ways.append(sort_rows(made, keys, 2, False, HOST, whole=True))
    words, gathered = (order.apply(made, HOST) for order in ways)
    assert not ways[1].columns
    for name, got in words.columns.items():
        expected = gathered.columns[name]
        assert (got.dtype, got.nulls, got.data.dtype) == (expected.dtype, expected.nulls, expected.data.dtype)
        assert got.data.tobytes() == expected.data.tobytes()
    for name in ("new_group", "new_value", "ties"):
        np.testing.assert_array_equal(*(HOST.host(getattr(way, name)) for way in ways[:2]))
