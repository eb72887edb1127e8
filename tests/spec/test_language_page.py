"""docs/language.md: it is what the tables say, its examples run on every engine, and its errors are those of the steps."""

import inspect
import re
import sys
from dataclasses import replace

import pytest

import generate_language
from generate_language import PAGE, rows_of
from gpuetl import messages
from gpuetl.error_codes import PAGES
from gpuetl.errors import GpuetlError
from gpuetl.messages import code_of
from gpuetl.spec.fields import keys_of
from gpuetl.spec.language_page.example import Example, Given, shown, text_table
from gpuetl.spec.language_page.options_table import options_table
from gpuetl.spec.language_page.page import PARTS
from gpuetl.spec.language_page.step_examples import STEP_EXAMPLES
from gpuetl.spec.steps import STEPS

ERRORS = [(verb, code) for verb, example in STEP_EXAMPLES.items() for code in example.errors]
WRONG = {
    ("with_columns", "GE1107"): "- with_columns: {x: sum(amount)}\n",
    ("cast", "GE2002"): "- cast: {price: int64}\n",
    ("join", "GE1020"): "- join: {with: shops, on: region}\n",
    ("aggregate", "GE1107"): "- aggregate: {by: region, columns: {x: row_number()}}\n",
    ("join", "GE1117"): "- join: {with: regions, on: region, condition: id + 1}\n",
    ("union", "GE1020"): "- union: shops\n",
    ("pivot", "GE1206"): "- pivot: {names: region, values: amount, columns: [EU]}\n",
    ("intersect", "GE1020"): "- intersect: shops\n",
    ("intersect", "GE1203"): "- intersect: audited\n",
    ("except", "GE1020"): "- except: shops\n",
    ("except", "GE1203"): "- except: audited\n",
    ("unnest", "GE1023"): "- with_columns: {city: id}\n- unnest: address\n",
}
"""Steps that give an error, where neither the module of the step nor the error's page shows it."""
TINY = Example(
    "- filter: x > 1\n", {"t": Given({"x": "int64", "s": "struct<a: string>"}, [(1, None), (2, {"a": "b"})])}
)


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == generate_language.page(), "run make docs"


def test_every_step_has_an_example():
    assert STEP_EXAMPLES.keys() == STEPS.keys()
    assert all(f"\n- {verb}: " in f"\n{STEP_EXAMPLES[verb].steps}".replace(":\n", ": \n") for verb in STEPS)


@pytest.mark.parametrize("verb", STEPS)
def test_the_rows_of_an_example_are_the_same_on_every_engine(verb, engine):
    page = PAGE.read_text(encoding="utf-8")
    for example in (STEP_EXAMPLES[verb], *STEP_EXAMPLES[verb].others.values()):
        assert shown(example, lambda example: rows_of(example, engine)) in page


@pytest.mark.parametrize(("verb", "code"), ERRORS)
def test_a_step_gives_the_errors_that_its_section_lists(verb, code, monkeypatch):
    """The step's module has the code, or the example of the error's page is such a step, or one here is."""
    modules = [sys.modules[cls.__module__] for cls in STEPS[verb].__mro__ if cls.__module__.startswith("gpuetl.")]
    in_source = any(f'"{code}"' in inspect.getsource(module) for module in modules)
    on_page = re.search(rf"^\s*- \{{?{verb}:|\.{verb}\(", PAGES[code].example, re.MULTILINE)
    if not in_source and not on_page:
        monkeypatch.setattr(messages, "with_code", lambda text, message: f"{text} [{code_of(message)}]")
        with pytest.raises(GpuetlError, match=code):
            rows_of(replace(STEP_EXAMPLES[verb], steps=WRONG[verb, code]))


def test_every_error_that_a_step_can_give_is_listed():
    """Codes in the modules of steps are in the section of one of their steps, or are those of all steps."""
    common = {code for codes in PARTS.values() for code in codes}
    listed = common | {code for _, code in ERRORS} | {"GE1409"}  # of paths: under Storage
    for step in STEPS.values():
        assert set(re.findall(r'"(GE\d{4})"', inspect.getsource(sys.modules[step.__module__]))) <= listed


def test_every_key_of_a_step_has_a_meaning():
    assert [
        (verb, key) for verb, step in STEPS.items() for key, f in keys_of(step).items() if not f.metadata["doc"]
    ] == []


def test_every_link_of_an_error_leads_to_its_page():
    codes = set(re.findall(r"\[(GE\d{4})\]\(errors/", PAGE.read_text(encoding="utf-8")))
    assert codes
    assert codes <= PAGES.keys()


def test_rows_are_shown_next_to_each_other():
    assert shown(TINY, rows_of) == (
        "```yaml\n- filter: x > 1\n```\n\n"
        "```text\n"
        "t:                 result:\n"
        "  x  s               x  s\n"
        "  1  null            2  {a: b}\n"
        "  2  {a: b}\n"
        "```\n"
    )


def test_no_rows_are_shown_as_such():
    assert text_table("t", []) == ["t:", "  no rows"]


def test_a_table_of_keys_has_what_each_takes_its_default_and_its_meaning():
    assert options_table(STEPS["limit"]).splitlines() == [
        "| key | takes | default | meaning |",
        "|---|---|---|---|",
        "| count | a whole number | none | the number of rows to keep; by default all |",
        "| offset | a whole number | `0` | the number of rows to leave out before them |",
    ]
