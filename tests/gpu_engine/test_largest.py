"""The largest frames, on a GPU that has room for them."""

import pyarrow as pa
import pytest

from gpuetl.engines.cudf.columns.concat import concat, stacked
from gpuetl.engines.cudf.columns.frame import MAX_ROWS, Frame
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_table
from gpuetl.engines.cudf.columns.keys import Key, Keys
from gpuetl.engines.cudf.columns.order import sort_rows
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.relational.grouping import Groups
from gpuetl.engines.cudf.relational.join_lookup import JoinKeys, lookup_of
from gpuetl.errors import EvaluationError
from gpuetl.plan.node import SortKey
from gpuetl.types.data_types import STRING

pytestmark = pytest.mark.gpu
ROOM = 80 << 30
"""Bytes of device memory."""


@pytest.fixture
def machine():
    """The GPU, if it is a large one."""
    pytest.importorskip("cupy", reason="needs CuPy and an NVIDIA GPU")
    from gpuetl.engines.cudf.runtime.gpu_machine import machine

    found = machine()
    use = found.memory_use()
    if use.limit - use.in_use < ROOM:
        pytest.skip(f"needs {ROOM >> 30} GiB of device memory")
    return found


def test_texts_of_almost_four_gigabytes(machine):
    """Put below each other, gathered, sent to the host and back."""
    arrays, rows, width = machine.arrays, 100_000_000, 13
    offsets = (arrays.arange(rows + 1, dtype="int64") * width).astype("int32")
    letters = (arrays.arange(rows * width, dtype="int64") % 26 + 97).astype("uint8")
    one = Vector(STRING, rows, letters, offsets=offsets)
    whole = stacked([one, one, one], machine)
    assert whole.offsets.dtype == "int64"
    assert int(whole.offsets[-1]) == 3_900_000_000
    last = take({"s": whole}, arrays.array([0, 3 * rows - 1]), machine, missing=False)["s"]
    assert bytes(last.data[width:].get()) == bytes(letters[-width:].get())
    table = to_table(Frame({"s": whole}, whole.rows), machine)
    assert table["s"].num_chunks == 2
    assert table["s"].type == pa.string()
    again = from_arrow(table["s"], machine)
    assert (again.data == whole.data).all()
    assert (again.offsets == whole.offsets).all()


def test_as_many_rows_as_a_frame_has_are_sorted_and_grouped(machine):
    """One more is refused."""
    values = (machine.arrays.arange(MAX_ROWS, dtype="int64") % 251 - 125).astype("int8")
    frame = Frame({"x": Vector(pa.int8(), MAX_ROWS, values)}, MAX_ROWS)
    order = sort_rows(frame, [SortKey("x")], 1, False, machine, whole=True)
    sorted_values = order.apply(frame, machine).columns["x"].data
    assert (int(sorted_values[0]), int(sorted_values[-1])) == (-125, 125)
    assert int(order.new_group.sum(dtype="int64")) == 251
    del order, sorted_values
    groups = Groups.by(frame, ["x"], machine)
    assert groups.count == 251
    assert int(groups.starts[-1]) == MAX_ROWS
    more = Frame({"x": Vector(pa.int8(), 1, machine.arrays.zeros(1, "int8"))}, 1)
    with pytest.raises(EvaluationError, match="rows"):
        concat([frame, more], {"x": pa.int8()}, machine)


def test_the_largest_side_of_narrow_keys_is_a_table_by_code(machine):
    """Each code is the place of a row."""
    rows = 1 << 28
    keys = Vector(pa.int64(), rows, machine.arrays.arange(rows, dtype="int64"))
    side = Keys((Key(keys, False),), rows)
    lookup = lookup_of(JoinKeys(side, side, False), machine)
    assert lookup.layout is not None
    assert not lookup.repeated
