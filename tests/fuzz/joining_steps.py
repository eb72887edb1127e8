"""Steps that put two inputs together, and those that give a row any number of times: explode and sample."""

from collections.abc import Mapping
from typing import Literal

import pyarrow as pa

from fuzz.builder import Builder, Relation
from gpuetl import Expression, Table, lit
from gpuetl.expressions.build import col
from gpuetl.expressions.expression import apply
from gpuetl.spec.steps.asof import AsofKeys, can_meet, has_distance
from gpuetl.spec.steps.join_keys import meeting_type
from gpuetl.table_steps import KeyedJoin, Validate
from gpuetl.types.data_types import NULL, STRING, DataType, can_be_key, common_type, is_temporal
from gpuetl.types.decimal_types import is_decimal
from gpuetl.types.nested_types import is_list, is_map, is_struct

MOST_ROWS = 4000
"""No join is drawn whose result could have more rows."""
KINDS: tuple[KeyedJoin | Literal["cross"], ...] = (
    "inner",
    "left",
    "full",
    "right",
    "semi",
    "anti",
    "cross",
    "inner",
    "left",
)
CHECKS: tuple[Validate, ...] = ("many_to_many",) * 9 + ("many_to_one", "one_to_many", "one_to_one")


def joined(builder: Builder, relation: Relation) -> Table | None:
    """A join with a source or an earlier stage, on up to three pairs of columns whose types meet."""
    draws = builder.draws
    options = [other for other in builder.others if other.facts.most_rows * relation.facts.most_rows <= MOST_ROWS]
    if not options:
        return None
    if draws.chance(30) and (nearest := joined_as_of(builder, relation, draws.one_of(options))):
        return nearest
    right, how, suffix = draws.one_of(options), draws.one_of(KINDS), f"_{len(relation.table.steps)}"
    if how == "cross":
        return relation.table.join(right.table, how="cross", suffix=suffix)
    on = drawn_keys(builder, relation, right)
    checks = CHECKS[:1] if how in ("semi", "anti") else CHECKS
    if draws.chance(30) and (condition := drawn_condition(builder, relation, right)) is not None:
        if on is None or draws.chance(40):
            return relation.table.join(right.table, condition=condition, how=how, suffix=suffix)
        return relation.table.join(right.table, on, how, suffix=suffix, condition=condition)
    if on is None:
        return None
    return relation.table.join(
        right.table, on, how, validate=draws.one_of(checks), suffix=suffix, nulls_equal=draws.chance(30)
    )


def drawn_condition(builder: Builder, left: Relation, right: Relation) -> Expression | None:
    """One or two comparisons of a left with a right column; None where no types meet."""
    draws, types = builder.draws, (left.node.schema, right.node.schema)
    pairs = [(a, b) for a in left.comparable() for b in right.comparable() if types[0][a] == types[1][b] != NULL]
    if not pairs:
        return None
    parts = []
    for _ in range(draws.between(1, 2)):
        a, b = draws.one_of(pairs)
        sides = [f'l."{a}"', f'r."{b}"']
        parts.append(
            f" {draws.one_of(('<', '>=', '>', '<=', '<>', '='))} ".join(sides if draws.chance(50) else sides[::-1])
        )
    return builder.read(draws.one_of((" and ", " or ")).join(parts))


