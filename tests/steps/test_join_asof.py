"""join with asof: each left row with the nearest right row, on every engine, by literal rows and by Polars."""

import random
from datetime import timedelta
from decimal import Decimal

import pyarrow as pa
import pytest

from gpuetl import InvalidPipeline, col, expr, loads
from gpuetl.types.data_types import parse_type
from tables import INF, NAN, table, write_source

LEFT, RIGHT = {"k": "string", "t": "int64", "a": "int64"}, {"k": "string", "t": "int64", "b": "int64"}
BOTH = {**LEFT, "b": "int64"}
TRADES = [("x", 5, 1), ("x", 10, 2), ("y", 7, 3), (None, 7, 4), ("x", None, 5), ("z", 1, 6), ("x", 1, 7), ("x", 99, 8)]
QUOTES = [("x", 10, 10), ("y", 9, 11), ("x", 4, 12), (None, 7, 13), ("x", None, 14), ("w", 1, 15), ("x", 13, 16)]


@pytest.fixture
def sides(source):
    return lambda left=TRADES, right=QUOTES: (
        source(table(LEFT, *left), "left"),
        source(table(RIGHT, *right), "right"),
    )


MATCHES = {
    ("backward", False): {1: 12, 2: 10, 8: 16},
    ("backward", True): {1: 12, 2: 12, 8: 16},
    ("forward", False): {1: 10, 2: 10, 3: 11, 7: 12},
    ("forward", True): {1: 10, 2: 16, 3: 11, 7: 12},
    ("nearest", False): {1: 12, 2: 10, 3: 11, 7: 12, 8: 16},
    ("nearest", True): {1: 12, 2: 16, 3: 11, 7: 12, 8: 16},
}


@pytest.mark.part(2)
def test_the_nearest_row_of_equal_keys(sides, check):
    left, right = sides()
    for (direction, strict), found in MATCHES.items():
        how = "inner" if strict else "left"
        expected = [(*row, found.get(row[2])) for row in TRADES if how == "left" or row[2] in found]
        asof = {"on": "t", "direction": direction, "strict": strict}
        check(left.join(right, "k", how, asof=asof), table(BOTH, *expected))


LIMITED = [
    ({"tolerance": 1}, {1: 12, 2: 10}),
    ({"tolerance": 0}, {2: 10}),
    ({"tolerance": 1, "strict": True}, {1: 12}),
    ({"tolerance": 2, "direction": "nearest"}, {1: 12, 2: 10, 3: 11}),
    ({"tolerance": 2, "direction": "forward"}, {2: 10, 3: 11}),
]


def test_a_match_is_no_further_than_the_tolerance(sides, check):
    left, right = sides()
    for asof, found in LIMITED:
        expected = [(*row, found.get(row[2])) for row in TRADES]
        check(left.join(right, "k", "left", asof={"on": "t", **asof}), table(BOTH, *expected))


def test_null_keys_match_each_other_where_they_are_equal(sides, check):
    left, right = sides()
    found = {1: 12, 2: 10, 4: 13, 8: 16}
    expected = [(*row, found[row[2]]) for row in TRADES if row[2] in found]
    check(left.join(right, "k", asof="t", nulls_equal=True), table(BOTH, *expected))


@pytest.mark.single_rows
@pytest.mark.parametrize(
    ("left", "right"), [([], []), ([], QUOTES), (TRADES, []), (TRADES, [("x", None, 1), (None, 1, 2)]), (TRADES[:1], QUOTES[2:3])]
)  # fmt: skip
def test_no_rows_or_one(sides, check, left, right):
    frames = sides(left, right)
    expected = [(*row, 12 if right == QUOTES[2:3] else None) for row in left]
    check(frames[0].join(frames[1], "k", "left", asof="t"), table(BOTH, *expected))


def test_without_keys_and_with_other_names(source, check):
    left = source(table({"t": "timestamp", "a": "int64"}, (100, 1), (200, 2), (None, 3), (50, 4)), "left")
    right = source(table({"at": "timestamp", "a": "string"}, (100, "p"), (60, "q"), (201, "r"), (None, "s")), "right")
    expected = table(
        {"t": "timestamp", "a": "int64", "at": "timestamp", "a_r": "string"},
        (100, 1, 100, "p"), (200, 2, 100, "p"), (None, 3, None, None), (50, 4, None, None),
    )  # fmt: skip
    check(left.join(right, how="left", asof={"left": "t", "right": "at"}, suffix="_r"), expected)


