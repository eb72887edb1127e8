"""limit: the first rows."""

import pytest

from gpuetl import col, expr
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