def joined_as_of(builder: Builder, left: Relation, right: Relation) -> Table | None:
    """A join with the nearest right row, by up to two keys; of rows that tie, by what tells them apart."""
    draws, schema = builder.draws, right.node.schema
    if right.facts.unique is None:
        return None
    times = [
        (a, b)
        for a in left.exact()
        for b in right.exact()
        if has_distance(left.node.schema[a]) and has_distance(schema[b]) and can_meet(left.node.schema[a], schema[b])
    ]
    if not times:
        return None
    ours, theirs = draws.one_of(times)
    dtype, keys = left.node.schema[ours], drawn_keys(builder, left, right) if draws.chance(80) else None
    order = sorted(right.facts.unique)
    if order and draws.chance(30):  # an expression before what tells the rows apart
        order.insert(0, f'"{draws.one_of(order)}" IS NULL desc')
    asof: AsofKeys = {
        "left": f'coalesce("{ours}", "{ours}")' if draws.chance(20) else ours,
        "right": f'coalesce("{theirs}", "{theirs}")' if draws.chance(20) else theirs,
        "direction": draws.one_of(("backward", "forward", "nearest")),
        "strict": draws.chance(30), "order_by": order,
    }  # fmt: skip
    if draws.chance(40) and not is_decimal(dtype) and not is_decimal(schema[theirs]):
        asof["tolerance"] = (f"{draws.below(4)} days" if is_temporal(dtype) else
                             f"{draws.below(40)} minutes" if pa.types.is_temporal(dtype) else draws.below(9))  # fmt: skip
    return left.table.join(
        right.table, keys, draws.one_of(("inner", "left")), asof=asof, suffix=f"_{len(left.table.steps)}",
        validate="many_to_one" if draws.chance(10) else "many_to_many", nulls_equal=draws.chance(30),
    )  # fmt: skip


def drawn_keys(builder: Builder, left: Relation, right: Relation) -> dict[str, str] | None:
    """Pairs of columns, no right one twice; None where no types meet."""
    types = left.node.schema, right.node.schema
    pairs = [
        (a, b)
        for a in left.comparable()
        for b in right.comparable()
        if meeting_type(types[0][a], types[1][b]) is not None
    ]
    chosen = dict(builder.draws.some_of(pairs, 1, 3))
    return {a: b for b, a in {b: a for a, b in chosen.items()}.items()} or None


