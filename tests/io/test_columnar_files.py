"""ORC and Arrow IPC: read and written on every engine, in one partition and in tiny ones."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pyarrow.feather
import pytest
from pyarrow import orc

import gpuetl as ge
from gpuetl.options import RunOptions
from tables import table

SMALL = table(
    {"k": "string", "i": "int32", "f": "float64", "b": "bool", "d": "date", "m": "decimal(12,2)", "t": "timestamp"},
    ("a", 1, 0.5, True, dt.date(2020, 1, 31), Decimal("1.25"), dt.datetime(2020, 1, 1, 12, 30, 0, 7)),
    (None, None, None, None, None, None, None),
    ("ü", -5, float("inf"), False, dt.date(1969, 12, 31), Decimal("-0.01"), dt.datetime(1900, 2, 28)),
    ("", 2**31 - 1, -0.0, True, dt.date(9999, 12, 31), Decimal("9999999999.99"), dt.datetime(2200, 1, 1)),
    ("a", 7, 1e300, None, dt.date(1, 1, 1), Decimal("0"), dt.datetime(1970, 1, 1)),
)
LISTED = table({"k": "string", "l": "list<int64>"}, ("a", [1, None, 3]), ("b", []), ("c", None), ("d", [-1]))
LAYOUTS = pytest.mark.parametrize("partition_rows", [2, None])


def write_orc(rows, path, stripe_rows=2):
    """Write stripes of two rows."""
    with orc.ORCWriter(path, batch_size=stripe_rows, stripe_size=1, compression="zlib") as writer:
        for start in range(0, max(rows.num_rows, 1), stripe_rows):
            writer.write(rows.slice(start, stripe_rows))


def write_arrow(rows, path):
    """Write batches of two rows."""
    with pa.ipc.new_file(path, rows.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(rows, max_chunksize=2)


def write_stream(rows, path):
    """Write a stream, which lists no batches."""
    with pa.ipc.new_stream(path, rows.schema) as writer:
        writer.write_table(rows, max_chunksize=2)


FILES = {
    "orc": ("orc", "t.orc", write_orc),
    "file": ("arrow", "t.arrow", write_arrow),
    "stream": ("arrow", "t.arrows", write_stream),
    "feather": ("arrow", "t.feather", lambda rows, path: pa.feather.write_feather(rows, path, chunksize=2)),
}
each_file = pytest.mark.parametrize(("form", "file", "write"), FILES.values(), ids=FILES)


def run(folder, source, steps, engine, partition_rows=None, keys=""):
    """Run steps over a source, and return the rows as dictionaries."""
    text = f"gpuetl: 1\nname: p\nsources: {{t: {{{source}{keys}}}}}\nstages: {{s: {{from: t, steps: [{steps}]}}}}"
    done = ge.loads(text, folder).run(engine=engine, options=RunOptions(partition_rows=partition_rows))
    return done["s"].to_arrow().to_pylist()


def failure(folder, source, steps="{limit: 9}", engine="pandas", keys=""):
    """Return the message with which steps over a source fail."""
    with pytest.raises(ge.GpuetlError) as caught:
        run(folder, source, steps, engine, keys=keys)
    return str(caught.value)


@each_file
@LAYOUTS
def test_values_of_every_type_are_read(engine, tmp_path, form, file, write, partition_rows):
    write(SMALL, str(tmp_path / file))
    rows = run(tmp_path, f"{form}: {file}", "{filter: k = k OR k IS NULL}", engine, partition_rows)
    assert rows == SMALL.to_pylist()


@each_file
@LAYOUTS
def test_lists_are_read(engine, tmp_path, form, file, write, partition_rows):
    write(LISTED, str(tmp_path / file))
    assert run(tmp_path, f"{form}: {file}", "{filter: k <> 'z'}", engine, partition_rows) == LISTED.to_pylist()


@each_file
def test_a_count_needs_no_column(engine, tmp_path, form, file, write):
    write(SMALL, str(tmp_path / file))
    assert run(tmp_path, f"{form}: {file}", "{aggregate: {columns: {n: count(*)}}}", engine, 2) == [{"n": 5}]


@each_file
def test_an_empty_file_has_columns(engine, tmp_path, form, file, write):
    write(SMALL.slice(0, 0), str(tmp_path / file))
    steps = "{aggregate: {columns: {n: count(*), i: sum(i)}}}"
    assert run(tmp_path, f"{form}: {file}", steps, engine, 2) == [{"n": 0, "i": None}]


@each_file
def test_a_dot_in_a_name_is_a_character(engine, tmp_path, form, file, write):
    rows = pa.table({"a": [1, 2, 3], "a.b": [4, 5, 6], "c": [7, 8, 9]})
    write(rows, str(tmp_path / file))
    for columns, expected in (("a", [{"a": 1}, {"a": 2}, {"a": 3}]), ("a.b", [{"a.b": 4}, {"a.b": 5}, {"a.b": 6}])):
        assert run(tmp_path, f"{form}: {file}", f"{{select: ['{columns}']}}", engine, 2) == expected


@each_file
def test_a_failing_row_is_named(engine, tmp_path, form, file, write):
    write(SMALL, str(tmp_path / file))
    message = failure(tmp_path, f"{form}: {file}", "{filter: i = 7}, {with_columns: {x: CAST(k AS int64)}}", engine)
    assert f"Row 5 of {tmp_path / file}" in message


@each_file
def test_a_column_of_another_type_is_refused(tmp_path, form, file, write):
    write(SMALL, str(tmp_path / file))
    message = failure(tmp_path, f"{form}: {file}", keys=", schema: {k: int64}")
    assert f"{file}: column 'k' is string, and the source says int64" in message


@each_file
def test_a_damaged_file_is_named(tmp_path, form, file, write):
    write(SMALL, str(tmp_path / file))
    whole = (tmp_path / file).read_bytes()
    (tmp_path / file).write_bytes(whole[: len(whole) // 3])
    message = failure(tmp_path, f"{form}: {file}")
    assert f"{file}" in message
    assert "not a valid" in message or "cannot read" in message


@each_file
def test_two_columns_of_one_name_are_refused(tmp_path, form, file, write):
    if form == "orc":
        pytest.skip("Arrow writes no such ORC file")
    write(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), str(tmp_path / file))
    assert f"{file}: two columns are named 'a'" in failure(tmp_path, f"{form}: {file}")


@pytest.mark.part(2)
@pytest.mark.parametrize(("form", "suffix"), [("orc", "orc"), ("arrow", "arrow")])
@LAYOUTS
def test_rows_come_back_from_a_sink(engine, tmp_path, form, suffix, partition_rows):
    pa.parquet.write_table(SMALL, tmp_path / "t.parquet", row_group_size=2)
    text = f"""
