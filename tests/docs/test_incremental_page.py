"""docs/incremental.md: its pipeline runs, and its commands print what the page shows."""

import re
import shutil
from pathlib import Path

import pytest

from command import gpuetl

PAGE = Path(__file__).parents[2] / "docs/incremental.md"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
FILES = {"landing/sunday.csv": "1,1.5\n2,2.5\n", "landing/monday.csv": "3,3.5\n", "tuesday.csv": "4,4.5\n"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the page's commands run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "landing").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(f"id,amount\n{text}")
    return tmp_path


def pattern(line: str) -> str:
    """Return what a line of the page stands for: `…` is any text."""
    return ".*".join(map(re.escape, line.split("…")))


def test_the_commands_print_what_the_page_shows(folder: Path) -> None:
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    (folder / "daily.yaml").write_text(next(text for language, text in blocks if language == "yaml"))
    output, shown = "", 0
    for line in "".join(text for language, text in blocks if language == "console").splitlines():
        if line.startswith("$ cp "):
            shutil.copy(*line.split()[2:])
        elif line.startswith("$ gpuetl "):
            command = [*line.split()[2:], *(["--engine", "pandas", "--no-report"] if " run " in line else [])]
            refused = "--full-refresh" in command
            done = gpuetl(*command)
            assert done.exit_code == int(refused), done.output
            output = done.output
        else:
            assert re.search(f"^{pattern(line)}$", output, re.MULTILINE), output
            shown += 1
    assert shown == 8
