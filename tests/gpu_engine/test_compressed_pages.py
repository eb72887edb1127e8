"""Parquet files written from columns in device memory with compressed pages: what readers find in them."""

from dataclasses import replace

import duckdb
import pyarrow.parquet as pq
import pytest

from gpu_engine.host_machine import COMPILER
from gpu_engine.test_columns import uploaded
from gpu_engine.test_parquet_sink import MACHINE, SMALL, table_of
from gpuetl.engines.cudf.io import parquet_writer
from gpuetl.engines.cudf.io.parquet_writer import left_to_arrow, parts_of, write_parquet, write_part
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


@pytest.mark.parametrize("compression", CODECS, ids=str)
@pytest.mark.parametrize("rows", [0, 1, 65, 513, 1300])
def test_readers_find_all_rows(tmp_path, compression, rows):
    table, path = table_of(rows, 2), tmp_path / "t.parquet"
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
