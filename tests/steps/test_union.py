"""union: the rows of several stages or sources, by column name, repeats included."""

from datetime import date, datetime

import pytest

from gpuetl import InvalidPipeline, Pipeline, RunFailed, RunOptions, col, count, expr, loads, row_number
from tables import NAN, table, write_source

TYPES = {"k": "int64", "s": "string"}
ONE = [(1, "a"), (2, None), (None, "c")]
TWO = [(1, "a"), (4, "")]


@pytest.fixture
def sides(source):
    return source(table(TYPES, *ONE), "one"), source(table(TYPES, *TWO), "two")


def test_union_keeps_repeats(sides, check):
    one, two = sides
    check(one.union(two), table(TYPES, *ONE, *TWO))


def test_columns_meet_by_name_in_the_order_of_the_first(sides, check):
    one, two = sides
    check(one.union(two.select("s", "k")), table(TYPES, *ONE, *TWO))


def test_a_stage_is_united_with_itself(sides, check):
    one, _ = sides
    check(one.union(one), table(TYPES, *ONE, *ONE))
    shared = one.with_columns(k=col("k") * 2).stage("shared")
    doubled = [(2, "a"), (4, None), (None, "c")]
    check(shared.union(shared).union(shared), table(TYPES, *doubled, *doubled, *doubled))


def test_three_are_united_in_one_step(sides, source, check):
    one, two = sides
    three = source(table(TYPES, (9, "z")), "three")
    check(one.union(two, three), table(TYPES, *ONE, *TWO, (9, "z")))
    check(one.filter(col("k") > 0).union(two.union(three)), table(TYPES, *ONE[:2], *TWO, (9, "z")))


@pytest.mark.parametrize(("left", "right"), [([], []), ([], TWO), (ONE, [])])
def test_a_side_may_have_no_rows(source, check, left, right):
    one, two = source(table(TYPES, *left), "one"), source(table(TYPES, *right), "two")
    check(one.union(two), table(TYPES, *left, *right))
    check(one.union(two).aggregate(n=count()), table({"n": "int64"}, (len(left) + len(right),)))


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("left", "right", "meeting", "first", "second", "seen"),
    [
        ("int8", "int64", "int64", -128, 2**62, -128),
        ("uint32", "int32", "int64", 2**32 - 1, -1, 2**32 - 1),
        ("int64", "float64", "float64", 3, NAN, 3.0),
        ("float32", "float64", "float64", 0.5, 0.1, 0.5),
        ("date", "timestamp", "timestamp", date(1969, 12, 31), datetime(2024, 1, 1, 12), datetime(1969, 12, 31)),
        ("null", "string", "string", None, "é", None),
    ],
)
def test_types_meet_as_in_expressions(source, check, left, right, meeting, first, second, seen):
    one, two = source(table({"x": left}, (first,)), "one"), source(table({"x": right}, (second,)), "two")
    check(one.union(two), table({"x": meeting}, (seen,), (second,)))
    check(two.union(one), table({"x": meeting}, (second,), (seen,)))


def test_all_sides_widen_to_the_type_in_which_all_meet(source, check):
    sources = [source(table({"x": dtype}, (1,)), dtype) for dtype in ("int8", "int16", "int64")]
    check(sources[0].union(*sources[1:]), table({"x": "int64"}, (1,), (1,), (1,)))


@pytest.mark.parametrize(("left", "right"), [("int64", "string"), ("timestamp", "timestamp[UTC]"), ("bool", "int8")])
def test_types_that_do_not_meet_are_refused(source, problem, left, right):
    one, two = source(table({"x": left}), "one"), source(table({"x": right}), "two")
    assert f"step 1: 'x' is {left}, and {right} in 'two'\nCast one of them first." in problem(one.union(two))


def test_missing_columns_are_listed(source, problem):
    one = source(table({"k": "int64", "x": "int64"}), "one")
    two = source(table({"k": "int64", "y": "string", "z": "bool"}), "two")
    text = problem(one.union(two))
    assert "step 1: the rows before the union lack y, z" in text
    assert "step 1: 'two' lacks x" in text
    assert "Set missing: null to fill them with null" in text


