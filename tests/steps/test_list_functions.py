"""Functions of lists on every engine: lists made of values and of lists, and one value of the elements of each."""

import pytest

from gpuetl import RunFailed, col, expr, lit
from tables import NAN, table

TYPES = {
    "k": "int64",
    "l": "list<int64>",
    "s": "list<string>",
    "f": "list<float64>",
    "ll": "list<list<int64>>",
    "b": "list<bool>",
}
ROWS = [
    (1, [3, 1, None, 3], ["b", "a", None], [1.5, NAN, -0.0], [[1], None, [2, None]], [True, None, True, False]),
    (2, None, None, None, None, None),
    (3, [], [], [], [], []),
    (None, [None], [None], [None], [None], [None]),
    (-2, [5, 4], ["", "b", "b"], [2.0, 0.25], [[], [7, 8, 9]], [False, False]),
]  # fmt: skip
CASES = [
    ("[k, 7, NULL]", "list<int64>", [[1, 7, None], [2, 7, None], [3, 7, None], [None, 7, None], [-2, 7, None]]),
    ("[['x'], split('y,z', ',')]", "list<list<string>>", [[["x"], ["y", "z"]]] * 5),
    ("list_length(CAST([] AS list<int64>))", "int64", [0] * 5),
    ("l[2:3]", "list<int64>", [[1, None], None, [], [], [4]]),
    ("l[-2:]", "list<int64>", [[None, 3], None, [], [None], [5, 4]]),
    ("l[:k]", "list<int64>", [[3], None, [], None, [5]]),
    ("list_concat(l, [k], l)", "list<int64>",
     [[3, 1, None, 3, 1, 3, 1, None, 3], [2], [3], [None, None, None], [5, 4, -2, 5, 4]]),
    ("list_append(s, 'z')", "list<string>", [["b", "a", None, "z"], ["z"], ["z"], [None, "z"], ["", "b", "b", "z"]]),
    ("list_prepend(k, l)", "list<int64>", [[1, 3, 1, None, 3], [2], [3], [None, None], [-2, 5, 4]]),
    ("list_reverse(s)", "list<string>", [[None, "a", "b"], None, [], [None], ["b", "b", ""]]),
    ("list_sort(l)", "list<int64>", [[1, 3, 3, None], None, [], [None], [4, 5]]),
    ("list_sort(s, 'desc', 'nulls first')", "list<string>", [[None, "b", "a"], None, [], [None], ["b", "b", ""]]),
    ("list_reverse_sort(l)", "list<int64>", [[3, 3, 1, None], None, [], [None], [5, 4]]),
    ("list_reverse_sort(l, 'nulls first')", "list<int64>", [[None, 3, 3, 1], None, [], [None], [5, 4]]),
    ("list_grade_up(l)", "list<int64>", [[2, 1, 4, 3], None, [], [1], [2, 1]]),
    ("list_grade_up(s, 'desc', 'nulls first')", "list<int64>", [[3, 1, 2], None, [], [1], [2, 3, 1]]),
    ("list_sort(f)", "list<float64>", [[-0.0, 1.5, NAN], None, [], [None], [0.25, 2.0]]),
    ("list_distinct(l)", "list<int64>", [[3, 1], None, [], [], [5, 4]]),
    ("list_unique(s)", "int64", [2, None, 0, 0, 2]),
    ("list_intersect(s, ['b', 'z', NULL])", "list<string>", [["b"], None, [], [], ["b"]]),
    ("list_select(s, [2, -1, 9])", "list<string>",
     [["a", None, None], None, [None] * 3, [None] * 3, ["b", "b", None]]),
    ("list_where(l, b)", "list<int64>", [[3, None], None, [], [], []]),
    ("flatten(ll)", "list<int64>", [[1, 2, None], None, [], [], [7, 8, 9]]),
    ("list_transform(l, lambda e: e * 10 + k)", "list<int64>", [[31, 11, None, 31], None, [], [None], [48, 38]]),
    ("list_transform(s, lambda e, i: e || CAST(i AS string))", "list<string>", [["b1", "a2", None], None, [], [None], ["1", "b2", "b3"]]),
    ("list_filter(l, lambda e: e >= 3)", "list<int64>", [[3, 3], None, [], [], [5, 4]]),
    ("list_transform(ll, lambda a: list_filter(a, lambda b: b > k))", "list<list<int64>>",
     [[[], None, [2]], None, [], [None], [[], [7, 8, 9]]]),
    ("CASE WHEN k <> -2 THEN list_transform(l, lambda e: e // (k + 2)) END", "list<int64>",
     [[1, 0, None, 1], None, [], None, None]),
    ("list_reduce(l, lambda a, e: coalesce(a, 0) + coalesce(e, k), 0)", "int64", [7 + 1, None, 0, None, 9]),
    ("list_reduce(f, lambda a, e, i: a + e * i, k)", "float64", [NAN, None, 3.0, None, 0.5]),
    ("list_reduce(s, lambda a, e, i: a || coalesce(e, '-') || CAST(i AS string), '>')", "string",
     [">b1a2-3", None, ">", ">-1", ">1b2b3"]),
    ("CASE WHEN list_length(l) > 0 THEN list_reduce(l, lambda a, e: if(e > a, e, a)) END", "int64", [3, None, None, None, 5]),
    ("list_reduce(ll, lambda a, e: list_concat(a, e), [k])", "list<int64>",
     [[1, 1, 2, None], None, [3], [None], [-2, 7, 8, 9]]),
    ("list_reduce([k, 2, 3], lambda a, e, i: a * 10 + e + i)", "int64", [146, 246, 346, None, -154]),
    ("[list_reduce(e, lambda a, b: a + b, 0) for e in ll]", "list<int64>", [[1, None, None], None, [], [None], [0, 24]]),
    ("CAST(l AS int8[])", "list<int8>", [[3, 1, None, 3], None, [], [None], [5, 4]]),
    ("CAST(l AS text[])", "list<string>", [["3", "1", None, "3"], None, [], [None], ["5", "4"]]),
    ("CAST(ll AS double[][])", "list<list<float64>>", [[[1.0], None, [2.0, None]], None, [], [None], [[], [7.0, 8.0, 9.0]]]),
    ("TRY_CAST(s AS int[])", "list<int32>", [[None] * 3, None, [], [None], [None] * 3]),
    ("range(k)", "list<int64>", [[0], [0, 1], [0, 1, 2], None, []]),
    ("generate_series(3, k, -2)", "list<int64>", [[3, 1], [3], [3], None, [3, 1, -1]]),
    ("list_position(l, k)", "int64", [2, None, None, 1, None]),
    ("list_has_any(l, [5, k])", "bool", [True, None, False, False, True]),
    ("list_has_all([1, 2, 3], l)", "bool", [True, None, True, True, False]),
    ("list_resize(l, abs(k))", "list<int64>", [[3], None, [None] * 3, [], [5, 4]]),
    ("list_resize(s, 2, 'z')", "list<string>", [["b", "a"], None, ["z", "z"], [None, "z"], ["", "b"]]),
    ("list_resize(ll, list_length(l), [k])", "list<list<int64>>", [[[1], None, [2, None], [1]], None, [], [None], [[], [7, 8, 9]]]),
    ("list_zip(l, s)", "list<struct<element1: int64, element2: string>>",
     [[(3, "b"), (1, "a"), (None, None), (3, None)], [], [], [(None, None)], [(5, ""), (4, "b"), (None, "b")]]),
    ("list_zip(s, ll, [k], k > 1)", "list<struct<element1: string, element2: list<int64>, element3: int64>>",
     [[("b", [1], 1), ("a", None, None), (None, [2, None], None)], [], [], [(None, None, None)],
      [("", [], -2), ("b", [7, 8, 9], None), ("b", None, None)]]),
    ("list_zip(b, NULL)[1][1]", "bool", [True, None, None, None, False]),
    ("row(k, s[1])", "struct<element1: int64, element2: string>", [(1, "b"), (2, None), (3, None), (None, None), (-2, "")]),
    ("(k, l)[2]", "list<int64>", [[3, 1, None, 3], None, [], [None], [5, 4]]),
    ("(k, s[1]) IN ((1, 'b'), (-2, 'b'))", "bool", [True, False, False, False, False]),
    ("CAST((k, l[1]) AS STRUCT(a double, b int8))", "struct<a: float64, b: int8>",
     [(1.0, 3), (2.0, None), (3.0, None), (None, None), (-2.0, 5)]),
    ("typeof(ll)", "string", ["BIGINT[][]"] * 5),
    ("l[-1:1:-2]", "list<int64>", [[3, 1], None, [], [None], [4]]),
    ("s[:-:k]", "list<string>", [["b", "a", None], None, [], None, ["b", ""]]),
    ("l[9223372036854775806 + k % 2:k % 2 - 9223372036854775806:1 + k % 2]", "list<int64>", [[], None, [], None, []]),
        ("[[], l, [k]]", "list<list<int64>>", [[[], row[1], [row[0]]] for row in ROWS]),
    ("[{'a': k}, {'a': 0.5}, NULL]", "list<struct<a: float64>>", [[(row[0],), (0.5,), None] for row in ROWS]),
    ("list_concat(l, [], [0.5])", "list<float64>",
     [[3.0, 1.0, None, 3.0, 0.5], [0.5], [0.5], [None, 0.5], [5.0, 4.0, 0.5]]),
    ("list_contains(ll, [2, NULL])", "bool", [True, None, False, False, False]),
    ("list_position(ll, CAST(NULL AS int64[]))", "int64", [2, None, None, 1, None]),
    ("list_sort(ll)", "list<list<int64>>", [[[1], [2, None], None], None, [], [None], [[], [7, 8, 9]]]),
    ("list_sort(ll, 'desc', 'nulls first')", "list<list<int64>>",
     [[None, [2, None], [1]], None, [], [None], [[7, 8, 9], []]]),
    ("list_reverse_sort([{'a': k, 'b': 'x'}, {'a': 2, 'b': 'y'}])[1].b", "string", ["y", "y", "x", "x", "y"]),
    ("list_distinct(list_concat(ll, ll, [[k]]))", "list<list<int64>>",
     [[[1], [2, None]], [[2]], [[3]], [[None]], [[], [7, 8, 9], [-2]]]),
    ("list_unique(list_concat(ll, ll))", "int64", [2, 0, 0, 0, 2]),
    ("list_intersect([[k], l, [k]], [[1], [2], [5, 4], l])", "list<list<int64>>",
     [[[1], [3, 1, None, 3]], [[2]], [[]], [[None]], [[5, 4]]]),
    ("list_has_any(ll, [[], [k]])", "bool", [True, None, False, False, True]),
    ("list_has_all([[1], [2, NULL], NULL], ll)", "bool", [True, None, True, True, False]),
    ("list_min(ll)", "list<int64>", [[1], None, None, None, []]),
    ("list_max(ll)", "list<int64>", [[2, None], None, None, None, [7, 8, 9]]),
    ("list_mode(list_concat(ll, [[k]]))", "list<int64>", [[1], [2], [3], [None], []]),
    ("greatest(l, [k], NULL)", "list<int64>", [[3, 1, None, 3], [2], [3], [None], [5, 4]]),
    ("least(row(k, 'a'), row(2, 'b'), row(2, 'a'))[1]", "int64", [1, 2, 2, 2, -2]),
    ("l || [k, 0.5]", "list<float64>", [[3.0, 1.0, None, 3.0, 1.0, 0.5], None, [3.0, 0.5], [None, None, 0.5], [5.0, 4.0, -2.0, 0.5]]),
    ("s + s[:1]", "list<string>", [["b", "a", None, "b"], [], [], [None, None], ["", "b", "b", ""]]),
    ("len(s)", "int64", [3, None, 0, 1, 3]),
    ("repeat(ll, k)", "list<list<int64>>", [[[1], None, [2, None]], None, [], None, []]),
    ("repeat(s, 2)", "list<string>", [["b", "a", None] * 2, None, [], [None] * 2, ["", "b", "b"] * 2]),
    ("TRY_CAST(l AS REAL[2])", "list<float32>", [None, None, None, None, [5.0, 4.0]]),
    ("CAST([k, 2] AS int8[2])", "list<int8>", [[row[0], 2] for row in ROWS]),
    ("array_cross_product([k, 2, 3], [4, 5, 6])", "list<float64>",
     [[-3.0, 6.0, -3.0], [-3.0, 0.0, 2.0], [-3.0, -6.0, 7.0], [-3.0, None, None], [-3.0, 24.0, -18.0]]),
    ("list_fsum([0.1, 0.2, 0.3, k, -k])", "float64", [0.6, 0.6, 0.6, 0.6, 0.6]),
    ("list_favg(l)", "float64", [7 / 3, None, None, None, 4.5]),
    ("list_string_agg(s, '/')", "string", ["b/a", None, None, None, "/b/b"]),
    ("list_aggregate(l, 'array_agg')", "list<int64>", [[3, 1, None, 3], None, None, [None], [5, 4]]),
    ("list_product(CAST(l AS decimal(5,1)[]))", "float64", [9.0, None, None, None, 20.0]),
    ("struct_position((k, s[1], 3, 'b'), 'b')", "int64", [2, 4, 4, 4, 4]),
    ("struct_position((3, s, f[3], [s[1]]), k)", "int64", [None, None, 1, 3, None]),
    ("struct_contains((l, [k]), [5, 4])", "bool", [False, False, False, False, True]),
    ("struct_values({'a': k, 'b': s}).element2[1]", "string", ["b", None, None, None, ""]),
    ("struct_extract_at({'a': k, 'b': s}, 2)", "list<string>", [row[2] for row in ROWS]),
    ("struct_extract((k, s), 1)", "int64", [row[0] for row in ROWS]),
    ("map_contains_entry(MAP {'a': 1, 'b': k}, 'b', NULL)", "bool", [False, False, False, True, False]),
    ("list_sum(l)", "int64", [7, None, None, None, 9]),
    ("list_sum(f)", "float64", [NAN, None, None, None, 2.25]),
    ("list_mean(l)", "float64", [7 / 3, None, None, None, 4.5]),
    ("list_product(l)", "float64", [9.0, None, None, None, 20.0]),
    ("list_min(f)", "float64", [-0.0, None, None, None, 0.25]),
    ("list_max(f)", "float64", [NAN, None, None, None, 2.0]),
    ("list_max(s)", "string", ["b", None, None, None, "b"]),
    ("list_count(l)", "int64", [3, None, 0, 0, 2]),
    ("list_any_value(ll)", "list<int64>", [[1], None, None, None, []]),
    ("list_first(l) + list_last(l)", "int64", [6, None, None, None, 9]),
    ("list_bool_and(b)", "bool", [False, None, None, None, False]),
    ("list_bool_or(b)", "bool", [True, None, None, None, False]),
    ("list_median(l)", "float64", [3.0, None, None, None, 4.5]),
    ("list_median(f)", "float64", [1.5, None, None, None, 1.125]),
    ("list_quantile(l, 0.25)", "float64", [2.0, None, None, None, 4.25]),
    ("list_mode(s)", "string", ["a", None, None, None, "b"]),
    ("list_mad(l)", "float64", [0.0, None, None, None, 0.5]),
    ("list_entropy(l)", "float64", [0.9182958340544896, None, 0.0, 0.0, 1.0]),
    ("list_histogram(s)", "map<string, int64>", [[("a", 1), ("b", 1)], None, None, None, [("", 1), ("b", 2)]]),
    ("list_var(l)", "float64", [4 / 3, None, None, None, 0.5]),
    ("list_stddev_pop(l)", "float64", [(8 / 9) ** 0.5, None, None, None, 0.5]),
    ("list_kurtosis_pop(l)", "float64", [-1.5, None, None, None, -2.0]),
    ("list_bit_or(l)", "int64", [3, None, None, None, 5]),
    ("list_aggregate(l, 'stddev_pop')", "float64", [(8 / 9) ** 0.5, None, None, None, 0.5]),
    ("list_aggr(s, 'string_agg', '/')", "string", ["b/a", None, None, None, "/b/b"]),
    ("array_aggregate(l, 'quantile_cont', 1)", "float64", [3.0, None, None, None, 5.0]),
    ("list_aggregate(l, 'avg')", "float64", [7 / 3, None, None, None, 4.5]),
    ("array_to_string(s, '-')", "string", ["b-a", None, "", "", "-b-b"]),
    ("list_dot_product([k, 2], [3, k])", "float64", [5.0, 10.0, 15.0, None, -10.0]),
    ("list_distance([k, 0], [1, 4])", "float64", [4.0, 17**0.5, 20**0.5, None, 5.0]),
    ("list_cosine_similarity([k, 0], [1, 0])", "float64", [1.0, 1.0, 1.0, None, -1.0]),
    ("list_cosine_similarity(range(k), range(k))", "float64", [NAN, 1.0, 1.0, None, None]),
    ("list_cosine_distance(range(k), range(k))", "float64", [NAN, 0.0, 0.0, None, None]),
    ("CASE WHEN k = 1 THEN range(k) ELSE range(3 - k * 0) END", "list<int64>", [[0], [0, 1, 2], [0, 1, 2], None, [0, 1, 2]]),
    ("CASE WHEN k <> 3 THEN range((k - 2) * 20000000) END", "list<int64>", [[], [], None, None, []]),
    ("CASE WHEN k < 0 THEN list_of_size(l, 2) WHEN k = 1 THEN map_keys(map([k], [k])) ELSE repeat(l, k * 16777216) END",
     "list<int64>", [[1], None, [], None, [5, 4]]),
    ("list_sum(CASE WHEN k = 1 THEN l WHEN k = -2 THEN CAST(l AS int64[2]) END)", "int64", [7, None, None, None, 9]),
    ("CASE WHEN k > 1 THEN list_reverse(l) WHEN k = 1 THEN [list_sum(l)] END", "list<int64>", [[7], None, [], None, None]),
]  # fmt: skip


