"""Reductions that read rows as records: the same bits as of columns that are read as they are."""

import numpy as np
import pyarrow as pa
import pytest

from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl import RunOptions, expr
from gpuetl.choices import skipping
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_table
from gpuetl.engines.cudf.relational import aggregate_reduction
from gpuetl.engines.cudf.relational.aggregate_reduction import batches, records_of, reduced, uses_records
from gpuetl.engines.cudf.relational.aggregate_states import State
from gpuetl.engines.cudf.relational.grouping import Groups
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column
from gpuetl.testing import assert_same
from tables import NAN

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")


@pytest.fixture(params=[HostMachine, EmulatedMachine], ids=lambda kind: kind.__name__)
def machine(request, monkeypatch):
    monkeypatch.setattr(aggregate_reduction, "MANY_ROWS", 1)
    return request.param()


def frame_of(columns, machine):
    vectors = {name: from_arrow(pa.chunked_array([values]), machine) for name, values in columns.items()}
    return Frame(vectors, len(next(iter(columns.values()))))


@pytest.mark.parametrize(
    ("types", "size"),
    [
        (["int32", "int32"], 16), (["int8", "bool"], 16), (["int32", "int32?"], 32), (["float64"] * 3, 32),
        (["int64?", "int64?", "float64?"], 32), (["int64"] * 4, 32), (["int64"] * 3 + ["int64?"], None),
        (["int64"] * 5, None), (["string", "int32"], None), (["int64"], None),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else None,
)  # fmt: skip
def test_a_record_has_16_or_32_bytes(machine, types, size):
    columns = {}
    for place, text in enumerate(types):
        dtype = {"bool": pa.bool_(), "string": pa.string()}.get(text) or pa.type_for_alias(text.rstrip("?"))
        value = {"string": "a", "bool": True}.get(text, 1)
        columns[f"c{place}"] = pa.array([value, None if text.endswith("?") else value]).cast(dtype)
    vectors = frame_of(columns, machine).columns
    assert uses_records(list(vectors.values()), 2) == (size is not None)
    if size:
        made = records_of({Column(name, vector.dtype): vector for name, vector in vectors.items()}, 2, machine)
        assert made.memory.nbytes == 2 * size
        assert made.wide == (size == 32)


DRAWS = np.random.default_rng(7)
ROWS = 400
COLUMNS = {
    "k": pa.array(DRAWS.integers(0, 40, ROWS) * 1000, "int64"),
    "a": pa.array([None if x % 9 == 0 else int(x) for x in DRAWS.integers(-99, 99, ROWS)], "int32"),
    "b": pa.array([DRAWS.choice([None, NAN, -0.0, 0.1, 1e17, -1e17]) for _ in range(ROWS)], "float64"),
    "c": pa.array(DRAWS.integers(-(2**60), 2**60, ROWS), "int64"),
    "d": pa.array(DRAWS.integers(-99, 99, ROWS).tolist(), "int64").cast(pa.decimal128(21, 2)),
    "e": pa.array([None if x == 0 else bool(x - 1) for x in DRAWS.integers(0, 3, ROWS)]),
    "f": pa.array(DRAWS.integers(-99, 99, ROWS), "int8"),
    "g": pa.array(DRAWS.integers(0, 2**63, ROWS).astype("uint64") * np.uint64(2), "uint64"),
    "h": pa.array(DRAWS.normal(size=ROWS).astype("float32"), "float32"),
}


def call(function, column):
    argument = Column(column, COLUMNS[column].type)
    dtype = {"sum": pa.float64(), "mean": pa.float64()}.get(function, argument.dtype)
    return Call(FUNCTIONS["aggregate", function], (argument,), dtype)


def by_records(groups, columns):
    """Return whether columns of the groups' rows are read by records."""
    states = [State("least_integer", (Column(name, groups.frame.columns[name].dtype),)) for name in columns]
    return [records is not None for _, records in batches(groups, states)] == [True]


@pytest.mark.parametrize(
    "columns", [["a", "f"], ["a", "b"], ["b", "c", "f"], ["e", "f", "a"], ["c", "f", "g", "h"]], ids="".join
)
def test_the_bits_are_those_of_columns_read_as_they_are(machine, columns):
    frame = frame_of({name: COLUMNS[name] for name in ("k", *columns)}, machine)
    groups = Groups.by(frame, ["k"], machine)
    calls = {f"{name} {function}": call(function, name) for name in columns for function in ("min", "max")}
    if "b" in columns:
        calls |= {"total": call("sum", "b"), "mean": call("mean", "b")}
    assert by_records(groups, columns)
    ours = reduced(groups, calls)
    with skipping(["reduce_by_records"]):
        assert not by_records(groups, columns)
        theirs = reduced(groups, calls)
    tables = [to_table(Frame(found, groups.count), machine) for found in (ours, theirs)]
    for name in calls:
        both = [table[name].combine_chunks() for table in tables]
        assert both[0].is_valid().equals(both[1].is_valid())
        assert [str(value) for value in both[0].to_pylist()] == [str(value) for value in both[1].to_pylist()]


def test_few_rows_rows_in_order_and_single_columns_are_read_as_they_are(machine, monkeypatch):
    frame = frame_of(COLUMNS, machine)
    groups = Groups.by(frame, ["k"], machine)
    assert not by_records(groups, ["a"])
    in_order = Groups.by(frame_of({**COLUMNS, "k": pa.array(range(ROWS))}, machine), ["k"], machine)
    assert not by_records(in_order, ["a", "f"])
    monkeypatch.setattr(aggregate_reduction, "MANY_ROWS", ROWS + 1)
    assert not by_records(groups, ["a", "f"])


def test_aggregates_by_records_are_those_of_the_oracle(source, pipeline, monkeypatch):
    """One group has all but a few rows, so that it has several chunks and the others one."""
    monkeypatch.setattr(aggregate_reduction, "MANY_ROWS", 1)
    keys = np.where(DRAWS.random(5000) < 0.99, 7, DRAWS.integers(0, 9000, 5000))
    columns = {
        name: pa.chunked_array([values] * 13).combine_chunks().slice(0, 5000) for name, values in COLUMNS.items()
    }
    calls = {
        "n": "count(*)",
        "m": "count(a)",
        "t": "sum(a)",
        "u": "sum(c / 1000000)",
        "v": "var(f)",
        "w": "max(c)",
        "x": "min(b)",
    }
    calls |= {"r": "corr(a, f)", "d": "sum(d)", "e": "any(e)"}
    rows = source(pa.table({**columns, "k": keys}))
    rows.aggregate("k", **{name: expr(text) for name, text in calls.items()}).stage("out")
    ways = {"records": RunOptions(), "columns": RunOptions(skip_passes=("reduce_by_records",))}
    assert_same(pipeline, "cudf-on-cpu", partitions=ways)
