"""Files of CI: workflows parse, call targets and files that are there, and test the versions that pyproject.toml allows."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
WORKFLOWS = {path.stem: YAML(typ="safe").load(path) for path in sorted((ROOT / ".github/workflows").glob("*.yml"))}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONSTRAINTS = (ROOT / "constraints/oldest.txt").read_text(encoding="utf-8")
OUTSIDE = ("dist/", "pipelines/out/", "/tmp/", ".venv/")
"""Where a workflow's own steps write."""


JOBS: list[tuple[str, dict[str, Any]]] = [
    (f"{name}/{job}", content) for name, workflow in WORKFLOWS.items() for job, content in workflow["jobs"].items()
]


def commands(job: dict[str, Any]) -> str:
    return "\n".join(step.get("run", "") for step in job.get("steps", []))


def targets() -> set[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([\w./-]+):(?!=)", makefile.replace("$(VENV)", ".venv"), re.MULTILINE))


def test_the_workflows_are_those_that_contributors_know():
    assert set(WORKFLOWS) == {"ci", "nightly", "gpu", "release"}


@pytest.mark.parametrize(("name", "job"), JOBS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_job_ends_in_time_and_calls_what_is_there(name, job):
    if "uses" in job:
        assert (ROOT / job["uses"]).exists()
        return
    assert job["timeout-minutes"] <= 240
    called = commands(job)
    assert set(re.findall(r"\bmake ([\w./-]+)", called)) <= targets()
    paths = re.findall(r"(?<![\w/.-])((?:tests|pipelines|constraints|docs)/[\w./-]+)", called + str(job.get("env", "")))
    missing = [path for path in paths if not path.startswith(OUTSIDE) and not (ROOT / path).exists()]
    assert missing == []


def test_each_workflow_may_only_read_unless_a_job_says_more():
    assert all(workflow["permissions"] == {"contents": "read"} for workflow in WORKFLOWS.values())
    assert {name for name, job in JOBS if "permissions" in job} == {"release/publish"}


def test_strangers_code_does_not_reach_our_own_machine():
    ours = {name.split("/")[0] for name, job in JOBS if "self-hosted" in job.get("runs-on", "")}
    assert ours == {"gpu"}
    assert set(WORKFLOWS["gpu"]["on"]) == {"schedule", "workflow_dispatch"}


def test_ci_tests_every_python_with_the_oldest_and_the_newest_pins():
    matrix = WORKFLOWS["ci"]["jobs"]["test"]["strategy"]["matrix"]
    assert matrix == {"python": ["3.11", "3.12", "3.13", "3.14"], "pins": ["oldest", "newest"]}
    assert PROJECT["requires-python"] == f">={matrix['python'][0]}"


def test_a_release_waits_for_ci_and_for_the_check_of_its_wheel():
    publish = WORKFLOWS["release"]["jobs"]["publish"]
    assert set(publish["needs"]) == {"ci", "check"}
    assert "tag" in publish["if"]


def lower_bounds() -> dict[str, str]:
    """Return the lower bound of each package that gpuetl runs on."""
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dask"]]
    return dict(re.match(r"([\w.-]+)>=([\d.]+)", each).groups() for each in wanted)


def release(version: str) -> list[int]:
    """Return a version without zeros at its end: 2.0.0 is 2."""
    parts = [int(part) for part in version.split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    return parts


def test_the_oldest_pins_are_the_lower_bounds():
    pins = re.findall(r"^([\w.-]+)==([\d.]+)", CONSTRAINTS, re.MULTILINE)
    first = dict(reversed(pins))  # of a package with several lines, the first: that of the oldest Python
    assert {name: release(version) for name, version in first.items()} == {
        name: release(version) for name, version in lower_bounds().items()
    }
