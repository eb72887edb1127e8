"""What must hold of a case beside DuckDB's rows."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from math import isfinite, isnan
from sys import float_info
from typing import Any

import numpy as np
import pyarrow as pa

from fuzz.answers import Failed, answer, answers, in_parts, same, same_set, with_sources
from fuzz.cases import Case
from fuzz.derived_stages import (
    AGAIN,
    BREAKING,
    COUNTS,
    EXPECTED,
    FRACTIONS,
    LIMITED,
    PARTS,
    REJECTS,
    SUBSETS,
    SUM_OF,
    TOTALS,
)
from fuzz.duckdb_oracle import stored
from gpuetl import RunOptions
from gpuetl.pipeline import loads
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import SortKey
from gpuetl.plan.nodes import Window
from gpuetl.spec.expect.rules import Unique
from gpuetl.spec.steps.sample import Sample
from gpuetl.types.data_types import DATE, can_be_key


def read_again(case: Case, expected: pa.Table) -> None:
    """The pipeline written as YAML and read again is the same, and has the same answer."""
    text = case.pipeline.to_yaml()
    again = loads(text, case.pipeline.root)
    assert again.to_yaml() == text, f"YAML read and written again differs:\n{again.to_yaml()}"
    assert again.fingerprint == case.pipeline.fingerprint, "YAML read again has another fingerprint"
    same(case, answer(again.plan(), RunOptions()), expected, "read from YAML")


def permuted(case: Case, expected: pa.Table) -> None:
    """The order of the sources' rows does not matter, also where windows keep state because of it."""
    sources = tuple(replace(s, rows=s.rows.take(shuffled(s.rows.num_rows))) for s in case.sources)
    same(case, with_sources(case, sources), expected, "rows in another order")
    for key in window_orders(case):
        sources = tuple(replace(s, rows=in_order(s.rows, key)) for s in case.sources)
        same(case, with_sources(case, sources), expected, f"rows in the order of {key}")


def window_orders(case: Case) -> set[SortKey]:
    """Return what the windows of a case order their rows by first."""
    return {node.order_by[0] for node in walk_graph(case.node) if isinstance(node, Window) and node.order_by}


def in_order(rows: pa.Table, key: SortKey) -> pa.Table:
    """Return rows in the order of a column, if they have it and it is no list."""
    if key.column not in rows.column_names or not can_be_key(rows.schema.field(key.column).type):
        return rows
    return rows.sort_by([(key.column, "descending" if key.descending else "ascending")])


def shuffled(count: int) -> pa.Array:
    """Return row numbers in an order of their own."""
    return pa.array(np.random.default_rng(count).permutation(count))


def partitioned(case: Case, expected: pa.Table) -> None:
    """Rows that pass a filter, those that fail it and those for which it is null are all rows."""
    plan = case.pipeline.plan()
    parts = [answer(plan, in_parts(case), stage) for stage in PARTS]
    if not any(isinstance(part, Failed) for part in parts):
        same_set(case, pa.concat_tables(parts), expected, "the parts of a filter")


def doubled(case: Case, expected: pa.Table) -> None:
    """Where each row stands alone, twice the rows give twice the rows, counts and sums."""
    sources = tuple(replace(s, rows=pa.concat_tables([s.rows, s.rows])) for s in case.sources)
    once, twice = answer(case.pipeline.plan(), RunOptions(), TOTALS), with_sources(case, sources, TOTALS)
    same_set(case, with_sources(case, sources), pa.concat_tables([expected, expected]), "rows twice")
    if isinstance(once, Failed) or isinstance(twice, Failed):
        return
    pairs = zip(once.to_pylist()[0].values(), twice.to_pylist()[0].values(), strict=True)
    assert all(b == (None if a is None else a + a) for a, b in pairs), (
        f"rows twice: {once.to_pylist()}, {twice.to_pylist()}"
    )


def summed(case: Case, expected: pa.Table) -> None:
    """Sums of floats are as near to the exact ones as the contract has it: |sum - exact| <= 4 n eps sum |x|."""
    plan = case.pipeline.plan()
    for options in (RunOptions(), in_parts(case)):
        totals = answer(plan, options, TOTALS)
        assert not isinstance(totals, Failed), f"sums: {totals}"
        keys = [name for name in totals.column_names if not name.startswith(SUM_OF)]
        for name in set(totals.column_names) - set(keys):
            check_sums(groups_of(expected, keys, name.removeprefix(SUM_OF)), groups_of(totals, keys, name), options)


def groups_of(rows: pa.Table, keys: list[str], name: str) -> dict[tuple[Any, ...], list[float]]:
    """Return the values of a column that are not null, by group."""
    groups: dict[tuple[Any, ...], list[float]] = {} if keys else {(): []}
    for key, value in zip(
        tuples(rows.select(keys)) if keys else [()] * rows.num_rows, rows.column(name).to_pylist(), strict=True
    ):
        groups.setdefault(key, []).extend([] if value is None else [value])
    return groups


def check_sums(
    groups: dict[tuple[Any, ...], list[float]], sums: dict[tuple[Any, ...], list[float]], options: RunOptions
) -> None:
    """Raise `AssertionError` where a group's sum is too far away."""
    assert groups.keys() == sums.keys(), f"groups of {options}: {sums.keys()}, expected {groups.keys()}"
    for key, values in groups.items():
        got = sums[key][0] if sums[key] else None
        assert is_sum(got, values), f"{options}: the sum of {values} is {got}, of group {key}"


