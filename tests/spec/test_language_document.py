"""docs/language.md is what the tables say."""

from pathlib import Path

from gpuetl.spec.document_language import language_markdown
from gpuetl.spec.steps import STEPS

PAGE = Path(__file__).parents[2] / "docs" / "language.md"


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == language_markdown(), "run make docs"


def test_every_step_has_its_place():
    assert all(f"### {verb}\n" in language_markdown() for verb in STEPS)
