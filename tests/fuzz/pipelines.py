"""Random pipelines: steps chosen by the columns at hand, built through the public API and typed as they are added."""

from collections.abc import Callable
from dataclasses import replace

from fuzz.builder import Builder, Relation
from fuzz.data import TYPES
from fuzz.duckdb_casts import is_spelled
from fuzz.expressions import Expressions, Leaf, typed
from fuzz.precision import precision_of
from gpuetl import Table
from gpuetl.expressions.build import Expression
from gpuetl.expressions.functions import Kind
from gpuetl.expressions.resolve import AGGREGATES, WINDOWS
from gpuetl.expressions.syntax import Syntax
from gpuetl.expressions.types import can_cast, is_temporal, type_name
from gpuetl.expressions.unparse import to_sql

MOST_ROWS = 4000
"""No join is drawn whose result could have more rows."""

Step = Callable[[Builder, Relation], Table | None]


def filtered(builder: Builder, relation: Relation) -> Table | None:
    """Filter by one or two conditions."""
    drawn = builder.expressions(relation)
    predicate = builder.written(drawn.condition())
    if builder.draws.chance(30):
        predicate = predicate & builder.written(drawn.condition())
    return relation.table.filter(predicate)


def with_columns(builder: Builder, relation: Relation) -> Table | None:
    """One to three computed columns."""
    drawn = builder.expressions(relation)
    return relation.table.with_columns(
        **builder.new_columns(relation, [drawn.any() for _ in range(builder.draws.between(1, 3))])
    )


def selected(builder: Builder, relation: Relation) -> Table | None:
    """Some columns, and perhaps a computed one; most often those that tell rows apart are among them."""
    kept = builder.draws.some_of(relation.node.schema.names, 1, 5)
    if builder.draws.chance(80):
        kept += sorted((relation.facts.unique or set()) - set(kept))
    computed = [builder.expressions(relation).any()] if builder.draws.chance(50) else []
    made = {name: e for name, e in builder.new_columns(relation, computed).items() if name not in kept}
    return relation.table.select(*kept, **made)


def dropped(builder: Builder, relation: Relation) -> Table | None:
    """Without a column or two."""
    names = [name for name in relation.node.schema if name not in (relation.facts.unique or ())]
    if not names or len(relation.node.schema) < 3:
        return None
    return relation.table.drop(*builder.draws.some_of(names, 1, 2))


def renamed(builder: Builder, relation: Relation) -> Table | None:
    """A column or two under other names; two may change places."""
    chosen = builder.draws.some_of(relation.node.schema.names, 1, 2)
    if len(chosen) == 2 and builder.draws.chance(30):
        return relation.table.rename(dict(zip(chosen, reversed(chosen), strict=True)))
    fresh = [name for i in range(1000) if (name := f"r{i}") not in relation.node.schema][:2]
    return relation.table.rename(dict(zip(chosen, fresh, strict=False)))


def converted(builder: Builder, relation: Relation) -> Table | None:
    """A column in another type."""
    schema = relation.node.schema
    pairs = [
        (name, target)
        for name in relation.exact()
        for target in TYPES.values()
        if schema[name] != target and can_cast(schema[name], target) and is_spelled(schema[name], target)
    ]
    if not pairs:
        return None
    name, target = builder.draws.one_of(pairs)
    return relation.table.cast(**{name: type_name(target)})


def aggregated(builder: Builder, relation: Relation) -> Table | None:
    """Groups by up to two columns, with calls and expressions over calls."""
    by = builder.draws.some_of(relation.exact(), 0, 2)
    keys = [leaf for leaf in builder.expressions(relation).leaves if str(to_sql(leaf.syntax)) in by]
    outputs = outputs_of(builder, relation, "aggregate", keys)
    names = [next(n for j in range(1000) if (n := f"g{i + 3 * j}") not in by) for i in range(len(outputs))]
    return relation.table.aggregate(by, **dict(zip(names, outputs, strict=True)))


def outputs_of(builder: Builder, relation: Relation, kind: Kind, leaves: list[Leaf]) -> list[Expression]:
    """Draw calls of aggregate or window functions, and expressions over them and `leaves`."""
    drawn, calls = builder.expressions(relation), []
    kinds = AGGREGATES if kind == "aggregate" else WINDOWS
    for _ in range(builder.draws.between(1, 3)):
        syntax = filtered_call(builder, drawn, drawn.special(kind)) if kind == "aggregate" else drawn.special(kind)
        resolved = typed(syntax, drawn.scope(kinds))
        if resolved is not None:
            calls.append(Leaf(syntax, resolved.dtype, precision_of(resolved, relation.facts.precision)))
    outputs = [builder.written(leaf.syntax) for leaf in calls]
    if calls and builder.draws.chance(40):
        over = replace(drawn, leaves=[*calls, *leaves])
        outputs[-1] = builder.written(over.any())
    return outputs


