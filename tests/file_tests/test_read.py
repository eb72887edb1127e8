"""What is wrong with a test is told with its place, by validate too."""

import pytest

import gpuetl as ge
from file_tests.daily import PIPELINE, daily, problems

GIVEN = "{name: a, given: {txns: [{txn_id: 1}]}, expect: {clean: []}}"


def heads(tests):
    return [problem.split("\n")[0] for problem in problems(tests)]


def test_every_problem_of_a_test_has_its_place():
    tests = """\
  - name: amounts
    params: {lest: 1, least: much}
    given:
      txns:
        - {txn_id: one, amuont: 1}
        - {txn_id: 1, amount: 1.005}
      clean: []
    expect: {clean: []}
"""
    assert problems(tests) == [
        """\
daily.yaml:2:14: test 'amounts': unknown parameter 'lest'
    params: {lest: 1, least: much}
             ^^^^
Parameters: least. Did you mean 'least'?""",
        """\
daily.yaml:2:30: test 'amounts': parameter 'least': 'much' is not a valid decimal(10,2)
    params: {lest: 1, least: much}
                             ^^^^""",
        """\
daily.yaml:5:20: test 'amounts', given 'txns': column 'txn_id': 'one' is not a valid int64
    - {txn_id: one, amuont: 1}
               ^^^""",
        """\
daily.yaml:5:25: test 'amounts', given 'txns': unknown column 'amuont'
    - {txn_id: one, amuont: 1}
                    ^^^^^^
Columns: amount, card_id, status, txn_id. Did you mean 'amount'?""",
        """\
daily.yaml:6:31: test 'amounts', given 'txns': column 'amount': '1.005' is not a valid decimal(10,2)
    - {txn_id: 1, amount: 1.005}
                          ^^^^^""",
        """\
daily.yaml:7:7: test 'amounts', given: unknown source 'clean'
    clean: []
    ^^^^^
'clean' is a stage: give rows for the sources that it reads.""",
    ]


def test_expected_columns_and_values_are_checked():
    tests = """\
  - name: amounts
    expect:
      features: {columns: [card_id, spent], rows: [[1.5, 2]]}
      fetures: []
"""
    assert heads(tests) == [
        "daily.yaml:3:37: test 'amounts', expect 'features': unknown column 'spent'",
        "daily.yaml:3:53: test 'amounts', expect 'features': column 'card_id': '1.5' is not a valid int64",
        "daily.yaml:4:7: test 'amounts', expect: unknown source or stage 'fetures'",
    ]


@pytest.mark.parametrize(
    ("test", "head", "hint"),
    [
        ("{expect: {clean: []}}", "5: test 1: the key 'name' is missing", "Say what the test shows."),
        ("just text", "5: test 1: takes a map, got text", "keys: name, params, given, expect, expect_failure."),
        ("{name: a}", "5: test 'a': expects nothing", "Give it expect: rows of stages; or expect_failure: "),
        ("{name: a, expect: {clean: []}, expect_failure: x}", "5: test 'a': has both expect and expect_failure", ""),
        ("{name: a, expects: {clean: []}}", "15: test 'a': unknown key 'expects'", "Did you mean 'expect'?"),
        ("{name: a, expect: [clean]}", "23: test 'a': expect takes a map of stages to rows, got a list", ""),
        ("{name: a, expect: {clean: 3}}", "31: test 'a', expect 'clean': takes a list of rows, got a number", "[] for"),
        ("{name: a, expect: {clean: {cols: [a], rows: []}}}", "32: test 'a', expect 'clean': unknown key 'cols'", ""),
        ("{name: a, expect: {clean: {columns: [a]}}}", "31: test 'a', expect 'clean': the key 'rows' is missing", ""),
        ("{name: a, expect: {clean: {columns: [x, x], rows: []}}}", "45: test 'a', expect 'clean': 'x' is named twice",
         ""),
        ("{name: a, expect: {clean: {columns: [x], rows: [[1, 2]]}}}",
         "53: test 'a', expect 'clean': row 1 has 2 values for 1 column", "columns: x."),
        ("{name: a, expect: {clean: {columns: [x], rows: [{x: 1}]}}}",
         "53: test 'a', expect 'clean': row 1 takes a list of values with columns, got a map", ""),
        ("{name: a, expect: {clean: [[1]]}}",
         "32: test 'a', expect 'clean': row 1 takes a map of columns to values, got a list", "with columns: [a, b]."),
        ("{name: a, expect: {clean: [{txn_id: 1, status: a}, {txn_id: 2}]}}",
         "56: test 'a', expect 'clean': row 2 leaves out 'status', which another row has", "Write status: null where"),
        ("{name: a, expect: {clean: [{txn_id: {a: 1}}]}}",
         "41: test 'a', expect 'clean': a value is a string, a number, true, false, null, or a list of these, got a map",
         ""),
        ("{name: a, expect: {clean: {rows: [], ordered: maybe}}}",
         "51: test 'a', expect 'clean': takes true or false, got text 'maybe'", ""),
        ("{name: a, expect: {clean: {rows: [], tolerance: -1}}}",
         "53: test 'a', expect 'clean': tolerance takes a number from 0, got '-1'", ""),
        ("{name: a, expect: {clean: {csv: x.csv}}}", "32: test 'a', expect 'clean': unknown key 'csv'", ""),
        ("{name: a, given: {txns: {csv: x.csv, rows: []}}, expect: {clean: []}}",
         "29: test 'a', given 'txns': csv is the only key where a file has the rows", "Leave out the others."),
        ("{name: a, given: {txn: []}, expect: {clean: []}}", "23: test 'a', given: unknown source 'txn'",
         "Did you mean 'txns'?"),
    ],
)  # fmt: skip
def test_a_test_of_another_form_is_reported(test, head, hint):
    found = problems(f"  - {test}\n")
    first = found[0].split("\n")[0]
    assert first == f"daily.yaml:1:{head}"
    assert hint in found[0]


