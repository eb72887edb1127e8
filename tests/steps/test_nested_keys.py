"""Lists, structs and maps compared, and as keys of groups, joins, orders and windows, on every engine."""

from datetime import date
from decimal import Decimal
from itertools import zip_longest

import duckdb
import pytest

from gpuetl import RunFailed, col, count, expr, row_number
from tables import INF, NAN, table

TYPES = {
    "k": "int64",
    "s": "struct<a: int64, b: string>",
    "r": "struct<a: int32, b: string>",
    "l": "list<int64>",
    "f": "struct<x: float64, l: list<float64>>",
    "m": "map<string, int64>",
}
ROWS = [
    (1, {"a": 1, "b": "x"}, {"a": 1, "b": "x"}, [1, 2], {"x": -0.0, "l": [-0.0]}, [("a", 1)]),
    (2, None, {"a": 1, "b": None}, None, None, None),
    (3, {"a": None, "b": "x"}, {"a": None, "b": "x"}, [], {"x": NAN, "l": [NAN]}, []),
    (4, {"a": 1, "b": "x"}, {"a": -2, "b": ""}, [1, 2], {"x": 0.0, "l": [0.0]}, [("a", 1)]),
    (5, None, None, None, None, None),
    (6, {"a": None, "b": None}, {"a": 0, "b": None}, [1, None], {"x": NAN, "l": [NAN]}, [("a", None)]),
]  # fmt: skip
S, L, F, M = (dict(enumerate((row[place] for row in ROWS), 1)) for place in (1, 3, 4, 5))

COMPARISONS = [
    ("s = r", [True, None, True, False, None, False]),
    ("s <> r", [False, None, False, True, None, True]),
    ("s < r", [False, None, False, False, None, False]),
    ("s >= r", [True, None, True, True, None, True]),
    ("s IS DISTINCT FROM r", [False, True, False, True, False, True]),
    ("s = {'b': 'x', 'a': 1}", [True, None, False, True, None, False]),
    ("s IN ({'a': k, 'b': 'x'}, {'a': NULL, 'b': 'x'})", [True, None, True, False, None, False]),
    ("s IN ({'a': 1, 'b': 'x'}, r, NULL)", [True, None, True, True, None, None]),
    ("l = [1, 2]", [True, None, False, True, None, False]),
    ("l <> [k]", [True, None, True, True, None, True]),
    ("l > [1, 2]", [False, None, False, False, None, True]),
    ("l BETWEEN [] AND [1, 2]", [True, None, True, True, None, False]),
    ("l NOT IN ([1, 2], [])", [False, None, False, False, None, True]),
    ("nullif(l, [])", [[1, 2], None, None, [1, 2], None, [1, None]]),
    ("f = {'x': 0, 'l': [0]}", [True, None, False, True, None, False]),
    ("f >= {'x': CAST('nan' AS float64), 'l': []}", [False, None, True, False, None, True]),
    ("f = f", [True, None, True, True, None, True]),
    ("m = MAP {'a': 1}", [True, None, False, True, None, False]),
    ("m > MAP {'a': 1}", [False, None, False, False, None, True]),
    ("[s, NULL] = [r, NULL]", [True, False, True, False, True, False]),
    ("{'l': l, 's': s} < {'l': [1, 2], 's': r}", [False, False, True, False, False, False]),
]  # fmt: skip
TEXTS = ["", "\x00", "\x00\x00", "\x01", "\x01\x01", "\x02", "a", "a\x00", "a\x00b", "a\x01", "ab", "~", "é", "😀"]


@pytest.fixture
def t(source):
    return source(table(TYPES, *ROWS))


@pytest.mark.part(6)
def test_nested_values_are_compared(t, check):
    names = {f"c{place}": sql for place, (sql, _) in enumerate(COMPARISONS)}
    types = {name: "list<int64>" if "nullif" in sql else "bool" for name, sql in names.items()}
    rows = zip(*(expected for _, expected in COMPARISONS), strict=True)
    check(t.select(**{name: expr(sql) for name, sql in names.items()}), table(types, *rows))


ASCENDING = {
    "string": [*TEXTS, None],
    "int8": [-128, -1, 0, 127, None],
    "uint64": [0, 1, 2**63, 2**64 - 1, None],
    "int64": [-(2**63), -1, 0, 63, 64, 2**63 - 1, None],
    "decimal(20,2)": [*map(Decimal, ("-1.25", "-0.01", "0.00", "1234567890.12")), None],
    "float32": [-INF, -1.5, 0.0, 1e-40, 1.5, INF, NAN, None],
    "float64": [-INF, -1.5, -5e-324, 0.0, 5e-324, 1.5, INF, NAN, None],
    "bool": [False, True, None],
    "date": [date(1, 1, 1), date(1970, 1, 1), date(9999, 12, 31), None],
    "binary": [b"", b"\x00", b"\x00\x00", b"\x01", b"\xff", None],
}


