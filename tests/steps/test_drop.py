"""drop: columns left out."""

import pytest

from tables import table

pytestmark = pytest.mark.single_rows

TYPES = {"a": "int64", "b": "string", "n": "null"}


@pytest.mark.parametrize("rows", [[], [(1, "x", None)], [(1, "x", None), (None, None, None), (3, "z", None)]])
def test_drop_keeps_the_other_columns_in_their_order(source, check, rows):
    t = source(table(TYPES, *rows))
    check(t.drop("b"), table({"a": "int64", "n": "null"}, *((a, n) for a, _, n in rows)), ordered=True)


def test_drop_of_every_column_is_refused(source, problem):
    assert "drop leaves no column" in problem(source(table({"a": "int64"})).drop("a"))


def test_drop_of_an_unknown_column_is_refused(source, problem):
    assert "unknown column 'z'" in problem(source(table(TYPES)).drop("a", "z"))
