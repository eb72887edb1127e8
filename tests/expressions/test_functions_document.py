"""The page of functions is the table of functions."""

from pathlib import Path

from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.functions.document import functions_markdown

PAGE = Path(__file__).parents[2] / "docs" / "functions.md"


def test_the_page_of_functions_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == functions_markdown(), (
        "run python -m gpuetl.expressions.functions.document docs/functions.md"
    )


def test_the_page_has_every_function_once():
    page = functions_markdown()
    for kind, name in FUNCTIONS:
        assert page.count(f"| **{name}**(") == sum(other == name for _, other in FUNCTIONS), (kind, name)
