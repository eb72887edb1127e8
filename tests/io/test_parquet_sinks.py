"""Options of Parquet sinks: the same file on every engine, whoever writes it."""

import uuid

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gpuetl as ge
from gpuetl.formats.compression import Compression
from gpuetl.formats.parquet_options import ParquetWriteOptions

ROWS = 5_000
TABLE = pa.table({
    "k": [f"key {number % 7}" for number in range(ROWS)], "n": range(ROWS), "f": [number / 3 for number in range(ROWS)],
    "b": [number % 2 == 0 for number in range(ROWS)],
})  # fmt: skip


def written(folder, engine, options, path="o.parquet", more=""):
    """Return the file that a sink of some options writes, and the notes of the run."""
    if not (folder / "t.parquet").exists():
        pq.write_table(TABLE, folder / "t.parquet")
    text = f"""
gpuetl: 1
name: p
sources: {{t: {{parquet: t.parquet}}}}
sinks: {{o: {{from: t, parquet: {path}, mode: overwrite{", " * bool(options)}{options}{more}}}}}
"""
    done = ge.loads(text, folder).run(engine=engine)
    return pq.ParquetFile(folder / path) if (folder / path).is_file() else None, done.report.notes


def chunks_of(file):
    """Return the metadata of all column chunks."""
    groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    return [group.column(place) for group in groups for place in range(file.metadata.num_columns)]


def bloom_filters(path):
    """Return the columns that have Bloom filters."""
    query = f"SELECT path_in_schema FROM parquet_metadata('{path}') WHERE bloom_filter_offset IS NOT NULL"
    return [name for (name,) in duckdb.sql(query).fetchall()]


@pytest.mark.parametrize(
    ("options", "codec"),
    [
        ("compression: zstd", "ZSTD"),
        ("compression: zstd(9)", "ZSTD"),
        ("compression: snappy", "SNAPPY"),
        ("compression: lz4", "LZ4"),
        ("compression: none", "UNCOMPRESSED"),
        ("compression: null", "UNCOMPRESSED"),
    ],
)
def test_the_codec_is_the_one_of_the_option(engine, tmp_path, options, codec):
    file, _ = written(tmp_path, engine, options)
    assert {chunk.compression.removesuffix("_RAW") for chunk in chunks_of(file)} == {codec}
    assert file.read().equals(TABLE)


def test_zstd_1_is_the_default(engine, tmp_path):
    for options in ("", "compression: zstd", "compression: zstd(1)"):
        file, _ = written(tmp_path, engine, options)
        assert {chunk.compression for chunk in chunks_of(file)} == {"ZSTD"}
        assert file.read().equals(TABLE)
    assert {str(ParquetWriteOptions(compression=Compression("zstd", level)).codec) for level in (None, 1)} == {
        "zstd(1)"
    }
    assert str(ParquetWriteOptions().codec) == "zstd(1)"


def test_a_higher_level_makes_smaller_files(engine, tmp_path):
    sizes = []
    for level in (1, 15):
        written(tmp_path, engine, f"compression: zstd({level})")
        sizes.append((tmp_path / "o.parquet").stat().st_size)
    assert sizes[1] < sizes[0]


@pytest.mark.parametrize(
    ("rows", "groups"), [(1024, [1024, 1024, 1024, 1024, 904]), (3000, [3000, 2000]), (100, [100] * 50)]
)
def test_row_groups_have_the_rows_of_the_option(engine, tmp_path, rows, groups):
    file, notes = written(tmp_path, engine, f"row_group_rows: {rows}")
    assert [file.metadata.row_group(place).num_rows for place in range(file.num_row_groups)] == groups
    assert file.read().equals(TABLE)
    on_cpu = any(f"sink 'o': Arrow writes it on the CPU: row_group_rows: {rows}" in note for note in notes)
    assert on_cpu == ("cu" in engine and rows != 1024)


@pytest.mark.parametrize("statistics", [True, False])
def test_statistics_are_left_out(engine, tmp_path, statistics):
    file, _ = written(tmp_path, engine, f"statistics: {str(statistics).lower()}")
    assert {chunk.is_stats_set for chunk in chunks_of(file)} == {statistics}
    assert file.read().equals(TABLE)


