"""JSON in strings: what is JSON, paths, values written anew, values of declared types; pandas, kernels and DuckDB."""

import json
import random
import re

import duckdb
import pyarrow as pa
import pytest

from expressions.evaluation import table, typed, value, values
from gpu_engine.differential import computed
from gpu_engine.host_machine import COMPILER
from gpuetl.engines.no_result import NoResult
from gpuetl.errors import InvalidExpression
from gpuetl.expressions.json_path import parse_path
from gpuetl.types.data_types import STRING

GOOD = (
    "null", "true", "false", "0", "-0", "-0.0", "1e5", "1E+5", "-1.5e-3", "123456789012345678901234567890", "1e999", '""', '"a"', '"\\u00e9\\/"', '"\\ud83d\\ude00"',
    '"\u2028\x7f"', '"\\u0000"', "[]", "{}", " [ 1 , 2 ] ", "\t{\n\"a\"\r:1}", '{"a":1,"a":2}', '{"":{}}', "[[],[[]]]", '["\\"]", "["]', '"\\\\"', "[" * 256 + "]" * 256,
)  # fmt: skip
BAD = (
    "", " ", "nul", "True", "NaN", "Infinity", "-Infinity", "-", "+1", "01", "-01", "1.", ".5", "1.e1", "1e", "1e+", "0x1", "1 2", "a", "'a'", '"', '"a', '"\\"', '"\\x"', '"\\u12"', '"\\u12g4"',
    '"\\ud800"', '"\\udc00"', '"\\ud800\\u0041"', '"\\ud800\\ud800"', '"a\nb"', '"\t"', '"\x00"', "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1,,2]", "{", "}", '{"a"', '{"a":', '{"a":1', '{"a":1,}', "{a:1}",
    "{1:1}", '{"a" 1}', '{"a":1 "b":2}', '{,"a":1}', "[}", "{]", "[1}", '{"a":1]', "[] []", "// c\n1", "/**/1", "\ufeff1", "\u00a01", "1\f", "[" * 257 + "]" * 257, "\u0661", "nullx", "[-]", "[1a]",
)  # fmt: skip


