"""Arrow tables to files of a sink, which have the columns of the files that are there."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from gpuetl.io.dataset import Format
from gpuetl.io.sink_target import marked_files
from gpuetl.io.staging import FileWriter, SinkWriter
from gpuetl.places.paths import is_hidden
from gpuetl.types.data_types import language_type, type_name

# Arrow tables to files.


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


# Whether the files that a sink adds to a folder have the columns of those that are there.


def added_beside(writer: SinkWriter) -> tuple[Path, list[str], list[str]] | None:
    """Return a file that stays at the target, its columns, and those of new files; None where they are the same.

    Only the first file that is found is read, its footer or its first line.  A file that cannot be read counts as the
    same: another tool wrote it.
    """
    there = next(staying_files(writer), None) if writer.files else None
    if there is None:
        return None
    try:
        old, new = (columns_of(path, writer.target.format) for path in (there, writer.new / writer.files[0].name))
    except (OSError, ValueError, csv.Error, pa.ArrowException):
        return None
    return None if old == new else (there, old, new)


def staying_files(writer: SinkWriter) -> Iterator[Path]:
    """Yield the files at the target that the commit will not replace."""
    target, folder = writer.target, writer.path
    replaced_folders = {(folder / file.name).parent for file in writer.files if target.mode == "replace_partitions"}
    replaced_files = set(marked_files(target, folder) if target.run_key else ())
    for path in folder.rglob(f"*.{target.format}") if folder.is_dir() else ():
        replaced = path in replaced_files or path.parent in replaced_folders
        if path.is_file() and not replaced and not is_hidden(path.relative_to(folder).parts):
            yield path


def columns_of(path: Path, form: Format) -> list[str]:
    """Return a Parquet file's columns with their types, in the order of their names, or a CSV file's header."""
    if form == "csv":
        with path.open(encoding="utf-8", newline="") as file:
            return [",".join(next(csv.reader(file), []))]
    return sorted(
        f"{field.name} ({type_name(language_type(field.type) or field.type)})" for field in pq.read_schema(path)
    )
