"""The example of docs/window-state.md, run as the page runs it."""

import re
from pathlib import Path

import pytest

from command import gpuetl

PAGE = Path(__file__).parents[2] / "docs/window-state.md"


def blocks(language: str) -> list[str]:
    """Return the page's blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of the example, with Monday's and Tuesday's visits."""
    (tmp_path / "visits").mkdir()
    (tmp_path / "daily.yaml").write_text(blocks("yaml")[0])
    for day, text in zip(("mon", "tue"), blocks("csv"), strict=False):
        (tmp_path / f"visits/{day}.csv").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_two_days_of_the_page(folder):
    for line in re.findall(r"\$ gpuetl (.*)", blocks("console")[0]):
        done = gpuetl(*line.split(), "--engine", "pandas")
        assert done.exit_code == 0, done.output
    assert (folder / "out/tue.csv").read_text() == blocks("csv")[2]
    assert "stage 'totals', step 1: window state of 3 rows" in done.output


def test_the_late_row_of_the_page(folder):
    for day in ("mon", "tue"):
        gpuetl("run", "daily.yaml", "--param", f"day={day}", "--engine", "pandas")
    (folder / "visits/wed.csv").write_text("at,user,spent\n2026-03-02 23:50:00,ann,1\n")
    done = gpuetl("run", "daily.yaml", "--param", "day=wed", "--engine", "pandas")
    assert done.exit_code == 1
    shown = next(line for line in PAGE.read_text().splitlines() if "[GE1550]" in line and "daily.yaml" in line)
    assert shown.strip().removesuffix("  [GE1550]") in done.stderr


def test_groups_are_forgotten_as_on_the_page(folder):
    text = (
        (folder / "daily.yaml")
        .read_text()
        .replace("state: keep\n", "state: keep\n          forget: interval '90 days'\n")
    )
    assert blocks("yaml")[1].splitlines()[-1].strip() in text
    (folder / "daily.yaml").write_text(text)
    (folder / "visits/june.csv").write_text("at,user,spent\n2026-06-30 08:00:00,cid,1\n")
    (folder / "visits/july.csv").write_text("at,user,spent\n2026-07-01 08:00:00,ann,1\n2026-07-01 09:00:00,cid,1\n")
    for day in ("mon", "tue", "june", "july"):
        assert gpuetl("run", "daily.yaml", "--param", f"day={day}", "--engine", "pandas").exit_code == 0
    rows = [line.split(",")[1:4:2] for line in (folder / "out/july.csv").read_text().splitlines()[1:]]
    assert rows == [['"ann"', "1"], ['"cid"', "3"]]
