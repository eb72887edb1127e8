"""The aggregate step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column, Expr, Literal
from gpuetl.expressions.resolve import AGGREGATES
from gpuetl.expressions.types import INT64, NULL
from gpuetl.plan import nodes
from gpuetl.plan.node import Node
from gpuetl.spec.fields import key
from gpuetl.spec.forms import EXPRESSIONS, NAMES
from gpuetl.spec.steps.calls import split_calls
from gpuetl.spec.steps.step import Context, Step
from gpuetl.spec.values import Formula


@dataclass(frozen=True)
class Aggregate(Step):
    """One row a group: `aggregate: {by: [a, b], columns: {n: count(*), mean_x: sum(x) / count(x)}}`."""

    verb: ClassVar[str] = "aggregate"
    columns: Mapping[str, Formula] = key(EXPRESSIONS)
    by: tuple[str, ...] = key(NAMES, ())

    def build(self, context: Context, source: Node) -> Node:
        """Project the arguments, aggregate, project the expressions over aggregates."""
        by = context.keys(self.by, source.schema)
        outputs = {str(name): self.output(context, name, source, by) for name in self.columns}
        parts = split_calls("aggregate", outputs, by, source.schema)
        if not by and not parts.calls:  # constants alone: the one row must come from somewhere
            parts.calls[":rows"] = Call(FUNCTIONS["aggregate", "count_rows"], (), INT64)
        if parts.before:
            source = nodes.Project(
                source=source, columns={**nodes.passing(source.schema), **parts.before}, origin=context.origin
            )
        grouped = nodes.Aggregate(source=source, by=by, calls=parts.calls, origin=context.origin)
        results = {**nodes.passing(grouped.schema.select(by)), **parts.after}
        if nodes.passing(grouped.schema) == results:
            return grouped
        return nodes.Project(source=grouped, columns=results, origin=context.origin)

    def output(self, context: Context, name: str, source: Node, by: tuple[str, ...]) -> Expr:
        """Return one output's expression; outside its aggregates it may read only the keys."""
        if name in by:
            context.problem(f"'{name}' is a key and an output", "Give the output another name.", name)
        formula = self.columns[name]
        expr = context.expression(formula, source.schema, AGGREGATES)
        loose = sorted(_outside(expr) - set(by))
        if loose:
            message = f"column '{loose[0]}' has many values in a group"
            context.problem(message, f"Aggregate it, as in max({loose[0]}), or add it to by.", formula)
            return Literal(None, NULL)
        return expr


def _outside(expr: Expr) -> set[str]:
    """Return the columns that stand outside the aggregate calls."""
    if isinstance(expr, Column):
        return {expr.name}
    if isinstance(expr, Call):
        return set() if expr.function.kind == "aggregate" else {name for arg in expr.args for name in _outside(arg)}
    return _outside(expr.operand) if hasattr(expr, "operand") else set()
