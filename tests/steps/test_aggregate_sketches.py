"""aggregate: estimates of distinct values and of quantiles, and how far they are from what they estimate."""

import math
import struct

import numpy as np
import pyarrow as pa
import pytest

from fuzz.hyperloglog import estimated_distinct
from gpuetl import expr
from gpuetl.engines.pandas.columns.keys import Groups
from gpuetl.engines.pandas.expressions.functions.hashing import hash_words
from gpuetl.engines.pandas.relational import aggregate_sketches as sketches
from gpuetl.engines.pandas.relational.grouping import GroupedRows
from gpuetl.expressions.ir import Column
from gpuetl.types.data_types import INT64
from tables import INF, NAN, table


def exprs(calls):
    return {name: expr(text) for name, text in calls.items()}


ESTIMATES = {
    "n": "approx_count_distinct(x)", "s": "approx_count_distinct(t)", "some": "approx_count_distinct(x) FILTER (WHERE x > 1)",
    "low": "approx_quantile(x, 0)", "half": "approx_quantile(x, 0.5)", "high": "approx_percentile(x, 1)",
}  # fmt: skip


def test_estimates_of_few_values(source, check):
    rows = [
        ("a", 1.0, "x"), ("a", 2.0, "y"), ("a", None, "x"), ("a", 2.0, None), ("zero", -0.0, ""), ("zero", 0.0, ""),
        ("none", None, None), ("nan", NAN, "é"), ("nan", NAN, "e"), ("nan", INF, "é"), ("nan", -INF, "ü"),
        ("large", 1000.0, "a"), ("large", -1.7976931348623157e308, "b"), ("large", 1001.0, "c"), ("tiny", 5e-324, "d"),
    ]  # fmt: skip
    floats = dict.fromkeys(("low", "half", "high"), "float64")
    expected = table(
        {"k": "string", **dict.fromkeys(("n", "s", "some"), "int64"), **floats},
        ("a", 2, 2, 1, 1.0, 2.0, 2.0),
        ("zero", 1, 1, 0, 0.0, 0.0, 0.0),
        ("none", 0, 0, 0, None, None, None),
        ("nan", 3, 3, 1, -INF, NAN, NAN),
        ("large", 3, 3, 2, -(2 - 2**-7) * 2.0**1023, 1000.0, 1000.0),
        ("tiny", 1, 1, 0, 0.0, 0.0, 0.0),
    )
    steps = source(table({"k": "string", "x": "float64", "t": "string"}, *rows)).aggregate("k", **exprs(ESTIMATES))
    check(steps, expected)


@pytest.mark.parametrize("rows", [[], [(None, None)]])
def test_estimates_of_no_values_without_keys(source, check, rows):
    expected = table(
        {**dict.fromkeys(("n", "s", "some"), "int64"), **dict.fromkeys(("low", "half", "high"), "float64")},
        (0, 0, 0, None, None, None),
    )
    check(source(table({"x": "float64", "t": "string"}, *rows)).aggregate(**exprs(ESTIMATES)), expected)


# How far estimates are off: the handlers of one engine, which the other must equal.


def distinct_estimate(values):
    """Return the estimate of distinct integers, by the language's own hash."""
    rows = GroupedRows(None, pa.table({"x": values}), Groups(np.zeros(len(values), np.int64), np.zeros(1, np.int64)))
    return int(sketches.estimates(sketches.registers(rows, Column("x", INT64)), 1)[0])


@pytest.mark.parametrize("count", [100, 1_000, 10_000, 40_000])
def test_distinct_values_are_off_by_the_standard_error(count):
    """By 1.04 / sqrt(4096) in the root mean square of 15 sets, by 4 times that at most; less of few values."""
    errors = np.array([distinct_estimate(count * (seed + 1) + np.arange(count)) / count - 1 for seed in range(15)])
    assert abs(errors).max() < 4 * 1.04 / 64
    assert math.sqrt((errors**2).mean()) < 1.4 * 1.04 / 64


