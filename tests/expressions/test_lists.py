"""Lists: list_length, list_contains, list_get, split."""

import re

import pyarrow as pa
import pytest

from expressions.evaluation import table, typed, value, values
from gpuetl import InvalidExpression
from gpuetl.types.data_types import parse_type
from tables import INT64_MAX, INT64_MIN, NAN

LISTS = [[1, 2], None, [], [None], [3, None, 1]]
INTS = table(x=("list<int64>", LISTS), i=("int64", [0, 0, 0, 0, -1]), y=("int32", [2, 2, 2, None, 1]))


def test_the_length_counts_nulls_and_a_null_list_has_none():
    assert values("list_length(x)", INTS) == [2, None, 0, 1, 3]
    assert values("array_length(x)", INTS.slice(2)) == [0, 1, 3]
    assert values("list_length(x)", INTS.slice(0, 0)) == []
    assert values("list_length(NULL)", INTS) == [None] * 5


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("list_get(x, 0)", [1, None, None, None, 3]),
        ("list_get(x, 1)", [2, None, None, None, None]),
        ("list_get(x, -1)", [2, None, None, None, 1]),
        ("list_get(x, -3)", [None, None, None, None, 3]),
        ("list_get(x, i)", [1, None, None, None, 1]),
        ("list_get(x, y)", [None, None, None, None, None]),
        ("list_get(x, NULL)", [None] * 5),
        (f"list_get(x, {INT64_MAX})", [None] * 5),
        (f"list_get(x, {INT64_MIN + 1})", [None] * 5),
    ],
)
def test_an_element_is_taken_by_its_place(sql, expected):
    assert values(sql, INTS) == expected
    assert values(sql, INTS.slice(1, 3)) == expected[1:4]
    chunked = pa.concat_tables([INTS.slice(0, 2), INTS.slice(2)])
    assert values(sql, chunked) == expected
    assert values(sql, INTS.slice(0, 0)) == []


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("list_contains(x, 1)", [True, None, False, False, True]),
        ("list_contains(x, y)", [True, None, False, None, True]),
        ("list_contains(x, NULL)", [None] * 5),
        ("list_contains(x, 4)", [False, None, False, False, False]),
    ],
)
def test_a_list_contains_what_equals_an_element(sql, expected):
    assert values(sql, INTS) == expected
    assert values(sql, INTS.slice(1, 3)) == expected[1:4]
    assert values(sql, INTS.slice(0, 0)) == []


def test_nan_is_in_no_list_and_zero_is_minus_zero():
    frame = table(x=("list<float64>", [[NAN, -0.0], [1.0]]))
    assert values("list_contains(x, CAST('nan' AS float64))", frame) == [False, False]
    assert values("list_contains(x, 0.0)", frame) == [True, False]


def test_strings_are_split():
    frame = table(s=("string", ["a,b", "", None, ",", "é,,𝄞", "a"]))
    assert values("split(s, ',')", frame) == [["a", "b"], [""], None, ["", ""], ["é", "", "𝄞"], ["a"]]
    assert values("string_split(s, ',,')", frame)[4] == ["é", "𝄞"]
    assert values("split(s, '.')", frame)[0] == ["a,b"]
    assert values("list_length(split(s, ','))", frame) == [2, 1, None, 2, 3, 1]
    assert value("list_contains(split('a,b', ','), NULL)") is None


def test_a_list_of_constants_stands_beside_no_rows():
    no_rows = table(i=("int64", []))
    assert values("split('a,b', ',')", no_rows) == []
    assert values("list_get(split('a,b', ','), i)", no_rows) == []


