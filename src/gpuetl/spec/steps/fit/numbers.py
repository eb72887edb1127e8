"""Transforms of numbers: fill, clip, log, normalise, min_max, bucketise."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, ClassVar

import gpuetl.functions as f
from gpuetl.expressions.build import lit, when
from gpuetl.expressions.expression import Expression
from gpuetl.messages import coded
from gpuetl.plan.node import Node
from gpuetl.records import dataclass
from gpuetl.spec.document import Node as TextNode
from gpuetl.spec.fields import Field, key
from gpuetl.spec.forms import FRACTION, choice
from gpuetl.spec.steps.fit.transform import NumberTransform
from gpuetl.spec.steps.step import Context
from gpuetl.spec.values import BadValue

MOST_BUCKETS = 1000


def read_number(node: TextNode) -> float | int:
    """Read a number."""
    if isinstance(node.value, bool) or not isinstance(node.value, int | float):
        raise BadValue(coded("GE1008", f"takes a number, got {node.kind}"), node)
    return node.value


def read_boundaries(node: TextNode) -> tuple[float | int, ...]:
    """Read ascending numbers."""
    nodes = node.value if isinstance(node.value, tuple) else (node,)
    values = tuple(map(read_number, nodes))
    if any(left >= right for left, right in itertools.pairwise(values)):
        raise BadValue(coded("GE1008", "takes ascending numbers"), node)
    return values


def read_buckets(node: TextNode) -> int:
    """Read a number of buckets."""
    value = read_number(node)
    if not isinstance(value, int) or not 2 <= value <= MOST_BUCKETS:
        raise BadValue(coded("GE1008", f"takes a whole number from 2 to {MOST_BUCKETS:,}, got {value}"), node)
    return value


NUMBER = Field("a number", read_number, constant=True, schema={"type": "number"})
BOUNDARIES: Field[Any] = Field(
    "ascending numbers", read_boundaries, list, constant=True, schema={"type": "array", "items": {"type": "number"}}
)
BUCKETS = Field("a number of buckets", read_buckets, constant=True, schema={"type": "integer", "minimum": 2})


@dataclass(frozen=True)
class Fill(NumberTransform):
    """Replace nulls by a statistic of the column: `fill: {columns: [age, income], with: median}`.

    `with` is `mean`, `median`, `min`, `max` or `mode`. A column of integers becomes float64 with mean and median. To
    fill with a constant, write a `fill_null` step.
    """

    verb: ClassVar[str] = "fill"
    with_: str = key(choice("mean", "median", "min", "max", "mode"), "median", name="with", doc="what replaces nulls")

    def numbers_of(self, column: Expression) -> dict[str, Expression]:
        """Return the statistic."""
        return {self.with_: getattr(f, self.with_)(column)}

    def value_of(self, column: Expression, numbers: Mapping[str, Expression]) -> Expression:
        """Return the column, or the statistic where that is null."""
        return f.coalesce(column, numbers[self.with_])


@dataclass(frozen=True)
class Clip(NumberTransform):
    """Move values to the nearest bound: `clip: {columns: income, upper_quantile: 0.99}`, `{columns: age, lower: 0}`.

    Bounds are numbers, or quantiles of the rows that are fitted. Null stays null.
    """

    verb: ClassVar[str] = "clip"
    lower: float | None = key(NUMBER, None, doc="the least value")
    upper: float | None = key(NUMBER, None, doc="the greatest value")
    lower_quantile: float | None = key(FRACTION, None, doc="the quantile of the column that is the least value")
    upper_quantile: float | None = key(FRACTION, None, doc="the quantile of the column that is the greatest value")

    def known(self, context: Context, source: Node) -> dict[str, str]:
        """Check that there is one bound, and no two of one side."""
        for side in ("lower", "upper"):
            if getattr(self, side) is not None and getattr(self, f"{side}_quantile") is not None:
                message = coded("GE1880", f"clip takes {side} or {side}_quantile, not both")
                context.problem(message, "Leave one of them out.", next(iter(self.columns)))
        if (self.lower, self.upper, self.lower_quantile, self.upper_quantile) == (None,) * 4:
            message = coded("GE1880", "clip needs a bound")
            context.problem(message, "Add lower, upper, lower_quantile or upper_quantile.", next(iter(self.columns)))
        return super().known(context, source)

    def numbers_of(self, column: Expression) -> dict[str, Expression]:
        """Return the quantiles."""
        shares = {"lower": self.lower_quantile, "upper": self.upper_quantile}
        return {side: f.quantile(column, share) for side, share in shares.items() if share is not None}

    def value_of(self, column: Expression, numbers: Mapping[str, Expression]) -> Expression:
        """Return the value, or the bound beyond which it is."""
        given = {"lower": self.lower, "upper": self.upper}
        bounds = {side: lit(value) for side, value in given.items() if value is not None} | dict(numbers)
        clipped = column
        if "lower" in bounds:
            clipped = when(clipped < bounds["lower"], bounds["lower"]).otherwise(clipped)
        if "upper" in bounds:
            clipped = when(clipped > bounds["upper"], bounds["upper"]).otherwise(clipped)
        return clipped


@dataclass(frozen=True)
class Log(NumberTransform):
    """The natural logarithm of one plus the value: `log: [price, clicks]`. Learns nothing.

    Values of -1 and below give -inf and NaN, as `log1p` does.
    """

    verb: ClassVar[str] = "log"

    def numbers_of(self, column: Expression) -> dict[str, Expression]:
        """Need nothing."""
        return {}

    def value_of(self, column: Expression, numbers: Mapping[str, Expression]) -> Expression:
        """Return the logarithm."""
        return f.log1p(column)


@dataclass(frozen=True)
class Normalise(NumberTransform):
    """Subtract the mean and divide by the standard deviation: `normalise: [age, income]`.

    The standard deviation is that of the whole (`std_pop`). A column whose values are all equal becomes 0. Null stays
    null.
    """

    verb: ClassVar[str] = "normalise"

    def numbers_of(self, column: Expression) -> dict[str, Expression]:
        """Return mean and standard deviation."""
        return {"mean": f.mean(column), "std": f.std_pop(column)}

    def value_of(self, column: Expression, numbers: Mapping[str, Expression]) -> Expression:
        """Return how many deviations the value is above the mean."""
        return scaled(column, column.cast("float64") - numbers["mean"], numbers["std"])


@dataclass(frozen=True)
class MinMax(NumberTransform):
    """Map the least value to 0 and the greatest to 1: `min_max: [age, income]`.

    Rows that are not fitted can be below 0 or above 1. A column whose values are all equal becomes 0. Null stays null.
    """

    verb: ClassVar[str] = "min_max"

    def numbers_of(self, column: Expression) -> dict[str, Expression]:
        """Return the least and the greatest value."""
        return {"min": f.min(column), "max": f.max(column)}

    def value_of(self, column: Expression, numbers: Mapping[str, Expression]) -> Expression:
        """Return where the value is between the two."""
        least = numbers["min"].cast("float64")
        return scaled(column, column.cast("float64") - least, numbers["max"].cast("float64") - least)


def scaled(column: Expression, distance: Expression, unit: Expression) -> Expression:
    """Return a distance in units; 0 where the unit is 0, and null where the column is."""
    zero = when(column.is_null(), None).otherwise(0.0)
    return when(unit == 0, zero).otherwise(distance / unit)


@dataclass(frozen=True)
class Bucketise(NumberTransform):
    """Number the bucket of each value: `bucketise: {columns: age, buckets: 10}`, or `{…, boundaries: [18, 65]}`.

    With `buckets: n`, the boundaries are quantiles: each bucket has about the same number of rows. A value that equals
    a boundary is in the bucket above it. The first bucket is 0. Null stays null.
    """

    verb: ClassVar[str] = "bucketise"
    buckets: int | None = key(BUCKETS, None, doc="how many buckets of equal frequency")
    boundaries: tuple[float, ...] = key(BOUNDARIES, (), doc="where the buckets after the first begin")

    def known(self, context: Context, source: Node) -> dict[str, str]:
        """Check that there is one way to find the boundaries."""
        if (self.buckets is None) == (not self.boundaries):
            message = coded("GE1880", "bucketise takes either buckets or boundaries")
            hint = "Write bucketise: {columns: age, buckets: 10}."
            context.problem(message, hint, next(iter(self.columns)))
        return super().known(context, source)

    def numbers_of(self, column: Expression) -> dict[str, Expression]:
        """Return the quantiles between buckets."""
        count = self.buckets or 0
        return {f"q{i}of{count}": f.quantile(column, i / count) for i in range(1, count)}

    def value_of(self, column: Expression, numbers: Mapping[str, Expression]) -> Expression:
        """Return how many boundaries are not above the value."""
        bounds = [lit(value) for value in self.boundaries] or [*numbers.values()]
        found = lit(0)
        for bound in bounds:
            found = found + when(column >= bound, 1).otherwise(0)
        return when(column.is_null(), None).otherwise(found).cast("int32")
