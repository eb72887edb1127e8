"""JSON that is changed: values at paths, patches, merges, order of members and what contains what; pandas, kernels and DuckDB."""

import json
import random
import re

import duckdb
import pytest

from expressions.evaluation import table, typed, value, values
from expressions.test_json import drawn
from gpu_engine.differential import computed
from gpu_engine.host_machine import COMPILER
from gpuetl.engines.no_result import NoResult
from gpuetl.errors import InvalidExpression
from gpuetl.types.data_types import STRING


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("json_set('{\"a\": 1, \"b\": [ ]}', '$.a', '\"x\"')", '{"a":"x","b":[]}'), ("json_set('{\"a\": 1}', '$.b.c[0].d', '2')", '{"a":1,"b":{"c":[{"d":2}]}}'), ("json_set('{\"a\": 1}', '$.a.c', '2')", '{"a":1}'), ("json_set('{}', '$.b[1]', '2')", "{}"),
        ("json_set('{\"b\": 0, \"a\": 1, \"c\": 0, \"a\": 2}', '$.a', '5')", '{"b":0,"a":5,"c":0}'), ("json_set('{\"a\": {\"x\": 1}, \"a\": {\"x\": 2}}', '$.a.x', '5')", '{"a":{"x":5},"a":{"x":2}}'), ("json_set('[1, 2]', '$[2]', '5')", "[1,2,5]"), ("json_set('[1, 2]', '$[3]', '5')", "[1,2]"),
        ("json_set('[1, 2]', '$[#]', '5')", "[1,2,5]"), ("json_set('[1, 2]', '$[#-2]', '5')", "[5,2]"), ("json_set('[1, 2]', '$[-3]', '5')", "[1,2]"), ("json_set('{\"a\": [1]}', '/a/-', '5')", '{"a":[1,5]}'), ("json_set('{\"a\": [1]}', '/a/1/x', '5')", '{"a":[1,{"x":5}]}'), ("json_set('{}', '/b/0', '5')", '{"b":{"0":5}}'),
        ("json_set('{}', 'a.\"b\\', '5')", '{"a.\\"b\\\\":5}'), ("json_set('{}', '/a~1b', '5')", '{"a/b":5}'), ("json_set('1', '$', '[2]')", "[2]"), ("json_set('1', '', '[2]')", "[2]"), ("json_set('null', '$.a', '2')", "null"), ("json_set('{}', '$.a', NULL)", None), ("json_set('{}', NULL, '1')", None), ("json_set(NULL, '$.a', '1')", None),
        ("json_set('{}', '$.a', [1, NULL])", '{"a":[1,null]}'), ("json_set('{}', '$.a', 1.50)", '{"a":1.5}'), ("json_set('{}', '$.a', DATE '2026-01-02')", '{"a":"2026-01-02"}'), ("json_set('{}', '$.a', to_json('x'))", '{"a":"x"}'), ("json_set({'b': 1}, '$.a', '[1]' -> 0)", '{"b":1,"a":1}'),
        ("json_insert('{\"a\": null}', '$.a', '5')", '{"a":null}'), ("json_insert('{}', '$.b[0][0]', '5')", '{"b":[[5]]}'), ("json_insert('[1, 2]', '/2', '5')", "[1,2,5]"), ("json_insert('1', '$', '5')", "1"), ("json_replace('{\"a\": [1, 2]}', '$.a[1]', '{ }')", '{"a":[1,{}]}'), ("json_replace('{}', '$.a', '1')", "{}"), ("json_replace('[1]', '$[#]', '1')", "[1]"), ("json_replace('[1]', '$', '2')", "2"),
        ("json_remove('{\"b\": 0, \"a\": 1, \"c\": 0, \"a\": 2}', '$.a')", '{"b":0,"c":0}'), ("json_remove('[1, \"x\", 3]', '$[1]')", "[1,3]"), ("json_remove('[1]', '0')", "[1]"), ("json_remove('[1]', '$')", None), ("json_remove('{}', '')", None), ("json_remove('{\"a\": {\"b\": 1}}', '/a/b')", '{"a":{}}'), ("json_remove('[1, 2]', '/-')", "[1,2]"),
        ("json_merge_patch('{\"a\": 1, \"c\": {\"x\": 1}}', '{\"b\": {\"c\": null, \"d\": 1}, \"c\": {\"x\": null, \"y\": 2}}')", '{"a":1,"b":{"d":1},"c":{"y":2}}'), ("json_merge_patch('{\"a\": 1}', '[1]')", "[1]"), ("json_merge_patch('[1]', '{\"b\": null}')", '{"b":null}'), ("json_merge_patch(NULL, '{\"a\" :1}')", '{"a":1}'), ("json_merge_patch('{\"a\": 1}', NULL)", None),
        ("json_merge_patch('{\"a\": 1}', NULL, '{ }')", "{}"), ("json_merge_patch('{\"a\": 1}', '{\"b\": 2}', '{\"a\": 3}')", '{"b":2,"a":3}'), ("json_merge_patch({'a': 1}, {'b': [1]})", '{"a":1,"b":[1]}'), ("json_merge_patch('{\"a\\u0041\": 1}', '{\"aA\": 2}')", '{"aA":2}'),
        ("json_deep_merge('{\"a\": {\"b\": 1}, \"c\": [1]}', '{\"a\": {\"b\": null, \"d\": 2}, \"c\": null, \"e\": {\"f\": null}}')", '{"c":[1],"a":{"b":1,"d":2},"e":{"f":null}}'), ("json_deep_merge('{\"a\": 1}', 'null')", '{"a":1}'), ("json_deep_merge('1', '{\"a\": null}')", '{"a":null}'), ("json_deep_merge('{}', NULL)", None), ("json_deep_merge(NULL, '1')", "1"),
        ("json_merge_patch_diff('{\"a\": {\"b\": 1, \"c\": [{\"x\": 1, \"y\": 2}]}}', '{\"a\": {\"c\": [{\"y\": 2, \"x\": 1.0}], \"d\": 1}}')", '{"a":{"b":null,"c":[{"y":2,"x":1.0}],"d":1}}'), ("json_merge_patch_diff('{\"a\": [{\"x\": 1.5e1, \"y\": \"\\u0041\"}]}', '{\"a\": [{\"y\": \"A\", \"x\": 15.0}]}')", "{}"), ("json_merge_patch_diff('1', '1')", "1"), ("json_merge_patch_diff(NULL, '[ 1]')", "[1]"), ("json_merge_patch_diff('{}', NULL)", None),
        ("json_strip_nulls('{\"a\": null, \"b\": [null, {\"c\" : null}], \"d\": {\"e\": null}, \"\": \"null\"}')", '{"b":[null,{}],"d":{},"":"null"}'), ("json_strip_nulls(' null')", "null"), ("json_strip_nulls('[]')", "[]"), ("json_strip_nulls(NULL)", None),
        ("json_normalize('{\"b\": 1, \"a\": {\"d\": 1, \"c\": [{\"z\": 1, \"y\": 2}]}, \"a\": 0, \"\\u00e9\": 2, \"\": 3, \"aa\": [[]]}')", '{"":3,"a":{"c":[{"y":2,"z":1}],"d":1},"a":0,"aa":[[]],"b":1,"é":2}'), ("json_normalize('1.50')", "1.50"),
        ("json_contains('{\"a\": [1, {\"b\": 2, \"c\": 3}]}', '[{\"b\": 2}]')", True), ("json_contains('[[1, 2], [3]]', '[[2], [3], [1]]')", True), ("json_contains('[[1, 2], [3]]', '[[2, 3]]')", False), ("json_contains('[1.0, 2]', '1.00')", True), ("json_contains('[1.0, 2]', '1')", False), ("json_contains('[0]', '-0')", True), ("json_contains('[0.0]', '-0.0')", False),
        ("json_contains('[1e400, 1e2, 100000000000000000000]', '[100.0, 1e400, 100000000000000000000]')", True), ("json_contains('[1e400]', '1e401')", False), ("json_contains('{\"a\": \"\\u0041\"}', '\"A\"')", True), ("json_contains('{\"a\": {}}', '[]')", False), ("json_contains('[[]]', '{}')", False), ("json_contains('[null]', 'null')", True), ("json_contains('[true]', 'false')", False),
        ("json_contains('{\"a\": [{\"b\": [1]}, {\"b\": [1, 2], \"c\": 0}]}', '{\"a\": [{\"c\": 0, \"b\": [2]}, {\"b\": [1]}]}')", True), ("json_contains('[1, 2]', 2)", True), ("json_contains([1, 2], [2])", True), ("json_contains('[1]', NULL)", None),
        ("to_json([json_set('{}', 'a', '1')])", '[{"a":1}]'), ("to_json(json_normalize('{}'))", '"{}"'), ("json_array(json_strip_nulls('[ 1]'))", "[[1]]"),
    ],
)  # fmt: skip
def test_values(sql, expected):
    assert value(sql) == expected


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("json_set(x, '$.*', '1')", "the path of one value"), ("json_remove(x, '$..a')", "the path of one value"), ("json_remove(x, '$.')", "near '.'"), ("json_remove(x, 0)", "takes a path"), ("json_remove(x, '$[-0]')", "no element at '[-0]'"), ("json_set(x, ['$.a'], '1')", "takes a path"),
        ("json_set(x, 'a', encode(x))", "cannot write binary"), ("json_merge_patch(x)", "1 argument"), ("json_contains(x, '1', '2')", "3 arguments"),
    ],
)  # fmt: skip
def test_expressions_that_are_refused(sql, message):
    with pytest.raises(InvalidExpression) as caught:
        typed(sql, {"x": STRING})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("json_set(x, p, '1')", "for {}, $[-0], 1: not a path of one value"), ("json_remove(x, p)", "row 1, for {}, $[-0]: not a path"), ("json_set('{}', 'a', y)", "row 1, for {}, a, bob: not JSON"), ("json_merge_patch(y, NULL)", "not JSON"), ("json_contains(y, '1')", "not JSON"), ("json_normalize(y)", "not JSON"),
        ("json_set(x, 'a', CAST(length(y) AS float64) / 0)", "JSON has no NaN"),
    ],
)  # fmt: skip
def test_values_without_a_result(sql, message):
    frame = table(x=("string", ["[]", "{}"]), p=("string", ["$", "$[-0]"]), y=("string", ["1", "bob"]))
    with pytest.raises(NoResult, match=re.escape(message)):
        values(sql, frame)


