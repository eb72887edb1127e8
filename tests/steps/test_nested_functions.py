"""Functions of structs and maps, and parts of texts, on every engine."""

import re

import pytest

from gpuetl import RunFailed, expr
from tables import NAN, table

TYPES = {
    "k": "int64",
    "t": "string",
    "s": "struct<a: int64, b: string>",
    "m": "map<string, int64>",
    "l": "list<int64>",
    "n": "list<string>",
    "f": "map<float64, string>",
}
ROWS = [
    (1, "gpuetl", {"a": 1, "b": "x"}, [("a", 1), ("b", None)], [1, 2], ["x", None], [(NAN, "n"), (0.0, None)]),
    (2, None, None, None, None, None, None),
    (-2, "", {"a": None, "b": None}, [], [], [], []),
    (None, "añ😀z", {"a": 3, "b": ""}, [("c", 3), ("a", 4)], [7], [""], [(-0.0, "z")]),
]  # fmt: skip
CASES = [
    ("t[1]", "string", ["g", None, "", "a"]),
    ("t[-1]", "string", ["l", None, "", "z"]),
    ("t[0]", "string", ["", None, "", ""]),
    ("t[k]", "string", ["g", None, "", None]),
    ("t[2:3]", "string", ["pu", None, "", "ñ😀"]),
    ("t[-3:-2]", "string", ["et", None, "", "ñ😀"]),
    ("t[-9:2]", "string", ["gp", None, "", "añ"]),
    ("t[k:-2]", "string", ["gpuet", None, "", None]),
    ("t[:k]", "string", ["g", None, "", None]),
    ("t[3:2]", "string", ["", None, "", ""]),
    ("t[2:9223372036854775807]", "string", ["puetl", None, "", "ñ😀z"]),
    ("upper(t[-9223372036854775807:1])", "string", ["G", None, "", "A"]),
    ("{'a': k, 'b c': t}", 'struct<a: int64, "b c": string>',
     [{"a": k, "b c": t} for k, t in ((1, "gpuetl"), (2, None), (-2, ""), (None, "añ😀z"))]),
    ("struct_insert(s, c := k + 1)", "struct<a: int64, b: string, c: int64>",
     [{"a": 1, "b": "x", "c": 2}, {"a": None, "b": None, "c": 3}, {"a": None, "b": None, "c": -1}, {"a": 3, "b": "", "c": None}]),
    ("struct_update(s, a := t, d := 1.5)", "struct<a: string, b: string, d: float64>",
     [{"a": "gpuetl", "b": "x", "d": 1.5}, {"a": None, "b": None, "d": 1.5}, {"a": "", "b": None, "d": 1.5}, {"a": "añ😀z", "b": "", "d": 1.5}]),
    ("struct_concat(s, {'l': l}).l", "list<int64>", [[1, 2], None, [], [7]]),
    ("struct_keys(s)", "list<string>", [["a", "b"], None, ["a", "b"], ["a", "b"]]),
    ("map(l, n)", "map<int64, string>", [[(1, "x"), (2, None)], None, [], [(7, "")]]),
    ("MAP {'k': k, coalesce(t, 'none'): 0}['k']", "int64", [1, 2, -2, None]),
    ("map(['a', coalesce(t, 'q')], [s, NULL])['a']", "struct<a: int64, b: string>", [{"a": 1, "b": "x"}, None, {"a": None, "b": None}, {"a": 3, "b": ""}]),
    ("CAST(MAP {} AS map<string, int64>)", "map<string, int64>", [[]] * 4),
    ("map_entries(m)", "list<struct<key: string, value: int64>>",
     [[{"key": "a", "value": 1}, {"key": "b", "value": None}], None, [], [{"key": "c", "value": 3}, {"key": "a", "value": 4}]]),
    ("map_from_entries(list_reverse(map_entries(m)))", "map<string, int64>", [[("b", None), ("a", 1)], None, [], [("a", 4), ("c", 3)]]),
    ("map_from_entries([x for x in map_entries(m) if x.value > 3])", "map<string, int64>", [[], None, [], [("a", 4)]]),
    ("map_contains(m, 'a')", "bool", [True, None, False, True]),
    ("map_contains(f, 0)", "bool", [True, None, False, True]),
    ("map_contains_value(m, k + 0)", "bool", [True, None, False, None]),
    ("map_extract(m, 'b')", "list<int64>", [[None], None, [], []]),
    ("element_at(m, 'a')", "list<int64>", [[1], None, [], [4]]),
    ("map_concat(m, MAP {'a': 10, 'z': k})", "map<string, int64>",
     [[("a", 10), ("b", None), ("z", 1)], [("a", 10), ("z", 2)], [("a", 10), ("z", -2)], [("c", 3), ("a", 10), ("z", None)]]),
    ("map_concat(f, MAP {CAST('nan' AS float64): 'm', 0.0: t}, NULL)", "map<float64, string>",
     [[(NAN, "m"), (0.0, "gpuetl")], [(NAN, "m"), (0.0, None)], [(NAN, "m"), (0.0, "")], [(-0.0, "añ😀z"), (NAN, "m")]]),
    ("map_concat(m, m, m)", "map<string, int64>", [[("a", 1), ("b", None)], None, [], [("c", 3), ("a", 4)]]),
    ("cardinality(map_concat(m, CAST(NULL AS map<string, int64>)))", "int64", [2, None, 0, 2]),
    ("CASE WHEN k = 1 THEN map_keys(m) ELSE map_keys(map_concat(m, MAP {'y': 1})) END", "list<string>",
     [["a", "b"], ["y"], ["y"], ["c", "a", "y"]]),
    ("CAST(s AS struct<b: string, a: float64, c: date>)", "struct<b: string, a: float64, c: date>",
     [{"b": "x", "a": 1.0, "c": None}, None, {"b": None, "a": None, "c": None}, {"b": "", "a": 3.0, "c": None}]),
    ("CAST(l AS list<string>)", "list<string>", [["1", "2"], None, [], ["7"]]),
    ("TRY_CAST(n AS list<int64>)", "list<int64>", [[None, None], None, [], [None]]),
    ("CAST(CAST(map_entries(m) AS list<struct<value: string>>) AS list<struct<value: int64, z: bool>>)",
     "list<struct<value: int64, z: bool>>",
     [[{"value": 1, "z": None}, {"value": None, "z": None}], None, [], [{"value": 3, "z": None}, {"value": 4, "z": None}]]),
    ("CAST(m AS map<string, string>)['a']", "string", ["1", None, None, "4"]),
    ("CAST([[k]] AS list<list<string>>)", "list<list<string>>", [[["1"]], [["2"]], [["-2"]], [[None]]]),
    ("[CAST(e AS list<string>) for e in [l]]", "list<list<string>>", [[["1", "2"]], [None], [[]], [["7"]]]),
]  # fmt: skip


