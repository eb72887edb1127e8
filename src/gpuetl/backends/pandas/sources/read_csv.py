"""CSV files with a header, as the source's schema says."""

from __future__ import annotations

import json
from csv import Error as CsvError
from csv import reader as read_records
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from gpuetl.backends.pandas.columns.column import with_column
from gpuetl.backends.pandas.expressions.casts import cast_value
from gpuetl.errors import EvaluationError, have_hint
from gpuetl.expressions.types import STRING, DataType, can_cast, type_name
from gpuetl.io.csv_quotes import check_quotes
from gpuetl.io.dataset import DataFile, Dataset, DatasetError

MAX_HEADER_BYTES = 1 << 20


def read_csv(dataset: Dataset, file: DataFile, columns: list[str]) -> pa.Table:
    """Read columns of a CSV file with a header; an empty field that is not quoted is null.

    In a file of one column that field is an empty line; in others empty lines are skipped.
    """
    header = read_header(dataset, file)
    check_quotes(file.path, dataset.delimiter)
    declared = {name: dtype for name, dtype in dataset.schema.items() if name not in dataset.partitions}
    written = {name: STRING if can_cast(STRING, dtype) else dtype for name, dtype in declared.items()}
    for name in columns:
        if header.names.count(name) > 1:
            raise DatasetError(f"{file.path}: two columns are named '{name}'")
        if name not in header.names:
            told = have_hint(name, header.names, likely_delimiter(header.names))
            raise DatasetError(f"{file.path}: there is no column '{name}'.  {told}")
    if header.alone:
        return pa.schema([(name, declared[name]) for name in columns]).empty_table()
    convert = csv.ConvertOptions(
        column_types=written, include_columns=columns or list(declared)[:1], null_values=list(dataset.nulls),
        strings_can_be_null=True, quoted_strings_can_be_null=False,
    )  # fmt: skip
    parse = csv.ParseOptions(
        delimiter=dataset.delimiter, ignore_empty_lines=len(header.names) > 1, newlines_in_values=True
    )
    try:
        table = csv.read_csv(file.path, parse_options=parse, convert_options=convert)
    except pa.ArrowInvalid:  # one thread knows the row as well
        alone = csv.ReadOptions(use_threads=False)
        table = csv.read_csv(file.path, read_options=alone, parse_options=parse, convert_options=convert)
    for name in table.column_names:
        if written[name] != declared[name]:
            table = with_column(table, name, read_values(table.column(name), declared[name], name, file.path))
    return table


def read_values(text: Any, dtype: DataType, name: str, path: Path) -> Any:
    """Read a column as CAST does; spaces and tabs around its values do not count.

    Raises
    ------
    DatasetError
        With the first value that is none of the type.
    """
    try:
        return cast_value(text, dtype, lenient=False, implicit=False)
    except (pa.ArrowInvalid, EvaluationError):
        trimmed = pc.utf8_trim(text, " \t")
    values = cast_value(trimmed, dtype, lenient=True, implicit=False)
    wrong = pc.and_(pc.is_null(values), pc.is_valid(text))
    if (row := pc.index(wrong, True).as_py()) >= 0:
        value = text[row].as_py()
        shown = f"'{value}' is not a {type_name(dtype)}"
        hint = f"Declare '{name}' as string and take TRY_CAST, or add '{value}' to the source's nulls."
        raise DatasetError(f"{path}: row {row + 2}: column '{name}': {shown}", hint)  # the header is row 1
    return values


def likely_delimiter(names: list[str]) -> str:
    """Return what to declare where the one name of a header looks like several; else nothing."""
    marks = [mark for mark in ",;\t|" if len(names) == 1 and mark in names[0]]
    return f"Is the delimiter {marks[0]!r}?  Declare it: delimiter: {json.dumps(marks[0])}." if marks else ""


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