@pytest.mark.parametrize(
    "sql", ["split('a,b', ',')", "list_get(split('a,b', ','), i)", "coalesce(x, CAST(NULL AS list<int64>))"]
)
def test_a_constant_list_has_no_rows_where_there_are_none(sql):
    assert values(sql, INTS.slice(0, 0)) == []


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("list_length(s)", "list_length takes a list, got string"),
        ("list_contains(x, 'a')", "list_contains cannot compare int64 and string"),
        ("list_contains(x, 1.5)", "list_contains cannot look for float64 in list<int64>"),
        ("list_get(x, 1.5)", "list_get takes a whole number as index, got float64"),
        ("list_get(s, 1)", "list_get takes a list, got string"),
        ("split(x, ',')", "split does not take lists"),
        ("CAST(NULL AS list<thing>)", "unknown type"),
    ],
)
def test_other_types_are_refused(sql, message):
    with pytest.raises(InvalidExpression, match=message):
        typed(sql, {"x": pa.list_(pa.int64()), "s": pa.string()})


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("[1, 'a']", "list_value cannot mix string and int64"),
        ("list_concat(l, s)", "takes lists of one type, got list<int64> and list<string>"),
        ("[l, s]", "list_value cannot mix list<int64> and list<string>"),
        ("l || k", "list_concat takes a list, got int64"),
        ("CAST(l AS int8[2][3])", "gpuetl does not support sizes of inner lists"),
        ("struct_position((k, l), 'a')", "cannot look for string in struct<element1: int64, element2: list<int64>>"),
        ("struct_extract_at((k, l), 3)", "takes a place from 1 to 2, got 3"),
        ("struct_contains(k, 1)", "takes a struct, got int64"),
        ("l[1:2:0]", "list_slice takes a step that is not 0"),
        ("greatest(l, s)", "cannot mix list<int64> and list<string>"),
        ("list_median(ll)", "compares elements, and those of list<list<int64>> are not compared"),
        ("list_append(l, 'a')", "list_append cannot mix int64 and string"),
        ("list_append(l, 1.5)", "cannot put float64 into list<int64>"),
        ("list_sort(l, 'up')", "takes 'asc' or 'desc', got 'up'"),
        ("list_sum(s)", "takes numbers, got string"),
        ("list_sum(k)", "takes a list, got int64"),
        ("list_bool_and(l)", "takes a list of booleans, got list<int64>"),
        ("array_to_string(l, ',')", "takes a list of strings, got list<int64>"),
        ("flatten(l)", "takes a list of lists, got list<int64>"),
        ("list_where(l, l)", "takes a list of booleans, got list<int64>"),
        ("list_dot_product(s, s)", "takes lists of numbers, got list<string>"),
        ("[i for e, i in l if e > 5]", "gpuetl does not support the place 'i' before a condition"),
        ("list_aggr([CAST(1 AS uint128)], 'avg')", "unknown type 'uint128'"),
        ("list_transform(l, 1)", "list_transform takes a list and a lambda"),
        ("list_transform(k, lambda e: e)", "list_transform takes a list, got int64"),
        ("list_filter(l, lambda e: e)", "list_filter takes a lambda that gives a boolean, got int64"),
        ("list_transform(l, lambda a, b, c: a)", "a lambda takes an element, and perhaps its place, got 3 names"),
        ("list_transform(ll, lambda e: list_filter(e, lambda e: e > 1))", "two variables of lambdas are named 'e'"),
        ("list_transform(l, lambda e: sum(e))", "sum is an aggregate function and cannot stand here"),
        ("list_transform(l, lambda e: f + 1)", "unknown column 'f'"),
        ("list_sum(l, lambda e: e)", "list_sum got 2 arguments"),
        ("list_append(l, lambda e: e)", "a lambda cannot stand here"),
    ],
)
def test_functions_of_lists_refuse_what_does_not_fit(sql, message):
    types = {"k": "int64", "l": "list<int64>", "s": "list<string>", "ll": "list<list<int64>>"}
    with pytest.raises(InvalidExpression, match=re.escape(message)):
        typed(sql, {name: parse_type(dtype) for name, dtype in types.items()})


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("list_transform(NULL, lambda e: e + 1)", None),
        ("list_filter(NULL, lambda e: e > 1)", None),
        ("list_reduce(NULL, lambda a, e: a + e, 1)", None),
        ("list_reduce([1], lambda a, e: a + e, NULL)", None),
        ("map(NULL, [1])", None),
        ("map_keys(NULL)", None),
        ("map_entries(NULL)", None),
        ("greatest(CAST(NULL AS int64[]), NULL)", None),
        ("list_resize([], 2, 'a')", ["a", "a"]),
        ("list_append([], 1)", [1]),
        ("list_contains([], 1)", False),
        ("flatten([NULL, NULL])", []),
        ("[1] || NULL", None),
        ("CAST(NULL AS int64[]) || [1]", None),
        ("[1] + CAST(NULL AS int64[])", [1]),
        ("struct_position(NULL, 1)", None),
        ("struct_contains(row(row(NULL), [1, 2]), row(NULL))", True),
        ("row(NULL, 1) = row(NULL, 1)", True),
        ("struct_contains(row(1, NULL), NULL)", None),
        ("struct_position(row(1, NULL), NULL)", 2),
        ("struct_contains(row(CAST('nan' AS float64)), CAST('nan' AS float64))", True),
        ("list_fsum([1e300, 1, -1e300])", 0.0),
        ("list_fsum([CAST('inf' AS float64)])", float("inf")),
        ("flatten([[], [1], NULL])", [1]),
        ("[x[1:3:1] for x in [[1, 2]]]", [[1, 2]]),
    ],
)
def test_nulls_and_empty_lists_take_the_type_of_what_stands_beside_them(sql, expected):
    assert value(sql) == expected
