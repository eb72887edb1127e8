"""What came of the tests of a file, and the same as JUnit XML for other tools."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Literal
from xml.etree import ElementTree

from gpuetl.json_text import as_json
from gpuetl.messages import one_line, printable
from gpuetl.records import dataclass
from gpuetl.whole_file import write_whole

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
