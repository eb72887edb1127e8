"""Times of Parquet files that count seconds, milliseconds or nanoseconds: microseconds, or refused as pandas refuses."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpu_engine.host_machine import COMPILER, ON_CPU, HostMachine
from gpuetl import RunFailed
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_arrow
from gpuetl.engines.cudf.io.parquet_reader import in_microseconds

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
MACHINE = HostMachine()
MOST = {"s": (2**63 - 1) // 10**6, "ms": (2**63 - 1) // 1000, "ns": (2**63 - 1) // 1000 * 1000}


def stored(values, dtype):
    return pa.array(values, "int64").cast(dtype)


@pytest.mark.parametrize("unit", MOST)
@pytest.mark.parametrize("dtype", [pa.timestamp, lambda unit: pa.timestamp(unit, "UTC"), pa.duration])
def test_all_that_microseconds_hold_is_converted(unit, dtype):
    """Nulls stay."""
    column = stored([0, -MOST[unit], None, MOST[unit]], dtype(unit))
    got = to_arrow(in_microseconds(from_arrow(column, MACHINE), "x", MACHINE), MACHINE)
    assert got.equals(column.cast(dtype("us")))


@pytest.mark.parametrize(
    ("unit", "value"),
    [
        ("s", MOST["s"] + 1), ("s", -MOST["s"] - 1), ("ms", MOST["ms"] + 1), ("ms", -MOST["ms"] - 1), ("ms", 2**62),
        ("ns", 1), ("ns", -1), ("ns", 2**63 - 1),
    ],
)  # fmt: skip
def test_others_are_refused_with_their_row_unless_they_lie_below_a_null(unit, value):
    """The oracle's own cast refuses them as well."""
    column = stored([0, 5000, value], pa.timestamp(unit))
    with pytest.raises(pa.ArrowInvalid):
        column.cast(pa.timestamp("us"))
    told = rf"^column 'x' in row 2: timestamp does not hold {value} {unit} in microseconds$"
    with pytest.raises(ValueError, match=told):
        in_microseconds(from_arrow(column, MACHINE), "x", MACHINE)
    below = pa.Array.from_buffers(column.type, 3, [pa.py_buffer(b"\3"), column.buffers()[1]], 1)
    assert to_arrow(in_microseconds(from_arrow(below, MACHINE), "x", MACHINE), MACHINE).null_count == 1


@pytest.mark.parametrize("engine", ["pandas", ON_CPU])
@pytest.mark.parametrize("column", ["x", "xs"])
def test_a_file_is_read_or_refused_with_its_name_on_both_engines(pipeline, engine, column):
    """Lists too."""
    for name, value in (("near", MOST["ms"]), ("far", MOST["ms"] + 1)):
        times = stored([0, value], pa.timestamp("ms"))
        lists = pa.ListArray.from_arrays(pa.array([0, 1, 2], "int32"), times)
        pq.write_table(pa.table({"x": times, "xs": lists}), pipeline.root / f"{name}.parquet")
        pipeline.read_parquet(name, f"{name}.parquet").select(column).stage(f"of_{name}")
    got = pipeline.run(engine=engine, keep="of_near")["of_near"].to_arrow().column(0).combine_chunks()
    assert (got.flatten() if column == "xs" else got).cast("int64").to_pylist() == [0, MOST["ms"] * 1000]
    with pytest.raises(RunFailed, match=r"far\.parquet: .*9223372036854776"):
        pipeline.run(engine=engine, keep="of_far")
