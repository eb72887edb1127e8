"""join with a condition: ranges and inequality beside equal keys, and alone."""

from datetime import date, datetime, timedelta

import pytest

from gpuetl import InvalidPipeline, RunFailed, col, expr, loads
from gpuetl.engines.cudf.relational import condition_join as on_device
from gpuetl.engines.pandas.relational import condition_join as on_host
from gpuetl.plan.plan import explain_plan
from messages import without_place
from tables import NAN, table

LEFT = {"k": "int64", "x": "int64"}
RIGHT = {"k": "int64", "y": "int64", "name": "string"}
LEFT_ROWS = [(1, 5), (1, 1), (2, 7), (3, None), (None, 2), (4, 4)]
RIGHT_ROWS = [
    (1, 2, "a"),
    (1, 4, "b"),
    (1, 9, "c"),
    (2, 9, "d"),
    (3, 1, "e"),
    (None, 1, "f"),
    (5, 0, "g"),
    (4, None, "h"),
]
BOTH = {"k": "int64", "x": "int64", "y": "int64", "name": "string"}
PAIRS = [(1, 5, 2, "a"), (1, 5, 4, "b")]
ALONE = [(1, 1, None, None), (2, 7, None, None), (3, None, None, None), (None, 2, None, None), (4, 4, None, None)]
RIGHT_ALONE = [
    (1, None, 9, "c"), (2, None, 9, "d"), (3, None, 1, "e"), (None, None, 1, "f"), (5, None, 0, "g"), (4, None, None, "h"),
]  # fmt: skip


@pytest.fixture
def sides(source):
    return source(table(LEFT, *LEFT_ROWS), "one"), source(table(RIGHT, *RIGHT_ROWS), "two")


@pytest.mark.part(4)
@pytest.mark.parametrize(
    ("how", "rows"),
    [
        ("inner", PAIRS),
        ("left", PAIRS + ALONE),
        ("right", PAIRS + RIGHT_ALONE),
        ("full", PAIRS + ALONE + RIGHT_ALONE),
    ],
)
def test_beside_equal_keys(sides, check, how, rows):
    one, two = sides
    check(one.join(two, "k", how, condition=expr("l.x > r.y")), table(BOTH, *rows))
    check(one.join(two, "k", how, condition=expr("x > y")), table(BOTH, *rows))


def test_semi_and_anti_with_keys(sides, check):
    one, two = sides
    check(one.join(two, "k", "semi", condition=expr("l.x > r.y")), table(LEFT, (1, 5)))
    check(one.join(two, "k", "anti", condition=expr("x > y")), table(LEFT, *LEFT_ROWS[1:]))
    matched = one.join(two, "k", "semi", condition=expr("y > x or name = 'a'"), nulls_equal=True)
    check(matched, table(LEFT, *LEFT_ROWS[:3]))


ALL = [(left, right) for left in LEFT_ROWS for right in RIGHT_ROWS]
MORE = pytest.mark.full(reason="other comparisons of the same ways to find pairs")
WIDE = {**LEFT, "k_two": "int64", "y": "int64", "name": "string"}


@pytest.mark.part(6)
@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("l.x > r.y", lambda x, y: x > y),
        pytest.param("r.y >= l.x", lambda x, y: y >= x, marks=MORE),
        ("x between y - 2 and y + 1", lambda x, y: y - 2 <= x <= y + 1),
        pytest.param("y > x and y < x + 4", lambda x, y: x < y < x + 4, marks=MORE),
        pytest.param("l.x <> r.y", lambda x, y: x != y, marks=MORE),
        pytest.param("x + y > 12", lambda x, y: x + y > 12, marks=MORE),
        ("x % 2 = y % 2", lambda x, y: x % 2 == y % 2),
    ],
)
@pytest.mark.parametrize("how", ["inner", "left", "full", "right", "semi", "anti"])
def test_without_keys(sides, check, condition, holds, how):
    one, two = sides
    found = [(a, b) for a, b in ALL if a[1] is not None and b[1] is not None and holds(a[1], b[1])]
    lefts, rights = [a for a, _ in found], [b for _, b in found]
    if how in ("semi", "anti"):
        rows = [a for a in LEFT_ROWS if (a in lefts) == (how == "semi")]
        check(one.join(two, how=how, condition=expr(condition)), table(LEFT, *rows))
        return
    rows = [(*a, *b) for a, b in found]
    rows += [(*a, None, None, None) for a in LEFT_ROWS if a not in lefts] if how in ("left", "full") else []
    rows += [(None, None, *b) for b in RIGHT_ROWS if b not in rights] if how in ("right", "full") else []
    check(one.join(two, how=how, condition=expr(condition), suffix="_two"), table(WIDE, *rows))


