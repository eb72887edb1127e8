"""Read: row groups of Parquet files, or CSV files, as the source's schema says."""

from __future__ import annotations

from collections.abc import Sequence
from csv import Error as CsvError
from csv import reader as read_records
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from gpuetl.backends.pandas.operation import run_operation
from gpuetl.errors import RunFailed, first_line, have_hint
from gpuetl.expressions.types import STRING, DataType, language_type
from gpuetl.io.dataset import DataFile, Dataset, DatasetError, RowGroup, check_widens
from gpuetl.plan.nodes import Read

MAX_HEADER_BYTES = 1 << 20


def read_row_groups(read: Read, groups: Sequence[RowGroup]) -> pa.Table:
    """Read the wanted columns of the row groups, file by file, in order.

    Raises
    ------
    DatasetError, RunFailed
        For a file that lacks a column, has it in another type, or cannot be read.
    """
    frames = [read_file(read, file, [g.index for g in own]) for file, own in groupby(groups, key=lambda g: g.file)]
    return pa.concat_tables(frames) if frames else read.schema.to_arrow().empty_table()


run_operation.register(Read, lambda read: read_row_groups(read, read.dataset.row_groups))


def read_file(read: Read, file: DataFile, indices: Sequence[int]) -> pa.Table:
    """Read one file's row groups, and add the columns of its path."""
    dataset = read.dataset
    stored = [name for name in read.columns if name not in dataset.partitions]
    try:
        table = read_csv(dataset, file, stored) if dataset.format == "csv" else read_parquet(file, indices, stored)
    except (OSError, pa.ArrowException) as error:
        raise RunFailed.unreadable(str(file.path), error) from error
    columns = {
        name: constant(dataset.partition_value(file, name), dtype, table.num_rows)
        if name in dataset.partitions
        else as_planned(table.column(name), dtype, name, file)
        for name, dtype in read.schema.items()
    }
    return pa.table(columns, schema=read.schema.to_arrow())


def read_parquet(file: DataFile, indices: Sequence[int], columns: list[str]) -> pa.Table:
    """Read columns of row groups; pyarrow reads and decodes columns on several threads."""
    with pq.ParquetFile(file.path) as parquet:
        if not columns:
            rows = sum(parquet.metadata.row_group(i).num_rows for i in indices)
            return pa.table({":row": pa.nulls(rows)})
        table = parquet.read_row_groups(list(indices), columns=columns)
    for column in table.columns:
        if language_type(column.type) == STRING:
            column.validate(full=True)  # the reader takes any bytes for text
    return table


def read_csv(dataset: Dataset, file: DataFile, columns: list[str]) -> pa.Table:
    """Read columns of a CSV file with a header; an empty field that is not quoted is null.

    In a file of one column that field is an empty line; in others empty lines are skipped.
    """
    header = read_header(dataset, file)
    declared = {name: dtype for name, dtype in dataset.schema.items() if name not in dataset.partitions}
    for name in columns:
        if header.names.count(name) != 1:
            what = f"two columns are named '{name}'" if name in header.names else f"there is no column '{name}'"
            raise DatasetError(f"{file.path}: {what}.  {have_hint(name, header.names)}")
    if header.alone:
        return pa.schema([(name, declared[name]) for name in columns]).empty_table()
    convert = csv.ConvertOptions(
        column_types=declared, include_columns=columns or list(declared)[:1], null_values=list(dataset.nulls),
        strings_can_be_null=True, quoted_strings_can_be_null=False,
    )  # fmt: skip
    parse = csv.ParseOptions(
        delimiter=dataset.delimiter, ignore_empty_lines=len(header.names) > 1, newlines_in_values=True
    )
    try:
        return csv.read_csv(file.path, parse_options=parse, convert_options=convert)
    except pa.ArrowInvalid:  # one thread knows the row as well
        alone = csv.ReadOptions(use_threads=False)
        return csv.read_csv(file.path, read_options=alone, parse_options=parse, convert_options=convert)


@dataclass(frozen=True)
class Header:
    """The first line of a CSV file: the names in it, and whether nothing follows."""

    names: list[str]
    alone: bool


def read_header(dataset: Dataset, file: DataFile) -> Header:
    """Read the names in the first line.

    Raises
    ------
    DatasetError
        For a file that is empty, or no UTF-8 text.
    """
    with file.path.open("rb") as lines:
        first = lines.readline(MAX_HEADER_BYTES)
        alone = not lines.read(1)
    try:
        text = first.decode("utf-8-sig")
        names = next(iter(read_records([text], delimiter=dataset.delimiter)), [])
    except (UnicodeDecodeError, CsvError):
        raise DatasetError(f"{file.path}: the first line is not column names in UTF-8") from None
    if not names:
        raise DatasetError(f"{file.path}: empty; a CSV file begins with a line of column names")
    return Header(names, alone)


def constant(value: Any, dtype: DataType, rows: int) -> Any:
    """Return a column of one value."""
    return pa.repeat(pa.scalar(value, dtype), rows)


def as_planned(column: Any, dtype: DataType, name: str, file: DataFile) -> Any:
    """Return the column in the planned type, to which the stored one must widen without loss."""
    if column.type == dtype:
        return column
    check_widens(file, name, column.type, dtype)
    try:
        return pc.cast(column, dtype)
    except pa.ArrowInvalid as error:
        raise DatasetError(f"{file.path}: column '{name}': {first_line(error)}") from None
