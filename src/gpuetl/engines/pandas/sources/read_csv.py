"""CSV files with a header, as the source's schema says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from gpuetl.engines.pandas.sources.bad_rows import CsvRows
from gpuetl.engines.pandas.sources.csv_values import read_texts, typed
from gpuetl.errors import EvaluationError
from gpuetl.io.csv_blocks import CsvBlocks
from gpuetl.io.csv_quotes import check_quotes
from gpuetl.io.data_file import DataFile
from gpuetl.io.dataset import Dataset
from gpuetl.io.open_file import OpenFile, opened
from gpuetl.io.rejected import COLUMNS, RejectedRows
from gpuetl.types.data_types import DataType


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
            dataset.on_bad_row != "quarantine"
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
    names = dataset.header(file).names
    return {name: dtype for name, dtype in dataset.own_schema.items() if name in names}


def clean_rows(dataset: Dataset, file: DataFile, types: Mapping[str, DataType], source: OpenFile) -> pa.Table | None:
    """Return the columns of a file without bad rows; None where it has one."""
    header = dataset.header(file)
    quotes = check_quotes(source, dataset.delimiter)
    if header.alone:
        return pa.schema(types).empty_table()
    if quotes.text_after:
        return None
    try:
        with CsvBlocks(source) if quotes.present else source.for_arrow() as text:
            return typed(read_texts(dataset, text, header.names, list(types)), types)
    except (pa.ArrowInvalid, EvaluationError):
        return None
