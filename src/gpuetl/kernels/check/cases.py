"""Generated inputs: sizes around those of warps and blocks, values of every kind, groups of every shape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.masked import Masked, storage_type
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType

SIZES = (0, 1, 31, 32, 33, 1023, 1_000_000)
"""Rows: none, one, those of a warp and one off, those of a block and one off, and many blocks."""
SHAPES = ("one group", "a group a row", "skewed groups")
DAYS, MICROSECONDS = 36_500, 2**51
"""How far ordinary times are from 1970: a century, and 71 years."""
ROOM_FOR_SUMS = 2**32
"""More than there are rows."""


@dataclass(frozen=True, eq=False)
class Case:
    """Inputs of so many rows; `starts` are the first rows of the groups, None where rows stand alone."""

    rows: int
    values: str
    shape: str
    inputs: Mapping[str, Masked]
    starts: NDArray[np.int64] | None

    def __str__(self) -> str:
        return ", ".join([f"{self.rows:,} rows", f"{self.values} values", *[self.shape] * bool(self.shape)])


def cases(
    types: Mapping[str, DataType], grouped: bool, nulls: bool, sizes: Iterable[int], combined: bool = False
) -> Iterator[Case]:
    """Yield inputs of these types, the same in every run.

    Ordinary values are small; extreme ones are mixed with NaN, infinities and what is greatest and least.  Where there
    are `nulls`, a quarter of the rows is null; what stands under them is no zero.  Where rows are `combined` in any
    grouping, finite floats leave room for sums of them: whether one overflows would depend on the grouping.
    """
    for rows in sizes:
        for values in ("ordinary", "extreme") if rows else ("no",):
            for shape in SHAPES if grouped else ("",):
                random = np.random.default_rng([rows, values == "extreme", *shape.encode()])
                inputs = {
                    name: Masked(
                        draw(dtype, rows, values == "extreme", random, combined), validity(rows, nulls, random)
                    )
                    for name, dtype in types.items()
                }
                yield Case(rows, values, shape, inputs, group_starts(shape, rows) if grouped else None)


def validity(rows: int, nulls: bool, random: np.random.Generator) -> NDArray[np.bool_]:
    """Return which rows are valid."""
    return random.random(rows) >= 0.25 if nulls else np.ones(rows, bool)


def group_starts(shape: str, rows: int) -> NDArray[np.int64]:
    """Return each group's first row: none is empty.  Skewed groups halve the rows that are left, then have one each."""
    if shape == "a group a row":
        return np.arange(rows)
    starts, left = [0] * bool(rows), rows
    while shape == "skewed groups" and left > 1:
        starts.append(starts[-1] + (left + 1) // 2)
        left //= 2
    return np.array(starts, np.int64)


def draw(
    dtype: DataType, rows: int, extreme: bool, random: np.random.Generator, combined: bool = False
) -> NDArray[Any]:
    """Return values of a column as they are stored."""
    values = ordinary(dtype, rows, random)
    if extreme and rows:
        special = extremes(dtype, values.dtype, ROOM_FOR_SUMS if combined else 1)
        places = np.flatnonzero(random.random(rows) < 0.25)
        values[places] = random.choice(special, len(places))
        values[random.integers(rows)] = random.choice(special)
    return values


def ordinary(dtype: DataType, rows: int, random: np.random.Generator) -> NDArray[Any]:
    """Return small values: floats of several magnitudes, integers that do not overflow soon."""
    kind = np.dtype(storage_type(dtype).to_pandas_dtype())
    if kind.kind == "f":
        return (random.normal(size=rows) * 10.0 ** random.integers(-2, 3, rows)).astype(kind)
    if kind.kind == "b":
        return random.random(rows) < 0.5
    most = DAYS if pa.types.is_date(dtype) else MICROSECONDS if pa.types.is_temporal(dtype) else 100
    return random.integers(0 if kind.kind == "u" else -most, most, rows, endpoint=True).astype(kind)


def extremes(dtype: DataType, kind: np.dtype[Any], room: int = 1) -> NDArray[Any]:
    """Return the values at which kernels go wrong; finite floats are at most the greatest one by `room`."""
    if kind.kind == "b":
        return np.array([False, True])
    if kind.kind == "f":
        info = np.finfo(kind)
        numbers = [np.nan, np.inf, -np.inf, 0.0, -0.0, info.max / room, info.min / room, info.tiny, 1.0]
        small = [info.smallest_subnormal] * (kind.itemsize == 8)  # of float32 CuPy's compilation flushes them
        return np.array([*numbers, *small], kind)
    if pa.types.is_date(dtype):
        return np.array([-719162, 2932896, 0, -1], kind)  # the years 1 and 9999
    bounds = np.iinfo(kind)
    return np.array([bounds.min, bounds.max, 0, 1, bounds.max // 2], kind)