def test_no_two_tests_have_one_name():
    assert heads(f"  - {GIVEN}\n  - {GIVEN}\n") == ["daily.yaml:2:5: a second test is named 'a'"]


def test_tests_take_a_list():
    text = PIPELINE + "tests: {a: {}}\n"
    with pytest.raises(ge.InvalidPipeline, match="tests takes a list of tests, got a map"):
        ge.loads(text).validate(files=False)


def test_problems_of_the_pipeline_and_of_its_tests_are_reported_at_once():
    text = PIPELINE.replace("amount >= $least", "amuont >= $least")
    tests = "  - {name: a, given: {txns: [{txn_id: x}]}, expect: {clean: []}}\n"
    assert [head.split("\n")[0].partition(": ")[2] for head in problems(tests, text)] == [
        "stage 'clean', step 1: unknown column 'amuont'",
        "test 'a', given 'txns': column 'txn_id': 'x' is not a valid int64",
    ]


def test_a_required_parameter_needs_a_value_where_a_test_runs():
    text = PIPELINE.replace("default: 1.00", "required: true")
    assert problems(f"  - {GIVEN}\n", text) == []
    with pytest.raises(ge.InvalidPipeline) as caught:
        daily(f"  - {GIVEN}\n", text).test(engine="pandas")
    assert "test 'a': parameter 'least' (decimal(10,2)) has no value" in str(caught.value)
    assert "Add it to the test's params, or give it with -p least=VALUE." in str(caught.value)
    assert daily(f"  - {GIVEN}\n", text).test({"least": 1}, engine="pandas").passed


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("[{k: null}, {k: null}]", "the type of column 'k' is not known: every value is null"),
        ("[{k: 1}, {k: a}]", "the type of column 'k' is not known: '1' and 'a' differ"),
        ("[{k: [1]}, {k: [a]}]", "the type of column 'k' is not known: '1' and 'a' differ"),
    ],
)
def test_values_that_tell_no_type_ask_for_a_schema(rows, message):
    text = "gpuetl: 1\nname: x\nsources: {t: {parquet: no.parquet}}\nstages: {s: {from: t, steps: []}}\n"
    pipeline = ge.loads(f"{text}tests: [{{name: a, given: {{t: {rows}}}, expect: {{s: []}}}}]\n")
    with pytest.raises(ge.InvalidPipeline) as caught:
        pipeline.test(engine="pandas")
    assert f"test 'a', given 't': {message}" in str(caught.value)
    assert "Declare it: a schema on source 't' declares the types of all its columns." in str(caught.value)


ROUND_TRIP = """\
  - name: huge amounts
    params:
      least: 1.50
    given:
      txns:
        - {txn_id: 1, amount: 10.50, status: 'null'}
        - {txn_id: 2, status: "it's, {so}: #1"}
        - {txn_id: 3, status: '2'}
      cards:
        csv: cards.csv
    expect:
      clean:
        columns: [txn_id, amount, status]
        rows:
          - [1, 0.12345678901234567890123, null]
          - [0x10, 1e+22, 2026-11-01 10:00:00.5]
        ordered: true
        tolerance: 0.01
      features: []
      top:
        - {card_id: -.inf, last: [a, 'b,c', null, 2026-11-01T10:00:00Z]}
  - name: fails
    expect_failure: many_to_one
"""


def test_tests_are_written_as_they_are_read():
    pipeline = daily(ROUND_TRIP)
    text = pipeline.to_yaml()
    assert text.partition("tests:\n")[2] == ROUND_TRIP
    assert ge.loads(text).spec == pipeline.spec
    assert ge.loads(text).to_yaml() == text
