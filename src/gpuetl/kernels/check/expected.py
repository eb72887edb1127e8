"""What the twin gives, and how far it moves when inputs move by as little as they can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.pandas.columns.masked import Masked
from gpuetl.engines.pandas.operations.kernel import twin_outputs
from gpuetl.engines.pandas.operations.kernel_reduction import twin_results
from gpuetl.engines.pandas.windows.segments import Segments
from gpuetl.kernels.check.cases import Case
from gpuetl.plan.nodes import Kernel, KernelReduction
from gpuetl.records import dataclass
from gpuetl.verify.tolerance import Tolerance

Operation = Kernel | KernelReduction
TRIALS = 8
SLACK = 64
"""A difference that inputs so many units in the last place apart would explain is rounding."""
UNSTEADY = 1e-3
"""Where an input's neighbour moves a result by more than this part of it, and of the median, it is not compared."""
FLOAT32_RTOL = 1e-5
FLOAT32_TINY = float(np.finfo(np.float32).tiny)
"""Below it a GPU may have 0."""


@dataclass(frozen=True, eq=False)
class Expected:
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


def expected_outputs(operation: Operation, case: Case, tolerance: Tolerance) -> dict[str, Expected]:
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


def judged(column: Masked, moved: list[Masked], tolerance: Tolerance) -> Expected:
    """Return the output with its rounding: the tolerance, and `SLACK` times what a neighbour's result is away."""
    values, unsteady = column.values, np.zeros(len(column.values), bool)
    if values.dtype.kind != "f":
        for other in moved:
            unsteady |= (other.values != values) | (other.valid != column.valid)
        return Expected(column, np.zeros(len(values)), unsteady)
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
        return Expected(column, rtol * size + atol + SLACK * spread, unsteady)
