"""Compression of Parquet sinks on a GPU: seconds and bytes of gpuetl's writer, of libcudf's, and of Arrow's.

python tests/benchmarks/parquet_sinks.py FOLDER [--rows 50000000] [--file FILE] [--runs 3] [--writers gpuetl,libcudf]

Writes one file for each writer and codec, of events or of a Parquet file's rows, and prints the least time of some runs.  gpuetl and libcudf encode
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
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_table
from gpuetl.engines.cudf.columns.string_dictionaries import decoded
from gpuetl.engines.cudf.io.parquet_writer import layout_of, write_parquet
from gpuetl.engines.cudf.runtime.gpu_machine import machine
from gpuetl.engines.cudf.runtime.libcudf import to_libcudf
from gpuetl.formats import parquet_rows
from gpuetl.formats.compression import Compression
from gpuetl.formats.parquet_options import ParquetWriteOptions
from gpuetl.types.schema import Schema

CODECS = (
    Compression("none"), Compression("lz4"), Compression("snappy"), Compression("zstd", 1), Compression("zstd", 3),
)  # fmt: skip
LIBCUDF = ("NONE", "SNAPPY", "LZ4", "ZSTD")


def by_gpuetl(frame: Frame, schema: Schema, compression: Compression, path: Path) -> int:
    """Write one new file by gpuetl's writer."""
    path.unlink(missing_ok=True)
    write_parquet(frame, schema, path, machine(), layout=layout_of(ParquetWriteOptions(compression=compression)))
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


def made_events(rows: int) -> tuple[Frame, Schema]:
    """Make events whose categories are strings in memory."""
    frame = events(rows, machine())
    return frame.updated({"category": decoded(frame.columns["category"], machine())}), SCHEMA


def rows_of(file: Path) -> tuple[Frame, Schema]:
    """Copy the rows of a Parquet file to the device."""
    table = pq.read_table(file)
    columns = {name: from_arrow(table[name], machine()) for name in table.column_names}
    return Frame(columns, table.num_rows), Schema.of_arrow(table.schema)


def main() -> None:
    """Measure and check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=50_000_000, help="of events")
    parser.add_argument("--file", type=Path, help="whose rows are written instead of events")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--writers", type=lambda text: text.split(","), default=["gpuetl", "libcudf", "arrow"])
    given = parser.parse_args()
    frame, schema = rows_of(given.file) if given.file else made_events(given.rows)
    path, works = given.folder / "sink.parquet", dict[str, Callable[[], int]]()
    if "gpuetl" in given.writers:
        works |= {f"gpuetl {codec}": partial(by_gpuetl, frame, schema, codec, path) for codec in CODECS}
    if "libcudf" in given.writers:
        works |= {f"libcudf {name.lower()}": partial(by_libcudf, frame, name, path) for name in LIBCUDF}
    if "arrow" in given.writers:
        table = to_table(frame, machine())
        works |= {f"arrow {codec}": partial(by_arrow, table, codec, path) for codec in CODECS}
    for name, work in works.items():
        timed(name, given.runs, work)
        if not name.startswith("libcudf"):
            check(path, frame.rows, name.split()[1].partition("(")[0])
    path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
