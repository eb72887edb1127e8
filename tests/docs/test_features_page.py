"""docs/features.md: its pipelines run, and write the files that the page shows."""

import re
from pathlib import Path

import pytest

from command import gpuetl

PAGE = Path(__file__).parents[2] / "docs" / "features.md"
BLOCKS = re.compile(r"^`(\w+\.\w+)`[^\n]*\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def files():
    """The files that the page shows, by name."""
    return dict(BLOCKS.findall(PAGE.read_text(encoding="utf-8")))


def test_the_pipelines_write_what_the_page_shows(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("train.yaml", "clicks.csv", "score.yaml", "new.csv", "examples.yaml", "people.csv"):
        Path(name).write_text(files[name], encoding="utf-8")
    outputs = {"train.yaml": "features.csv", "score.yaml": "scored.csv", "examples.yaml": "examples.csv"}
    for pipeline, output in outputs.items():
        done = gpuetl("run", pipeline, "--engine", "pandas", "--quiet")
        assert done.exit_code == 0, done.output
        assert Path(output).read_text(encoding="utf-8") == files[output]


def test_the_files_of_the_folder_are_those_of_the_page(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("train.yaml", "clicks.csv"):
        Path(name).write_text(files[name], encoding="utf-8")
    gpuetl("run", "train.yaml", "--engine", "pandas", "--quiet")
    named = re.findall(r"^\| `([\w.-]+\.(?:json|parquet))` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {*named} <= {path.name for path in Path("model").iterdir()}
