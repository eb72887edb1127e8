"""Steps over columns of texts, with dictionaries and without: the rows are the oracle's."""

import random

import pytest

from gpu_engine.host_machine import COMPILER
from gpuetl import RunOptions, expr
from gpuetl.testing import LAYOUTS, assert_same
from tables import table

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
ENGINE = "cudf-on-cpu"
WAYS = {"plain": RunOptions(skip_passes=("string_codes",)), **LAYOUTS}
"""In partitions of 2 rows, each has a dictionary of its own."""
TYPES = {"i": "int64", "g": "string", "s": "string", "u": "string"}


def rows(count, seed, few=("", "b", "a", "é", "e\u0301", "😀", "a longer text than others", None)):
    """Return rows of few groups (g), texts that repeat (s), and texts that do not (u)."""
    draws = random.Random(seed)
    own = [(place, draws.choice("xyz"), draws.choice(few), f"{seed}-{place}") for place in range(count)]
    return table(TYPES, *own)


STEPS = {
    "expressions": lambda t: t.with_columns(
        band=expr("CASE WHEN i > 4 THEN 'high' WHEN s = 'a' THEN 'é' END"),
        name=expr("upper(s) || '!'"),
        known=expr("coalesce(s, g, 'none')"),
        size=expr("length(s)"),
        equal=expr("s IN ('a', 'é', '') OR s LIKE 'a l%'"),
        both=expr("s || u"),
    ),
    "filter and sort": lambda t: t.filter(expr("s >= 'a'")).sort("s desc", "i"),
    "fill_null": lambda t: t.fill_null(s="nothing"),
    "distinct": lambda t: t.distinct("s", keep="first", order_by=["g", "i"]),
    "aggregate": lambda t: t.aggregate(
        "g", least=expr("min(s)"), most=expr("max(s)"), mode=expr("mode(s)"), kinds=expr("count(distinct s)"),
        of_least=expr("min_by(s, i)"), n=expr("count(s)"),
    ),
    "aggregate by texts": lambda t: t.aggregate(["s", "g"], n=expr("count(*)"), last=expr("max_by(u, i)")),
    "window": lambda t: t.window(
        "g", "i", before=expr("lag(s)"), after=expr("lead(s, default => 'end')"), filled=expr("ffill(s)"),
        least=expr("cum_min(s)"), most=expr("rolling_max(s, frame => 2)"), first=expr("first(s)"),
    ),
    "window by texts": lambda t: t.window("s", ["g", "i"], n=expr("row_number()")),
    "split and explode": lambda t: t.with_columns(part=expr("split(s, ' ')")).explode("part"),
    "union": lambda t: t.union(t.with_columns(s=expr("u"), g=expr("'new'"))),
}  # fmt: skip


@pytest.mark.part(12)
@pytest.mark.parametrize("name", STEPS)
def test_a_step_gives_the_oracle_s_rows(source, pipeline, name):
    """Of texts that are null, empty, or of more than one byte a character."""
    STEPS[name](source(rows(24, 1))).stage("out")
    assert_same(pipeline, ENGINE, partitions=WAYS)


@pytest.mark.part(2)
@pytest.mark.parametrize("how", ["inner", "full", "anti"])
@pytest.mark.parametrize("key", ["s", "u"])
def test_texts_of_other_dictionaries_join(source, pipeline, how, key):
    """Also where a side has none: its texts are made of numbers."""
    left = source(rows(12, 1), "l")
    right = source(rows(5, 2, ("a", "é", "only here", None)), "r").select(
        "s", u=expr("'1-' || CAST(i AS string)"), v=expr("u")
    )
    on = {key: key}
    payload = right.select(key, "v") if how != "anti" else right.select(key)
    left.join(payload, on, how).stage("out")
    assert_same(pipeline, ENGINE, partitions=WAYS)


@pytest.mark.parametrize("values", [[], [None, None, None], ["", "", ""]], ids=["no rows", "nulls", "empty"])
def test_columns_of_nothing(source, pipeline, values):
    """No rows, nulls alone, and texts without a byte."""
    t = source(table({"s": "string"}, *zip(values, strict=True)))
    t.union(t.with_columns(s=expr("CASE WHEN s IS NULL THEN 'x' ELSE s END"))).sort("s").stage("out")
    t.aggregate("s", n=expr("count(*)"), m=expr("max(s)")).stage("groups")
    assert_same(pipeline, ENGINE, partitions=WAYS)
