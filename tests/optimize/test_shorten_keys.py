"""shorten_keys: what a join adds to a row is told by the keys of the join, and not compared again."""

import pytest

from gpuetl import col, expr
from gpuetl.optimize.shorten_keys import shorten_keys
from gpuetl.testing import assert_same
from plans import assert_optimized_same, described, kept_plan

COUNT = expr("count(*)")
ONCE = {"validate": "many_to_one"}


@pytest.fixture
def keys(pipeline):
    """Tells the keys of the last step, an aggregate, after the pass."""

    def of(steps):
        steps.stage("result")
        line = described(shorten_keys(kept_plan(pipeline)))[-1]
        return line.partition(" by ")[2]

    return of


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (lambda t, u: t.join(u, "k", **ONCE).aggregate(["w", "k", "y"], n=COUNT), "k, which determine w, y"),
        (lambda t, u: t.join(u, "k", how="left", **ONCE).aggregate(["k", "y"], n=COUNT), "k, which determine y"),
        (lambda t, u: t.join(u, {"x": "k"}, **ONCE).aggregate(["s", "x", "y"], n=COUNT), "s, x, which determine y"),
        (
            lambda t, u: t.join(u, "k", **ONCE).rename({"k": "y", "y": "k"}).filter(col("k") > 5)
            .aggregate(["y", "k"], n=COUNT), "y, which determine k",
        ),
        (
            lambda t, u: t.join(u, "k", **ONCE).join(t.distinct("x").select("x", r=col("s")), {"y": "x"}, how="left", **ONCE)
            .aggregate(["k", "y", "r"], n=COUNT), "k, which determine y, r",
        ),
    ],
    ids=["inner", "left", "of another name", "renamed", "one by another"],
)  # fmt: skip
def test_what_a_join_adds_is_implied_by_its_keys(pipeline, t, u, keys, steps, expected):
    assert keys(steps(t, u)) == expected
    assert_optimized_same(pipeline)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (lambda t, u: t.join(u, "k").aggregate(["k", "y"], n=COUNT), "k, y"),
        (lambda t, u: t.join(u, "k", **ONCE).aggregate(["x", "y"], n=COUNT), "x, y"),
        (lambda t, u: t.join(u, "k", how="full", **ONCE).aggregate(["k", "y"], n=COUNT), "k, y"),
        (lambda t, u: t.join(u, "k", **ONCE).with_columns(k=col("k") % 2).aggregate(["k", "y"], n=COUNT), "k, y"),
        (lambda t, u: t.join(u, "k", **ONCE).union(t.join(u, "k")).aggregate(["k", "y"], n=COUNT), "k, y"),
        (lambda t, u: u.join(t, "k", validate="one_to_many").aggregate(["k", "y", "w"], n=COUNT), "k, y, w"),
    ],
    ids=["keys may repeat", "without the key", "alone on the right", "computed", "of a union", "of the left side"],
)
def test_other_keys_are_compared(pipeline, t, u, keys, steps, expected):
    assert keys(steps(t, u)) == expected
    assert_optimized_same(pipeline)


def test_keys_that_others_tell_are_those_of_the_group_on_every_engine(pipeline, t, u, engine):
    """Texts, nulls, a left row without a partner."""
    texts = u.select("k", "w", name=expr("CASE WHEN y > 5 THEN concat('u', CAST(y AS string)) END"))
    t.join(texts, "k", how="left", **ONCE).aggregate(["name", "k", "w"], n=COUNT, s=col("x").sum()).stage("result")
    assert_same(pipeline, engine)
