"""Expectations to plan nodes: one pass counts what breaks the rules of a stage, filters part its rows.

Every rule looks at all rows of the stage as its steps give them, whatever the others do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from itertools import islice
from typing import NamedTuple

from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column, Expr, Literal, RunId
from gpuetl.formats.rejected import REJECTED
from gpuetl.messages import coded
from gpuetl.plan.node import Node, SortKey
from gpuetl.plan.nodes import Aggregate, Filter, Limit, Project, Sort, passing
from gpuetl.plan.plan import REMOVED, ROWS, Check, passes_order, promised_order
from gpuetl.records import dataclass
from gpuetl.spec.expect.rules import REMOVES, References, Rule, Unique, counting
from gpuetl.spec.expect.terms import KeyTerm, Repeats, RowCount, RowTerm, Term, call, either
from gpuetl.spec.steps.step import Context
from gpuetl.spec.values import node_of
from gpuetl.telemetry.origin import Origin
from gpuetl.types.data_types import BOOL, INT64, STRING
from gpuetl.types.schema import free_name

RULE_COLUMN, RUN_COLUMN = "_rule", "_run"
SHOWN_ROWS, SHOWN_COLUMNS = 5, 8


@dataclass(frozen=True)
class CheckedStage:
    """A stage with its rules: the rows that others read, those in quarantine, what is counted, and the rules."""

    rows: Node
    rejected: Node | None = None
    counts: Mapping[str, Node] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()


class Bound(NamedTuple):
    """A rule's term, and what is done with rows that break it."""

    term: Term
    rule: Rule


def expected(context: Context, rules: Sequence[Rule], source: Node, run_id: str) -> CheckedStage:
    """Return a stage's rows by its rules; problems are told."""
    stage, origin = context.origin.name, context.origin
    rows = source
    if any(rule.on_fail in REMOVES and isinstance(rule, Unique | References) for rule in rules):
        rows = with_order(source, origin)
        if rows is not source:
            source = Project(source=rows, columns=passing(source.schema), origin=origin)
    bound = [Bound(term, rule) for rule in rules for term in rule.terms(context, source)]
    check_names(context, bound, source)
    if source.schema.open:  # of what is wrong: nothing will be counted
        return CheckedStage(source, source if quarantines(rules) else None)
    order, broken = rows.ordering if promised_order(rows) else (), dict[str, Expr]()
    for term, rule in bound:
        if isinstance(term, RowTerm) or (isinstance(term, KeyTerm) and rule.on_fail in REMOVES):
            rows, broken[term.name] = term.marked(rows, origin)
    removing = tuple(broken[term.name] for term, rule in bound if rule.on_fail in REMOVES)
    counts = {stage: counted(rows, broken, removing, counting(context))}
    checks = []
    telling = telling_apart(bound)
    for term, rule in bound:
        relation = stage
        if isinstance(term, KeyTerm) and term.name not in broken:
            relation = f"{stage}: {term.name}"
            counts[relation] = term.counted
        checks.append(check_of(stage, term, rule, relation, telling))
    rejected = None
    if quarantines(rules):
        kept_out = [broken[term.name] for term, rule in bound if rule.on_fail == "quarantine"]
        rejected = quarantined(stage, rows, source, kept_out, bound, broken, run_id)
    return CheckedStage(remaining(rows, source, removing, order, origin), rejected, counts, tuple(checks))


def quarantines(rules: Iterable[Rule | None]) -> bool:
    """Return whether a rule puts rows in quarantine."""
    return any(rule is not None and rule.on_fail == "quarantine" for rule in rules)


def check_names(context: Context, bound: Sequence[Bound], source: Node) -> None:
    """Tell of two rules of one name, and of columns that have the names of those of a quarantine."""
    names: set[str] = set()
    for term, _ in bound:
        if term.name in names:
            context.problem(
                coded("GE1013", f"two rules are called '{term.name}'"), "Give one of them another name.", term.at
            )
        names.add(term.name)
    at = next((term.at for term, rule in bound if rule.on_fail == "quarantine"), None)
    for name in (RULE_COLUMN, RUN_COLUMN):
        if at is not None and name in source.schema:
            message = coded("GE1023", f"the stage has a column '{name}', as its rows in quarantine have")
            context.problem(message, "Rename it.", at)


