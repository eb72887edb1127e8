"""Runs the tests of a pipeline, and reports what came of them, also as JUnit XML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, Literal
from xml.etree import ElementTree

from gpuetl.engines.registry import Choice, choose_engine, load_driver_backend
from gpuetl.errors import EngineUnavailable, GpuetlError, InvalidPipeline, PackageMissing, Problems, have_hint
from gpuetl.executors.execution import on_workers
from gpuetl.file_tests.case import Case, prepared_cases
from gpuetl.file_tests.row_differences import compare_rows, difference_text
from gpuetl.messages import coded, one_line, printable
from gpuetl.options import RunOptions
from gpuetl.output_files import as_json, write_whole
from gpuetl.records import dataclass
from gpuetl.run.pipeline_run import RunRequest, run_pipeline
from gpuetl.spec.definition import PipelineDefinition
from gpuetl.spec.tests import TestSpec
from gpuetl.telemetry.recorder import silent

# What came of the tests of a file, and the same as JUnit XML for other tools.


Outcome = Literal["passed", "failed", "error"]


@dataclass(frozen=True)
class TestResult:
    """What came of one test.

    `outcome` is `failed` where rows differ, or a failure that is expected did not come, and `error` where the run
    failed; `differences` says why.
    """

    __test__: ClassVar[bool] = False

    name: str
    outcome: Outcome
    seconds: float
    differences: str = ""
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether all was as expected."""
        return self.outcome == "passed"


@dataclass(frozen=True, repr=False)
class TestReport:
    """What came of a pipeline's tests on an engine."""

    __test__: ClassVar[bool] = False

    pipeline: str
    engine: str
    reason: str
    results: tuple[TestResult, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether every test passed."""
        return all(result.passed for result in self.results)

    @property
    def summary(self) -> str:
        """How many tests passed and failed."""
        failed = sum(not result.passed for result in self.results)
        count = len(self.results)
        counts = f"{count - failed} passed" + (f", {failed} failed" if failed else "")
        return (
            f"{count} test{'s' * (count != 1)} of {self.pipeline} on {self.engine}: {counts}, in {self.seconds:.2f} s"
        )

    def __repr__(self) -> str:
        """Show every test, and how those that failed differ."""
        return "\n".join([*(line for result in self.results for line in result_lines(result)), self.summary])

    def _repr_html_(self) -> str:
        from gpuetl.report.notebook_pages import verdict_page

        lines = [(one.name, one.outcome, f"{one.seconds:.3f}", one.differences) for one in self.results]
        return verdict_page(self.summary, ("test", "outcome", "seconds", "differences"), lines, ())

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {"passed": self.passed, **asdict(self)}

    def to_json(self) -> str:
        """Return the report as JSON."""
        return as_json(self.to_dict())

    def write_junit(self, path: str | Path) -> None:
        """Write the results as JUnit XML."""
        write_whole(path, junit_xml(self))


def result_lines(result: TestResult) -> list[str]:
    """Return a test's line, and below it how it differs."""
    word = "passed" if result.passed else "FAILED"
    lines = [f"{word}  {one_line(result.name)}  ({result.seconds:.3f} s)"]
    return lines + [f"        {line}".rstrip() for line in printable(result.differences).splitlines()]


def junit_xml(report: TestReport) -> bytes:
    """Return the results as JUnit XML: one suite, a case a test, with `failure` or `error` where it did not pass."""
    counts = {outcome: sum(r.outcome == outcome for r in report.results) for outcome in ("failed", "error")}
    numbers = {
        "tests": str(len(report.results)), "failures": str(counts["failed"]), "errors": str(counts["error"]),
        "skipped": "0", "time": f"{report.seconds:.3f}",
    }  # fmt: skip
    suites = ElementTree.Element("testsuites", {"name": "gpuetl", **numbers})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": sound(one_line(report.pipeline)), **numbers})
    properties = ElementTree.SubElement(suite, "properties")
    ElementTree.SubElement(properties, "property", {"name": "engine", "value": report.engine})
    for result in report.results:
        named = {
            "classname": sound(one_line(report.pipeline)),
            "name": sound(one_line(result.name)),
            "time": f"{result.seconds:.3f}",
        }
        case = ElementTree.SubElement(suite, "testcase", named)
        if not result.passed:
            kind = "failure" if result.outcome == "failed" else "error"
            text = sound(result.differences)
            message = {"message": text.partition("\n")[0], "type": "difference" if kind == "failure" else "run failed"}
            ElementTree.SubElement(case, kind, message).text = text
    ElementTree.indent(suites)
    return bytes(ElementTree.tostring(suites, "utf-8", xml_declaration=True)) + b"\n"


_NOT_XML = re.compile("[^\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def sound(text: str) -> str:
    """Return text with escapes for control characters, and without others that XML cannot hold."""
    return _NOT_XML.sub("�", printable(text))


# Runs the tests of a pipeline, one after another in this process, on one engine.


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
    with on_workers(choice.name, load_driver_backend(choice.name), options, {}, silent) as (placed, _):
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
    run = run_pipeline(case.pipeline, case.params, choice, RunRequest(case.keep), options, None)
    if case.failure:
        return "failed", f"a failure with the words '{case.failure}' is expected, and the run did not fail"
    failures = []
    for name, expected in case.expected.items():
        rows = run[name].to_arrow()
        rows = rows if not expected.rows.column_names else rows.select(expected.rows.column_names)
        difference = compare_rows(rows, expected)
        if difference is not None:
            failures.append(difference_text(name, rows, expected, difference))
    return "failed" if failures else "passed", "\n".join(failures)


def of_failure(case: Case, message: str) -> tuple[Outcome, str]:
    """Return what a run that failed means for its test."""
    if not case.failure:
        return "error", f"the run failed: {message}"
    if case.failure in message:
        return "passed", ""
    return "failed", f"a failure with the words '{case.failure}' is expected, and the run failed with: {message}"