def test_the_right_column_may_get_a_suffix(source, check):
    left = source(table({"t": "date", "u": "date"}, (5, 1), (7, 2)), "left")
    right = source(table({"u": "date", "n": "int8"}, (4, 1), (6, 2), (6, 3)), "right")
    asof = {"left": "t", "right": "u", "tolerance": "1 day", "order_by": "n desc"}
    expected = table({"t": "date", "u": "date", "u_q": "date", "n": "int8"}, (5, 1, 4, 1), (7, 2, 6, 2))
    check(left.join(right, asof=asof, suffix="_q"), expected)


TIED = [("x", 5, 1), ("x", 5, 3), ("x", 5, 2), ("x", 9, 6), ("x", 9, 4), ("x", 9, 5)]


def test_rows_that_tie_stand_in_the_order_of_order_by(sides, check):
    rows = [("x", t, t) for t in (5, 7, 8)]
    left, right = sides(rows, TIED)
    for direction, found in (("backward", (3, 3, 3)), ("forward", (1, 4, 4)), ("nearest", (3, 6, 6))):
        asof = {"on": "t", "direction": direction, "order_by": "b"}
        expected = [(*row, b) for row, b in zip(rows, found, strict=True)]
        check(left.join(right, "k", asof=asof), table(BOTH, *expected))


def test_what_is_compared_and_ordered_may_be_expressions(source, pipeline, check):
    """Columns that they read stay on both sides."""
    left = source(table(LEFT, *((k, t, a) for k, t, a in TRADES if k)), "left")
    right = source(table({"k": "string", "t": "int64", "b": "int64"}, *QUOTES, ("x", 4, -12), ("x", 4, 5)), "right")
    both = {**LEFT, "t_q": "int64", "b": "int64"}
    expected = table(
        both, ("x", 5, 1, 4, 12), ("x", 10, 2, 13, 16), ("y", 7, 3, 9, 11), ("x", None, 5, None, None),
        ("z", 1, 6, None, None), ("x", 1, 7, 4, 12), ("x", 99, 8, 13, 16),
    )  # fmt: skip
    asof = {"left": "t + 2", "right": "t - 1", "order_by": ["abs(b)", "b"]}
    check(left.join(right, "k", "left", asof=asof, suffix="_q"), expected)
    asof = {"left": col("t") + 2, "right": expr("t - 1"), "order_by": [col("b").abs(), "b"]}
    joined = left.join(right, "k", "left", asof=asof, suffix="_q").stage("joined")
    check(joined, expected)
    again = loads(pipeline.to_yaml(), pipeline.root)
    assert again.plan().fingerprint == pipeline.plan().fingerprint


def test_one_expression_for_both_sides(source, check):
    left = source(table({"t": "int64", "a": "int64"}, (-5, 1), (2, 2), (None, 3)), "left")
    right = source(table({"t": "int64", "b": "int64"}, (4, 10), (-1, 20), (None, 30)), "right")
    expected = table(
        {"t": "int64", "a": "int64", "t_q": "int64", "b": "int64"},
        (-5, 1, 4, 10), (2, 2, -1, 20), (None, 3, None, None),
    )  # fmt: skip
    for asof in ("abs(t)", col("t").abs()):
        check(left.join(right, how="left", asof=asof, suffix="_q"), expected)


