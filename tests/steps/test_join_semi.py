"""join: semi keeps the left rows that have a match, anti those that have none, each once and with its own columns."""

import pytest

from gpuetl import col
from tables import NAN, table

LEFT, RIGHT = {"k": "float64", "a": "int64"}, {"k": "float64", "a": "string"}
LEFT_ROWS = [(1.0, 10), (None, 11), (NAN, 12), (-0.0, 13), (1.0, 10), (5.0, 15)]
RIGHT_ROWS = [(0.0, "x"), (None, "y"), (NAN, "z"), (1.0, "x"), (7.0, "y"), (1.0, "z"), (None, "x")]
MATCHED = [(1.0, 10), (NAN, 12), (-0.0, 13), (1.0, 10)]


@pytest.fixture
def sides(source):
    return lambda left=LEFT_ROWS, right=RIGHT_ROWS: (
        source(table(LEFT, *left), "left"),
        source(table(RIGHT, *right), "right"),
    )


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("how", "nulls_equal", "expected"),
    [
        ("semi", False, MATCHED),
        ("semi", True, [*MATCHED, (None, 11)]),
        ("anti", False, [(None, 11), (5.0, 15)]),
        ("anti", True, [(5.0, 15)]),
    ],
)
def test_a_left_row_comes_once_and_a_null_matches_nothing(sides, check, how, nulls_equal, expected):
    left, right = sides()
    check(left.join(right, "k", how, nulls_equal=nulls_equal), table(LEFT, *expected))


@pytest.mark.parametrize(("how", "kept"), [("semi", []), ("anti", LEFT_ROWS)])
def test_of_an_empty_right_side_nothing_matches(sides, check, how, kept):
    left, right = sides(right=[])
    check(left.join(right, "k", how), table(LEFT, *kept))


@pytest.mark.parametrize("how", ["semi", "anti"])
def test_of_an_empty_left_side_nothing_comes(sides, check, how):
    left, right = sides(left=[])
    check(left.join(right, "k", how), table(LEFT))


def test_a_null_among_the_right_keys_does_not_empty_an_anti_join(sides, check):
    left, right = sides([(1.0, 1), (2.0, 2)], [(None, "x"), (1.0, "y")])
    check(left.join(right, "k", "anti"), table(LEFT, (2.0, 2)))


@pytest.mark.parametrize(("how", "expected"), [("semi", [(1, "x", 1)]), ("anti", [(1, None, 2), (2, "x", 3)])])
def test_all_of_several_keys_must_match(source, check, how, expected):
    types = {"i": "int16", "s": "string", "a": "int64"}
    left = source(table(types, (1, "x", 1), (1, None, 2), (2, "x", 3)), "left")
    right = source(table({"t": "string", "j": "uint8"}, ("x", 1), (None, 1), ("y", 2), ("x", 1)), "right")
    check(left.join(right, {"i": "j", "s": "t"}, how), table(types, *expected))


@pytest.mark.parametrize(("how", "expected"), [("semi", [(1, 1), (3, 3)]), ("anti", [(2, 2)])])
def test_a_table_is_compared_with_itself(source, check, how, expected):
    t = source(table({"k": "int64", "x": "int64"}, (1, 1), (2, 2), (3, 3)))
    check(t.join(t.filter(col("x") != 2), "k", how), table({"k": "int64", "x": "int64"}, *expected))
