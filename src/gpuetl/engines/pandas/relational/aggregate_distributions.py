"""Aggregates of each group's distinct values and how often they come."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from gpuetl.engines.pandas.columns.column import Masked, canonical, from_masked, take_or_null
from gpuetl.engines.pandas.columns.keys import encode_keys
from gpuetl.engines.pandas.columns.order import ordinal
from gpuetl.engines.pandas.relational.aggregate_picks import least_rows
from gpuetl.engines.pandas.relational.grouping import GroupedRows, Ints
from gpuetl.expressions.ir import Call
from gpuetl.plan.node import SortKey
from gpuetl.records import dataclass
from gpuetl.types.data_types import FLOAT64


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """The distinct values of all groups, in no order: the group of each, how often it comes, and its order."""

    values: Any
    groups: Ints
    counts: Ints
    digits: Ints

    @classmethod
    def of(cls, rows: GroupedRows, call: Call) -> ValueCounts:
        """Count the values of an argument that are not null, once for all calls.

        The last argument, which is x or its texts, tells them apart and has their order.
        """
        x, key = call.args[0], call.args[-1]

        def make() -> ValueCounts:
            kept = np.flatnonzero(rows.valid(x))
            keys, codes = canonical(rows.column(key)).take(kept), rows.groups.codes[kept]
            distinct = encode_keys([pa.array(codes), keys], len(kept))
            first = distinct.first_rows
            values = (keys if key is x else rows.column(x).take(kept)).take(first)
            counts = np.bincount(distinct.codes, minlength=distinct.count)
            return cls(values, codes[first], counts, ordinal(keys.take(first), SortKey("x")))

        return rows.once(("value counts", x, key), make)

    def offsets(self, groups: int) -> Any:
        """Return where each group's values begin, with an end; null where it has none."""
        sizes = np.bincount(self.groups, minlength=groups)
        return pa.array(np.append(0, np.cumsum(sizes)), pa.int32(), mask=np.append(sizes == 0, False))


def mode(rows: GroupedRows, call: Call) -> Any:
    """The most frequent value that is not null, the least of those that tie."""
    counted = ValueCounts.of(rows, call)
    owners = replace(rows.groups, codes=counted.groups)
    selected_rows = least_rows(owners, np.arange(len(counted.counts)), [-counted.counts, counted.digits])
    return take_or_null(counted.values, selected_rows.rows)


def histogram(rows: GroupedRows, call: Call) -> Any:
    """The values, ascending, with their counts."""
    counted = ValueCounts.of(rows, call)
    order = np.lexsort([counted.digits, counted.groups])
    counts = pa.array(counted.counts[order])
    return pa.MapArray.from_arrays(counted.offsets(rows.groups.count), counted.values.take(order), counts)


def values_by_frequency(rows: GroupedRows, call: Call) -> Any:
    """The values, the most frequent first, of those that tie the least."""
    counted = ValueCounts.of(rows, call)
    order = np.lexsort([counted.digits, -counted.counts, counted.groups])
    return pa.ListArray.from_arrays(counted.offsets(rows.groups.count), counted.values.take(order))


def entropy(rows: GroupedRows, call: Call) -> Any:
    """The sum of p * log2(1 / p)."""
    counted, count = ValueCounts.of(rows, call), rows.groups.count
    totals = np.bincount(counted.groups, counted.counts, count)[counted.groups]
    terms = counted.counts / totals * np.log2(totals / counted.counts)
    sums = np.bincount(counted.groups, terms, count).astype(np.float64, copy=False)
    return from_masked(Masked(sums, np.ones(count, bool)), FLOAT64)


DISTRIBUTIONS = {
    "mode": mode,
    "histogram": histogram,
    "values_by_frequency": values_by_frequency,
    "entropy": entropy,
}
