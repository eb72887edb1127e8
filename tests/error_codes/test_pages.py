"""Every error code has a page, and the page's example prints what the page says."""

import linecache
import os
import re
import subprocess
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from runpy import run_path

import pytest

from command import gpuetl
from conftest import ON_CPU
from gpuetl.engines.registry import ENGINES
from gpuetl.error_codes import PAGES
from gpuetl.error_codes.document import pages, write_pages
from gpuetl.error_codes.page import SALES

FOLDER = Path(__file__).parents[2] / "docs" / "errors"
SOURCE = Path(__file__).parents[2] / "src" / "gpuetl"
ERROR = "gpuetl.errors."
"""How an error begins below the traceback of a script."""
TESTED = [page for page in PAGES.values() if not page.untested]
ERRORS = [page for page in TESTED if not page.is_warning]
WARNINGS = [page for page in TESTED if page.is_warning]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "sales.csv").write_text(SALES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def without_engines_of_tests(monkeypatch):
    """Messages list all engines."""
    monkeypatch.delitem(ENGINES, ON_CPU)


def printed(page, text, folder):
    """Run an example; return its exit code and what it prints: the report of a warning, else the error."""
    for name, content in page.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    if page.kind == "python":
        (folder / "example.py").write_text(text)
        code, out, err = run_script("example.py")
        return code, out + err if page.is_warning else error_of(err)
    if page.kind == "command":
        done = gpuetl(*text.split()[1:])
    else:
        (folder / "example.yaml").write_text(page.whole(text))
        given = [part for name, value in page.params.items() for part in ("-p", f"{name}={value}")]
        quiet = [] if page.is_warning else ["--quiet"]
        done = gpuetl("run", "example.yaml", "--engine", "pandas", *quiet, *given)
    errors = "\n".join(line for line in done.stderr.splitlines() if not line.startswith("warning: the run leaves no"))
    return done.exit_code, done.output if page.is_warning else errors.strip()


def run_script(path):
    """Run a script in this process; return its exit code, and what it prints to stdout and stderr."""
    out, err = StringIO(), StringIO()
    linecache.clearcache()  # another script may have had the same name
    with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # as Python does for a script
        try:
            run_path(path, run_name="__main__")
        except Exception:
            sys.excepthook(*sys.exc_info())
            return 1, out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def error_of(stderr):
    """Return the error below a script's traceback."""
    return stderr[max(stderr.find(ERROR), 0) :].strip()


def unwrapped(text):
    """Return a text with one space between words: a terminal breaks long lines."""
    return " ".join(text.split())


@pytest.mark.parametrize("page", ERRORS, ids=lambda page: page.code)
def test_an_example_prints_the_message_of_its_page(page, folder):
    code, text = printed(page, page.example, folder)
    assert code not in (0, None)
    assert text.removeprefix("error: ") == page.message.strip()
    assert f"[{page.code}]" in text.splitlines()[0]


def test_a_script_prints_the_same_in_a_process_of_its_own(folder):
    page = PAGES["GE1442"]
    (folder / "example.py").write_text(page.example)
    here = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    done = subprocess.run([sys.executable, "example.py"], capture_output=True, text=True, check=False, env=here)
    assert (done.returncode, error_of(done.stderr)) == (1, page.message.strip())


@pytest.mark.part(2)
@pytest.mark.parametrize("page", WARNINGS, ids=lambda page: page.code)
def test_an_example_prints_the_warning_of_its_page(page, folder):
    code, text = printed(page, page.example, folder)
    assert code == 0
    assert page.message.startswith("warning: ")
    assert unwrapped(page.message) in unwrapped(text)
    assert f"[{page.code}]" in page.message.splitlines()[0]


@pytest.mark.part(12)
@pytest.mark.parametrize("page", [page for page in TESTED if page.fixed], ids=lambda page: page.code)
def test_a_fixed_example_runs(page, folder):
    code, text = printed(page, page.fixed, folder)
    assert not code, text
    assert f"[{page.code}]" not in text


def test_the_pages_of_the_documentation_are_up_to_date():
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert there == pages(), "run make docs"


def test_every_code_of_the_source_has_a_page_and_every_page_is_used():
    used = {
        code
        for path in SOURCE.rglob("*.py")
        if path.parent.name != "error_codes" and path.name != "explain.py"
        for code in re.findall(r'"(GE\d{4})"', path.read_text(encoding="utf-8"))
    }
    assert used == set(PAGES)


def test_explain_prints_the_page_of_a_code():
    assert gpuetl("explain", "ge1003").stdout == PAGES["GE1003"].text
    assert gpuetl("explain", "GE9999").exit_code == 2


def test_pages_of_codes_that_are_gone_are_removed(tmp_path):
    (tmp_path / "GE9999.md").write_text("a code of an earlier version")
    write_pages(tmp_path)
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == pages()
