"""Estimates: registers of hashes, and counts of rounded values.  See expressions/functions/sketches.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import Masked, canonical, from_masked, to_masked, whole
from gpuetl.engines.pandas.relational.grouping import GroupedRows, Ints
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.functions.sketches import (
    BUCKETS_BEFORE,
    COUNT_BITS,
    DROPPED_BITS,
    INFINITE_BUCKET,
    MOST_PLACE,
    PLACE_BITS,
    REGISTER_BITS,
    REGISTERS,
)
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.records import dataclass
from gpuetl.types.data_types import FLOAT64, INT64

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Entries:
    """What the states of all groups hold: groups, and what each entry is, ascending by both."""

    groups: Ints
    values: Ints

    def lists(self, count: int, dtype: pa.DataType) -> Any:
        """Return a list for each group; it is empty where a group has none."""
        sizes = np.bincount(self.groups, minlength=count)
        offsets = pa.array(np.append(0, np.cumsum(sizes)), pa.int32())
        return pa.ListArray.from_arrays(offsets, pa.array(self.values, dtype))


def entries_of_lists(rows: GroupedRows, argument: Expr) -> Entries:
    """Return the entries of the states of several partitions, in the order of rows."""
    column = whole(rows.column(argument))
    sizes = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    return Entries(np.repeat(rows.groups.codes, sizes), column.flatten().to_numpy().astype(np.int64))


# Distinct values.


def registers(rows: GroupedRows, x: Expr) -> Entries:
    """Return the registers that each group's values set."""
    kept = np.flatnonzero(rows.valid(x))
    hashed = Call(FUNCTIONS["scalar", "hash"], (x,), INT64)
    words = to_masked(rows.column(hashed)).values[kept].view(np.uint64)
    rest = words << np.uint64(REGISTER_BITS)
    places = np.where(rest == 0, MOST_PLACE, 64 - bit_lengths(rest) + 1)
    numbers = (words >> np.uint64(64 - REGISTER_BITS)).astype(np.int64)
    return merged_registers(Entries(rows.groups.codes[kept], numbers << PLACE_BITS | places))


def bit_lengths(words: NDArray[np.uint64]) -> Ints:
    """Return the place from 1 of each word's highest bit; 0 of none."""
    high, low = words >> np.uint64(32), words & np.uint64(0xFFFFFFFF)
    lengths = np.frexp(np.where(high, high, low).astype(np.float64))[1].astype(np.int64)
    return np.where(high, lengths + 32, lengths)


