"""The keys of a join's two sides as numbers: equal keys get equal codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpuetl.backends.cudf.columns.concat import stacked
from gpuetl.backends.cudf.columns.order import changes
from gpuetl.backends.cudf.columns.validity import valid_rows
from gpuetl.backends.cudf.columns.words import Digit, key_digits, pack
from gpuetl.backends.cudf.expressions.evaluate import evaluate
from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.machine import Array, Machine
from gpuetl.backends.cudf.vector import Vector
from gpuetl.expressions.ir import Cast, Column
from gpuetl.expressions.types import NULL, DataType, common_type
from gpuetl.plan.node import SortKey
from gpuetl.plan.nodes import Join

TABLE_SLOTS = 8
"""A table by code may have this many slots for each row; codes that range wider are numbered anew."""
SMALL_TABLE = 1 << 16


@dataclass(frozen=True, eq=False)
class KeyCodes:
    """The codes (int64) of the left and the right side's keys, from 0 below `size`; -1 matches nothing."""

    left: Array
    right: Array
    size: int


def encoded_keys(operation: Join, left: Frame, right: Frame, machine: Machine) -> KeyCodes:
    """Number the keys of both sides: NaN equals NaN, -0.0 is 0.0, null matches nothing unless nulls are equal."""
    digits: list[Digit] = []
    valid = machine.arrays.ones(left.rows + right.rows, bool)
    for ours, theirs in zip(operation.left_on, operation.right_on, strict=True):
        column = both_sides(left, ours, right, theirs, machine)
        digits += key_digits(column, SortKey(ours), machine)
        if column.nulls and not operation.nulls_equal:
            valid &= valid_rows(column, machine).astype(bool)
    words = pack(digits, machine)
    codes, size = numbered(words, left.rows + right.rows, machine)
    codes = machine.arrays.where(valid, codes, -1)
    return KeyCodes(codes[: left.rows], codes[left.rows :], size)


def both_sides(left: Frame, ours: str, right: Frame, theirs: str, machine: Machine) -> Vector:
    """Return a key of both sides in their common type, the right rows below the left ones."""
    dtype = common_type(left.columns[ours].dtype, right.columns[theirs].dtype)
    assert dtype is not None
    sides = [(left, ours), (right, theirs)]
    return stacked([as_type(frame.columns[name], dtype, frame.rows, machine) for frame, name in sides], machine)


def as_type(vector: Vector, dtype: DataType, rows: int, machine: Machine) -> Vector:
    """Return the column in a type that holds all of its values."""
    if vector.dtype == dtype:
        return vector
    if dtype != NULL and vector.dtype == NULL:
        return evaluate({"": Cast(Column("", NULL), dtype, implicit=True)}, {"": vector}, rows, machine)[""]
    return evaluate({"": Cast(Column("", vector.dtype), dtype)}, {"": vector}, rows, machine)[""]


def numbered(words: Sequence[Digit], rows: int, machine: Machine) -> tuple[Array, int]:
    """Return codes (int64) from 0 for packed keys, closely enough for a table by code, and how many there may be."""
    arrays = machine.arrays
    if not words:
        return arrays.zeros(rows, "int64"), 1
    if len(words) == 1 and 1 << words[0].bits <= max(SMALL_TABLE, TABLE_SLOTS * rows):
        return words[0].values.astype("int64"), 1 << words[0].bits
    order = machine.sorted_order([word.values for word in words])
    ranks = arrays.cumsum(changes(rows, words, order, machine).astype("int64")) - 1
    codes = arrays.empty(rows, "int64")
    codes[order] = ranks
    return codes, int(ranks[-1]) + 1 if rows else 1
