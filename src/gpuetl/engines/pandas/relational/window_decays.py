"""Window functions in which earlier rows weigh less, by a half-life in seconds or in rows, or by a share a row.

What `window_functions` says of all of them holds here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import Masked
from gpuetl.engines.pandas.relational.segmented_scans import Ints, States, integer_frame_sums
from gpuetl.engines.pandas.relational.window_frames import add
from gpuetl.engines.pandas.relational.window_rows import WindowRows, continues, microseconds_since
from gpuetl.records import dataclass

Floats = NDArray[np.float64]

MICROSECONDS_PER_SECOND = 1e6


def compose(left: States, right: States) -> States:
    """Return the function ``y -> a * y + b`` that applies `left`, then `right`."""
    return left[0] * right[0], right[0] * left[1] + right[1]


def decayed_mean(
    rows: WindowRows,
    x: Masked,
    half_life: float | None = None,
    span: float | None = None,
    alpha: float | None = None,
) -> Masked:
    """Return the decaying mean ``y = (1 - a) * y_before + a * x``, by one of three ways to say `a`.

    `half_life`: ``a = 1 - 2**(-d / half_life)`` with `d` the seconds since the row that was counted last where rows
    have a time, else 1.  `span`: ``a = 2 / (span + 1)``, whatever the time; `alpha` is `a` itself.

    The first `x` of a segment is its first y.  A null `x`, or for a half-life a null time, gives null and is skipped.
    From its first inf or NaN on, a segment's y is the sum of the infs and NaNs so far, whatever their weight: an inf
    is never forgotten, even when its decay underflows to 0, inf and -inf make NaN, and NaN poisons.
    """
    if half_life is None:
        return _mean_by_row(rows, x, alpha if span is None else 2 / (_checked(span, "span", 1, math.inf) + 1))
    counted = _counted(rows, x)
    exponent = _decay_exponents(rows, counted, half_life)
    weight = -np.expm1(exponent * math.log(2))  # 1 - 2**exponent would cancel for a d far below the half-life
    return _decay(rows, x, counted, np.exp2(exponent), weight)


def _mean_by_row(rows: WindowRows, x: Masked, alpha: float | None) -> Masked:
    """Return the mean in which each counted row has the weight `alpha`."""
    weight = _checked(alpha, "alpha", math.ulp(0), 1)
    counted = np.flatnonzero(x.valid)
    continued = continues(rows, counted)
    return _decay(rows, x, counted, np.where(continued, 1 - weight, 0.0), np.where(continued, weight, 1.0))


def _checked(value: float | None, name: str, least: float, greatest: float) -> float:
    """Return `value`; raise `ValueError` unless it is between two numbers, and finite."""
    if value is None or not (least <= value <= greatest and math.isfinite(value)):
        raise ValueError(f"{name} must be from {least} to {greatest}, got {value}")
    return value


def decayed_sum(
    rows: WindowRows,
    x: Masked,
    half_life: float | None = None,
    span: float | None = None,
    alpha: float | None = None,
) -> Masked:
    """Return ``y = 2**(-d / half_life) * y_before + x``, or ``(1 - a) * y_before + x``; more in `decayed_mean`."""
    if half_life is None:
        weight = _checked(alpha if span is None else 2 / (span + 1), "alpha", math.ulp(0), 1)
        valued = np.flatnonzero(x.valid)
        left = np.where(continues(rows, valued), 1 - weight, 0.0)
        return _decay(rows, x, valued, left, np.ones_like(left))
    counted = _counted(rows, x)
    exponent = _decay_exponents(rows, counted, half_life)
    return _decay(rows, x, counted, np.exp2(exponent), np.ones_like(exponent))


def _counted(rows: WindowRows, x: Masked) -> Ints:
    """Return the rows that a decay counts: non-null `x`, at a non-null time where there is time."""
    return np.flatnonzero(x.valid if rows.time is None else x.valid & rows.time.valid)


@np.errstate(over="ignore", under="ignore")
def _decay_exponents(rows: WindowRows, counted: Ints, half_life: float) -> Floats:
    """Return ``-d / half_life`` of each counted row, -inf for a segment's first, which forgets all before."""
    if not 0 < half_life < math.inf:
        raise ValueError(f"half_life must be a positive, finite number, got {half_life}")
    elapsed = np.ones(len(counted))
    if rows.time is not None:
        elapsed = microseconds_since(rows.time, counted) / MICROSECONDS_PER_SECOND
    return np.where(continues(rows, counted), -elapsed / half_life, -np.inf)