@pytest.fixture
def t(source):
    """Four rows of nested values: full, null, empty, with odd keys."""
    return source(table(TYPES, *ROWS))


def test_functions_of_nested_values(t, check):
    columns = {f"c{place}": expr(sql) for place, (sql, _, _) in enumerate(CASES)}
    types = {f"c{place}": dtype for place, (_, dtype, _) in enumerate(CASES)}
    check(t.select(**columns), table(types, *zip(*(values for _, _, values in CASES), strict=True)), ordered=True)


def test_a_field_that_only_a_lambda_reads_is_there(t, check):
    read = t.select("k", b=expr("s.b"), sums=expr("[e + s.a for e in l]"))
    wanted = table({"k": "int64", "b": "string", "sums": "list<int64>"},
                   (1, "x", [2, 3]), (2, None, None), (-2, None, []), (None, "", [10]))  # fmt: skip
    check(read, wanted)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("map(l, ['x', 'y'])", "the lists have different lengths"),
        ("map(n, n)", "a key of the map is null"),
        ("CAST(coalesce(n, ['1']) AS list<int64>)", "CAST\\(.* AS int64\\) has no result"),
        ("MAP {'a': 1, coalesce(left(t, 0), '') || 'a': 2}", "a key of the map stands twice"),
        ("map([CAST('nan' AS float64), k / k - 1 + CAST('nan' AS float64)], [1, 2])", "a key of the map stands twice"),
    ],
)
def test_a_row_that_gives_no_map_is_named(t, sql, message):
    with pytest.raises(RunFailed, match=message) as failed:
        t.select(out=expr(sql)).collect()
    assert re.search(r"[Rr]ow \d", str(failed.value))


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("map(l, t)", "map takes a list of keys and a list of values, got string"),
        ("MAP {}", "map takes keys of a type, got null"),
        ("map([l], [1])", "map compares keys, and values of list<int64> are not compared"),
        ("map_from_entries(l)", "map_from_entries takes a list of structs of a key and a value, got list<int64>"),
        ("map_concat(m, f)", "map_concat takes maps of one type"),
        ("map_contains(m, 1)", "map_contains cannot compare string and int64"),
        ("struct_insert(s, a := 1)", "struct_insert has two fields named 'a'"),
        ("struct_concat(s, s)", "struct_concat gets two fields named 'a'"),
        ("struct_update(k, a := 1)", "struct_update takes a struct, got int64"),
        ("k[1]", "list_extract takes a list, got int64"),
        ("CAST(s AS struct<c: int64>)", "cannot cast struct<a: int64, b: string> to struct<c: int64>"),
        (
            "CAST(s AS struct<A: int64, b: string>)",
            "cannot cast struct<a: int64, b: string> to struct<A: int64, b: string>",
        ),
        ("TRY_CAST(m AS map<int64, int64>)", "cannot cast map<string, int64> to map<int64, int64>"),
        ("t['a']", "text_slice takes int64, got string"),
    ],
)
def test_what_is_refused(t, problem, sql, message):
    assert message in problem(t.select(out=expr(sql)))
