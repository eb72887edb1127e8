"""join: right and full, whose rows without a partner are padded and have the keys of the side that they come from."""

import datetime
from decimal import Decimal

import pytest

from gpuetl import col
from tables import INT64_MAX, INT64_MIN, NAN, table

LEFT, RIGHT = {"k": "float64", "a": "int64"}, {"b": "int64", "k": "float64"}
BOTH = {"k": "float64", "a": "int64", "b": "int64"}
BIG = 2**53 + 1
LEFT_ROWS = [(1.0, 10), (None, 11), (NAN, 12), (-0.0, 13), (1.0, 14), (5.0, BIG)]
RIGHT_ROWS = [(20, 0.0), (21, None), (22, NAN), (23, 1.0), (BIG, 7.0), (25, 1.0), (26, None)]
MATCHES = [(1.0, 10, 23), (1.0, 10, 25), (NAN, 12, 22), (-0.0, 13, 20), (1.0, 14, 23), (1.0, 14, 25)]
RIGHT_ALONE = [(None, None, 21), (7.0, None, BIG), (None, None, 26)]


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
        ("right", False, RIGHT_ALONE),
        ("right", True, [(None, 11, 21), (7.0, None, BIG), (None, 11, 26)]),
        ("full", False, [(None, 11, None), (5.0, BIG, None), *RIGHT_ALONE]),
        ("full", True, [(None, 11, 21), (None, 11, 26), (5.0, BIG, None), (7.0, None, BIG)]),
    ],
)
def test_rows_without_a_partner_are_padded_and_integers_stay_exact(sides, check, how, nulls_equal, more):
    left, right = sides()
    check(left.join(right, "k", how, nulls_equal=nulls_equal), table(BOTH, *MATCHES, *more))


@pytest.mark.part(2)
@pytest.mark.parametrize("how", ["right", "full"])
@pytest.mark.parametrize(
    ("left_rows", "right_rows"), [([], []), ([], RIGHT_ROWS), (LEFT_ROWS, []), ([(1.0, 1)], [(2, 1.0)])]
)
def test_outer_joins_of_zero_rows_or_one(sides, check, how, left_rows, right_rows):
    if len(left_rows) == 1:
        expected = [(1.0, 1, 2)]
    else:
        expected = [(k, None, b) for b, k in right_rows] + [(k, a, None) for k, a in left_rows if how == "full"]
    left, right = sides(left_rows, right_rows)
    check(left.join(right, "k", how), table(BOTH, *expected))


@pytest.mark.parametrize("how", ["right", "full"])
def test_keys_have_the_left_name_and_the_common_type(source, check, how):
    left = source(table({"a": "string", "i": "int8", "l": "int64"}, ("x", -1, 1), ("y", 2, 2), ("z", None, 3)), "left")
    right = source(
        table({"j": "int64", "b": "string"}, (2, "p"), (INT64_MAX, "q"), (INT64_MIN, "r"), (None, "s")), "right"
    )
    unmatched = [("x", -1, 1, None), ("z", None, 3, None)] if how == "full" else []
    expected = table(
        {"a": "string", "i": "int64", "l": "int64", "b": "string"},
        ("y", 2, 2, "p"), (None, INT64_MAX, None, "q"), (None, INT64_MIN, None, "r"), (None, None, None, "s"), *unmatched,
    )  # fmt: skip
    check(left.join(right, {"i": "j"}, how), expected)


@pytest.mark.part(3)
@pytest.mark.parametrize("how", ["right", "full"])
@pytest.mark.parametrize(
    ("types", "common", "value"),
    [
        (("int64", "uint64"), "decimal(20,0)", 7),
        (("uint64", "int8"), "decimal(20,0)", 7),
        (("int16", "uint16"), "int32", 7),
        (("decimal(9,2)", "decimal(38,2)"), "decimal(38,2)", Decimal("7.00")),
    ],
)
def test_keys_of_different_types_meet_in_any_number_of_partitions(source, check, how, types, common, value):
    rows = [(value + i if i % 2 else None, i) for i in range(8)]
    left = source(table({"i": types[0], "a": "int64"}, *rows), "left")
    right = source(table({"j": types[1], "b": "int64"}, *rows), "right")
    alone = [(None, None, i) for i in (0, 2, 4, 6)] + [(None, i, None) for i in (0, 2, 4, 6) if how == "full"]
    met = [(Decimal(value + i) if "decimal" in common else value + i, i, i) for i in (1, 3, 5, 7)]
    expected = table({"i": common, "a": "int64", "b": "int64"}, *met, *alone)
    check(left.join(right, {"i": "j"}, how), expected)


@pytest.mark.parametrize("how", ["right", "full"])
def test_a_left_column_may_have_the_name_of_a_right_key(source, check, how):
    left = source(table({"i": "int64", "j": "string"}, (1, "x"), (2, "y")), "left")
    right = source(table({"j": "int64", "b": "string"}, (2, "p"), (3, "q")), "right")
    unmatched = [(1, "x", None)] if how == "full" else []
    expected = table({"i": "int64", "j": "string", "b": "string"}, (2, "y", "p"), (3, None, "q"), *unmatched)
    check(left.join(right, {"i": "j"}, how), expected)


