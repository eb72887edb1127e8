"""join: what validate promises of the keys of each side, for every kind of join that has them."""

import pytest

from gpuetl import RunFailed
from tables import NAN, table

LEFT, RIGHT = {"k": "float64", "a": "int64"}, {"k": "float64", "b": "int64"}
BOTH = {"k": "float64", "a": "int64", "b": "int64"}
UNIQUE = [(1.0, 1), (None, 2), (2.0, 3), (None, 4), (NAN, 5)]
REPEATED = [(2.0, 6), (1.0, 7), (3.0, 8), (1.0, 9)]
BROKEN_LEFT = ["one_to_one", "one_to_many"]
BROKEN_RIGHT = ["one_to_one", "many_to_one"]
KINDS = ["inner", "left", "right", "full"]


@pytest.fixture
def sides(source):
    return lambda left, right: (source(table(LEFT, *left), "left"), source(table(RIGHT, *right), "right"))


@pytest.mark.part(6)
@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("validate", ["one_to_one", "many_to_one", "one_to_many", "many_to_many"])
def test_what_validate_promises_may_be_kept(sides, check, how, validate):
    left, right = sides(UNIQUE, UNIQUE)
    unmatched_left = [(None, 2, None), (None, 4, None)] if how in ("left", "full") else []
    unmatched_right = [(None, None, 2), (None, None, 4)] if how in ("right", "full") else []
    expected = table(BOTH, (1.0, 1, 1), (2.0, 3, 3), (NAN, 5, 5), *unmatched_left, *unmatched_right)
    check(left.join(right, "k", how, validate=validate), expected)


@pytest.mark.part(3)
@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize(
    ("left_rows", "right_rows", "side", "validate"),
    [
        *((REPEATED, UNIQUE, "left", validate) for validate in BROKEN_LEFT),
        *((UNIQUE, REPEATED, "right", validate) for validate in BROKEN_RIGHT),
    ],
)
def test_what_validate_promises_may_be_broken(sides, failure, how, left_rows, right_rows, side, validate):
    left, right = sides(left_rows, right_rows)
    message = failure(left.join(right, "k", how, validate=validate), RunFailed)
    reported = f"stage 'result', step 1: the join is not {validate}: k repeats on the {side} side, k = 1.0 is in more than one row."
    assert message.startswith(reported)


@pytest.mark.part(2)
@pytest.mark.parametrize("how", KINDS)
def test_the_other_side_may_repeat(sides, check, how):
    left, right = sides([(1.0, 1), (1.0, 2)], [(1.0, 3)])
    expected = table(BOTH, (1.0, 1, 3), (1.0, 2, 3))
    check(left.join(right, "k", how, validate="many_to_one"), expected)
    left, right = left.stage("l"), right.stage("r")
    expected = table({"k": "float64", "b": "int64", "a": "int64"}, (1.0, 3, 1), (1.0, 3, 2))
    check(right.join(left, "k", how, validate="one_to_many"), expected)


@pytest.mark.part(2)
@pytest.mark.parametrize("how", KINDS)
def test_repeated_keys_that_nothing_matches_break_validate_too(sides, failure, how):
    left, right = sides([(9.0, 0)], REPEATED)
    assert "not many_to_one" in failure(left.join(right, "k", how, validate="many_to_one"), RunFailed)


@pytest.mark.parametrize("how", KINDS)
def test_repeated_left_keys_that_nothing_matches_break_one_to_one(sides, failure, how):
    left, right = sides(REPEATED, [(9.0, 0)])
    assert "k repeats on the left side" in failure(left.join(right, "k", how, validate="one_to_one"), RunFailed)


def test_repeated_null_keys_break_validate_only_where_they_match(sides, check, failure):
    left, right = sides([(None, 1)], [(None, 2), (None, 3)])
    check(left.join(right, "k", validate="many_to_one"), table(BOTH))
    message = failure(left.join(right, "k", validate="many_to_one", nulls_equal=True), RunFailed)
    assert "not many_to_one: k repeats on the right side, k = null is in more than one row" in message


@pytest.mark.parametrize(("validate", "side"), [("many_to_one", "right: i, j"), ("one_to_many", "left: k, l")])
def test_a_right_join_names_the_sides_and_keys_of_the_user(source, failure, validate, side):
    rows = [(1, "x"), (1, "x")]
    left = source(table({"k": "int64", "l": "string"}, *rows), "left")
    right = source(table({"i": "int32", "j": "string"}, *rows), "right")
    message = failure(left.join(right, {"k": "i", "l": "j"}, "right", validate=validate), RunFailed)
    side, keys = side.split(": ")
    first, second = keys.split(", ")
    assert f"not {validate}: {keys} repeats on the {side} side, {first} = 1, {second} = 'x' is in more than" in message
