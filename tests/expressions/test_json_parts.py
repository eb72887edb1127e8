"""CAST to JSON, and parts of JSON by dots and brackets: where a call gives JSON, as DuckDB reads them."""

import duckdb
import pyarrow as pa
import pytest

from expressions.evaluation import table, typed, value, values
from gpuetl import col
from gpuetl.engines.no_result import NoResult
from gpuetl.errors import InvalidExpression
from gpuetl.expressions.unparse import to_sql
from gpuetl.types.data_types import STRING

DOCUMENT = """'{"a": {"b": [5, "x"]}, "c.d": null, "*": 1}'"""


@pytest.mark.parametrize(
    "sql",
    [
        "CAST(' {\"a\" : 1} ' AS JSON)", "' [ 1]'::json", "CAST(5 AS JSON)", "CAST([1, NULL] AS JSON)", "CAST({'a': 'x'} AS JSON)", "CAST(NULL AS JSON)", "CAST(DATE '2026-01-02' AS JSON)", "CAST(1.5 AS JSON)", "CAST(true AS JSON)", "TRY_CAST('x' AS JSON)", "TRY_CAST(' [1]' AS JSON)", "TRY_CAST([1] AS JSON)",
        "to_json(CAST('{\"a\" : 1}' AS JSON))", "json_array(TRY_CAST('[ 1]' AS JSON), '[ 1]')", "to_json([CAST('[ 1]' AS JSON)])", "to_json({'a': json('[ 1]'), 'b': {'c': CAST('[ 1]' AS JSON), 'd': '[ 1]'}})", "length(CAST('\"a\"' AS JSON))", "CAST(CAST('\"a\"' AS JSON) AS VARCHAR)", "CAST(CAST('[1, 2]' AS JSON) AS INT[])", "CAST(json('{\"a\": 1}') AS STRUCT(a INT))",
        f"json({DOCUMENT}).a", f"json({DOCUMENT}).a.b", f"json({DOCUMENT}).a.b[0]", f"json({DOCUMENT})['a']['b'][-1]", f'json({DOCUMENT})."c.d"', f"json({DOCUMENT}).x.y", f"({DOCUMENT}::json).a.b[1]", f"({DOCUMENT} -> 'a').b[2]", f"({DOCUMENT} -> '$.a.b')[0]", f"json({DOCUMENT})['*']", f"json({DOCUMENT})['$.a']",
        f"json({DOCUMENT})['/a']", "json('[null]').\"0\"", "json_object('a', 5).a", "json_array(5)[0]", "to_json({'a': 5}).a", "json_set('{}', 'a', '[7]').a[0]", "('[[7]]' -> '$[*]')[1]", "('{\"a\": \"xy\"}' ->> 'a')[1]", f"to_json(json({DOCUMENT}).a)", f"json({DOCUMENT}).a.b[1] || 'y'", f"json_array_length(json({DOCUMENT}).a.b)",
    ],
)  # fmt: skip
def test_casts_and_parts_as_duckdb_has_them(sql):
    assert value(sql) == duckdb.execute(f"SELECT {sql}").fetchall()[0][0]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("x.a", "takes a field of a struct"), ("json(x)['0']", "a key or a place"), ("json(x)[x]", "gives JSON in a string"), ("CAST(encode(x) AS json)", "cannot write binary"), ("TRY_CAST(CAST(length(x) AS float64) AS json)", "takes no floats"), ("CAST(json(x) AS list<string>)", "from_json"), ("CAST(x AS json[])", "unknown type"),
        ("CAST(CAST(x AS json) AS struct<a: string>)", "from_json"), ("TRY_CAST(json(x) AS list<int64>)", "TRY_CAST does not read JSON"),
    ],
)  # fmt: skip
def test_expressions_that_are_refused(sql, message):
    with pytest.raises(InvalidExpression) as caught:
        typed(sql, {"x": STRING})
    assert message in str(caught.value)


def test_strings_that_are_not_json():
    frame = table(x=("string", ["[]", None, "nope"]))
    with pytest.raises(NoResult, match=r"CAST\(x AS json\) has no result in row 2, for nope: not JSON"):
        values("CAST(x AS json)", frame)
    assert values("TRY_CAST(x AS json)", frame) == ["[]", None, None]
    assert values("CAST(x = '[]' AS json)", frame) == ["true", None, "false"]


def test_casts_are_written_as_they_are_read():
    for text in ("CAST(x AS json)", "TRY_CAST(x AS json)"):
        assert to_sql(typed(text, {"x": STRING})) == text
    assert to_sql(col("x").cast("json").syntax) == "CAST(x AS json)"
    assert to_sql(col("x").try_cast("JSON").syntax) == "TRY_CAST(x AS json)"
    assert to_sql(typed("CAST(x AS json)", {"x": pa.int64()})) == "to_json(x)"
