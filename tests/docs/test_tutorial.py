"""The tutorial: each command of its pages runs, and prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs import tutorial_pages


@pytest.mark.slow
@pytest.mark.skipif(Path("/proc/driver/nvidia").exists(), reason="the pages show a machine without a GPU")
def test_every_command_prints_what_its_page_shows(tmp_path):
    differences = [text for _, _, found in tutorial_pages.run_pages(tmp_path) for text in found]
    assert "\n\n".join(differences) == ""


def test_a_page_that_shows_something_else_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "Save this as `a.txt`:\n\n```text\none\ntwo\n```\n\n```console\n$ cat a.txt\none\n…\n$ cat a.txt\none\n```\n"
    )
    folder = tmp_path / "home/you"
    folder.mkdir(parents=True)
    text, differences = tutorial_pages.run_page(page, folder)
    assert differences == ["page.md: $ cat a.txt\none\ntwo"]
    assert text.endswith("$ cat a.txt\none\n…\n$ cat a.txt\none\ntwo\n```\n")


@pytest.mark.parametrize(
    ("shown", "expected", "same"),
    [
        (["done in 3 s"], ["done in … s"], True),
        (["a", "b", "c"], ["a", "…", "c"], True),
        (["a", "c"], ["a", "…", "c"], True),
        (["a", "b"], ["a"], False),
        ([], [], True),
    ],
)
def test_an_ellipsis_stands_for_what_varies(shown, expected, same):
    assert tutorial_pages.agrees(shown, expected) is same
