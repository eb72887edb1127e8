"""Steps that learn from rows: `fit` with one to three transforms, and `apply` of what a stage has learned."""

from collections.abc import Callable

from fuzz.builder import Builder, Relation
from fuzz.precision import Precision
from gpuetl import Table, transforms
from gpuetl.spec.steps.fit import Transform
from gpuetl.types.data_types import STRING, can_be_key, is_integer, is_number

Drawn = Callable[[Builder, Relation, list[str], str], Transform | None]


def fitted(builder: Builder, relation: Relation) -> Table | None:
    """Features of one to three columns, added or in their place."""
    if any(step.verb == "fit" for step in relation.table.steps):  # a stage has one
        return None
    chosen = drawn_transforms(builder, relation)
    return relation.table.fit(chosen) if chosen else None


def applied(builder: Builder, relation: Relation) -> Table | None:
    """Transform rows as another stage, of the same rows, has learned to."""
    table = fitted(builder, relation)
    if table is None:
        return None
    learned = builder.extended_by(relation, table)
    if learned is relation:
        return None
    return relation.table.apply(builder.named(learned, builder.stage_name()).table)


def drawn_transforms(builder: Builder, relation: Relation) -> list[Transform]:
    """Draw transforms of columns that the relation has; each output has a name of its own."""
    draws, schema = builder.draws, relation.node.schema
    free = [name for i in range(1000) if (name := f"f{i}") not in schema]
    found = []
    for place in range(draws.between(1, 3)):
        verb = draws.one_of([*TRANSFORMS])
        numeric = verb in OF_NUMBERS
        suits = [
            name
            for name, dtype in schema.items()
            if (is_number(dtype) if numeric else can_be_key(dtype))
            and relation.facts.precision[name] >= (Precision.TAME if numeric else Precision.EXACT)
        ]
        if suits and (made := TRANSFORMS[verb](builder, relation, suits, free[place])):
            found.append(made)
    return found


def categorify(builder: Builder, relation: Relation, names: list[str], new: str) -> Transform:
    """Numbers by frequency, of one column or, with one vocabulary, of two of one type."""
    draws, schema = builder.draws, relation.node.schema
    first = draws.one_of(names)
    others = [name for name in names if name != first and schema[name] == schema[first]]
    joint = bool(others) and draws.chance(20)
    columns = {new: first, f"{new}b": draws.one_of(others)} if joint else {new: first}
    return transforms.categorify(
        columns, min_count=draws.one_of((None, 2, 3)), most=draws.one_of((None, None, 1, 3)),
        unknown_buckets=draws.one_of((None, None, 7)), joint=joint or None,
    )  # fmt: skip


def target_encode(builder: Builder, relation: Relation, names: list[str], new: str) -> Transform | None:
    """The mean of a small number, out of fold or not."""
    draws, schema = builder.draws, relation.node.schema
    targets = [n for n, dtype in schema.items() if is_number(dtype) and relation.facts.precision[n] is Precision.TAME]
    if not targets:
        return None
    column, folds = draws.one_of(names), draws.one_of((0, 2, 3))
    return transforms.target_encode(
        {new: column}, draws.one_of(targets), smoothing=draws.one_of((0, 1, 20)), folds=folds,
        fold_by=[draws.one_of(names)],
    )  # fmt: skip


def one_hot(builder: Builder, relation: Relation, names: list[str], new: str) -> Transform | None:
    """Marks of two values."""
    dtypes = relation.node.schema
    plain = [name for name in names if dtypes[name] == STRING or is_integer(dtypes[name])]
    values = [str(value) for value in builder.draws.some_of(("a", "0", "1", "-1"), 1, 2)]
    return transforms.one_hot(builder.draws.one_of(plain), values, prefix=f"{new}_") if plain else None


TRANSFORMS: dict[str, Drawn] = {
    "categorify": categorify,
    "normalise": lambda builder, _, names, new: transforms.normalise({new: builder.draws.one_of(names)}),
    "min_max": lambda builder, _, names, new: transforms.min_max({new: builder.draws.one_of(names)}),
    "fill": lambda builder, _, names, new: transforms.fill(
        {new: builder.draws.one_of(names)}, builder.draws.one_of(("min", "max", "mode", "mean", "median"))
    ),
    "clip": lambda builder, _, names, new: transforms.clip({new: builder.draws.one_of(names)}, lower=0, upper=2.5),
    "log": lambda builder, _, names, new: transforms.log({new: builder.draws.one_of(names)}),
    "bucketise": lambda builder, _, names, new: transforms.bucketise(
        {new: builder.draws.one_of(names)}, boundaries=[-1, 0, 2.5]
    ),
    "target_encode": target_encode,
    "one_hot": one_hot,
    "cross": lambda builder, _, names, new: transforms.cross(builder.draws.some_of(names, 1, 3), 10, new),
}
"""How each transform is drawn, of columns that suit it."""
OF_NUMBERS = ("normalise", "min_max", "fill", "clip", "log", "bucketise")
"""Those that take numbers; their statistics are equal in any order of rows only of small ones."""