def test_what_is_json():
    got = values("json_valid(x)", table(x=("string", [*GOOD, *BAD, None])))
    assert got == [True] * len(GOOD) + [False] * len(BAD) + [None]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$", '{"a.b":{"c":[1,2.50,"x"]},"d\\"e":null,"0":[true],"":"e"}'), ("", '{"a.b":{"c":[1,2.50,"x"]},"d\\"e":null,"0":[true],"":"e"}'), ('$."a.b".c[0]', "1"), ('$."a.b".c[1]', "2.50"),
        ('$."a.b".c[-1]', '"x"'), ('$."a.b".c[#-3]', "1"), ('$."a.b".c[3]', None), ('$."a.b".c[-4]', None), ("a.b", '{"c":[1,2.50,"x"]}'), ("/a.b/c/2", '"x"'), ("/a.b/c/02", None), ("/0/0", "true"), ("/0/-1", None),
        ('$."d\\"e"', "null"), ('$.d"e', "null"), ("/", '"e"'), ('$.""', '"e"'), ("$.0", "[true]"), ("$[0]", None), ("$.0[#]", None), ('$."a.b\\u"', None), ("$.a", None), ("$.d.e", None),
    ],
)  # fmt: skip
def test_paths(path, expected):
    text = '{"a.b": {"c": [1, 2.50, "x"]}, "d\\u0022e": null, "0": [true], "": "e", "0": 2}'
    expected = (
        expected.replace(',"":"e"}', ',"":"e","0":2}') if expected and expected.startswith('{"a.b"') else expected
    )
    assert values(f"json_extract(x, '{path}')", table(x=("string", [text, None, "5"]))) == [
        expected,
        None,
        "5" if path in ("", "$") else None,
    ]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("$.", "near '.'"), ("$a", "near 'a'"), ("$.a.", "near '.'"), ("$.a[", "near '['"), ("$[a]", "near '[a]'"), ("$[#1]", "near '[#1]'"), ("$[#-0]", "no element"), ("$**.a", "near '**.a'"), ("$..", "near '..'"),
        ("$...a", "near '...a'"), ("$.**a", "near '.**a'"), ("/a~2", "a path with '~2'"), ('$."a', "near"), ("$[1234567890123456789]", "near '[123"),
    ],
)  # fmt: skip
def test_paths_that_are_refused(path, message):
    with pytest.raises(InvalidExpression, match=re.escape(message)):
        typed(f"json_extract(x, '{path}')", {"x": STRING})
    assert parse_path("$.a") != parse_path("$.b")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("'{\"a\": {\"b\": 5}}' -> '$.a' -> 'b'", "5"), ("'{\"a\": \"5\"}' ->> 'a' = '5'", True), ("'[1, \"x\"]' ->> 1", "x"), ("'[1, 2]' -> -1", "2"), ("('{\"a\":' || '1}') -> 'a'", "1"),
        ("'{\"a\": 1}' ->> 'a' || 'x'", "1x"), ("CAST('{\"a\": \"7\"}' ->> 'a' AS int64) + 1", 8), ("'{\"a\": null}' ->> 'a'", None), ("'{\"a\": null}' -> 'a'", "null"), ("'[\"\\u00e9\\n\"]' ->> 0", "é\n"),
        ("'{\"a\": [{\"b\": 1}, {\"b\": null}, {}, 3]}' -> '$.a[*].b'", ["1", "null"]), ("'{\"a\": [{\"b\": \"1\"}, {\"b\": null}]}' ->> '$.a[*].b'", ["1", None]), ("'{\"a\": [1]}' -> '$.b[*]'", []), ("'{\"a\": [1], \"b\": \"x\"}' ->> '$.*'", ["[1]", "x"]),
        ("'{\"a\": [[1, 2], [3]], \"b\": {\"a\": 4}}' -> '$.a[*][*]'", ["1", "2", "3"]), ("'{\"a\": [[1, 2], [3]], \"b\": {\"a\": 4}}' -> '$..a'", ["[[1,2],[3]]", "4"]), ("'{\"a\": [[1], \"x\"]}' ->> '$.**'", ['[[1],"x"]', "[1]", "x", "1"]), ("'[[{\"a\": 1}], 2]' -> '$..[0]'", ['[{"a":1}]', '{"a":1}']), ("'5' -> '$.**'", []),
        ("json_value('[1, [2], \"x\"]', '$[*]')", ["1", None, '"x"']), ("json_keys('[{\"a\": 1}, 2]', '$[*]')", [["a"], []]), ("json_type('[1, null]', ['$[0]', '$[1]', '$[2]'])", ["UBIGINT", "NULL", None]), ("'{\"a\": 1}' ->> ['a', '/b', '$']", ["1", None, '{"a":1}']), ("json_extract(NULL, ['$.a'])", None), ("json_extract('[1]', NULL)", None),
        ("to_json('[{\"a\": 1}, \"x\"]' -> '$[*]')", '[{"a":1},"x"]'), ("to_json('{\"a\": [1]}' -> ['a', 'b'])", "[[1],null]"), ("json_array('[1]' -> '$[*]')", "[[1]]"),
        ("list_transform([0, -1], lambda i: json_extract('[1, 2, 3]', i))", ["1", "3"]),
        ("json_extract(NULL, '$.a[*]')", None), ("json_value('{\"a\": \"x\"}', '$.a')", '"x"'), ("json_value('[[1]]', 0)", None), ("json_value('null', '$')", None),
        ("json_type('-1')", "BIGINT"), ("json_type('-0')", "BIGINT"), ("json_type('18446744073709551615')", "UBIGINT"), ("json_type('18446744073709551616')", "DOUBLE"), ("json_type('-9223372036854775809')", "DOUBLE"), ("json_type('1.0')", "DOUBLE"),
        ("json_type('{\"a\": \"\"}', '$.a')", "VARCHAR"), ("json_type('{}', '$.a')", None), ("json_type('null')", "NULL"), ("json_array_length('{}')", 0), ("json_array_length('{}', '$.a')", None), ("json_keys('{\"a\\u0041\": 1, \"b\": 2, \"b\": 3}')", ["aA", "b", "b"]), ("json_keys('[1]')", []), ("json_keys('{}', '$.a')", None),
        ("json_exists('[1]', '$[0]')", True), ("json_exists('[1]', '$[1]')", False), ("json(' [ 1 , \"\\u0041\\/\\u001f\" ] ')", '[1,"A/\\u001F"]'),
        ("to_json('a\"\\' || chr(1) || chr(9) || 'é/')", '"a\\"\\\\\\u0001\\té/"'), ("to_json(1.50)", "1.5"), ("to_json(CAST('1.50' AS decimal(5,2)))", "1.50"), ("to_json(CAST('0.1' AS float32))", "0.10000000149011612"), ("to_json(-0.0)", "-0.0"), ("to_json(DATE '2026-01-02')", '"2026-01-02"'),
        ("to_json([struct_pack(a := [1, NULL], b := 'x')])", '[{"a":[1,null],"b":"x"}]'), ("to_json([])", "[]"), ("to_json(NULL)", None), ("json_array(json('[1, 2]'), '[1]')", '[[1,2],"[1]"]'), ("json_object('a\"', '{\"x\": 1}' -> 'x', 'b', true)", '{"a\\"":1,"b":true}'), ("array_to_json([1])", "[1]"),
        ("from_json('{\"a\": \"1\", \"b\": [\"x\", 5, null]}', 'STRUCT(a BIGINT, b VARCHAR[])')", {"a": 1, "b": ["x", "5", None]}), ("from_json('{\"a\": \"x\", \"b\": 3}', 'struct<a: int64, b: list<string>>')", {"a": None, "b": None}), ("from_json('{\"a\": 1.0, \"b\": 1e3, \"c\": 1.5}', '{\"a\": \"BIGINT\", \"b\": \"INT\", \"c\": \"BIGINT\"}')", {"a": 1, "b": 1000, "c": None}),
        ("from_json('[1]', 'STRUCT(a INT)')", {"a": None}), ("from_json('null', 'STRUCT(a INT)')", None), ("from_json('[[1], [2, null], null, 4]', 'BIGINT[][]')", [[1], [2, None], None, None]), ("from_json('[{\"a\": [{\"b\": 1}]}, null]', 'STRUCT(a STRUCT(b INT)[])[]')", [{"a": [{"b": 1}]}, None]),
        ("from_json('{\"a b\": \"2026-01-02\", \"c\": true}', 'STRUCT(\"a b\" VARCHAR, c BOOLEAN)')", {"a b": "2026-01-02", "c": True}), ("try_from_json('[1', 'INT[]')", None), ("json_transform('[1]', 'INT[]')", [1]), ("from_json(NULL, 'INT[]')", None),
    ],
)  # fmt: skip
def test_values(sql, expected):
    assert value(sql) == expected


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("'x' || x ->> 'a'", "languages differ"), ("x ->> 'a' + 1", "languages differ"), ("x ->> 'a'::int64", "languages differ"), ("-x ->> 'a'", "languages differ"), ("list_transform(split(x, ','), e -> e || 'a')", "lambda e: "), ("json_extract(x, ['$[*]'])", "one value"), ("json_extract(x, [x])", "list of constant paths"), ("json_type(x, ['$', NULL])", "list of constant paths"), ("json_keys(x, [])", "takes a path"),
        ("json_extract(1, 'a')", "takes string"), ("json_extract(x, 1.5)", "takes a path"), ("json_object('a', 1, 'b')", "names with values"), ("json_object('a', 1, x, 1)", "names that are constants"), ("to_json(encode(x))", "cannot write binary"), ("from_json(x, 'INT[')", "unknown type"), ("from_json(x, '{\"a\": 1}')", "not the structure"),
        ("from_json(x, '{\"a\"')", "is not JSON"), ("from_json(x, 'STRUCT(a INT, a INT)')", "a field twice"), ("from_json(x, 'map<string, int64>')", "cannot read map"), ("from_json(x, x)", "constant"), ("get_json_object(x, 'a')", "json_extract_string"),
    ],
)  # fmt: skip
def test_expressions_that_are_refused(sql, message):
    with pytest.raises(InvalidExpression) as caught:
        typed(sql, {"x": STRING})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("x -> 'a'", "row 1, for {\"a, a: not JSON"), ("json_keys(x)", "not JSON"), ("json_type(x)", "not JSON"), ("from_json(x, 'STRUCT(a INT)')", "not JSON"), ("json(x)", "not JSON"), ("to_json(CAST(length(x) AS float64) / 0)", "JSON has no NaN and no infinities"), ("json_array(x, ln(0 - length(x)))", "JSON has no NaN"),
    ],
)  # fmt: skip
def test_values_without_a_result(sql, message):
    with pytest.raises(NoResult) as caught:
        values(sql, table(x=("string", ["{}", '{"a'])))
    assert message in str(caught.value)


