"""Lists, structs and maps as keys of samples, as-of joins, gaps, expectations and counts, on every engine."""

import shutil
from pathlib import Path

import pytest

from gpuetl import ContractBroken, col, count, expr, lit
from tables import NAN, table

FILES = Path(__file__).parent.parent / "kernel_files"
TYPES = {
    "k": "int64",
    "s": "struct<a: int64, b: string>",
    "l": "list<int64>",
    "f": "struct<x: float64, l: list<float64>>",
    "m": "map<string, int64>",
}
ROWS = [
    (1, {"a": 1, "b": "x"}, [1, 2], {"x": -0.0, "l": [-0.0]}, [("a", 1)]),
    (2, None, None, None, None),
    (3, {"a": None, "b": "x"}, [], {"x": NAN, "l": [NAN]}, []),
    (4, {"a": 1, "b": "x"}, [1, 2], {"x": 0.0, "l": [0.0]}, [("a", 1)]),
    (5, None, None, None, None),
    (6, {"a": None, "b": None}, [1, None], {"x": NAN, "l": [NAN]}, [("a", None)]),
]  # fmt: skip
S, L, F, M = (dict(enumerate((row[place] for row in ROWS), 1)) for place in (1, 2, 3, 4))


@pytest.fixture
def t(source):
    return source(table(TYPES, *ROWS))


AGGREGATES = [
    ("approx_count_distinct(s)", "int64", 3, 0),
    ("approx_count_distinct(f)", "int64", 2, 0),
    ("mode(l)", "list<int64>", [1, 2], None),
    ("mode(f)", TYPES["f"], {"x": 0.0, "l": [0.0]}, None),
    ("mode(m)", TYPES["m"], [("a", 1)], None),
    ("values_by_frequency(s)", f"list<{TYPES['s']}>", [S[1], S[3], S[6]], None),
    ("approx_top_k(l, 2)", "list<list<int64>>", [[1, 2], []], None),
    ("entropy(s)", "float64", 1.5, 0.0),
    ("array_agg(DISTINCT l)", "list<list<int64>>", [[], [1, 2], [1, None], None], None),
    ("array_agg(DISTINCT f ORDER BY f DESC)", f"list<{TYPES['f']}>", [F[3], {"x": 0.0, "l": [0.0]}, None], None),
    ("array_agg(DISTINCT l) FILTER (WHERE k < 3)", "list<list<int64>>", [[1, 2], None], None),
    ("min(l, 2)", "list<list<int64>>", [[], [1, 2]], None),
    ("max(l, 2)", "list<list<int64>>", [[1, None], [1, 2]], None),
    ("min_by(s, -k, 2)", f"list<{TYPES['s']}>", [S[6], S[4]], None),
    ("max_by(k, l, 2)", "list<int64>", [6, 1], None),
]  # fmt: skip


def test_aggregates_that_tell_nested_values_apart(t, check):
    calls = {f"c{place}": call for place, (call, *_) in enumerate(AGGREGATES)}
    types = {name: dtype for name, (_, dtype, _, _) in zip(calls, AGGREGATES, strict=True)}
    expected = table(types, tuple(value for _, _, value, _ in AGGREGATES))
    check(t.aggregate(**{name: expr(call) for name, call in calls.items()}), expected)
    none = t.filter(expr("k > 9")).aggregate(**{name: expr(call) for name, call in calls.items()})
    check(none, table(types, tuple(empty for *_, empty in AGGREGATES)))


def test_counts_of_groups_and_frames(t, check):
    counted = t.window((), "k", n=expr("rolling_count_distinct(l, 3)"), g=expr("approx_count_distinct(s)"))
    by_key = counted.window("s", m=expr("mode(l)")).select("k", "n", "g", "m")
    rows = [(1, 1, [1, 2]), (2, 1, None), (3, 2, []), (4, 2, [1, 2]), (5, 2, None), (6, 2, [1, None])]
    types = {"k": "int64", "n": "int64", "g": "int64", "m": "list<int64>"}
    check(by_key, table(types, *((k, n, 3, mode) for k, n, mode in rows)))


