"""What is checked of a case: DuckDB's rows, other plans and layouts, and one relation that must hold."""

import enum
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa

from fuzz.cases import PARTS, RESULT, TOTALS, Case
from fuzz.compare import assert_same_rows
from fuzz.duckdb_casts import Untranslated
from fuzz.duckdb_oracle import duckdb_fails, duckdb_rows
from fuzz.precision import Precision
from gpuetl import Pipeline, RunOptions
from gpuetl.backends.engines import load_backend
from gpuetl.errors import RunFailed
from gpuetl.executors.local import LocalExecutor
from gpuetl.pipeline import loads
from gpuetl.plan import nodes
from gpuetl.plan.plan import Plan
from gpuetl.report.recorder import Recorder, recording, silent
from gpuetl.run import lowered

CONSTANT = "has no result, for"
"""What errors of constants say; those of columns name a row.  DuckDB has no error where there is no row."""
AS_WRITTEN = RunOptions(optimize=False)


class Outcome(enum.Enum):
    """How a case ended, where nothing is wrong."""

    COMPARED = "compared"
    SKIPPED = "not comparable"
    CONSTANT = "a constant without a result"
    REFUSED = "both found no result"


class Failed(Exception):
    """What the engine says where values have no result."""


def check_case(case: Case) -> Outcome:
    """Raise `AssertionError` where two answers differ."""
    case.write()
    plan = case.pipeline.plan()
    expected = answer(plan, AS_WRITTEN)
    sources = {source.name: source.rows for source in case.sources}
    try:
        found = duckdb_rows(plan.stages[RESULT], sources)
    except Untranslated:
        return Outcome.SKIPPED
    if isinstance(expected, Failed):
        if CONSTANT in str(expected):
            return Outcome.CONSTANT
        both = found is None or duckdb_fails(plan.stages[RESULT], sources)
        assert both, f"the engine fails, DuckDB does not: {expected}"
        fails_in_parts(case, plan, expected)
        return Outcome.REFUSED
    assert found is not None, "DuckDB fails, the engine does not"
    same(case, found, expected, "DuckDB", Precision.COARSE)
    for what, options in layouts(case).items():
        same(case, answer(plan, options), expected, what)
    RELATIONS[case.relation](case, expected)
    return Outcome.COMPARED


def same(case: Case, got: pa.Table | Failed, expected: pa.Table, what: str, least: Precision = Precision.SELF) -> None:
    """Compare the result's rows with others; in order where the plan ends in a total one."""
    assert not isinstance(got, Failed), f"{what}: fails, as written it does not: {got}"
    ordered = isinstance(case.node, nodes.Sort) and case.facts.sorted
    if what == "DuckDB":
        got, expected = expected, got  # DuckDB's are those expected
    assert_same_rows(got, expected, case.facts.precision, least, ordered, what)


def layouts(case: Case) -> dict[str, RunOptions]:
    """Return the ways to run a plan beside as it is written, in one partition."""
    many = in_parts(case)
    ways = (many, replace(many, broadcast_bytes=0), replace(many, broadcast_bytes=0, optimize=False))
    way = ways[len(case.pipeline.spec.stages[RESULT].steps) % len(ways)]
    return {"optimized": RunOptions(), f"many partitions, {way}": way}


def in_parts(case: Case) -> RunOptions:
    """Return options that make some partitions of each source."""
    return RunOptions(partition_rows=max(1, max(source.rows.num_rows for source in case.sources) // 4))


def fails_in_parts(case: Case, plan: Plan, failed: Failed) -> None:
    """A failure must not depend on how rows are split; a column that nobody wants may go with the optimizer."""
    options = replace(in_parts(case), broadcast_bytes=0, optimize=False)
    assert isinstance(answer(plan, options), Failed), f"many partitions have a result, one has not: {failed}"


def answer(plan: Plan, options: RunOptions, stage: str = RESULT) -> pa.Table | Failed:
    """Return a stage's rows, or what the engine says of values without a result."""
    backend = load_backend("pandas")
    physical, _ = lowered(plan.keeping([stage]), options)
    recorder = Recorder(silent)
    with recording(recorder):
        executor = LocalExecutor(backend, recorder, physical.roots)
        try:
            return backend.to_arrow(next(executor.partitions(physical.kept[stage])))
        except RunFailed as error:
            return Failed(str(error))


def read_again(case: Case, expected: pa.Table) -> None:
    """The pipeline written as YAML and read again is the same, and has the same answer."""
    text = case.pipeline.to_yaml()
    again = loads(text, case.pipeline.root)
    assert again.to_yaml() == text, f"YAML read and written again differs:\n{again.to_yaml()}"
    assert again.fingerprint == case.pipeline.fingerprint, "YAML read again has another fingerprint"
    same(case, answer(again.plan(), RunOptions()), expected, "read from YAML")


def permuted(case: Case, expected: pa.Table) -> None:
    """The order of the sources' rows does not matter."""
    sources = tuple(replace(s, rows=s.rows.take(shuffled(s.rows.num_rows))) for s in case.sources)
    same(case, with_sources(case, sources), expected, "rows in another order")


def shuffled(count: int) -> pa.Array:
    """Return row numbers in an order of their own."""
    return pa.array(np.random.default_rng(count).permutation(count))


def with_sources(case: Case, sources: tuple, stage: str = RESULT) -> pa.Table | Failed:
    """Return a stage's rows on other sources."""
    replace(case, sources=sources).write()
    fresh = Pipeline.from_spec(case.pipeline.spec, case.pipeline.root, case.pipeline._problems)
    return answer(fresh.plan(), in_parts(case), stage)


def partitioned(case: Case, expected: pa.Table) -> None:
    """Rows that pass a filter, those that fail it and those for which it is null are all rows."""
    plan = case.pipeline.plan()
    parts = [answer(plan, in_parts(case), stage) for stage in PARTS]
    if not any(isinstance(part, Failed) for part in parts):
        same_set(case, pa.concat_tables(parts), expected, "the parts of a filter")


def same_set(case: Case, got: pa.Table, expected: pa.Table, what: str) -> None:
    """Compare rows in any order."""
    assert_same_rows(got, expected, case.facts.precision, Precision.SELF, False, what)


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


RELATIONS: dict[str, Callable[[Case, pa.Table], None]] = {
    "yaml": read_again, "permuted": permuted, "partitioned": partitioned, "doubled": doubled,
}  # fmt: skip
