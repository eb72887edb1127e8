"""Statistics of the columns of sinks: literal numbers, on every engine, in one partition and in tiny ones."""

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from gpuetl import RunOptions, col
from gpuetl.report.column_statistics import ColumnStatistics, Histogram
from gpuetl.report.html.page import page
from tables import NAN, table

INF = float("inf")
TYPES = {
    "i": "int64", "f": "float64", "d": "decimal(10,2)", "t": "timestamp", "day": "date", "ok": "bool", "s t": "string",
}  # fmt: skip
T = datetime(2020, 1, 1)
ROWS = [
    (1, 0.5, Decimal("0.10"), T, date(2020, 1, 1), True, "a"),
    (2, NAN, Decimal("2.00"), None, None, False, "b"),
    (None, INF, None, datetime(2020, 1, 2), date(2020, 1, 21), True, "b"),
    (21, 20.5, Decimal("2.10"), T, date(2020, 1, 1), None, None),
    (11, 10.5, Decimal("1.10"), None, None, True, ""),
]


def bins(**counts):
    return tuple(counts.get(f"b{place}", 0) for place in range(20))


EXPECTED = (
    ColumnStatistics("i", "int64", 5, 1, 4, "1", "21", Histogram("1", "21", bins(b0=1, b1=1, b10=1, b19=1))),
    ColumnStatistics("f", "float64", 5, 0, 5, "0.5", "nan", Histogram("0.5", "20.5", bins(b0=1, b10=1, b19=1))),
    ColumnStatistics(
        "d", "decimal(10,2)", 5, 1, 4, "0.10", "2.10", Histogram("0.1", "2.1", bins(b0=1, b10=1, b19=2))
    ),
    ColumnStatistics(
        "t", "timestamp", 5, 2, 2, "2020-01-01 00:00:00", "2020-01-02 00:00:00",
        Histogram("2020-01-01 00:00:00", "2020-01-02 00:00:00", bins(b0=2, b19=1)),
    ),
    ColumnStatistics(
        "day", "date", 5, 2, 2, "2020-01-01", "2020-01-21", Histogram("2020-01-01", "2020-01-21", bins(b0=2, b19=1))
    ),
    ColumnStatistics("ok", "bool", 5, 1, 2, "False", "True", top=(("True", 3), ("False", 1))),
    ColumnStatistics("s t", "string", 5, 1, 3, "", "b", top=(("b", 2), ("", 1), ("a", 1))),
)  # fmt: skip


def test_statistics_of_a_sink_are_exact(pipeline, source, engine, layout):
    """NaN and infinite values have no bin; NaN is one distinct value."""
    source(table(TYPES, *ROWS)).write_parquet("out", "out", mode="overwrite")
    report = pipeline.run(engine=engine, options=replace(layout, column_stats=True)).report
    assert report.columns.keys() == {"out"}
    for found, expected in zip(report.columns["out"], EXPECTED, strict=True):
        assert found == expected
    assert [sink.rows for sink in report.sinks] == [5]


def test_a_sink_without_rows_has_statistics(pipeline, source, engine):
    source(table(TYPES, *ROWS)).filter(col("i") > 100).select("i", "s t", "ok").write_parquet(
        "out", "out", mode="overwrite"
    )
    report = pipeline.run(engine=engine, options=RunOptions(column_stats=True)).report
    assert report.columns["out"] == (
        ColumnStatistics("i", "int64", 0, 0, 0), ColumnStatistics("s t", "string", 0, 0, 0),
        ColumnStatistics("ok", "bool", 0, 0, 0),
    )  # fmt: skip
    assert "Columns of out" in page(report)


def test_values_that_are_all_equal_are_in_the_first_bin(pipeline, source, engine):
    source(table({"x": "float64"}, (-0.0,), (0.0,), (None,))).write_parquet("out", "out", mode="overwrite")
    (found,) = pipeline.run(engine=engine, options=RunOptions(column_stats=True)).report.columns["out"]
    assert found.histogram.counts == bins(b0=2)


def test_the_ends_of_float64_have_bins(pipeline, source, engine):
    """The difference of the ends is infinite."""
    most = 1.7976931348623157e308
    source(table({"x": "float64"}, (-most,), (0.0,), (most,))).write_parquet("out", "out", mode="overwrite")
    (found,) = pipeline.run(engine=engine, options=RunOptions(column_stats=True)).report.columns["out"]
    assert found.histogram.counts == bins(b0=1, b10=1, b19=1)


def test_of_nested_and_binary_columns_nulls_are_counted(pipeline, engine):
    rows = pa.table({"l": pa.array([[1], None, []], pa.list_(pa.int64())), "b": pa.array([b"x", None, None])})
    pipeline.from_frame("t", rows).write_parquet("out", "out", mode="overwrite")
    found = pipeline.run(engine=engine, options=RunOptions(column_stats=True)).report.columns["out"]
    assert found == (ColumnStatistics("l", "list<int64>", 3, 1), ColumnStatistics("b", "binary", 3, 2))


def test_a_run_that_writes_no_sink_has_no_statistics(pipeline, source):
    source(table({"x": "int64"}, (1,))).write_parquet("out", "out", mode="overwrite")
    report = pipeline.run(engine="pandas", options=RunOptions(column_stats=True), write=False).report
    assert report.columns == {}
    assert report.notes == ("there are no statistics of columns: the run writes no sink",)


@pytest.mark.parametrize("wanted", [False, True])
def test_statistics_are_computed_on_request(pipeline, source, wanted):
    source(table({"x": "int64"}, (1,))).write_parquet("out", "out", mode="overwrite")
    report = pipeline.run(engine="pandas", options=RunOptions(column_stats=wanted)).report
    assert bool(report.columns) is wanted
    assert ("statistics" in {stage.kind for stage in report.stages}) is wanted
