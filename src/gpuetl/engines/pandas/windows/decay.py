"""Window functions in which earlier rows weigh less, by a half-life in seconds or in rows.

What `functions` says of all window functions holds here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.masked import Masked
from gpuetl.engines.pandas.windows.combines import add, compose
from gpuetl.engines.pandas.windows.rows import WindowRows, continues, microseconds_since
from gpuetl.engines.pandas.windows.scans import Ints

Floats = NDArray[np.float64]

MICROSECONDS_PER_SECOND = 1e6


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


def decayed_sum(rows: WindowRows, x: Masked, half_life: float) -> Masked:
    """Return ``y = 2**(-d / half_life) * y_before + x``; `d`, nulls, inf and NaN as in `decayed_mean`."""
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
