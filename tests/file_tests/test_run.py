"""Tests of a file on every engine: what passes, and in which words it is told what does not."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gpuetl as ge
from file_tests.daily import PIPELINE, daily, outcomes
from gpuetl import InvalidPipeline, RunOptions
from gpuetl.declarations import NameReplaced

TESTS = """\
  - name: small and void amounts are left out
    given:
      txns:
        - {txn_id: 1, card_id: 7, amount: 1.00, status: OK}
        - {txn_id: 2, card_id: 7, amount: 0.99, status: OK}
        - {txn_id: 3, card_id: 7, amount: 5, status: VOID}
        - {txn_id: 4, card_id: 8, status: OK}
    expect:
      txns: [{txn_id: 1}, {txn_id: 4}, {txn_id: 2}]
      clean: [{txn_id: 1, amount: 1}]
      features: {columns: [spend, card_id], rows: [[1, 7]]}
      top: {rows: [{card_id: 7}], ordered: true}
      known: []
  - name: the least amount is a parameter
    params: {least: 10}
    given: {txns: {columns: [txn_id, amount, status], rows: [[1, 9.99, OK], [2, 10.00, OK]]}}
    expect: {clean: [{txn_id: 2}]}
"""
CARDS = "{columns: [card_id, amount, status], rows: [[1, 10, a], [1, 20, b], [2, 1.5, c], [3, 5, d], [4, 7, e]]}"
DIFFERENT = f"""\
  - name: rows
    given: {{txns: {CARDS}}}
    expect:
      features:
        columns: [card_id, n, spend, last]
        rows: [[1, 2, 30.000000001, b], [3, 1, 5.1, x], [2, 1, 1.5, c], [5, 1, 9, null]]
  - name: order
    given: {{txns: {CARDS}}}
    expect:
      top: {{columns: [card_id, spend], rows: [[1, 30], [3, 5], [4, 7], [2, 1.5]]}}
      features: {{columns: [card_id], rows: [[4], [3], [2], [1]]}}
  - name: none
    given: {{txns: {CARDS}}}
    expect: {{clean: []}}
  - name: failure
    given: {{txns: {CARDS}, cards: [{{card_id: 1, country: DE}}, {{card_id: 1, country: FR}}]}}
    expect: {{known: []}}
  - name: expected failure
    given: {{txns: {CARDS}, cards: [{{card_id: 1}}, {{card_id: 1}}]}}
    expect_failure: many_to_one
  - name: no failure
    expect_failure: many_to_one
"""
LONG = "abcdefghij" * 6
LONG_STRINGS = f"""\
  - name: far from the start
    given: {{txns: [{{txn_id: 1, amount: 1, status: {LONG}1{LONG}}}]}}
    expect: {{clean: [{{txn_id: 1, status: {LONG}2{LONG}}}]}}
  - name: at the start
    given: {{txns: [{{txn_id: 1, amount: 1, status: x{LONG}}}]}}
    expect: {{clean: [{{txn_id: 1, status: y{LONG}}}]}}
"""


@pytest.fixture(params=[None, 1])
def options(request):
    return RunOptions(partition_rows=request.param)


def test_given_rows_are_in_place_of_the_sources(engine, options, tmp_path):
    report = daily(TESTS, root=tmp_path).test(engine=engine, options=options)
    assert outcomes(report) == {
        "small and void amounts are left out": "passed",
        "the least amount is a parameter": "passed",
    }
    assert report.passed
    assert not list(tmp_path.iterdir())  # no sink was written


def test_long_strings_are_shown_around_their_first_difference(engine, options):
    """Those that begin alike are cut on both sides; dots stand for what is left out."""
    found = outcomes(daily(LONG_STRINGS).test(engine=engine, options=options))
    assert found == {
        "far from the start": """\
clean: 1 row expected, 1 found: 1 with another value in status
            txn_id  status
  expected  1       …abcdefghijabcdefghij2abcdefghijabcdefg…
  actual    1       …abcdefghijabcdefghij1abcdefghijabcdefg…
                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^""",
        "at the start": """\
clean: 1 row expected, 1 found: 1 with another value in status
            txn_id  status
  expected  1       yabcdefghijabcdefghijabcdefghijabcdefgh…
  actual    1       xabcdefghijabcdefghijabcdefghijabcdefgh…
                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^""",
    }


@pytest.mark.part(2)
def test_differences_are_reported_in_a_small_table(engine, options):
    report = daily(DIFFERENT).test(engine=engine, options=options)
    found = outcomes(report)
    assert found.pop("failure").startswith(
        "the run failed: daily.yaml:18:32: stage 'known', step 1: the join is not many_to_one: card_id"
    )
    assert found == {
        "rows": """\
features: 4 rows expected, 4 found: 1 with other values in spend, last, 1 missing, 1 unexpected
              card_id  n  spend  last
  expected    3        1  5.1    x
  actual      3        1  5.0    d
                          ^^^    ^
  missing     5        1  9.0    null
  unexpected  4        1  7.0    e""",
        "order": """\
