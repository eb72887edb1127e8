"""Frames of other libraries as sources, and results as theirs."""

import re
import sys
from datetime import datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import InvalidPipeline, PackageMissing, Pipeline, col
from gpuetl.errors import EvaluationError
from gpuetl.testing import assert_tables_equal
from tables import NAN, table

ROWS = table({"k": "string", "x": "int64", "y": "float64"}, ("a", 1, 0.5), (None, None, NAN), ("é", 3, None))
KEPT = table({"k": "string", "x": "int64", "y": "float64"}, ("é", 3, None))


@pytest.mark.parametrize(
    "frame",
    [ROWS, ROWS.to_pandas(types_mapper=pd.ArrowDtype), pl.from_arrow(ROWS)],
    ids=["arrow", "pandas", "polars"],
)
def test_a_frame_is_a_source(pipeline, engine, layout, frame):
    """Its rows are those of the frame, null and NaN apart."""
    rows = pipeline.from_frame("t", frame)
    rows.filter(col("x") > 1).stage("kept")
    run = pipeline.run(engine=engine, keep=["t", "kept"], options=layout)
    assert_tables_equal(run["t"].to_arrow(), ROWS, ordered=True)
    assert_tables_equal(run["kept"].to_arrow(), KEPT)
    assert run.report.stages[0].rows_out == 3


def test_nan_of_numpy_columns_of_pandas_is_null(pipeline):
    """There pandas has no other null."""
    pipeline.from_frame("t", pd.DataFrame({"x": [1.0, NAN]}))
    assert pipeline.run(engine="pandas", keep=["t"])["t"].to_arrow().column("x").to_pylist() == [1.0, None]


def test_a_frame_of_no_rows_and_one_of_many_slices(pipeline, engine):
    """Typed rows, in order."""
    pipeline.from_frame("none", ROWS.slice(0, 0))
    pipeline.from_frame("many", pa.table({"x": np.arange(2_500_000)}))
    run = pipeline.run(engine=engine, keep=["none", "many"])
    assert run["none"].to_arrow().schema == ROWS.schema
    assert run["many"].to_arrow().column("x").to_numpy().tolist() == list(range(2_500_000))


def test_types_become_those_of_the_language(pipeline):
    """Dictionaries are their values, nanoseconds microseconds."""
    frame = pa.table({"d": pa.array(["a", "b"]).dictionary_encode(), "t": pa.array([1000, 2000], pa.timestamp("ns"))})
    pipeline.from_frame("t", frame)
    assert pipeline.plan().sources["t"].schema.to_arrow() == pa.schema({"d": pa.string(), "t": pa.timestamp("us")})


def test_categories_of_polars_are_their_strings(pipeline, engine, layout):
    """In lists, too."""
    columns = {"c": ["x", "y", None], "e": ["b", None, "a"], "l": [["x"], [], None]}
    schema = {"c": pl.Categorical, "e": pl.Enum(["a", "b"]), "l": pl.List(pl.Categorical)}
    pipeline.from_frame("t", pl.DataFrame(columns, schema=schema))
    got = pipeline.run(engine=engine, keep=["t"], options=layout)["t"].to_arrow()
    assert got.to_pydict() == columns
    assert got.schema == pa.schema({"c": pa.string(), "e": pa.string(), "l": pa.list_(pa.string())})


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ([1, 2], "source 't': a list is not a frame\nIt takes an Arrow table, a frame of pandas, Polars or cuDF, a "),
        (
            pa.table({"t": pa.array([1], pa.timestamp("ns"))}),
            "source 't': column 't' cannot become timestamp[us] without loss",
        ),
        (
            pa.table({"u": pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])}),
            "source 't': column 'u' has type sparse_union<0: int64=0>, which gpuetl does not support",
        ),
        (pa.table([pa.array([1]), pa.array([2])], ["a", "a"]), "source 't': two columns are named 'a'"),
        (
            pd.DataFrame({"o": [1, "x"]}, dtype=object),
            "source 't': a column cannot be taken as Arrow: Could not convert",
        ),
    ],
    ids=["list", "nanoseconds", "union", "twice", "mixed"],
)
def test_what_is_no_frame_of_the_language_is_refused(pipeline, frame, message):
    """Where it is declared."""
    with pytest.raises(InvalidPipeline) as caught:
        pipeline.from_frame("t", frame)
    assert str(caught.value).startswith(message)


def test_a_pipeline_of_frames_is_not_written_as_yaml(pipeline):
    """A file cannot hold the rows."""
    pipeline.from_frame("t", ROWS)
    with pytest.raises(InvalidPipeline, match="source 't': a frame in memory cannot be written as YAML"):
        pipeline.to_yaml()


