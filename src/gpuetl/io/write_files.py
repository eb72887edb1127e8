"""Arrow tables to files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from gpuetl.io.dataset import Format
from gpuetl.io.staging import FileWriter

ROW_GROUP_ROWS = 1 << 20


SAMPLE_ROWS = 1 << 13
MOST_SAMPLED = 0.99
"""Of a sample, the share of distinct values above which a column gets no dictionary.

Such a column has 400,000 distinct values, or fewer rows than that.  A dictionary of them has more than the megabyte
that Arrow allows, or saves nothing.  To find that out, Arrow fills a hash table that grows to 32 MB a column chunk.
Its allocator does not give these back.
"""


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write Parquet: zstd, row groups of about a million rows, dictionaries where values repeat."""
    dictionaries = [leaf(field) for field in table.schema if repeats(table.column(field.name))]
    pq.write_table(
        table,
        path,
        compression="zstd",
        compression_level=1,
        row_group_size=ROW_GROUP_ROWS,
        use_dictionary=dictionaries or False,
    )


def leaf(field: pa.Field) -> str:
    """Return the path of the values of a column in a Parquet file."""
    return f"{field.name}.list.element" if pa.types.is_list(field.type) else str(field.name)


def repeats(column: pa.ChunkedArray) -> bool:
    """Tell, by a sample of 8,192 rows, whether a column may have few distinct values; of lists and few rows it may."""
    step = len(column) // SAMPLE_ROWS
    if step < 2 or pa.types.is_nested(column.type):
        return True
    import pyarrow.compute as pc  # it takes 40 ms, and few rows have no use for it

    sample = column.take(pa.array(np.arange(0, len(column), step)))
    return bool(pc.count_distinct(sample).as_py() <= MOST_SAMPLED * (len(sample) - sample.null_count))


def write_csv(table: pa.Table, path: Path) -> None:
    """Write CSV with a header; null is an empty field, an empty string a quoted one."""
    pyarrow.csv.write_csv(table, path)


WRITERS: dict[Format, FileWriter] = {
    "parquet": FileWriter(write_parquet, takes_arrow=True),
    "csv": FileWriter(write_csv, takes_arrow=True),
}