ORDERED = {
    "int8": ([-128, -1, 127, 0, None], [-127, 127, -2, None], [None, -2, 127, -2, None], 200),
    "uint64": ([0, 2**64 - 1, 5, None], [2**63, 3, None], [None, 2**63, 3, None], 2**63),
    "float64": ([-0.0, NAN, INF, -INF, 1.5, None], [0.0, NAN, -INF, 1.0, None], [0.0, None, 1.0, -INF, 1.0, None], INF),
    "float32": ([-0.0, NAN, INF, 1.5, None], [0.0, NAN, 1.25, INF, None], [0.0, None, INF, 1.25, None], 0.25),
    "decimal(38,2)": (
        [Decimal(10**35), Decimal("-1.25"), Decimal("0.01"), None], [Decimal(-(10**35)), Decimal("0.01"), None],
        [Decimal("0.01"), Decimal(-(10**35)), Decimal("0.01"), None], Decimal(2 * 10**35),
    ),
    "decimal(9,3)": (
        [Decimal("1.5"), Decimal("1.499"), None], [Decimal("1.5"), Decimal("1.25"), None],
        [Decimal("1.5"), Decimal("1.25"), None], Decimal("0.249"),
    ),
    "timestamp": ([10**6, 2 * 10**6, -5, None], [10**6, -10, None], [10**6, 10**6, -10, None], timedelta(seconds=1)),
    "timestamp[Europe/Berlin]": ([10, 20, None], [15, 20, None], [None, 20, None], "5 microseconds"),
    "date": ([0, 10, -10, None], [-9, 9, None], [-9, 9, None, None], "9 days"),
    "duration": ([0, 10, None], [3, None], [None, 3, None], "7 microseconds"),
    "time": ([0, 10, None], [3, None], [None, 3, None], "7 microseconds"),
}  # fmt: skip


@pytest.mark.part(2)
@pytest.mark.single_rows
@pytest.mark.parametrize("dtype", ORDERED)
def test_every_type_with_a_distance(source, check, dtype):
    ours, theirs, found, tolerance = ORDERED[dtype]
    left = source(table({"t": dtype, "a": "int64"}, *((t, i) for i, t in enumerate(ours))), "left")
    right = source(table({"u": dtype, "b": "int64"}, *((t, i) for i, t in enumerate(theirs))), "right")
    expected = table({"a": "int64", "u": dtype}, *enumerate(found))
    for limit in (None, tolerance):
        asof = {"left": "t", "right": "u", **({} if limit in (None, INF) else {"tolerance": limit})}
        check(left.join(right, how="left", asof=asof).select("a", "u"), expected)


def test_types_of_two_widths_meet(source, check):
    left = source(
        table({"t": "int8", "f": "float32", "d": "decimal(5,1)", "u": "uint64"}, (3, 0.1, Decimal("2.5"), 9)), "l"
    )
    right = source(table({"t2": "int64", "f2": "float64", "d2": "decimal(30,1)", "u2": "int64", "n": "int64"},
                         (3, 0.1, Decimal("2.5"), 9, 1)), "r")  # fmt: skip
    for ours, theirs, there in (("t", "t2", True), ("f", "f2", True), ("d", "d2", True), ("u", "u2", True)):
        joined = left.join(right, how="left", asof={"left": ours, "right": theirs}).select("n")
        check(joined, table({"n": "int64"}, (1 if there else None,)))
    strict = {"left": "f", "right": "f2", "direction": "forward"}
    check(left.join(right, how="left", asof=strict).select("n"), table({"n": "int64"}, (None,)))


@pytest.mark.single_rows
def test_right_rows_that_repeat_are_an_error_where_they_are_checked(sides, answer):
    left, right = sides(TRADES, [*QUOTES, ("x", 4, 99)])
    joined = left.join(right, "k", asof="t", validate="many_to_one")
    with pytest.raises(Exception, match=r"not many_to_one: k, t repeats on the right side, k = 'x', t = 4 is in"):
        answer(joined)
    left, right = sides(TRADES, [*QUOTES, (None, 4, 98), (None, 4, 99), ("x", None, 97)])
    assert answer(left.join(right, "k", asof="t", validate="many_to_one")).num_rows == 3


def test_filters_of_the_right_side_stay_above(sides, check):
    left, right = sides()
    joined = left.join(right, "k", asof="t")
    check(joined.filter(col("b") < 13), table(BOTH, ("x", 5, 1, 12), ("x", 10, 2, 10)))
    check(joined.filter(col("k") == "x").select("b"), table({"b": "int64"}, (12,), (10,), (16,)))


# Equal to Polars.


def random_sides(rng, dtype):
    def rows(count, step):
        return [(rng.randrange(3), rng.randrange(0, 40, step), number) for number in range(count)]

    def unique(rows):
        return [*{(k, t): (k, t, n) for k, t, n in rows}.values()]

    left, right = rows(rng.choice([1, 9, 30]), 1), unique(rows(rng.choice([1, 9, 40]), 2))
    types = {"k": "int64", "t": "int64"}
    made = table({**types, "a": "int64"}, *left), table({**types, "b": "int64"}, *right)
    return [rows.set_column(1, "t", rows["t"].cast(parse_type(dtype))) for rows in made]


