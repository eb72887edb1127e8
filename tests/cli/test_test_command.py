"""`gpuetl test` as a user meets it: what is printed, exit codes, JUnit XML."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import gpuetl

PIPELINE = """\
gpuetl: 1
name: small
params: {least: {type: int64, default: 1}}
sources: {rows: {parquet: rows.parquet, schema: {x: int64}}}
stages:
  kept: {from: rows, steps: [filter: x >= $least, with_columns: {y: x * 2}]}
sinks: {out: {from: kept, parquet: out.parquet}}
"""
TESTS = """\
tests:
  - name: twice
    given: {rows: [{x: 0}, {x: 3}, {}]}
    expect: {kept: [{x: 3, y: 6}]}
  - name: least & most
    params: {least: 5}
    given: {rows: [{x: 5}, {x: 4}]}
    expect: {kept: [{x: 5, y: 11}]}
  - name: overflow
    given: {rows: [{x: 9223372036854775807}]}
    expect: {kept: []}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(PIPELINE + TESTS)
    return path


def without_times(text: str) -> str:
    return re.sub(r"\d+\.\d+ s", "0 s", text)


def test_results_are_printed_and_the_exit_code_is_5(file: Path):
    done = gpuetl("test", file, "--engine", "pandas")
    assert done.exit_code == 5
    assert (
        without_times(done.stdout).replace(f"{file.parent}/", "")
        == """\
engine: pandas (asked for)
passed  twice  (0 s)
FAILED  least & most  (0 s)
        kept: 1 row expected, 1 found: 1 with another value in y
                    x  y
          expected  5  11
          actual    5  10
                       ^^
FAILED  overflow  (0 s)
        the run failed: small.yaml:6:69: stage 'kept', step 2: column 'y': \
x * 2 has no result, for 9223372036854775807, 2: overflow of int64
            kept: {from: rows, steps: [filter: x >= $least, with_columns: {y: x * 2}]}
                                                                              ^^^^^
        Row 1 of the frame 'rows': x = 9223372036854775807
        Cast an operand to decimal(38, 0) or float64, or filter such rows out.
3 tests of small on pandas: 1 passed, 2 failed, in 0 s
"""
    )
    assert sorted(path.name for path in file.parent.iterdir()) == ["small.yaml"]


def test_tests_that_pass_exit_with_0(file: Path):
    done = gpuetl("test", file, "--engine", "pandas", "--test", "tw*", "--partition-rows", "1")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1].startswith("1 test of small on pandas: 1 passed, in ")


def test_parameters_are_those_of_the_test_then_of_the_command(file: Path):
    done = gpuetl("test", file, "-p", "least=4", "--test", "twice", "--test", "least*")
    assert "kept: 1 row expected, 0 found: 1 missing" in done.stdout
    assert "kept: 1 row expected, 1 found: 1 with another value in y" in done.stdout


