"""Condition join: pairs of rows for which a condition holds, beside equal keys or without keys."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from gpuetl.expressions.ir import Call, Cast, Column, Expr, columns_of, conjuncts, transform
from gpuetl.expressions.unparse import to_sql
from gpuetl.plan.nodes.join import Join
from gpuetl.records import dataclass
from gpuetl.types.data_types import (
    DATE,
    DURATION,
    FLOAT64,
    INT64,
    TIMESTAMP,
    DataType,
    is_floating,
    is_integer,
)

LEFT, RIGHT = "l.", "r."
"""What the names of either side's columns begin with in a condition."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ConditionJoin(Join):
    """Join the pairs of rows with equal keys for which `condition` is true; without keys, any pairs.

    In the condition, names of columns begin with `l.` or `r.`, for this node's left and right side.  A row without a
    pair for which it is true has no match.  `mirrored` says that the user calls the sides right and left.
    """

    condition: Expr
    mirrored: bool = False

    @property
    def is_mirrored(self) -> bool:
        """Whether this node's left side is the user's right one."""
        return self.mirrored

    @property
    def condition_columns(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns of the left and of the right side that the condition reads."""
        names = columns_of(self.condition)
        left, right = (
            tuple(name for name in side.schema if prefix + name in names)
            for prefix, side in ((LEFT, self.left), (RIGHT, self.right))
        )
        return left, right

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return each side's wanted columns, keys and columns of the condition."""
        sides = zip(super().needs(wanted), self.condition_columns, strict=True)
        return tuple(names | frozenset(more) for names, more in sides)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """The condition."""
        return (self.condition,)

    def describe(self) -> str:
        """Return the kind, the keys, and the condition as the user wrote it."""
        condition = exchanged(self.condition) if self.mirrored else self.condition
        return f"{super().describe()} where {to_sql(condition)}"


def exchanged(condition: Expr) -> Expr:
    """Return a condition with its sides exchanged."""
    other = {LEFT: RIGHT, RIGHT: LEFT}

    def rename(node: Expr) -> Expr:
        return Column(other[node.name[:2]] + node.name[2:], node.dtype) if isinstance(node, Column) else node

    return transform(condition, rename)


class Bound(NamedTuple):
    """A value of one side that the other side's value is compared with; `inclusive` where it may be equal."""

    value: Expr
    inclusive: bool


class Range(NamedTuple):
    """A value of one side, `LEFT` or `RIGHT`, and between which values of the other side it lies.

    All of these are int64 or float64, dates, timestamps or durations.
    """

    side: str
    value: Expr
    lower: Bound | None
    upper: Bound | None


LESS = {"less": False, "less_equal": True}
GREATER = {"greater": False, "greater_equal": True}


def range_of(condition: Expr) -> Range | None:
    """Return a range that the pairs of a condition are in, one with two ends if there is any; None without one.

    A pair outside of it does not fulfil the condition.  One inside may.
    """
    found: dict[tuple[str, Expr], Range] = {}
    for part in conjuncts(condition):
        if not isinstance(part, Call) or part.function.name not in {**LESS, **GREATER}:
            continue
        one, other = map(widened, part.args)
        if one is None or other is None or one.dtype != other.dtype:
            continue
        below = part.function.name in LESS
        inclusive = {**LESS, **GREATER}[part.function.name]
        for value, bound, is_upper in ((one, other, below), (other, one, not below)):
            side = side_of(value)
            if not side or side_of(bound) != {LEFT: RIGHT, RIGHT: LEFT}[side]:
                continue
            now = found.get((side, value), Range(side, value, None, None))
            if is_upper and now.upper is None:
                now = now._replace(upper=Bound(bound, inclusive))
            elif not is_upper and now.lower is None:
                now = now._replace(lower=Bound(bound, inclusive))
            found[side, value] = now
    whole = [one for one in found.values() if one.lower and one.upper]
    return next(iter([*whole, *(one for one in found.values() if one.side == RIGHT), *found.values()]), None)


def side_of(value: Expr) -> str:
    """Return the side that a value comes from; nothing where it comes from both or none."""
    sides = {name[:2] for name in columns_of(value)}
    return sides.pop() if len(sides) == 1 else ""


def widened(value: Expr) -> Expr | None:
    """Return a number as int64 or float64, a time as it is; None for a value of another type."""
    dtype: DataType = value.dtype
    if dtype in (DATE, TIMESTAMP, DURATION, INT64, FLOAT64):
        return value
    if is_integer(dtype) and dtype != pa.uint64():
        return Cast(value, INT64, implicit=True)
    return Cast(value, FLOAT64, implicit=True) if is_floating(dtype) else None


def of_side(value: Expr) -> Expr:
    """Return a value of one side over the columns of that side, without their prefix."""
    return transform(value, lambda node: Column(node.name[2:], node.dtype) if isinstance(node, Column) else node)
