"""Orders of rows, total ones wherever an answer depends on them; sorts and limits."""

from fuzz.builder import Builder, Relation
from fuzz.draws import Draws
from gpuetl import Table, col
from gpuetl.expressions.expression import Expression, apply


def total_order(builder: Builder, relation: Relation) -> list[str] | None:
    """Some columns in some direction, then those that tell rows apart; None where none do."""
    if relation.facts.unique is None:
        return None
    chosen = builder.draws.some_of(relation.exact(), 0, 2)
    chosen += sorted(relation.facts.unique - set(chosen))
    modes = ("", " desc", " nulls first", " desc nulls first")
    return [name + builder.draws.one_of(modes) for name in chosen]


def unrepeated(order: list[str]) -> list[str]:
    """Return an order without the keys whose column came before."""
    return list({key.split()[0]: key for key in reversed(order)}.values())[::-1]


def with_expression(draws: Draws, columns: list[str], order: list[str]) -> list[str | Expression]:
    """Return an order without repeats, now and then after an expression; a time that comes first stays first."""
    keys: list[str | Expression] = list(unrepeated(order))
    if keys and draws.chance(10) and columns:
        keys.insert(1, apply("is_null", col(draws.one_of(columns))))
    return keys


def sorted_rows(builder: Builder, relation: Relation) -> Table | None:
    """A sort; total, if that can be."""
    order = total_order(builder, relation) or builder.draws.some_of(relation.comparable(), 1, 2)
    return relation.table.sort(*with_expression(builder.draws, relation.exact(), order)) if order else None


def limited(builder: Builder, relation: Relation) -> Table | None:
    """The first rows, where it is said which those are."""
    if not relation.facts.sorted:
        order = total_order(builder, relation)
        if not order:
            return None
        relation = builder.extended(relation, relation.table.sort(*order))
    offset = builder.draws.one_of((1, 2, 0, 7, 1000)) if builder.draws.chance(30) else 0
    count = None if offset and builder.draws.chance(30) else builder.draws.one_of((3, 0, 1, 10, 1000))
    return relation.table.limit(count, offset=offset)
