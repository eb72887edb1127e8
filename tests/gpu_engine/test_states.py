"""States of aggregates: the same kernels for all calls, by what is told of each as arguments."""

import re
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl import RunOptions, expr
from gpuetl.engines.cudf.codegen.device_headers import header_text
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_table
from gpuetl.engines.cudf.relational import aggregate_reduction, aggregate_states
from gpuetl.engines.cudf.relational.aggregate_reduction import reduced
from gpuetl.engines.cudf.relational.grouping import Groups
from gpuetl.errors import EvaluationError
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column
from gpuetl.testing import assert_same
from tables import NAN

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++")
BIG = 2**63
COLUMNS = {
    "k": pa.array([2, 1, 2, 1, 2, 3, 2], "int64"),
    "i8": pa.array([-128, 127, 1, None, -1, None, 0], "int8"),
    "u8": pa.array([255, 1, 2, 3, None, None, 250], "uint8"),
    "i16": pa.array([-32768, 5, 6, 7, 8, None, 9], "int16"),
    "i32": pa.array([-(2**31), 5, 6, 7, 8, None, 9], "int32"),
    "u32": pa.array([2**32 - 1, 5, 6, 7, 8, None, 9], "uint32"),
    "i64": pa.array([-BIG, BIG - 1, -BIG, 1, BIG - 1, None, BIG - 1], "int64"),
    "u64": pa.array([2**64 - 1, 5, 2**63, 7, 8, None, 9], "uint64"),
    "f32": pa.array([-0.0, 1.5, NAN, None, 2.5, None, -3.0], "float32"),
    "f64": pa.array([0.1, 1e17, 0.2, 1.0, 0.3, None, -0.0], "float64"),
    "b": pa.array([True, False, None, False, True, None, False]),
    "d": pa.array([Decimal("1.25"), Decimal("-3.5"), None, Decimal("0.01"), Decimal("-9.99"), None, Decimal(5)]).cast(
        pa.decimal128(9, 2)
    ),
    "w": pa.array([Decimal(10) ** 25, Decimal(-1), None, Decimal(3), Decimal("0.5"), None, Decimal(2)]).cast(
        pa.decimal128(37, 2)
    ),
}
EXTREMES = {
    "i8": ([127, -128, None], [127, 1, None]), "u8": ([1, 2, None], [3, 255, None]), "i16": ([5, -32768, None], [7, 9, None]),
    "i32": ([5, -(2**31), None], [7, 9, None]), "u32": ([5, 6, None], [7, 2**32 - 1, None]),
    "i64": ([1, -BIG, None], [BIG - 1, BIG - 1, None]), "u64": ([5, 8, None], [7, 2**64 - 1, None]),
    "b": ([False, False, None], [False, True, None]), "f64": ([1.0, 0.0, None], [1e17, 0.3, None]),
    "d": ([Decimal("-3.50"), Decimal("-9.99"), None], [Decimal("0.01"), Decimal("5.00"), None]),
    "w": ([Decimal("-1.00"), Decimal("0.50"), None], [Decimal("3.00"), Decimal(10) ** 25, None]),
}  # fmt: skip
"""The least and the greatest value of the groups 1, 2 and 3."""


@pytest.fixture(params=[HostMachine, EmulatedMachine], ids=lambda kind: kind.__name__)
def machine(request):
    return request.param()


@pytest.fixture(params=["columns", "records"])
def reading(request, monkeypatch):
    """Read rows as they are, or by records where columns allow that."""
    monkeypatch.setattr(aggregate_reduction, "MANY_ROWS", 1 if request.param == "records" else 1 << 20)


def call(function, *columns, dtype=None):
    arguments = tuple(Column(name, COLUMNS[name].type) for name in columns)
    return Call(FUNCTIONS["aggregate", function], arguments, dtype or arguments[0].dtype)


def computed(calls, machine, columns=None):
    """Return the values of calls for the groups 1, 2 and 3."""
    columns = columns or COLUMNS
    vectors = {name: from_arrow(pa.chunked_array([values]), machine) for name, values in columns.items()}
    groups = Groups.by(Frame(vectors, len(columns["k"])), ["k"], machine)
    table = to_table(Frame(reduced(groups, calls), groups.count), machine)
    return {name: table[name].to_pylist() for name in calls}


def names_in(header, enum):
    """Return the constants of a C++ enumeration in small letters."""
    (text,) = re.findall(rf"enum {enum} {{([^}}]*)}}", header_text(header))
    return [name.strip().lower() for name in text.split(",")]