def merged_registers(entries: Entries) -> Entries:
    """Keep the greatest place of each register of a group."""
    words = np.unique(entries.groups * (REGISTERS << PLACE_BITS) + entries.values)
    numbers = words >> PLACE_BITS
    words = words[np.append(numbers[1:] != numbers[:-1], True)[: len(words)]]
    return Entries(words // (REGISTERS << PLACE_BITS), words % (REGISTERS << PLACE_BITS))


def distinct_registers(rows: GroupedRows, call: Call) -> Any:
    """The registers of each group."""
    return registers(rows, call.args[0]).lists(rows.groups.count, pa.int32())


def approx_count_distinct(rows: GroupedRows, call: Call) -> Any:
    """The estimate of each group's own registers."""
    return pa.array(estimates(registers(rows, call.args[0]), rows.groups.count))


def distinct_of_registers(rows: GroupedRows, call: Call) -> Any:
    """The estimate of the registers that partitions give."""
    merged = merged_registers(entries_of_lists(rows, call.args[0]))
    return pa.array(estimates(merged, rows.groups.count))


@np.errstate(divide="ignore")
def estimates(entries: Entries, count: int) -> Ints:
    """Return how many values set these registers: algorithm 6 of O. Ertl 2017, rounded."""
    places = entries.values & ((1 << PLACE_BITS) - 1)
    size = MOST_PLACE + 1
    counts = np.bincount(entries.groups * size + places, minlength=count * size).reshape(count, size)
    empty = REGISTERS - counts.sum(axis=1)
    total = REGISTERS * tau(1.0 - counts[:, MOST_PLACE] / REGISTERS)
    for place in range(MOST_PLACE - 1, 0, -1):
        total = 0.5 * (total + counts[:, place])
    total = total + REGISTERS * sigma(empty / REGISTERS)
    found = REGISTERS * (REGISTERS / (2 * np.log(2.0)) / total)
    return np.where(empty == REGISTERS, 0, np.floor(np.minimum(found, 2.0**62) + 0.5)).astype(np.int64)


def sigma(x: Floats) -> Floats:
    """Return what registers without a value count for; x below 1."""
    x = np.where(x < 1, x, 0.0)
    y, total = np.ones_like(x), x
    while True:
        x = x * x
        more = total + x * y
        y = y + y
        if (more == total).all():
            return total
        total = more


def tau(x: Floats) -> Floats:
    """Return what full registers count for."""
    open_ = (x > 0) & (x < 1)
    x = np.where(open_, x, 1.0)
    y, total = np.ones_like(x), 1 - x
    while True:
        x = np.sqrt(x)
        y = 0.5 * y
        more = total - (1 - x) * (1 - x) * y
        if (more == total).all():
            return np.where(open_, total / 3, 0.0)
        total = more


# Quantiles.


@dataclass(frozen=True, eq=False)
class Counts:
    """How many values of each group are in each bucket, ascending by both."""

    groups: Ints
    buckets: Ints
    counts: Ints

    def lists(self, count: int) -> Any:
        """Return a list for each group, each bucket and its count in one integer."""
        return Entries(self.groups, self.buckets << COUNT_BITS | self.counts).lists(count, INT64)

    def quantile(self, q: float, count: int) -> Masked:
        """Return the value at q * (size - 1) of each group, linear between the two next to it."""
        before = np.append(0, np.cumsum(self.counts))
        starts = np.searchsorted(self.groups, np.arange(count + 1))
        first = before[starts[:-1]]
        sizes = before[starts[1:]] - first
        place = q * np.maximum(sizes - 1, 0)
        low = np.floor(place).astype(np.int64)
        share, found = place - low, sizes > 0
        values = np.append(values_of(self.buckets), 0.0)

        def at(places: Ints) -> Floats:
            entry = np.searchsorted(before, first + places, side="right") - 1
            return values[np.where(found, entry, -1)]

        below, above = at(low), at(low + (share > 0))
        with np.errstate(invalid="ignore"):
            between = below * (1 - share) + above * share
        return Masked(np.where(below == above, below, between) + 0.0, found)


def buckets_of(values: Floats) -> Ints:
    """Return the bucket of each value, its bits rounded; a finite value is in none of infinity."""
    bits = values.view(np.int64)
    magnitudes = bits & ((1 << 63) - 1)
    rounded = (magnitudes + (1 << (DROPPED_BITS - 1))) >> DROPPED_BITS
    rounded = np.where((rounded == INFINITE_BUCKET) & np.isfinite(values), INFINITE_BUCKET - 1, rounded)
    return BUCKETS_BEFORE + np.where(bits < 0, -rounded, rounded)


def values_of(buckets: Ints) -> Floats:
    """Return the value that stands for each bucket."""
    signed = buckets - BUCKETS_BEFORE
    magnitudes = (np.abs(signed) << DROPPED_BITS).view(np.float64)
    return np.where(signed < 0, -magnitudes, magnitudes)


def counts_of(groups: Ints, buckets: Ints, weights: Ints | None = None) -> Counts:
    """Add up what comes more than once."""
    words, places, counts = np.unique(groups * (2 * BUCKETS_BEFORE) + buckets, return_inverse=True, return_counts=True)
    if weights is not None:
        counts = np.zeros(len(words), np.int64)
        np.add.at(counts, places, weights)
    return Counts(words // (2 * BUCKETS_BEFORE), words % (2 * BUCKETS_BEFORE), counts)


def counted(rows: GroupedRows, x: Expr) -> Counts:
    """Count each group's values by bucket, once for all their quantiles."""

    def make() -> Counts:
        masked = to_masked(canonical(rows.column(x)))
        return counts_of(rows.groups.codes[masked.valid], buckets_of(masked.values[masked.valid]))

    return rows.once(("buckets", x), make)


def merged_counts(rows: GroupedRows, argument: Expr) -> Counts:
    """Add up the counts that partitions give."""

    def make() -> Counts:
        entries = entries_of_lists(rows, argument)
        return counts_of(entries.groups, entries.values >> COUNT_BITS, entries.values & ((1 << COUNT_BITS) - 1))

    return rows.once(("merged buckets", argument), make)


def value_buckets(rows: GroupedRows, call: Call) -> Any:
    """The counts of each group."""
    return counted(rows, call.args[0]).lists(rows.groups.count)


def approx_quantile(rows: GroupedRows, call: Call) -> Any:
    """The quantile of each group's own counts."""
    return quantile_of(counted(rows, call.args[0]), call, rows.groups.count)


def quantile_of_buckets(rows: GroupedRows, call: Call) -> Any:
    """The quantile of the counts that partitions give."""
    return quantile_of(merged_counts(rows, call.args[0]), call, rows.groups.count)


def quantile_of(counts: Counts, call: Call, count: int) -> Any:
    """Return the quantile at the constant q of a call."""
    assert isinstance(call.args[1], Literal)
    return from_masked(counts.quantile(call.args[1].value, count), FLOAT64)


SKETCHES = {
    "approx_count_distinct": approx_count_distinct,
    "distinct_registers": distinct_registers,
    "distinct_of_registers": distinct_of_registers,
    "approx_quantile": approx_quantile,
    "value_buckets": value_buckets,
    "quantile_of_buckets": quantile_of_buckets,
}
