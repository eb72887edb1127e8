"""Sums and moments of each group's values: exact sums, variances, covariances and correlations."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gpuetl.engines.no_result import sum_overflow
from gpuetl.engines.pandas.columns.column import Masked, from_masked, to_masked
from gpuetl.engines.pandas.columns.keys import Codes, Groups
from gpuetl.engines.pandas.expressions.decimals import halves, joined_halves
from gpuetl.engines.pandas.relational.grouping import grouped, reduced_chunks
from gpuetl.errors import EvaluationError
from gpuetl.records import dataclass
from gpuetl.types.data_types import DURATION, FLOAT64, INT64, DataType
from gpuetl.types.decimal_types import MAX_DIGITS

# Sums of each group's values: exact for integers, durations and decimals, also where they are added up in parts.


WIDE = pa.decimal128(MAX_DIGITS, 0)


def total(groups: Groups, values: Any) -> Any:
    """Sum each group's values, one after the other; integers exactly, whatever the order."""
    if pa.types.is_duration(values.type):
        return narrowed(lambda: total_integers(groups, values.cast(INT64)), DURATION)
    if pa.types.is_decimal(values.type):
        return narrowed(lambda: decimal_total(groups, values), sum_of(values.type))
    if values.type == INT64:
        return narrowed(lambda: total_integers(groups, values), INT64)
    return from_masked(reduced_chunks(groups, values, np.add, 0), values.type)


def narrowed(sums: Callable[[], Any], dtype: DataType) -> Any:
    """Return sums as `dtype`; raise `EvaluationError` where one leaves it, which Arrow or `joined_halves` tells."""
    try:
        found = sums()
        return found if found.type == dtype else found.cast(INT64).cast(dtype)
    except (pa.ArrowInvalid, EvaluationError):
        raise sum_overflow(dtype) from None


def sum_of(dtype: DataType) -> DataType:
    """Return the type of a sum of decimals."""
    return pa.decimal128(MAX_DIGITS, dtype.scale)


def total_integers(groups: Groups, values: Any) -> Any:
    """Sum int64 values: as they are where no sum can leave int64, else in 38 decimal digits."""
    if fits_int64(values):
        return from_masked(reduced_chunks(groups, values, np.add, 0), INT64)
    return grouped(groups, values.cast(WIDE), "sum")


def decimal_total(groups: Groups, values: Any) -> Any:
    """Sum decimals; in 76 digits where 38 might not hold the sum, since Acero wraps there and the cast raises."""
    sums = decimal_sums(groups, values)
    return sums if sums.type.bit_width == 128 else sums.cast(sum_of(values.type))


def decimal_sums(groups: Groups, values: Any) -> Any:
    """Sum decimals in 38 digits where that surely holds the sums, else in 76."""
    digits, scale = values.type.precision, values.type.scale
    if digits + len(str(len(values))) <= MAX_DIGITS:
        return grouped(groups, values, "sum")
    return grouped(groups, values.cast(pa.decimal256(2 * MAX_DIGITS, scale)), "sum")


def fits_int64(values: Any) -> bool:
    """Return whether no sum of any of the values can leave int64."""
    limits = pc.min_max(values).as_py()
    greatest = max(abs(limits["min"] or 0), abs(limits["max"] or 0))
    return bool(greatest * len(values) < 1 << 63)


def wide_total(groups: Groups, values: Any) -> Any:
    """Sum integers, or durations in microseconds, in 38 decimal digits."""
    return total_integers(groups, values.cast(INT64)).cast(WIDE)


def half_total(which: int) -> Callable[[Groups, Any], Any]:
    """Return the handler that sums the high (0) or the low (1) halves of decimals."""
    return lambda groups, values: grouped(groups, halves(values)[which], "sum")


def total_of_parts(dtype: DataType) -> Callable[[Groups, Any], Any]:
    """Return the handler that adds up what `wide_total` gave of parts, as `dtype`."""
    return lambda groups, parts: narrowed(lambda: grouped(groups, parts, "sum").cast(INT64), dtype)


def total_of_halves(groups: Groups, high: Any, low: Any) -> Any:
    """Add up what `half_total` gave of parts."""
    sums = [grouped(groups, half, "sum") for half in (high, low)]
    return narrowed(lambda: joined_halves(*sums), low.type)


SUMS: dict[str, Callable[..., Any]] = {
    "sum": total,
    "wide_sum": wide_total,
    "high_sum": half_total(0),
    "low_sum": half_total(1),
    "sum_of_wide": total_of_parts(INT64),
    "duration_of_wide": total_of_parts(DURATION),
    "sum_of_halves": total_of_halves,
}