@pytest.mark.parametrize("how", ["right", "full"])
def test_a_right_column_of_a_left_one_s_name_gets_the_suffix(source, check, problem, how):
    types = {"k": "int64", "x": "string"}
    left, right = source(table(types, (1, "l")), "left"), source(table(types, (1, "r"), (2, None)), "right")
    check(left.join(right, "k", how, suffix="_r"), table({**types, "x_r": "string"}, (1, "l", "r"), (2, None, None)))
    assert "both sides have x\nSet suffix: _right" in problem(left.join(right, "k", how))


@pytest.mark.parametrize("how", ["right", "full"])
def test_one_null_among_several_keys_stays_with_the_other_s_value(source, check, how):
    types = {"i": "int64", "s": "string"}
    left = source(table({**types, "a": "int64"}, (1, "x", 1), (1, None, 2), (None, "x", 3), (2, "", 4)), "left")
    right = source(table({**types, "b": "int64"}, (1, "x", 5), (1, None, 6), (None, "x", 7), (2, "é", 8)), "right")
    unmatched = [(1, None, 2, None), (None, "x", 3, None), (2, "", 4, None)] if how == "full" else []
    expected = table(
        {**types, "a": "int64", "b": "int64"},
        (1, "x", 1, 5), (1, None, None, 6), (None, "x", None, 7), (2, "é", None, 8), *unmatched,
    )  # fmt: skip
    check(left.join(right, ["i", "s"], how), expected)


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("string", ["", "é", "e\u0301", "😀", None]),
        ("decimal(38,2)", [Decimal("1.50"), Decimal("-1.50"), Decimal("9" * 36), Decimal(0), None]),
        ("date", [datetime.date(1969, 12, 31), datetime.date(2024, 2, 29), datetime.date(1, 1, 1), datetime.date(1970, 1, 1), None]),
        ("timestamp", [datetime.datetime(1969, 12, 31, 23, 59, 59, 999999), *(datetime.datetime(y, 1, 1) for y in (1, 1970, 2024)), None]),
        ("duration", [datetime.timedelta(microseconds=m) for m in (-1, 0, 1, 2**52)] + [None]),
        ("bool", [True, None, False, None, None]),
        ("uint64", [2**64 - 1, 0, 2**63, 2**63 - 1, None]),
        ("int64", [INT64_MAX, INT64_MIN, 0, -1, None]),
        ("float32", [float("inf"), float("-inf"), NAN, 0.0, None]),
    ],
)  # fmt: skip
def test_keys_of_every_type_are_coalesced(source, check, dtype, values):
    left = source(table({"k": dtype, "a": "int64"}, *((v, i) for i, v in enumerate(values[:3]))), "left")
    right = source(table({"k": dtype, "b": "int64"}, *((v, i) for i, v in enumerate(values) if i)), "right")
    expected = [(values[0], 0, None)]
    expected += [(v, i if 0 < i < 3 and v is not None else None, i) for i, v in enumerate(values) if i]
    expected += [(None, i, None) for i, v in enumerate(values[:3]) if i and v is None]
    check(left.join(right, "k", "full"), table({"k": dtype, "a": "int64", "b": "int64"}, *expected))


def test_keys_that_are_only_null_meet_where_nulls_are_equal(source, check):
    left, right = (source(table({c: "int64"}, (1,), (2,)), c).with_columns(k=None) for c in ("a", "b"))
    types = {"a": "int64", "k": "null", "b": "int64"}
    check(
        left.join(right, "k", "full"), table(types, (1, None, None), (2, None, None), (None, None, 1), (None, None, 2))
    )
    every = [(a, None, b) for a in (1, 2) for b in (1, 2)]
    check(left.join(right, "k", "full", nulls_equal=True).stage("n"), table(types, *every))


def test_a_chain_of_full_joins_on_one_key(source, check):
    t = source(table({"k": "string", "x": "int64"}, ("a", 1), (None, 2), ("b", 3), ("c", 4), ("a", 5)))
    u = source(table({"k": "string", "y": "int64"}, ("a", 1), ("d", 2), (None, 3)), "u")
    v = source(table({"k": "string", "z": "int64"}, ("d", 1), ("e", 2), (None, 3)), "v")
    joined = t.join(u, "k", "full").join(v, "k", "full")
    expected = table(
        {"k": "string", "x": "int64", "y": "int64", "z": "int64"},
        ("a", 1, 1, None), ("a", 5, 1, None), ("b", 3, None, None), ("c", 4, None, None), ("d", None, 2, 1),
        ("e", None, None, 2), (None, 2, None, None), (None, None, 3, None), (None, None, None, 3),
    )  # fmt: skip
    check(joined, expected)


@pytest.mark.parametrize("how", ["right", "full"])
def test_rows_of_equal_keys_are_grouped_after_an_outer_join(sides, check, how):
    left, right = sides()
    counted = left.join(right, "k", how).aggregate("k", n=col("b").count(), s=col("a").sum())
    unmatched = [(5.0, 0, BIG)] if how == "full" else []
    null = (None, 2, 11 if how == "full" else None)
    check(counted, table({"k": "float64", "n": "int64", "s": "int64"},
                         (1.0, 4, 48), (NAN, 1, 12), (0.0, 1, 13), (7.0, 1, None), null, *unmatched))  # fmt: skip
