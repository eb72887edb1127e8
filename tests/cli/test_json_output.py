"""`--json`: one document on stdout and nothing else, with errors as data, whatever happens."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command import environment_without_coverage, gpuetl
from gpuetl.cli.json_output import COMMANDS

ROOT = Path(__file__).parents[2]
TEXT = """\
gpuetl: 1
name: small
sources: {rows: {parquet: rows.parquet}}
stages:
  kept:
    from: rows
    steps:
      - filter: x > 0
      - with_columns: {y: CAST(x AS int8)}
    expect:
      - unique: [x]
sinks: {out: {from: kept, parquet: out.parquet, mode: overwrite}}
tests:
  - {name: two rows, given: {rows: [{x: 1}, {x: 0}]}, expect: {kept: [{x: 1, y: 1}]}}
"""
PROBLEM_KEYS = {"code", "message", "within", "file", "line", "column", "width", "row", "hint"}


@pytest.fixture
def file(tmp_path):
    """A pipeline, and rows for which it runs."""
    path = tmp_path / "p.yaml"
    path.write_text(TEXT)
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "rows.parquet")
    return path


def document(done):
    """Return the one document of a command; all have these keys."""
    data = json.loads(done.stdout)
    assert {"schema_version", "exit_code", "problems"} <= data.keys()
    assert data["exit_code"] == done.exit_code
    assert all(problem.keys() == PROBLEM_KEYS for problem in data["problems"])
    return data


def test_run_prints_its_manifest(file, tmp_path):
    done = gpuetl("run", file, "--engine", "pandas", "--json", "--steps")
    data = document(done)
    (path,) = (tmp_path / ".gpuetl" / "p" / "runs").iterdir()
    assert data == json.loads(path.read_text())
    assert (data["status"], data["sinks"][0]["rows"]) == ("done", 2)
    assert "engine: pandas" in done.stderr
    assert "wrote out: 2 rows" in done.stderr


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_a_run_that_fails_prints_its_manifest(file, tmp_path, quiet):
    pq.write_table(pa.table({"x": [300]}), tmp_path / "rows.parquet")
    done = gpuetl("run", file, "--engine", "pandas", "--json", *quiet)
    data = document(done)
    assert (data["status"], data["failure"]["name"], data["exit_code"]) == ("failed", "kept", 1)
    (problem,) = data["problems"]
    assert (problem["code"], problem["file"], problem["line"], problem["column"]) == ("GE2002", str(file), 9, 27)
    assert done.stderr.splitlines()[-1]
    assert "has no result" in done.stderr


def test_a_contract_that_fails_is_data(file, tmp_path):
    pq.write_table(pa.table({"x": [1, 1]}), tmp_path / "rows.parquet")
    data = document(gpuetl("run", file, "--engine", "pandas", "--json"))
    assert (data["exit_code"], data["problems"][0]["code"], data["problems"][0]["line"]) == (4, "GE1601", 11)


@pytest.mark.parametrize("command", ["run", "plan", "test", "validate"])
def test_mistakes_of_the_file_are_data(file, command):
    file.write_text(TEXT.replace("x > 0", "xx > 0"))
    data = document(gpuetl(command, file, "--json"))
    assert data["exit_code"] == 2
    (problem,) = [one for one in data["problems"] if one["code"] == "GE1003"]
    assert problem["message"] == "unknown column 'xx'"
    assert problem["hint"] == "Columns: x. Did you mean 'x'?"
    assert (problem["file"], problem["line"], problem["column"], problem["width"]) == (str(file), 8, 17, 2)


@pytest.mark.parametrize("command", ["run", "runs", "plan", "test", "validate", "verify"])
def test_a_file_that_is_not_there_is_data(tmp_path, command):
    done = gpuetl(command, tmp_path / "none.yaml", "--json")
    data = document(done)
    assert (data["exit_code"], [one["code"] for one in data["problems"]]) == (2, ["GE1002"])


@pytest.mark.parametrize("command", ["run", "runs", "plan", "test", "validate", "verify"])
def test_a_wrong_command_line_is_data(file, command):
    done = gpuetl(command, file, "--json", "--bogus")
    data = document(done)
    (problem,) = data["problems"]
    assert (data["command"], problem["code"]) == (command, "GE3004")
    assert problem["message"] == "unrecognized arguments: --bogus"
    assert problem["hint"] == f"What it takes: gpuetl {command} --help"
    assert "usage: gpuetl" in done.stderr


def test_an_engine_that_cannot_run_is_data(file):
    data = document(gpuetl("plan", file, "--json", "--engine", "abacus"))
    (problem,) = data["problems"]
    assert (data["exit_code"], problem["code"], problem["file"]) == (2, "GE3003", None)
    assert "abacus" in problem["message"]


def test_a_bug_is_data(file, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("gpuetl.run.planning.plan_to_show", broken)
    done = gpuetl("plan", file, "--json")
    (problem,) = document(done)["problems"]
    assert (done.exit_code, problem["code"]) == (1, "GE2009")
    assert problem["hint"].startswith("This is a bug in gpuetl")


def test_plan_prints_nodes(file):
    done = gpuetl("plan", file, "--json", "--engine", "pandas")
    data = document(done)
    assert (data["pipeline"], data["engine"], data["rung"]) == ("small", "pandas", None)
    assert [node["kind"] for node in data["nodes"]][:3] == ["Scan", "Filter", "Project"]
    scan = data["nodes"][0]
    assert (scan["origin"], scan["inputs"]) == ({"kind": "source", "name": "rows", "step": 0}, [])
    assert (scan["expected_rows"], scan["row_groups"], scan["skipped_row_groups"]) == (2, 1, 0)
    assert scan["file_bytes"] > 0
    assert data["nodes"][1]["inputs"] == [0]
    assert {(root["kind"], root["name"]) for root in data["roots"]} >= {("sink", "out")}
    assert data["memory"]["fits"]
    assert 0 < data["memory"]["expected"] < data["memory"]["available"]
    assert done.stderr == ""


def test_plan_prints_a_rung(file):
    data = document(gpuetl("plan", file, "--json", "--rung", "end"))
    assert [(node["kind"], node["origin"]["name"]) for node in data["nodes"]][:2] == [
        ("Read", "rows"),
        ("Filter", "kept"),
    ]
    assert {root["name"] for root in data["roots"] if root["kind"] == "sink"} == {"out"}
    assert data["rung"] == "end"


def test_plan_has_warnings_as_data(file):
    file.write_text(TEXT.replace("sources: {", "sources: {more: {parquet: rows.parquet}, "))
    done = gpuetl("plan", file, "--json")
    (warning,) = document(done)["warnings"]
    assert (warning["code"], warning["line"]) == ("GE1701", 3)
    assert done.stderr == ""


def test_test_prints_results(file):
    data = document(gpuetl("test", file, "--engine", "pandas", "--json"))
    assert (data["passed"], data["problems"]) == (True, [])
    assert [(one["name"], one["outcome"]) for one in data["results"]] == [("two rows", "passed")]
    file.write_text(TEXT.replace("y: 1}]", "y: 2}]"))
    failed = gpuetl("test", file, "--engine", "pandas", "--json")
    data = document(failed)
    assert (failed.exit_code, data["passed"], data["results"][0]["outcome"]) == (5, False, "failed")


def test_validate_prints_what_it_counted(file):
    data = document(gpuetl("validate", file, "--json"))
    assert (data["valid"], data["counts"]) == (True, {"sources": 1, "stages": 1, "sinks": 1, "tests": 1})


TWIN = """\
import os

