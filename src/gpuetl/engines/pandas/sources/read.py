"""Read: row groups of Parquet files, or CSV files, as the source's schema says."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.pandas.columns.column import repeated, text_bytes
from gpuetl.engines.pandas.operation import run_operation
from gpuetl.engines.pandas.sources.read_csv import read_csv
from gpuetl.errors import RunFailed, first_line
from gpuetl.io.data_file import DataFile, RowGroup
from gpuetl.io.dataset import Dataset, check_widens
from gpuetl.io.dataset_error import DatasetError
from gpuetl.io.frames import FrameDataset
from gpuetl.io.parquet_rows import read_columns
from gpuetl.messages import coded
from gpuetl.plan.nodes import Read
from gpuetl.threads import in_threads
from gpuetl.types.data_types import STRING, DataType, is_list, language_type


def read_row_groups(read: Read, groups: Sequence[RowGroup]) -> pa.Table:
    """Read the wanted columns of the row groups, file by file, in order, up to the rows that are wanted.

    Raises
    ------
    DatasetError, RunFailed
        For a file that lacks a column, has it in another type, or cannot be read.
    """
    frames = [read_file(read, file, [g.index for g in own]) for file, own in groupby(groups, key=lambda g: g.file)]
    rows = pa.concat_tables(frames) if frames else read.schema.to_arrow().empty_table()
    return rows.slice(0, read.limit)


run_operation.register(Read, lambda read: read_row_groups(read, read.dataset.row_groups))


def read_file(read: Read, file: DataFile, indices: Sequence[int]) -> pa.Table:
    """Read one file's row groups, and add the columns of its path."""
    dataset = read.dataset
    stored = [name for name in read.columns if name not in dataset.partitions]
    try:
        table = read_table(dataset, file, indices, stored)
    except (OSError, pa.ArrowException) as error:
        raise RunFailed.unreadable(str(file.path), error) from error
    columns: dict[str, Any] = {}
    for name, dtype in read.schema.items():
        if name in dataset.partitions:
            columns[name] = constant(dataset.partition_value(file, name), dtype, table.num_rows)
        elif name in table.column_names:
            columns[name] = as_planned(table.column(name), dtype, name, file)
        elif dataset.fills:
            columns[name] = pa.nulls(table.num_rows, dtype)
        else:
            check_widens(file, name, None, dtype)
    return pa.table(columns, schema=read.schema.to_arrow())


def read_table(dataset: Dataset, file: DataFile, indices: Sequence[int], columns: list[str]) -> pa.Table:
    """Read those of the columns that a file has, in the types in which they are stored."""
    if isinstance(dataset, FrameDataset):
        return dataset.rows(indices, columns)
    return (
        read_csv(dataset, file, columns) if dataset.format == "csv" else read_parquet(dataset, file, indices, columns)
    )


def read_parquet(dataset: Dataset, file: DataFile, indices: Sequence[int], columns: list[str]) -> pa.Table:
    """Read those of the columns that a file has of row groups, strings checked to be UTF-8."""
    footer = dataset.footers.footer(file)
    table = read_columns(file, footer, indices, columns, dataset.verify_checksums)
    in_threads(check_text, table.columns)
    return table


def check_text(column: pa.ChunkedArray) -> None:
    """Raise `pyarrow.ArrowInvalid` for a text that is not UTF-8, also in lists: the reader takes any bytes."""
    if is_list(column.type):
        check_text(pa.chunked_array([chunk.flatten() for chunk in column.chunks], column.type.value_type))
    elif language_type(column.type) == STRING:
        for chunk in column.chunks:
            if chunk.type != STRING or (text_bytes(chunk)[0] >= 0x80).any():  # ASCII is, wherever it is cut
                chunk.validate(full=True)


def constant(value: Any, dtype: DataType, rows: int) -> Any:
    """Return a column of one value."""
    return repeated(pa.scalar(value, dtype), rows)


def as_planned(column: Any, dtype: DataType, name: str, file: DataFile) -> Any:
    """Return the column in the planned type, to which the stored one must widen without loss."""
    if column.type == dtype:
        return column
    check_widens(file, name, column.type, dtype)
    try:
        return pc.cast(column, dtype)
    except pa.ArrowInvalid as error:
        raise DatasetError(coded("GE1406", f"{file.path}: column '{name}': {first_line(error)}")) from None
