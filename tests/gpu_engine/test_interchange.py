"""Arrow columns that one array cannot hold, or that are slices of others."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.engines.cudf.columns import interchange, validity
from gpuetl.engines.cudf.columns.arrays import host_copies
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow, in_one_array, to_arrow, to_table
from gpuetl.engines.cudf.io.parquet_reader import checked
from gpuetl.formats import frames

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
HOST = HostMachine()
TEXTS = ["", "a", None, "äöü", "two words", None, "x" * 9, ""]
LISTS = [["a", "bc"], None, [], [None, "d" * 7], ["e"]]


@pytest.mark.parametrize(("values", "dtype"), [(TEXTS, pa.string()), (LISTS, pa.list_(pa.string()))])
def test_chunks_that_no_array_of_arrow_holds_are_one_column(values, dtype, monkeypatch):
    """As of a CSV file of which a column of texts has more than 2 GiB."""
    monkeypatch.setattr(frames, "MOST_BYTES", 10)
    chunks = pa.chunked_array([values[:3], values[3:4], [], values[4:]], dtype)
    assert in_one_array(chunks).type != dtype
    column = from_arrow(chunks, HOST)
    assert (column.dtype, to_arrow(column, HOST).to_pylist()) == (dtype, values)


def test_texts_of_many_bytes_have_wide_offsets(monkeypatch):
    """And come back in as many arrays as hold them, each of which begins anew."""
    monkeypatch.setattr(frames, "MOST_BYTES", 10)
    monkeypatch.setattr(validity, "MOST", 10)
    column = from_arrow(pa.chunked_array([TEXTS, TEXTS]), HOST)
    assert column.offsets.dtype == np.int64
    found = to_table(Frame({"s": column}, column.rows), HOST)["s"]
    assert found.type == pa.string()
    assert found.num_chunks > 1
    assert max(chunk.buffers()[2].size for chunk in found.chunks) <= 10
    assert found.to_pylist() == [*TEXTS, *TEXTS]


@pytest.mark.parametrize("start", [0, 1, 7, 8, 9, 63, 64])
@pytest.mark.parametrize("rows", [0, 1, 8, 31, 32, 33])
def test_slices_have_their_own_bits(start, rows):
    values = [None if place % 5 == 0 else place % 3 == 0 for place in range(120)]
    column = from_arrow(pa.array(values, pa.bool_()).slice(start, rows), HOST)
    assert to_arrow(column, HOST).to_pylist() == values[start : start + rows]


def both_ways(columns, monkeypatch):
    """Return a frame's table as it is copied at once, and as it is copied column by column."""
    vectors = {name: checked({"": from_arrow(array, HOST)}, HOST)[""] for name, array in columns.items()}
    frame = Frame(vectors, len(next(iter(columns.values()))))
    assert interchange.is_small(frame)
    found = to_table(frame, HOST)
    monkeypatch.setattr(interchange, "FEW_ROWS", -1)
    assert not interchange.is_small(frame)
    return found, to_table(frame, HOST)


@pytest.mark.parametrize("rows", [0, 1, 31, 33, 200])
def test_small_frames_are_copied_at_once(rows, monkeypatch):
    """Texts with and without a dictionary, lists, decimals, truth values, nulls only."""
    nullable = [None if row % 7 == 3 else row for row in range(rows)]
    columns = {
        "coded": pa.array([None if row is None else f"id{row % 3}" for row in nullable], pa.string()),
        "other": pa.array([f"text {row}" * 3 for row in range(rows)], pa.string()),
        "null": pa.nulls(rows, pa.string()),
        "none": pa.nulls(rows),
        "lists": pa.array([None if row is None else [str(row)] * (row % 3) for row in nullable], pa.list_(pa.string())),
        "long": pa.array(nullable, pa.int64()).cast(pa.decimal128(38, 2)),
        "short": pa.array([None if row is None else Decimal(row) for row in nullable], pa.decimal128(18, 0)),
        "flags": pa.array([None if row is None else row % 2 == 0 for row in nullable], pa.bool_()),
        "bytes": pa.array([None if row is None else row % 9 for row in nullable], pa.int8()),
        "floats": pa.array(nullable, pa.float64()),
    }
    found, expected = both_ways(columns, monkeypatch)
    found.validate(full=True)
    assert found.schema == expected.schema
    assert found.to_pylist() == expected.to_pylist()
    assert found.to_pydict() == {name: array.to_pylist() for name, array in columns.items()}


def test_more_arrays_than_a_launch_copies(monkeypatch):
    columns = {f"c{place}": pa.array([place, None, 1], pa.int16()) for place in range(70)}
    found, expected = both_ways(columns, monkeypatch)
    assert found.equals(expected)
    assert found["c69"].to_pylist() == [69, None, 1]
    assert to_table(Frame({}, 3), HOST).num_rows == 3


@pytest.mark.parametrize("machine", [HOST, EmulatedMachine()], ids=["host", "emulated"])
def test_arrays_of_any_size_are_copied(machine):
    given = [
        np.arange(count).astype(dtype) for count, dtype in ((0, "int64"), (1, "uint8"), (65, "int16"), (9, "int64"))
    ]
    found = host_copies([machine.arrays.asarray(array) for array in given], machine)
    for array, copy in zip(given, found, strict=True):
        assert (copy.tolist(), copy.dtype) == (array.tolist(), array.dtype)
    assert host_copies([], machine) == []