gpuetl: 1
name: p
sources: {{t: {{parquet: t.parquet}}}}
sinks:
  one: {{from: t, {form}: one.{suffix}}}
  parts: {{from: t, {form}: parts, partition_by: [b]}}
  more: {{from: t, {form}: more, mode: append}}
"""
    options = RunOptions(partition_rows=partition_rows)
    ge.loads(text, tmp_path).run(engine=engine, options=options)
    assert run(tmp_path, f"{form}: one.{suffix}", "{limit: 99}", engine) == SMALL.to_pylist()
    assert sorted(path.name for path in (tmp_path / "parts").iterdir() if "=" in path.name) == [
        "b=False", "b=True", "b=__HIVE_DEFAULT_PARTITION__",
    ]  # fmt: skip
    keys = ", partitions: {b: bool}"
    read = run(tmp_path, f"{form}: parts", "{filter: b}, {select: [k, i, b]}", engine, keys=keys)
    assert read == [{"k": "a", "i": 1, "b": True}, {"k": "", "i": 2**31 - 1, "b": True}]
    assert run(tmp_path, f"{form}: more", "{limit: 99}", engine) == SMALL.to_pylist()


def test_added_files_of_other_columns_are_noticed(tmp_path):
    pa.parquet.write_table(SMALL, tmp_path / "t.parquet")
    for form in ("orc", "arrow"):
        text = "gpuetl: 1\nname: p\nsources: {t: {parquet: t.parquet, columns: [%s]}}\nsinks: {o: {from: t, %s: %s, mode: append}}"
        ge.loads(text % ("k, i", form, form), tmp_path).run(engine="pandas")
        done = ge.loads(text % ("k, f", form, form), tmp_path).run(engine="pandas")
        assert any("without i (int32), with f (float64)" in warning for warning in done.report.warnings)


def test_a_timestamp_that_arrow_cannot_read_from_orc_is_an_error(engine, tmp_path):
    write_orc(table({"k": "string", "t": "timestamp"}, ("a", dt.datetime(9999, 1, 1))), str(tmp_path / "t.orc"))
    message = failure(tmp_path, "orc: t.orc", engine=engine)
    assert "t.orc has a timestamp before 1678 or after 2262" in message
    assert run(tmp_path, "orc: t.orc", "{limit: 9}", engine, keys=", columns: [k]") == [{"k": "a"}]


def test_a_type_that_orc_has_not_is_refused_before_the_run(tmp_path):
    pa.parquet.write_table(table({"k": "string", "u": "uint32"}, ("a", 1)), tmp_path / "t.parquet")
    text = "gpuetl: 1\nname: p\nsources: {t: {parquet: t.parquet}}\nsinks: {o: {from: t, orc: o.orc}}"
    with pytest.raises(ge.InvalidPipeline, match="an ORC file cannot hold uint32, the type of 'u'"):
        ge.loads(text, tmp_path).plan()


def test_nested_columns_are_refused_by_name(tmp_path):
    rows = pa.table({"k": [1], "s": [{"x": 1}]})
    write_orc(rows, str(tmp_path / "t.orc"))
    write_arrow(rows, tmp_path / "t.arrow")
    for form in ("orc", "arrow"):
        assert run(tmp_path, f"{form}: t.{form}", "{limit: 9}", "pandas", keys=", columns: [k]") == [{"k": 1}]


def test_nanoseconds_that_microseconds_do_not_hold_are_an_error(engine, tmp_path):
    write_arrow(pa.table({"t": pa.array([1000, 1001], pa.timestamp("ns"))}), tmp_path / "t.arrow")
    message = failure(tmp_path, "arrow: t.arrow", engine=engine)
    assert "t.arrow: column 't'" in message
    write_orc(pa.table({"t": pa.array([1000, 1001], pa.timestamp("ns"))}), str(tmp_path / "t.orc"))
    assert "t.orc: column 't'" in failure(tmp_path, "orc: t.orc", engine=engine)


def test_codes_outside_of_a_dictionary_are_an_error(tmp_path):
    words = pa.DictionaryArray.from_arrays(pa.array([0, 7], pa.int8()), pa.array(["a", "b"]), safe=False)
    write_arrow(pa.table({"w": words}), tmp_path / "t.arrow")
    assert "cannot read" in failure(tmp_path, "arrow: t.arrow")


def test_dictionaries_are_read_as_their_values(engine, tmp_path):
    write_arrow(pa.table({"w": pa.array(["x", "y", None, "x"]).dictionary_encode()}), tmp_path / "t.arrow")
    steps = "{aggregate: {by: [w], columns: {n: count(*)}}}, {sort: [w]}"
    expected = [{"w": "x", "n": 2}, {"w": "y", "n": 1}, {"w": None, "n": 1}]
    assert run(tmp_path, "arrow: t.arrow", steps, engine, 2) == expected


def test_feather_of_the_first_version_is_named(tmp_path):
    (tmp_path / "t.feather").write_bytes(b"FEA1" + bytes(64))
    assert "t.feather is a Feather V1 file" in failure(tmp_path, "arrow: t.feather")


WRITTEN = "gpuetl: 1\nname: p\nsources: {{t: {{parquet: t.parquet}}}}\nsinks: {{o: {{from: t, {}, mode: overwrite}}}}"


def test_sinks_compress_as_their_option_says(engine, tmp_path):
    rows = pa.table({"k": ["a" * 100] * 2_000, "n": range(2_000)})
    pa.parquet.write_table(rows, tmp_path / "t.parquet")
    sizes = {}
    for form, codecs in {"orc": "zstd snappy lz4 zlib none", "arrow": "zstd zstd(9) lz4 none"}.items():
        for codec in codecs.split():
            text = WRITTEN.format(f"{form}: o.{form}, compression: {codec}")
            ge.loads(text, tmp_path).run(engine=engine)
            sizes[form, codec] = (tmp_path / f"o.{form}").stat().st_size
            assert run(tmp_path, f"{form}: o.{form}", "{limit: 5000}", "pandas") == rows.to_pylist()
        assert max(sizes, key=sizes.get) == (form, "none")
        ge.loads(WRITTEN.format(f"{form}: o.{form}"), tmp_path).run(engine=engine)
        assert (tmp_path / f"o.{form}").stat().st_size == sizes[form, "zstd"]
        sizes.clear()


@pytest.mark.parametrize(
    ("sink", "message"),
    [
        ("orc: o.orc, compression: zstd(3)", "compression: takes no level for zstd"),
        ("orc: o.orc, compression: brotli", "takes one of zstd, snappy, lz4, zlib, none, got 'brotli'"),
        ("arrow: o.arrow, compression: zstd(99)", "takes a level of zstd from 1 to 22, got 99"),
        (
            "arrow: o.arrow, compression: 3",
            "takes one of zstd, lz4, none, or a level such as zstd(3), got a number '3'",
        ),
    ],
)
def test_a_compression_that_a_format_has_not_is_refused(tmp_path, sink, message):
    pa.parquet.write_table(SMALL, tmp_path / "t.parquet")
    with pytest.raises(ge.InvalidPipeline) as caught:
        ge.loads(WRITTEN.format(sink), tmp_path).plan()
    assert message in str(caught.value)


def test_a_name_inside_of_a_struct_that_is_not_utf8_is_an_error(tmp_path):
    write_arrow(pa.table({"s": [{"name_inside": 1}]}), tmp_path / "t.arrow")
    data = (tmp_path / "t.arrow").read_bytes()
    (tmp_path / "t.arrow").write_bytes(data.replace(b"name_inside", b"name_insid\xff"))
    assert "t.arrow is not a valid Arrow IPC file" in failure(tmp_path, "arrow: t.arrow")
