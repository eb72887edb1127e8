"""join on expressions, and which key columns the result has."""

import pytest

from gpuetl import InvalidPipeline, RunFailed, col, expr, loads
from messages import without_place
from tables import table

LEFT = {"id": "int64", "name": "string"}
RIGHT = {"code": "string", "id": "int64"}
LEFT_ROWS = [(1, "Ann"), (2, "BOB"), (3, None), (4, "cid")]
RIGHT_ROWS = [("ann", 7), ("bob", 8), (None, 9), ("dan", 10)]
BOTH = {**LEFT, "code": "string", "id_two": "int64"}
PAIRS = [(1, "Ann", "ann", 7), (2, "BOB", "bob", 8)]
LEFT_ALONE = [(3, None, None, None), (4, "cid", None, None)]
RIGHT_ALONE = [(None, None, None, 9), (None, None, "dan", 10)]


@pytest.fixture
def sides(source):
    return source(table(LEFT, *LEFT_ROWS), "one"), source(table(RIGHT, *RIGHT_ROWS), "two")


@pytest.mark.part(3)
@pytest.mark.parametrize(
    ("how", "rows"),
    [
        ("inner", PAIRS),
        ("left", PAIRS + LEFT_ALONE),
        ("right", PAIRS + RIGHT_ALONE),
        ("full", PAIRS + LEFT_ALONE + RIGHT_ALONE),
    ],
)
def test_columns_of_both_sides_stay(sides, check, how, rows):
    one, two = sides
    check(one.join(two, "lower(name) = code", how, suffix="_two"), table(BOTH, *rows))
    check(one.join(two, left_on=col("name").lower(), right_on="code", how=how, suffix="_two"), table(BOTH, *rows))


@pytest.mark.part(2)
def test_semi_anti_and_several_keys(sides, check):
    one, two = sides
    check(one.join(two, expr("lower(name) = code"), "semi"), table(LEFT, *LEFT_ROWS[:2]))
    check(one.join(two, ["lower(name) = code"], "anti"), table(LEFT, *LEFT_ROWS[2:]))
    check(one.join(two, "lower(name) = code", "semi", nulls_equal=True), table(LEFT, *LEFT_ROWS[:3]))
    joined = one.join(two, [expr("lower(name) = code"), expr("id + 6 = id")], "inner", suffix="_two")
    check(joined, table(BOTH, *PAIRS))
    shifted = two.select("code", id=col("id") - 6).stage("shifted")
    by_both = one.join(shifted, ["id", "lower(name) = code"], "full")
    rows = [(1, "Ann", "ann"), (2, "BOB", "bob"), (3, None, None), (3, None, None), (4, "cid", None), (4, None, "dan")]
    check(by_both, table({**LEFT, "code": "string"}, *rows))


def test_widths_meet_and_a_condition_goes_along(source, check):
    one = source(table({"a": "int8", "x": "int64"}, (1, 5), (2, 6), (3, 7)), "one")
    two = source(table({"b": "int64", "y": "int64"}, (2, 6), (4, 4), (6, 9)), "two")
    joined = one.join(two, "a * 2 = b", "left", condition=expr("l.x > r.y or r.b = 6"))
    rows = [(1, 5, None, None), (2, 6, 4, 4), (3, 7, 6, 9)]
    check(joined, table({"a": "int8", "x": "int64", "b": "int64", "y": "int64"}, *rows))


def test_validate_names_the_expressions(sides, failure):
    one, two = sides
    doubled = two.union(two).stage("doubled")
    text = failure(one.join(doubled, "lower(name) = upper(code)", validate="many_to_one", suffix="_two"), RunFailed)
    assert "the join is not many_to_one: upper(code) repeats on the right side, upper(code) = " in text


KEYS = {"k": "int64", "x": "string", "y": "string"}


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("how", "rows"),
    [
        ("inner", [(1, "a", "c")]),
        ("left", [(1, "a", "c"), (2, "b", None)]),
        ("right", [(1, "a", "c"), (3, None, "d")]),
        ("full", [(1, "a", "c"), (2, "b", None), (3, None, "d")]),
    ],
)
@pytest.mark.parametrize("key", ["k", "j"])
def test_a_key_that_is_a_column_stays_once(source, check, how, rows, key):
    """As in SQL's USING: with the left name, and the value of the side that has the row."""
    one = source(table({"k": "int64", "x": "string"}, (1, "a"), (2, "b")), "one")
    two = source(table({key: "int64", "y": "string"}, (1, "c"), (3, "d")), "two")
    check(one.join(two, {"k": key}, how), table(KEYS, *rows))


TEXT = """
gpuetl: 1
name: test
sources:
  one: {parquet: one.parquet, schema: {k: int64, s: string}}
  two: {parquet: two.parquet, schema: {k: int64, t: string}}
stages: {out: {from: one, steps: [{join: {with: two, how: semi, on: ON}}]}}
"""


@pytest.mark.parametrize(
    ("on", "message"),
    [
        ("lower(q) = t", "unknown column 'q'"),
        ("lower(s) = upper(s)", "unknown column 's'"),
        ("k = lower(t)", "cannot join k (int64) with lower(t) (string)"),
        ("k >= k", "a key is a column, or an equality of a left and a right expression"),
        ("[{left: k}]", "a pair of keys has a left and a right expression"),
        ("[lower(s) = t, lower(s) = t]", "'lower(s)' is named twice"),
    ],
)
def test_mistakes_are_reported(tmp_path, on, message):
    with pytest.raises(InvalidPipeline) as caught:
        loads(TEXT.replace("ON", on), tmp_path).plan()
    assert message in without_place(str(caught.value))


@pytest.mark.parametrize(
    "on", ["lower(s) = t", "[k, lower(s) = t]", "[{left: lower(s), right: t}, {left: k + 1, right: k}]"]
)
def test_the_file_is_read_again(tmp_path, on):
    pipeline = loads(TEXT.replace("ON", on), tmp_path)
    again = loads(pipeline.to_yaml(), tmp_path)
    assert again.to_yaml() == pipeline.to_yaml()
    assert again.fingerprint == pipeline.fingerprint