def test_missing_columns_become_null(source, check):
    one = source(table({"k": "int64", "x": "int64"}, (1, 10)), "one")
    two = source(table({"y": "string", "k": "int8"}, ("b", 2)), "two")
    three = source(table({"x": "float64"}, (0.5,)), "three")
    expected = {"k": "int64", "x": "float64", "y": "string"}
    rows = (1, 10.0, None), (2, None, "b"), (None, 0.5, None)
    check(one.union(two, three, missing="null"), table(expected, *rows))


def test_an_aggregate_and_a_window_see_the_rows_of_all_sides(sides, check):
    one, two = sides
    both = one.union(two).union(one).stage("both")
    sums = both.aggregate("k", n=count(), first=expr("min(s)"))
    check(
        sums,
        table({"k": "int64", "n": "int64", "first": "string"}, (1, 3, "a"), (2, 2, None), (None, 2, "c"), (4, 1, "")),
    )
    numbered = both.window("k", "s", n=row_number()).aggregate("k", n=expr("max(n)"))
    check(numbered, table({"k": "int64", "n": "int64"}, (1, 3), (2, 2), (None, 2), (4, 1)))


def test_a_union_is_joined_filtered_and_sorted(sides, check):
    one, two = sides
    both = one.union(two)
    expected = table({**TYPES, "s2": "string"}, (1, "a", "a"), (1, "a", "a"), (4, "", ""))
    check(both.join(two, "k", suffix="2").sort("k"), expected)
    check(two.join(both.filter(expr("k > 1")), "k", suffix="2"), table({**TYPES, "s2": "string"}, (4, "", "")))
    check(both.distinct("k", "s").sort("k desc", "s").limit(2), table(TYPES, (4, ""), (2, None)), ordered=True)


def test_unions_of_rows_that_met_by_key(sides, check):
    one, two = sides
    left, right = (side.aggregate("k", n=count()) for side in (one, two))
    check(
        left.union(right).aggregate("k", n=col("n").sum()),
        table({"k": "int64", "n": "int64"}, (1, 2), (2, 1), (None, 1), (4, 1)),
    )


def test_a_filter_that_fails_names_its_step(sides, failure):
    one, two = sides
    message = failure(one.union(two).filter(expr("CAST(s AS int64) > 3")), RunFailed)
    assert message.startswith("stage 'result', step 2: CAST(s AS int64) has no result, for ")


def test_a_union_with_its_own_stage_goes_in_a_circle(sides, pipeline):
    text = pipeline.to_yaml() + "stages:\n  s:\n    from: one\n    steps:\n      - union: s\n"
    with pytest.raises(InvalidPipeline, match="the stages go in a circle: s → s"):
        loads(text, pipeline.root).plan()


def test_a_wrong_side_is_reported_once(sides, problem, pipeline):
    one, two = sides
    text = problem(one.union(two.select("k", t=expr("nothing + 1"))))
    assert "unknown column 'nothing'" in text
    assert "'sides'" not in problem(one.union(two.rename({"absent": "x"})))


def test_a_table_of_another_pipeline_is_refused(sides, tmp_path):
    other = write_source(Pipeline("other", root=tmp_path), "other", table(TYPES))
    with pytest.raises(InvalidPipeline, match="union: 'other' belongs to pipeline 'other'"):
        sides[0].union(other)


@pytest.mark.parametrize("keys", [{"missing": "drop"}, {}])
def test_keys_are_checked(sides, keys):
    with pytest.raises(InvalidPipeline, match=r"takes one of error, null|got none"):
        sides[0].union(*([sides[1]] if keys else []), **keys)


def test_the_report_counts_the_rows_of_all_sides(sides, pipeline):
    one, two = sides
    one.union(two).filter(expr("length(s) > 0")).stage("both")
    for optimize in (True, False):
        report = pipeline.run(engine="pandas", options=RunOptions(partition_rows=2, optimize=optimize)).report
        (stage,) = [s for s in report.stages if s.name == "both"]
        assert (stage.rows_in, stage.rows_out) == (3, 3)
