"""Rows as CSV: a header and one line a row, compressed if the sink says so."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from gpuetl.formats.compression import Compression

ROWS_AT_A_TIME = 1 << 18


def write_csv(table: pa.Table, path: Path, compression: Compression) -> None:
    """Write one file; null is an empty field, an empty string a quoted one."""
    if compression.codec in ("none", "bz2"):  # Arrow packs bzip2 as a stream only
        packed = None if compression.codec == "none" else "bz2"
        with pa.output_stream(str(path), compression=packed) as stream:
            csv.write_csv(table, stream)
        return
    codec = pa.Codec(*compression)
    with pa.OSFile(str(path), "wb") as file:
        for start in range(0, max(1, table.num_rows), ROWS_AT_A_TIME):
            text = pa.BufferOutputStream()
            rows = table.slice(start, ROWS_AT_A_TIME)
            csv.write_csv(rows, text, csv.WriteOptions(include_header=start == 0))
            file.write(codec.compress(text.getvalue()))  # a file may have several frames
