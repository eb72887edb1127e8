"""Two thousand random cases: the engine against DuckDB, other layouts and what must hold; blocks of seeds run in parallel."""

import pytest

from fuzz.search import Failure, run_seed

CASES = 2000
KNOWN = {
    1280: "session_id where null times come first: 1 here, 0 in DuckDB; which is wrong is to be found",
    1363: "var_pop of one infinite value is NaN, and 0.0 in the text for DuckDB: the text is to be mended",
    1942: "covar_samp with an infinity is NaN, and -inf in the text for DuckDB: the text is to be mended",
}
"""Seeds whose cases fail, and why: take one out when its case passes."""
BLOCK = 40


@pytest.mark.parametrize("start", range(0, CASES, BLOCK))
def test_random_pipelines_have_the_answers_of_the_second_oracle_and_of_other_layouts(start):
    """Each seed of the block is a case; the message has the smallest one that fails, and how to replay it."""
    outcomes = {seed: run_seed(seed, shrink=False) for seed in range(start, start + BLOCK)}
    failed = [seed for seed, outcome in outcomes.items() if isinstance(outcome, Failure) != (seed in KNOWN)]
    assert not failed, f"seeds {failed} fail; the first, made small:\n{run_seed(failed[0])}"