def double(x):
    print("a user's line")
    os.write(1, b"and one of native code\\n")
    return {"y": 2 * x}
"""
NOISY = TEXT.replace(
    "- with_columns: {y: CAST(x AS int8)}",
    "- kernel: {body: y = 2 * x;, inputs: x, outputs: {y: int64}, reference: 'twin.py:double'}",
)


def process(folder, *arguments):
    """Run a command in a process of its own."""
    environment = {**environment_without_coverage(), "PYTHONPATH": str(ROOT / "src")}
    line = [sys.executable, "-m", "gpuetl", *arguments]
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_what_a_users_code_prints_goes_to_stderr(file, tmp_path):
    file.write_text(NOISY)
    (tmp_path / "twin.py").write_text(TWIN)
    done = process(tmp_path, "run", "p.yaml", "--engine", "pandas", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "done"
    assert "a user's line" in done.stderr
    assert "and one of native code" in done.stderr


def test_a_signal_is_data(file, tmp_path):
    file.write_text(NOISY)
    (tmp_path / "twin.py").write_text("import os, signal\n\ndef double(x):\n    os.kill(os.getpid(), signal.SIGTERM)\n")
    done = process(tmp_path, "run", "p.yaml", "--engine", "pandas", "--json")
    data = json.loads(done.stdout)
    assert (done.returncode, data["exit_code"], data["status"]) == (143, 143, "interrupted")
    assert [one["message"] for one in data["problems"]] == ["interrupted (SIGTERM)"]


def test_a_full_disk_under_the_document_is_an_error(file, tmp_path):
    environment = {**environment_without_coverage(), "PYTHONPATH": str(ROOT / "src")}
    line = [sys.executable, "-m", "gpuetl", "validate", "p.yaml", "--json"]
    with open(os.devnull.replace("null", "full"), "w") as full:  # noqa: PTH123
        done = subprocess.run(line, cwd=tmp_path, env=environment, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert b"cannot write to stdout" in done.stderr


def test_commands_without_it_are_as_before(file):
    done = gpuetl("validate", file)
    assert done.stdout == f"{file}: valid, 1 source, 1 stage, 1 sink, 1 test\n"
    assert set(COMMANDS) == {"run", "runs", "validate", "plan", "test", "verify"}
