"""CSV: text with a header line, read in the types that the source declares; a file is one piece of unknown rows."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from gpuetl.format_options import NO_OPTIONS, FormatOptions
from gpuetl.formats.csv_header import Headers, delimiter_hint, header_of, missing_hint
from gpuetl.formats.csv_options import CsvOptions
from gpuetl.formats.file_columns import case_hint
from gpuetl.formats.format import Encoding, Format, Piece
from gpuetl.io.data_file import DataFile, RowGroup
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.types.data_types import STRING, TIMESTAMP_NS, DataType, can_be_key, is_binary
from gpuetl.types.nested_types import is_list

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset
    from gpuetl.places.filesystem import OpenFile


class CsvFormat(Format):
    """CSV.  What a field means is decided by the readers of the engines, with the types that are declared."""

    name = "csv"
    title = "CSV"
    suffixes = (".csv",)
    read_options = CsvOptions
    states_types = False
    holds_lists = False
    encoding = Encoding(0.0, 0, 1.1)

    def holds(self, dtype: DataType, is_written: bool) -> bool:
        """Return whether texts stand for values of a type: flat ones, but not bytes."""
        flat = can_be_key(dtype) and not is_binary(dtype)
        return is_list(dtype) or (flat and (is_written or dtype != TIMESTAMP_NS))

    def metadata(self) -> Headers:
        """Return the headers."""
        return Headers()

    def stored(self, dataset: Dataset, file: DataFile) -> Mapping[str, DataType]:
        """Return the names of the header as columns of strings."""
        return dict.fromkeys(header_of(dataset, file).names, STRING)

    def pieces(self, dataset: Dataset, file: DataFile) -> Sequence[Piece]:
        """Return the file as one piece."""
        return [Piece(-1, {"": file.state.size if file.state else 0})]

    def check_column(self, dataset: Dataset, file: DataFile, name: str, stored: DataType, planned: DataType) -> None:
        """Refuse a column whose name stands twice in the header."""
        if header_of(dataset, file).names.count(name) > 1:
            message = coded("GE1412", f"{file.path}: two columns are named '{name}'")
            raise DatasetError(message, "Rename one in the header.")

    def missing_column(self, dataset: Dataset, file: DataFile, name: str) -> DatasetError:
        """Word a file that lacks a column, perhaps because its delimiter is another one."""
        names = header_of(dataset, file).names
        has_name = delimiter_hint(names) or case_hint(name, names)
        fill = "" if has_name else "Set missing_columns: null to read null there."
        near = missing_hint(name, names)
        return DatasetError(coded("GE1404", f"{file.path}: there is no column '{name}'.  {near}"), fill)

    def row_name(self, dataset: Dataset, group: RowGroup, row: int) -> str:
        """Name a row by its number; the header is row 1."""
        return f"Row {row + 1} of {group.file.path}"

    def write(self, table: pa.Table, path: Path, options: FormatOptions = NO_OPTIONS) -> None:
        """Write a header and rows; null is an empty field, an empty string a quoted one."""
        import pyarrow.csv

        pyarrow.csv.write_csv(table, path)

    def columns_of(self, file: OpenFile) -> list[str]:
        """Return the header."""
        with TextIOWrapper(file.open(), encoding="utf-8", newline="") as text:
            return [",".join(next(csv.reader(text), []))]