# Documents at random.


PATHS = (
    "$", "", "a", "b", "$.a", "$.b", "$.ab", "$.a.b", "$.a[0]", "$[0]", "$[1]", "$[#]", "$[#-1]", "$[-2]", "$.a.x[0].y", "$.q[#].z", "$.b[1]", "/a", "/a/0", "/a/-", "/-", "/0", "/1", "/b/x/y", "/", "/2/a", "$.a[#].b",
    "$[2]", "$.z[1]", "$.z[-1]", "/a/0/0/0", '$."a\\"b\\u"', "a\nb", "/a~1b",
)  # fmt: skip
EDITS = (
    "json_set(x, p, y)", "json_insert(x, p, y)", "json_replace(x, p, y)", "json_remove(x, p)", "json_set(x, '$.a.b[0].c', y)", "json_remove(x, '$[#-1]')", "json_merge_patch(x, y)", "json_deep_merge(x, y)", "json_merge_patch_diff(x, y)", "json_strip_nulls(x)", "json_normalize(x)",
    "json_contains(x, y)", "json_contains(x, z)", "json_merge_patch_diff(x, json_normalize(json_set(x, p, y)))",
)  # fmt: skip


def part_of(draws: random.Random, found):
    """Return a value in a value, with members and elements left out and in another order."""
    while isinstance(found, list | dict) and found and draws.random() < 0.4:
        found = draws.choice(list(found.values()) if isinstance(found, dict) else found)
    if isinstance(found, dict):
        return {key: part_of(draws, inner) for key, inner in found.items() if draws.random() < 0.7}
    if isinstance(found, list):
        return [part_of(draws, inner) for inner in draws.sample(found, draws.randrange(len(found) + 1))]
    return found


