"""Pages of Parquet have the same bytes on every machine, and as ever: of each type, by each encoding, with nulls or not."""

import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import skip_where_it_cannot_run
from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.engines.cudf.columns import string_codes
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.io.parquet_writer import write_parquet
from gpuetl.engines.cudf.io.row_groups import Layout
from gpuetl.engines.registry import load_backend
from gpuetl.types.schema import Schema

ON_CPU = [
    pytest.param(made, marks=pytest.mark.skipif(COMPILER is None, reason="needs g++"))
    for made in (HostMachine, EmulatedMachine)
]
ROWS = 1000
LAYOUT = Layout(page_rows=160, group_rows=320, batch_rows=640)
"""The last page, group and batch are shorter; a page is a whole block of differences and a part of one."""
INTEGERS = "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"
DELTA = "DELTA_BINARY_PACKED"
PAGES = {
    "any int8": (("83d0fd279a02", DELTA), ("080162b25f39", DELTA)),
    "any uint8": (("29857ba800d9", DELTA), ("a0542226aea8", DELTA)),
    "any int16": (("38f2c0b0f4f9", DELTA), ("3ce4a9156652", DELTA)),
    "any uint16": (("a344049e7041", DELTA), ("59e56b44c05f", DELTA)),
    "any int32": (("9262a4e858cb", "PLAIN"), ("3766fb72c5fe", "PLAIN")),
    "any uint32": (("9262a4e858cb", "PLAIN"), ("3766fb72c5fe", "PLAIN")),
    "any int64": (("8cc647358f25", DELTA), ("9d266173d7c8", "PLAIN")),
    "any uint64": (("8cc647358f25", DELTA), ("9d266173d7c8", "PLAIN")),
    **{f"grows {dtype}": (("be87f3c04980", DELTA), ("7a5f8980346d", DELTA)) for dtype in INTEGERS},
    "any float32": (("eda092169da0", "PLAIN"), ("b2806173823c", "PLAIN")),
    "few float32": (("bf7e06e8d634", "RLE_DICTIONARY"), ("667e940cf7d9", "RLE_DICTIONARY")),
    "any float64": (("517b76569c66", "PLAIN"), ("9d79cf07ec2d", "PLAIN")),
    "few float64": (("ce5f6e2d5aeb", "RLE_DICTIONARY"), ("aee200f8fe88", "RLE_DICTIONARY")),
    "bool": (("cd92c31dc185", "PLAIN"), ("99d08d13933d", "PLAIN")),
    "date": (("dc1a4137f9d4", DELTA), ("8b968cc5521b", DELTA)),
    "timestamp": (("2b32daab586b", DELTA), ("5e9aeb2bb28b", DELTA)),
    "decimal(18,2)": (("22baa8353c91", DELTA), ("29b8409a75cd", DELTA)),
    "decimal(38,2)": (("0a547d8897b3", "PLAIN"), ("be161eb8422c", "PLAIN")),
    "texts": (("f21f8daa2b41", "DELTA_LENGTH_BYTE_ARRAY"), ("984cbd73fef5", "DELTA_LENGTH_BYTE_ARRAY")),
    "few texts": (("776008240110", "RLE_DICTIONARY"), ("d0a2402520b1", "RLE_DICTIONARY")),
}
"""The first digits of the SHA-256 of a column's pages, and their encoding: without nulls, and with some."""


@pytest.fixture(params=[*ON_CPU, pytest.param("cudf", marks=pytest.mark.gpu)])
def machine(request):
    """The CPU's side of kernels, the GPU's, and a GPU."""
    if request.param != "cudf":
        return request.param()
    skip_where_it_cannot_run(request.param)
    return load_backend(request.param).machine


def table_of(nullable):
    """Return columns of any bits, of numbers that grow, and of few distinct values."""
    row = np.arange(ROWS, dtype=np.uint64)
    bits = (row + 1) * np.uint64(0x9E3779B97F4A7C15)
    bits ^= bits >> np.uint64(29)
    mask = bits % 5 == 0 if nullable else None
    columns = {f"any {dtype}": pa.array(bits.astype(dtype), mask=mask) for dtype in INTEGERS}
    columns |= {f"grows {dtype}": pa.array((row // 9).astype(dtype), mask=mask) for dtype in INTEGERS}
    for dtype in ("float32", "float64"):
        columns[f"any {dtype}"] = pa.array((bits >> np.uint64(40)).astype(dtype) / 8, mask=mask)
        columns[f"few {dtype}"] = pa.array((bits % 7).astype(dtype) / 4 - 1, mask=mask)

    def whole(numbers):
        return pa.array(numbers.astype("int64"), mask=mask)

    texts = [f"{'é' * (number % 4)}{number}" for number in bits.tolist()]
    return pa.table({
        **columns,
        "bool": pa.array(bits % 3 == 0, mask=mask),
        "date": pa.array((bits % 40_000).astype("int32"), mask=mask).cast(pa.date32()),
        "timestamp": whole(row * 1_000_003).cast(pa.timestamp("us")),
        "decimal(18,2)": whole(row * 7).cast(pa.decimal128(21, 2)).cast(pa.decimal128(18, 2)),
        "decimal(38,2)": whole(bits).cast(pa.decimal128(38, 2)),
        "texts": pa.array(np.array(texts), mask=mask),
        "few texts": pa.array(np.array(texts[:9])[bits % 9], mask=mask),
    })  # fmt: skip


def pages_of(path, name):
    """Return the bytes of a column's pages, and how the values of the first ones are encoded."""
    parquet, data = pq.ParquetFile(path), path.read_bytes()
    groups = [parquet.metadata.row_group(group) for group in range(parquet.num_row_groups)]
    chunks = [group.column(parquet.schema_arrow.get_field_index(name)) for group in groups]
    starts = [c.dictionary_page_offset if c.has_dictionary_page else c.data_page_offset for c in chunks]
    pages = [data[at : at + chunk.total_compressed_size] for at, chunk in zip(starts, chunks, strict=True)]
    return b"".join(pages), chunks[0].encodings[-1]


@pytest.mark.parametrize("nullable", [False, True])
def test_pages_have_the_same_bytes_as_ever(tmp_path, monkeypatch, machine, nullable):
    """Readers find in them what was written."""
    monkeypatch.setattr(string_codes, "FEW", 16)
    table, path = table_of(nullable), tmp_path / "x.parquet"
    vectors = {name: from_arrow(table.column(name), machine) for name in table.column_names}
    write_parquet(Frame(vectors, ROWS), Schema.of_arrow(table.schema), path, machine, layout=LAYOUT)
    assert pq.read_table(path).equals(table)
    found = {name: pages_of(path, name) for name in table.column_names}
    digests = {name: (hashlib.sha256(pages).hexdigest()[:12], kind) for name, (pages, kind) in found.items()}
    assert digests == {name: each[nullable] for name, each in PAGES.items()}
