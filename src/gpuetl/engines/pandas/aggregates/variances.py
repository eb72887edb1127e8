"""Variances, covariances and correlations, of rows, and of parts that were computed by themselves.

The values are centered at one of their own before the mean is taken: equal values have deviations of exactly zero,
however many there are and however they were split.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.keys import Codes, Groups
from gpuetl.engines.pandas.columns.masked import Masked, from_masked, to_masked
from gpuetl.records import dataclass
from gpuetl.types.data_types import FLOAT64

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
