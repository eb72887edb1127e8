"""intersect and except: rows that other inputs have, or do not have, each once or counted."""

import pytest

from gpuetl import InvalidPipeline, col, count, loads
from tables import NAN, table

TYPES = {"k": "int64", "s": "string"}
ONE = [(1, "a"), (1, "a"), (1, "a"), (2, None), (2, None), (None, None), (3, "c")]
TWO = [(1, "a"), (1, "a"), (2, None), (None, None), (None, None), (4, "d")]


@pytest.fixture
def sides(source):
    return source(table(TYPES, *ONE), "one"), source(table(TYPES, *TWO), "two")


def test_rows_that_both_have(sides, check):
    one, two = sides
    check(one.intersect(two), table(TYPES, (1, "a"), (2, None), (None, None)))
    check(one.intersect(two, all=True), table(TYPES, (1, "a"), (1, "a"), (2, None), (None, None)))


def test_rows_that_the_other_lacks(sides, check):
    one, two = sides
    check(one.except_(two), table(TYPES, (3, "c")))
    check(one.except_(two, all=True), table(TYPES, (1, "a"), (2, None), (3, "c")))
    check(two.except_(one), table(TYPES, (4, "d")))
    check(two.except_(one, all=True), table(TYPES, (None, None), (4, "d")))


def test_several_inputs_one_after_the_other(sides, source, check):
    one, two = sides
    three = source(table(TYPES, (1, "a"), (3, "c")), "three")
    check(one.intersect(two, three), table(TYPES, (1, "a")))
    check(one.except_([two, three], all=True), table(TYPES, (2, None)))
    check(one.intersect(two).except_(three).sort("k"), table(TYPES, (2, None), (None, None)), ordered=True)


@pytest.mark.part(3)
@pytest.mark.parametrize("all_rows", [False, True])
def test_no_rows(sides, check, all_rows):
    one, _ = sides
    none = one.filter(col("k") > 9).stage("none")
    check(none.intersect(one, all=all_rows), table(TYPES))
    check(none.except_(one, all=all_rows), table(TYPES))
    check(one.intersect(none, all=all_rows), table(TYPES))
    check(one.except_(none, all=True), table(TYPES, *ONE))
    check(one.except_(one, all=all_rows), table(TYPES))


def test_columns_meet_by_name_and_types_widen(source, check):
    one = source(table({"x": "int8", "y": "float64"}, (1, NAN), (2, 0.0), (-3, 1.5)), "one")
    two = source(table({"y": "float64", "x": "int64"}, (NAN, 1), (-0.0, 2), (1.5, 2**40)), "two")
    wide = {"x": "int64", "y": "float64"}
    check(one.intersect(two), table(wide, (1, NAN), (2, 0.0)))
    check(one.intersect(two, all=True), table(wide, (1, NAN), (2, 0.0)))
    check(one.except_(two), table(wide, (-3, 1.5)))
    check(one.except_(two, all=True).aggregate(n=count()), table({"n": "int64"}, (1,)))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("intersect: other", "the rows before the intersect lack y"),
        ("except: {with: other}", "the rows before the except lack y"),
        ("except: lists", "'x' is int64, and string in 'lists'"),
        ("except: nothing", "unknown source or stage 'nothing'"),
    ],
)
def test_inputs_that_do_not_fit(tmp_path, step, message):
    text = f"""
gpuetl: 1
name: test
sources:
  one: {{parquet: one.parquet, schema: {{x: int64}}}}
  other: {{parquet: other.parquet, schema: {{x: int64, y: int64}}}}
  lists: {{parquet: lists.parquet, schema: {{x: string}}}}
stages:
  out: {{from: one, steps: [{{{step}}}]}}
"""
    with pytest.raises(InvalidPipeline) as caught:
        loads(text, tmp_path).plan()
    assert message in str(caught.value).splitlines()[0]


def test_the_file_is_read_again(pipeline, sides):
    one, two = sides
    one.intersect(two, all=True).except_(two).stage("out")
    again = loads(pipeline.to_yaml(), pipeline.root)
    assert again.to_yaml() == pipeline.to_yaml()
    assert again.fingerprint == pipeline.fingerprint
