"""Generated inputs of a kernel, and what its twin gives for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.column import Masked, storage_type
from gpuetl.engines.pandas.relational.kernel import twin_outputs, twin_results
from gpuetl.engines.pandas.relational.segmented_scans import Segments
from gpuetl.plan.nodes import Kernel, KernelReduction
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType
from gpuetl.verify.tolerance import Tolerance

# Generated inputs: sizes around those of warps and blocks, values of every kind, groups of every shape.


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


# What the twin gives, and how far it moves when inputs move by as little as they can.


Operation = Kernel | KernelReduction
TRIALS = 8
SLACK = 64
"""A difference counts as rounding if a change of the inputs by this many units in the last place explains it."""
UNSTEADY = 1e-3
"""Where an input's neighbour moves a result by more than this part of it, and of the median, it is not compared."""
FLOAT32_RTOL = 1e-5
FLOAT32_TINY = float(np.finfo(np.float32).tiny)
"""Below it a GPU may have 0."""


@dataclass(frozen=True, eq=False)
class ExpectedOutput:
    """The twin's output of one name, what its rounding may be, and the rows in which it says nothing."""

    column: Masked
    rounding: NDArray[np.float64]
    unsteady: NDArray[np.bool_]

    def wrong(self, got: Masked) -> NDArray[np.bool_]:
        """Return the rows in which a result differs; NaN equals NaN, -0.0 equals 0.0."""
        a, b = got.values, self.column.values
        with np.errstate(all="ignore"):
            close = (a == b) | ((a != a) & (b != b))
            if b.dtype.kind == "f":
                close |= np.isfinite(b) & (np.abs(a.astype(np.float64) - b) <= self.rounding)
        same: NDArray[np.bool_] = (got.valid == self.column.valid) & (close | ~self.column.valid)
        return ~same & ~self.unsteady


def called(operation: Operation, inputs: Mapping[str, Masked], case: Case) -> dict[str, Masked]:
    """Call the twin as the pandas engine does; raise `EvaluationError` where it breaks its declaration."""
    with np.errstate(all="ignore"):
        if isinstance(operation, KernelReduction):
            assert case.starts is not None
            codes = np.repeat(np.arange(len(case.starts)), np.diff(case.starts, append=case.rows))
            return twin_results(operation, dict(inputs), codes, len(case.starts))
        segments = None if case.starts is None else Segments(case.starts, case.rows)
        return twin_outputs(operation, dict(inputs), segments, case.rows)


def expected_outputs(operation: Operation, case: Case, tolerance: Tolerance) -> dict[str, ExpectedOutput]:
    """Call the twin on the inputs, and on inputs whose floats are moved to a neighbour, up or down at random."""
    columns = called(operation, case.inputs, case)
    random = np.random.default_rng(case.rows)
    floats = any(column.values.dtype.kind == "f" for column in case.inputs.values())
    moved = [called(operation, neighbours(case.inputs, random), case) for _ in range(TRIALS * floats)]
    return {name: judged(column, [m[name] for m in moved], tolerance) for name, column in columns.items()}


def neighbours(inputs: Mapping[str, Masked], random: np.random.Generator) -> dict[str, Masked]:
    """Move each float other than 0 to a neighbour that is finite."""
    return {name: Masked(neighbour(column.values, random), column.valid) for name, column in inputs.items()}


def neighbour(values: NDArray[Any], random: np.random.Generator) -> NDArray[Any]:
    """Move floats; other values stay."""
    if values.dtype.kind != "f":
        return values
    target = np.where(random.random(len(values)) < 0.5, -np.inf, np.inf).astype(values.dtype)
    with np.errstate(all="ignore"):
        moved = np.nextafter(values, target)
        return np.where(np.isfinite(moved) & (values != 0), moved, values)


def judged(column: Masked, moved: list[Masked], tolerance: Tolerance) -> ExpectedOutput:
    """Return the output with its rounding: the tolerance, and `SLACK` times what a neighbour's result is away."""
    values, unsteady = column.values, np.zeros(len(column.values), bool)
    if values.dtype.kind != "f":
        for other in moved:
            unsteady |= (other.values != values) | (other.valid != column.valid)
        return ExpectedOutput(column, np.zeros(len(values)), unsteady)
    with np.errstate(all="ignore"):
        size, spread = np.abs(values.astype(np.float64)), np.zeros(len(values))
        finite = size[np.isfinite(size)]
        usual = np.maximum(size, np.median(finite) if len(finite) else 0.0)
        for other in moved:
            away = np.abs(other.values.astype(np.float64) - values)
            away[(other.values == values) | (np.isnan(other.values) & np.isnan(values))] = 0
            unsteady |= ~(away <= UNSTEADY * usual) & (away != 0)
            unsteady |= other.valid != column.valid
            spread = np.fmax(spread, away)
        rtol, atol = tolerance.rtol, tolerance.atol
        if values.itemsize == 4:
            rtol, atol = max(rtol, FLOAT32_RTOL), atol + FLOAT32_TINY
        return ExpectedOutput(column, rtol * size + atol + SLACK * spread, unsteady)
