"""Expected sizes of nested columns: those of all their values, from file metadata or from a frame."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import Pipeline
from gpuetl.formats.dataset import Dataset
from gpuetl.physical.size_estimates import type_bytes
from gpuetl.types.data_types import parse_type

ROWS = 1000
COLUMNS = {
    "struct": pa.array([{"a": i, "s": f"name-{i:06}"} for i in range(ROWS)], pa.struct([("a", pa.int64()), ("s", pa.string())])),
    "structs": pa.array([[{"a": i, "b": 2 * i}] * 4 for i in range(ROWS)]),
    "map": pa.array([[(f"key-{i:06}", i), ("b", 2)] for i in range(ROWS)], pa.map_(pa.string(), pa.int64())),
    "binary": pa.array([i.to_bytes(40, "big") for i in range(ROWS)], pa.binary()),
    "lists": pa.array([[[i, i], [i]] for i in range(ROWS)], pa.list_(pa.list_(pa.int64()))),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_a_row_is_expected_to_take_about_what_it_takes_in_memory(tmp_path, name):
    pq.write_table(pa.table({"x": COLUMNS[name]}), tmp_path / "t.parquet", use_dictionary=False)
    values = Dataset("t", "parquet", tmp_path / "t.parquet").column_values("x")
    took = COLUMNS[name].nbytes / ROWS
    expected = values.text_bytes if name == "binary" else values.row_bytes
    assert 0.5 * took < expected < 2 * took


def test_sizes_of_types_are_those_of_their_parts():
    assert type_bytes(parse_type("struct<a: int64, b: int32>")) == 12
    assert type_bytes(parse_type("map<int64, int64>")) == 2 * type_bytes(parse_type("list<int64>"))
    assert type_bytes(parse_type("uuid")) == 16


def test_a_frame_tells_its_own(tmp_path):
    t = Pipeline("test", root=tmp_path).from_frame("t", pa.table({"x": COLUMNS["structs"]}))
    source = t.pipeline.plan().sources["t"]
    assert source.dataset.column_values("x").row_bytes == pytest.approx(COLUMNS["structs"].nbytes / ROWS)
