"""join: inner and left, on keys in which null matches nothing and NaN matches NaN."""

import pytest

from gpuetl import col
from tables import NAN, table

LEFT, RIGHT = {"k": "float64", "a": "int64"}, {"k": "float64", "b": "int64"}
BOTH = {"k": "float64", "a": "int64", "b": "int64"}
BIG = 2**53 + 1
LEFT_ROWS = [(1.0, 10), (None, 11), (NAN, 12), (-0.0, 13), (1.0, 14), (5.0, 15)]
RIGHT_ROWS = [(0.0, BIG), (None, 21), (NAN, 22), (1.0, 23), (7.0, 24), (1.0, 25)]
MATCHES = [(1.0, 10, 23), (1.0, 10, 25), (NAN, 12, 22), (-0.0, 13, BIG), (1.0, 14, 23), (1.0, 14, 25)]


@pytest.fixture
def sides(source):
    return lambda left=LEFT_ROWS, right=RIGHT_ROWS: (
        source(table(LEFT, *left), "left"),
        source(table(RIGHT, *right), "right"),
    )


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("how", "nulls_equal", "more"),
    [
        ("inner", False, []),
        ("inner", True, [(None, 11, 21)]),
        ("left", False, [(None, 11, None), (5.0, 15, None)]),
        ("left", True, [(None, 11, 21), (5.0, 15, None)]),
    ],
)
def test_join_matches_equal_keys_and_keeps_integers_exact(sides, check, how, nulls_equal, more):
    left, right = sides()
    check(left.join(right, "k", how, nulls_equal=nulls_equal), table(BOTH, *MATCHES, *more))


@pytest.mark.part(2)
@pytest.mark.parametrize("how", ["inner", "left"])
@pytest.mark.parametrize(
    ("left_rows", "right_rows"), [([], []), ([], RIGHT_ROWS), (LEFT_ROWS, []), ([(1.0, 1)], [(1.0, 2)])]
)
def test_join_of_zero_rows_or_one(sides, check, how, left_rows, right_rows):
    expected = [(1.0, 1, 2)] if len(left_rows) == 1 else [(k, a, None) for k, a in left_rows if how == "left"]
    left, right = sides(left_rows, right_rows)
    check(left.join(right, "k", how), table(BOTH, *expected))


@pytest.mark.parametrize(
    ("nulls_equal", "rows"), [(False, []), (True, [(None, a, b) for a in (1, 2, 3) for b in (4, 5, 6)])]
)
def test_join_on_keys_that_are_all_null(sides, check, nulls_equal, rows):
    left, right = sides([(None, 1), (None, 2), (None, 3)], [(None, 4), (None, 5), (None, 6)])
    check(left.join(right, "k", nulls_equal=nulls_equal), table(BOTH, *rows))


def test_a_null_in_one_of_several_keys_matches_nothing(source, check):
    types = {"i": "int64", "s": "string", "a": "int64"}
    left = source(table(types, (1, "x", 1), (1, None, 2), (None, "x", 3), (2, "", 4)), "left")
    right = source(
        table({**types, "b": "int64"}, (1, "x", 0, 5), (1, None, 0, 6), (None, "x", 0, 7), (2, "", 0, 8)),
        "right",
    )
    expected = table({**types, "b": "int64"}, (1, "x", 1, 5), (2, "", 4, 8))
    check(left.join(right.drop("a"), ["i", "s"]), expected)


def test_keys_may_have_other_names_and_integers_of_other_widths(source, check):
    left = source(table({"i": "int8", "a": "string"}, (-1, "x"), (2, "y"), (None, "z")), "left")
    right = source(table({"j": "int64", "b": "string"}, (2, "p"), (-1, "q"), (2**40, "r"), (None, "s")), "right")
    check(
        left.join(right, {"i": "j"}),
        table({"i": "int8", "a": "string", "b": "string"}, (-1, "x", "q"), (2, "y", "p")),
    )


@pytest.mark.part(2)
@pytest.mark.parametrize("dtype", ["string", "date", "timestamp", "bool", "decimal(38,2)"])
def test_keys_of_every_type_meet(source, check, dtype):
    texts = ["2024-01-02", "1969-12-31", None] if dtype in ("date", "timestamp") else ["1", "0", None]
    left = source(table({"s": "string", "a": "int64"}, *((t, i) for i, t in enumerate(texts))), "left")
    right = source(table({"s": "string", "b": "int64"}, *((t, i) for i, t in enumerate(reversed(texts)))), "right")
    left, right = left.select("a", k=col("s").cast(dtype)), right.select("b", k=col("s").cast(dtype))
    check(left.join(right, "k").select("a", "b"), table({"a": "int64", "b": "int64"}, (0, 2), (1, 1)))


def test_a_name_on_both_sides_needs_a_suffix(source, check, problem):
    types = {"k": "int64", "x": "string"}
    left, right = source(table(types, (1, "l")), "left"), source(table(types, (1, "r")), "right")
    check(left.join(right, "k", suffix="_r"), table({**types, "x_r": "string"}, (1, "l", "r")))
    assert "both sides have x\nSet suffix: _right" in problem(left.join(right, "k"))


def test_a_suffix_must_not_make_another_clash(source, problem):
    left = source(table({"k": "int64", "x": "string", "x_r": "string"}), "left")
    right = source(table({"k": "int64", "x": "string"}), "right")
    assert "the suffix gives two columns the name 'x_r'" in problem(left.join(right, "k", suffix="_r"))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("int64", "string"),
        ("int64", "float64"),
        ("timestamp", "timestamp[UTC]"),
        ("decimal(10,2)", "decimal(10,3)"),
        ("decimal(10,0)", "int64"),
    ],
)
def test_keys_of_other_types_are_refused(source, problem, left, right):
    steps = source(table({"k": left}), "left").join(source(table({"k": right}), "right"), "k")
    assert f"cannot join 'k' ({left}) with 'k' ({right})" in problem(steps)


@pytest.mark.parametrize("how", ["inner", "left"])
def test_a_table_joins_itself(source, check, how):
    t = source(table({"k": "int64", "x": "int64"}, (1, 1), (2, 2), (1, 3)))
    expected = table({"k": "int64", "x": "int64", "x2": "int64"}, (1, 1, 1), (1, 1, 3), (1, 3, 1), (1, 3, 3), (2, 2, 2))
    check(t.join(t, "k", how, suffix="2"), expected)


@pytest.mark.parametrize("rows", [[], [("a", 1), (None, 2), ("b", 3)]])
def test_a_table_joins_itself_by_strings(source, check, rows):
    t = source(table({"k": "string", "x": "int64"}, *rows))
    expected = table({"k": "string", "x": "int64", "x2": "int64"}, *((k, x, x) for k, x in rows if k))
    check(t.join(t, "k", suffix="2"), expected)


def test_a_chain_of_joins_on_one_key(source, check):
    t = source(table({"k": "string", "x": "int64"}, ("a", 1), (None, 2), ("b", 3), ("c", 4), ("a", 5)))
    sums = t.aggregate("k", s=col("x").sum())
    most = t.aggregate("k", m=col("x").max())
    expected = table(
        {"k": "string", "x": "int64", "s": "int64", "m": "int64"},
        ("a", 1, 6, 5), ("a", 5, 6, 5), ("b", 3, 3, 3), ("c", 4, 4, 4), (None, 2, None, None),
    )  # fmt: skip
    check(
        t.join(sums, "k", "left", validate="many_to_one").join(most, "k", "left", validate="many_to_one"),
        expected,
    )
