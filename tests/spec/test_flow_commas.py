"""Commas of expressions in `{ }`: told once, with what to do, and nothing that follows is told wrongly."""

import pytest

from spec.pipelines import problems, problems_after_head, stage


def test_a_comma_that_ends_an_expression_is_reported_with_its_place():
    assert problems_after_head(stage("with_columns: {x: coalesce(amount, 0.5), y: status}", "filter: x > 1")) == [
        """\
daily.yaml:13:27: a comma in { } ends the value 'coalesce(amount'
    - with_columns: {x: coalesce(amount, 0.5), y: status}
                        ^^^^^^^^^^^^^^^^^^^^^
Quote the expression, or write it on a separate line."""
    ]


@pytest.mark.parametrize(
    ("columns", "cut"),
    [
        ("{x: coalesce(amount, 1.0) * 2}", ["'coalesce(amount'"]),
        ("{x: coalesce(amount,1.0)}", ["'coalesce(amount'"]),
        ("{x: if(amount > 1, 2, 3), y: 1}", ["'if(amount > 1'"]),
        ("{x: CAST(amount AS decimal(10, 2))}", ["'CAST(amount AS decimal(10'"]),
        ("{x: user_id IN (1, 2), y: user_id IN (3, 2)}", ["'user_id IN (1'", "'user_id IN (3'"]),
        ("{x: coalesce(')', status)}", ["'coalesce(')''"]),
        ("{x: status || 'a, b'}", ["'status || 'a'"]),
        ("{x: if(amount > 1, 'y', status)}", ["'if(amount > 1'"]),
        ("{x: 'coalesce(amount, 1.0)', y: \"coalesce(amount, 1.0)\"}", []),
        ("{x: 1, y: null, z: }", []),
    ],
)
def test_each_expression_that_is_cut_is_one_problem(columns, cut):
    """Its pieces are put together, so that neither they nor steps that read the columns are told as well."""
    found = problems_after_head(stage(f"with_columns: {columns}", "filter: x IS NOT NULL"))
    assert [problem.split("\n")[0].partition(" ends the value ")[2] for problem in found] == cut


def test_a_comma_in_an_expression_over_two_lines_is_reported():
    (problem,) = problems_after_head(stage("with_columns: {x: coalesce(amount,\n                  0.5)}"))
    assert problem.split("\n")[0].endswith("ends the value 'coalesce(amount'")


def test_a_mistake_in_the_cut_expression_is_reported_at_its_place():
    comma, column = problems_after_head(stage("with_columns: {x: coalesce(amount, amuont)}"))
    assert "a comma in { } ends the value" in comma
    assert column.startswith("daily.yaml:13:44: stage 'clean', step 1: unknown column 'amuont'")


def test_a_filter_of_a_source_in_braces_is_reported():
    text = "gpuetl: 1\nname: x\nsources:\n  t: {parquet: t, schema: {a: int64}, filter: coalesce(a, 1) > 0}\n"
    (problem,) = problems(text)
    assert "ends the value 'coalesce(a'" in problem


@pytest.mark.parametrize("value", ["(amount, y: 1", "coalesce(amount, y: status", "(amount"])
def test_a_parenthesis_that_nothing_closes_is_reported_as_such(value):
    (problem,) = problems_after_head(stage(f"with_columns: {{x: {value}}}"))
    assert "this parenthesis is not closed" in problem


@pytest.mark.parametrize("value", ["coalesce(status, 'a')", "split('a', ',')"])
def test_text_that_is_no_yaml_for_a_comma_or_a_quote_in_braces_is_reported_with_what_to_do(value):
    (problem,) = problems_after_head(stage(f"with_columns: {{x: {value}}}"))
    assert problem.startswith("daily.yaml:13:")
    assert "a value in { } ends here" in problem
    assert problem.endswith(
        "\nIn { }, commas and quotes end an expression.  Quote the expression, or write it on a separate line."
    )
