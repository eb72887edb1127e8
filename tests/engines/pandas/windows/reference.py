"""Naive versions of the window functions: one segment at a time, lists with None for null, unbounded ints.

`times` is a list of microseconds, or None where rows are not ordered by time; `starts` gives each row's frame
as the place of its first row in the segment.
"""

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from math import expm1, fsum, inf, isfinite, isnan, log, nan, prod, sqrt
from typing import Any, TypeAlias

import numpy as np

Number: TypeAlias = int | float
Column: TypeAlias = list[Any]
"""Values of one type, None for null."""
Times: TypeAlias = Sequence[int | None] | None


def total(values: Sequence[Number]) -> Number:
    """Exact for ints; for floats rounded once, and IEEE where one is not finite."""
    if not values or not isinstance(values[0], float):
        return sum(values)
    return fsum(values) if all(map(isfinite, values)) else sum(values)


def product(values: Sequence[Number]) -> Number:
    """Exact for ints; for floats rounded once, and IEEE where one is not finite."""
    if not values or not isinstance(values[0], float) or not all(map(isfinite, values)):
        return prod(values)
    sign = prod(-1.0 if str(value).startswith("-") else 1.0 for value in values)
    exact = abs(prod(map(Fraction, values), start=Fraction(1)))
    return sign * (inf if exact > Fraction(2**1024) else float(exact))


def least(values: Sequence[Number]) -> Number:
    numbers = [value for value in values if not isnan(value)]
    return min(numbers) if numbers else nan


def greatest(values: Sequence[Number]) -> Number:
    return nan if any(map(isnan, values)) else max(values)


def mean(values: Sequence[Number]) -> float:
    return total([float(value) for value in values]) / len(values)


def variance(values: Sequence[Number]) -> float:
    if not all(map(isfinite, values)):
        return nan
    center = mean(values)
    return fsum((value - center) ** 2 for value in values) / (len(values) - 1)


def deviation(values: Sequence[Number]) -> float:
    return sqrt(variance(values))


def present(values: Column) -> Column:
    return [value for value in values if value is not None]


def cumulative(aggregate: Callable[[Column], Any], xs: Column) -> Column:
    return [None if x is None else aggregate(present(xs[: i + 1])) for i, x in enumerate(xs)]


def rolling(aggregate: Callable[[Column], Any], xs: Column, starts: Sequence[int], at_least: int = 1) -> Column:
    frames = [present(xs[start : i + 1]) for i, start in enumerate(starts)]
    return [aggregate(frame) if len(frame) >= at_least else None for frame in frames]


def row_number(xs: Column, times: Times) -> Column:
    return [i + 1 for i in range(len(xs))]


def rank(keys: Sequence[Hashable]) -> list[int]:
    return [1 + sum(before != key for before in keys[:i]) for i, key in enumerate(keys)]


def dense_rank(keys: Sequence[Hashable]) -> list[int]:
    return [len(set(keys[: i + 1])) for i in range(len(keys))]


def percent_rank(keys: Sequence[Hashable]) -> list[float]:
    return [(place - 1) / (len(keys) - 1) if len(keys) > 1 else 0.0 for place in rank(keys)]


def cume_dist(keys: Sequence[Hashable]) -> list[float]:
    return [max(j + 1 for j, other in enumerate(keys) if other == key) / len(keys) for key in keys]


def ntile(keys: Sequence[Hashable], n: int) -> list[int]:
    size, longer = divmod(len(keys), n)
    return [number + 1 for number in range(n) for _ in range(size + (number < longer))]


def cum_count(xs: Column, times: Times) -> Column:
    return cumulative(len, xs)


def cum_sum(xs: Column, times: Times) -> Column:
    return cumulative(total, xs)


def cum_prod(xs: Column, times: Times) -> Column:
    return cumulative(product, xs)


def cum_mean(xs: Column, times: Times) -> Column:
    return cumulative(mean, xs)


def cum_min(xs: Column, times: Times) -> Column:
    return cumulative(least, xs)


def cum_max(xs: Column, times: Times) -> Column:
    return cumulative(greatest, xs)


def interpolate(xs: Column, times: Times) -> Column:
    known = [i for i, x in enumerate(xs) if x is not None]

    def line(i: int) -> Any:
        before, after = max((k for k in known if k < i), default=None), min((k for k in known if k > i), default=None)
        if xs[i] is not None or before is None or after is None:
            return xs[i]
        return xs[before] + (xs[after] - xs[before]) * ((i - before) / (after - before))

    return [line(i) for i in range(len(xs))]


