"""Sinks with partition columns: the cudf engine writes the folders and files that Arrow writes."""

import random
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fuzz.data import TYPES, pool
from gpu_engine.host_machine import COMPILER, HostMachine
from gpu_engine.test_columns import uploaded
from gpuetl import Pipeline
from gpuetl.backends.cudf.columns.text_codes import with_dictionary
from gpuetl.backends.cudf.interchange import from_arrow, to_arrow
from gpuetl.backends.cudf.sinks.partitions import split_by_value
from gpuetl.expressions.types import is_list
from gpuetl.io import hive
from tables import write_source

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
MACHINE = HostMachine()
KEYS = [name for name, dtype in TYPES.items() if not is_list(dtype)]
"""Types that may be keys."""


def table_of(rows, seed=0):
    draws = random.Random(seed)
    columns = {
        name: pa.array([draws.choice([*pool(TYPES[name], wild=True), None]) for _ in range(rows)], TYPES[name])
        for name in KEYS
    }
    return pa.table({**columns, "nothing": pa.nulls(rows), "row": range(rows)})


def values(frame):
    counted = {name: replace(vector, nulls=-1 if vector.nulls else 0) for name, vector in frame.columns.items()}
    return {name: to_arrow(vector, MACHINE).to_pylist() for name, vector in counted.items()}


def assert_split_as_arrow_does(table, keys, frame=None):
    found = split_by_value(frame or uploaded(table), keys, MACHINE)
    expected = [(folder, rows.to_pydict()) for folder, rows in hive.split_by_value(table, keys)]
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


@pytest.mark.parametrize("engine", ["pandas", "cudf-on-cpu"])
def test_each_partition_is_one_file_whose_rows_keep_their_order(tmp_path, engine):
    pipeline = Pipeline("test", root=tmp_path)
    table = table_of(100).select(["bool", "int8", "string", "float32", "row"])
    write_source(pipeline, "t", table).write_parquet("out", "out", partition_by=["bool", "int8"])
    pipeline.run(engine=engine)
    found = {
        path.relative_to(tmp_path / "out"): pq.read_table(path, partitioning=None)
        for path in (tmp_path / "out").rglob("*.parquet")
    }
    expected = hive.split_by_value(table, ("bool", "int8"))
    assert {str(path.parent): str(rows.to_pydict()) for path, rows in found.items()} == {
        folder: str(rows.to_pydict()) for folder, rows in expected
    }
    assert sorted(path.stem[-5:] for path in found) == [f"{place:05}" for place in range(len(expected))]
    writers = {pq.read_metadata(tmp_path / "out" / path).created_by.split()[0] for path in found}
    assert writers == {"gpuetl" if engine == "cudf-on-cpu" else "parquet-cpp-arrow"}
