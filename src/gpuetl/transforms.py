"""Transforms for `Table.fit`: `train.fit([transforms.fill("age", "median"), transforms.categorify("city")])`.

Each function returns one entry of a `fit` step.  `columns` are columns to replace: a name, or several.  A map of new
columns to columns adds them.  docs/features.md has an example of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from gpuetl.errors import InvalidPipeline
from gpuetl.spec.steps.fit import Transform, transforms_of
from gpuetl.spec.values import BadValue

Columns: TypeAlias = str | Sequence[str] | Mapping[str, str]

__all__ = [
    "bucketise", "categorify", "clip", "cross", "fill", "log", "min_max", "normalise", "one_hot", "target_encode",
]  # fmt: skip


def fill(columns: Columns, with_: Literal["mean", "median", "min", "max", "mode"] = "median") -> Transform:
    """Replace nulls by a statistic of the column."""
    return _transform("fill", columns=columns, **{"with": with_})


def clip(
    columns: Columns, *, lower: float | None = None, upper: float | None = None, lower_quantile: float | None = None,
    upper_quantile: float | None = None,
) -> Transform:  # fmt: skip
    """Move values to the nearest bound: a number, or a quantile of the rows that are fitted."""
    return _transform(
        "clip", columns=columns, lower=lower, upper=upper, lower_quantile=lower_quantile, upper_quantile=upper_quantile
    )


def log(columns: Columns) -> Transform:
    """The natural logarithm of one plus the value."""
    return _transform("log", columns=columns)


def normalise(columns: Columns) -> Transform:
    """Subtract the mean and divide by the standard deviation; 0 where all values are equal."""
    return _transform("normalise", columns=columns)


def min_max(columns: Columns) -> Transform:
    """Map the least value to 0 and the greatest to 1."""
    return _transform("min_max", columns=columns)


def bucketise(columns: Columns, buckets: int | None = None, *, boundaries: Sequence[float] | None = None) -> Transform:
    """The number of the bucket of each value, from 0: by quantiles, or by boundaries."""
    return _transform("bucketise", columns=columns, buckets=buckets, boundaries=boundaries)


def categorify(
    columns: Columns, *, min_count: int | None = None, most: int | None = None, unknown_buckets: int | None = None,
    joint: bool | None = None,
) -> Transform:  # fmt: skip
    """Number values by frequency, as int32: 0 is null, 1 to `unknown_buckets` are unknown values."""
    return _transform(
        "categorify", columns=columns, min_count=min_count, most=most, unknown_buckets=unknown_buckets, joint=joint
    )


def target_encode(
    columns: Columns, target: str, *, smoothing: float | None = None, folds: int | None = None,
    fold_by: str | Sequence[str] | None = None, seed: int | None = None,
) -> Transform:  # fmt: skip
    """The smoothed mean of a target per category, of the other folds for the rows that are fitted."""
    return _transform(
        "target_encode", columns=columns, target=target, smoothing=smoothing, folds=folds, fold_by=fold_by, seed=seed
    )


def one_hot(column: str, values: Sequence[str], *, prefix: str | None = None) -> Transform:
    """A column of 0 and 1 for each listed value."""
    return _transform("one_hot", column=column, values=values, prefix=prefix)


def cross(columns: Sequence[str], buckets: int, name: str) -> Transform:
    """A hash of several columns, from 0 to `buckets` - 1."""
    return _transform("cross", columns=columns, buckets=buckets, name=name)


def _transform(verb: str, **keys: Any) -> Transform:
    """Return a transform with the keys that are given.

    Raises
    ------
    InvalidPipeline
        For a key that does not take its value.
    """
    given = {name: list(value) if _is_list(value) else value for name, value in keys.items() if value is not None}
    try:
        return transforms_of([{verb: given}])[0]
    except BadValue as error:
        first = error.each[0]
        raise InvalidPipeline.because(first.message, first.hint, verb) from None


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