def test_hashes_are_those_of_equal_values(t, check):
    hashed = t.select("k", s=expr("hash(s)"), l=expr("bucket(l, 64)"), f=expr("hash(f, k % 1)"), m=expr("hash(m)"))
    groups = hashed.aggregate(("s", "l", "f", "m"), n=count(), least=expr("min(k)")).select("n", "least")
    check(groups, table({"n": "int64", "least": "int64"}, (2, 1), (2, 2), (1, 3), (1, 6)))
    same = t.filter(expr("hash(l) = hash(list_transform(l, lambda e: e)) AND hash(s) = hash({'a': s.a, 'b': s.b})"))
    check(same.aggregate(n=count()), table({"n": "int64"}, (4,)))


def test_samples_of_nested_groups(t, check):
    some = t.sample(rows=1, stratify="l", by="k").aggregate("l", n=count())
    check(some, table({"l": "list<int64>", "n": "int64"}, *((value, 1) for value in ([1, 2], [], [1, None], None))))
    share = t.sample(0.5, stratify=["s", "m"]).aggregate(n=count())
    check(share, table({"n": "int64"}, (4,)))
    whole = t.aggregate("s", whole=count())
    together = t.sample(0.5, by="s").aggregate("s", n=count()).join(whole, "s", nulls_equal=True)
    check(together.filter(expr("n <> whole")), table({"s": TYPES["s"], "n": "int64", "whole": "int64"}))


def test_samples_of_rows_without_flat_columns(t, check):
    every = t.select("l", "s").sample(rows=6)
    check(every.aggregate(n=count()), table({"n": "int64"}, (6,)))
    one = t.select("l").distinct().sample(rows=1)
    check(one.aggregate(n=count()), table({"n": "int64"}, (1,)))


NEAREST = [
    ("s", False, {4: 11}),
    ("s", True, {4: 11, 5: 12}),
    ("l", True, {4: 11, 5: 12}),
    ("f", False, {4: 11, 6: 13}),
]


@pytest.mark.part(2)
@pytest.mark.parametrize(("key", "nulls_equal", "found"), NEAREST)
def test_as_of_joins_on_nested_keys(t, check, key, nulls_equal, found):
    other = t.filter(expr("k < 5")).select(key, at=col("k"), o=col("k") + 10)
    asof = {"left": "k", "right": "at", "strict": True}
    joined = t.select("k", key).join(other, key, "left", nulls_equal=nulls_equal, asof=asof).select("k", key, "o")
    values = {"s": S, "l": L, "f": F}[key]
    rows = ((k, value, found.get(k)) for k, value in values.items())
    check(joined, table({"k": "int64", key: TYPES[key], "o": "int64"}, *rows))


def test_as_of_joins_with_nested_orders(t, check):
    """Of right rows at one time the last one in order: nulls come last."""
    other = t.select("l", at=expr("1"), o=col("k"))
    asof = {"left": "k", "right": "at", "order_by": ["l desc nulls first", "o"]}
    joined = t.filter(expr("k < 3")).select("k", g=expr("1")).join(other.with_columns(g=expr("1")), "g", asof=asof)
    check(joined.select("k", "l", "o"), table({"k": "int64", "l": "list<int64>", "o": "int64"}, (1, [], 3), (2, [], 3)))
    one = t.select("k", "s").join(t.select("s", at=col("k"), o=col("k")), "s", asof={"left": "k", "right": "at", "order_by": "s"},
                                  validate="many_to_one")  # fmt: skip
    check(one.select("k", "o"), table({"k": "int64", "o": "int64"}, (1, 1), (3, 3), (4, 4), (6, 6)))


def test_gaps_of_nested_groups(t, check):
    some = t.filter(expr("k IN (1, 2, 4, 5)")).select("k", "s", "f")
    filled = some.fill_gaps(by=["s", "f"], on="k", every=1, mark="made").filter(expr("k < 5"))
    ours, theirs = (S[1], {"x": 0.0, "l": [0.0]}), (None, None)
    minus = (S[1], F[1])
    rows = [(1, *minus, False), *((k, *ours, k < 4) for k in (2, 3, 4)), *((k, *theirs, k > 2) for k in (2, 3, 4))]
    check(filled, table({"k": "int64", "s": TYPES["s"], "f": TYPES["f"], "made": "bool"}, *rows))


