"""What a run leaves out is counted at its end, by reason."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from least_covered import least_covered
from least_covered import main as print_coverage

ROOT = Path(__file__).parents[1]
ON_A_CLUSTER = "left to `make test-all`: single rows on a cluster, whose tasks compute as one process does"


def output_of(*arguments):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments, "tests/steps/test_drop.py"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


@pytest.mark.part(8)
@pytest.mark.parametrize("processes", [("-n", "2"), ("-p", "no:xdist")], ids=" ".join)
def test_tests_that_are_left_out_are_counted(processes):
    """In one process and in several, of what -k chooses."""
    found = output_of(*processes, "-k", "pandas or dask-2")
    assert f"6 {ON_A_CLUSTER}" in found
    assert "9 tests were left out" in found
    assert "3 tests did not also run their plan as it is written" in found


def test_all_of_them_can_be_run():
    assert "left to `make test-all`:" not in output_of("--full", "--collect-only")


def test_the_quick_ones_are_of_one_engine():
    assert "left to `make test`: other engines than pandas" in output_of("--quick", "--collect-only")


def function(percent, missing, statements=3):
    counts = {"num_statements": statements, "missing_lines": missing, "missing_branches": 1, "percent_covered": percent}
    return {"summary": counts, "start_line": 7}


def test_the_least_covered_functions_are_listed():
    """Without what stands outside of functions, and those of a line or two."""
    functions = {
        "": function(0.0, 9),
        "whole": function(100.0, 0),
        "half": function(50.0, 1),
        "never": function(0.0, 3),
        "short": function(0.0, 1, statements=2),
    }
    assert [name for *_, name in least_covered({"a.py": {"functions": functions}})] == ["never", "half", "whole"]


def test_coverage_is_shown_by_package_and_by_function(tmp_path, capsys):
    """Engines and executors are packages of their own; modules of one package are added up, also ones without lines."""
    whole, half = ({"num_statements": 6, "num_branches": 2, "covered_lines": n, "covered_branches": 1} for n in (6, 3))
    empty = dict.fromkeys(whole, 0)
    files = {
        f"src/gpuetl/{path}": {"summary": summary, "functions": {"never": function(0.0, 3)} if summary is half else {}}
        for path, summary in {
            "table.py": half,
            "spec/steps/join.py": whole,
            "spec/read.py": half,
            "engines/pandas/io/read.py": whole,
            "engines/registry.py": half,
            "io/__init__.py": empty,
        }.items()
    }
    (tmp_path / "coverage.json").write_text(json.dumps({"files": files, "totals": {"percent_covered": 96.04}}))
    print_coverage(tmp_path / "coverage.json")
    assert capsys.readouterr().out.splitlines()[1:10] == [
        "96.0 % of lines and branches.  By package:",
        " 50.0 %       8 lines and branches  engines",
        " 87.5 %       8 lines and branches  engines/pandas",
        "100.0 %       0 lines and branches  io",
        " 50.0 %       8 lines and branches  modules of gpuetl",
        " 68.8 %      16 lines and branches  spec",
        "",
        "The 20 least covered functions:",
        "    0 %    4 missed  src/gpuetl/engines/registry.py:7 never",
    ]