def united(builder: Builder, relation: Relation) -> Table | None:
    """All rows of one or two other inputs too; half of the time a column tells from which a row is."""
    options = [other for other in builder.others if other.facts.most_rows <= MOST_ROWS // 10]
    if not options or relation.facts.most_rows > MOST_ROWS:
        return None
    others = [builder.draws.one_of(options) for _ in range(builder.draws.between(1, 2))]
    table, tag = relation.table, f"from{len(relation.table.steps)}" * builder.draws.chance(50)
    if tag:
        table = table.with_columns(**{tag: lit(0)})
    fitted = [fitting(builder, relation, other, {tag: lit(i)} if tag else {}) for i, other in enumerate(others, 1)]
    same = all(set(other.node.schema) - {tag} == set(relation.node.schema) for other in fitted)
    missing: Literal["error", "null"] = "error" if same and builder.draws.chance(50) else "null"
    return table.union(*{other.table.origin: other.table for other in fitted}.values(), missing=missing)


def intersected(builder: Builder, relation: Relation) -> Table | None:
    """Rows that another input has, of columns that both have; half of the time it is a part of the same rows."""
    return compared(builder, relation, "intersect")


def excepted(builder: Builder, relation: Relation) -> Table | None:
    """Rows that another input does not have, of columns that both have."""
    return compared(builder, relation, "except_")


def compared(builder: Builder, relation: Relation, method: str) -> Table | None:
    """Compare some exact columns with those of another input, whole rows or by count."""
    draws, schema = builder.draws, relation.node.schema
    names = draws.some_of(relation.comparable(), 1, 3)
    if not names or relation.facts.most_rows > MOST_ROWS:
        return None
    types = {name: schema[name] for name in names}
    options = [(other, columns) for other in builder.others if (columns := columns_of_types(builder, other, types))]
    table = relation.table.select(*names)
    if not options:
        return None
    other, columns = draws.one_of(options)
    theirs = other.table.select(**{name: col(theirs) for name, theirs in columns.items()})
    named = builder.named(builder.extended_by(other, theirs), builder.stage_name())
    if set(named.node.schema) != set(names):
        return None
    return getattr(table, method)(named.table, all=draws.chance(50))  # type: ignore[no-any-return]


def columns_of_types(builder: Builder, other: Relation, types: Mapping[str, DataType]) -> dict[str, str]:
    """Return columns of another input that meet those types; nothing where there is none for one of them."""
    schema, found = other.node.schema, dict[str, str]()
    for name, dtype in types.items():
        fitting = [theirs for theirs in other.exact() if common_type(schema[theirs], dtype) is not None]
        if not fitting:
            return {}
        found[name] = builder.draws.one_of(fitting)
    return found


def fitting(builder: Builder, relation: Relation, other: Relation, tag: dict[str, Expression]) -> Relation:
    """Return the other input as a stage, with a tag, and without the columns whose types do not meet."""
    schema = relation.node.schema
    wrong = [n for n, dtype in other.node.schema.items() if n in schema and common_type(schema[n], dtype) is None]
    table = other.table.with_columns(**tag) if tag else other.table
    if wrong and (tag or len(wrong) < len(other.node.schema)):
        table = table.drop(*wrong)
    longer = builder.extended_by(other, table)
    return other if longer is other else builder.named(longer, builder.stage_name())


def exploded(builder: Builder, relation: Relation) -> Table | None:
    """A list's elements, a map's entries, or the words of a text."""
    draws, schema, table = builder.draws, relation.node.schema, relation.table
    if relation.facts.most_rows > MOST_ROWS // 4:
        return None
    lists, texts = ([n for n, dtype in schema.items() if test(dtype)] for test in (is_list, lambda d: d == STRING))
    if not lists and texts:
        name = builder.new_name(relation)
        table = table.with_columns(**{name: apply("split", col(draws.one_of(texts)), draws.one_of(("a", " ", ".")))})
        lists = [name]
    if not lists:
        return None
    index = f"at{len(table.steps)}" * draws.chance(50)
    maps = [name for name, dtype in schema.items() if is_map(dtype)]
    if maps and draws.chance(50):
        prefix = f"m{len(table.steps)}_"
        return table.explode(draws.one_of(maps), keep_empty=draws.chance(50), index=index, prefix=prefix)
    return table.explode(draws.one_of(lists), keep_empty=draws.chance(50), index=index)


def unnested(builder: Builder, relation: Relation) -> Table | None:
    """A struct's fields, of one that is made where there is none."""
    draws, schema, table = builder.draws, relation.node.schema, relation.table
    structs = [name for name, dtype in schema.items() if is_struct(dtype)]
    if not structs:
        name, fields = builder.new_name(relation), draws.some_of(schema.names, 1, 3)
        table = table.with_columns(**{name: apply("struct_pack", **{f"f{i}": col(n) for i, n in enumerate(fields)})})
        return table.unnest(name, prefix=f"u{len(table.steps)}_" * draws.chance(80))
    struct = draws.one_of(structs)
    if draws.chance(40):  # with all fields by a star, where their names are new
        others = [name for name in schema if name != struct]
        if not {field.name for field in schema[struct]} & set(others):
            return table.select(*others, f"{struct}.*")
    return table.unnest(struct, prefix=f"u{len(table.steps)}_" * draws.chance(80))


def sampled(builder: Builder, relation: Relation) -> Table | None:
    """Some rows, or some of each group, chosen by a hash of exact columns."""
    draws, exact = builder.draws, relation.exact()
    plain = [name for name, dtype in relation.node.schema.items() if can_be_key(dtype)]
    by, seed = draws.some_of(relation.comparable(), 1, 2), draws.below(3)
    if not by:
        return None
    ordered = len(exact) == len(plain)
    groups = draws.some_of(relation.comparable(), 1, 2) if ordered and draws.chance(30) else []
    if groups and draws.chance(50):
        return relation.table.sample(draws.one_of((0.5, 0.25, 0.9)), by=by, seed=seed, stratify=groups)
    if groups:
        return relation.table.sample(rows=draws.one_of((1, 0, 3)), by=by, seed=seed, stratify=groups)
    if ordered and draws.chance(50):
        return relation.table.sample(rows=draws.one_of((5, 0, 1, 20)), by=by if draws.chance(50) else (), seed=seed)
    return relation.table.sample(draws.one_of((0.5, 0.25, 0.9, 1.0, 0.0)), by=by, seed=seed)
