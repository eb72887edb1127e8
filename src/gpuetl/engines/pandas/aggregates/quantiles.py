"""Aggregates over the distribution of a group's values: quantiles and the mode.  NaN is the greatest value."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.pandas.aggregates.grouped_rows import GroupedRows, Ints
from gpuetl.engines.pandas.aggregates.picks import least_rows
from gpuetl.engines.pandas.columns.column import canonical
from gpuetl.engines.pandas.columns.gather import take_or_null
from gpuetl.engines.pandas.columns.keys import Groups, encode_keys
from gpuetl.engines.pandas.columns.masked import Masked, from_masked, to_masked
from gpuetl.engines.pandas.columns.order import ordinal
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.plan.node import SortKey
from gpuetl.records import dataclass
from gpuetl.types.data_types import FLOAT64

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ascending:
    """The values of all groups that are not null, group by group, ascending; `sizes` has how many each group has."""

    values: Floats
    sizes: Ints

    @classmethod
    def of(cls, groups: Groups, column: Any) -> Ascending:
        """Sort a float64 column: by value, then, as unique integers, by group and place."""
        masked = to_masked(canonical(column))
        codes, values = groups.codes[masked.valid], masked.values[masked.valid]
        by_value = np.argsort(values)
        values, places = values[by_value], codes[by_value] * len(values) + np.arange(len(values))
        places.sort()
        return cls(values[places % max(len(values), 1)], np.bincount(codes, minlength=groups.count))

    def quantile(self, q: float) -> Masked:
        """Return the value at q * (size - 1) of each group, linear between the two beside it."""
        place = q * np.maximum(self.sizes - 1, 0)
        low = np.floor(place).astype(np.int64)
        share = place - low
        starts = np.cumsum(self.sizes) - self.sizes
        padded, valid = np.append(self.values, 0.0), self.sizes > 0
        below = padded[np.where(valid, starts + low, -1)]
        above = padded[np.where(valid, starts + low + (share > 0), -1)]
        with np.errstate(invalid="ignore"):
            between = below * (1 - share) + above * share
        return Masked(np.where(below == above, below, between), valid)


def quantile(rows: GroupedRows, call: Call) -> Any:
    """The quantile at a constant q."""
    assert isinstance(call.args[1], Literal)
    return quantile_at(rows, call.args[0], call.args[1].value)


def median(rows: GroupedRows, call: Call) -> Any:
    """The middle of the values."""
    return quantile_at(rows, call.args[0], 0.5)


def quantile_at(rows: GroupedRows, argument: Expr, q: float) -> Any:
    """Return the quantile of a column, which is sorted once for all its quantiles."""
    ascending = rows.once(("ascending", argument), lambda: Ascending.of(rows.groups, rows.column(argument)))
    return from_masked(ascending.quantile(q), FLOAT64)


def mode(rows: GroupedRows, call: Call) -> Any:
    """The most frequent value that is not null, the least of those that tie."""
    column = canonical(rows.column(call.args[0]))
    kept = np.flatnonzero(rows.valid(call.args[0]))
    values = column.take(kept)
    codes = rows.groups.codes[kept]
    distinct = encode_keys([pa.array(codes), values], len(kept))
    owners = replace(rows.groups, codes=codes[distinct.first_rows])
    frequent = -np.bincount(distinct.codes, minlength=distinct.count)
    digits = [frequent, ordinal(values.take(distinct.first_rows), SortKey("x"))]
    picked = least_rows(owners, np.arange(distinct.count), digits)
    return take_or_null(values.take(distinct.first_rows), picked.rows)
