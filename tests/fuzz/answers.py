"""The engine's rows of a case, and whether they are those that were expected."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf

import pyarrow as pa

from fuzz.cases import RESULT, Case
from fuzz.compare import assert_same_rows
from fuzz.data import Source
from fuzz.precision import Precision
from gpuetl import Pipeline, RunOptions
from gpuetl.engines.no_result import NoResult
from gpuetl.engines.registry import load_backend
from gpuetl.errors import RunFailed
from gpuetl.executors.local import LocalExecutor
from gpuetl.executors.runner import Runner
from gpuetl.plan import nodes
from gpuetl.plan.plan import Plan
from gpuetl.run.planning import lowered
from gpuetl.telemetry.recorder import Recorder, recording, silent


class Failed(Exception):
    """What the engine says where values have no result; `constant` where they are not those of a row."""

    constant = False


def answer(plan: Plan, options: RunOptions, stage: str = RESULT, engine: str = "pandas") -> pa.Table | Failed:
    """Return a stage's rows, or what the engine says of values without a result."""
    found = answers(plan, options, (stage,), engine)
    return found if isinstance(found, Failed) else found[stage]


def answers(
    plan: Plan, options: RunOptions, stages: Sequence[str], engine: str = "pandas"
) -> dict[str, pa.Table] | Failed:
    """Return the rows of some stages of one run.

    Every other plan is as workers get it, who combine what partitions of a window carry on.
    """
    backend = load_backend(engine)
    physical, _ = lowered(plan.keeping(stages), options, "dask" if len(plan.nodes) % 2 else engine)
    recorder = Recorder(silent)
    with recording(recorder):
        executor = LocalExecutor(Runner(backend, recorder), physical.roots)
        try:
            return {name: backend.to_arrow(next(executor.partitions(physical.kept[name]))) for name in stages}
        except RunFailed as error:
            failed = Failed(str(error))
            failed.constant = isinstance(error.__cause__, NoResult) and error.__cause__.row is None
            return failed


def in_parts(case: Case) -> RunOptions:
    """Return options that make some partitions of each source; windows keep state where they can."""
    rows = max(1, max(source.rows.num_rows for source in case.sources) // 4)
    return RunOptions(partition_rows=rows, carried_share=inf)


def with_sources(case: Case, sources: tuple[Source, ...], stage: str = RESULT) -> pa.Table | Failed:
    """Return a stage's rows on other sources."""
    replace(case, sources=sources).write()
    fresh = Pipeline.from_spec(case.pipeline.spec, case.pipeline.root, case.pipeline._problems)
    return answer(fresh.plan(), in_parts(case), stage)


def same(case: Case, got: pa.Table | Failed, expected: pa.Table, what: str, least: Precision = Precision.SELF) -> None:
    """Compare the result's rows with others; in order where the plan ends in a total one."""
    assert not isinstance(got, Failed), f"{what}: fails, as written it does not: {got}"
    ordered = isinstance(case.node, nodes.Sort) and case.facts.sorted
    if what == "DuckDB":
        got, expected = expected, got  # DuckDB's are those expected
    assert_same_rows(got, expected, case.facts.precision, least, ordered, what)


def same_set(case: Case, got: pa.Table, expected: pa.Table, what: str) -> None:
    """Compare rows in any order."""
    assert_same_rows(got, expected, case.facts.precision, Precision.SELF, False, what)
