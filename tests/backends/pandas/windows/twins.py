"""Naive twins of the window functions: one segment at a time, lists with None for null, unbounded ints.

`times` is a list of microseconds, or None where rows are not ordered by time; `starts` gives each row's frame
as the place of its first row in the segment.
"""

from fractions import Fraction
from math import fsum, inf, isfinite, isnan, nan, prod, sqrt

import numpy as np


def total(values):
    """Exact for ints; for floats rounded once, and IEEE where one is not finite."""
    if not values or not isinstance(values[0], float):
        return sum(values)
    return fsum(values) if all(map(isfinite, values)) else sum(values)


def product(values):
    """Exact for ints; for floats rounded once, and IEEE where one is not finite."""
    if not values or not isinstance(values[0], float) or not all(map(isfinite, values)):
        return prod(values)
    sign = prod(-1.0 if str(value).startswith("-") else 1.0 for value in values)
    exact = abs(prod(map(Fraction, values)))
    return sign * (inf if exact > Fraction(2) ** 1024 else float(exact))


def least(values):
    numbers = [value for value in values if not isnan(value)]
    return min(numbers) if numbers else nan


def greatest(values):
    return nan if any(map(isnan, values)) else max(values)


def mean(values):
    return total([float(value) for value in values]) / len(values)


def variance(values):
    if not all(map(isfinite, values)):
        return nan
    center = mean(values)
    return fsum((value - center) ** 2 for value in values) / (len(values) - 1)


def deviation(values):
    return sqrt(variance(values))


def present(values):
    return [value for value in values if value is not None]


def cumulative(aggregate, xs):
    return [None if x is None else aggregate(present(xs[: i + 1])) for i, x in enumerate(xs)]


def rolling(aggregate, xs, starts, at_least=1):
    frames = [present(xs[start : i + 1]) for i, start in enumerate(starts)]
    return [aggregate(frame) if len(frame) >= at_least else None for frame in frames]


def row_number(xs, times):
    return [i + 1 for i in range(len(xs))]


def rank(keys):
    return [1 + sum(before != key for before in keys[:i]) for i, key in enumerate(keys)]


def dense_rank(keys):
    return [len(set(keys[: i + 1])) for i in range(len(keys))]


def percent_rank(keys):
    return [(place - 1) / (len(keys) - 1) if len(keys) > 1 else 0.0 for place in rank(keys)]


def cume_dist(keys):
    return [max(j + 1 for j, other in enumerate(keys) if other == key) / len(keys) for key in keys]


def ntile(keys, n):
    size, longer = divmod(len(keys), n)
    return [number + 1 for number in range(n) for _ in range(size + (number < longer))]


def cum_count(xs, times):
    return cumulative(len, xs)


def cum_sum(xs, times):
    return cumulative(total, xs)


def cum_prod(xs, times):
    return cumulative(product, xs)


def cum_mean(xs, times):
    return cumulative(mean, xs)


def cum_min(xs, times):
    return cumulative(least, xs)


def cum_max(xs, times):
    return cumulative(greatest, xs)


def lag(xs, times, offset, ignore_nulls=False):
    if offset == 0:
        return xs
    return [([None] * offset + counted(xs[:i], ignore_nulls))[-offset] for i in range(len(xs))]


def lead(xs, times, offset, ignore_nulls=False):
    if offset == 0:
        return xs
    return [(counted(xs[i + 1 :], ignore_nulls) + [None] * offset)[offset - 1] for i in range(len(xs))]


def first(xs, times, ignore_nulls=False):
    return [(counted(xs, ignore_nulls) or [None])[0]] * len(xs)


def last(xs, times, ignore_nulls=False):
    return [(counted(xs, ignore_nulls) or [None])[-1]] * len(xs)


def counted(xs, ignore_nulls):
    return present(xs) if ignore_nulls else xs


def ffill(xs, times):
    return [(present(xs[: i + 1]) or [None])[-1] for i in range(len(xs))]


def bfill(xs, times):
    return [(present(xs[i:]) or [None])[0] for i in range(len(xs))]


def pct_change(xs, times, offset):
    return [
        None if x is None or before is None else quotient(x, before) - 1
        for x, before in zip(xs, lag(xs, times, offset), strict=True)
    ]


def quotient(x, y):
    with np.errstate(all="ignore"):
        return float(np.float64(x) / np.float64(y))


def diff(xs, times, offset):
    pairs = zip(xs, lag(xs, times, offset), strict=True)
    return [None if x is None or before is None else x - before for x, before in pairs]


def decayed(xs, times, half_life, is_mean):
    result, y, counted_at = [], None, None
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


def ewm_mean(xs, times, half_life=None, span=None, alpha=None):
    if half_life is None:
        return averaged(xs, alpha or 2 / (span + 1))
    return decayed(xs, times, half_life, is_mean=True)


def averaged(xs, alpha):
    result, y = [], None
    for x in xs:
        if x is not None and (y is None or not isfinite(y) or not isfinite(x)):
            y = x if y is None else (0.0 if isfinite(y) else y) + (0.0 if isfinite(x) else x)
        elif x is not None:
            y = (1 - alpha) * y + alpha * x
        result.append(None if x is None else y)
    return result


def decayed_sum(xs, times, half_life):
    return decayed(xs, times, half_life, is_mean=False)


def session_id(xs, times, gap):
    result, session, before = [], 0, None
    for time in times:
        if time is None:
            result.append(None)
            continue
        if before is not None and time - before > gap:
            session += 1
        before = time
        result.append(session)
    return result


def rolling_count(xs, times, starts):
    return rolling(len, xs, starts, at_least=0)


def rolling_sum(xs, times, starts):
    return rolling(total, xs, starts)


def rolling_mean(xs, times, starts):
    return rolling(mean, xs, starts)


def rolling_min(xs, times, starts):
    return rolling(least, xs, starts)


def rolling_max(xs, times, starts):
    return rolling(greatest, xs, starts)


def rolling_var(xs, times, starts):
    return rolling(variance, xs, starts, at_least=2)


def rolling_std(xs, times, starts):
    return rolling(deviation, xs, starts, at_least=2)


def frame_starts_by_rows(n_rows, rows):
    return [max(0, i - rows + 1) for i in range(n_rows)]


def frame_starts_by_interval(times, interval):
    starts = []
    for i, now in enumerate(times):
        in_frame = [
            j
            for j in range(i + 1)
            if (times[j] is None if now is None else times[j] is not None and times[j] >= now - interval)
        ]
        starts.append(in_frame[0])
    return starts