def test_results_are_written_as_junit_xml(file: Path):
    assert gpuetl("test", file, "--engine", "pandas", "--junit", file.parent / "tests.xml").exit_code == 5
    suites = ElementTree.parse(file.parent / "tests.xml").getroot()
    (suite,) = suites
    numbers = {name: suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped")}
    assert numbers == {"name": "small", "tests": "3", "failures": "1", "errors": "1", "skipped": "0"}
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert list(cases) == ["twice", "least & most", "overflow"]
    assert all(case.get("classname") == "small" and float(case.get("time")) >= 0 for case in cases.values())
    assert list(cases["twice"]) == []
    (failure,) = cases["least & most"]
    assert failure.tag == "failure"
    assert failure.get("message") == "kept: 1 row expected, 1 found: 1 with another value in y"
    assert "  expected  5  11\n" in failure.text
    (error,) = cases["overflow"]
    assert (error.tag, "has no result" in error.get("message")) == ("error", True)


@pytest.mark.parametrize(
    ("arguments", "text", "message"),
    [
        ([], PIPELINE, "no tests in "),
        (["--test", "twicee"], PIPELINE + TESTS, "no test is named 'twicee'"),
        (["--engine", "panda"], PIPELINE + TESTS, "Did you mean 'pandas'?"),
        (["--junit", "none/tests.xml"], PIPELINE + TESTS, "none does not exist"),
        ([], PIPELINE.replace("x * 2", "xx * 2") + TESTS, "small.yaml:6:69: stage 'kept', step 2: unknown column 'xx'"),
        ([], PIPELINE.replace("x * 2", "xx * 2"), "small.yaml:6:69: stage 'kept', step 2: unknown column 'xx'"),
        ([], PIPELINE + TESTS.replace("y: 6", "z: 6"), "test 'twice', expect 'kept': unknown column 'z'"),
        (["--from-run", "keptt"], PIPELINE, "unknown stage 'keptt'"),
    ],
)
def test_what_is_wrong_before_a_test_runs_exits_with_2(file: Path, arguments: list[str], text: str, message: str):
    file.write_text(text)
    refused = gpuetl("test", file, *arguments)
    assert refused.exit_code == 2, refused.output
    assert message in refused.stderr
    assert refused.stdout.count("passed") == 0


def test_results_are_printed_as_json(file: Path):
    done = gpuetl("test", file, "--engine", "pandas", "--json")
    report = json.loads(done.stdout)
    assert (done.exit_code, done.stderr) == (5, "")
    names = ("pipeline", "engine", "reason", "passed")
    assert [report[name] for name in names] == ["small", "pandas", "asked for", False]
    assert [(result["name"], result["outcome"]) for result in report["results"]] == [
        ("twice", "passed"),
        ("least & most", "failed"),
        ("overflow", "error"),
    ]
    assert report["results"][0].keys() == {"name", "outcome", "seconds", "differences", "notes"}
    assert report["results"][1]["differences"].startswith("kept: 1 row expected, 1 found: 1 with another value in y\n")
    passed = gpuetl("test", file, "--engine", "pandas", "--json", "--test", "twice", "--junit", file.parent / "t.xml")
    assert (passed.exit_code, json.loads(passed.stdout)["passed"]) == (0, True)
    assert (file.parent / "t.xml").exists()
    refused = gpuetl("test", file, "--json", "--from-run", "kept")
    (problem,) = json.loads(refused.stdout)["problems"]
    assert (refused.exit_code, problem["code"]) == (2, "GE3004")


def test_validate_counts_and_checks_tests(file: Path):
    pq.write_table(pa.table({"x": [1]}), file.parent / "rows.parquet")
    assert gpuetl("validate", file).stdout.strip().endswith("valid, 1 source, 1 stage, 1 sink, 3 tests")
    file.write_text(PIPELINE + TESTS.replace("y: 11", "y: much"))
    refused = gpuetl("validate", file)
    assert refused.exit_code == 2
    assert "test 'least & most', expect 'kept': column 'y': 'much' is not a valid int64" in refused.stderr


def test_a_test_from_real_rows_is_printed_or_added(file: Path):
    file.write_text(PIPELINE)
    pq.write_table(pa.table({"x": [0, 4, 5, None]}), file.parent / "rows.parquet")
    printed = gpuetl("test", file, "--from-run", "kept", "--rows", "1", "-p", "least=4")
    assert (printed.exit_code, printed.stdout) == (
        0,
        """\
tests:
  - name: kept of real rows
    params:
      least: 4
    given:
      rows:
        columns: [x]
        rows:
          - [4]
    expect:
      kept:
        columns: [x, y]
        rows:
          - [4, 8]
""",
    )
    assert file.read_text() == PIPELINE
    added = gpuetl("test", file, "--from-run", "kept", "--rows", "1", "-p", "least=4", "--write")
    assert (added.exit_code, added.stdout) == (0, f"{file}: added the test 'kept of real rows'\n")
    assert file.read_text() == f"{PIPELINE}\n{printed.stdout}"
    assert gpuetl("test", file).exit_code == 0