top: 4 rows expected, 4 found: the same rows in another order of spend, from row 2 on
              card_id  spend
  expected 2  3        5.0
  actual 2    4        7.0
                       ^^^
  expected 3  4        7.0
  actual 3    3        5.0
                       ^^^""",
        "none": """\
clean: 0 rows expected, 5 found: 5 unexpected
              txn_id  card_id  amount  status
  unexpected  null    1        10.00   a
  unexpected  null    1        20.00   b
  unexpected  null    2        1.50    c
  unexpected  null    3        5.00    d
  unexpected  null    4        7.00    e""",
        "expected failure": "passed",
        "no failure": "a failure with the words 'many_to_one' is expected, and the run did not fail",
    }
    assert not report.passed
    assert [result.outcome for result in report.results] == ["failed", "failed", "failed", "error", "passed", "failed"]


VALUES = """\
gpuetl: 1
name: values
sources:
  t:
    parquet: t.parquet
    schema: {b: bool, i: int8, u: uint64, f: float64, g: float32, d: "decimal(20,18)", s: string, t: date,
             n: timestamp, z: "timestamp[Europe/Berlin]", e: duration, l: list<int64>, m: list<float64>}
stages: {all: {from: t, steps: [{limit: 9}]}}
tests:
  - name: values are read by their type
    given: {t: {columns: [b, i, u, f, g, d, s, t, n, z, e, l, m], rows: ROWS}}
    expect: {all: {columns: [b, i, u, f, g, d, s, t, n, z, e, l, m], rows: ROWS}}
"""
ROWS = """[
  [true, -128, 18446744073709551615, .nan, 0.1, 0.123456789012345678, 007, 2026-11-01, 2026-11-01T10:00:00.5,
   2026-11-01 10:00:00Z, 8 hours, [1, null], [.inf, 0.1]],
  ["false", "7", 0, -.inf, 1e10, -1, "", 0001-01-01, 2026-11-01, 2026-11-01 12:00:00+02:00, 1 day, [], null],
  [null, null, null, null, null, null, null, null, null, null, null, null, null]]"""


def test_values_of_every_type(local_engine):
    report = ge.loads(VALUES.replace("ROWS", ROWS)).test(engine=local_engine)
    assert outcomes(report) == {"values are read by their type": "passed"}
    other = ROWS.replace("[.inf, 0.1]", "[.inf, 0.2]").replace("1 day", "2 days").replace("007", "7")
    other = other.replace("0001-01-01", "2001-01-01")
    report = ge.loads(VALUES.replace("ROWS", ROWS, 1).replace("ROWS", other)).test(engine=local_engine)
    assert report.results[0].differences.splitlines()[0] == (
        "all: 3 rows expected, 3 found: 2 with other values in s, t, e, m"
    )


def test_floats_may_differ_by_rounding_or_by_the_tolerance():
    given = "given: {txns: {columns: [card_id, amount, status], rows: [[1, 3, a], [2, 1000, a]]}}"
    tests = "".join(
        f"  - name: {name}\n    {given}\n    expect: {{features: {{columns: [card_id, spend], rows: {rows}}}}}\n"
        for name, rows in {
            "rounding": "[[2, 1000.0000001], [1, 3.0000000001]]",
            "more": "[[2, 1000.00001], [1, 3]]",
            "tolerance": "[[2, 1000.009], [1, 2.991]], tolerance: 0.01",
            "beyond": "[[2, 1000.02], [1, 3]], tolerance: 0.01",
        }.items()
    )
    report = daily(tests).test(engine="pandas")
    assert [result.outcome for result in report.results] == ["passed", "failed", "passed", "failed"]


def test_order_counts_where_the_stage_is_sorted_or_the_test_says_so():
    given = "given: {txns: {columns: [card_id, amount, status], rows: [[1, 3, a], [2, 9, a]]}}"
    cases = {
        "top: {columns: [card_id, spend], rows: [[2, 9], [1, 3]]}": "passed",
        "top: {columns: [card_id, spend], rows: [[1, 3], [2, 9]]}": "failed",
        "top: {columns: [card_id, spend], rows: [[1, 3], [2, 9]], ordered: false}": "passed",
        "top: [{card_id: 1}, {card_id: 2}]": "passed",  # the sort's column is not compared
        "top: {rows: [{card_id: 1}, {card_id: 2}], ordered: true}": "failed",
        "clean: {columns: [card_id], rows: [[2], [1]]}": "passed",
        "clean: {columns: [card_id], rows: [[2], [1]], ordered: true}": "failed",
    }
    tests = "".join(f"  - {{name: '{n}', {given}, expect: {{{text}}}}}\n" for n, text in enumerate(cases))
    report = daily(tests).test(engine="pandas")
    assert [result.outcome for result in report.results] == list(cases.values())


def test_partitions_are_given_as_columns():
    tests = """\
  - name: countries
    given:
      txns: [{card_id: 1, amount: 2, status: OK}, {card_id: 3, amount: 2, status: OK}]
      cards: [{card_id: 1, country: DE}, {card_id: 2, country: FR}]
    expect: {known: [{card_id: 1, country: DE}], cards: [{card_id: 2}, {card_id: 1}]}
