"""Read: row groups of Parquet files, or CSV files, as the source's schema says."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from gpuetl.backends.pandas.casts import cast_value
from gpuetl.backends.pandas.columns import with_column
from gpuetl.backends.pandas.operation import run_operation
from gpuetl.errors import RunFailed, first_line
from gpuetl.expressions.decimals import is_decimal
from gpuetl.expressions.types import STRING, DataType, type_name
from gpuetl.io.dataset import DataFile, Dataset, DatasetError, RowGroup, check_widens
from gpuetl.plan.nodes import Read


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
        return parquet.read_row_groups(list(indices), columns=columns)


def read_csv(dataset: Dataset, file: DataFile, columns: list[str]) -> pa.Table:
    """Read columns of a CSV file with a header; an empty field that is not quoted is null.

    In a file of one column that field is an empty line; in others empty lines are skipped.
    """
    declared = {name: dtype for name, dtype in dataset.schema.items() if name not in dataset.partitions}
    written = {name: STRING if is_decimal(dtype) else dtype for name, dtype in declared.items()}
    convert = csv.ConvertOptions(
        column_types=written, include_columns=columns or list(declared)[:1], null_values=list(dataset.nulls),
        strings_can_be_null=True, quoted_strings_can_be_null=False,
    )  # fmt: skip
    with file.path.open("rb") as lines:
        several = dataset.delimiter.encode() in lines.readline()
    parse = csv.ParseOptions(delimiter=dataset.delimiter, ignore_empty_lines=several, newlines_in_values=True)
    table = csv.read_csv(file.path, parse_options=parse, convert_options=convert)
    for name in table.column_names:
        if is_decimal(declared[name]):
            table = with_column(table, name, read_decimals(table.column(name), declared[name], name))
    return table


def read_decimals(text: Any, dtype: DataType, name: str) -> Any:
    """Read the decimals of a CSV column exactly, which Arrow does not: it checks no digits there."""
    numbers = cast_value(text, dtype, lenient=True, implicit=False)
    if numbers.null_count > text.null_count:
        wrong = text.filter(pc.and_(pc.is_null(numbers), pc.is_valid(text)))[0]
        raise pa.ArrowInvalid(f"column '{name}': '{wrong.as_py()}' is not a {type_name(dtype)}")
    return numbers


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
