"""Distinct values counted: as bits of a table where they range narrowly, else sorted within their groups."""

from __future__ import annotations

from gpuetl.engines.cudf.aggregates.edges import group_sizes
from gpuetl.engines.cudf.aggregates.groups import Groups
from gpuetl.engines.cudf.aggregates.runs import Runs
from gpuetl.engines.cudf.choices import chosen
from gpuetl.engines.cudf.columns.arrays import pick
from gpuetl.engines.cudf.columns.compact import numbers_where
from gpuetl.engines.cudf.columns.keys import Keys
from gpuetl.engines.cudf.columns.layout import Layout
from gpuetl.engines.cudf.columns.words import launch_placed, measured, placed
from gpuetl.engines.cudf.machine import Array
from gpuetl.engines.cudf.vector import Vector
from gpuetl.expressions.ir import Call
from gpuetl.types.data_types import NULL

BITS_A_ROW = 256
"""A table of bits may have so many for each row: no more memory than sorting takes."""
FEW_BITS = 1 << 23


def count_distinct(groups: Groups, call: Call) -> Vector:
    """Count each group's distinct values that are not null; NaN is one, and -0.0 is 0.0."""
    (x,) = call.args
    if x.dtype == NULL:
        return Vector(call.dtype, groups.count, groups.machine.arrays.zeros(groups.count, "int64"))
    counts = None
    if chosen("count_by_bits") and groups.frame.rows:
        keys = Keys((groups.key(x),), groups.frame.rows)
        counts = counted_by_bits(groups, keys, measured(keys, groups.machine))
    if counts is None:
        counts = counted_by_sorting(groups, call)
    return Vector(call.dtype, groups.count, counts)


def counted_by_sorting(groups: Groups, call: Call) -> Array:
    """Return each group's number (int64) of distinct values: the places where they begin, sorted."""
    (x,) = call.args
    runs = Runs.of(groups, groups.valid(x), [groups.key(x)])
    codes = pick(runs.codes, numbers_where(runs.new, groups.machine), groups.machine)
    return group_sizes(codes, groups.count, groups.machine)


def counted_by_bits(groups: Groups, keys: Keys, layout: Layout) -> Array | None:
    """Return each group's number (int64) of distinct values, None where their range is too wide for a table."""
    (key,), machine, arrays = keys.keys, groups.machine, groups.machine.arrays
    value = list(range(key.flagged, key.digits))
    words_a_group = -(-(1 << layout.width(value)) // 32)
    total = words_a_group * groups.count
    if total * 32 > max(FEW_BITS, BITS_A_ROW * groups.frame.rows):
        return None
    table, counts = arrays.zeros(total, "uint32"), arrays.zeros(groups.count, "uint64")
    digits = keys.described(machine)[key.flagged :]
    places = [placed(layout, value, digit, None, machine) for digit in value]
    launch_placed("distinct", "set_bits", keys, digits, places, [words_a_group, groups.codes, table], machine)
    machine.launch(machine.closed("distinct"), "count_bits", total // 32 + 32, [total, words_a_group, table, counts])
    return counts.view("int64")
