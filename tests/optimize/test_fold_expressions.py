"""fold_expressions: what is constant is computed once."""

import pytest

from gpuetl import col, expr
from gpuetl.expressions.fold import fold
from gpuetl.expressions.ir import Column
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import Scope
from gpuetl.expressions.unparse import to_sql
from gpuetl.optimize.fold_expressions import fold_expressions
from gpuetl.types.data_types import BOOL, FLOAT64, INT64, STRING
from plans import assert_optimized_same, described, kept_plan

COLUMNS = {"a": BOOL, "b": BOOL, "x": INT64, "f": FLOAT64, "s": STRING}


def typed(text):
    return resolve(expr(text).syntax, Scope(COLUMNS, {}))


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("a AND true", "a"),
        ("a AND false", "false"),
        ("a OR true", "true"),
        ("a OR false", "a"),
        ("true AND true", "true"),
        ("a AND true AND b", "a AND b"),
        ("NOT true", "false"),
        ("NOT (a AND false)", "true"),
        ("1 + 2 * 3 > 6", "true"),
        ("x > 1 + 1", "x > 2"),
        ("NULL IS NULL", "true"),
        ("1 IS NULL", "false"),
        ("x = 1 AND 1 = 1", "x = 1"),
    ],
)
def test_constants_are_computed(text, folded):
    assert to_sql(fold(typed(text))) == folded


@pytest.mark.parametrize(
    "text",
    [
        "a AND NULL", "NOT NULL", "NULL = NULL", "9223372036854775807 + 1 > 0", "1 / 0 > 1", "1 // 0 > 1",
        "0.1 + 0.2 > 0.3", "x > 0",
        "a = a", "x = x", "f <> f", "1 % 0 = 1", "'a' < 'b'",
    ],
)  # fmt: skip
def test_what_is_not_sure_to_be_the_contract_s_stays(text):
    assert fold(typed(text)) == typed(text)


@pytest.mark.parametrize(
    "text",
    [
        "a AND true",
        "NULL AND true",
        "false OR NULL",
        "1 + 1",
        "x > 1 + 1",
        "NULL IS NULL",
        "a OR false OR false",
    ],
)
def test_the_type_stays(text):
    assert fold(typed(text)).dtype == typed(text).dtype


def test_folding_a_column_is_the_column():
    assert fold(Column("a", BOOL)) == Column("a", BOOL)


def test_a_filter_that_is_always_true_goes(t, pipeline):
    t.filter(expr("1 = 1 AND true")).with_columns(y=col("x") * (expr("2 + 3"))).filter(
        expr("x > 1 + 1 OR false")
    ).stage("result")
    assert described(fold_expressions(kept_plan(pipeline))) == [
        "Read t: 3 of 3 columns", "Project y = x * 5, 3 columns kept", "Filter x > 2",
    ]  # fmt: skip
    assert_optimized_same(pipeline)


@pytest.mark.parametrize("predicate", ["false", "NULL", "1 = 2", "NULL AND true"])
def test_a_filter_that_is_never_true_stays(t, pipeline, predicate):
    t.filter(expr(predicate)).stage("result")
    assert [line.split()[0] for line in described(fold_expressions(kept_plan(pipeline)))] == [
        "Read",
        "Filter",
    ]
    assert assert_optimized_same(pipeline)["result"].num_rows == 0