# Variances, covariances and correlations, of rows, and of parts that were computed by themselves.
#
# The values are centered at one of their own before the mean is taken: equal values have deviations of exactly zero,
# however many there are and however they were split.


Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """The rows in which neither x nor y is null: the group of each, its values, and how many it stands for."""

    groups: int
    codes: Codes
    x: Floats
    y: Floats
    weights: Floats

    @classmethod
    def of(cls, groups: Groups, x: Any, y: Any, weights: Any = None) -> Pairs:
        """Take float64 columns."""
        left, right = to_masked(x), to_masked(y)
        kept = left.valid & right.valid
        counted = np.ones(len(kept)) if weights is None else to_masked(weights).values
        return cls(groups.count, groups.codes[kept], left.values[kept], right.values[kept], counted[kept])

    @cached_property
    def n(self) -> Floats:
        """The weight of each group."""
        return self.sums(self.weights)

    def sums(self, values: Floats) -> Floats:
        """Sum the values of each group's pairs, one after the other."""
        return np.bincount(self.codes, values, self.groups).astype(np.float64, copy=False)

    def centered(self, values: Floats) -> tuple[Floats, Floats]:
        """Return each group's mean, and each value's deviation from it."""
        pivots = np.zeros(self.groups)
        pivots[self.codes[::-1]] = values[::-1]
        shifted = values - pivots[self.codes]
        means = self.sums(self.weights * shifted) / np.maximum(self.n, 1)
        return pivots + means, shifted - means[self.codes]

    def co_moment(self, left: Floats, right: Floats) -> Floats:
        """Return each group's sum of products of deviations."""
        deviations = self.centered(left)[1]
        return self.sums(self.weights * deviations * (deviations if right is left else self.centered(right)[1]))


@np.errstate(over="ignore", invalid="ignore")
def center(groups: Groups, x: Any) -> Any:
    """Return each group's mean, exact where all its values are equal."""
    pairs = Pairs.of(groups, x, x)
    return from_masked(Masked(pairs.centered(pairs.x)[0], pairs.n > 0), FLOAT64)


@np.errstate(over="ignore", invalid="ignore")
def co_moment(groups: Groups, x: Any, y: Any) -> Any:
    """Return the sum of (x - mean x)(y - mean y) over each group's pairs."""
    pairs = Pairs.of(groups, x, y)
    right = pairs.x if y is x else pairs.y
    return from_masked(Masked(pairs.co_moment(pairs.x, right), pairs.n > 0), FLOAT64)


@np.errstate(over="ignore", invalid="ignore")
def merged_co_moment(groups: Groups, n: Any, x: Any, y: Any, moment: Any) -> Any:
    """Merge the co-moments of parts of `n` pairs each, whose means are `x` and `y`; a part of none is null.

    Chan, Golub & LeVeque 1983, "Algorithms for Computing the Sample Variance", for any number of parts at once.
    """
    pairs = Pairs.of(groups, x, y, n)
    within = np.bincount(groups.codes, to_masked(moment).values, groups.count)
    return from_masked(Masked(within + pairs.co_moment(pairs.x, pairs.y), pairs.n > 0), FLOAT64)


def covariance(ddof: int) -> Callable[[Groups, Any, Any], Any]:
    """Return the handler of a covariance; null where a group has not more than `ddof` pairs."""

    @np.errstate(over="ignore", invalid="ignore")
    def handler(groups: Groups, x: Any, y: Any) -> Any:
        pairs = Pairs.of(groups, x, y)
        moments = pairs.co_moment(pairs.x, pairs.x if y is x else pairs.y)
        return from_masked(Masked(moments / np.maximum(pairs.n - ddof, 1), pairs.n > ddof), FLOAT64)

    return handler


def variance(ddof: int, root: bool = False) -> Callable[[Groups, Any], Any]:
    """Return the handler of a variance, or of its root; null where a group has not more than `ddof` values."""

    def handler(groups: Groups, x: Any) -> Any:
        result = to_masked(covariance(ddof)(groups, x, x))
        return from_masked(Masked(np.sqrt(result.values) if root else result.values, result.valid), FLOAT64)

    return handler


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def correlation(groups: Groups, x: Any, y: Any) -> Any:
    """Pearson's correlation; NaN where x or y is constant, null where a group has fewer than 2 pairs."""
    pairs = Pairs.of(groups, x, y)
    scales = np.sqrt(pairs.co_moment(pairs.x, pairs.x)) * np.sqrt(pairs.co_moment(pairs.y, pairs.y))
    result = np.clip(pairs.co_moment(pairs.x, pairs.y) / scales, -1, 1)
    return from_masked(Masked(result, pairs.n > 1), FLOAT64)


VARIANCES: dict[str, Callable[..., Any]] = {
    "var": variance(1),
    "std": variance(1, root=True),
    "var_pop": variance(0),
    "std_pop": variance(0, root=True),
    "covar_samp": covariance(1),
    "covar_pop": covariance(0),
    "corr": correlation,
    "center": center,
    "co_moment": co_moment,
    "merged_co_moment": merged_co_moment,
}