@pytest.fixture
def t(source):
    """Five rows of lists: with nulls and NaN in them, null, empty, of a null alone."""
    return source(table(TYPES, *ROWS))


def test_functions_of_lists(t, check):
    guarded = {"list_dot_product", "list_distance", "list_cosine_similarity"}
    columns, expected = {}, {}
    for place, (sql, dtype, values) in enumerate(CASES):
        text = f"CASE WHEN k IS NOT NULL THEN {sql} END" if sql.partition("(")[0] in guarded else sql
        columns[f"c{place}"], expected[f"c{place}"] = expr(text), (dtype, values)
    wanted = table(
        {name: dtype for name, (dtype, _) in expected.items()}, *zip(*(v for _, v in expected.values()), strict=True)
    )
    check(t.select(**columns), wanted, ordered=True)


def test_lists_in_python(t, check):
    columns = {
        "made": lit([1, col("k")]),
        "joined": col("l").list_concat([0]),
        "total": col("l").list_sum(),
        "kept": col("s").list_intersect(["b"]),
        "scaled": col("l").list_transform(lambda e, i: e * i + col("k")),
        "large": col("l").list_filter(lambda e: e > 3),
    }
    wanted = table(
        {"made": "list<int64>", "joined": "list<int64>", "total": "int64", "kept": "list<string>", "scaled": "list<int64>",
         "large": "list<int64>"},
        ([1, 1], [3, 1, None, 3, 0], 7, ["b"], [4, 3, None, 13], []),
        ([1, 2], [0], None, None, None, None), ([1, 3], [0], None, [], [], []),
        ([1, None], [None, 0], None, [], [None], []), ([1, -2], [5, 4, 0], 9, ["b"], [3, 6], [5, 4]),
    )  # fmt: skip
    check(t.select(**columns), wanted, ordered=True)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("list_distance(l, [1])", "the lists have different lengths"),
        ("list_dot_product(l, l)", "a list has a null element"),
        ("list_resize(l, k - 2)", "a size is negative, or more than 16,777,216"),
        ("l[:-:(k - 1)]", "a step is 0"),
        ("CAST(l AS REAL[2])", "the list has another number of elements"),
        ("repeat(l, k * 20000000)", "a size is negative, or more than 16,777,216"),
        ("range(k * 20000000)", "more than 16,777,216 numbers"),
        ("list_transform(l, lambda e: e * 9223372036854775807)", "overflow of int64"),
        ("list_reduce(l, lambda a, e: a * e * 9223372036854775807, k)", "overflow of int64"),
        ("list_reduce([e for e in l if e > 9], lambda a, e: a + e)", "an empty list has no first element"),
        ("list_sum([k, 9223372036854775807])", "overflow of int64"),
    ],
)
def test_a_row_without_a_result_is_named(t, sql, message):
    with pytest.raises(RunFailed, match=message) as failed:
        t.select(out=expr(sql)).collect()
    assert "row 0" in str(failed.value) or "Row 1" in str(failed.value)
