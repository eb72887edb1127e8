"""The keys of a join's two sides, in types that compare."""

from __future__ import annotations

import pyarrow as pa

from gpuetl.engines.cudf.columns.concat import numbered_together
from gpuetl.engines.cudf.columns.keys import Key, Keys
from gpuetl.engines.cudf.columns.kind import Kind, Kinds
from gpuetl.engines.cudf.expressions.evaluate import evaluate
from gpuetl.engines.cudf.expressions.programs import evaluated
from gpuetl.engines.cudf.frame import Frame
from gpuetl.engines.cudf.machine import Machine, Text
from gpuetl.engines.cudf.vector import Vector
from gpuetl.expressions.ir import Cast, Column
from gpuetl.plan.nodes import Join
from gpuetl.records import dataclass
from gpuetl.types.data_types import NULL, STRING, DataType, common_type


@dataclass(frozen=True, eq=False)
class JoinKeys:
    """Keys of the left and of the right side; rows with a null match nothing unless `nulls_equal`."""

    left: Keys
    right: Keys
    nulls_equal: bool


def join_keys(operation: Join, left: Frame, right: Frame, machine: Machine) -> JoinKeys:
    """Return the keys of both sides; NaN equals NaN, -0.0 is 0.0."""
    pairs = [
        comparable(left.columns[ours], right.columns[theirs], machine)
        for ours, theirs in zip(operation.left_on, operation.right_on, strict=True)
    ]
    flags = [operation.nulls_equal and any(side.valid is not None for side in pair) for pair in pairs]
    sides = ([Key(pair[side], flag) for pair, flag in zip(pairs, flags, strict=True)] for side in range(2))
    ours, theirs = map(tuple, sides)
    return JoinKeys(Keys(ours, left.rows), Keys(theirs, right.rows), operation.nulls_equal)


def comparable(left: Vector, right: Vector, machine: Machine) -> tuple[Vector, Vector]:
    """Return a key of both sides as numbers that compare as the values do: texts are numbered together."""
    dtype = common_type(left.dtype, right.dtype)
    assert dtype is not None
    if not same_digits(left.dtype, right.dtype):
        left, right = as_type(left, dtype, machine), as_type(right, dtype, machine)
    if dtype != STRING:
        return left, right
    ours, theirs = numbered_together([left, right], machine)
    return ours, theirs


def comparable_texts(left: Kind, right: Kind) -> list[Text]:
    """List the programs of `comparable`."""
    dtype = common_type(left.dtype, right.dtype)
    assert dtype is not None
    if same_digits(left.dtype, right.dtype):
        return []
    casts = [(cast_to(kind.dtype, dtype), kind) for kind in (left, right) if kind.dtype != dtype]
    return [text for cast, kind in casts for text in evaluated({"": cast}, Kinds({"": kind})).texts]


def same_digits(left: DataType, right: DataType) -> bool:
    """Tell whether values of two types have the same digits where they are equal."""
    signed, unsigned = pa.types.is_signed_integer, pa.types.is_unsigned_integer
    return bool(left == right or (signed(left) and signed(right)) or (unsigned(left) and unsigned(right)))


def as_type(vector: Vector, dtype: DataType, machine: Machine) -> Vector:
    """Return the column in a type that holds all of its values."""
    if vector.dtype == dtype:
        return vector
    return evaluate({"": cast_to(vector.dtype, dtype)}, {"": vector}, vector.rows, machine)[""]


def cast_to(source: DataType, target: DataType) -> Cast:
    """Return the cast of a key, the column without a name, to another type."""
    return Cast(Column("", source), target, implicit=target != NULL and source == NULL)
