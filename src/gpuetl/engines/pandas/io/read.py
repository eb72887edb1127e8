"""Read: row groups of files, or rows in memory, as the source's schema says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

import pyarrow as pa

from gpuetl.engines.pandas.columns.column import repeated, text_bytes
from gpuetl.engines.pandas.io.bad_rows import CsvRows
from gpuetl.engines.pandas.io.csv_values import read_texts, typed
from gpuetl.engines.pandas.pandas_operation import run_operation
from gpuetl.errors import EvaluationError, RunFailed, first_line
from gpuetl.formats.csv import CsvFormat
from gpuetl.formats.csv_header import header_of
from gpuetl.formats.csv_options import csv_options
from gpuetl.formats.csv_records import CsvBlocks, check_quotes
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.file_columns import check_widens
from gpuetl.formats.format import Format
from gpuetl.formats.frames import FrameFormat
from gpuetl.formats.nested_arrays import in_type, leaf_arrays
from gpuetl.formats.rejected import COLUMNS, RejectedRows
from gpuetl.io.data_file import DataFile, RowGroup
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.filesystem import OpenFile
from gpuetl.places.open_file import opened
from gpuetl.plan.nodes import Read
from gpuetl.threads import in_threads
from gpuetl.types.data_types import STRING, DataType, language_type
from gpuetl.types.nested_types import parts_of

# CSV files with a header, as the source's schema says.


def read_csv(dataset: Dataset, file: DataFile, columns: Sequence[str]) -> pa.Table:
    """Read those of the columns that a CSV file has; an empty field that is not quoted is null.

    In a file of one column that field is an empty line; in others empty lines are skipped.  Arrow reads a clean file at
    its own speed; one with a bad row is read once more, with care.

    Raises
    ------
    DatasetError
        For the first bad row, where the source does not allow them, and for a file that changes before it is read.
    pyarrow.ArrowInvalid
        For what is not a CSV file.
    """
    with opened(file.path, file.state) as source:
        if isinstance(dataset, RejectedRows):
            return rejected_rows(dataset, file, source)
        types = wanted_types(dataset, file)
        if (
            csv_options(dataset).on_bad_row != "quarantine"
        ):  # there, which rows are bad does not depend on the columns that are wanted
            types = {name: dtype for name, dtype in types.items() if name in columns}
        rows = clean_rows(dataset, file, types, source)
        return CsvRows.read(dataset, file, types, source).allowed() if rows is None else rows


def rejected_rows(dataset: RejectedRows, file: DataFile, source: OpenFile) -> pa.Table:
    """Return the bad rows of a file, which is read for them once more."""
    types = wanted_types(dataset.source, file)
    if clean_rows(dataset.source, file, types, source) is not None:
        return COLUMNS.to_arrow().empty_table()
    return CsvRows.read(dataset.source, file, types, source).rejected(dataset.run_id)


def wanted_types(dataset: Dataset, file: DataFile) -> dict[str, DataType]:
    """Return the types of the source's columns that the file has."""
    names = header_of(dataset, file).names
    return {name: dtype for name, dtype in dataset.own_schema.items() if name in names}


def clean_rows(dataset: Dataset, file: DataFile, types: Mapping[str, DataType], source: OpenFile) -> pa.Table | None:
    """Return the columns of a file without bad rows; None where it has one."""
    header = header_of(dataset, file)
    quotes = check_quotes(source, csv_options(dataset).delimiter)
    if header.alone:
        return pa.schema(types).empty_table()
    if quotes.text_after:
        return None
    try:
        with CsvBlocks(source) if quotes.present else source.for_arrow() as text:
            return typed(read_texts(dataset, text, header.names, list(types)), types)
    except (pa.ArrowInvalid, EvaluationError):
        return None


# Read: row groups of files, each by the reader of its format.


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
    """Read those of the columns that a file has, in the types in which they are stored.

    A format without a reader in `READERS` is read as it says itself, and its strings are checked to be UTF-8.
    """
    file_format = dataset.file_format
    if reader := READERS.get(type(file_format)):
        return reader(dataset, file, indices, columns)
    table = file_format.read(dataset, file, indices, columns)
    in_threads(check_text, table.columns)
    return table


def read_frame(dataset: Dataset, file: DataFile, indices: Sequence[int], columns: Sequence[str]) -> pa.Table:
    """Read slices of rows in memory, which were checked when the source was declared."""
    return dataset.file_format.read(dataset, file, indices, columns)


Reader = Callable[[Dataset, DataFile, Sequence[int], list[str]], pa.Table]
READERS: dict[type[Format], Reader] = {
    CsvFormat: lambda dataset, file, indices, columns: read_csv(dataset, file, columns),
    FrameFormat: read_frame,
}
"""The formats that are not read as `Format.read` says."""


def check_text(column: pa.ChunkedArray) -> None:
    """Raise `pyarrow.ArrowInvalid` for a text that is not UTF-8, also in nested values: the reader takes any bytes."""
    if STRING not in map(language_type, parts_of(column.type)):
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
        raise DatasetError(coded("GE1406", f"{file.path}: column '{name}': {first_line(error)}")) from None
