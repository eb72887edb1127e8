"""What is checked of a case: DuckDB's rows, other plans and layouts, and one relation that must hold."""

import enum
from dataclasses import replace

from fuzz.answers import Failed, answer, in_parts, same
from fuzz.cases import RESULT, Case
from fuzz.duckdb_casts import Untranslated
from fuzz.duckdb_oracle import duckdb_fails, duckdb_rows
from fuzz.precision import Precision
from fuzz.relations import RELATIONS, held_to_rules
from gpuetl import RunOptions
from gpuetl.plan.plan import Plan

AS_WRITTEN = RunOptions(optimize=False)


class Outcome(enum.Enum):
    """How a case ended, where nothing is wrong."""

    COMPARED = "compared"
    SKIPPED = "not comparable"
    CONSTANT = "a constant without a result"
    REFUSED = "both found no result"


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
        if expected.constant:  # DuckDB has no error where there is no row
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


def check_engine(case: Case, engine: str) -> Outcome:
    """Raise `AssertionError` where an engine and the oracle differ; a refusal of one must be one of the other."""
    case.write()
    plan = case.pipeline.plan()
    expected = answer(plan, AS_WRITTEN)
    for what, options in {"as written": AS_WRITTEN, **layouts(case)}.items():
        got = answer(plan, options, engine=engine)
        if isinstance(expected, Failed):
            assert options.optimize or isinstance(got, Failed), (
                f"{engine}, {what}: has a result, the oracle says {expected}"
            )
        else:
            same(case, got, expected, f"{engine}, {what}")
    if case.relation == "expected" and not isinstance(expected, Failed):
        held_to_rules(case, expected, engine)
    return Outcome.REFUSED if isinstance(expected, Failed) else Outcome.COMPARED


def layouts(case: Case) -> dict[str, RunOptions]:
    """Return the ways to run a plan beside as it is written, in one partition."""
    many = in_parts(case)
    ways = (many, replace(many, broadcast_bytes=0), replace(many, broadcast_bytes=0, optimize=False))
    way = ways[len(case.pipeline.spec.stages[RESULT].steps) % len(ways)]
    return {"optimized": RunOptions(), f"many partitions, {way}": way}


def fails_in_parts(case: Case, plan: Plan, failed: Failed) -> None:
    """A failure must not depend on how rows are split; a column that nobody wants may go with the optimizer."""
    options = replace(in_parts(case), broadcast_bytes=0, optimize=False)
    assert isinstance(answer(plan, options), Failed), f"many partitions have a result, one has not: {failed}"