def lag(xs: Column, times: Times, offset: int, ignore_nulls: bool = False) -> Column:
    if offset == 0:
        return xs
    return [([None] * offset + counted(xs[:i], ignore_nulls))[-offset] for i in range(len(xs))]


def lead(xs: Column, times: Times, offset: int, ignore_nulls: bool = False) -> Column:
    if offset == 0:
        return xs
    return [(counted(xs[i + 1 :], ignore_nulls) + [None] * offset)[offset - 1] for i in range(len(xs))]


def first(xs: Column, times: Times, ignore_nulls: bool = False) -> Column:
    return [(counted(xs, ignore_nulls) or [None])[0]] * len(xs)


def last(xs: Column, times: Times, ignore_nulls: bool = False) -> Column:
    return [(counted(xs, ignore_nulls) or [None])[-1]] * len(xs)


def nth_value(xs: Column, times: Times, n: int, ignore_nulls: bool = False) -> Column:
    return [(counted(xs, ignore_nulls) + [None] * n)[n - 1]] * len(xs)


def counted(xs: Column, ignore_nulls: bool) -> Column:
    return present(xs) if ignore_nulls else xs


def ffill(xs: Column, times: Times) -> Column:
    return [(present(xs[: i + 1]) or [None])[-1] for i in range(len(xs))]


def bfill(xs: Column, times: Times) -> Column:
    return [(present(xs[i:]) or [None])[0] for i in range(len(xs))]


def pct_change(xs: Column, times: Times, offset: int) -> Column:
    return [
        None if x is None or before is None else quotient(x, before) - 1
        for x, before in zip(xs, lag(xs, times, offset), strict=True)
    ]


def quotient(x: Number, y: Number) -> float:
    with np.errstate(all="ignore"):
        return float(np.float64(x) / np.float64(y))


def diff(xs: Column, times: Times, offset: int) -> Column:
    pairs = zip(xs, lag(xs, times, offset), strict=True)
    return [None if x is None or before is None else x - before for x, before in pairs]


def decayed(xs: Column, times: Times, half_life: float, is_mean: bool) -> Column:
    result: Column = []
    y, counted_at = None, 0
    for i, x in enumerate(xs):
        now = 0 if times is None else times[i]
        if x is None or now is None:
            result.append(None)
            continue
        elapsed = inf if y is None else 1.0 if times is None else (now - counted_at) / 1e6
        decay = 2.0 ** -(elapsed / half_life)
        weight = 1 - decay if is_mean else 1.0
        before = 0.0 if y is None else y
        if isfinite(before) and isfinite(x):
            y = decay * before + weight * x
        else:
            y = (0.0 if isfinite(before) else before) + (0.0 if isfinite(x) else x)
        counted_at = now
        result.append(y)
    return result


def ewm_mean(
    xs: Column, times: Times, half_life: float | None = None, span: float = nan, alpha: float | None = None
) -> Column:
    if half_life is None:
        return averaged(xs, alpha or 2 / (span + 1))
    return decayed(xs, times, half_life, is_mean=True)


def averaged(xs: Column, alpha: float) -> Column:
    result: Column = []
    y: Any = None
    for x in xs:
        if x is not None and (y is None or not isfinite(y) or not isfinite(x)):
            y = x if y is None else (0.0 if isfinite(y) else y) + (0.0 if isfinite(x) else x)
        elif x is not None:
            y = (1 - alpha) * y + alpha * x
        result.append(None if x is None else y)
    return result


def ewm_var(
    xs: Column,
    times: Times,
    half_life: float | None = None,
    span: float | None = None,
    alpha: float | None = None,
    adjust: bool = False,
    ignore_nulls: bool = True,
    bias: bool = False,
) -> Column:
    """By the weights of all rows so far, each row's own sums."""
    result: Column = []
    weights: list[float] = []
    counted_at = 0
    for row, x in enumerate(xs):
        own_times = times if half_life is not None else None
        timed = own_times is not None
        now = row if own_times is None else own_times[row]
        if x is None or now is None:
            result.append(None)
            if adjust and not ignore_nulls and not timed:
                left = 1 - (alpha or 2 / ((span or 1) + 1)) if half_life is None else 2.0 ** (-1 / half_life)
                weights = [weight * left for weight in weights]
            weights.append(0.0)
            continue
        share = alpha or 2 / ((span or 1) + 1)
        if half_life is not None:
            share = -expm1(-((now - counted_at) / 1e6 if timed else 1.0) / half_life * log(2))
        left = 1 - share
        begins = not any(xs[at] is not None and (own_times is None or own_times[at] is not None) for at in range(row))
        counted_at = now
        weights = [*(weight * left for weight in weights), 1.0 if adjust or begins else share]
        result.append(_weighted_variance([x if x is not None else 0.0 for x in xs[: row + 1]], weights, bias))
    return result


