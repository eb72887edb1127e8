"""Avro files: every type, codec and block, on every engine."""

import datetime as dt
import io
import sys
import uuid
import zlib
from decimal import Decimal

import fastavro
import pyarrow as pa
import pytest

import gpuetl as ge
from gpuetl.formats import avro
from gpuetl.options import RunOptions

LAYOUTS = pytest.mark.parametrize("partition_rows", [2, None])
SYNC = b"0123456789abcdef"


def logical(kind, name, **more):
    return {"type": kind, "logicalType": name, **more}


FIELDS = {
    "k": ["null", "string"],
    "i": ["int", "null"],
    "n": "long",
    "f": ["null", "double"],
    "s": "float",
    "b": ["null", "boolean"],
    "d": ["null", logical("int", "date")],
    "t": ["null", logical("long", "timestamp-micros")],
    "m": ["null", logical("long", "timestamp-millis")],
    "l": ["null", logical("long", "local-timestamp-micros")],
    "p": ["null", logical("bytes", "decimal", precision=10, scale=2)],
    "x": ["null", {**logical("fixed", "decimal", precision=38, scale=4), "name": "X", "size": 16}],
    "u": ["null", logical("string", "uuid")],
    "e": ["null", {"type": "enum", "name": "E", "symbols": ["hot", "cold"]}],
    "a": ["null", {"type": "array", "items": ["null", "long"]}],
}
ID = uuid.UUID("12345678-1234-5678-1234-567812345678")
ROWS = [
    {"k": "a", "i": 1, "n": -(2**63), "f": 0.1, "s": 0.5, "b": True, "d": dt.date(2020, 1, 31),
     "t": dt.datetime(2020, 1, 1, 12, 0, 0, 7, dt.UTC), "m": dt.datetime(1969, 12, 31, 23, 59, 59, 999000, dt.UTC),
     "l": dt.datetime(2020, 1, 1, 12, 0, 0, 7), "p": Decimal("-1.25"), "x": Decimal("1234567890123456789012345678.9012"),
     "u": str(ID), "e": "hot", "a": [1, None, 3]},
    {"k": None, "i": None, "n": 0, "f": None, "s": -0.0, "b": None, "d": None, "t": None, "m": None, "l": None, "p": None,
     "x": None, "u": None, "e": None, "a": None},
    {"k": "ü", "i": -5, "n": 2**63 - 1, "f": float("inf"), "s": 1.5, "b": False, "d": dt.date(1, 1, 1),
     "t": dt.datetime(9999, 12, 31, tzinfo=dt.UTC), "m": dt.datetime(1, 1, 1, tzinfo=dt.UTC), "l": dt.datetime(1, 1, 1),
     "p": Decimal("99999999.99"), "x": Decimal("-0.0001"), "u": str(ID), "e": "cold", "a": []},
]  # fmt: skip


def schema_of(fields):
    return {"type": "record", "name": "Row", "fields": [{"name": name, "type": kind} for name, kind in fields.items()]}


def write(path, fields, rows, codec="null"):
    """Write a file with a block for each row."""
    made = [{**row, "u": ID} if row.get("u") else row for row in rows]
    with path.open("wb") as file:
        fastavro.writer(file, schema_of(fields), made, codec=codec, sync_interval=1, sync_marker=SYNC)


def run(folder, steps="{limit: 99}", engine="pandas", partition_rows=None, keys="", name="t.avro"):
    """Return the rows of steps over the file."""
    text = f"gpuetl: 1\nname: p\nsources: {{t: {{avro: {name}{keys}}}}}\nstages: {{s: {{from: t, steps: [{steps}]}}}}"
    done = ge.loads(text, folder).run(engine=engine, options=RunOptions(partition_rows=partition_rows))
    return done["s"].to_arrow().to_pylist()


def failure(folder, **more):
    """Return the message."""
    with pytest.raises(ge.GpuetlError) as caught:
        run(folder, **more)
    return str(caught.value)


