"""A test from real rows: it has what the stage needs, reads back exactly, and passes."""

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gpuetl as ge
from file_tests.daily import outcomes
from gpuetl import InvalidPipeline, RunOptions
from gpuetl.file_tests.record import file_with, recorded_test, text_of

PIPELINE = """\
gpuetl: 1
name: sales
params: {least: {type: int64, default: 0}}
sources:
  sales: {parquet: sales.parquet, filter: amount >= $least}
  shops: {parquet: shops.parquet}
  others: {parquet: others.parquet}
stages:
  sold: {from: sales, steps: [join: {with: shops, on: shop, how: left}]}
  shop_sums: {from: sold, steps: [aggregate: {by: [shop, city], columns: {n: count(*), total: sum(amount)}}, sort: shop]}
  other: {from: others, steps: []}
  none: {from: sales, steps: [filter: amount > 1000000]}
"""


@pytest.fixture
def sales(tmp_path):
    """2,000 sales in 100 shops, of which the 101st has none."""
    count = 2000
    rows = {"id": range(count), "shop": [n * 7 % 100 for n in range(count)], "amount": [n % 50 for n in range(count)]}
    pq.write_table(pa.table(rows), tmp_path / "sales.parquet", row_group_size=100)
    shops = {"shop": range(101), "city": [f"city {n}" for n in range(101)], "unused": [1.5] * 101}
    pq.write_table(pa.table(shops), tmp_path / "shops.parquet")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "others.parquet")
    path = tmp_path / "sales.yaml"
    path.write_text(PIPELINE)
    return path


def recorded(path, stage, rows=20, engine="pandas", **params):
    return recorded_test(ge.load(path), stage, rows, params, engine, RunOptions())


def with_test(path, test):
    """Return the pipeline's file with the test."""
    text = path.read_text()
    path.write_text(file_with(text, str(path), text_of(test), test))
    return ge.load(path)


@pytest.mark.part(2)
@pytest.mark.parametrize("stage", ["sold", "shop_sums", "sales"])
@pytest.mark.parametrize("rows", [1, 7])
def test_a_test_from_real_rows_passes_and_is_small(sales, stage, rows):
    test = recorded(sales, stage, rows, least="3")
    expected = test.expect[stage]
    assert 1 <= len(expected.rows) <= rows
    assert len(test.given["sales"].rows) <= rows
    assert "others" not in test.given
    if stage != "sales":
        assert test.given["shops"].columns[:2] == ("shop", "city")
        assert ("unused" in test.given["shops"].columns) == (stage == "sold")
        assert len(test.given["shops"].rows) <= rows
    assert outcomes(with_test(sales, test).test(engine="pandas")) == {f"{stage} of real rows": "passed"}


def test_it_is_the_same_wherever_the_samples_are_taken(sales, local_engine):
    assert recorded(sales, "shop_sums", 5, local_engine) == recorded(sales, "shop_sums", 5)


def test_the_text_is_what_a_person_would_write(sales):
    pq.write_table(pa.table({"id": [1, 2], "shop": [3, 4], "amount": [10, 20]}), sales.parent / "sales.parquet")
    pq.write_table(pa.table({"shop": [4, 3], "city": ["Bonn", "Ulm"]}), sales.parent / "shops.parquet")
    assert (
        text_of(recorded(sales, "shop_sums", 2))
        == """\
  - name: shop_sums of real rows
    given:
      sales:
        columns: [shop, amount]
        rows:
          - [3, 10]
          - [4, 20]
      shops:
        columns: [shop, city]
        rows:
          - [4, Bonn]
          - [3, Ulm]
    expect:
      shop_sums:
        columns: [shop, city, n, total]
        rows:
          - [3, Ulm, 1, 10]
          - [4, Bonn, 1, 20]
"""
    )


def test_a_stage_without_rows_and_one_that_is_not_there(sales):
    with pytest.raises(InvalidPipeline, match="stage 'none' has no rows"):
        recorded(sales, "none")
    with pytest.raises(InvalidPipeline, match="unknown stage 'sums'"):
        recorded(sales, "sums")
    with pytest.raises(InvalidPipeline, match="a sample takes a whole number of rows from 1, got 0"):
        recorded(sales, "sold", 0)