def test_a_pipeline_of_frames_is_verified(pipeline, engine):
    """As one of files."""
    pipeline.from_frame("t", ROWS).filter(col("x") > 1).stage("kept")
    assert pipeline.verify(engine=engine).same


def result(rows, engine="pandas"):
    """Return rows as a run's result."""
    pipeline = Pipeline("test")
    pipeline.from_frame("t", rows)
    return pipeline.run(engine=engine, keep=["t"])["t"]


def test_results_go_to_arrow_pandas_and_polars(engine):
    """With nulls, NaN and types as they are."""
    rows = ROWS.append_column("t", pa.array([datetime(1969, 12, 31), None, None], pa.timestamp("us")))
    rows = rows.append_column("d", pa.array([timedelta(1), None, None], pa.duration("us")))
    got = result(rows, engine)
    assert_tables_equal(got.to_arrow(), rows, ordered=True)
    assert got.to_pandas()["x"].tolist() == [1, pd.NA, 3]
    assert got.to_polars().equals(pl.from_arrow(rows))


@pytest.mark.parametrize("wrapped", [lambda x: x, lambda x: [x], lambda x: {"y": x}], ids=["flat", "list", "struct"])
def test_decimals_of_more_than_38_digits_do_not_go_to_polars(pipeline, wrapped):
    """Polars ended the process with a Rust panic."""
    wide = pa.decimal256(50, 2)
    types = {"flat": wide, "list": pa.list_(wide), "struct": pa.struct([("y", wide)])}
    dtype = types[{list: "list", dict: "struct"}.get(type(wrapped(1)), "flat")]
    pq.write_table(
        pa.table({"x": [1], "w": pa.array([wrapped(Decimal(10) ** 45)], dtype)}), pipeline.root / "t.parquet"
    )
    pipeline.read_parquet("t", "t.parquet").select("w").stage("s")
    got = pipeline.run(engine="pandas", keep=["s"])["s"]
    with pytest.raises(EvaluationError, match=r"column .w. is .*, and Polars has decimals of up to 38 digits"):
        got.to_polars()
    assert got.to_arrow().num_rows == 1


class Torch:
    """What is used of torch, on NumPy."""

    from_dlpack = staticmethod(np.from_dlpack)


class Cupy:
    """What is used of CuPy, on NumPy."""

    asarray = staticmethod(np.asarray)


@pytest.fixture
def array_libraries(engine, monkeypatch):
    """Stand-ins for libraries of arrays; on a GPU, CuPy's own."""
    cupy = pytest.importorskip("cupy") if engine == "cudf" else None
    monkeypatch.setitem(sys.modules, "torch", cupy or Torch)
    monkeypatch.setitem(sys.modules, "cupy", cupy or Cupy)


NUMBERS = table({"i": "int32", "f": "float64", "b": "bool"}, (1, 0.5, True), (2, NAN, False))


@pytest.mark.parametrize("method", ["to_cupy", "to_torch"])
@pytest.mark.usefixtures("array_libraries")
def test_numbers_go_to_arrays(method, engine):
    """An array a column, by name."""
    arrays = getattr(result(NUMBERS, engine), method)()
    assert [(name, str(array.dtype), array.tolist()[0]) for name, array in arrays.items()] == [
        ("i", "int32", 1), ("f", "float64", 0.5), ("b", "bool", True),
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "message"), [("k", "column 'k' is string"), ("x", "column 'x' has 1 nulls")])
@pytest.mark.usefixtures("array_libraries")
def test_strings_and_nulls_go_to_no_array(name, message, engine):
    """The error says what to do before."""
    with pytest.raises(EvaluationError, match=message):
        result(ROWS.select([name]), engine).to_cupy()


@pytest.mark.parametrize("package", ["polars", "cudf", "cupy", "torch"])
def test_a_package_that_is_missing_is_named_with_what_to_install(package, monkeypatch):
    """The results stay, and can be handed over in another way."""
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(PackageMissing, match=f"to_{package} needs the package {package}.  Install it: pip install"):
        getattr(result(NUMBERS), f"to_{package}")()


def test_a_run_shows_in_a_line_what_it_did(pipeline):
    """And not all that its report holds."""
    pipeline.from_frame("t", ROWS).filter(col("x") > 1).stage("kept")
    run = pipeline.run(engine="pandas", keep=["kept"])
    done = rf"{pipeline.spec.name}: done on CPU in \d+(\.\d+)? (s|ms) \(plan .*s\)"
    assert re.fullmatch(f"<Run {done}; kept: kept>", repr(run))
    assert re.fullmatch(f"<RunReport {done}>", repr(run.report))
