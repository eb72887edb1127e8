"""The code of an error in an expression comes through parsing and typing, whoever words it."""

import pyarrow as pa
import pytest

from gpuetl.errors import InvalidExpression
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import AGGREGATES, WINDOWS, Scope
from gpuetl.messages import code_of

COLUMNS = {
    "i": pa.int64(), "x": pa.float64(), "s": pa.string(), "b": pa.bool_(), "d": pa.date32(), "t": pa.timestamp("us"),
    "z": pa.timestamp("us", tz="UTC"), "n": pa.decimal128(38, 20), "l": pa.list_(pa.string()),
}  # fmt: skip


def code(text, kinds=("scalar",)):
    with pytest.raises(InvalidExpression) as error:
        resolve(parse_expression(text), Scope(COLUMNS, {}, kinds))
    assert code_of(error.value) == code_of(error.value.message)
    return code_of(error.value)


@pytest.mark.parametrize(
    ("expected", "texts"),
    [
        ("GE1003", ["missing"]),
        ("GE1021", ["$missing"]),
        ("GE1022", ["nothing(i)", "to_char(t)", "iif(b, 1, 2)"]),
        ("GE1025", ["CAST(i AS int63)"]),
        ("GE1026", ["CAST(s AS \"timestamp[Mars]\")", "t AT TIME ZONE 'Mars'"]),
        ("GE1101", ["i +", "(i", "'a", "i, x", "i x", "", "1 2"]),
        ("GE1118", ["t.i", "struct_pack(a := 1).b"]),
        ("GE1102", ["i && x", "other.i", "now()", "s.upper()", "i IN (SELECT 1)", "i ^ 2", "b ? 1 : 2"]),
        ("GE1103", ["i = 's'", "upper(i)", "x // 2", "d + 1.5", "sqrt(s)"]),
        ("GE1104", ["upper()", "upper(s, s)", "if(b, 1)", "round(x, places => 1)", "run_id(1)"]),
        ("GE1105", ["date_trunc(s, t)", "date_trunc(NULL, t)", "regexp_like(s, s, s)"]),
        ("GE1106", ["date_trunc('eon', t)", "lpad(s, -1, ' ')", "bucket(i, 0)", "extract(eon FROM t)"]),
        ("GE1107", ["sum(i)", "lag(i)", "upper(s) FILTER (WHERE b)"]),
        ("GE1109", ["${params.i}"]),
        ("GE1110", ["CAST(b AS date)", "CAST(x AS timestamp)"]),
        ("GE1111", ["t = z", "t - z", "convert_zone(t, 'UTC')", "assume_zone(z, 'UTC')"]),
        ("GE1112", ["DATE '2026-02-30'", "INTERVAL '2.5 months'", "1e999", "INTERVAL 'soon'"]),
        ("GE1113", [r"regexp_like(s, '(?=b)')", "s LIKE 'a!b' ESCAPE '!'", "strftime(t, '%Q')", "regexp_split_to_array(s, 'a*')"]),
        ("GE1114", ["(" * 33 + "i" + ")" * 33, " + ".join("i" * 300), "i" * 20_001]),
        ("GE1115", ["md5(l)", "upper(l)"]),
        ("GE1116", ["n * n"]),
        ("GE1850", ["INTERVAL '2 months'", "d + i * INTERVAL '1 month 1 day'", "z + INTERVAL '1 month 1 day'"]),
        ("GE1117", ["b AND i", "NOT s", "CASE WHEN i THEN 1 END"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_an_error_has_the_code_of_its_cause(expected, texts):
    assert {text: code(text) for text in texts} == dict.fromkeys(texts, expected)


@pytest.mark.parametrize(
    ("expected", "text", "kinds"),
    [
        ("GE1107", "sum(sum(i))", AGGREGATES),
        ("GE1106", "quantile(i, 2)", AGGREGATES),
        ("GE1106", "rolling_sum(i, 0)", WINDOWS),
        ("GE1104", "ewm_mean(i)", WINDOWS),
    ],
)
def test_an_error_of_an_aggregate_or_a_window_has_the_code_of_its_cause(expected, text, kinds):
    assert code(text, kinds) == expected
