"""Rows in from other libraries, and out to them, by the Arrow PyCapsule interface and narwhals."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gpuetl import InvalidPipeline, Pipeline, Table, col

nw = pytest.importorskip("narwhals")

ROWS = pa.table({"a": pa.array([1, 2, None], pa.int64()), "s": ["x", None, "z"]})
LIST = [{"a": 1, "s": "x"}, {"a": 2, "s": None}, {"a": None, "s": "z"}]


class Stream:
    """An object that has nothing but the interface."""

    def __arrow_c_stream__(self, requested_schema=None):
        return ROWS.__arrow_c_stream__(requested_schema)


class Batch:
    """As `Stream`, for one record batch."""

    def __arrow_c_array__(self, requested_schema=None):
        return ROWS.to_batches()[0].__arrow_c_array__(requested_schema)


@pytest.mark.parametrize(
    "frame",
    [
        lambda: ROWS,
        ROWS.to_reader,
        lambda: ROWS.to_batches()[0],
        Stream,
        Batch,
        lambda: ROWS.to_pandas(types_mapper=pd.ArrowDtype),
        lambda: pl.from_arrow(ROWS),
        lambda: pl.from_arrow(ROWS).lazy(),
        lambda: duckdb.from_arrow(ROWS),
        lambda: nw.from_native(ROWS),
        lambda: nw.from_native(pl.from_arrow(ROWS).lazy()),
        lambda: Pipeline("other").from_frame("f", ROWS),
        lambda: Pipeline("other").from_frame("f", ROWS).collect(),
    ],
    ids=["table", "reader", "batch", "stream", "array", "pandas", "polars", "lazy", "duckdb", "narwhals",
         "narwhals-lazy", "gpuetl-table", "gpuetl-result"],
)  # fmt: skip
def test_sources_take_frames_of_every_kind(frame):
    assert Pipeline("p").from_frame("t", frame()).collect().to_arrow().to_pylist() == LIST


@pytest.mark.parametrize("frame", [[1, 2], "rows", pl.Series([1]), pa.chunked_array([[1]]), None, 3])
def test_what_is_no_frame_is_refused(frame):
    with pytest.raises(InvalidPipeline, match=f"source 't': a {type(frame).__name__} is not a frame"):
        Pipeline("p").from_frame("t", frame)


@pytest.fixture(params=["table", "result", "run"])
def rows(request, pipeline):
    """Rows of a table, of what it computes, and of a run."""
    t = pipeline.from_frame("t", ROWS).filter(col("s").is_not_null())
    if request.param == "run":
        return t.stage("kept").pipeline.run()["kept"]
    return t if request.param == "table" else t.collect()


KEPT = [LIST[0], LIST[2]]


def test_rows_are_taken_by_other_libraries(rows):
    assert pa.table(rows).to_pylist() == KEPT
    assert pl.DataFrame(rows).to_dicts() == KEPT
    assert duckdb.sql("SELECT * FROM rows").to_arrow_table().to_pylist() == KEPT
    assert nw.from_arrow(rows, backend="polars").to_native().to_dicts() == KEPT
    assert pd.DataFrame.from_arrow(rows)["s"].tolist() == ["x", "z"]


def test_methods_for_each_library(rows):
    assert rows.to_arrow().to_pylist() == KEPT
    assert rows.to_polars().to_dicts() == KEPT
    assert rows.to_pandas()["s"].tolist() == ["x", "z"]


def test_a_result_knows_its_rows_and_columns(rows):
    rows = rows.collect() if isinstance(rows, Table) else rows
    assert (len(rows), rows.columns) == (2, ["a", "s"])
    assert {name: str(dtype) for name, dtype in rows.schema.items()} == {"a": "int64", "s": "string"}
    assert repr(rows) == "    a  s\nint64  string\n    1  x\n null  z\n(2 rows)"


@pytest.mark.parametrize("zone", ["Etc/UTC", "UTC", "+00:00"])
def test_utc_by_another_name_is_utc(zone):
    """DuckDB's timestamps have the zone of its session, and are to be joined with those of files."""
    frame = pa.table({"t": pa.array([0, 3_600_000_000], pa.timestamp("us", zone))})
    table = Pipeline("p").from_frame("t", frame).collect().to_arrow()
    assert table.schema == pa.schema({"t": pa.timestamp("us", "UTC")})
    assert table.column("t").cast(pa.int64()).to_pylist() == [0, 3_600_000_000]
