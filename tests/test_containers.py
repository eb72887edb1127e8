"""The file of the images names what exists: extras, a Python that gpuetl runs on, stages, and architectures."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILE = (ROOT / "containers/Dockerfile").read_text(encoding="utf-8")
PAGE = (ROOT / "docs/containers.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
STAGES = re.findall(r"^FROM (\S+) AS (\S+)$", FILE, re.MULTILINE)


def test_the_extras_exist():
    wanted = {extra for extras in re.findall(r"\.whl\)\[([^\]]+)\]", FILE) for extra in extras.split(",")}
    assert {"cu12", "cu13", "dask"} <= wanted
    assert wanted <= PROJECT["optional-dependencies"].keys()


def test_python_is_one_that_gpuetl_runs_on():
    (python,) = re.findall(r"^ARG PYTHON=(\d+\.\d+)$", FILE, re.MULTILINE)
    (least,) = re.findall(r">=(\d+\.\d+)", PROJECT["requires-python"])
    assert tuple(map(int, python.split("."))) >= tuple(map(int, least.split(".")))


def test_stages_are_made_of_stages_before_them():
    known = {"${BASE}"}
    for base, name in STAGES:
        assert base in known
        known.add(name)
    assert set(re.findall(r"--from=(\S+)", FILE)) <= known
    assert {"cpu", "cu12", "cu13"} <= known


@pytest.mark.parametrize("target", ["cpu", "cu12", "cu13"])
def test_images_end_as_a_user_without_rights(target):
    stage = FILE.split(f" AS {target}\n")[1].split("\nFROM ")[0]
    assert stage.rstrip().endswith("USER 10001")
    assert f"--target {target} " in PAGE


def test_the_architectures_are_those_of_the_page_of_kernels():
    (names,) = set(re.findall(r"^ARG ARCHITECTURES=(\S+)$", FILE, re.MULTILINE))
    page = (ROOT / "docs/kernels.md").read_text(encoding="utf-8")
    assert names.split(",") == re.findall(r"^\| [^|]+ \| `(sm_\d+)` \|$", page, re.MULTILINE)


def test_what_is_copied_exists_and_is_sent_to_the_build():
    sent = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    copied = [name for line in re.findall(r"^COPY (?!--)(.+) \S+$", FILE, re.MULTILINE) for name in line.split()]
    assert set(copied) == set(sent)
    assert all((ROOT / name).exists() for name in copied)
