"""CSV files as the source's schema says, piece by piece."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import pyarrow as pa

from gpuetl.engines.pandas.io.bad_rows import CsvRows
from gpuetl.engines.pandas.io.csv_direct import read_columns
from gpuetl.engines.pandas.io.csv_values import typed
from gpuetl.errors import EvaluationError
from gpuetl.formats.csv_header import header_of
from gpuetl.formats.csv_options import csv_options
from gpuetl.formats.csv_pieces import CsvText, TextExtent, text_of, texts_of
from gpuetl.formats.csv_records import check_quotes
from gpuetl.formats.csv_tokens import without_comments
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.rejected import COLUMNS, RejectedRows
from gpuetl.io.data_file import DataFile, RowGroup
from gpuetl.places.open_file import opened
from gpuetl.threads import in_threads
from gpuetl.types.data_types import DataType

NO_COLUMN = ":row"
"""Stands for the rows where no column is read."""


def read_csv(dataset: Dataset, file: DataFile, groups: Sequence[RowGroup], columns: Sequence[str]) -> pa.Table:
    """Read those of the columns that a CSV file has, of some of its pieces; an empty field that is not quoted is null.

    In a file of one column that field is an empty line; in others empty lines are skipped.  Arrow reads a clean piece
    at its own speed; one with a bad row is read once more, with care.

    Raises
    ------
    DatasetError
        For the first bad row, where the source does not allow them, and for a file that changes before it is read.
    pyarrow.ArrowInvalid
        For what is not a CSV file.
    """
    with opened(file.path, file.state) as source:
        if isinstance(dataset, RejectedRows):
            read = partial(rejected_rows, dataset, file)
        else:
            read = partial(rows_of, dataset, file, columns)
        of = dataset.source if isinstance(dataset, RejectedRows) else dataset
        texts = texts_of(of, file, source, groups)
        if csv_options(of).is_stream(file.path.name):
            tables = [read(text) for text in texts]  # one after another: the text is decoded in order
        else:
            extents = [group.extent for group in groups if isinstance(group.extent, TextExtent)]
            if len(extents) < len(groups):
                tables = [read(text) for text in texts]
            else:
                tables = in_threads(lambda extent: read(text_of(of, source, extent)), extents)
        return pa.concat_tables(tables)


def rows_of(dataset: Dataset, file: DataFile, columns: Sequence[str], text: CsvText) -> pa.Table:
    """Return the rows of some records, as the source's `on_bad_row` says."""
    types = wanted_types(dataset, file)
    if csv_options(dataset).on_bad_row != "quarantine":
        # there, which rows are bad does not depend on the columns that are wanted
        types = {name: dtype for name, dtype in types.items() if name in columns}
    rows = clean_rows(dataset, file, types, text)
    rows = CsvRows.read(dataset, file, types, text).allowed() if rows is None else rows
    return rows if types else pa.table({NO_COLUMN: pa.nulls(rows.num_rows)})


def rejected_rows(dataset: RejectedRows, file: DataFile, text: CsvText) -> pa.Table:
    """Return the bad rows among some records, which are read for them once more."""
    types = wanted_types(dataset.source, file)
    if clean_rows(dataset.source, file, types, text) is not None:
        return COLUMNS.to_arrow().empty_table()
    return CsvRows.read(dataset.source, file, types, text).rejected(dataset.run_id)


def wanted_types(dataset: Dataset, file: DataFile) -> dict[str, DataType]:
    """Return the types of the source's columns that the file has."""
    names = header_of(dataset, file).names
    return {name: dtype for name, dtype in dataset.own_schema.items() if name in names}


def clean_rows(dataset: Dataset, file: DataFile, types: Mapping[str, DataType], text: CsvText) -> pa.Table | None:
    """Return the columns of records none of which is bad; None where one is."""
    options, header = csv_options(dataset), header_of(dataset, file)
    if not text.data:
        return pa.schema(types).empty_table()
    if check_quotes(text.data, options.dialect, file.path, text.line).text_after:
        return None
    try:
        texts = read_columns(dataset, without_comments(text.data, options.dialect), header.names, types)
        return typed(texts, types, options)
    except (pa.ArrowInvalid, EvaluationError):
        return None
