"""Parquet files written from columns in device memory with compressed pages: what readers find in them."""

import json
import re
from dataclasses import replace

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gpuetl as ge
from gpu_engine.host_compressor import HostCompressor
from gpu_engine.host_machine import COMPILER, ON_CPU, HostMachine
from gpu_engine.test_columns import uploaded
from gpu_engine.test_parquet_sink import MACHINE, SMALL, table_of
from gpuetl.engines.cudf.io import compressed_pages, parquet_writer, row_groups
from gpuetl.engines.cudf.io.compressed_pages import compressed_bytes
from gpuetl.engines.cudf.io.parquet_writer import layout_of, left_to_arrow, parts_of, write_parquet, write_part
from gpuetl.engines.cudf.io.row_groups import Layout
from gpuetl.formats.compression import Compression
from gpuetl.formats.parquet_options import ParquetWriteOptions
from gpuetl.testing import assert_tables_equal
from gpuetl.types.schema import Schema

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
CODECS = {
    Compression("zstd", 1): "ZSTD", Compression("snappy"): "SNAPPY", Compression("lz4"): "LZ4",
    Compression("none"): "UNCOMPRESSED",
}  # fmt: skip
COMPRESSIONS = [each for each in CODECS if each.codec != "none"]
HEADERS = 5 * 2
"""Bytes by which headers of a chunk's pages may differ: each has the size as it is stored, of up to two bytes."""


def small(compression):
    """Return a layout of several pages, row groups and batches of few rows."""
    return replace(SMALL, compression=compression)


def chunks_of(path):
    """Return the metadata of all column chunks."""
    metadata = pq.read_metadata(path)
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    return [group.column(place) for group in groups for place in range(metadata.num_columns)]


@pytest.mark.part(2)
@pytest.mark.parametrize("compression", CODECS, ids=str)
@pytest.mark.parametrize(("rows", "nulls"), [(0, 2), (1, 0), (1, 10_000), (65, 2), (513, 10_000), (1300, 2)])
def test_readers_find_all_rows(tmp_path, compression, rows, nulls):
    table, path = table_of(rows, nulls), tmp_path / "t.parquet"
    write_parquet(uploaded(table), Schema.of_arrow(table.schema), path, MACHINE, layout=small(compression))
    assert_tables_equal(pq.read_table(path), table)
    assert {chunk.compression for chunk in chunks_of(path)} <= {CODECS[compression]}
    assert duckdb.sql(f"SELECT count(*) FROM '{path}'").fetchall() == [(rows,)]
    names = ", ".join(f'count("{name}")' for name in table.column_names)
    valid = tuple(rows - column.null_count for column in table.columns)
    assert duckdb.sql(f"SELECT {names} FROM '{path}'").fetchall() == [valid]


def test_sizes_are_those_of_the_same_pages(tmp_path):
    table = table_of(1300, 2)
    plain, packed = tmp_path / "plain.parquet", tmp_path / "packed.parquet"
    for path, compression in ((plain, Compression("none")), (packed, Compression("zstd", 1))):
        write_parquet(uploaded(table), Schema.of_arrow(table.schema), path, MACHINE, layout=small(compression))
    for one, other in zip(chunks_of(plain), chunks_of(packed), strict=True):
        assert one.total_uncompressed_size == one.total_compressed_size
        assert abs(one.total_uncompressed_size - other.total_uncompressed_size) <= HEADERS
        assert one.statistics == other.statistics
        assert one.encodings == other.encodings
    group, columns = pq.read_metadata(packed).row_group(0), table.num_columns
    assert group.total_byte_size == sum(group.column(place).total_uncompressed_size for place in range(columns))


def file_bytes(tmp_path, compression):
    """Return a file as the stand-in for a GPU writes it."""
    table, path = table_of(1300, 2), tmp_path / "t.parquet"
    write_parquet(uploaded(table), Schema.of_arrow(table.schema), path, MACHINE, layout=small(compression))
    assert_tables_equal(pq.read_table(path), table)
    return path.read_bytes()


@pytest.mark.part(2)
@pytest.mark.parametrize("compression", COMPRESSIONS, ids=str)
def test_the_host_compresses_what_the_device_does_not(tmp_path, monkeypatch, compression):
    """The stand-in's codecs are those of the host, so the files are the same."""
    expected = file_bytes(tmp_path, compression)
    compressed_by_host = []
    monkeypatch.setattr(
        compressed_pages, "compressed_bytes", lambda *each: compressed_by_host.append(each) or compressed_bytes(*each)
    )
    assert file_bytes(tmp_path, compression) == expected
    assert not [content for _, _, content in compressed_by_host if len(content)]
    monkeypatch.setattr(HostCompressor, "most_bytes", 100)
    assert file_bytes(tmp_path, compression) == expected
    assert {len(content) <= 100 for _, _, content in compressed_by_host if len(content)} == {False}
    compressed_by_host.clear()
    monkeypatch.setattr(HostMachine, "compresses", False)
    assert file_bytes(tmp_path, compression) == expected
    assert {len(content) <= 100 for _, _, content in compressed_by_host} == {False, True}