# Documents at random.


def drawn(draws: random.Random, depth: int) -> str:
    """Return JSON with blanks and escapes here and there, and numbers as DuckDB writes them."""
    blank = draws.choice(["", "", " ", "\n\t "])
    kind = draws.randrange(9 if depth else 6)
    if kind > 5:
        keys, inside = draws.choice([False, True]), []
        for _ in range(draws.randrange(4)):
            key = draws.choice(['"a":', '"b" :', '"\\u0061b": ', '"":'])
            inside.append(f"{key if keys else ''}{drawn(draws, depth - 1)}")
        return blank + ("{%s}" if keys else "[%s]") % ",".join(inside) + blank
    text = draws.choice(['"x"', '"é\\n"', '"\\u0041\\/\\u0001"', '"\\ud83d\\ude00 \\""', '""'])
    return blank + draws.choice(["null", "true", str(draws.randrange(-99, 99)), "1.5", text, text]) + blank


def broken(draws: random.Random, text: str) -> str:
    """Return a text with a character left out, doubled or replaced."""
    at = draws.randrange(len(text))
    return text[:at] + draws.choice(["", text[at] * 2, *'{}[]",:\\ 0-eé']) + text[at + 1 :]


OF_JSON = (
    "x -> '$'", "x -> '$.a'", "x ->> '$.a'", "x -> '$.b[0]'", "x ->> '$[#-1]'", "x -> '/ab/1'", "json_value(x, '$.a')", "json_type(x)", "json_type(x, '$.ab')", "json_exists(x, '$.a.a')", "json_array_length(x)",
    "json_array_length(x, '$.b')", "json_keys(x)", "json_keys(x, '$.a')", "x -> '$[*]'", "x ->> '$.a[*]'", "x -> '$.*'", "x -> '$[*].a'",
    "x -> '$.*.*'", "x -> '$..a'", "x -> '$.**'", "x ->> '$..[0]'", "x -> '$.**.*.b'", "x -> '$.a..b[*]'", "json_keys(x, '$.**')", "x -> ['$.a', '/ab/0', 'b']", "json_exists(x, ['$.a', '$[0]'])",
    "from_json(x, '{\"a\": \"VARCHAR\", \"b\": [\"VARCHAR\"], \"ab\": {\"a\": \"BIGINT\"}}')", "to_json(x)", "json_array(x, 1)", "json_object('a', x)",
)  # fmt: skip