def filtered_call(builder: Builder, drawn: Expressions, syntax: Syntax) -> Syntax:
    """Put a FILTER on a call, as SQL text, now and then."""
    if not builder.draws.chance(20):
        return syntax
    return builder.read(f"{to_sql(syntax)} FILTER (WHERE {to_sql(drawn.condition(1))})").syntax


def windowed(builder: Builder, relation: Relation) -> Table | None:
    """Window functions by up to two columns, in a total order that begins, half of the time, with a time."""
    order = total_order(builder, relation)
    if not order:
        return None
    by = builder.draws.some_of(relation.exact(), 0, 2)
    schema = relation.node.schema
    times = [name for name in relation.exact() if is_temporal(schema[name])]
    if times and builder.draws.chance(70):
        order = [builder.draws.one_of(times) + " nulls first" * builder.draws.chance(25), *order]
    drawn = builder.expressions(relation)
    outputs = outputs_of(builder, relation, "window", list(drawn.leaves))
    names = [next(n for j in range(1000) if (n := f"w{i + 3 * j}") not in schema) for i in range(len(outputs))]
    if not names:
        return None
    return relation.table.window(by, unrepeated(order), **dict(zip(names, outputs, strict=True)))


def unrepeated(order: list[str]) -> list[str]:
    """Return an order without the keys whose column came before."""
    return list({key.split()[0]: key for key in reversed(order)}.values())[::-1]


def total_order(builder: Builder, relation: Relation) -> list[str] | None:
    """Some columns in some direction, then those that tell rows apart; None where none do."""
    if relation.facts.unique is None:
        return None
    chosen = builder.draws.some_of(relation.exact(), 0, 2)
    chosen += sorted(relation.facts.unique - set(chosen))
    modes = ("", " desc", " nulls first", " desc nulls first")
    return [name + builder.draws.one_of(modes) for name in chosen]


def sorted_rows(builder: Builder, relation: Relation) -> Table | None:
    """A sort; total, if that can be."""
    order = total_order(builder, relation) or builder.draws.some_of(relation.exact(), 1, 2)
    return relation.table.sort(*order) if order else None


def limited(builder: Builder, relation: Relation) -> Table | None:
    """The first rows, where it is said which those are."""
    if not relation.facts.sorted:
        order = total_order(builder, relation)
        if not order:
            return None
        relation = builder.extended(relation, relation.table.sort(*order))
    return relation.table.limit(builder.draws.one_of((3, 0, 1, 10, 1000)))


def distinct(builder: Builder, relation: Relation) -> Table | None:
    """One row a key: the first in a total order, or any where rows of one key are the same."""
    exact = relation.exact()
    if not exact:
        return None
    on = builder.draws.some_of(exact, 1, 3)
    order = total_order(builder, relation)
    if order and builder.draws.chance(50):
        return relation.table.distinct(*on, keep="first", order_by=order)
    return builder.extended(relation, relation.table.select(*on)).table.distinct(*on)


def joined(builder: Builder, relation: Relation) -> Table | None:
    """A join with a source or an earlier stage, on one or two pairs of columns of one type."""
    options = [other for other in builder.others if other.facts.most_rows * relation.facts.most_rows <= MOST_ROWS]
    if not options:
        return None
    right = builder.draws.one_of(options)
    pairs = [(a, b) for a in relation.exact() for b in right.exact() if relation.node.schema[a] == right.node.schema[b]]
    if not pairs:
        return None
    on = dict(builder.draws.some_of(pairs, 1, 2))
    if len(set(on.values())) < len(on):
        on = dict([next(iter(on.items()))])
    how = builder.draws.one_of(("inner", "left"))
    validate = builder.draws.one_of(("many_to_many",) * 9 + ("many_to_one", "one_to_many", "one_to_one"))
    suffix = f"_{len(relation.table.steps)}"
    return relation.table.join(
        right.table, on, how, validate=validate, suffix=suffix, nulls_equal=builder.draws.chance(30)
    )


STEPS: dict[str, tuple[int, Step]] = {
    "filter": (4, filtered), "with_columns": (5, with_columns), "select": (2, selected), "drop": (1, dropped),
    "rename": (1, renamed), "cast": (1, converted), "join": (3, joined), "aggregate": (4, aggregated),
    "window": (4, windowed), "sort": (1, sorted_rows), "limit": (2, limited), "distinct": (2, distinct),
}  # fmt: skip
"""How often a step is drawn, and how; a new step of the language is one entry here."""
NOT_FUZZED = {"kernel": "its twin is any Python: tests/steps/test_kernel.py"}
"""Steps that are never drawn, why, and the test that compares them."""
VERBS = tuple(verb for verb, (weight, _) in STEPS.items() for _ in range(weight))


def add_steps(builder: Builder, relation: Relation, count: int) -> Relation:
    """Add so many steps, or fewer where one cannot be added."""
    for _ in range(count):
        table = STEPS[builder.draws.one_of(VERBS)][1](builder, relation)
        if table is not None:
            relation = builder.extended_by(relation, table)
    return relation
