"""sample: some of the rows, the same ones on every engine and however they are split."""

import pytest

from gpuetl import InvalidPipeline, col, count, expr, row_number
from gpuetl.testing import assert_same
from tables import NAN, table, write_source

TYPES = {"user": "int64", "x": "int64"}
ROWS = [(i % 7, i) for i in range(40)]
HASHED = {"user": "int64", "x": "int64", "h": "int64"}


@pytest.fixture
def t(pipeline):
    """Forty rows of seven users, in five partitions at most: with twenty, a cluster has thousands of tasks to do."""
    return write_source(pipeline, "t", table(TYPES, *ROWS), row_group_size=8)


@pytest.fixture
def hashes(t, answer):
    """Returns each row with the hash of an expression."""
    return lambda sql: [tuple(row.values()) for row in answer(t.with_columns(h=expr(sql))).to_pylist()]


def below(fraction):
    return -(2**63) + fraction * 2**64


@pytest.mark.part(2)
@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("seed", [0, 42, -1])
def test_a_fraction_keeps_the_rows_whose_hash_is_below_it(t, hashes, check, fraction, seed):
    expected = [(user, x) for user, x, h in hashes(f"hash({seed}, user, x)") if h < below(fraction)]
    assert 0 < len(expected) < 40
    check(t.sample(fraction, seed=seed), table(TYPES, *expected))


def test_the_rows_are_these(t, check):
    kept = (1, 2, 7, 16, 18, 19, 22, 23, 25, 27, 34)
    check(t.sample(0.2, seed=42).select("x"), table({"x": "int64"}, *((x,) for x in kept)))


def test_rows_of_equal_keys_stay_together(t, check):
    kept = t.sample(0.5, by="user", seed=1).aggregate("user", n=count())
    whole = t.aggregate("user", n=count())
    both = kept.join(whole, "user", suffix="_all").filter(col("n") != col("n_all"))
    check(both, table({"user": "int64", "n": "int64", "n_all": "int64"}))


def test_a_sample_by_a_window_s_key_may_be_taken_before_it(t, pipeline):
    t.window("user", "x", n=row_number()).sample(0.5, by="user").stage("after")
    t.sample(0.5, by="user").window("user", "x", n=row_number()).stage("before")
    oracle = assert_same(pipeline, keep=["after", "before"])
    assert oracle["after"].sort_by("x").equals(oracle["before"].sort_by("x"))


@pytest.mark.parametrize(("fraction", "kept"), [(0, []), (1, ROWS), (0.0, []), (1.0, ROWS)])
def test_none_and_all(t, check, fraction, kept):
    check(t.sample(fraction), table(TYPES, *kept))


def test_the_order_of_columns_does_not_matter_by_default(t, check, answer):
    expected = answer(t.sample(0.3))
    check(t.select("x", "user").sample(0.3).select("user", "x"), expected)


def test_equal_rows_are_kept_or_dropped_together(source, check):
    types = {"k": "float64", "s": "string"}
    rows = [(float(i % 5), "a") for i in range(20)] + [(NAN, None), (None, ""), (-0.0, "a"), (NAN, None)]
    t = source(table(types, *rows))
    kept = [(1.0, "a")] * 4 + [(3.0, "a")] * 4 + [(NAN, None)] * 2
    check(t.sample(0.5), table(types, *kept))


@pytest.mark.part(2)
@pytest.mark.parametrize("rows", [0, 1, 5, 39, 40, 41])
def test_rows_keep_those_of_the_least_hashes(t, hashes, check, rows):
    by_hash = sorted(hashes("hash(3, user, x)"), key=lambda row: row[2])
    check(t.sample(rows=rows, seed=3), table(TYPES, *((user, x) for user, x, _ in by_hash[:rows])))


def test_rows_by_a_key_cut_the_last_one_by_the_hash_of_all_columns(t, hashes, check):
    by_user, by_row = hashes("hash(0, user)"), hashes("hash(0, user, x)")
    pairs = [(h, g, user, x) for (user, x, h), (_, _, g) in zip(sorted(by_user), sorted(by_row), strict=True)]
    check(t.sample(rows=9, by="user"), table(TYPES, *((user, x) for _, _, user, x in sorted(pairs)[:9])))