def test_documents_as_duckdb_reads_them():
    draws = random.Random(5)
    frame = table(x=("string", [drawn(draws, 3) for _ in range(300)]))
    database = duckdb.connect()
    database.register("frame", frame)
    for sql in OF_JSON:
        whole_numbers = "BIGINT" in sql  # DuckDB rounds 1.5, and takes truth values for numbers
        rows = [row for (row,) in database.execute(f"SELECT {sql} FROM frame").fetchall()]
        got = values(sql, frame)
        assert without_numbers(got) == without_numbers(rows) if whole_numbers else got == rows, sql


def without_numbers(rows):
    return [row and {**row, "ab": row["ab"] and row["ab"]["a"] in (None, 0, 1, 2)} for row in rows]


def test_texts_that_are_nearly_json_as_python_and_duckdb_read_them():
    draws = random.Random(6)
    texts = [broken(draws, drawn(draws, 3)) for _ in range(1500)]
    found = duckdb.execute("SELECT json_valid(x) FROM (SELECT unnest(?) AS x)", [texts]).fetchall()
    for text, got, (ducks,) in zip(texts, values("json_valid(x)", table(x=("string", texts))), found, strict=True):
        assert got == (ducks and not re.search(r",\s*[\]}]", text)) == is_json(text), text


def is_json(text):
    try:
        read = json.loads(text, object_pairs_hook=list)
    except ValueError:
        return False
    return not re.search("[\ud800-\udfff]", json.dumps(read, ensure_ascii=False))  # half of a pair


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_kernels_read_and_write_json():
    draws = random.Random(7)
    texts = [drawn(draws, 3) for _ in range(150)]
    good = table(
        x=("string", [*GOOD, *texts, None]), f=("float64", [*FLOATS, *[0.0] * (len(GOOD) + 151 - len(FLOATS))])
    )
    all_texts = table(x=("string", [*GOOD, *BAD, *texts, *(broken(draws, text) for text in texts), None]))
    types = {"x": STRING, "f": pa.float64()}
    assert computed(typed("json_valid(x)", types), all_texts).to_pylist() == values("json_valid(x)", all_texts)
    for sql in (
        *OF_JSON[:14],
        *(OF_JSON[place] for place in (15, 21, 22, 25, 27)),
        "to_json(f)",
        "json_object('x', x, 'n', length(x), 'f', f, 'a', x -> '$.a', 'k', json_keys(x))",
    ):
        assert computed(typed(sql, types), good).to_pylist() == values(sql, good), sql


