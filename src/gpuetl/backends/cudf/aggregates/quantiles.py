"""Quantiles: each group's values sorted, and the value at a place among them, linear between the two beside it."""

from __future__ import annotations

from gpuetl.backends.cudf.aggregates.groups import Groups
from gpuetl.backends.cudf.aggregates.runs import Runs
from gpuetl.backends.cudf.columns.validity import with_valid
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.expressions.types import FLOAT64


def median(groups: Groups, call: Call) -> Vector:
    """The middle of the values."""
    return quantile_at(groups, call.args[0], 0.5)


def quantile(groups: Groups, call: Call) -> Vector:
    """The quantile at a constant q."""
    assert isinstance(call.args[1], Literal)
    return quantile_at(groups, call.args[0], call.args[1].value)


def quantile_at(groups: Groups, x: Expr, q: float) -> Vector:
    """Return the quantile of a float64 column, sorted once for all its quantiles; NaN is the greatest value."""
    arrays = groups.machine.arrays
    runs = groups.once(("ascending", x), lambda: Runs.of(groups, groups.valid(x), [groups.key(x)]))
    bounds = arrays.searchsorted(runs.codes, arrays.arange(groups.count + 1, dtype="int32"))
    sizes, starts = bounds[1:] - bounds[:-1], bounds[:-1]
    valid = sizes > 0
    place = q * arrays.maximum(sizes - 1, 0)
    low = arrays.floor(place).astype("int64")
    share = place - low
    values = arrays.concatenate([groups.column(x).data[runs.rows], arrays.zeros(1, "float64")])
    below = values[arrays.where(valid, starts + low, -1)]
    above = values[arrays.where(valid, starts + low + (share > 0), -1)]
    same = below == above
    between = arrays.where(same, 0.0, below) * (1 - share) + arrays.where(same, 0.0, above) * share
    data = arrays.where(valid, arrays.where(same, below, between), 0.0) + 0.0
    return with_valid(Vector(FLOAT64, groups.count, data), valid, groups.machine)
