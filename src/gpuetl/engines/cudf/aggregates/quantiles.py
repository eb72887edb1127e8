"""Quantiles: each group's values sorted, and the value at a place among them, linear between the two beside it."""

from __future__ import annotations

import struct

from gpuetl.engines.cudf.aggregates.groups import Groups
from gpuetl.engines.cudf.aggregates.runs import Runs
from gpuetl.engines.cudf.columns.validity import with_nulls
from gpuetl.engines.cudf.columns.written import empty_column
from gpuetl.engines.cudf.vector import Vector
from gpuetl.expressions.ir import Call, Expr, Literal
from gpuetl.types.data_types import FLOAT64


def median(groups: Groups, call: Call) -> Vector:
    """The middle of the values."""
    return quantile_at(groups, call.args[0], 0.5)


def quantile(groups: Groups, call: Call) -> Vector:
    """The quantile at a constant q."""
    assert isinstance(call.args[1], Literal)
    return quantile_at(groups, call.args[0], call.args[1].value)


def quantile_at(groups: Groups, x: Expr, q: float) -> Vector:
    """Return the quantile of a float64 column, sorted once for all its quantiles; NaN is the greatest value."""
    machine, count = groups.machine, groups.count
    runs = groups.once(("ascending", x), lambda: Runs.of(groups, groups.valid(x), [groups.key(x)]))
    made, nulls = empty_column(FLOAT64, count, machine), machine.arrays.zeros(1, "uint64")
    (bits,) = struct.unpack("<q", struct.pack("<d", q))
    arguments = [
        count,
        len(runs.rows),
        bits,
        runs.codes,
        runs.rows,
        groups.column(x).data,
        nulls,
        made.data,
        made.valid,
    ]
    machine.launch(machine.closed("groups"), "find_quantiles", count, arguments)
    return with_nulls(made, int(nulls[0]))
