"""Arrow tables to files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from gpuetl.io.dataset import Format
from gpuetl.io.staging import FileWriter

ROW_GROUP_ROWS = 1 << 20


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write Parquet: zstd, row groups of about a million rows."""
    pq.write_table(table, path, compression="zstd", compression_level=1, row_group_size=ROW_GROUP_ROWS)


def write_csv(table: pa.Table, path: Path) -> None:
    """Write CSV with a header; null is an empty field, an empty string a quoted one."""
    pc.write_csv(table, path)


WRITERS: dict[Format, FileWriter] = {
    "parquet": FileWriter(write_parquet, takes_arrow=True),
    "csv": FileWriter(write_csv, takes_arrow=True),
}
