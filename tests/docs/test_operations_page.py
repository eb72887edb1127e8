"""The page of operations: its pipeline runs, its alerts are valid, and its commands are commands."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from command import gpuetl
from gpuetl import loads
from gpuetl.cli import parser
from gpuetl.report.manifest_schema import manifest_schema

PAGE = (Path(__file__).parents[2] / "docs/operations.md").read_text(encoding="utf-8")
YAML = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
PYTHON = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = re.findall(r"^\$ (gpuetl .*?)(?: >.*)?$", PAGE, re.MULTILINE)
KEYS = [
    name
    for row in re.findall(r"^\| (`.*?`) \| .* \|$", PAGE[: PAGE.index("## Runs")], re.MULTILINE)
    for name in re.findall(r"`([a-z_]+)`", row)
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "daily.yaml").write_text(YAML[0])
    (tmp_path / "orders.csv").write_text("id,amount\n1,3.50\n2,4.00\n")
    return tmp_path


def test_the_pipeline_runs_and_is_listed(folder):
    for _ in range(2):
        assert gpuetl("run", folder / "daily.yaml", "--engine", "pandas").exit_code == 0
    shown = gpuetl("runs", folder / "daily.yaml").stdout
    assert shown.startswith("daily: 2 runs in ")
    assert gpuetl("runs", folder / "daily.yaml", "last").exit_code == 0


def test_the_alerts_are_valid(monkeypatch):
    monkeypatch.setenv("HOOK_URL", "https://example.com/hook")
    whole = re.sub(r"on_failure:\n.*", "", YAML[0], flags=re.DOTALL) + YAML[1]
    spec = loads(whole).spec
    assert len(spec.on_failure) == 2
    assert len(spec.on_success) == 1


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_page_is_one(line):
    words = shlex.split(re.split(r" (?:2>|>|\|)", line)[0])[1:]
    parser(words).parse_args(words)


def test_the_keys_of_the_table_are_those_of_the_manifest():
    assert len(KEYS) > 20
    assert set(KEYS) - {"done", "failed", "interrupted"} <= manifest_schema()["properties"].keys()


def test_the_script_prints_what_failed(folder):
    (folder / "orders.csv").write_text("id,amount\n1,3.50\n1,4.00\n")
    done = gpuetl("run", folder / "daily.yaml", "--engine", "pandas", "--json")
    line = [sys.executable, "-c", PYTHON[0]]
    shown = subprocess.run(line, input=done.stdout, capture_output=True, text=True, check=True).stdout
    assert shown == f"daily: GE1601 rule 'unique(id)': 2 of 2 rows (100 %) break it ({folder}/daily.yaml:13)\n"
    assert json.loads(done.stdout)["exit_code"] == 4


def test_the_lines_of_python_are_valid():
    p = loads(YAML[0])
    exec(PYTHON[1], {"p": p})
    assert (len(p.spec.on_failure), len(p.spec.on_success)) == (2, 1)