@pytest.mark.part(10)
def test_lists_are_in_the_order_of_their_elements(source, check):
    lists = [[[], *([value, *more] for value in x for more in ([], [x[0]], [None]))] for x in ASCENDING.values()]
    types = {f"x{place}": f"list<{dtype}>" for place, dtype in enumerate(ASCENDING)}
    backwards = source(table(types, *zip_longest(*map(reversed, lists))))
    in_order = backwards.aggregate(
        **{name: expr(f"array_agg({name} ORDER BY {name}, 1 + list_length({name}))") for name in types}
    )
    most = max(map(len, lists))
    wanted = [[*x, *[None] * (most - len(x))] for x in lists]
    check(in_order, table({name: f"list<{dtype}>" for name, dtype in types.items()}, tuple(wanted)))


GROUPS = [
    ("s", [(S[1], 2, 5), (S[3], 1, 3), (S[6], 1, 6), (None, 2, 7)]),
    ("l", [([], 1, 3), ([1, 2], 2, 5), ([1, None], 1, 6), (None, 2, 7)]),
    ("f", [({"x": 0.0, "l": [0.0]}, 2, 5), ({"x": NAN, "l": [NAN]}, 2, 9), (None, 2, 7)]),
    ("m", [([], 1, 3), ([("a", 1)], 2, 5), ([("a", None)], 1, 6), (None, 2, 7)]),
]  # fmt: skip


@pytest.mark.part(2)
@pytest.mark.parametrize(("key", "groups"), GROUPS)
def test_groups_by_nested_keys(t, check, key, groups):
    grouped = t.aggregate(key, n=count(), total=expr("sum(k)")).sort(key)
    check(grouped, table({key: TYPES[key], "n": "int64", "total": "int64"}, *groups), ordered=True)


def test_groups_by_expressions_and_sets(t, check):
    types = {"a": "struct<odd: bool>", "l": "list<int64>", "n": "int64"}
    grouped = t.aggregate({"a": expr("{'odd': k % 2 = 1}"), "l": col("l")}, group_sets="rollup", n=count())
    odd, even = {"odd": True}, {"odd": False}
    rows = [(odd, [1, 2], 1), (odd, [], 1), (odd, None, 1), (even, None, 1), (even, [1, 2], 1), (even, [1, None], 1)]
    check(grouped, table(types, *rows, (odd, None, 3), (even, None, 3), (None, None, 6)))


def test_distinct_and_sorted_rows(t, check):
    apart = t.select("s", "l", "f", "m").distinct()
    rows = [(S[1], L[1], {"x": 0.0, "l": [0.0]}, M[1]), (S[3], L[3], F[3], M[3]), (S[6], L[6], F[6], M[6]), (None,) * 4]
    types = {name: TYPES[name] for name in ("s", "l", "f", "m")}
    check(apart.sort("s"), table(types, *rows), ordered=True)
    kept = t.distinct("s", keep="first", order_by=["l desc", "k"]).select("k", "s").sort("s desc nulls first")
    expected = table({"k": "int64", "s": TYPES["s"]}, (2, None), (6, S[6]), (3, S[3]), (1, S[1]))
    check(kept, expected, ordered=True)


MATCHED, ALONE = [(1, 4), (3, 3), (4, 4), (6, 6)], [(2, None), (5, None)]
JOINS = [
    ("s", "inner", False, MATCHED),
    ("s", "left", False, [*MATCHED, *ALONE]),
    ("s", "right", False, [*MATCHED, (None, 5)]),
    ("s", "full", False, [*MATCHED, *ALONE, (None, 5)]),
    ("s", "full", True, [*MATCHED, (2, 5), (5, 5)]),
    ("s", "semi", False, [(k, None) for k, _ in MATCHED]),
    ("s", "anti", False, ALONE),
    ("l", "full", False, [*MATCHED, *ALONE, (None, 5)]),
    ("l", "full", True, [*MATCHED, (2, 5), (5, 5)]),
    ("f", "left", False, [(1, 4), (4, 4), *((a, b) for a in (3, 6) for b in (3, 6)), *ALONE]),
]  # fmt: skip


@pytest.mark.part(2)
@pytest.mark.parametrize(("key", "how", "nulls_equal", "pairs"), JOINS)
def test_joins_on_nested_keys(t, check, key, how, nulls_equal, pairs):
    other = t.filter(expr("k > 2")).select(key, o=col("k"))
    values = {"s": S, "l": L, "f": F}[key]
    joined = t.select("k", key).join(other, key, how=how, nulls_equal=nulls_equal)
    if how in ("semi", "anti"):
        joined = joined.with_columns(o=expr("CAST(NULL AS int64)"))
    rows = [(k, o, values[k or o]) for k, o in pairs]
    check(joined.select("k", "o", key), table({"k": "int64", "o": "int64", key: TYPES[key]}, *rows))


