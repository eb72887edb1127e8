"""The examples of docs/notebooks.md print what the page shows."""

import doctest
from pathlib import Path

import pytest

from gpuetl import result_cache

ROOT = Path(__file__).parents[2]


def test_the_examples_of_the_page_run(monkeypatch):
    pytest.importorskip("narwhals")
    monkeypatch.chdir(ROOT)
    limit = result_cache.limit
    result_cache.clear()
    try:
        page = str(ROOT / "docs/notebooks.md")
        done = doctest.testfile(page, module_relative=False, encoding="utf-8", optionflags=doctest.ELLIPSIS)
    finally:
        result_cache.limit = limit
        result_cache.clear()
    assert done.attempted > 20
    assert done.failed == 0
