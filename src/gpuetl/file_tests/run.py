"""Runs the tests of a pipeline, one after another in this process, on one engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from time import perf_counter
from typing import Any

from gpuetl.engines.registry import Choice, choose_engine
from gpuetl.errors import (
    EngineUnavailable,
    GpuetlError,
    InvalidPipeline,
    PackageMissing,
    Problems,
    have_hint,
)
from gpuetl.executors.execution import on_workers
from gpuetl.file_tests.case import Case, prepared_cases
from gpuetl.file_tests.compare import compare_rows
from gpuetl.file_tests.render import difference_text
from gpuetl.file_tests.report import Outcome, TestReport, TestResult
from gpuetl.messages import coded
from gpuetl.options import RunOptions
from gpuetl.run.pipeline_run import Wanted, backend_of, run_pipeline
from gpuetl.spec.definition import PipelineDefinition
from gpuetl.spec.tests import TestSpec
from gpuetl.telemetry.recorder import silent


def run_tests(
    pipeline: PipelineDefinition,
    problems: Problems,
    params: Mapping[str, Any],
    engine: str,
    names: Iterable[str] | None,
    options: RunOptions | None,
    done: Callable[[TestResult], None] = lambda result: None,
) -> TestReport:
    """Run tests, all or those that `names` name or match: see `Pipeline.test`.

    `problems` are those that reading the pipeline met; `done` is called with each result.

    Raises
    ------
    InvalidPipeline
        Before anything runs: for mistakes in the pipeline or its tests, for a name that no test has, and for no test.
    """
    options = options or RunOptions()
    choice = choose_engine(engine)
    options.cluster.check_engine(choice.name)
    tests = selected(pipeline.spec.tests, names)
    cases = prepared_cases(pipeline, tests, params, problems, slice_rows=options.partition_rows)
    problems.check()
    if not cases:
        raise InvalidPipeline.because(
            coded("GE1606", f"no tests in {pipeline.spec.name}"), "docs/language.md shows one, under Tests."
        )
    start, results = perf_counter(), []
    with on_workers(choice.name, backend_of(choice.name), options, {}, silent) as (placed, _):
        for case in cases:
            results.append(result(case, choice, placed))
            done(results[-1])
    return TestReport(str(pipeline.spec.name), choice.name, choice.reason, tuple(results), perf_counter() - start)


def selected(tests: Iterable[TestSpec], names: Iterable[str] | None) -> list[TestSpec]:
    """Return the tests that have, or match, one of the names; all without names."""
    every = list(tests)
    if names is None:
        return every
    chosen: dict[str, TestSpec] = {}
    for name in names:
        found = [test for test in every if test.name == name or fnmatchcase(test.name, name)]
        if not found:
            raise InvalidPipeline.because(
                coded("GE1606", f"no test is named '{name}'"), have_hint(name, [t.name for t in every], noun="Tests")
            )
        chosen |= {str(test.name): test for test in found}
    return [test for test in every if test.name in chosen]


def result(case: Case, choice: Choice, options: RunOptions) -> TestResult:
    """Run one test; whatever it ends with is its result, unless the engine itself cannot run."""
    start = perf_counter()
    try:
        outcome, differences = compared(case, choice, options)
    except (EngineUnavailable, PackageMissing):
        raise
    except GpuetlError as error:
        outcome, differences = of_failure(case, str(error))
    return TestResult(case.name, outcome, perf_counter() - start, differences, case.notes)


def compared(case: Case, choice: Choice, options: RunOptions) -> tuple[Outcome, str]:
    """Run a test and compare its rows; raise what the run raises."""
    run = run_pipeline(case.pipeline, case.params, choice, Wanted(case.keep), options, None)
    if case.failure:
        return "failed", f"a failure with the words '{case.failure}' is expected, and the run did not fail"
    texts = []
    for name, expected in case.expected.items():
        rows = run[name].to_arrow()
        rows = rows if not expected.rows.column_names else rows.select(expected.rows.column_names)
        difference = compare_rows(rows, expected)
        if difference is not None:
            texts.append(difference_text(name, rows, expected, difference))
    return "failed" if texts else "passed", "\n".join(texts)


def of_failure(case: Case, message: str) -> tuple[Outcome, str]:
    """Return what a run that failed means for its test."""
    if not case.failure:
        return "error", f"the run failed: {message}"
    if case.failure in message:
        return "passed", ""
    return "failed", f"a failure with the words '{case.failure}' is expected, and the run failed with: {message}"