def is_sum(got: float | None, values: list[float]) -> bool:
    """Tell whether a float is a sum of the values: null of none, IEEE's of what is not finite; else near enough."""
    if not values or got is None:
        return got is None and not values
    others = [value for value in values if not isfinite(value)]
    if others:
        right = sum(others)
        return got == right or (isnan(got) and isnan(right))
    exact, size = sum(map(Fraction, values)), sum(abs(Fraction(value)) for value in values)
    if not isfinite(got):
        return size > float_info.max  # a sum on the way is too large
    return abs(Fraction(got) - exact) <= 4 * len(values) * Fraction(float_info.epsilon) * size


def subsets(case: Case, expected: pa.Table) -> None:
    """Samples are nested, the same ones in all layouts, and keep groups whole; a limit keeps any rows."""
    plan, first = case.pipeline.plan(), None
    for options in (RunOptions(), replace(in_parts(case), broadcast_bytes=0)):
        found = answers(plan, options, SUBSETS)
        assert not isinstance(found, Failed), f"samples: {found}"
        rows = {name: Counter(tuples(table)) for name, table in found.items()}
        whole = Counter(tuples(expected.select(found[LIMITED].column_names)))
        assert rows["small"] <= rows["large"] <= whole, f"{options}: samples are not nested"
        assert rows["three"] <= rows["ten"] <= whole, f"{options}: samples of rows are not nested"
        assert rows[LIMITED] <= whole, f"{options}: a limit makes rows"
        assert rows[AGAIN] == rows["small"], f"{options}: a sample of a sample"
        for name, size in {**COUNTS, LIMITED: COUNTS["three"]}.items():
            assert rows[name].total() == min(size, whole.total()), f"{options}: {rows[name].total()} rows of {name}"
        assert_groups_whole(case, found["small"], expected)
        first = first or rows
        assert all(rows[name] == first[name] for name in (*FRACTIONS, *COUNTS)), f"{options}: other rows are sampled"


def assert_groups_whole(case: Case, sample: pa.Table, expected: pa.Table) -> None:
    """Raise `AssertionError` where a sample has some rows only of a key."""
    step = case.pipeline.spec.stages["small"].steps[-1]
    assert isinstance(step, Sample)
    keys = list(step.by) or sample.column_names
    sampled, every = (Counter(tuples(rows.select(keys))) for rows in (sample, expected))
    assert all(every[key] == count for key, count in sampled.items()), f"rows of equal {keys} are apart"


def tuples(rows: pa.Table) -> Iterable[tuple[Any, ...]]:
    """Return rows that can be counted: NaN is one value, -0.0 is 0.0; Python has no dates beyond the year 9999."""
    columns = [column.cast(pa.int32()) if column.type == DATE else column for column in stored(rows).columns]
    columns = [map(countable, column.to_pylist()) for column in columns]
    return zip(*columns, strict=True)


def countable(value: Any) -> Any:
    """Return what stands for a value in a counter."""
    return repr(value + 0.0) if isinstance(value, float) else value


def held_to_rules(case: Case, expected: pa.Table, engine: str = "pandas") -> None:
    """What remains and what is in quarantine are all rows; each rule counts the rows that break it."""
    plan = case.pipeline.plan()
    checks = {f"counts of {name}": node for name, node in plan.checks.items()}
    counted = replace(plan, stages={**plan.stages, **checks}, checks={})
    names = [EXPECTED, REJECTS, BREAKING, "targets", *checks]
    rules = {rule.rule: f"counts of {rule.counts}" for rule in plan.rules}
    unique = case.pipeline.spec.stages[EXPECTED].expect[2]
    assert isinstance(unique, Unique)
    keys = list(unique.columns)
    for options in (RunOptions(), replace(in_parts(case), broadcast_bytes=0)):
        found = answers(counted, options, names, engine)
        if isinstance(found, Failed):  # the condition has no result for some row
            return
        rejected = found[REJECTS].select(expected.column_names)
        same_set(case, pa.concat_tables([found[EXPECTED], rejected]), expected, f"{options}: kept and rejected rows")
        counts = {rule: found[relation].column(rule)[0].as_py() or 0 for rule, relation in rules.items()}
        (target,) = found["targets"].column_names
        known = set(tuples(found["targets"]))
        right = {
            "that": found[BREAKING].num_rows,
            "unique": repeats(expected.select(keys)),
            "references": sum(v not in known for v in tuples(expected.select([target])) if v != (None,)),
            **{f"not_null({name})": expected.column(name).null_count for name in expected.column_names},
        }
        assert counts == right, f"{options}: counts {counts}, expected {right}"
        broken = Counter(rule for text in found[REJECTS].column("_rule").to_pylist() for rule in text.split(", "))
        assert broken["that"] == right["that"], f"{options}: {broken['that']} rows in quarantine for 'that'"


def repeats(rows: pa.Table) -> int:
    """Return how many rows have equal values, none of them null, in another row too."""
    groups = Counter(values for values in tuples(rows) if None not in values)
    return sum(count for count in groups.values() if count > 1)


RELATIONS: dict[str, Callable[[Case, pa.Table], None]] = {
    "yaml": read_again, "permuted": permuted, "partitioned": partitioned, "doubled": doubled, "summed": summed,
    "subsets": subsets, "expected": held_to_rules,
}  # fmt: skip
