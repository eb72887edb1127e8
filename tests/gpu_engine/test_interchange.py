"""Arrow columns that one array cannot hold, or that are slices of others."""

import numpy as np
import pyarrow as pa
import pytest

from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.backends.cudf.columns import written
from gpuetl.backends.cudf.frame import Frame
from gpuetl.backends.cudf.interchange import from_arrow, in_one_array, to_arrow, to_table
from gpuetl.io import large_texts

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
HOST = HostMachine()
TEXTS = ["", "a", None, "äöü", "two words", None, "x" * 9, ""]
LISTS = [["a", "bc"], None, [], [None, "d" * 7], ["e"]]


@pytest.mark.parametrize(("values", "dtype"), [(TEXTS, pa.string()), (LISTS, pa.list_(pa.string()))])
def test_chunks_that_no_array_of_arrow_holds_are_one_column(values, dtype, monkeypatch):
    """As of a CSV file of which a column of texts has more than 2 GiB."""
    monkeypatch.setattr(large_texts, "MOST_BYTES", 10)
    chunks = pa.chunked_array([values[:3], values[3:4], [], values[4:]], dtype)
    assert in_one_array(chunks).type != dtype
    column = from_arrow(chunks, HOST)
    assert (column.dtype, to_arrow(column, HOST).to_pylist()) == (dtype, values)


def test_texts_of_many_bytes_have_wide_offsets(monkeypatch):
    """And come back in as many arrays as hold them, each of which begins anew."""
    monkeypatch.setattr(large_texts, "MOST_BYTES", 10)
    monkeypatch.setattr(written, "MOST", 10)
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