VALUES = {
    "f": pa.array([0.1, math.nan, -math.inf, 1e22, -0.0, 5e-324], pa.float64()),
    "g": pa.array([0.1, 1e-3, 1.0, 2.5, None, 3.0], pa.float32()),
    "d": pa.array([Decimal("0.10"), Decimal("-1"), None, Decimal("12345678901234567890.12")] + [None] * 2,
                  pa.decimal128(38, 2)),
    "s": pa.array(["NO", "null", "1e3", "a: b, {c} #'\"", "\n two\tlines \x01 é", "~"]),
    "t": pa.array(["2026-11-01", "", "true", "0x10", "1_000", "- x"]),
    "day": pa.array([date(2026, 11, 1), date(1, 1, 1), date(9999, 12, 31)] + [None] * 3),
    "n": pa.array([datetime(2026, 11, 1, 10, 0, 0, 5), datetime(1, 1, 1)] + [None] * 4, pa.timestamp("us")),
    "z": pa.array([datetime(2026, 10, 25, 0, 30, tzinfo=UTC), datetime(2026, 10, 25, 1, 30, tzinfo=UTC)] + [None] * 4,
                  pa.timestamp("us", "Europe/Berlin")),
    "e": pa.array([timedelta(hours=8), timedelta(microseconds=-1), timedelta(days=400, seconds=1)] + [None] * 3,
                  pa.duration("us")),
    "l": pa.array([[1, None], [], None, [2], [3], [4]], pa.list_(pa.int64())),
    "m": pa.array([["a,b", "~", None], [], None, ["x"], ["y"], ["z"]], pa.list_(pa.string())),
    "u": pa.array([2**64 - 1, 0, 1, 2, 3, None], pa.uint64()),
    "b": pa.array([True, False, None, True, True, True]),
}  # fmt: skip


def test_values_read_back_exactly(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text("gpuetl: 1\nname: p\nsources: {t: {parquet: t.parquet}}\nstages: {s: {from: t, steps: []}}\n")
    pq.write_table(pa.table(VALUES), tmp_path / "t.parquet")
    pipeline = with_test(path, recorded(path, "s"))
    assert outcomes(pipeline.test(engine="pandas")) == {"s of real rows": "passed"}
    test = pipeline.spec.tests[0]
    for name, column in VALUES.items():
        place = test.given["t"].columns.index(name)
        read = pa.array([row[place].read(column.type) for row in test.given["t"].rows], column.type)
        assert read.equals(column) or (name == "f" and str(read) == str(column))


FLOW = "tests: [{name: a, expect: {sold: []}}]\n"


@pytest.mark.parametrize(
    "after",
    [
        "",
        "tests:\n  - name: first\n    expect: {none: []}\n",
        "tests:\n- name: first\n  expect: {none: []}\n\n# sinks\nsinks:\n  out: {from: sold, parquet: out}\n",
        "tests:  # small ones\n    - {name: sold of real rows, expect: {none: []}}",
    ],
)
def test_a_test_is_added_to_the_section(sales, after):
    sales.write_text(PIPELINE + after)
    before = ge.load(sales).spec
    pipeline = with_test(sales, recorded(sales, "sold", 1))
    assert pipeline.spec.tests[:-1] == before.tests
    assert pipeline.spec.sinks == before.sinks
    assert pipeline.spec.tests[-1].name == ("sold of real rows 2" if "of real" in after else "sold of real rows")
    assert sales.read_text().startswith(PIPELINE + after[:30])
    assert pipeline.test(engine="pandas").passed


def test_a_section_in_brackets_takes_no_test(sales):
    sales.write_text(PIPELINE + FLOW)
    with pytest.raises(InvalidPipeline, match="the test has no place in the section tests"):
        with_test(sales, recorded(sales, "sold", 1))
    assert sales.read_text() == PIPELINE + FLOW