def test_estimates_are_those_of_the_algorithm():
    for count in (0, 1, 2, 50, 3000, 30_000):
        values = np.arange(count) * 104_729
        words = hash_words([values.view(np.uint64)], np.zeros(count, np.uint64)).view(np.int64)
        assert distinct_estimate(values) == estimated_distinct(words.tolist())


def test_few_distinct_values_are_off_by_one_at_most():
    """Where two hashes begin alike."""
    errors = [distinct_estimate(np.arange(count) + 100 * seed) - count for count in range(20) for seed in range(20)]
    assert set(errors) <= {0, -1}
    assert errors.count(-1) <= 8


def test_many_distinct_values_and_repeats_of_them():
    count = 150_000
    values = np.random.default_rng(5).permutation(np.repeat(np.arange(count) * 7919, 2))
    assert distinct_estimate(values) == distinct_estimate(np.arange(count) * 7919)
    assert abs(distinct_estimate(values) / count - 1) < 4 * 1.04 / 64


DRAWS = {
    "uniform": lambda rng, n: rng.uniform(0, 1, n),
    "normal": lambda rng, n: rng.normal(0, 1, n),
    "far from zero": lambda rng, n: rng.normal(1e9, 1, n),
    "lognormal": lambda rng, n: rng.lognormal(0, 3, n),
    "pareto": lambda rng, n: rng.pareto(0.5, n) + 1,
    "negative": lambda rng, n: -rng.exponential(100, n),
    "few integers": lambda rng, n: rng.integers(0, 257, n).astype(float),
    "one value": lambda rng, n: np.full(n, math.pi),
    "two modes": lambda rng, n: np.where(rng.random(n) < 0.5, rng.normal(-1e6, 10, n), rng.normal(1e-6, 1e-8, n)),
    "all magnitudes": lambda rng, n: np.exp2(rng.uniform(-1022, 1023, n)),
    "tiny": lambda rng, n: rng.integers(1, 100, n) * 5e-324,
}


@pytest.mark.parametrize("name", DRAWS)
def test_quantiles_are_within_a_256th_of_the_values_next_to_them(name):
    """And of numbers below the normal ones, within half of the least bucket."""
    rng = np.random.default_rng(len(name))
    for n in (1, 2, 3, 10, 1000, 20_000):
        values = DRAWS[name](rng, n)
        counts = sketches.counts_of(np.zeros(n, np.int64), sketches.buckets_of(values))
        ascending = np.sort(values)
        for q in (0, 0.001, 0.25, 0.5, 0.9, 0.999, 1):
            place = q * (n - 1)
            low = math.floor(place)
            share = place - low
            below, above = ascending[low], ascending[min(low + (share > 0), n - 1)]
            bound = (abs(below) * (1 - share) + abs(above) * share) / 256 + 2.0**-1030
            exact = below * (1 - share) + above * share
            assert abs(counts.quantile(q, 1).values[0] - exact) <= bound * (1 + 1e-12), (n, q)
            if name == "few integers":
                assert counts.quantile(q, 1).values[0] == exact


def test_buckets_are_values_rounded_to_8_significant_bits():
    given = [1.0, 256.0, 257.0, 258.0, 259.0, -259.0, 0.1, 1e300, -0.0, 5e-324, INF, -INF]
    rounded = [
        1.0,
        256.0,
        258.0,
        258.0,
        260.0,
        -260.0,
        float.fromhex("0x1.9Ap-4"),
        float.fromhex("0x1.7Ep996"),
        0.0,
        0.0,
        INF,
        -INF,
    ]
    values = np.array(given) + 0.0
    assert sketches.values_of(sketches.buckets_of(values)).tolist() == rounded
    assert struct.pack("<d", sketches.values_of(sketches.buckets_of(np.zeros(1)))[0]) == bytes(8)