def counted(rows: Node, broken: Mapping[str, Expr], removing: tuple[Expr, ...], origin: Origin) -> Node:
    """Return one row: how many rows there are, how many break each rule, and how many are removed."""
    marks = {**broken, **({REMOVED: either(*removing)} if removing else {})}
    calls = {name: Call(FUNCTIONS["aggregate", "count_if"], (Column(name, BOOL),), INT64) for name in marks}
    calls[ROWS] = Call(FUNCTIONS["aggregate", "count_rows"], (), INT64)
    if marks:
        rows = Project(source=rows, columns=marks, origin=origin)
    return Aggregate(source=rows, by=(), calls=calls, origin=origin)


def remaining(rows: Node, source: Node, removing: tuple[Expr, ...], order: tuple[SortKey, ...], origin: Origin) -> Node:
    """Return the rows that break no rule by which they are removed, in the order that the stage promises."""
    if not removing:
        return source
    left: Node = Filter(source=rows, predicate=call("not", either(*removing)), origin=origin)
    if rows is source:
        return left
    if order:  # which joins do not keep
        left = Sort(source=left, by=order, origin=origin)
    return Project(source=left, columns=passing(source.schema), origin=origin)  # without the marks of joins


def with_order(source: Node, origin: Origin) -> Node:
    """Return the rows of a sorted stage with the keys of the order that steps have dropped; else the stage as it is."""
    above: list[Node] = []
    below = source
    while passes_order(below):
        above.append(below)
        below = below.inputs[0]
    if not isinstance(below, Sort) or len(source.ordering) == len(below.by):
        return source
    schemas = [below.schema, *(node.schema for node in above)]
    names = {free_name(f":order {place}", *schemas): key for place, key in enumerate(below.by)}
    keys = {name: Column(key.column, below.schema[key.column]) for name, key in names.items()}
    own = {name: Column(name, column.dtype) for name, column in keys.items()}
    by = tuple(replace(key, column=name) for name, key in names.items())
    prepared = Project(source=below.source, columns={**passing(below.schema), **keys}, origin=below.origin)
    rows: Node = replace(below, source=prepared, by=by)
    for node in reversed(above):
        rows = node.with_inputs([rows, *node.inputs[1:]])
        if isinstance(rows, Project):
            rows = replace(rows, columns={**rows.columns, **own})
    return rows


def quarantined(
    stage: str, rows: Node, source: Node, kept_out: list[Expr], bound: Sequence[Bound], broken: Mapping[str, Expr],
    run_id: str,
) -> Node:  # fmt: skip
    """Return the rows in quarantine, with the names of all rules that each of them breaks, and of the run."""
    origin = Origin("stage", f"{stage}{REJECTED}")
    marked_rows: Node = Filter(source=rows, predicate=either(*kept_out), origin=origin)
    found = dict(broken)
    for term, _ in bound:
        if isinstance(term, KeyTerm) and term.name not in found:
            marked_rows, found[term.name] = term.marked(marked_rows, origin)
    names = (
        call("case", found[term.name], Literal(term.name, STRING), dtype=STRING)
        for term, _ in bound
        if term.name in found
    )
    columns = passing(source.schema)
    columns[RULE_COLUMN] = call("concat_ws", Literal(", ", STRING), *names, dtype=STRING)
    columns[RUN_COLUMN] = RunId(run_id, STRING, declared=True)
    return Project(source=marked_rows, columns=columns, origin=origin)


def telling_apart(bound: Sequence[Bound]) -> list[str]:
    """Return the columns that rules name, as many as are shown and more: first those that tell rows apart."""
    others = sorted((other for other, _ in bound), key=lambda other: not isinstance(other, Repeats))
    names = dict.fromkeys(name for other in others for name in other.columns)
    return list(islice(names, SHOWN_COLUMNS))


def check_of(stage: str, term: Term, rule: Rule, relation: str, telling: Sequence[str]) -> Check:
    """Return what a run makes of a count; of rows that are not removed, the first that break the rule can be shown."""
    bounds = (term.least, term.most) if isinstance(term, RowCount) else None
    shown = None
    if isinstance(term, RowTerm | KeyTerm) and rule.on_fail not in REMOVES:
        schema = term.source.schema
        names = list(islice(dict.fromkeys([*term.columns, *telling, *schema]), SHOWN_COLUMNS))
        chosen = Project(source=term.shown, columns=passing(schema.select(names)), origin=term.origin)
        shown = Limit(source=chosen, count=SHOWN_ROWS, origin=term.origin)
    node = node_of(term.at)
    return Check(
        stage, term.name, rule.on_fail, relation, rule.max_fraction, bounds, shown, node.place() if node else None
    )