@pytest.mark.part(2)
@pytest.mark.parametrize("on", ["k", None])
@pytest.mark.parametrize("condition", ["x > y", "x % 2 = y % 2"])
def test_candidates_come_in_chunks(sides, check, monkeypatch, on, condition):
    for module in (on_host, on_device):
        monkeypatch.setattr(module, "CHUNK_BYTES", 1)
        monkeypatch.setattr(module, "LEAST_CHUNK", 3)
    one, two = sides
    two = two.select("k", "y")
    holds = (lambda x, y: x > y) if ">" in condition else (lambda x, y: x % 2 == y % 2)
    found = [
        (left, right)
        for left, right in ALL
        if None not in (left[1], right[1]) and holds(left[1], right[1]) and (not on or left[0] == right[0] is not None)
    ]
    rows = [(*left, *right[on is not None : 2]) for left, right in found]
    alone = [(*left, *[None] * (2 - (on is not None))) for left in LEFT_ROWS if left not in [a for a, _ in found]]
    types = {"k": "int64", "x": "int64", "y": "int64"} if on else {**LEFT, "k_two": "int64", "y": "int64"}
    check(
        one.join(two, on, "left", condition=expr(condition), suffix="" if on else "_two"), table(types, *rows, *alone)
    )


def test_a_result_that_is_too_large(sides, failure, monkeypatch):
    monkeypatch.setattr("gpuetl.engines.pandas.relational.join.physical_memory", lambda: 100)
    monkeypatch.setattr("gpuetl.engines.cudf.relational.join.device_memory", lambda machine: 100)
    one, two = sides
    text = failure(one.join(two, condition=expr("l.x <> r.y"), suffix="_two"), RunFailed)
    assert "the join would have" in text
    assert text.endswith("Make the condition stricter, or filter or aggregate a side first")


@pytest.mark.part(3)
@pytest.mark.parametrize("how", ["inner", "left", "full", "semi", "anti"])
@pytest.mark.parametrize("keys", [None, "k"])
def test_no_rows(sides, check, how, keys):
    one, two = sides
    given = {"condition": expr("x > y"), "suffix": "" if keys else "_two"}
    none, nothing = one.filter(col("x") > 99).stage("none"), two.filter(col("y") > 99).stage("nothing")
    wide = LEFT if how in ("semi", "anti") else BOTH if keys else WIDE
    left = [row + (None,) * (len(wide) - 2) for row in LEFT_ROWS]
    kept = [] if how in ("inner", "semi") else left
    check(one.join(nothing, keys, how, **given), table(wide, *kept))
    alone = [(r[0], None, *r[1:]) if keys else (None, None, *r) for r in RIGHT_ROWS] if how == "full" else []
    check(none.join(two, keys, how, **given), table(wide, *alone))


@pytest.mark.part(6)
@pytest.mark.parametrize(
    ("dtype", "low", "value", "high"),
    [
        ("int8", -128, 3, 127),
        ("float64", -0.0, 0.0, 1.5),
        ("float32", 0.5, NAN, NAN),
        ("date", date(2024, 1, 1), date(2024, 2, 29), date(2024, 3, 1)),
        ("timestamp", datetime(1969, 1, 1), datetime(1969, 1, 1, 5), datetime(2024, 1, 1)),
        ("duration", timedelta(-1), timedelta(0), timedelta(1)),
        ("uint64", 0, 2**63, 2**64 - 1),
        ("string", "a", "b", "é"),
        ("bool", False, True, True),
    ],
)
@pytest.mark.single_rows
def test_types_of_ranges(source, check, dtype, low, value, high):
    one = source(table({"v": dtype}, (value,), (None,)), "one")
    two = source(table({"low": dtype, "high": dtype}, (low, high), (high, low), (None, high), (low, None)), "two")
    found = one.join(two, condition=expr("v between low and high"))
    expected = [(value, a, b) for a, b in ((low, high), (high, low)) if a <= value <= b]  # NaN compares with nothing
    check(found, table({"v": dtype, "low": dtype, "high": dtype}, *expected))
    ends = {"v": dtype, "low": dtype}
    below = [(value, edge) for edge in (low, high, low) if value >= edge]
    check(one.join(two.select("low"), condition=expr("v >= low")), table(ends, *below))


