"""Compression of Parquet sinks on a GPU: seconds and bytes of gpuetl's writer, of libcudf's, and of Arrow's.

python tests/benchmarks/parquet_sinks.py FOLDER [--rows 50000000] [--runs 3] [--writers gpuetl,libcudf,arrow]

Writes one file of events for each writer and codec, and prints the least time of some runs.  gpuetl and libcudf encode
and compress on the device, but that threads of the host compress by zstd(3); Arrow does both on the host, from a table
that is there already.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pylibcudf as plc
from device_events import events
from parquet_sink import SCHEMA, timed

from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import to_table
from gpuetl.engines.cudf.columns.string_dictionaries import decoded
from gpuetl.engines.cudf.io.parquet_writer import layout_of, write_parquet
from gpuetl.engines.cudf.runtime.gpu_machine import machine
from gpuetl.engines.cudf.runtime.libcudf import to_libcudf
from gpuetl.formats import parquet_rows
from gpuetl.formats.compression import Compression
from gpuetl.formats.parquet_options import ParquetWriteOptions

CODECS = (
    Compression("none"), Compression("lz4"), Compression("snappy"), Compression("zstd", 1), Compression("zstd", 3),
)  # fmt: skip
LIBCUDF = ("NONE", "SNAPPY", "LZ4", "ZSTD")


def by_gpuetl(frame: Frame, compression: Compression, path: Path) -> int:
    """Write one new file by gpuetl's writer."""
    path.unlink(missing_ok=True)
    write_parquet(frame, SCHEMA, path, machine(), layout=layout_of(ParquetWriteOptions(compression=compression)))
    return path.stat().st_size


def by_libcudf(frame: Frame, codec: str, path: Path) -> int:
    """Write one new file by libcudf."""
    path.unlink(missing_ok=True)
    table = plc.Table([to_libcudf(vector, machine()) for vector in frame.columns.values()])
    builder = plc.io.parquet.ParquetWriterOptions.builder(plc.io.SinkInfo([str(path)]), table)
    plc.io.parquet.write_parquet(builder.compression(getattr(plc.io.types.CompressionType, codec)).build())
    return path.stat().st_size


def by_arrow(table: pa.Table, compression: Compression, path: Path) -> int:
    """Write one new file by Arrow."""
    path.unlink(missing_ok=True)
    parquet_rows.write_parquet(table, path, ParquetWriteOptions(compression=compression))
    return path.stat().st_size


def check(path: Path, rows: int, codec: str) -> None:
    """Look at a file that was written: its rows, and the codec of its pages."""
    metadata = pq.read_metadata(path)
    assert metadata.num_rows == rows, f"{path}: {metadata.num_rows:,} rows"
    found = metadata.row_group(0).column(0).compression
    expected = "UNCOMPRESSED" if codec == "none" else codec.upper()
    assert found.startswith(expected), f"{path}: {found}"


def main() -> None:
    """Measure and check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--writers", type=lambda text: text.split(","), default=["gpuetl", "libcudf", "arrow"])
    given = parser.parse_args()
    made = events(given.rows, machine())
    frame = made.updated({"category": decoded(made.columns["category"], machine())})
    table, path = (
        to_table(frame, machine()) if "arrow" in given.writers else pa.table({}),
        given.folder / "sink.parquet",
    )
    works: list[tuple[str, Callable[[], int]]] = [
        *((f"gpuetl {codec}", partial(by_gpuetl, frame, codec, path)) for codec in CODECS),
        *((f"libcudf {name.lower()}", partial(by_libcudf, frame, name, path)) for name in LIBCUDF),
        *((f"arrow {codec}", partial(by_arrow, table, codec, path)) for codec in CODECS),
    ]
    for name, work in works:
        if name.split()[0] not in given.writers:
            continue
        timed(name, given.runs, work)
        if not name.startswith("libcudf"):
            check(path, given.rows, name.split()[1].partition("(")[0])
    path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
