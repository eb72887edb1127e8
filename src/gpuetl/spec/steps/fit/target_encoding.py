"""The transform target_encode.

The smoothed mean of the target per category, computed out of fold for the rows that are fitted: Micci-Barreca, A
Preprocessing Scheme for High-Cardinality Categorical Attributes, 2001; folds as in scikit-learn's TargetEncoder.
"""

from __future__ import annotations

from typing import ClassVar

import gpuetl.functions as f
from gpuetl.expressions.build import col, when
from gpuetl.expressions.expression import Expression
from gpuetl.messages import coded
from gpuetl.plan.node import Node
from gpuetl.records import dataclass
from gpuetl.spec.fields import key
from gpuetl.spec.forms import COUNT, INTEGER, NAME, NAMES
from gpuetl.spec.steps.fit.categories import looked_up
from gpuetl.spec.steps.fit.numbers import NUMBER
from gpuetl.spec.steps.fit.transform import (
    NUMBERS,
    ColumnsTransform,
    Statistics,
    aggregated,
    computed,
    dropped,
    reading,
    renamed,
    selected,
)
from gpuetl.spec.steps.join import Join
from gpuetl.spec.steps.sample import hashable
from gpuetl.spec.steps.step import Context
from gpuetl.spec.values import Text
from gpuetl.types.data_types import BOOL, UNKNOWN, can_be_key, is_number, type_name
from gpuetl.types.decimal_types import is_decimal

SUM, COUNTED, MEAN, FOLD = "sum", "count", "mean", "fold"