@LAYOUTS
@pytest.mark.parametrize("codec", ["null", "deflate", "bzip2", "xz"])
def test_values_of_every_type_are_read(engine, tmp_path, codec, partition_rows):
    write(tmp_path / "t.avro", FIELDS, ROWS, codec)
    assert run(tmp_path, "{filter: n = n}", engine, partition_rows) == ROWS


@pytest.mark.parametrize(("codec", "pack"), [
    ("snappy", lambda data: bytes(pa.Codec("snappy").compress(data)) + zlib.crc32(data).to_bytes(4, "big")),
    ("zstandard", lambda data: bytes(pa.Codec("zstd").compress(data))),
])  # fmt: skip
def test_codecs_that_arrow_unpacks(tmp_path, codec, pack):
    plain, fields = io.BytesIO(), {"k": "string", "n": "long"}
    rows = [{"k": "word " * 50, "n": number} for number in range(5)]
    fastavro.writer(plain, schema_of(fields), rows, codec="null", sync_interval=1, sync_marker=SYNC)
    head, *blocks = plain.getvalue().split(SYNC)
    name = codec.encode()
    whole = head.replace(b"\x08null", bytes([2 * len(name)]) + name) + SYNC
    for block in blocks[:-1]:
        rows_in, at = avro.varint(block, 0)
        _, at = avro.varint(block, at)
        packed = pack(block[at:])
        whole += avro.encoded(rows_in) + avro.encoded(len(packed)) + packed + SYNC
    (tmp_path / "t.avro").write_bytes(whole)
    assert run(tmp_path) == rows
    (tmp_path / "t.avro").write_bytes(whole[:-20] + b"\0" * 4 + whole[-16:])
    assert "t.avro" in failure(tmp_path)


def test_a_count_and_some_columns(engine, tmp_path):
    write(tmp_path / "t.avro", FIELDS, ROWS)
    assert run(tmp_path, "{aggregate: {columns: {n: count(*)}}}", engine, 2) == [{"n": 3}]
    assert run(tmp_path, "{select: [u, k]}", engine, 2) == [{"u": row["u"], "k": row["k"]} for row in ROWS]
    assert run(tmp_path, "{filter: i = -5}, {select: [e]}", engine, 2, ", filename: file") == [{"e": "cold"}]


def test_a_type_that_is_not_supported_is_named(tmp_path):
    fields = {
        "k": "long",
        "mixed": ["null", "int", "string"],
        "wide": logical("bytes", "decimal", precision=100, scale=2),
        "span": {**logical("fixed", "duration"), "name": "Span", "size": 12},
        "tree": {"type": "record", "name": "Tree", "fields": [{"name": "left", "type": ["null", "Tree"]}]},
    }
    rows = [{"k": 1, "mixed": "x", "wide": Decimal("1.00"), "span": b"0" * 12, "tree": {"left": None}}]
    for name, shown in {
        "mixed": "union of int and string", "wide": "decimal(100,2)", "span": "duration of months, days and milliseconds",
        "tree": "record Tree that holds itself",
    }.items():  # fmt: skip
        write(tmp_path / "t.avro", {"k": "long", name: fields[name]}, [{"k": 1, name: rows[0][name]}])
        assert f"column '{name}' has type {shown}, which gpuetl does not support" in failure(tmp_path)
        assert run(tmp_path, keys=f", exclude: {name}") == [{"k": 1}]
        assert run(tmp_path, keys=", columns: k") == [{"k": 1}]


