"""Third and fourth moments, skewness and kurtosis; of rows, and of parts that were computed by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import Masked, from_masked, to_masked
from gpuetl.engines.pandas.columns.keys import Groups
from gpuetl.engines.pandas.relational.aggregate_sums import Floats, Pairs
from gpuetl.records import dataclass
from gpuetl.types.data_types import FLOAT64


@dataclass(frozen=True, eq=False)
class Moments:
    """Each group's number of values, and sums of powers of their deviations from its mean."""

    n: Floats
    second: Floats
    third: Floats
    fourth: Floats

    @classmethod
    def of(cls, groups: Groups, x: Any) -> Moments:
        """Take a float64 column."""
        pairs = Pairs.of(groups, x, x)
        deviations = pairs.centered(pairs.x)[1]
        second, third, fourth = (pairs.sums(deviations**power) for power in (2, 3, 4))
        return cls(pairs.n, second, third, fourth)

    @classmethod
    def merged(cls, groups: Groups, n: Any, mean: Any, *moments: Any) -> Moments:
        """Merge the moments of parts of `n` values each; a part of none is null."""
        pairs = Pairs.of(groups, mean, mean, n)
        kept = to_masked(mean).valid
        second, third, fourth = (to_masked(moment).values[kept] for moment in moments)
        d, weights = pairs.centered(pairs.x)[1], pairs.weights
        return cls(
            pairs.n,
            pairs.sums(second + weights * d**2),
            pairs.sums(third + d * (3 * second + weights * d**2)),
            pairs.sums(fourth + d * (4 * third + d * (6 * second + weights * d**2))),
        )

    def skewness(self) -> Masked:
        """Of a sample; null of fewer than 3 values, and of equal ones."""
        n, found = self.n, (self.n > 2) & (self.second != 0)
        return Masked(np.sqrt(n - 1) * n / (n - 2) * (self.third / (self.second * np.sqrt(self.second))), found)

    def kurtosis(self) -> Masked:
        """Of a sample; null of fewer than 4 values, and of equal ones."""
        n, found = self.n, (self.n > 3) & (self.second != 0)
        return Masked((n - 1) * ((n + 1) * self.tails() - 3 * (n - 1)) / ((n - 2) * (n - 3)), found)

    def kurtosis_pop(self) -> Masked:
        """Of the values themselves; null of equal ones."""
        return Masked(self.tails() - 3, (self.n > 1) & (self.second != 0))

    def tails(self) -> NDArray[np.float64]:
        """Return the fourth moment by the square of the second."""
        return self.n * (self.fourth / (self.second * self.second))


def result(read: Callable[[Moments], Masked], moments: Callable[..., Moments] = Moments.of) -> Callable[..., Any]:
    """Return the handler of what is read of moments."""

    @np.errstate(all="ignore")
    def handler(groups: Groups, *columns: Any) -> Any:
        read_moments = read(moments(groups, *columns))
        values = np.where(read_moments.valid, read_moments.values, 0.0)
        return from_masked(Masked(values, read_moments.valid), FLOAT64)

    return handler


def third(moments: Moments) -> Masked:
    """Return the sum of third powers; null of no values."""
    return Masked(moments.third, moments.n > 0)


def fourth(moments: Moments) -> Masked:
    """Return the sum of fourth powers; null of no values."""
    return Masked(moments.fourth, moments.n > 0)


MOMENTS: dict[str, Callable[..., Any]] = {
    "skewness": result(Moments.skewness),
    "kurtosis": result(Moments.kurtosis),
    "kurtosis_pop": result(Moments.kurtosis_pop),
    "third_moment": result(third),
    "fourth_moment": result(fourth),
    "merged_third": result(third, Moments.merged),
    "merged_fourth": result(fourth, Moments.merged),
}
