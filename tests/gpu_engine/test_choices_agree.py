"""Each choice of the engine, taken and left out: the rows are the oracle's."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from gpu_engine.host_machine import COMPILER
from gpuetl import RunOptions, expr
from gpuetl.engines.cudf.choices import CHOICES
from gpuetl.testing import assert_same, assert_tables_equal
from left_to_full import is_full
from tables import NAN, table

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
ENGINE = "cudf-on-cpu"
WAYS = {
    "all": RunOptions(),
    **{f"without {name}": RunOptions(skip_passes=(name,)) for name in CHOICES},
    "without tables": RunOptions(skip_passes=("join_by_table", "join_by_hash")),
}
ROWS = {"n": "int64", "w": "int64", "s": "string", "f": "float64", "d": "decimal(38, 2)", "x": "float64", "i": "int32"}


def rows(count, seed):
    """Return rows of keys that are narrow (n), wide (w), texts (s), floats (f) and long decimals (d), and of values."""
    draws = np.random.default_rng(seed)

    def drawn(*values):
        return [values[place] for place in draws.integers(0, len(values), count)]

    columns = [
        drawn(3, 4, 5, 9, None), drawn(-(2**63), 2**63 - 1, 0, 17, None), drawn("", "a", "é", "x" * 40, None),
        drawn(0.0, -0.0, NAN, 1.5, None), drawn(Decimal(f"{10**35}.25"), Decimal("-0.01"), None),
        (draws.integers(-50, 50, count) / 4).tolist(), drawn(*range(100), None),
    ]  # fmt: skip
    return table(ROWS, *zip(*columns, strict=True))


def assert_agree(pipeline, ordered=False):
    """Compare what the pipeline gives in each way with the rows of the oracle; with --full also as it is written."""
    if is_full():
        assert_same(pipeline, ENGINE, partitions=WAYS, ordered=ordered)
        return
    kept = pipeline.plan().last_stages()
    expected = pipeline.run(engine="pandas", keep=kept, options=RunOptions(optimize=False))
    for way, options in WAYS.items():
        found = pipeline.run(engine=ENGINE, keep=kept, options=options)
        for name in kept:
            assert_tables_equal(
                found[name].to_arrow(), expected[name].to_arrow(), ordered, what=f"stage '{name}' {way}"
            )


@pytest.mark.part(12)
@pytest.mark.parametrize("keys", [["n"], ["w"], ["s"], ["f"], ["d"], ["n", "s"], ["w", "f", "n"]], ids="-".join)
@pytest.mark.parametrize("ordered", [False, True], ids=["as they come", "in order"])
def test_groups_are_those_of_the_oracle(source, pipeline, keys, ordered):
    """Sums, extremes, counts of distinct values, and what is sorted in groups; also of rows that are in order."""
    steps = source(rows(70, len(keys)))
    steps = steps.sort(*keys) if ordered else steps
    calls = {"c": "count(*)", "t": "sum(x)", "m": "max(i)", "u": "count(distinct i)", "v": "count(distinct w)"}
    calls |= {"o": "count(distinct s)", "q": "median(x)", "z": "mode(s)"}
    steps.aggregate(keys, **{name: expr(text) for name, text in calls.items()}).stage("out")
    assert_agree(pipeline)


@pytest.mark.part(12)
@pytest.mark.parametrize("keys", [["n"], ["s"], ["w", "f"], ["n", "d"]], ids="-".join)
@pytest.mark.parametrize("how", ["inner", "left", "full", "semi", "anti"])
@pytest.mark.parametrize(
    "nulls_equal",
    [
        pytest.param(False, id="nulls differ"),
        pytest.param(
            True, id="nulls equal", marks=pytest.mark.full(reason="each choice of joins, where nulls are equal")
        ),
    ],
)
def test_joins_are_those_of_the_oracle(source, pipeline, keys, how, nulls_equal):
    """Of a right side whose keys repeat, and of one whose keys do not."""
    left, right = source(rows(40, 1), "l"), source(rows(9, 2), "r").select(*keys, y=expr("x"))
    left.join(right, keys, how, nulls_equal=nulls_equal).stage("many")
    single = right.aggregate(keys, y=expr("max(y)"))
    promise = {} if how in ("semi", "anti") else {"validate": "many_to_one"}
    left.join(single, keys, how, nulls_equal=nulls_equal, **promise).stage("one")
    assert_agree(pipeline)


@pytest.mark.part(12)
@pytest.mark.parametrize("keys", [["i", "n"], ["n", "i desc"], ["t", "s"], ["w", "u desc", "b"]], ids="-".join)
@pytest.mark.parametrize("nulls", [False, True], ids=["no nulls", "nulls"])
def test_sorted_rows_and_windows_are_those_of_the_oracle(source, pipeline, keys, nulls):
    """Of keys of each width, up and down, of which words tell those without nulls."""
    draws = np.random.default_rng(len(keys))
    rows = {name: draws.integers(-99, 99, 60) for name in ("i", "n", "w", "u")}
    rows = {"i": rows["i"], "n": rows["n"] // 50, "w": rows["w"] * 2**56, "u": rows["u"] % 7}
    types = {"i": "int16", "n": "int64", "w": "int64", "u": "uint8"}
    made = {name: pa.array(values.tolist()).cast(types[name]) for name, values in rows.items()}
    made["t"], made["b"] = made["i"].cast("int64").cast(pa.timestamp("us")), pa.array((rows["u"] > 3).tolist())
    made["s"] = pa.array([f"text {row % 5}" for row in rows["u"]])
    if nulls:
        made[keys[0]] = pa.array([None, *made[keys[0]].to_pylist()[1:]], made[keys[0]].type)
    steps = source(pa.table({**made, "x": range(60), "f": (rows["i"] / 4).tolist()}))
    steps.sort(*keys, "x").stage("sorted")
    by, *order = keys
    steps.window(by=by, order_by=[*order, "x"], r=expr("row_number()"), t=expr("cum_sum(f)")).stage("windowed")
    assert_agree(pipeline, ordered=True)