@dataclass(frozen=True)
class TargetEncode(ColumnsTransform):
    """The mean of a target per category: `target_encode: {columns: {site_ctr: site}, target: clicked, smoothing: 20}`.

    The value of a category is `(sum + smoothing * mean) / (count + smoothing)`, with the sum and count of the target in
    the category, and the mean of the target in all rows. So rare categories are near the mean, and unknown ones are the
    mean. Null is a category. Rows without a target do not count.

    The rows that are fitted do not see their own target: they are split into `folds`, and each gets the value of its
    category in the other folds. A hash of `fold_by` chooses the fold, by default of all columns. With `folds: 0` they
    get what other rows get later.
    """

    verb: ClassVar[str] = "target_encode"
    target: str = key(NAME, doc="the column whose mean is taken: numbers, or booleans as 0 and 1")
    smoothing: float = key(NUMBER, 20.0, doc="how many rows with the mean of all are added to each category")
    folds: int = key(COUNT, 5, doc="how many parts the rows are split into when they are fitted")
    fold_by: tuple[str, ...] = key(NAMES, (), doc="the columns whose hash chooses the fold")
    seed: int = key(INTEGER, 0, doc="another seed splits in another way")

    def known(self, context: Context, source: Node) -> dict[str, str]:
        """Return the outputs whose columns can be compared; problems for the others."""
        found = super().known(context, source)
        for old in found.values():
            if source.schema[old] != UNKNOWN and not can_be_key(source.schema[old]):
                message = coded("GE1115", f"'{old}' is {type_name(source.schema[old])}, which cannot be compared")
                context.problem(message, "Compute a string or a number of it in a step before.", self.target)
                return {}
        return found

    def fits(self, context: Context, source: Node) -> bool:
        """Check the target and the number of folds."""
        if self.folds == 1:
            message = coded("GE1880", "target_encode: folds: takes 0 or a whole number from 2, got 1")
            context.problem(message, "With one fold, no row would have others to learn from.", self.target)
        if not context.known([self.target], source.schema):
            return False
        dtype = source.schema[self.target]
        if not (dtype in (UNKNOWN, BOOL) or is_number(dtype) or is_decimal(dtype)):
            message = coded(
                "GE1880", f"target_encode takes a target of numbers, and '{self.target}' is {type_name(dtype)}"
            )
            context.problem(message, "Compute a number of it in a step before.", self.target)
            return False
        return self.folds != 1

    def fold(self, context: Context, source: Node) -> Expression:
        """Return the number of a row's fold."""
        names = context.known(self.fold_by, source.schema) or hashable(source.schema)
        return f.bucket(f.hash(self.seed, *map(col, names)), self.folds or 1)

    def targets(self, context: Context, source: Node, columns: dict[str, str]) -> Node:
        """Return categories by short names, the fold and the target as float64."""
        fold = self.fold(context, source)
        kept = {old: col(old) for old in dict.fromkeys(columns.values())}
        target = col(str(self.target))
        number = when(target, 1.0).otherwise(when(target.is_null(), None).otherwise(0.0))
        value = number if source.schema[self.target] == BOOL else target.cast("float64")
        return selected(context, source, {**kept, f":{FOLD}": fold, f":{SUM}": value})

    def statistics(self, context: Context, source: Node) -> dict[str, Node]:
        """Compute sum and count of the target per category and fold, and the mean of all."""
        columns = self.known(context, source)
        if not self.fits(context, source) or not columns:
            return {}
        targets = self.targets(context, source, columns)
        sums = {SUM: f.sum(col(f":{SUM}")), COUNTED: f.count(col(f":{SUM}"))}
        found = {NUMBERS: aggregated(context, targets, (), {MEAN: f.mean(col(f":{SUM}"))})}
        for old in dict.fromkeys(columns.values()):
            grouped = aggregated(context, targets, (old, f":{FOLD}"), sums)
            found[old] = renamed(context, grouped, {old: "value", f":{FOLD}": FOLD, SUM: SUM, COUNTED: COUNTED})
        return found

    def trained(self, context: Context, source: Node, statistics: Statistics) -> Node:
        """Encode each row by the other folds."""
        if not statistics:
            return source
        if not self.folds:
            return self.applied(context, source, statistics)
        columns = self.known(context, source)
        fold = self.fold(context, source)
        node = computed(context, source, {f":{FOLD}": fold})
        for old in dict.fromkeys(columns.values()):
            folds, mean = statistics[old], statistics[NUMBERS]
            total = self.total(context, folds, (old, f":all.{SUM}", f":all.{COUNTED}"))
            own = renamed(context, folds, {"value": old, FOLD: f":{FOLD}", SUM: ":own.sum", COUNTED: ":own.count"})
            others = looked_up(context, own, total, (old,))
            left = {
                f":{old}": col(f":all.{SUM}") - f.coalesce(col(":own.sum"), 0.0),
                f":{old}.n": col(f":all.{COUNTED}") - col(":own.count"),
            }
            table = selected(context, others, {old: col(old), f":{FOLD}": col(f":{FOLD}"), **left})
            table = self.encoded(context, table, mean, old, (old, f":{FOLD}"))
            node = looked_up(context, node, table, (old, f":{FOLD}"))
        return self.finished(context, node, columns, statistics, (f":{FOLD}",))

    def applied(self, context: Context, source: Node, statistics: Statistics) -> Node:
        """Encode by all folds."""
        columns = self.known(context, source)
        if not statistics or not columns:
            return source
        node = source
        for old in dict.fromkeys(columns.values()):
            total = self.total(context, statistics[old], (old, f":{old}", f":{old}.n"))
            node = looked_up(context, node, self.encoded(context, total, statistics[NUMBERS], old, (old,)), (old,))
        return self.finished(context, node, columns, statistics, ())

    def total(self, context: Context, folds: Node, names: tuple[str, str, str]) -> Node:
        """Return sum and count of each category over all folds, by these names."""
        summed = aggregated(context, folds, ("value",), {SUM: f.sum(col(SUM)), COUNTED: f.sum(col(COUNTED))})
        value, total, count = names
        columns = {value: col("value"), total: f.coalesce(col(SUM), 0.0), count: col(COUNTED)}
        return selected(context, summed, columns)

    def encoded(self, context: Context, table: Node, mean: Node, old: str, keys: tuple[str, ...]) -> Node:
        """Return the value of each category of a table with its sum and count."""
        beside = with_mean(context, table, mean)
        weight = float(self.smoothing)
        count = col(f":{old}.n").cast("float64") + weight
        value = when(count == 0, None).otherwise((col(f":{old}") + col(f":{MEAN}") * weight) / count)
        return selected(context, beside, {**{name: col(name) for name in keys}, f":{old}.te": value})

    def finished(
        self, context: Context, node: Node, columns: dict[str, str], statistics: Statistics, added: tuple[str, ...]
    ) -> Node:
        """Put the mean where a category is unknown, and leave out what was only needed on the way."""
        beside = with_mean(context, node, statistics[NUMBERS])
        new = {name: f.coalesce(col(f":{old}.te"), col(f":{MEAN}")) for name, old in columns.items()}
        own = [f":{old}.te" for old in dict.fromkeys(columns.values())]
        return dropped(context, computed(context, beside, new), (*own, f":{MEAN}", *added))


def with_mean(context: Context, table: Node, mean: Node) -> Node:
    """Return the rows with the mean of all targets beside them."""
    row = renamed(context, mean, {MEAN: f":{MEAN}"})
    return Join(Text(NUMBERS), None, "cross").build(reading(context, {NUMBERS: row}), table)
