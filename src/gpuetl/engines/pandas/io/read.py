"""Read: row groups of files, or rows in memory, as the source's schema says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import pyarrow as pa

from gpuetl.engines.pandas.columns.column import repeated, text_bytes
from gpuetl.engines.pandas.io.csv_reader import read_csv
from gpuetl.engines.pandas.io.json_values import read_json
from gpuetl.engines.pandas.pandas_operation import run_operation
from gpuetl.errors import RunFailed
from gpuetl.formats.csv import CsvFormat
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.file_columns import check_widens, is_read_as, loses_values
from gpuetl.formats.format import Format
from gpuetl.formats.frames import FrameFormat
from gpuetl.formats.json_lines import JsonFormat
from gpuetl.formats.nested_arrays import in_type, leaf_arrays
from gpuetl.formats.parquet import ParquetFormat
from gpuetl.io.data_file import DataFile, RowGroup
from gpuetl.plan.nodes import Read
from gpuetl.threads import in_threads
from gpuetl.types.data_types import STRING, DataType, language_type
from gpuetl.types.nested_types import type_parts

# Read: row groups of files, each by the reader of its format.


NO_FIELDS: Mapping[str, DataType] = {}


def read_row_groups(read: Read, groups: Sequence[RowGroup]) -> pa.Table:
    """Read the wanted columns of the row groups, file by file, in order, up to the rows that are wanted.

    Raises
    ------
    DatasetError, RunFailed
        For a file that lacks a column, has it in another type, or cannot be read.
    """
    files = [(file, list(own)) for file, own in groupby(groups, key=lambda g: g.file)]
    stored = [name for name in read.columns if name not in read.dataset.partitions]
    tables = read_tables(read.dataset, files, stored, read.fields)
    frames = [read_file(read, file, tables) for file, _ in files]
    rows = pa.concat_tables(frames) if frames else read.schema.to_arrow().empty_table()
    return rows.slice(0, read.limit)


run_operation.register(Read, lambda read: read_row_groups(read, read.dataset.row_groups))


def read_file(read: Read, file: DataFile, tables: Iterator[pa.Table]) -> pa.Table:
    """Take the next table, which is one file's row groups, and add the columns of its path."""
    dataset = read.dataset
    try:
        table = next(tables)
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


def read_tables(
    dataset: Dataset,
    files: Sequence[tuple[DataFile, Sequence[RowGroup]]],
    columns: list[str],
    fields: Mapping[str, DataType] = NO_FIELDS,
) -> Iterator[pa.Table]:
    """Yield for each file those of the columns that it has, of some of its row groups, in their stored types.

    Of structs in `fields` only the fields are read that they have there.
    A format without a reader in `READERS` is read as it says itself, and its strings are checked to be UTF-8.
    """
    file_format, types = dataset.file_format, {**dataset.schema, **fields}
    if reader := READERS.get(type(file_format)):
        yield from (reader(dataset, file, groups, columns) for file, groups in files)
        return
    pieces = [(file, [group.index for group in groups]) for file, groups in files]
    if isinstance(file_format, ParquetFormat):
        tables = file_format.read_files(dataset, pieces, columns, fields)
    else:
        tables = file_format.read_files(dataset, pieces, columns)
    for (file, _), table in zip(files, tables, strict=True):
        in_threads(check_text, table.columns)
        yield pa.table(
            {name: in_language(table.column(name), name, file, types.get(name)) for name in table.column_names}
        )


def read_table(dataset: Dataset, file: DataFile, groups: Sequence[RowGroup], columns: list[str]) -> pa.Table:
    """Return row groups of one file: see `read_tables`."""
    return next(read_tables(dataset, [(file, groups)], columns))


def in_language(column: pa.ChunkedArray, name: str, file: DataFile, planned: DataType | None = None) -> pa.ChunkedArray:
    """Return a column in its type of the language: values for a dictionary, microseconds for nanoseconds.

    Nanoseconds stay where the source's schema has them, in `planned`.

    Raises
    ------
    DatasetError
        For a value that the type does not hold.
    """
    keeps = planned is not None and is_read_as(column.type, planned)
    dtype = planned if keeps else language_type(column.type)
    return column if dtype is None else as_planned(column, dtype, name, file)


def read_frame(dataset: Dataset, file: DataFile, groups: Sequence[RowGroup], columns: Sequence[str]) -> pa.Table:
    """Read slices of rows in memory, which were checked when the source was declared."""
    return dataset.file_format.read(dataset, file, [group.index for group in groups], columns)


Reader = Callable[[Dataset, DataFile, Sequence[RowGroup], list[str]], pa.Table]
READERS: dict[type[Format], Reader] = {
    CsvFormat: read_csv,
    JsonFormat: lambda dataset, file, groups, columns: read_json(dataset, file, [one.index for one in groups], columns),
    FrameFormat: read_frame,
}
"""The formats that are not read as `Format.read` says."""


def check_text(column: pa.ChunkedArray) -> None:
    """Raise `pyarrow.ArrowInvalid` for a text that is not UTF-8, also in nested values: the reader takes any bytes."""
    if STRING not in map(language_type, type_parts(column.type)):
        return
    for leaf in (leaf for chunk in column.chunks for leaf in leaf_arrays(chunk)):
        is_text = language_type(leaf.type) == STRING
        if is_text and (leaf.type != STRING or (text_bytes(leaf)[0] >= 0x80).any()):  # ASCII is, wherever it is cut
            leaf.validate(full=True)


def constant(value: Any, dtype: DataType, rows: int) -> Any:
    """Return a column of one value."""
    return repeated(pa.scalar(value, dtype), rows)


def as_planned(column: Any, dtype: DataType, name: str, file: DataFile) -> Any:
    """Return the column in the planned type, to which the stored one must widen without loss."""
    if column.type == dtype:
        return column
    check_widens(file, name, column.type, dtype)
    try:
        return in_type(column, dtype)
    except pa.ArrowInvalid as error:
        raise loses_values(file, name, error) from None
