"""A pipeline under construction: a relation is extended step by step, built by the public API and typed at once."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fuzz.data import Source
from fuzz.draws import Draws
from fuzz.expressions import Expressions, column_leaves
from fuzz.facts import Facts, facts_of
from fuzz.precision import Precision
from gpuetl import Pipeline, Table
from gpuetl.errors import InvalidExpression, Problems
from gpuetl.expressions.build import expr
from gpuetl.expressions.expression import Expression
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.syntax import Syntax
from gpuetl.expressions.unparse import to_sql
from gpuetl.formats.dataset import Dataset
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Filter, Read
from gpuetl.spec.steps import Context
from gpuetl.spec.steps.fit import Fitted
from gpuetl.spec.steps.scalar import build_step
from gpuetl.spec.values import Text
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import can_be_key, can_compare, type_name
from gpuetl.types.schema import Schema


@dataclass(frozen=True)
class Relation:
    """A table under construction, the plan that it means so far, and what is known of its rows."""

    table: Table
    node: Node
    facts: Facts

    def exact(self) -> list[str]:
        """Return the columns by which rows may be grouped, sorted and joined."""
        return [name for name in self.comparable() if can_be_key(self.node.schema[name])]

    def comparable(self) -> list[str]:
        """Return these, and lists, structs and maps, for operations that take such keys."""
        names = [name for name, dtype in self.node.schema.items() if can_compare(dtype)]
        return [name for name in names if self.facts.precision[name] >= Precision.EXACT]


@dataclass
class DrawnFits:
    """What `fit` steps have learned: the last one, and those of stages by name."""

    last: Fitted | None = None
    stages: dict[str, Fitted] = field(default_factory=dict)

    def keep(self, stage: str, fitted: Fitted, save: Text | None) -> None:
        """Remember the last one: its stage has no name yet."""
        self.last = fitted

    def of_stage(self, stage: str) -> Fitted | None:
        """Return what a stage has learned."""
        return self.stages.get(stage)

    def load(self, context: Context, path: Text) -> Fitted | None:
        """Nothing is saved."""
        return None


@dataclass
class Builder:
    """Draws the steps of one pipeline; `nodes` are the sources and stages by name."""

    draws: Draws
    pipeline: Pipeline
    nodes: dict[str, Node] = field(default_factory=dict)
    known: dict[int, tuple[Node, Facts]] = field(default_factory=dict)
    others: list[Relation] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    fits: DrawnFits = field(default_factory=DrawnFits)

    def source(self, source: Source) -> Relation:
        """Declare a source."""
        schema = Schema.of_arrow(source.rows.schema)
        keys: dict[str, Any] = (
            {"partitions": {source.folders: type_name(schema[source.folders])}} if source.folders else {}
        )
        dataset = Dataset(source.name, "parquet", self.pipeline.root / source.path, schema)
        node: Node = Read(dataset=dataset, columns=schema.names, origin=Origin("source", source.name))
        facts = Facts(source.precision, frozenset(schema.names[:1]), source.rows.num_rows)
        if self.draws.chance(10):
            drawn = Expressions(self.draws, column_leaves(schema, source.precision))
            keys["filter"] = Expression(condition := drawn.condition())
            node = Filter(source=node, predicate=resolve(condition, drawn.scope()), origin=node.origin)
        table = self.pipeline.read_parquet(source.name, source.path, **keys)
        self.nodes[source.name] = node
        self.known.update((id(each), (each, facts)) for each in walk_graph(node))
        return Relation(table, node, facts)

    def extended(self, relation: Relation, table: Table) -> Relation:
        """Return the relation after one more step, or as it was where that is wrong."""
        problems = Problems()
        context = Context(
            Origin("stage", "result", len(table.steps)), problems, {}, self.nodes.__getitem__, Path(), fits=self.fits
        )
        node = build_step(table.steps[-1], context, relation.node)
        if problems.found:
            self.refused.append(str(problems.found[0]))
            return relation
        return Relation(table, node, facts_of(node, self.known))

    def named(self, relation: Relation, name: str) -> Relation:
        """Make a stage of the steps so far."""
        table = relation.table.stage(name)
        self.nodes[name] = relation.node
        if relation.table.steps and relation.table.steps[-1].verb == "fit" and self.fits.last:
            self.fits.stages[name] = self.fits.last
        return Relation(table, relation.node, relation.facts)

    def stage_name(self) -> str:
        """A name for a stage between."""
        return f"part{len(self.nodes)}"

    def expressions(self, relation: Relation) -> Expressions:
        """Draw expressions over the columns."""
        return Expressions(self.draws, column_leaves(relation.node.schema, relation.facts.precision))

    def written(self, syntax: Syntax) -> Expression:
        """The expression as Python builds it, or, now and then, as SQL text is read."""
        return self.read(to_sql(syntax)) if self.draws.chance(20) else Expression(syntax)

    def read(self, text: str) -> Expression:
        """The expression as SQL text is read; what was written by the engine must be."""
        try:
            return expr(text)
        except InvalidExpression as error:
            raise AssertionError(f"{text}\nis not read again: {error}") from None

    def new_name(self, relation: Relation) -> str:
        """A name for a column, new or, now and then, that of another, which is replaced."""
        taken = [name for name in relation.node.schema if not name.endswith("_id")]
        if taken and self.draws.chance(15):
            return self.draws.one_of(taken)
        return next(name for i in range(1000) if (name := f"x{i}") not in relation.node.schema)

    def new_columns(self, relation: Relation, syntaxes: list[Syntax]) -> dict[str, Expression]:
        """Name expressions."""
        taken, named = set(relation.node.schema), {}
        for syntax in syntaxes:
            name = self.new_name(relation)
            while name in named:
                name = next(n for i in range(1000) if (n := f"x{i}") not in taken and n not in named)
            named[name] = self.written(syntax)
        return named

    def extended_by(self, relation: Relation, table: Table) -> Relation:
        """Add the steps that `table` has more than the relation."""
        after = relation
        for count in range(len(relation.table.steps) + 1, len(table.steps) + 1):
            longer = self.extended(after, replace(table, steps=table.steps[:count]))
            if longer is after:
                return relation
            after = longer
        return after
