"""JSON in strings on every engine: parts by path, values of declared types, and values written as JSON."""

import pytest

from gpuetl import RunFailed, col, expr, json_object
from tables import table

TYPES = {
    "k": "int64",
    "j": "string",
    "p": "string",
    "l": "list<int64>",
    "s": "struct<x: int64, y: string>",
    "m": "map<string, int64>",
}
ROWS = [
    (1, '{"a": {"b": [1, "é\\u00e9", null]}, "n": 1.50}', "$.a.b[-2]", [1, None], {"x": 1, "y": "q\""}, [("a", 1), ("b", None)]),
    (2, None, "$", None, None, None),
    (3, "[ ]", "a", [], {"x": None, "y": None}, []),
    (None, ' {"a" : [{"b": -7}, {"c": "x"}], "n": "2"}', "/a/1/c", [None], {"x": -5, "y": ""}, [("\n", 3)]),
    (-2, '"x\\ty"', None, [7, 8], None, [("z", 0)]),
]  # fmt: skip
CASES = [
    ("j -> '$.a'", "string", ['{"b":[1,"éé",null]}', None, None, '[{"b":-7},{"c":"x"}]', None]),
    ("j ->> '$'", "string", ['{"a":{"b":[1,"éé",null]},"n":1.50}', None, "[]", '{"a":[{"b":-7},{"c":"x"}],"n":"2"}', "x\ty"]),
    ("json_type(j, '/a')", "string", ["OBJECT", None, None, "ARRAY", None]),
    ("json_keys(j)", "list<string>", [["a", "n"], None, [], ["a", "n"], []]),
    ("j ->> '$.a[*].b'", "list<string>", [[], None, [], ["-7"], []]),
    ("from_json(j, 'STRUCT(a STRUCT(b VARCHAR[]), n DECIMAL(5,2))').a.b[2]", "string", ["éé", None, None, None, None]),
    ("from_json(j -> '$.a', 'STRUCT(b INT)[]')", "list<struct<b: int32>>", [None, None, None, [{"b": -7}, {"b": None}], None]),
    ("try_from_json(substring(j, 2), 'STRUCT(n BIGINT)')", "struct<n: int64>", [None, None, None, {"n": 2}, None]),
    ("j -> p", "string", ['"éé"', None, None, '"x"', None]),
    ("json_type(j, if(k = 1, '$', p))", "string", ["OBJECT", None, None, "VARCHAR", None]),
    ("j ->> ['n', '$.a[0].b']", "list<string>", [["1.50", None], None, [None, None], ["2", "-7"], [None, None]]),
    ("j -> '$..b'", "list<string>", [['[1,"éé",null]'], None, [], ["-7"], []]),
    ("json_set(j, p, k)", "string", ['{"a":{"b":[1,1,null]},"n":1.50}', None, "[]", None, None]),
    ("json_merge_patch(j, json_object('n', k, 'a', NULL))", "string", ['{"n":1}', '{"n":2,"a":null}', '{"n":3,"a":null}', '{}', '{"n":-2,"a":null}']),
    ("json_contains(j, '{\"b\": [1]}')", "bool", [True, None, False, False, False]),
    ("CAST(j AS json)", "string", [ROWS[0][1], None, "[ ]", ROWS[3][1], ROWS[4][1]]),
    ("json(j).a.b[-2] || TRY_CAST(p AS json)", "string", [None, None, None, None, None]),
    ("json(j).a['b'][1]", "string", ['"éé"', None, None, None, None]),
    ("to_json(l)", "string", ["[1,null]", None, "[]", "[null]", "[7,8]"]),
    ("to_json(s)", "string", ['{"x":1,"y":"q\\""}', None, '{"x":null,"y":null}', '{"x":-5,"y":""}', None]),
    ("to_json(m)", "string", ['{"a":1,"b":null}', None, "{}", '{"\\n":3}', '{"z":0}']),
    ("json_object('k', k, 'j', json(j), 't', j)", "string",
     ['{"k":1,"j":{"a":{"b":[1,"éé",null]},"n":1.50},"t":"{\\"a\\": {\\"b\\": [1, \\"é\\\\u00e9\\", null]}, \\"n\\": 1.50}"}', '{"k":2,"j":null,"t":null}',
      '{"k":3,"j":[],"t":"[ ]"}', '{"k":null,"j":{"a":[{"b":-7},{"c":"x"}],"n":"2"},"t":" {\\"a\\" : [{\\"b\\": -7}, {\\"c\\": \\"x\\"}], \\"n\\": \\"2\\"}"}', '{"k":-2,"j":"x\\ty","t":"\\"x\\\\ty\\""}']),
    ("json_array(k, k > 1, CAST(k AS float64) / 4)", "string", ["[1,false,0.25]", "[2,true,0.5]", "[3,true,0.75]", "[null,null,null]", "[-2,false,-0.5]"]),
    ("CASE WHEN k > 0 THEN to_json(l) ELSE j -> '$' END", "string", ["[1,null]", None, "[]", '{"a":[{"b":-7},{"c":"x"}],"n":"2"}', '"x\\ty"']),
]  # fmt: skip


@pytest.fixture
def t(source):
    return source(table(TYPES, *ROWS))


def test_json_in_strings(t, check):
    columns = {f"c{place}": expr(sql) for place, (sql, _, _) in enumerate(CASES)}
    types = {f"c{place}": dtype for place, (_, dtype, _) in enumerate(CASES)}
    check(t.select(**columns), table(types, *zip(*(found for _, _, found in CASES), strict=True)), ordered=True)


def test_json_in_python(t, check):
    columns = {
        "made": json_object(k=col("k"), l=col("l")),
        "part": col("j").json_extract_string("$.n"),
        "each": col("j").json_extract(["n", "$[0]"]),
        "own": col("j").json_extract(col("p")),
    }
    wanted = [('{"k":1,"l":[1,null]}', "1.50", ["1.50", None], '"éé"'), ('{"k":3,"l":[]}', None, [None, None], None)]
    check(
        t.filter(col("k").is_in([1, 3])).select(**columns),
        table({"made": "string", "part": "string", "each": "list<string>", "own": "string"}, *wanted),
        ordered=True,
    )


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("json_keys(j || '}')", "not JSON"), ("json_keys(CAST(k AS string) || ']')", "not JSON"), ("json(j) ->> if(k = 1, '$.', p)", r"\$\.: not a path of one value"), ("json_exists(j, if(k = 1, '$.*', p))", "not a path of one value"),
    ],
)  # fmt: skip
def test_a_row_without_a_result_is_named(t, sql, message):
    with pytest.raises(RunFailed, match=message) as failed:
        t.select(out=expr(sql)).collect()
    assert "row 0" in str(failed.value) or "Row 1" in str(failed.value)