def test_numbers_of_kinds_are_those_of_the_device():
    assert names_in("states.cuh", "Kind") == [*aggregate_states.WORD_STATES]
    assert names_in("closed/results.cu", "Kind") == [*aggregate_states.RESULTS]
    assert names_in("states.cuh", "Stored")[1:] == [*aggregate_reduction.RECORD_TYPES[1:]]
    assert len(names_in("closed/results.cu", "Stored")) == len(aggregate_reduction.RESULT_TYPES)
    assert names_in("closed/results.cu", "State") == [*aggregate_states.MEMORY]
    assert [*aggregate_states.MEMORY] == [
        "narrow",
        "integers",
        "decimals",
        "least",
        "greatest",
        "moments",
        "high_moments",
    ]


def test_every_call_has_kinds_that_the_device_knows():
    for name, result_of in aggregate_states.RESULT_OF.items():
        for column in ("i64", "u64", "f64", "d", "w"):
            found = result_of(Call(FUNCTIONS["aggregate", "sum"], (Column(column, COLUMNS[column].type),), pa.int64()))
            assert found.kind in aggregate_states.RESULTS, name
            assert not found.state or found.state.kind in {*aggregate_states.WORD_STATES, *aggregate_states.WIDE}, name


@needs_compiler
def test_extremes_of_all_widths(machine, reading):
    calls = {f"{which} {name}": call(which, name) for name in EXTREMES for which in ("min", "max")}
    found = computed(calls, machine)
    assert found == {f"{which} {n}": both[which == "max"] for n, both in EXTREMES.items() for which in ("min", "max")}
    assert str(found["min f64"][1]) == "0.0"  # not -0.0


@needs_compiler
def test_nan_is_the_greatest_and_the_sign_of_zero_goes(machine, reading):
    found = computed(
        {"least": call("min", "f32"), "most": call("max", "f32"), "n": call("count", "f32", dtype=pa.int64())}, machine
    )
    assert found["least"] == [1.5, -3.0, None]
    assert str(found["most"]) == "[1.5, nan, None]"
    assert found["n"] == [1, 4, 0]


@needs_compiler
def test_sums_means_and_counts_share_a_state(machine, reading):
    calls = {
        "s": call("sum", "i64"), "m": call("mean", "i64", dtype=pa.float64()), "n": call("count", "i64", dtype=pa.int64()),
        "f": call("sum", "f64"), "g": call("mean", "f64"), "d": call("sum", "d", dtype=pa.decimal128(38, 2)),
        "e": call("mean", "d", dtype=pa.float64()), "w": call("sum", "w", dtype=pa.decimal128(38, 2)),
        "x": call("mean", "w", dtype=pa.float64()), "t": call("count_if", "b", dtype=pa.int64()),
        "r": Call(FUNCTIONS["aggregate", "count_rows"], (), pa.int64()), "b": call("count", "b", dtype=pa.int64()),
    }  # fmt: skip
    columns = {**COLUMNS, "i64": pa.array([-BIG, 5, 3, 1, BIG - 1, None, 4], "int64")}
    found = computed(calls, machine, columns)
    assert found == {
        "s": [6, 6, None], "m": [3.0, 1.5, None], "n": [2, 4, 0],
        "f": [1e17 + 1.0, 0.1 + 0.2 + 0.3, None], "g": [(1e17 + 1.0) / 2, (0.1 + 0.2 + 0.3) / 4, None],
        "d": [Decimal("-3.49"), Decimal("-3.74"), None], "e": [-1.745, -374 / 300, None],
        "w": [Decimal("2.00"), Decimal(10) ** 25 + Decimal("2.50"), None], "x": [1.0, 3.3333333333333333e24, None],
        "t": [0, 2, 0], "r": [2, 4, 1], "b": [2, 3, 0],
    }  # fmt: skip


@needs_compiler
def test_a_sum_that_leaves_its_type_names_the_column(machine, reading):
    with pytest.raises(EvaluationError, match="int64"):
        computed({"n": call("count", "i64", dtype=pa.int64()), "total": call("sum", "i64")}, machine)


@needs_compiler
def test_more_calls_than_a_kernel_takes(machine):
    draws = np.random.default_rng(3)
    columns = {"k": pa.array(draws.integers(0, 3, 900), "int64")}
    columns |= {
        f"c{place}": pa.array(draws.integers(-50, 50, 900), "int64")
        for place in range(2 * aggregate_reduction.TERMS[-1] + 3)
    }
    names = [name for name in columns if name != "k"]
    sums = {name: Call(FUNCTIONS["aggregate", "sum"], (Column(name, pa.int64()),), pa.int64()) for name in names}
    means = {f"m{name}": Call(FUNCTIONS["aggregate", "mean"], each.args, pa.float64()) for name, each in sums.items()}
    assert len(sums) + len(means) > aggregate_reduction.MOST_RESULTS
    found = computed(sums | means, machine, columns)
    keys = columns["k"].to_numpy()
    for name in names:
        values = columns[name].to_numpy()
        assert found[name] == [values[keys == key].sum() for key in range(3)]
        assert found[f"m{name}"] == [values[keys == key].mean() for key in range(3)]


