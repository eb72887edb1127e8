"""The stages that a relation compares with the result: relations.py says what must hold of them."""

import pyarrow as pa

from fuzz.builder import Builder, Relation
from gpuetl import col, count
from gpuetl.expressions.expression import Expression
from gpuetl.plan import nodes
from gpuetl.plan.graph import walk_graph
from gpuetl.table_steps import OnFail
from gpuetl.types.data_types import is_floating, is_integer

ON_FAIL: tuple[OnFail, ...] = ("warn", "quarantine")

PARTS = ("part_true", "part_false", "part_null")
TOTALS = "totals"
SUM_OF = "sum of "
FRACTIONS = {"small": 0.3, "large": 0.7}
COUNTS = {"three": 3, "ten": 10}
AGAIN, LIMITED = "again", "limited"
EXPECTED, REJECTS, BREAKING = "expected", "rejects", "breaking"
SUBSETS = (*FRACTIONS, *COUNTS, AGAIN, LIMITED)


def add_stages(builder: Builder, result: Relation) -> str:
    """Choose the relation to check, and declare the stages that it compares."""
    relation = builder.draws.one_of(("yaml", "permuted", "partitioned", "doubled", "summed", "subsets", "expected"))
    declare = {
        "partitioned": add_parts, "doubled": add_totals, "summed": add_sums, "subsets": add_subsets,
        "expected": add_expectations,
    }.get(relation)  # fmt: skip
    return relation if declare is None or declare(builder, result) else "permuted"


def add_parts(builder: Builder, result: Relation) -> bool:
    """The rows that pass a filter, those that fail it and those for which it is null."""
    predicate = Expression(builder.expressions(result).condition())
    for name, part in zip(PARTS, (predicate, ~predicate, predicate.is_null()), strict=True):
        result.table.filter(part).stage(name)
    return True


def add_totals(builder: Builder, result: Relation) -> bool:
    """A count and sums of exact numbers, where each row of the result comes from one row of a source."""
    by_row = (nodes.Read, nodes.Filter, nodes.Project, nodes.Union, nodes.Explode)
    if not all(isinstance(each, by_row) for each in walk_graph(result.node)):
        return False
    whole = [n for n, dtype in result.node.schema.items() if is_integer(dtype) or pa.types.is_decimal(dtype)]
    sums = {f"sum_{i}": col(name).sum() for i, name in enumerate(whole)}
    result.table.aggregate((), (), rows=count(), **sums).stage(TOTALS)
    return True


def add_sums(builder: Builder, result: Relation) -> bool:
    """Sums of exact floats, also of wild ones, by up to one column."""
    floats = [name for name in result.exact() if is_floating(result.node.schema[name])]
    if not floats:
        return False
    by = builder.draws.some_of(result.exact(), 0, 1)
    result.table.aggregate(by, (), **{SUM_OF + name: col(name).sum() for name in floats}).stage(TOTALS)
    return True


def add_subsets(builder: Builder, result: Relation) -> bool:
    """Samples of some fractions and sizes by one seed, a sample of a sample, and the first rows in any order."""
    exact = result.exact()
    if not exact:
        return False
    rows, by, seed = result.table.select(*exact), builder.draws.some_of(exact, 0, 2), builder.draws.below(3)
    for name, fraction in FRACTIONS.items():
        rows.sample(fraction, by=by, seed=seed).stage(name)
    for name, size in COUNTS.items():
        rows.sample(rows=size, by=by, seed=seed).stage(name)
    rows.sample(FRACTIONS["large"], by=by, seed=seed).sample(FRACTIONS["small"], by=by, seed=seed).stage(AGAIN)
    rows.limit(COUNTS["three"]).stage(LIMITED)
    return True


def add_expectations(builder: Builder, result: Relation) -> bool:
    """Rows that break a condition, and perhaps those that repeat, in quarantine; what is counted beside it."""
    exact = result.exact()
    if not exact:
        return False
    condition = Expression(builder.expressions(result).condition())
    keys, target = builder.draws.some_of(exact, 1, 2), builder.draws.one_of(exact)
    distinct = result.table.select(target).distinct().limit(3).stage("targets")
    how: OnFail = builder.draws.one_of(ON_FAIL)
    expected = (
        result.table.expect(that=condition, name="that", on_fail="quarantine")
        .expect(not_null=result.node.schema.names, on_fail="warn")
        .expect(unique=keys, name="unique", on_fail=how)
        .expect(references={target: f"{distinct.origin}.{target}"}, name="references", on_fail=how)
        .stage(EXPECTED)
    )
    expected.rejected.stage(REJECTS)
    result.table.filter(~condition).stage(BREAKING)
    return True