FLOATS = (
    0.0, -0.0, 1.0, -1.5, 1e20, 1e21, 123456789012345680000.0, 1234567890123456789012.0, 1e-6, 1e-7, 1.25e-6, -1.25e-7, 5e-324, 1.7976931348623157e308, 0.1, 100.0, 1e300, 9007199254740993.0,
)  # fmt: skip


def test_numbers_as_duckdb_writes_them():
    frame = table(f=("float64", FLOATS))
    assert values("to_json(f)", frame) == [
        duckdb.execute("SELECT to_json(?::DOUBLE)", [f]).fetchall()[0][0] for f in FLOATS
    ]


# Paths in columns.


PATHS = (
    "", "$", "$.a", "$.a[0]", "$[#-1]", "$[-1]", "$[0].a", "a", "ab", "é", "b", "/a", "/b/0", "/a/1", "/ab/-", "/a~1b", "/", "$.a.b", '$."a"', '$.""', '$."b"[1]', "$[#]", "$[00000]", "/00", "/0", "$.a[999999999999999999]",
    '$."a\\u"', '$."a\\"b"', "*", '"a"',
)  # fmt: skip
NO_PATHS = ("$.", "$a", "$.a.", "$[", "$[]", "$[a]", "$[1", "$[1x]", "$[#1]", "$[#-]", "$[#-0]", '$."a', '$."a\\"', "$.*", "$[*]", "$..a", "$.**", "$.a[*]", "$[1234567890123456789]", "$[--1]")  # fmt: skip
OF_PATHS = (
    "json_extract(x, p)", "x ->> p", "json_value(x, p)", "json_exists(x, p)", "json_type(x, p)", "json_array_length(x, p)", "json_keys(x, p)",
)  # fmt: skip
OF_PLACES = tuple(sql.replace("p)", "n)").replace(">> p", ">> n") for sql in OF_PATHS)


def rows_with_paths():
    draws = random.Random(8)
    texts = [drawn(draws, 3) for _ in range(40)]
    rows = [(text, path) for text in ('{"a\\"b": 1, "é": [2], "*": 3, "a/b": {}, "$x": 4}', *texts) for path in PATHS]
    return table(
        x=("string", [*(text for text, _ in rows), None, "[1]"]), p=("string", [*(path for _, path in rows), "$", None]), n=("int64", [draws.randrange(-3, 3) for _ in rows] + [0, None])
    )  # fmt: skip


def test_paths_in_columns_as_duckdb_reads_them():
    frame = rows_with_paths()
    database = duckdb.connect()
    database.register("frame", frame)
    for sql in (*OF_PATHS, *(sql for sql in OF_PLACES if sql[5:8] in ("ext", "val"))):
        path = """(CASE p WHEN '$.""' THEN '/' ELSE p END)"""  # DuckDB has no empty key in $.…
        safe = sql.replace("p)", f"{path})").replace(">> p", f">> {path}")
        rows = [row for (row,) in database.execute(f"SELECT {safe} FROM frame").fetchall()]
        assert values(sql, frame) == rows, sql


def test_paths_in_columns_that_are_none():
    for path in NO_PATHS:
        for sql in ("x ->> p", "json_exists(x, p)"):
            with pytest.raises(NoResult, match=re.escape(f"row 1, for [], {path}: not a path of one value")):
                values(sql, table(x=("string", ["[]", "[]"]), p=("string", ["$", path])))
        assert values("x ->> p", table(x=("string", [None]), p=("string", [path]))) == [None]


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_kernels_read_paths_in_columns():
    frame = rows_with_paths()
    types = {"x": STRING, "p": STRING, "n": pa.int64()}
    for sql in ("json_extract(x, p)", "json_exists(x, p)", "json_type(x, n)"):
        assert computed(typed(sql, types), frame).to_pylist() == values(sql, frame), sql
    with pytest.raises(NoResult, match="row 2, for"):
        computed(
            typed("x ->> p", types),
            table(x=("string", ["[]"] * 3), p=("string", ["$", "/", "/~"]), n=("int64", [0] * 3)),
        )
    for path in (*PATHS, *NO_PATHS):
        row = table(x=("string", ["[]"]), p=("string", [path]), n=("int64", [0]))
        if path in NO_PATHS:
            with pytest.raises(NoResult, match="not a path"):
                computed(typed("json_exists(x, p)", types), row)
        else:
            assert computed(typed("json_exists(x, p)", types), row).to_pylist() == values("json_exists(x, p)", row)
