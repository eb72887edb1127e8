"""Estimates on the GPU engine: in a table and by sorting, of rows and of states, bit-equal to the oracle's."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.choices import skipping
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_arrow
from gpuetl.engines.cudf.relational.grouping import Groups
from gpuetl.engines.cudf.relational.sketches import SKETCHES as ON_GPU
from gpuetl.engines.pandas.columns.keys import encode_keys
from gpuetl.engines.pandas.relational.aggregate_sketches import SKETCHES
from gpuetl.engines.pandas.relational.grouping import GroupedRows
from gpuetl.expressions.functions import FUNCTIONS, INTERNAL
from gpuetl.expressions.functions.sketches import BUCKET_LIST, REGISTER_LIST
from gpuetl.expressions.ir import Call, Column, Literal
from gpuetl.testing import Tolerance, assert_tables_equal
from gpuetl.types.data_types import FLOAT64, INT64

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
X, Q = Column("x", FLOAT64), Literal(0.37, FLOAT64)
STATES = {
    "registers": Call(INTERNAL["distinct_registers"], (X,), REGISTER_LIST),
    "buckets": Call(INTERNAL["value_buckets"], (X,), BUCKET_LIST),
}
RESULTS = {
    "n": Call(FUNCTIONS["aggregate", "approx_count_distinct"], (X,), INT64),
    "q": Call(FUNCTIONS["aggregate", "approx_quantile"], (X, Q), FLOAT64),
}
OF_STATES = {
    "n": Call(INTERNAL["distinct_of_registers"], (Column("registers", REGISTER_LIST),), INT64),
    "q": Call(INTERNAL["quantile_of_buckets"], (Column("buckets", BUCKET_LIST), Q), FLOAT64),
}


def rows_of(groups, count):
    """Return rows in no order: values of all signs and magnitudes, many of them twice, NaN, infinity and null."""
    rng = np.random.default_rng(groups)
    values = rng.normal(0, 1, count) * 10.0 ** rng.integers(-3, 4, count)
    values[: count // 3] = values[-(count // 3) :]
    odd = rng.choice(count, min(count, 5), replace=False)
    values[odd] = [np.nan, np.inf, -np.inf, -0.0, 0.0][: len(odd)]
    return pa.table(
        {"k": rng.permutation(np.arange(count) % groups), "x": pa.array(values, mask=rng.random(count) < 0.1)}
    )


def on_pandas(frame, calls):
    groups = encode_keys([frame["k"]], frame.num_rows)
    rows = GroupedRows(SimpleNamespace(calls=calls), frame, groups)
    columns = {name: SKETCHES[call.function.name](rows, call).cast(call.dtype) for name, call in calls.items()}
    return pa.table({"k": frame["k"].take(groups.first_rows), **columns}).sort_by("k")


def on_gpu(frame, calls, machine):
    columns = {name: from_arrow(frame[name], machine) for name in frame.column_names}
    groups = Groups.by(Frame(columns, frame.num_rows), ["k"], machine)
    found = {"k": groups.keys(["k"])["k"], **{n: ON_GPU[call.function.name](groups, call) for n, call in calls.items()}}
    return pa.table({name: to_arrow(vector, machine) for name, vector in found.items()}).sort_by("k")


def assert_equal(got, expected):
    assert_tables_equal(got, expected, ordered=True, tolerance=Tolerance(0))


@pytest.mark.part(4)
@pytest.mark.parametrize("machine", [HostMachine, EmulatedMachine], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("way", [(), ("sketch_in_table",)], ids=["in tables", "by sorting"])
@pytest.mark.parametrize(("groups", "count"), [(1, 1), (1, 700), (3, 700), (300, 900), (5, 5)])
def test_estimates_and_states_are_the_oracles(machine, way, groups, count):
    frame, own = rows_of(groups, count), machine()
    with skipping(way):
        for calls in (STATES, RESULTS):
            assert_equal(on_gpu(frame, calls, own), on_pandas(frame, calls))
        parts = [frame.slice(start, 97) for start in range(0, count, 97)]
        states = pa.concat_tables([on_pandas(part, STATES) for part in parts]).combine_chunks()
        whole = on_pandas(frame, RESULTS)
        assert_equal(on_pandas(states, OF_STATES), whole)
        assert_equal(on_gpu(states, OF_STATES, own), whole)