def test_joins_by_expressions_and_conditions(t, check):
    other = t.select(r=col("r"), o=col("k"))
    joined = t.select("k", "s").join(other, expr("s = CAST(r AS struct<a: int64, b: string>)"))
    check(joined.select("k", "o"), table({"k": "int64", "o": "int64"}, (1, 1), (3, 3), (4, 1)))
    beside = t.select("k", "l").join(
        t.select("l", o=col("k")), "l", condition=expr("l.k < r.o AND list_length(r.l) > 0")
    )
    check(beside.select("k", "o"), table({"k": "int64", "o": "int64"}, (1, 4)))


def test_a_key_that_repeats_is_named(t, failure):
    joined = t.join(t.select("s", o=col("k")), "s", validate="many_to_one")
    message = "the join is not many_to_one: s repeats on the right side, s is in more than one row"
    assert message in failure(joined, RunFailed)


def test_windows_over_nested_groups(t, check):
    numbered = t.window("s", ["l desc", "k"], n=row_number(), size=count()).select("k", "n", "size")
    rows = [(1, 1, 2), (2, 1, 2), (3, 1, 1), (4, 2, 2), (5, 2, 2), (6, 1, 1)]
    check(numbered, table({"k": "int64", "n": "int64", "size": "int64"}, *rows))


def test_rows_that_other_inputs_have(t, check):
    types = {"s": TYPES["s"], "l": TYPES["l"]}
    some = t.filter(expr("k > 3")).select("s", "l")
    check(t.select("s", "l").intersect(some), table(types, (S[1], L[1]), (None, None), (S[6], L[6])))
    check(t.select("s", "l").except_(some, all=True), table(types, (S[1], L[1]), (None, None), (S[3], L[3])))


CALLS = [
    ("count(DISTINCT s)", "int64", 3),
    ("count(DISTINCT l)", "int64", 3),
    ("count(DISTINCT f)", "int64", 2),
    ("count(DISTINCT s, l)", "int64", 3),
    ("min(l)", "list<int64>", []),
    ("max(s)", TYPES["s"], S[6]),
    ("max(m)", TYPES["m"], M[6]),
    ("any_value(l)", "list<int64>", []),
    ("min_by(s, -k)", TYPES["s"], S[6]),
    ("max_by(l, k % 2)", "list<int64>", []),
    ("arg_min_null(s, -k)", TYPES["s"], S[6]),
    ("arg_max_null(s, CASE WHEN k < 3 THEN k END)", TYPES["s"], None),
    ("max_by(k, l)", "int64", 6),
    ("min_by(k, {'l': l, 'k': -k})", "int64", 3),
    ("first(s ORDER BY k DESC)", TYPES["s"], S[6]),
    ("last(k ORDER BY l, k)", "int64", 5),
    ("array_agg(k ORDER BY s DESC, k)", "list<int64>", [6, 3, 1, 4, 2, 5]),
]  # fmt: skip


def test_aggregates_of_nested_values(t, check):
    columns = {f"c{place}": call for place, call in enumerate(CALLS)}
    types = {name: dtype for name, (_, dtype, _) in columns.items()}
    aggregated = t.aggregate(**{name: expr(sql) for name, (sql, _, _) in columns.items()})
    check(aggregated, table(types, tuple(value for _, _, value in CALLS)))
    none = t.filter(expr("k > 9")).aggregate(**{name: expr(sql) for name, (sql, _, _) in columns.items()})
    check(none, table(types, tuple(0 if "count" in sql else None for sql, _, _ in CALLS)))


def test_orders_are_those_of_duckdb(source, check):
    """Of values that are hard to tell apart, DuckDB has the same order."""
    values = ["NULL", "[]", "[NULL]", "[1]", "[1, NULL]", "[1, 1]", "[2]", "[-1, 5]"]
    structs = [f"{{'x': {x}, 'l': {y}}}" for x in ("NULL", "'a'", "''") for y in values]
    pairs = ", ".join(f"({place}, {struct})" for place, struct in enumerate([*structs, "NULL"]))
    calls = {way: f"array_agg(k ORDER BY s {way}, k)" for way in ("asc", "desc", "desc nulls first")}
    with duckdb.connect() as session:
        rows = session.sql(f"SELECT * FROM (VALUES {pairs}) v(k, s)").fetchall()
        wanted = session.sql(f"SELECT {', '.join(calls.values())} FROM (VALUES {pairs}) v(k, s)").fetchall()[0]
    t = source(table({"k": "int64", "s": "struct<x: string, l: list<int64>>"}, *rows))
    columns = {f"c{place}": expr(call) for place, call in enumerate(calls.values())}
    check(t.aggregate(**columns), table(dict.fromkeys(columns, "list<int64>"), wanted))