@needs_compiler
@pytest.mark.parametrize("keys", ["one key", "long and short groups", "a row a group"])
def test_bits_are_those_of_lanes_in_their_order(keys):
    """Floats are added in the same order by emulated lanes and by the oracle of them, written in NumPy."""
    draws, rows = np.random.default_rng(5), 9000
    groups = {
        "one key": np.zeros(rows), "long and short groups": np.where(draws.random(rows) < 0.7, 0, draws.integers(0, 999, rows)),
        "a row a group": np.arange(rows)[::-1],
    }[keys].astype(np.int64)  # fmt: skip
    values = draws.normal(size=rows) * 10.0 ** draws.integers(-9, 9, rows)
    columns = {"k": pa.array(groups), "f64": pa.array(values)}
    found = computed({"total": call("sum", "f64")}, EmulatedMachine(), columns)["total"]
    chunks = sum(-(-count // 2048) for count in np.unique(groups, return_counts=True)[1])
    assert found == [lanes_sum(values[groups == key], rows < 8 * chunks) for key in np.unique(groups)]


def lanes_sum(values, short):
    """Add the values of a group: 32 lanes a chunk of 2048 rows, then the lanes in halves, then the chunks likewise."""
    chunks = [values[at : at + 2048] for at in range(0, len(values), 2048)]
    sums = [
        sum(chunk.tolist(), 0.0) if short else halves([sum(chunk[lane::32].tolist(), 0.0) for lane in range(32)])
        for chunk in chunks
    ]
    return sums[0] if len(sums) == 1 else halves([sum(sums[lane::32], 0.0) for lane in range(32)])


def halves(sums):
    """Add the upper half of lanes to the lower one, until one is left."""
    while len(sums) > 1:
        half = len(sums) // 2
        sums = [sums[lane] + sums[lane + half] for lane in range(half)]
    return sums[0]


@needs_compiler
def test_all_calls_are_those_of_the_oracle(source, pipeline):
    calls = {
        "a": "sum(i8)", "b": "mean(u8)", "c": "sum(u32)", "d": "var(i16)", "e": "corr(i32, f64)", "f": "sum(d)", "g": "mean(w)",
        "h": "max(w)", "i": "min(u64)", "j": "covar_pop(f64, i16)", "l": "stddev_pop(f64)", "m": "count(b)", "n": "count(*)",
        "o": "count_if(b)", "p": "any(b)", "q": "all(b)", "r": "sum(f32)", "s": "sum(1)", "t": "max(k)",
    }  # fmt: skip
    rows = {name: values for name, values in COLUMNS.items() if name != "i64"}
    source(pa.table(rows)).aggregate("k", **{name: expr(text) for name, text in calls.items()}).stage("out")
    assert_same(pipeline, "cudf-on-cpu", partitions={"one": RunOptions(), "two rows": RunOptions(partition_rows=2)})


@needs_compiler
@pytest.mark.parametrize(("groups", "sizes"), [(1, [5]), (3, [5]), (2000, [2, 3])])
def test_columns_of_small_groups_are_read_by_records_that_hold_them(monkeypatch, groups, sizes):
    """Of large groups, more columns than a record holds are read as they are.  All have the same values."""
    monkeypatch.setattr(aggregate_reduction, "MANY_ROWS", 1)
    rows = 3 * 2 * aggregate_reduction.CHUNK
    draws = np.random.default_rng(9)
    columns = {"k": pa.array(draws.permutation(rows) % groups, "int64")}
    columns |= {name: pa.array(draws.integers(-99, 99, rows), "int64") for name in "abcde"}
    machine = HostMachine()
    vectors = {name: from_arrow(pa.chunked_array([values]), machine) for name, values in columns.items()}
    made = Groups.by(Frame(vectors, rows), ["k"] if groups > 1 else [], machine)
    wanted = [aggregate_states.State("integer_sum", (Column(name, pa.int64()),)) for name in "abcde"]
    found = list(aggregate_reduction.batches(made, wanted))
    expected = sizes if groups > 1 else [2, 3]
    assert [len(some) for some, _ in found] == expected
    assert [read is not None for _, read in found] == [groups == 2000] * len(expected)
    sums = {name: Call(FUNCTIONS["aggregate", "sum"], (Column(name, pa.int64()),), pa.int64()) for name in "abcde"}
    table = to_table(Frame(reduced(made, sums), made.count), machine)
    keys = columns["k"].to_numpy()
    for name in "abcde":
        values = columns[name].to_numpy()
        assert table[name].to_pylist() == [values[keys == key].sum() for key in range(groups)]