def documents(seed: int, count: int):
    draws = random.Random(seed)
    texts = [drawn(draws, 3) for _ in range(count)]
    return table(
        x=("string", [*texts, None, "1"]), y=("string", [*(drawn(draws, 3) for _ in texts), "1", None]),
        z=("string", [*(json.dumps(part_of(draws, json.loads(text))) for text in texts), None, None]),
        p=("string", [*(draws.choice(PATHS) for _ in texts), "$.a", None]),
    )  # fmt: skip


def test_documents_as_duckdb_changes_them():
    frame = documents(11, 500)
    database = duckdb.connect()
    database.register("frame", frame)
    for sql in EDITS[:-1]:  # DuckDB tells objects in arrays apart by keys that stand twice
        rows = [row for (row,) in database.execute(f"SELECT {sql} FROM frame").fetchall()]
        assert values(sql, frame) == rows, sql
    assert sum(map(bool, values("json_contains(x, z)", frame))) > 150


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
@pytest.mark.parametrize(
    "sql", [pytest.param(sql, marks=[] if place in (0, 8, 12) else pytest.mark.full(reason="each takes a compilation; the examples run all functions")) for place, sql in enumerate(EDITS)],
)  # fmt: skip
def test_kernels_change_json(sql):
    frame = documents(12, 400)
    assert computed(typed(sql, dict.fromkeys("xyzp", STRING)), frame).to_pylist() == values(sql, frame)