def test_validate_counts_keys_before_the_condition(sides, failure, check):
    one, two = sides
    many = one.join(two, "k", validate="many_to_one", condition=expr("y = 2"))
    assert "the join is not many_to_one" in failure(many, RunFailed)
    right = two.filter(expr("name in ('a', 'd')")).stage("once")
    joined = one.join(right, "k", "left", validate="many_to_one", condition=expr("x > y"))
    check(joined, table(BOTH, (1, 5, 2, "a"), *ALONE))


def test_names_of_both_sides(source, check):
    one = source(table({"id": "int64", "at": "int64"}, (1, 3), (1, 8)), "one")
    two = source(table({"key": "int64", "at": "int64"}, (1, 5), (2, 0)), "two")
    result = {"id": "int64", "at": "int64", "at_two": "int64"}
    check(one.join(two, {"id": "key"}, condition=expr("l.at < r.at"), suffix="_two"), table(result, (1, 3, 5)))
    check(one.join(two, {"id": "key"}, condition=expr("l.at > at_two"), suffix="_two"), table(result, (1, 8, 5)))
    check(
        one.join(two, {"id": "key"}, "semi", condition=expr("key * 5 > l.at")),
        table({"id": "int64", "at": "int64"}, (1, 3)),
    )
    right = one.join(two, {"id": "key"}, "right", condition=expr("l.at < r.at and r.key = l.id"), suffix="_two")
    check(right, table(result, (1, 3, 5), (2, None, 0)))


def test_a_value_of_another_stage_in_a_condition(sides, check):
    one, two = sides
    one.aggregate(most=col("x").max()).stage("most")
    joined = one.join(two, "k", condition=expr("x < y and y > scalar(most.most)"))
    check(joined, table(BOTH, (1, 5, 9, "c"), (1, 1, 9, "c"), (2, 7, 9, "d")))


TEXT = """
gpuetl: 1
name: test
sources:
  one: {parquet: one.parquet, schema: {k: int64, x: int64, s: string}}
  two: {parquet: two.parquet, schema: {k: int64, x: int64}}
stages: {out: {from: one, steps: [{join: {with: two, JOIN}}]}}
"""


@pytest.mark.parametrize(
    ("join", "message"),
    [
        ("on: k, how: semi, condition: x > 1", "both sides have a column 'x'\nWrite l.x or r.x."),
        ("on: k, how: semi, condition: l.x > r.z", "unknown column 'r.z'"),
        ("on: k, how: semi, condition: q > 1", "unknown column 'q'"),
        ("on: k, how: semi, condition: l.x + r.x", "the condition of a join is true or false, and"),
        ("on: k, how: semi, condition: s > r.x", "cannot compare"),
        ("how: cross, condition: l.x > r.x", "how: cross pairs every row with every row, and takes no condition"),
        ("how: semi, condition: l.x > r.x, nulls_equal: true", "a join without keys has nothing for nulls_equal"),
        ("condition: l.x > r.x, validate: many_to_one", "a join without keys has nothing for validate"),
        ("how: left", "the key 'on' is missing"),
    ],
)
def test_mistakes_are_reported(tmp_path, join, message):
    with pytest.raises(InvalidPipeline) as caught:
        loads(TEXT.replace("JOIN", join), tmp_path).plan()
    text = "\n".join(
        line for line in without_place(str(caught.value)).splitlines() if "^" not in line and "{" not in line
    )
    assert message in text


def test_the_plan_and_the_file_show_it(tmp_path):
    pipeline = loads(TEXT.replace("JOIN", "on: k, how: right, suffix: _r, condition: l.x > r.x"), tmp_path)
    plan = explain_plan(pipeline.plan().with_results())
    assert 'Join right on k where "l.x" > "r.x_r"' in plan
    again = loads(pipeline.to_yaml(), tmp_path)
    assert "condition: l.x > r.x" in again.to_yaml()
    assert again.fingerprint == pipeline.fingerprint
