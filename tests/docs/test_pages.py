"""Pages of the documentation: links lead somewhere, named paths are there, and records have the same form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    {*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "data").glob("*.md"), *ROOT.glob("tests/*/*.md")}
)
CONTRIBUTING = ROOT / "docs/contributing.md"
DECISIONS = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
SECTIONS = ("Context", "Decision", "Consequences")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def links_of(page: Path) -> Iterator[str]:
    """Return the links of a page to other pages, without those in code."""
    links = LINK.findall(CODE.sub("", page.read_text(encoding="utf-8")))
    return (link for link in links if not link.startswith(("https://", "http://")))


def anchors_of(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to a page's headings."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def dead_links(page: Path) -> list[str]:
    """Return the links of a page that lead nowhere."""
    dead = []
    for link in links_of(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            dead.append(link)
    return dead


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page):
    assert dead_links(page) == []


def test_a_dead_link_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# One: two\n[a](page.md) [b](#one-two) [c](page.md#three) [d](none.md) `[e](none.md)` [f](https://x)\n"
    )
    assert dead_links(page) == ["page.md#three", "none.md"]


def table_rows(page: Path) -> list[list[str]]:
    """Return the cells of the first table of a page, without its head."""
    lines = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.parametrize("row", table_rows(CONTRIBUTING), ids=lambda row: row[0])
def test_every_path_of_the_table_of_places_is_there(row):
    task, places, tests = row
    paths = [code for code in re.findall(r"`([^`]+)`", f"{places} {tests}") if re.fullmatch(r"[\w./]+", code)]
    code = [path for path in paths if "/" in path or path.endswith(".py")]
    named = {path: (ROOT / path if path.startswith("tests/") else ROOT / "src/gpuetl" / path) for path in code}
    assert named, f"{task} names no path"
    assert [path for path, place in named.items() if not place.exists()] == []


def test_the_table_has_the_ten_tasks_of_a_newcomer():
    tasks = " ".join(row[0] for row in table_rows(CONTRIBUTING))
    for task in (
        "scalar function", "window function", "format", "step", "engine", "codec", "report", "out-of-memory", "option",
        "optimizer pass",
    ):  # fmt: skip
        assert task in tasks


def test_paths_of_the_code_are_in_that_table_alone():
    """Modules move.  So other pages for contributors name none."""
    for page in (ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *DECISIONS, ROOT / "docs/decisions/README.md"):
        assert "src/gpuetl" not in page.read_text(encoding="utf-8"), name_of(page)


@pytest.mark.parametrize("page", DECISIONS, ids=name_of)
def test_a_record_has_context_decision_and_consequences(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    assert re.fullmatch(r"# \d{4}: .+", lines[0])
    assert lines[0].startswith(f"# {page.name[:4]}: ")
    assert tuple(line.removeprefix("## ") for line in lines if line.startswith("## ")) == SECTIONS
    assert re.search(r"^Status: (accepted|superseded by \d{4}), \d{4}-\d{2}-\d{2}\.", lines[2])
    assert 25 <= len(lines) <= 45


def test_the_index_has_every_record_once():
    index = (ROOT / "docs/decisions/README.md").read_text(encoding="utf-8")
    listed = re.findall(r"\| \[(\d{4})\]\(([^)]+)\) \| ([^|]+) \|", index)
    titles = {page.name: page.read_text(encoding="utf-8").splitlines()[0] for page in DECISIONS}
    assert {name: f"# {number}: {title.strip()}" for number, name, title in listed} == titles
    assert len(listed) == len(titles)
