"""join: a result that is too large is refused before it is built, with the key that makes it so."""

import numpy as np
import pyarrow as pa
import pytest

from gpuetl import RunFailed, expr
from gpuetl.engines.pandas.relational import join as join_checks
from messages import without_place
from tables import table, write_source

MILLION = 1_000_000


@pytest.fixture
def repeated(pipeline):
    """Two sources of a million rows in one partition, of which all but `others` have the key 7, or "b"."""

    def sides(key, others):
        for name, column in (("left", "a"), ("right", "b")):
            rows = {"k": np.full(MILLION, key), column: np.arange(MILLION)}
            rows["k"][:others] = np.arange(others)
            write_source(pipeline, name, pa.table(rows), MILLION)
        return pipeline.table("left"), pipeline.table("right")

    return sides


def message(steps):
    steps.stage("result")
    with pytest.raises(RunFailed) as caught:
        steps.pipeline.run(engine="pandas")
    return without_place(str(caught.value))


@pytest.mark.parametrize("how", ["inner", "left", "right", "full"])
def test_a_million_million_pairs_are_counted_and_not_built(repeated, how):
    left, right = repeated(7, 3)
    rows = 999_997**2 + 3
    text = message(left.join(right, "k", how))
    assert text.startswith(f"stage 'result', step 1: the join would have {rows:,} rows (about 2")
    assert "GB): a frame holds 2,147,483,647 at most, and this machine has " in text
    assert "k = 7 repeats most: in 999,997 rows on the left side, 999,997 on the right.  Join on more columns" in text


@pytest.mark.parametrize("how", ["semi", "anti"])
def test_rows_that_match_a_million_times_come_once(repeated, how):
    left, right = repeated(7, 3)
    left.join(right, "k", how).stage("result")
    rows = left.pipeline.run(engine="pandas")["result"].to_arrow().num_rows
    assert rows == (MILLION if how == "semi" else 0)


def test_a_cross_join_of_a_million_rows_with_itself_is_refused(repeated):
    left, _ = repeated(7, 3)
    text = message(left.join(left, how="cross", suffix="_r"))
    assert "this gives 1,000,000,000,000 rows in one partition, and a partition has 2,147,483,647 at most" in text


LEFT, RIGHT = {"k": "string", "j": "int64", "a": "int64"}, {"i": "string", "m": "int64", "b": "int64"}


@pytest.mark.parametrize(
    ("how", "rows", "counts"),
    [
        ("inner", 7, "in 2 rows on the left side, 3 on the right"),
        ("left", 8, "in 2 rows on the left side, 3 on the right"),
        ("right", 9, "in 2 rows on the left side, 3 on the right"),
        ("full", 10, "in 2 rows on the left side, 3 on the right"),
    ],
)
def test_what_does_not_fit_memory_is_refused_in_the_words_of_the_user(pipeline, monkeypatch, how, rows, counts):
    monkeypatch.setattr(join_checks, "physical_memory", lambda: 100)
    left = table(LEFT, ("x", 1, 0), ("x", 2, 1), ("x", 2, 2), ("y", 2, 3), (None, 2, 4))
    right = table(RIGHT, ("x", 2, 0), ("x", 2, 1), ("y", 2, 2), ("x", 2, 3), ("z", 2, 4), (None, 2, 5))
    left, right = write_source(pipeline, "left", left, 9), write_source(pipeline, "right", right, 9)
    text = message(left.filter(expr("k <> 'x' OR j = 2 OR k IS NULL")).join(right, {"k": "i", "j": "m"}, how))
    names = "i = 'x', m = 2" if how == "right" else "k = 'x', j = 2"
    assert f"step 2: the join would have {rows} rows (about 0.0 GB)" in text
    assert f"{names} repeats most: {counts}" in text
