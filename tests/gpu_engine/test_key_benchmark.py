"""The benchmark of keys runs, and its generated kernels write what the closed ones do, bit for bit."""

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


@pytest.mark.full(reason="benchmarks that run many kernels or clusters")
@pytest.mark.skipif(COMPILER is None, reason="needs g++")
@pytest.mark.parametrize("machine", [HostMachine, EmulatedMachine])
def test_closed_kernels_write_what_was_generated_before(machine, monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    keys = importlib.import_module("keys")
    found = [each.name for each in keys.Comparison(machine(), np, in_one_ms, 2100).all()]
    assert len(found) == len(set(found)) == 48
    assert {name.split()[0] for name in found} == {"measure", "pack", "mark", "build", "find"}
