"""ORC on engines that decode it on a device: the rows are those of the CPU, and notes say what the CPU reads."""

import datetime as dt
import random
from decimal import Decimal

import pyarrow as pa
import pyarrow.feather
import pytest
from pyarrow import orc

import gpuetl as ge
from gpu_engine.host_machine import ON_CPU
from gpuetl.options import RunOptions

ROW = pa.struct([("a", pa.int64()), ("b", pa.float64()), ("c", pa.list_(pa.string()))])
DEVICES = [ON_CPU, pytest.param("cudf", marks=pytest.mark.gpu)]


def table_of(rows, seed=0):
    """Return columns of every type that is read on the device, and of some that are not."""
    draws = random.Random(seed)

    def values(draw):
        return [None if draws.random() < 0.2 else draw() for _ in range(rows)]

    return pa.table({
        "i8": pa.array(values(lambda: draws.randrange(-128, 128)), pa.int8()),
        "i16": pa.array(values(lambda: draws.randrange(-(2**15), 2**15)), pa.int16()),
        "i32": pa.array(values(lambda: draws.randrange(-(2**31), 2**31)), pa.int32()),
        "i64": pa.array(values(lambda: draws.choice([-(2**63), 2**63 - 1, 0, draws.randrange(10)])), pa.int64()),
        "f32": pa.array(values(lambda: draws.choice([0.5, -0.0, float("inf"), draws.random()])), pa.float32()),
        "f64": pa.array(values(lambda: draws.choice([0.1, -0.0, float("-inf"), draws.random()])), pa.float64()),
        "b": pa.array(values(lambda: draws.random() < 0.5), pa.bool_()),
        "s": pa.array(values(lambda: draws.choice(["", "ü", "word " * 30, f"key {draws.randrange(9)}"])), pa.string()),
        "d": pa.array(values(lambda: dt.date.fromordinal(draws.randrange(1, 3_000_000))), pa.date32()),
        "m": pa.array(values(lambda: Decimal(draws.randrange(10**9)).scaleb(-2)), pa.decimal128(12, 2)),
        "t": pa.array(values(lambda: dt.datetime(2020, 1, 1) + dt.timedelta(microseconds=draws.randrange(10**15))), pa.timestamp("us")),
        "l": pa.array(values(lambda: [draws.randrange(5), None]), pa.list_(pa.int64())),
        "r": pa.array(values(lambda: {"a": draws.randrange(5), "b": None, "c": ["x", None]}), ROW),
        "k": pa.array(values(lambda: [("x", draws.randrange(5)), ("", None)]), pa.map_(pa.string(), pa.int32())),
        "lm": pa.array(values(lambda: [None, Decimal("0.5")]), pa.list_(pa.decimal128(9, 1))),
        "a.b": pa.array(values(lambda: 1), pa.int64()),
    })  # fmt: skip


def run(folder, engine, steps="{limit: 100000}", partition_rows=None):
    """Return the rows, and the notes of the run."""
    text = f"gpuetl: 1\nname: p\nsources: {{t: {{orc: t.orc}}}}\nstages: {{s: {{from: t, steps: [{steps}]}}}}"
    options = RunOptions(partition_rows=partition_rows, skip_passes=("read_small_on_cpu",))
    done = ge.loads(text, folder).run(engine=engine, options=options)
    return done["s"].to_arrow(), done.report.notes


@pytest.fixture(params=["zstd", "snappy", "zlib", "uncompressed"])
def written(request, tmp_path):
    """A file of several stripes."""
    table = table_of(5_000)
    with orc.ORCWriter(str(tmp_path / "t.orc"), compression=request.param, stripe_size=1, batch_size=1000) as writer:
        for start in range(0, table.num_rows, 1000):
            writer.write(table.slice(start, 1000))
    return tmp_path


@pytest.mark.part(8)
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("partition_rows", [1000, None])
def test_rows_are_those_of_the_cpu(written, device, partition_rows):
    rows, notes = run(written, device, partition_rows=partition_rows)
    assert rows.to_pylist() == run(written, "pandas")[0].to_pylist()
    on_cpu = {note.split("'")[3] for note in notes if "was read on the CPU: " in note}
    assert on_cpu == {"m", "t", "lm", "a.b"}
    assert any(
        "column 'm' was read on the CPU: libcudf may read decimal128(12, 2) of ORC otherwise than Arrow" in n
        for n in notes
    )


@pytest.mark.parametrize("device", DEVICES)
def test_some_columns_and_none(written, device):
    steps = "{filter: i8 > 0 AND d > DATE '1900-01-01'}, {aggregate: {by: [b], columns: {n: count(*), i: sum(i32)}}}, {sort: [b]}"
    assert run(written, device, steps)[0].to_pylist() == run(written, "pandas", steps)[0].to_pylist()
    assert run(written, device, "{aggregate: {columns: {n: count(*)}}}")[0].to_pylist() == [{"n": 5_000}]


@pytest.mark.parametrize("device", DEVICES)
def test_a_string_that_is_not_utf8_is_an_error(tmp_path, device):
    words = pa.array([b"good", b"\xff\xfe"] * 100, pa.binary()).view(pa.string())
    orc.write_table(pa.table({"s": words}), str(tmp_path / "t.orc"))
    with pytest.raises(ge.GpuetlError, match="not UTF-8"):
        run(tmp_path, device)


@pytest.mark.parametrize("device", DEVICES)
def test_the_report_says_why_the_cpu_reads_a_format(tmp_path, device):
    pa.feather.write_feather(pa.table({"a": [1]}), str(tmp_path / "t.arrow"))
    text = "gpuetl: 1\nname: p\nsources: {t: {arrow: t.arrow}}\nstages: {s: {from: t, steps: [{limit: 9}]}}"
    notes = ge.loads(text, tmp_path).run(engine=device).report.notes
    assert "source 't': Arrow IPC files were read on the CPU: libcudf has no reader of them" in notes


@pytest.mark.parametrize("device", DEVICES)
def test_the_report_says_which_column_of_json_the_cpu_reads(tmp_path, device):
    (tmp_path / "t.jsonl").write_text('{"a":{}}\n')
    text = "gpuetl: 1\nname: p\nsources: {t: {json: t.jsonl}}\nstages: {s: {from: t, steps: [{limit: 9}]}}"
    notes = ge.loads(text, tmp_path).run(engine=device).report.notes
    assert "source 't': JSON files were read on the CPU: column a is map<string, string>" in notes
