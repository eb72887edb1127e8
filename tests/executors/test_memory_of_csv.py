"""A memory limit holds for a compressed CSV file that is several times as large, for operations one by one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from command import environment_without_coverage
from left_to_full import after

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "memory_limits.py"
ROWS, LIMIT = 1_000_000, 250_000_000
"""128 MB of text, which take 310 MB and more without a limit."""
OPERATIONS = [
    "group by strings, 1 row a group", "sort by an integer", "pass through", "filter", "group by, 8 groups",
    "group by, 10 rows a group", "join with 8 rows",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Has the file, which all operations read."""
    return tmp_path_factory.mktemp("memory")


@pytest.mark.slow
@pytest.mark.parametrize("operation", after(1, OPERATIONS, "memory of more operations on CSV"))
def test_an_operation_takes_no_more_than_the_limit(folder, operation):
    """By how far the resident set of a process grows from the beginning of planning to the end of the run."""
    command = [
        sys.executable, SCRIPT, folder, "--source", "csv.gz", "--rows", ROWS, "--limits", f"{LIMIT}B",
        "--only", operation, "--results", folder / "found.json",
    ]  # fmt: skip
    environment = environment_without_coverage()
    done = subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    (found,) = json.loads((folder / "found.json").read_text())["runs"]
    assert found["taken"] <= LIMIT
