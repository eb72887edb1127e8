"""The Parquet writer on a GPU: events in device memory to files, beside its parts and libcudf's writer.

python tests/benchmarks/parquet_sink.py FOLDER... [--rows 100000000] [--runs 5]

Prints the least time of some runs, with the bytes of the file: encoding alone, encoding and copying, whole files, and
several files at once; then that libcudf and pyarrow read back what was written.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import cupy
import pyarrow as pa
import pyarrow.parquet as pq
import pylibcudf as plc
from device_events import events

from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import to_arrow
from gpuetl.engines.cudf.columns.string_dictionaries import decoded
from gpuetl.engines.cudf.io import threaded_file
from gpuetl.engines.cudf.io.parquet_writer import write_parquet
from gpuetl.engines.cudf.io.row_groups import between
from gpuetl.engines.cudf.io.threaded_file import Piece, piece_bytes
from gpuetl.engines.cudf.runtime import device_files
from gpuetl.engines.cudf.runtime.gpu_machine import GpuMachine, machine
from gpuetl.engines.cudf.runtime.libcudf import to_libcudf
from gpuetl.types.schema import Schema

SCHEMA = Schema({
    "user_id": pa.int64(), "ts": pa.timestamp("us"), "amount": pa.float64(), "quantity": pa.int32(),
    "lat": pa.float32(), "lon": pa.float32(), "category": pa.string(),
})  # fmt: skip
CHECKED_ROWS = 3_000_000
PARTS = (2, 4, 8, 16)


def plain_events(rows: int) -> Frame:
    """Make events whose categories are texts in memory."""
    frame = events(rows, machine())
    return frame.updated({"category": decoded(frame.columns["category"], machine())})


class CountedFile:
    """A file of which only the bytes are counted."""

    bytes = 0

    def write(self, offset: int, piece: Piece) -> None:
        """Count; the device is waited for, as a file would."""
        CountedFile.bytes += piece_bytes(piece)


class CountingMachine(GpuMachine):
    """A GPU whose files are nowhere."""

    @contextmanager
    def written_file(self, path: Path, alone: bool) -> Iterator[Any]:
        """Count the bytes."""
        CountedFile.bytes = 0
        yield CountedFile()


def timed(name: str, runs: int, work: Callable[[], int]) -> None:
    """Print the first time and the least of the others, and the rate."""
    times = []
    for _ in range(runs + 1):
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        size = work()
        cupy.cuda.Device().synchronize()
        times.append(time.perf_counter() - start)
    least = min(times[1:])
    print(f"{name:44} first {times[0] * 1e3:7.1f} ms, then {least * 1e3:7.1f} ms, "
          f"{size / 1e9:6.3f} GB, {size / least / 1e9:6.2f} GB/s", flush=True)  # fmt: skip


def encoded_only(frame: Frame, schema: Schema) -> int:
    """Encode; nothing is copied."""
    write_parquet(frame, schema, Path("nowhere"), CountingMachine())
    return CountedFile.bytes


def copied_only(frame: Frame, path: Path) -> int:
    """Encode and copy to pinned memory, which is written nowhere."""
    pwrite, threaded_file.pwrite = threaded_file.pwrite, lambda *_: None
    by_calls, threaded_file.THREADS_BY_CALLS = threaded_file.THREADS_BY_CALLS, device_files.THREADS
    try:
        one_file(frame, path, alone=False)
    finally:
        threaded_file.pwrite, threaded_file.THREADS_BY_CALLS = pwrite, by_calls
    return CountedFile.bytes  # of the measurement before


def one_file(frame: Frame, path: Path, alone: bool) -> int:
    """Write one new file, through a mapping or by calls."""
    path.unlink(missing_ok=True)
    write_parquet(frame, SCHEMA, path, machine(), alone=alone)
    return path.stat().st_size


def several_files(frame: Frame, folder: Path, parts: int) -> int:
    """Write so many new files at once."""
    rows = -(-frame.rows // parts // 512) * 512

    def part(number: int) -> int:
        return one_file(between(frame, number * rows, rows), folder / f"part-{number}.parquet", alone=False)

    with ThreadPoolExecutor(parts) as pool:
        return sum(pool.map(part, range(-(-frame.rows // rows))))


def by_libcudf(frame: Frame, path: Path) -> int:
    """Write one new file by libcudf."""
    path.unlink(missing_ok=True)
    table = plc.Table([to_libcudf(vector, machine()) for vector in frame.columns.values()])
    builder = plc.io.parquet.ParquetWriterOptions.builder(plc.io.SinkInfo([str(path)]), table)
    options = builder.compression(plc.io.types.CompressionType.SNAPPY).build()
    plc.io.parquet.write_parquet(options)
    return path.stat().st_size


def check(frame: Frame, path: Path) -> None:
    """Compare what libcudf and pyarrow read with what was written, of the first rows."""
    frame = between(frame, 0, CHECKED_ROWS)
    one_file(frame, path, alone=True)
    table = pq.read_table(path)
    groups = range(pq.read_metadata(path).num_row_groups)
    found = machine().read_parquet({path: groups}, {field.name: field.type for field in table.schema})
    assert found["ts"].rows == frame.rows
    for name, vector in frame.columns.items():
        written = to_arrow(replace(vector, nulls=-1 if vector.nulls else 0), machine())  # Arrow counts them
        assert table[name].combine_chunks().equals(written), f"pyarrow: {name}"
        assert to_arrow(found[name], machine()).equals(written), f"libcudf: {name}"
    print(f"{frame.rows:,} rows are read back by pyarrow and by libcudf")


def main() -> None:
    """Measure and check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    machine()
    frame = plain_events(given.rows)
    check(frame, given.folders[0] / "checked.parquet")
    for name in SCHEMA:
        only = frame.select((name,))
        timed(f"{name}: encode", given.runs, lambda only=only: encoded_only(only, SCHEMA.select(only.columns)))  # type: ignore[misc]
    timed("all: encode", given.runs, lambda: encoded_only(frame, SCHEMA))
    timed("all: encode and copy", given.runs, lambda: copied_only(frame, given.folders[0] / "none.parquet"))
    for folder in given.folders:
        for alone in (True, False):
            name = f"{folder}: one file, {'mapped' if alone else 'by calls'}"
            timed(name, given.runs, lambda f=folder, a=alone: one_file(frame, f / "one.parquet", a))  # type: ignore[misc]
        for parts in PARTS:
            timed(f"{folder}: {parts} files", given.runs, lambda f=folder, n=parts: several_files(frame, f, n))  # type: ignore[misc]
        timed(f"{folder}: libcudf, snappy", given.runs, lambda f=folder: by_libcudf(frame, f / "cudf.parquet"))  # type: ignore[misc]


if __name__ == "__main__":
    main()