def _weighted_variance(xs: Sequence[float], weights: Sequence[float], bias: bool) -> Any:
    total, pairs = sum(weights), 2 * sum(a * b for i, a in enumerate(weights) for b in weights[:i])
    if not bias and pairs / total < 2.0**-900:
        return None
    if not all(isfinite(x) for x in xs):
        return nan
    mean = sum(x * w for x, w in zip(xs, weights, strict=True)) / total
    squares = sum((x - mean) ** 2 * w for x, w in zip(xs, weights, strict=True))
    return squares / (total if bias else pairs / total)


def ewm_std(xs: Column, times: Times, *arguments: Any) -> Column:
    return [None if value is None else value**0.5 for value in ewm_var(xs, times, *arguments)]


def decayed_sum(xs: Column, times: Times, half_life: float) -> Column:
    return decayed(xs, times, half_life, is_mean=False)


def session_id(xs: Column, times: Sequence[int | None], gap: int) -> list[int | None]:
    result: list[int | None] = []
    session, before = 0, None
    for time in times:
        if time is None:
            result.append(None)
            continue
        if before is not None and time - before > gap:
            session += 1
        before = time
        result.append(session)
    return result


def rolling_count(xs: Column, times: Times, starts: Sequence[int]) -> Column:
    return rolling(len, xs, starts, at_least=0)


def rolling_sum(xs: Column, times: Times, starts: Sequence[int]) -> Column:
    return rolling(total, xs, starts)


def rolling_mean(xs: Column, times: Times, starts: Sequence[int]) -> Column:
    return rolling(mean, xs, starts)


def rolling_min(xs: Column, times: Times, starts: Sequence[int]) -> Column:
    return rolling(least, xs, starts)


def rolling_max(xs: Column, times: Times, starts: Sequence[int]) -> Column:
    return rolling(greatest, xs, starts)


def rolling_var(xs: Column, times: Times, starts: Sequence[int]) -> Column:
    return rolling(variance, xs, starts, at_least=2)


def rolling_std(xs: Column, times: Times, starts: Sequence[int]) -> Column:
    return rolling(deviation, xs, starts, at_least=2)


def quantile(values: Sequence[Number], q: float) -> float:
    in_order = sorted(map(float, values), key=lambda value: (isnan(value), value))
    place = q * (len(in_order) - 1)
    below, above = in_order[int(place)], in_order[min(int(place) + (place > int(place)), len(in_order) - 1)]
    return below if below == above else below * (1 - place % 1) + above * (place % 1)


def rolling_median(xs: Column, times: Times, starts: Sequence[int]) -> Column:
    return rolling(lambda values: quantile(values, 0.5), xs, starts)


def rolling_quantile(xs: Column, times: Times, starts: Sequence[int], q: float = 0.3) -> Column:
    return rolling(lambda values: quantile(values, q), xs, starts)


def rolling_count_distinct(xs: Column, times: Times, starts: Sequence[int]) -> Column:
    return rolling(lambda values: len({"nan" if isnan(value) else value for value in values}), xs, starts, at_least=0)


def rolling_first(xs: Column, times: Times, starts: Sequence[int]) -> Column:
    return [xs[start] for start in starts]


def rolling_last(xs: Column, times: Times, starts: Sequence[int]) -> Column:
    return xs


def rolling_nth_value(xs: Column, times: Times, starts: Sequence[int]) -> Column:
    return [xs[start + 1] if start < row else None for row, start in enumerate(starts)]


def frame_starts_by_rows(n_rows: int, rows: int) -> list[int]:
    return [max(0, i - rows + 1) for i in range(n_rows)]


def frame_starts_by_interval(times: Sequence[int | None], interval: int) -> list[int]:
    starts = []
    for i, now in enumerate(times):
        in_frame = [
            j
            for j, earlier in enumerate(times[: i + 1])
            if (earlier is None if now is None else earlier is not None and earlier >= now - interval)
        ]
        starts.append(in_frame[0])
    return starts
