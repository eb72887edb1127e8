"""Two thousand random cases: the engine against DuckDB, other layouts and what must hold; blocks of seeds run in parallel."""

import pytest

from fuzz.search import Failure, run_seed

CASES = 2000
BLOCK = 40


@pytest.mark.parametrize("start", range(0, CASES, BLOCK))
def test_random_pipelines_have_the_answers_of_the_second_oracle_and_of_other_layouts(start):
    """Each seed of the block is a case; the message has the smallest one that fails, and how to replay it."""
    outcomes = {seed: run_seed(seed, shrink=False) for seed in range(start, start + BLOCK)}
    failed = [seed for seed, outcome in outcomes.items() if isinstance(outcome, Failure)]
    assert not failed, f"seeds {failed} fail; the first, made small:\n{run_seed(failed[0])}"
