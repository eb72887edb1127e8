"""Random pipelines: steps chosen by the columns at hand, built through the public API and typed as they are added."""

from collections.abc import Callable

from fuzz.builder import Builder, Relation
from fuzz.data import TYPES
from fuzz.duckdb_casts import is_spelled
from fuzz.fitted_steps import applied, fitted
from fuzz.grouped_steps import aggregated, distinct, windowed
from fuzz.joining_steps import excepted, exploded, intersected, joined, sampled, united, unnested
from fuzz.orders import limited, sorted_rows
from fuzz.reshaping_steps import gaps_filled, pivoted, unpivoted
from gpuetl import Expression, Table
from gpuetl.expressions.build import col
from gpuetl.expressions.expression import apply
from gpuetl.types.data_types import NULL, can_be_key, can_cast, type_name

Step = Callable[[Builder, Relation], Table | None]


def filtered(builder: Builder, relation: Relation) -> Table | None:
    """Filter by one or two conditions."""
    if builder.draws.chance(15) and (compared := with_value(builder, relation)) is not None:
        return relation.table.filter(compared)
    drawn = builder.expressions(relation)
    predicate = builder.written(drawn.condition())
    if builder.draws.chance(30):
        predicate = predicate & builder.written(drawn.condition())
    return relation.table.filter(predicate)


def with_value(builder: Builder, relation: Relation) -> Expression | None:
    """Compare a column with the value of another relation: of an aggregate, or now and then of any number of rows."""
    draws, schema = builder.draws, relation.node.schema
    pairs = [
        (name, other, theirs)
        for other in builder.others
        for name in relation.exact()
        for theirs in other.exact()
        if schema[name] == other.node.schema[theirs]
    ]
    if not pairs:
        return None
    name, other, theirs = draws.one_of(pairs)
    if not draws.chance(15):
        table = other.table.aggregate(value=apply(draws.one_of(("min", "max")), col(theirs)))
        other, theirs = builder.named(builder.extended_by(other, table), builder.stage_name()), "value"
    return apply(draws.one_of(("less", "greater_equal", "is_distinct", "equal")), col(name), other.table.scalar(theirs))


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


def filled(builder: Builder, relation: Relation) -> Table | None:
    """Values in the place of a column's nulls, or of two columns'."""
    schema, drawn = relation.node.schema, builder.expressions(relation)
    names = [name for name, dtype in schema.items() if dtype != NULL and can_be_key(dtype)]
    chosen = builder.draws.some_of(names, 1, 2)
    if not chosen:
        return None
    return relation.table.fill_null(**{name: builder.written(drawn.value(schema[name], 1)) for name in chosen})


STEPS: dict[str, tuple[int, Step]] = {
    "filter": (8, filtered), "with_columns": (10, with_columns), "select": (4, selected), "drop": (2, dropped),
    "rename": (2, renamed), "cast": (2, converted), "join": (8, joined), "aggregate": (8, aggregated),
    "window": (9, windowed), "sort": (2, sorted_rows), "limit": (4, limited), "distinct": (4, distinct),
    "union": (3, united), "intersect": (2, intersected), "except": (2, excepted), "explode": (3, exploded), "unnest": (2, unnested), "fill_null": (2, filled), "sample": (1, sampled),
    "pivot": (2, pivoted), "unpivot": (2, unpivoted), "fit": (2, fitted), "apply": (1, applied), "fill_gaps": (2, gaps_filled),
}  # fmt: skip
"""How often a step is drawn, and how; a new step of the language is one entry here."""
NOT_FUZZED = {
    "kernel": "its twin is any Python: tests/steps/test_kernel.py",
}
"""Steps that are never drawn, why, and the test that compares them."""
VERBS = tuple(verb for verb, (weight, _) in STEPS.items() for _ in range(weight))


def add_steps(builder: Builder, relation: Relation, count: int) -> Relation:
    """Add so many steps, or fewer where one cannot be added; those so far become, now and then, a stage that is read."""
    for _ in range(count):
        if relation.table.steps and not relation.facts.sorted and builder.draws.chance(10):
            relation = builder.named(relation, builder.stage_name())
            builder.others = [*builder.others, relation]
        table = STEPS[builder.draws.one_of(VERBS)][1](builder, relation)
        if table is not None:
            relation = builder.extended_by(relation, table)
    return relation
