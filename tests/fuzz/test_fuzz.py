"""Two thousand random cases: the engine against DuckDB, other layouts and what must hold; blocks of seeds run in parallel."""

import pytest

from fuzz.search import Failure, run_seed

CASES = 2000
BLOCK = 40


@pytest.mark.parametrize("start", range(0, CASES, BLOCK))
def test_random_pipelines_have_the_answers_of_the_second_oracle_and_of_other_layouts(start):
    """Each seed of the block is a case; the message has the smallest one that fails, and how to replay it."""
    outcomes = [run_seed(seed) for seed in range(start, start + BLOCK)]
    failures = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    assert not failures, "\n".join(map(str, failures[:2]))