def test_pages_that_the_device_fails_at_are_named(tmp_path, monkeypatch):
    """The host compresses them."""
    compression, notes = Compression("snappy"), []
    expected = file_bytes(tmp_path, compression)
    monkeypatch.setattr(HostCompressor, "status", lambda self, size: 19 if size % 3 == 0 else 0)
    monkeypatch.setattr(compressed_pages, "note", notes.append)
    assert file_bytes(tmp_path, compression) == expected
    assert notes
    assert all(
        re.fullmatch(r"nvCOMP could not compress \d+ of \d+ pages by snappy: the CPU did", each) for each in notes
    )


@pytest.mark.parametrize(
    ("options", "compresses", "reason"),
    [
        ("", True, ""),
        ("compression: zstd", True, ""),
        ("compression: none", False, ""),
        ("compression: zstd(9)", True, "the GPU compresses as zstd(1) only, not as zstd(9)"),
        ("compression: lz4", False, "nvCOMP 5 (libnvcomp.so.5) is not installed"),
        ("", False, "nvCOMP 5 (libnvcomp.so.5) is not installed"),
    ],
)
def test_the_report_says_why_the_cpu_compresses(tmp_path, monkeypatch, options, compresses, reason):
    monkeypatch.setattr(parquet_writer, "LEAST_BYTES", 0)
    monkeypatch.setattr(HostMachine, "compresses", compresses)
    pq.write_table(pa.table({"n": range(3000)}), tmp_path / "t.parquet")
    text = f"""
gpuetl: 1
name: p
sources: {{t: {{parquet: t.parquet}}}}
sinks: {{o: {{from: t, parquet: o.parquet, mode: overwrite{", " * bool(options)}{options}}}}}
"""
    notes = ge.loads(text, tmp_path).run(engine=ON_CPU).report.notes
    found = [each.partition("its pages: ")[2] for each in notes if "sink 'o': the CPU compresses its pages: " in each]
    assert found == [reason] * bool(reason)
    assert pq.read_table(tmp_path / "o.parquet")["n"].to_pylist() == list(range(3000))


@pytest.mark.parametrize(
    ("length", "page_rows"),
    [(3, 1 << 18), (10, 1 << 17), (40, 1 << 15), (900, 1 << 12), (1_100, 1 << 11), (600_000, 16)],
)
def test_pages_with_a_codec_have_few_bytes_of_texts(length, page_rows, monkeypatch):
    """Of more than 4,096 rows they have 2 MiB at most, of fewer ones 4 MiB."""
    monkeypatch.setattr(row_groups, "most_page_bytes", lambda texts, rows, machine: rows * (length + 4))
    frame = uploaded(pa.table({"x": [f"text {row}" for row in range(40)]}))
    layout = layout_of(ParquetWriteOptions(compression=Compression("zstd", 1)))
    assert row_groups.with_short_pages(frame, layout, MACHINE).page_rows == max(page_rows, 32)


@pytest.mark.parametrize("compression", CODECS, ids=str)
def test_files_of_a_folder_are_compressed(tmp_path, monkeypatch, compression):
    monkeypatch.setattr(parquet_writer, "LEAST_PART_ROWS", 256)
    table = table_of(1300, 1)
    parts = parts_of(uploaded(table), Schema.of_arrow(table.schema), MACHINE, small(compression))
    paths = [tmp_path / f"{number}.parquet" for number in range(len(parts))]
    assert len(parts) > 3
    for part, path in zip(parts, paths, strict=True):
        write_part(part, path)
        assert {chunk.compression for chunk in chunks_of(path)} == {CODECS[compression]}
    start = 0
    for path in paths:
        found = pq.read_table(path)
        assert_tables_equal(found, table.slice(start, found.num_rows))
        start += found.num_rows
    assert start == 1300


def test_no_statistics_are_written_without_the_option(tmp_path):
    table, path = table_of(300, 2), tmp_path / "t.parquet"
    layout = Layout(page_rows=64, group_rows=256, batch_rows=512, statistics=False)
    write_parquet(uploaded(table), Schema.of_arrow(table.schema), path, MACHINE, layout=layout)
    assert not any(chunk.is_stats_set for chunk in chunks_of(path))
    assert_tables_equal(pq.read_table(path), table)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, ""),
        ({"compression": Compression("lz4"), "statistics": False, "row_group_rows": 1 << 12}, ""),
        ({"page_index": True}, "page_index: true"),
        ({"bloom_filters": ("a",)}, "bloom_filters"),
        ({"dictionary": False}, "dictionary: false"),
        ({"row_group_rows": 1000}, "row_group_rows: 1000, which is not a power of two from 1024"),
    ],
)
def test_options_that_only_arrow_has(options, reason):
    assert left_to_arrow(ParquetWriteOptions(**options)) == reason


def test_the_trace_has_what_the_device_compresses(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_writer, "LEAST_BYTES", 0)
    pq.write_table(pa.table({"n": range(3000)}), tmp_path / "t.parquet")
    text = """
gpuetl: 1
name: p
sources: {t: {parquet: t.parquet}}
sinks: {o: {from: t, parquet: o.parquet, mode: overwrite, compression: lz4}}
"""
    ge.loads(text, tmp_path).run(engine=ON_CPU, options=ge.RunOptions(trace=tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    (found,) = (each for each in events if each.get("cat") == "nvCOMP" and "chunks" in each.get("args", {}))
    assert found["name"] == "compress by lz4"
    assert found["args"]["chunks"] == 1
