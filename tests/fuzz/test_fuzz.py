"""Random cases: the engine against DuckDB, other layouts and what must hold; blocks of seeds run in parallel."""

from collections import Counter
from math import inf

import pytest

from fuzz import __main__ as command
from fuzz.search import Failure, run_seed
from fuzz.test_coverage import CASES, CASES_OF_FULL

BLOCK = 20
MORE = pytest.mark.full(reason=f"{CASES_OF_FULL - CASES} of {CASES_OF_FULL} random pipelines, in blocks of {BLOCK}")


@pytest.mark.parametrize(
    "start", [pytest.param(start, marks=[MORE] * (start >= CASES)) for start in range(0, CASES_OF_FULL, BLOCK)]
)
def test_random_pipelines_have_the_answers_of_the_second_oracle_and_of_other_layouts(start):
    """Each seed of the block is a case; the message has the smallest one that fails, and how to replay it."""
    outcomes = {seed: run_seed(seed, shrink=False) for seed in range(start, start + BLOCK)}
    failed = [seed for seed, outcome in outcomes.items() if isinstance(outcome, Failure)]
    assert not failed, f"seeds {failed} fail; the first, made small:\n{run_seed(failed[0])}"


@pytest.mark.full(reason="the fuzzer in processes of its own")
def test_many_seeds_run_in_processes_that_are_replaced(monkeypatch):
    """Each seed once, the last block shorter."""
    monkeypatch.setattr(command, "BLOCK", 2)
    monkeypatch.setattr(command, "BLOCKS_A_PROCESS", 1)
    found = list(command.outcomes(range(100, 103), engine="", workers=1, until=inf))
    assert [counts.total() for counts, _ in found] == [2, 1]
    assert sum((counts for counts, _ in found), Counter())["FAILED"] == 0