def test_equal_rows_that_tie_leave_no_note(source, pipeline):
    source(table({"k": "int64"}, *[(1,)] * 6)).sample(rows=3).stage("s")
    run = pipeline.run(engine="pandas")
    assert run["s"].to_arrow().num_rows == 3
    assert run.report.notes == ()


def test_a_greater_sample_contains_a_smaller_one(t, check):
    small, large = t.sample(0.2, seed=5), t.sample(0.6, seed=5)
    lost = small.join(large.with_columns(found=True), ["user", "x"], "left").filter(expr("found IS NULL"))
    check(lost.select("x"), table({"x": "int64"}))
    check(
        small.union(small.sample(0.6, seed=5)).aggregate("x", n=count()).filter(expr("n <> 2")).select("x"),
        table({"x": "int64"}),
    )


def test_a_sample_of_no_rows(source, check):
    empty = source(table(TYPES))
    check(empty.sample(0.5), table(TYPES))
    check(empty.sample(rows=5, by="user"), table(TYPES))


def test_samples_are_the_same_in_every_layout(t, pipeline):
    t.sample(0.3, by=["user"]).stage("users")
    t.sample(rows=11, seed=9).stage("some")
    t.filter(col("x") > 3).sample(rows=6, by=["user"]).stage("few")
    assert_same(pipeline, keep=["users", "some", "few"])


@pytest.mark.parametrize("keys", [{}, {"fraction": 0.1, "rows": 3}])
def test_a_sample_is_a_fraction_or_a_number_of_rows(t, problem, keys):
    text = problem(t.sample(**keys))
    assert "step 1: sample takes either fraction or rows\nWrite sample: {fraction: 0.1}" in text


def test_an_unknown_column_is_reported(t, problem):
    assert "unknown column 'usr'" in problem(t.sample(0.1, by="usr"))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"fraction": 1.5}, "fraction: takes a fraction from 0 to 1, got 1.5"),
        ({"fraction": -0.1}, "fraction: takes a fraction from 0 to 1, got -0.1"),
        ({"fraction": NAN}, "fraction: takes a fraction from 0 to 1, got nan"),
        ({"fraction": True}, "fraction: takes a fraction from 0 to 1, got"),
        ({"rows": -1}, "rows: takes a whole number from 0, got -1"),
        ({"rows": 1, "seed": 2**63}, "seed: takes a whole number of 64 bits, got 9223372036854775808"),
        ({"rows": 1, "seed": "x"}, "seed: takes a whole number, got"),
    ],
)
def test_keys_are_checked(t, keys, message):
    with pytest.raises(InvalidPipeline, match=message):
        t.sample(**keys)


GROUPS = table(
    {"g": "string", "x": "int64"},
    *((None if i % 10 == 0 else "ab"[i % 3 == 0], i) for i in range(50)),
    ("c", 100),
)


@pytest.mark.part(9)
@pytest.mark.parametrize(
    ("keys", "counts"),
    [
        ({"rows": 4}, {"a": 4, "b": 4, None: 4, "c": 1}),
        ({"rows": 0}, {}),
        ({"fraction": 0.2}, {"a": 6, "b": 3, None: 1, "c": 1}),
        ({"fraction": 1.0}, {"a": 30, "b": 15, None: 5, "c": 1}),
        ({"fraction": 0.0}, {}),
        ({"fraction": 0.7}, {"a": 21, "b": 11, None: 4, "c": 1}),
    ],
)
def test_a_stratified_sample_has_rows_of_each_group(source, check, keys, counts):
    sampled = source(GROUPS).sample(**keys, stratify="g", seed=3)
    expected = table({"g": "string", "n": "int64"}, *counts.items())
    check(sampled.aggregate("g", n=count()), expected)


def test_a_stratified_sample_is_the_same_on_every_engine_and_in_larger_ones(pipeline):
    t = write_source(pipeline, "grouped", GROUPS)
    t.sample(rows=2, stratify="g").stage("small")
    t.sample(rows=5, stratify="g").stage("large")
    t.sample(0.3, stratify="g", by="x").stage("part")
    found = assert_same(pipeline, keep=["small", "large", "part"])
    rows = {name: {tuple(row.values()) for row in found[name].to_pylist()} for name in found}
    assert rows["small"] < rows["large"]
    assert len(rows["part"]) == 9 + 5 + 2 + 1
