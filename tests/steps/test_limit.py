"""limit: the first rows."""

import pytest

from gpuetl import InvalidPipeline, col, expr, loads
from gpuetl.plan.plan import explain_plan
from tables import table

TYPES = {"x": "int64", "s": "string"}
ROWS = [(3, "a"), (None, "b"), (1, None), (5, "d"), (4, "e")]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 9])
def test_limit_keeps_the_first_rows_in_order(source, check, count):
    check(source(table(TYPES, *ROWS)).limit(count), table(TYPES, *ROWS[:count]), ordered=True)


@pytest.mark.parametrize("rows", [[], [(1, "a")], [(None, None)] * 3])
def test_limit_of_zero_rows_one_or_nulls(source, check, rows):
    check(source(table(TYPES, *rows)).limit(2), table(TYPES, *rows[:2]))


def test_limit_after_sort_is_the_top(source, check):
    t = source(table(TYPES, *ROWS))
    check(t.sort("x desc").limit(2), table(TYPES, (5, "d"), (4, "e")), ordered=True)


def test_a_filter_after_a_limit_sees_only_the_limit_s_rows(source, check):
    t = source(table(TYPES, *ROWS))
    check(t.limit(3).filter(col("x") > 2), table(TYPES, ROWS[0]))


GROUPS = {"k": "int64", "x": "int64"}
UNSORTED = [(2, 2), (1, 4), (3, 1), (1, 3), (None, 0), (2, 1), (4, 0)]
SORTED = [(1, 3), (1, 4), (2, 1), (2, 2), (3, 1), (4, 0), (None, 0)]


@pytest.mark.parametrize("count", [0, 3, 9])
def test_limit_after_a_window_takes_the_first_rows_in_the_window_s_order(source, check, count):
    steps = source(table(GROUPS, *UNSORTED)).window("k", "x", n=expr("row_number()")).limit(count)
    check(steps.select("k", "x"), table(GROUPS, *SORTED[:count]), ordered=True)


def test_a_sort_after_a_limit_after_a_window_sorts(source, check):
    steps = source(table(GROUPS, *UNSORTED)).window("k", "x", n=expr("row_number()")).limit(9).sort("k", "x")
    check(steps.select("k", "x"), table(GROUPS, *SORTED), ordered=True)


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("count", "offset"), [(2, 1), (2, 4), (3, 9), (0, 2), (None, 3), (None, 9), (9, 0), (2**40, 2)]
)
def test_offset_leaves_rows_out(source, check, count, offset):
    t = source(table(TYPES, *ROWS))
    end = None if count is None else count + offset
    check(t.limit(count, offset=offset), table(TYPES, *ROWS[offset:end]), ordered=True)
    ordered = sorted(ROWS, key=lambda row: (row[0] is None, row[0] or 0))
    check(t.sort("x").limit(count, offset=offset), table(TYPES, *ordered[offset:end]), ordered=True)


def test_limits_above_an_offset(source, check):
    t = source(table(TYPES, *ROWS))
    check(t.sort("x").limit(4, offset=1).limit(2, offset=1), table(TYPES, (4, "e"), (5, "d")), ordered=True)
    check(t.sort("x").limit(offset=1).limit(1), table(TYPES, (3, "a")), ordered=True)
    check(t.limit(2, offset=1).union(t.limit(offset=4)), table(TYPES, *ROWS[1:3], ROWS[4]))
    grouped = source(table(GROUPS, *UNSORTED), "u").window("k", "x", n=expr("row_number()")).limit(2, offset=3)
    check(grouped.select("k", "x"), table(GROUPS, *SORTED[3:5]), ordered=True)


def test_a_limit_needs_a_number(tmp_path):
    text = "gpuetl: 1\nname: t\nsources: {s: {parquet: s, schema: {x: int64}}}\nstages: {a: {from: s, steps: [%s]}}"
    with pytest.raises(InvalidPipeline, match="limit takes a number of rows"):
        loads(text % "{limit: {}}", tmp_path).plan()
    plan = loads(text % "{limit: {count: $n, offset: 20}}".replace("$n", "10"), tmp_path).plan()
    assert explain_plan(plan.with_results()).startswith("Limit 10, offset 20")