@pytest.mark.part(8)
@pytest.mark.parametrize(
    ("dtype", "direction"), [("int64", "backward"), ("timestamp", "nearest"), ("float64", "forward"), ("float64", "nearest")]
)  # fmt: skip
def test_equal_to_polars(pipeline, check, dtype, direction):
    pl = pytest.importorskip("polars")
    rng = random.Random(f"{dtype} {direction}")
    for number, (keys, strict, limit) in enumerate(
        [(["k"], False, None), (["k"], True, 4), ([], False, 3), ([], True, None)]
    ):
        rows = random_sides(rng, dtype)
        if not keys:  # Polars would see ties
            rows[1] = rows[1].slice(0, 0).take([]) if not rows[1].num_rows else unique_times(rows[1])
        tolerance = None if limit is None else timedelta(microseconds=limit) if dtype == "timestamp" else limit
        frames = [pl.from_arrow(each).sort("t") for each in rows]
        expected = frames[0].join_asof(
            frames[1] if keys else frames[1].drop("k"), on="t", by=keys or None, strategy=direction,
            tolerance=tolerance, allow_exact_matches=not strict, check_sortedness=False,
        )  # fmt: skip
        left, right = (
            write_source(pipeline, f"{side}{number}", each, 7) for side, each in zip("lr", rows, strict=True)
        )
        asof = {
            "on": "t",
            "direction": direction,
            "strict": strict,
            **({} if limit is None else {"tolerance": tolerance}),
        }
        joined = left.join(right if keys else right.drop("k"), keys or None, "left", asof=asof)
        check(joined, expected.to_arrow().cast(pa.schema([*rows[0].schema, rows[1].schema.field("b")])))


def unique_times(rows):
    firsts = {t: place for place, t in enumerate(rows["t"].to_pylist())}
    return rows.take(pa.array(sorted(firsts.values())))


# What is refused.


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"how": "full"}, "an as-of join is inner or left, not full"),
        ({"how": "cross"}, "an as-of join is inner or left, not cross"),
        ({"validate": "one_to_one"}, "an as-of join cannot be one_to_one: several left rows may have one nearest row"),
        ({"asof": "k"}, "asof: 'k' is string"),
        ({"asof": {"on": "t", "tolerance": "5 seconds"}}, "tolerance interval '5 seconds' does not suit 't', which is int64"),
        ({"asof": {"left": "t", "right": "q"}}, "unknown column 'q' in 'right'"),
        ({"asof": "q"}, "unknown column 'q'"),
        ({"asof": {"on": "t", "order_by": "q"}}, "unknown column 'q'"),
        ({"asof": {"left": "t", "right": "abs(q)"}}, "unknown column 'q'"),
        ({"suffix": "_q", "asof": {"left": "lower(k)", "right": "t"}}, "asof: 'lower(k)' is string"),
        ({"asof": {"on": "t", "order_by": "1"}}, "a key reads a column, and 1 reads none"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(sides, problem, options, text):
    left, right = sides()
    assert text in problem(left.join(right, "k", **{"asof": "t", **options}))


@pytest.mark.parametrize(
    ("asof", "text"),
    [
        ({"on": "t", "left": "t"}, "left does not go together with on"),
        ({"left": "t"}, "the key 'right' is missing"),
        ({"on": "t", "tolerance": -1}, "must not be negative"),
        ({"on": "t", "tolerance": "x"}, "takes an interval or a number, got 'x'"),
        ({"on": "t", "tolerance": "1 month"}, "interval unit 'month' is not supported"),
        ({"on": "t", "direction": "up"}, "takes one of backward, forward, nearest, got 'up'"),
        ({"on": "t", "by": "k"}, "unknown key 'by'"),
    ],
)
def test_the_map_is_checked(sides, asof, text):
    left, right = sides()
    with pytest.raises(InvalidPipeline) as caught:
        left.join(right, "k", asof=asof)
    assert text in str(caught.value)
