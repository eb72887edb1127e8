"""What partitions carry of means, divided: only the planner calls these."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import Masked, from_masked, over_columns, to_masked
from gpuetl.engines.pandas.expressions.decimals import units_of_halves
from gpuetl.engines.pandas.expressions.means import decimal_limbs, nearest_floats, nearest_integers
from gpuetl.types.data_types import DURATION, FLOAT64, DataType


def exact_mean(count: Any, total: Any, high: Any = None) -> Any:
    """Return the float64 nearest to a total by its count; `high` counts 10^19 units more of the total's."""
    nearest = partial(nearest_floats, scale=total.type.scale)

    def mean(count: Any, total: Any, *high: Any) -> Any:
        return divided(nearest, count, units_of_halves(high[0], total) if high else total, FLOAT64)

    return over_columns(mean, count, total, *([] if high is None else [high]))


def exact_duration_mean(count: Any, total: Any) -> Any:
    """Return the duration nearest to a total of microseconds by its count."""
    return over_columns(lambda count, total: divided(nearest_integers, count, total, DURATION), count, total)


def divided(nearest: Callable[..., NDArray[Any]], count: Any, units: Any, dtype: DataType) -> Any:
    """Divide columns of decimals' units by those of counts; null where either is."""
    counts = to_masked(count)
    valid = counts.valid & units.is_valid().to_numpy(zero_copy_only=False)
    return from_masked(Masked(nearest(decimal_limbs(units), np.maximum(counts.values, 1)), valid), dtype)


HANDLERS: dict[str, Callable[..., Any]] = {"exact_mean": exact_mean, "exact_duration_mean": exact_duration_mean}
