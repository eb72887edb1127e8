"""Pages that nvCOMP compresses on a GPU: what readers find in them."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpu_engine.test_compressed_pages import CODECS, chunks_of, small
from gpu_engine.test_parquet_sink import table_of
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_arrow
from gpuetl.engines.cudf.io.compressed_pages import CODECS as NAMES
from gpuetl.engines.cudf.io.parquet_writer import layout_of, write_parquet
from gpuetl.errors import EvaluationError
from gpuetl.formats.compression import Compression
from gpuetl.formats.parquet_options import ParquetWriteOptions
from gpuetl.testing import assert_tables_equal
from gpuetl.types.schema import Schema

pytestmark = pytest.mark.gpu
COMPRESSIONS = [each for each in CODECS if each.codec != "none"]
MOST = 1 << 24


@pytest.fixture
def gpu():
    """Return the GPU's machine."""
    pytest.importorskip("cupy", reason="needs CuPy and an NVIDIA GPU")
    from gpuetl.engines.cudf.runtime.gpu_machine import machine

    return machine()


def write(table, path, machine, layout):
    """Write a table from device memory."""
    frame = Frame({name: from_arrow(table[name], machine) for name in table.column_names}, table.num_rows)
    with machine.stage("test", "writing"):
        write_parquet(frame, Schema.of_arrow(table.schema), path, machine, layout=layout)


def contents(kind, size, seed):
    """Return bytes that compress well, a little, or not at all."""
    draws = np.random.default_rng(seed)
    if kind == "random":
        return draws.integers(0, 256, size).astype(np.uint8)
    if kind == "words":
        return np.frombuffer(b" ".join(b"word%d" % n for n in draws.integers(0, 999, size // 5 + 1)), np.uint8)[:size]
    return np.zeros(size, np.uint8)


@pytest.mark.parametrize("codec", ["zstd", "snappy", "lz4"])
@pytest.mark.parametrize("kind", ["zeros", "words", "random"])
def test_chunks_are_what_arrow_decompresses(gpu, codec, kind):
    sizes = np.array([1, 2, 15, 16, 17, 1000, 4095, 4096, 4097, 65_535, 65_536, 65_537, 1_000_003, MOST - 1, MOST])
    starts = np.cumsum([0, *(-(-sizes[:-1] // 16) * 16)])
    plain = [contents(kind, int(size), place) for place, size in enumerate(sizes)]
    memory = np.zeros(int(starts[-1] + sizes[-1]), np.uint8)
    for start, each in zip(starts, plain, strict=True):
        memory[start : start + len(each)] = each
    with gpu.stage("test", "writing"):
        chunks = gpu.compressor(codec).begin(gpu.arrays.asarray(memory), starts, sizes)
        data, stored = gpu.host(chunks.data), gpu.host(chunks.sizes).tolist()
        assert gpu.host(chunks.statuses).tolist() == [0] * len(sizes)
    for each, start, size in zip(plain, chunks.starts.tolist(), stored, strict=True):
        found = pa.Codec(NAMES[codec][0]).decompress(data[start : start + size].tobytes(), len(each), asbytes=True)
        assert found == each.tobytes()


def test_a_chunk_that_is_too_large_is_an_error(gpu):
    with gpu.stage("test", "writing"), pytest.raises(EvaluationError, match="by snappy: chunk too large"):
        gpu.compressor("snappy").begin(gpu.arrays.zeros(MOST + 1, "uint8"), np.array([0]), np.array([MOST + 1]))


@pytest.mark.parametrize("compression", COMPRESSIONS, ids=str)
@pytest.mark.parametrize("nulls", [0, 2, 10_000])
@pytest.mark.parametrize("rows", [0, 1, 65, 1300])
def test_pyarrow_reads_all_types(gpu, tmp_path, compression, nulls, rows):
    table, path = table_of(rows, nulls), tmp_path / "t.parquet"
    write(table, path, gpu, small(compression))
    assert_tables_equal(pq.read_table(path), table)
    assert {chunk.compression for chunk in chunks_of(path)} <= {CODECS[compression]}


@pytest.mark.parametrize("compression", COMPRESSIONS, ids=str)
@pytest.mark.parametrize("size", [1 << 19, 1 << 17])
def test_pages_around_the_largest_chunk(gpu, tmp_path, compression, size):
    """Strings of which 32, the rows of a page, take 16 MiB or 4 MiB: as much as nvCOMP is given, a little less or more."""
    sizes = [size] * 31 + [size - 500] + [size] * 33 + [3]
    texts = [f"{place} {chr(97 + place % 26) * size}" for place, size in enumerate(sizes)]
    table, path = pa.table({"x": texts}), tmp_path / "t.parquet"
    write(table, path, gpu, layout_of(ParquetWriteOptions(compression=compression)))
    assert pq.read_table(path).equals(table)
    assert path.stat().st_size < sum(sizes) / 8


@pytest.mark.parametrize("codec", ["zstd", "snappy", "lz4"])
def test_little_free_memory_is_enough(gpu, monkeypatch, codec):
    """The library is called for a few chunks at a time then."""
    from gpuetl.engines.cudf.runtime import nvcomp

    plain = contents("words", 1 << 22, 1)
    starts, sizes = np.arange(64) << 16, np.full(64, 1 << 16)
    found = []
    for free in (1 << 40, 0):
        monkeypatch.setattr(nvcomp, "free_memory", lambda free=free: free)
        with gpu.stage("test", "writing"):
            compressor = gpu.compressor(codec)
            chunks = compressor.begin(gpu.arrays.asarray(plain), starts, sizes)
            data, stored = gpu.host(chunks.data), gpu.host(chunks.sizes).tolist()
        found.append([data[at : at + size].tobytes() for at, size in zip(chunks.starts.tolist(), stored, strict=True)])
    assert found[0] == found[1]
    assert len(list(compressor.parts(sizes, 1 << 40))) == 1
    assert len(list(compressor.parts(sizes, 0))) == 64 or not compressor.space(sizes)


@pytest.mark.parametrize("compression", COMPRESSIONS, ids=str)
def test_libcudf_reads_what_arrow_reads(gpu, tmp_path, compression):
    draws, rows = np.random.default_rng(1), 300_000
    table = pa.table({
        "n": draws.integers(0, 1000, rows), "f": draws.random(rows).round(2), "x": draws.random(rows),
        "s": [f"text {number}" for number in draws.integers(0, 200_000, rows)],
        "k": pa.array([f"key {number}" for number in draws.integers(0, 9, rows)], mask=draws.random(rows) < 0.1),
    })  # fmt: skip
    path = tmp_path / "t.parquet"
    write(table, path, gpu, layout_of(ParquetWriteOptions(compression=compression)))
    assert pq.read_table(path).equals(table)
    with gpu.stage("test", "reading"):
        groups = range(pq.read_metadata(path).num_row_groups)
        found = gpu.read_parquet({path: groups}, {field.name: field.type for field in table.schema})
        for name in table.column_names:
            assert to_arrow(found[name], gpu).equals(table[name].combine_chunks()), name


def test_the_level_that_the_gpu_has_not_is_the_cpus(gpu, tmp_path):
    table, path = table_of(1300, 2), tmp_path / "t.parquet"
    write(table, path, gpu, small(Compression("zstd", 9)))
    assert_tables_equal(pq.read_table(path), table)