@pytest.mark.part(4)
def test_expectations_about_nested_columns(t, source, engine, layout):
    source(table({"known": "list<int64>"}, ([1, 2],), ([],), (None,), ([],)), "others")
    rules = {"unique": ["s", "l"], "references": {"l": "others.known"}}
    t.expect(**rules, on_fail="warn").expect(unique="k").stage("warned")
    for name, key in (("kept", "l desc nulls first"), ("also", "abs(3 - k) desc")):
        t.sort(key, "k desc").select("k", "s", "l").expect(**rules, on_fail="drop").stage(name)
    run = t.pipeline.run(engine=engine, keep=["kept", "also"], options=layout)
    found = {check.rule: check.broken for check in run.report.checks if check.stage == "warned"}
    assert found == {"unique(s, l)": 2, "references(l)": 1, "unique(k)": 0}
    assert run["kept"].to_arrow().column("k").to_pylist() == [5, 2, 3]
    assert run["also"].to_arrow().column("k").to_pylist() == [5, 2, 3]


def test_rows_that_break_expectations_are_shown(t, failure):
    message = failure(t.expect(unique="s", references={"m": "t.m"}), ContractBroken)
    assert "rule 'unique(s)': 2 of 6 rows (33.3 %) break it" in message
    assert "references" not in message


KERNELS = {
    "scan": lambda t: t.scan_kernel(
        "k", {"product": "int64"}, "strings.py:running_product", combine="product = a.product * b.product;",
        identity="product = 1;", by="s", order_by=["l desc", "k desc"],
    ).rename({"product": "total"}),
    "python": lambda t: t.python_kernel("frames.py:arrow_running", "x", {"total": "float64"}, by="s", order_by="k", frame="arrow"),
    "cuda": lambda t: t.kernel("sums.cu", "running_sum", "x", {"total": "float64"}, "sums.py:running_sum", by="s", order_by="k"),
}  # fmt: skip


@pytest.mark.part(2)
@pytest.mark.parametrize(("kind", "totals"), [
    ("scan", [(1, 4), (2, 10), (3, 3), (4, 4), (5, 5), (6, 6)]),
    ("python", [(1, 1.0), (2, 2.0), (3, 3.0), (4, 5.0), (5, 7.0), (6, 6.0)]),
    ("cuda", [(1, 1.0), (2, 2.0), (3, 3.0), (4, 5.0), (5, 7.0), (6, 6.0)]),
])  # fmt: skip
def test_kernels_over_nested_groups(t, check, tmp_path, kind, totals):
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    steps = KERNELS[kind](t.with_columns(x=expr("CAST(k AS float64)")))
    check(steps.select("k", "total"), table({"k": "int64", "total": "int64" if kind == "scan" else "float64"}, *totals))


def test_kernels_that_make_rows_of_nested_groups(t, check, tmp_path):
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    greatest = t.reduction_kernel(
        "k",
        {"most": "int64"},
        "strings.py:greatest",
        identity="(-9223372036854775807 - 1)",
        reduce="a > b ? a : b",
        by=["f", "l"],
    )
    rows = [({"x": 0.0, "l": [0.0]}, [1, 2], 4), (None, None, 5), (F[3], [], 3), (F[3], [1, None], 6)]
    check(greatest, table({"f": TYPES["f"], "l": TYPES["l"], "most": "int64"}, *rows))
    bins = t.with_columns(n=expr("CAST(k % 3 AS int32)")).table_kernel(
        "tables.cu", "bins_of_groups", "n", {"bin": "int32", "rows": "int32"}, "tables.py:bins_of_groups", by="m",
        rows="bins", args={"bins": lit(3)}, shared_bytes="4 * bins", block=32,
    )  # fmt: skip
    made = [(M[1], 1, 2), (None, 2, 2), (M[3], 0, 1), (M[6], 0, 1)]
    check(bins, table({"m": TYPES["m"], "bin": "int32", "rows": "int32"}, *made))
