"""The benchmark of nullability runs, and kernels write what those did that knew of nulls when they were compiled."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def in_one_ms(clear, work):
    clear()
    work()
    return 1.0


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
@pytest.mark.parametrize("machine", [HostMachine, EmulatedMachine])
def test_kernels_write_what_those_before_wrote(machine, monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    nullability = importlib.import_module("nullability")
    found = [each.name for each in nullability.Comparison(machine(), np, in_one_ms, 2100).all()]
    assert found == [f"{name}{nulls}" for name in nullability.CASES for nulls in ("", " with nulls")]