"""
    assert daily(tests).test(engine="pandas").passed


def test_files_may_have_the_given_rows(tmp_path):
    (tmp_path / "txns.csv").write_text("txn_id,card_id,amount,status\n1,7,1.5,OK\n2,7,2.5,VOID\n3,7,0.5,OK\n")
    rows = pa.table({"card_id": [7, 8], "country": ["DE", "FR"]})
    pq.write_table(rows, tmp_path / "cards.parquet")
    tests = """\
  - name: files
    given: {txns: {csv: txns.csv}, cards: {parquet: cards.parquet}}
    expect: {known: [{txn_id: 1, country: DE}]}
"""
    assert daily(tests, root=tmp_path).test(engine="pandas").passed


NO_SCHEMA = """\
gpuetl: 1
name: inferred
sources:
  a: {parquet: a.parquet}
  b: {parquet: b.parquet}
stages:
  both: {from: a, steps: [join: {with: b, on: k}]}
  alone: {from: a, steps: [with_columns: {y: x * 2}]}
tests:
"""


def test_given_values_tell_the_types_where_nothing_else_does():
    tests = """\
  - name: alone
    given: {a: [{k: 1, x: 1.5, t: 2026-11-01}, {k: null, x: 2, t: null}]}
    expect: {alone: [{y: 3.0, t: 2026-11-01}, {y: 4, t: null}]}
"""
    (result,) = ge.loads(NO_SCHEMA + tests).test(engine="pandas").results
    assert result.passed
    assert result.notes == (
        "source 'a': types are those of the given values (k: int64, x: float64, t: date), since a.parquet does not exist",
    )


def test_a_source_whose_columns_are_not_known_must_be_given():
    tests = "  - {name: both, given: {a: [{k: 1, x: 1.5}]}, expect: {both: []}}\n"
    with pytest.raises(InvalidPipeline) as caught:
        ge.loads(NO_SCHEMA + tests).test(engine="pandas")
    assert "test 'both', expect 'both': source 'b' is not given, and its columns are not known: b.parquet" in str(
        caught.value
    )


def test_files_tell_the_types_where_they_are(tmp_path):
    pq.write_table(pa.table({"k": pa.array([1], pa.int32()), "x": [9.0]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"k": pa.array([1], pa.int32())}), tmp_path / "b.parquet")
    tests = "  - {name: both, given: {a: [{k: 1, x: 1}]}, expect: {both: [], alone: [{k: 1, y: 2}]}}\n"
    report = ge.loads(NO_SCHEMA + tests, root=tmp_path).test(engine="pandas")
    assert outcomes(report) == {"both": "passed"}
    assert report.results[0].notes == ()


def test_tests_are_chosen_by_name_or_pattern():
    pipeline = daily("".join(f"  - {{name: {n}, expect: {{clean: []}}}}\n" for n in ("late a", "late b", "early")))
    assert list(outcomes(pipeline.test(engine="pandas", names="late *"))) == ["late a", "late b"]
    assert list(outcomes(pipeline.test(engine="pandas", names=["early", "late a"]))) == ["late a", "early"]
    with pytest.raises(InvalidPipeline, match="no test is named 'lat a'") as caught:
        pipeline.test(engine="pandas", names="lat a")
    assert "Tests: early, late a, late b. Did you mean 'late a'?" in str(caught.value)


def test_no_tests_are_an_error():
    with pytest.raises(InvalidPipeline, match="no tests in daily"):
        ge.loads(PIPELINE).test(engine="pandas")


def test_python_declares_tests_that_yaml_holds(pipeline):
    from datetime import date
    from decimal import Decimal

    rows = pipeline.from_frame("t", pa.table({"d": pa.array([], pa.date32()), "x": pa.array([], pa.decimal128(5, 2))}))
    rows.filter(ge.col("x") > 1).stage("large")
    given = {"t": [{"d": date(2026, 11, 1), "x": Decimal("1.50")}, {"d": None, "x": 1}]}
    pipeline.add_test("large", given=given, expect={"large": {"columns": ["d"], "rows": [["2026-11-01"]]}})
    report = pipeline.test(engine="pandas")
    assert report.passed
    shown = repr(report).splitlines()
    assert shown[0].startswith("passed  large  (")
    assert shown[1].startswith("1 test of test on pandas: 1 passed, in ")
    with pytest.warns(NameReplaced, match="test 'large' was declared before"):
        pipeline.add_test("large", given=given, expect={"large": []})
    assert not pipeline.test(engine="pandas").passed
    with pytest.raises(InvalidPipeline, match="unknown key 'expected'"):
        pipeline.add_test("other", expected={"large": []})
