"""Sinks with partition columns: the cudf engine writes the folders and files that Arrow writes."""

import random
from dataclasses import replace
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fuzz.data import TYPES, pool
from gpu_engine.host_machine import COMPILER, HostMachine
from gpu_engine.test_columns import uploaded
from gpuetl import Pipeline
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_arrow
from gpuetl.engines.cudf.columns.string_codes import with_dictionary
from gpuetl.engines.cudf.columns.string_dictionaries import decoded
from gpuetl.engines.cudf.io import parquet_writer
from gpuetl.engines.cudf.io.parquet_writer import has_encoding, split_by_value, write_file
from gpuetl.io import partition_folders
from gpuetl.types.schema import Schema
from tables import write_source

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
MACHINE = HostMachine()
KEYS = [name for name, dtype in TYPES.items() if has_encoding(dtype)]
"""Types that may be keys."""


def table_of(rows, seed=0):
    draws = random.Random(seed)
    columns = {
        name: pa.array([draws.choice([*pool(TYPES[name], wild=True), None]) for _ in range(rows)], TYPES[name])
        for name in KEYS
    }
    return pa.table({**columns, "nothing": pa.nulls(rows), "row": range(rows)})


def values(frame):
    if isinstance(frame, pa.Table):
        return frame.to_pydict()
    columns = {name: decoded(vector, MACHINE) for name, vector in frame.columns.items()}
    counted = {name: replace(vector, nulls=-1 if vector.nulls else 0) for name, vector in columns.items()}
    return {name: to_arrow(vector, MACHINE).to_pylist() for name, vector in counted.items()}


def assert_split_as_arrow_does(table, keys, frame=None):
    expected = [(folder, rows.to_pydict()) for folder, rows in partition_folders.split_by_value(table, keys)]
    for least, made in ((0, Frame), (parquet_writer.LEAST_BYTES, pa.Table)):
        with patch.object(parquet_writer, "LEAST_BYTES", least):
            found = split_by_value(frame or uploaded(table), keys, MACHINE)
        assert all(isinstance(rows, made) for _, rows in found)
        assert str([(folder, values(rows)) for folder, rows in found]) == str(expected)


@pytest.mark.parametrize("key", [*KEYS, "nothing"])
@pytest.mark.parametrize("rows", [0, 200])
def test_rows_and_folders_are_those_of_arrow_for_keys_of_each_type(key, rows):
    """Zeros of either sign have folders of their own, NaN and null too; texts are escaped."""
    assert_split_as_arrow_does(table_of(rows, seed=rows).select([key, "row"]), (key,))


@pytest.mark.parametrize("seed", range(2))
def test_rows_are_split_by_several_keys(seed):
    table = table_of(200, seed).select(["bool", "string", "float64", "int8", "row"])
    assert_split_as_arrow_does(table, ("float64", "bool"))
    assert_split_as_arrow_does(table, ("string", "int8"))


def test_texts_of_a_dictionary_are_keys():
    texts = [["a b", "ü/=", None, "", "__HIVE_DEFAULT_PARTITION__"][row % 5] for row in range(64)]
    table = pa.table({"s": texts, "row": range(64)})
    frame = uploaded(table)
    coded = frame.updated({"s": with_dictionary(from_arrow(pa.chunked_array([texts]), MACHINE), MACHINE)})
    assert coded.columns["s"].dictionary
    assert_split_as_arrow_does(table, ("s",), coded)


@pytest.mark.parametrize(("engine", "by"), [("pandas", "Arrow"), ("cudf-on-cpu", "Arrow"), ("cudf-on-cpu", "us")])
def test_each_partition_is_one_file_whose_rows_keep_their_order(tmp_path, engine, by, request):
    """Small ones are Arrow's on both engines."""
    if by == "us":
        request.getfixturevalue("encoded_on_device")
    pipeline = Pipeline("test", root=tmp_path)
    table = table_of(100).select(["bool", "int8", "string", "float32", "row"])
    write_source(pipeline, "t", table).write_parquet("out", "out", partition_by=["bool", "int8"])
    pipeline.run(engine=engine)
    found = {
        path.relative_to(tmp_path / "out"): pq.read_table(path, partitioning=None)
        for path in (tmp_path / "out").rglob("*.parquet")
    }
    expected = partition_folders.split_by_value(table, ("bool", "int8"))
    assert {str(path.parent): str(rows.to_pydict()) for path, rows in found.items()} == {
        folder: str(rows.to_pydict()) for folder, rows in expected
    }
    assert sorted(path.stem[-5:] for path in found) == [f"{place:05}" for place in range(len(expected))]
    writers = {pq.read_metadata(tmp_path / "out" / path).created_by.split()[0] for path in found}
    assert writers == {"gpuetl" if by == "us" else "parquet-cpp-arrow"}


def test_a_file_is_encoded_here_where_its_rows_take_a_megabyte(tmp_path):
    """Nulls that were not counted anew are counted by Arrow."""
    few, many = (
        Frame(uploaded(pa.table({"x": [1.5, None, 2.5] * 11})).columns, 33),
        uploaded(pa.table({"x": range(1 << 17)})),
    )
    few = Frame({"x": replace(few.columns["x"], nulls=7)}, 33)
    for name, frame, by in (("few", few, "parquet-cpp-arrow"), ("many", many, "gpuetl")):
        path = tmp_path / name
        schema = Schema({"x": frame.columns["x"].dtype})
        write_file(frame, schema, path, MACHINE, alone=True)
        assert pq.read_metadata(path).created_by.split()[0] == by
    assert pq.read_table(tmp_path / "few")["x"].to_pylist() == [1.5, None, 2.5] * 11
    assert pq.read_table(tmp_path / "many")["x"].to_pylist() == list(range(1 << 17))


@pytest.mark.parametrize("most", [100, 1000])
def test_files_are_arrow_s_while_their_texts_fit_one_column_of_it(tmp_path, monkeypatch, most):
    """Those of a dictionary are counted as each row has them: a few long ones are gigabytes, repeated."""
    monkeypatch.setattr(parquet_writer, "MOST_HOST_BYTES", most)
    texts, rows = ["a" * 5, None, "b", "c" * 3], 8
    table = pa.table({"k": [0, 1] * 4, "s": (texts * 2)[:rows]})
    coded = with_dictionary(from_arrow(pa.array(texts * 1000), MACHINE), MACHINE)
    data, valid = coded.data[:rows], coded.valid
    frame = uploaded(table).updated({"s": replace(coded, rows=rows, data=data, valid=valid, nulls=2)})
    made, by = (Frame, "gpuetl") if most == 100 else (pa.Table, "parquet-cpp-arrow")
    assert [(type(part), values(part)) for _, part in split_by_value(frame, ("k",), MACHINE)] == [
        (made, rows.to_pydict()) for _, rows in partition_folders.split_by_value(table, ("k",))
    ]
    write_file(frame, Schema.of_arrow(table.schema), tmp_path / "x.parquet", MACHINE, alone=True)
    assert pq.read_metadata(tmp_path / "x.parquet").created_by.split()[0] == by
    assert pq.read_table(tmp_path / "x.parquet").equals(table)
