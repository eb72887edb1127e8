"""The benchmark of compilers' options runs: each case generates kernels, and results are compared bit by bit."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from gpu_engine.host_machine import COMPILER, HostMachine

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
ROWS = 300


@pytest.fixture
def tiers(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("compile_tiers")


def comparison(tiers, same):
    machine = HostMachine()
    return tiers.Comparison(machine, np, lambda source, _: (machine.compiled(source), 0.5), same, ROWS * 10, 1)


def test_each_case_runs_with_each_set_of_options(tiers):
    given = comparison(tiers, lambda one, other: one.tobytes() == other.tobytes())
    for case in tiers.cases():
        found = list(given.of_case(case, {"full": (), "fast": ("-O1",)}))
        assert [each.options for each in found] == ["full", "fast"]
        for each in found:
            assert each.programs
            assert each.launches
            assert not each.differing
            assert each.compile_s == 0.5 * each.programs


def test_columns_that_differ_are_named(tiers):
    found = list(comparison(tiers, lambda one, other: False).of_case(tiers.cases()[0]))
    assert [each.differing for each in found] == [["paid", "hour", "dear"]] * len(tiers.TIERS)
    assert tiers.line(found[1], found[0]).endswith("; paid DIFFERS; hour DIFFERS; dear DIFFERS")