def test_nanoseconds_that_microseconds_do_not_hold_are_an_error(engine, tmp_path):
    fields = {"t": logical("long", "timestamp-nanos")}
    for number, fits in ((5_000, True), (5_001, False)):
        with (tmp_path / "t.avro").open("wb") as file:
            fastavro.writer(file, schema_of({"t": "long"}), [{"t": number}], codec="null", sync_marker=SYNC)
        text = (tmp_path / "t.avro").read_bytes()
        plain, nanos = io.BytesIO(), io.BytesIO()
        fastavro.writer(plain, schema_of({"t": "long"}), [], sync_marker=SYNC)
        fastavro.writer(nanos, schema_of(fields), [], sync_marker=SYNC)
        (tmp_path / "t.avro").write_bytes(text.replace(plain.getvalue(), nanos.getvalue()))
        if fits:
            assert run(tmp_path, engine=engine) == [{"t": dt.datetime(1970, 1, 1, 0, 0, 0, 5, dt.UTC)}]
        else:
            assert "t.avro: column 't'" in failure(tmp_path, engine=engine)


def test_damaged_files_are_errors(tmp_path):
    write(tmp_path / "t.avro", FIELDS, ROWS)
    whole = (tmp_path / "t.avro").read_bytes()
    for damaged in (
        whole.replace(b'"type"', b'"typo"', 3),
        whole.replace(b"avro.schema", b"avro.scheme"),
        whole[:10],
        whole[:-1],
        whole[:-40],
        b"PAR1" + whole,
        whole[:-60] + bytes(60),
        b"",
    ):
        (tmp_path / "t.avro").write_bytes(damaged)
        assert "t.avro" in failure(tmp_path)
    with (tmp_path / "t.avro").open("wb") as file:
        fastavro.writer(file, "long", [1, 2])
    assert "t.avro is not a valid Avro file: its rows are not records, but long" in failure(tmp_path)


def test_a_failing_row_is_named(engine, tmp_path):
    write(tmp_path / "t.avro", FIELDS, ROWS)
    message = failure(tmp_path, steps="{filter: i = -5}, {with_columns: {y: CAST(k AS int64)}}", engine=engine)
    assert f"Row 3 of {tmp_path}/t.avro" in message


def test_a_file_without_rows_has_columns(engine, tmp_path):
    write(tmp_path / "t.avro", FIELDS, [])
    assert run(tmp_path, "{aggregate: {columns: {n: count(k)}}}", engine) == [{"n": 0}]


def test_many_blocks_are_read_together(tmp_path, monkeypatch):
    monkeypatch.setattr(avro, "MOST_PIECES", 3)
    write(tmp_path / "t.avro", {"n": "long"}, [{"n": number} for number in range(10)])
    assert run(tmp_path, partition_rows=2) == [{"n": number} for number in range(10)]


def test_without_the_package_the_message_has_the_command(tmp_path, monkeypatch):
    write(tmp_path / "t.avro", {"n": "long"}, [{"n": 1}])
    monkeypatch.setitem(sys.modules, "fastavro", None)
    message = failure(tmp_path)
    assert "reading Avro files needs the package fastavro" in message
    assert 'Install it: pip install "gpuetl[avro]".' in message


def test_an_avro_sink_is_refused(tmp_path):
    text = "gpuetl: 1\nname: p\nsources: {t: {avro: t.avro}}\nsinks: {o: {from: t, avro: o.avro}}"
    write(tmp_path / "t.avro", {"n": "long"}, [{"n": 1}])
    with pytest.raises(ge.InvalidPipeline, match="unknown key 'avro'"):
        ge.loads(text, tmp_path).plan()


@LAYOUTS
def test_records_and_maps_are_structs_and_maps(engine, tmp_path, partition_rows):
    inner = {"type": "record", "name": "In", "fields": [{"name": "at", "type": logical("int", "date")}]}
    money = logical("bytes", "decimal", precision=6, scale=2)
    fields = {"r": ["null", inner], "m": {"type": "map", "values": money}, "again": {"type": "array", "items": "In"}}
    day = {"at": dt.date(2020, 1, 31)}
    rows = [{"r": day, "m": {"a": Decimal("1.25")}, "again": [day, day]}, {"r": None, "m": {}, "again": []}]
    write(tmp_path / "t.avro", fields, rows)
    expected = [{**row, "m": list(row["m"].items())} for row in rows]
    assert run(tmp_path, engine=engine, partition_rows=partition_rows) == expected