@np.errstate(under="ignore")
def _decay(rows: WindowRows, x: Masked, counted: Ints, decays: Floats, weight: Floats) -> Masked:
    """Return ``y = decays * y_before + weight * x`` over the counted rows of each segment."""
    values = x.values[counted].astype(np.float64)
    finite = np.isfinite(values)
    decay = _spread(rows, counted, decays, 1.0)
    fresh = _spread(rows, counted, weight * np.where(finite, values, 0), 0.0)
    result, valid = rows.segments.scan(compose, decay, fresh)[1], _spread(rows, counted, True, False)
    if finite.all():
        return Masked(result, valid)
    # By themselves: a product of decays that underflows would turn an inf into NaN.
    endless = _spread(rows, counted, np.where(finite, 0, values), 0.0)
    return Masked(result + rows.segments.scan(add, endless)[0], valid)


def _spread(rows: WindowRows, counted: Ints, values: Any, elsewhere: Any) -> NDArray[Any]:
    """Return a column with `values` in the counted rows and one value in all others."""
    column = np.full(rows.segments.n_rows, elsewhere)
    column[counted] = values
    return column


# Variances.


LEAST_PAIR = 2.0**-900
"""Below it beside one, what all other rows weigh is nothing: what is calculated of it would have too few digits."""


def merge_weighted(left: States, right: States) -> States:
    """Return what is left of earlier rows, and the moments of all: weight, pairs, mean and squares.

    `pairs` is the sum over all pairs of rows of twice the product of their weights: the square of the sum of weights
    less the sum of their squares, without a difference.  `squares` is the weighted sum of squared deviations.  Moments
    are merged pairwise (Chan, Golub & LeVeque 1983, "Algorithms for Computing the Sample Variance"), with weights
    that fade (Finch 2009, "Incremental calculation of weighted mean and variance").
    """
    rest, before, pairs, mean, squares = left
    faded, weight = right[0] * before, right[1]
    total = faded + weight
    divisor = np.where(total > 0, total, 1)
    delta, share = right[3] - mean, weight / divisor
    return (
        right[0] * rest,
        total,
        right[0] * right[0] * pairs + right[2] + 2 * faded * weight,
        # From the side that weighs more: one that weighs nothing must not cost the other its digits.
        np.where(share > 0.5, right[3] - delta * (faded / divisor), mean + delta * share),
        right[0] * squares + right[4] + delta * faded * share * delta,
    )


@dataclass(frozen=True)
class Fading:
    """The weights of a decaying variance: those of `decayed_mean`, or, with `adjust`, of 1 for each new row.

    Nulls are skipped.  With `adjust` and without `ignore_nulls`, rows of nulls count for the decay by rows.
    """

    half_life: float | None = None
    span: float | None = None
    alpha: float | None = None
    adjust: bool = False
    ignore_nulls: bool = True
    bias: bool = False

    @property
    def row_weight(self) -> float:
        """The share that a new row has of all, where it does not depend on time."""
        if self.half_life is not None:
            return -math.expm1(-math.log(2) / self.half_life)
        alpha = self.alpha if self.span is None else 2 / (_checked(self.span, "span", 1, math.inf) + 1)
        return _checked(alpha, "alpha", math.ulp(0), 1)

    def counted(self, rows: WindowRows, x: Masked) -> Ints:
        """Return the rows that have a value, and a time where they need it."""
        return np.flatnonzero(x.valid) if self.half_life is None else _counted(rows, x)

    def weights(self, rows: WindowRows, counted: Ints) -> tuple[Floats, Floats]:
        """Return what each row leaves of the weight of earlier ones, and its own weight."""
        if self.half_life is not None:
            exponent = _decay_exponents(rows, counted, self.half_life)
            left, share = np.exp2(exponent), -np.expm1(exponent * math.log(2))
        else:
            left = np.where(continues(rows, counted), 1 - self.row_weight, 0.0)
            share = np.where(left > 0, self.row_weight, 1.0)
        nulls_count = self.adjust and not self.ignore_nulls and (self.half_life is None or rows.time is None)
        fading = (
            np.full(rows.segments.n_rows, 1 - self.row_weight) if nulls_count else _spread(rows, counted, left, 1.0)
        )
        return fading, _spread(rows, counted, 1.0 if self.adjust else share, 0.0)


