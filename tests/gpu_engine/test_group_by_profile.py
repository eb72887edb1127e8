"""The profile of group-by questions runs, and tells each kernel with the bytes that it has to move."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from gpu_engine.host_machine import COMPILER, ON_CPU, HostMachine

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
ROWS = 2000
READ = {"q2": ROWS * 4, "q3": ROWS * 12, "q5": ROWS * 20, "q7": ROWS * 8, "q10": ROWS * 20}
"""The least bytes of the columns that a question reads: those of its numbers."""


@pytest.fixture(scope="module")
def profile():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        yield importlib.import_module("group_by_profile")


@pytest.fixture(scope="module")
def data(profile, tmp_path_factory):
    folder = tmp_path_factory.mktemp("group-by") / "data"
    profile.make(folder, ROWS)
    return folder


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
@pytest.mark.parametrize("question", list(READ))
def test_each_kernel_is_told_with_its_bytes(profile, data, question):
    found = profile.profiled(data, question, ON_CPU, 1)
    steps = {step.name: step for step in found.steps}
    assert found.read_bytes == steps["read Parquet"].bytes > READ[question]
    assert found.gpuetl["best_s"] > 0
    measures = [step for name, step in steps.items() if name.startswith("measure_keys")]
    assert all(step.calls and step.bytes >= 4 * ROWS for step in measures)
    assert measures
    told = list(profile.lines(found, 4000))
    assert told[0].startswith(f"{question}  gpuetl first")
    assert len(told) == 3 + len(steps)


def test_bytes_are_those_of_the_columns_that_a_struct_describes(profile):
    """An int32 column with validity and its flag are read, and a word of 32 bits is written."""
    int32, valid, word = 4 | 1 << 8, 800, 32 | 0 << 8
    digits = [0, valid, 3 << 8, 1600, valid, int32]
    assert profile.digit_bytes([0, 0, 2, *digits], 800, 2, packs=False) == 800 * (1 + 33) // 8
    places = [0, 0, 0, 0, 2400, word]
    assert profile.digit_bytes([0, 0, 2, *digits, *places], 800, 2, packs=True) == 800 * (1 + 33 + 32) // 8


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_counts_and_marks_run_by_themselves(profile, monkeypatch):
    ran = []
    monkeypatch.setattr(profile, "least_ms", lambda work, runs: float(ran.append(work()) or len(ran)))
    codes = np.random.default_rng(1).integers(0, 9000, 2000).astype("uint32")
    steps = list(profile.parts_of_counts(codes, HostMachine(), 1))
    assert [step.ms for step in steps] == [1, 2, 3, 4, 5]
    counts, few, some, marks, bounds = ran
    for made, bits in ((few, 14), (some, 16)):
        assert made.tolist() == np.bincount(codes & (1 << bits) - 1, minlength=1 << bits).tolist()
    assert counts.tolist()[:9000] == np.bincount(codes, minlength=9000).tolist()
    assert bounds.tolist() == [*np.flatnonzero(HostMachine().host(marks.groups)).tolist(), 2000]