def test_a_page_index_and_bloom_filters_are_written(engine, tmp_path):
    file, notes = written(tmp_path, engine, "page_index: true, bloom_filters: [k, n]")
    assert all(chunk.has_column_index and chunk.has_offset_index for chunk in chunks_of(file))
    assert bloom_filters(tmp_path / "o.parquet") == ["k", "n"]
    assert file.read().equals(TABLE)
    assert any("Arrow writes it on the CPU: page_index: true" in note for note in notes) == ("cu" in engine)
    plain, _ = written(tmp_path, engine, "")
    assert not any(chunk.has_column_index for chunk in chunks_of(plain))
    assert bloom_filters(tmp_path / "o.parquet") == []


@pytest.mark.parametrize("dictionary", [True, False])
def test_dictionaries_are_left_out(engine, tmp_path, dictionary):
    file, _ = written(tmp_path, engine, f"dictionary: {str(dictionary).lower()}")
    assert chunks_of(file)[0].has_dictionary_page == dictionary
    assert not any(chunk.has_dictionary_page for chunk in chunks_of(file)) or dictionary


def test_options_hold_in_folders_too(engine, tmp_path):
    written(tmp_path, engine, "compression: snappy, statistics: false", "out", ", partition_by: [b]")
    files = sorted(path for path in (tmp_path / "out").rglob("*.parquet"))
    assert len(files) == 2
    for path in files:
        assert {(chunk.compression, chunk.is_stats_set) for chunk in chunks_of(pq.ParquetFile(path))} == {
            ("SNAPPY", False)
        }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            "compression: gzip",
            "compression: takes one of zstd, snappy, lz4, none, or a level such as zstd(3), got 'gzip'",
        ),
        ("compression: auto", "compression: takes one of zstd, snappy, lz4, none, or"),
        ("compression: snappy(3)", "compression: takes no level for snappy"),
        ("row_group_rows: 0", "row_group_rows: takes a whole number from 1"),
        ("bloom_filters: [nn]", "bloom_filters: unknown column 'nn'"),
        ("bloom_filters: [b]", "bloom_filters: 'b' is bool, which has no Bloom filter"),
        ("bloom_filters: [k], partition_by: [k]", "bloom_filters: unknown column 'k'"),
    ],
)
def test_options_that_cannot_be_are_refused(tmp_path, options, message):
    with pytest.raises(ge.InvalidPipeline) as caught:
        written(tmp_path, "pandas", options)
    assert message in str(caught.value)


def test_options_are_keys_in_python_too(tmp_path):
    pq.write_table(TABLE, tmp_path / "t.parquet")
    pipeline = ge.Pipeline("p", root=tmp_path)
    pipeline.read_parquet("t", "t.parquet").write_parquet("o", "o.parquet", compression="lz4", bloom_filters="k")
    pipeline.run(engine="pandas")
    assert {chunk.compression.removesuffix("_RAW") for chunk in chunks_of(pq.ParquetFile(tmp_path / "o.parquet"))} == {
        "LZ4"
    }
    assert "compression: lz4" in pipeline.to_yaml()
    assert "bloom_filters: k" in pipeline.to_yaml()


@pytest.mark.parametrize("partition_rows", [2, None])
def test_values_of_16_bytes_are_uuids_for_other_readers(engine, tmp_path, partition_rows):
    values = [bytes(range(16)), None, b"\xff" * 16]
    rows = pa.table(
        {"u": pa.array(values, pa.binary(16)), "l": pa.array([[values[0]], None, [None]], pa.list_(pa.binary(16)))}
    )
    pq.write_table(rows, tmp_path / "in.parquet")
    pipeline = ge.Pipeline("p", root=tmp_path)
    source = pipeline.read_parquet("t", "in.parquet").filter(
        ge.expr("u IS NULL OR u = CAST('00010203-0405-0607-0809-0a0b0c0d0e0f' AS uuid)")
    )
    source.write_parquet("out", "out.parquet")
    pipeline.run(engine=engine, options=ge.RunOptions(partition_rows=partition_rows))
    assert pq.read_schema(tmp_path / "out.parquet").types == [pa.uuid(), pa.list_(pa.uuid())]
    kinds = duckdb.sql(f"SELECT typeof(u), typeof(l), u FROM '{tmp_path}/out.parquet' WHERE u IS NOT NULL").fetchall()
    assert kinds == [("UUID", "UUID[]", uuid.UUID("00010203-0405-0607-0809-0a0b0c0d0e0f"))]
    again = ge.Pipeline("q", root=tmp_path)
    again.read_parquet("t", "out.parquet").filter(ge.expr("u IS NOT NULL")).select("u").stage("r")
    assert again.run(engine=engine, keep=["r"])["r"].to_arrow().to_pylist() == [{"u": values[0]}]