@dataclass(frozen=True, eq=False)
class Moments:
    """The weighted moments of the values so far, where there is one; `infinite` from the first inf or NaN on."""

    valid: NDArray[np.bool_]
    weight: Floats
    pairs: Floats
    mean: Floats
    squares: Floats
    infinite: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: WindowRows, x: Masked, fading: Fading, carried: Sequence[Masked] = ()) -> Moments:
        """Scan rows; those with a weight in `carried` (weight, pairs, squares) stand for others, whose mean is x."""
        counted = fading.counted(rows, x)
        left, weight = fading.weights(rows, counted)
        values = _spread(rows, counted, x.values[counted].astype(np.float64), 0.0)
        finite = np.isfinite(values)
        pairs, squares = np.zeros_like(values), np.zeros_like(values)
        valid = _spread(rows, counted, True, False)
        if carried:
            given = [np.where(column.valid, column.values, 0.0) for column in carried]
            is_carried = carried[0].valid & valid
            weight = np.where(is_carried, given[0], weight)
            pairs, squares = (np.where(is_carried, column, 0.0) for column in given[1:])
        with np.errstate(under="ignore"):
            states = rows.segments.scan(merge_weighted, left, weight, pairs, np.where(finite, values, 0.0), squares)
        infinite = integer_frame_sums(~finite, rows.segments.first_row) > 0
        _, total, total_pairs, mean, total_squares = states
        return cls(valid, total, total_pairs, mean, total_squares, infinite)

    def variance(self, bias: bool) -> Masked:
        """Return the variance; unless there is `bias`, null where a row has all of the weight."""
        known = self.valid
        divisor = np.where(self.weight > 0, self.weight, 1.0)
        if not bias:
            divisor = self.pairs / divisor
            known = known & (divisor > LEAST_PAIR)
        with np.errstate(over="ignore", invalid="ignore"):
            result = self.squares / np.where(known, divisor, 1)
        return Masked(np.where(self.infinite, np.nan, result), known)


def decayed_variance(rows: WindowRows, x: Masked, *arguments: Any, **options: Any) -> Masked:
    """Return the variance of the values so far, with the weights of `Fading`; NaN from the first inf or NaN on."""
    fading = Fading(*arguments, **options)
    return Moments.of(rows, x, fading).variance(fading.bias)


def decayed_deviation(rows: WindowRows, x: Masked, *arguments: Any, **options: Any) -> Masked:
    """Return the root of `decayed_variance`."""
    return _root(decayed_variance(rows, x, *arguments, **options))


def decayed_moment(rows: WindowRows, x: Masked, *carried: Masked, part: str, **options: Any) -> Masked:
    """Return `decayed_variance` or its root, or a part of the state, over rows of which some stand for others."""
    fading = Fading(**options)
    moments = Moments.of(rows, x, fading, carried)
    if part in ("variance", "deviation"):
        variance = moments.variance(fading.bias)
        return variance if part == "variance" else _root(variance)
    values: Floats = getattr(moments, part)
    return Masked(np.where(moments.infinite & (part == "mean"), np.nan, values), moments.valid)


def _root(variance: Masked) -> Masked:
    return Masked(np.sqrt(variance.values), variance.valid)
