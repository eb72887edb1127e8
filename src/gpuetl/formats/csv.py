"""CSV: text, mostly with a header line, read in the types that the source declares or that its first rows have."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from gpuetl.format_options import NO_OPTIONS, FormatOptions
from gpuetl.formats.csv_header import Headers, delimiter_hint, header_of, missing_hint
from gpuetl.formats.csv_options import CODECS, CsvOptions, CsvWriteOptions, codec_by_name, csv_options
from gpuetl.formats.file_columns import case_hint
from gpuetl.formats.format import Encoding, Format, Inference, Piece
from gpuetl.io.data_file import ColumnValues, DataFile, RowGroup
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.types.data_types import STRING, DataType, can_be_key, is_binary
from gpuetl.types.nested_types import is_list

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset
    from gpuetl.places.filesystem import OpenFile


class CsvFormat(Format):
    """CSV.  What a field means is decided by the readers of the engines, with the types that are declared."""

    name = "csv"
    title = "CSV"
    suffixes = (".csv", ".csv.gz", ".csv.zst", ".csv.bz2")
    read_options = CsvOptions
    write_options = CsvWriteOptions
    states_types = False
    holds_lists = False
    encoding = Encoding(0.0, 0, 1.1)

    def infer(self, dataset: Dataset) -> Inference:
        """Return the types of the columns by the first rows."""
        from gpuetl.formats.csv_inference import infer

        return infer(dataset)

    def type_hints(self, dataset: Dataset, types: Mapping[str, DataType]) -> Mapping[str, str]:
        """Return hints on columns of dates or numbers with a few other values, or with a decimal comma."""
        from gpuetl.formats.csv_hints import hints

        return hints(dataset, types)

    def detected(self, file: DataFile) -> FormatOptions:
        """Return the encoding, delimiter and header that a file seems to have."""
        from gpuetl.formats.csv_inference import detected

        return detected(file)

    def holds(self, dtype: DataType) -> bool:
        """Tell whether strings stand for values of a type: flat ones, but not bytes; lists have their own error."""
        return is_list(dtype) or (can_be_key(dtype) and not is_binary(dtype))

    def metadata(self) -> Headers:
        """Return the headers."""
        return Headers()

    def stored(self, dataset: Dataset, file: DataFile) -> Mapping[str, DataType]:
        """Return the names of the header as columns of strings."""
        return dict.fromkeys(header_of(dataset, file).names, STRING)

    def pieces(self, dataset: Dataset, file: DataFile) -> Sequence[Piece]:
        """Return the pieces of the file, which are kept: see `csv_pieces.py`."""
        from gpuetl.formats.csv_pieces import pieces_of

        headers = dataset.metadata
        assert isinstance(headers, Headers)
        key = file.path, dataset.whole_file_bytes
        if key not in headers.pieces:
            headers.pieces[key] = pieces_of(dataset, file)
        return headers.pieces[key]

    def column_values(self, dataset: Dataset, name: str) -> ColumnValues | None:
        """Return the bytes of a column of strings, where files are large enough to be cut into pieces."""
        from gpuetl.formats.csv_widths import string_bytes

        headers = dataset.metadata
        assert isinstance(headers, Headers)
        key = dataset.whole_file_bytes
        if key not in headers.string_bytes:
            headers.string_bytes[key] = string_bytes(dataset, dataset.row_groups)
        size = headers.string_bytes[key].get(name)
        return None if size is None else ColumnValues(1.0, size)

    def option_problems(self, options: FormatOptions, types: Mapping[str, DataType]) -> Iterable[tuple[str, str]]:
        """Return what does not go together among the options, and with the columns."""
        return CsvOptions.of(options).problems(types)

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
        """Name a row by its number; a header is row 1."""
        before = getattr(group.extent, "records", 0) + csv_options(dataset).header
        return f"Row {before + row} of {group.file.path}"

    def write(self, table: pa.Table, path: Path, options: FormatOptions = NO_OPTIONS) -> None:
        """Write a header and rows; null is an empty field, an empty string a quoted one."""
        from gpuetl.formats.csv_writing import write_csv

        write_csv(table, path, CsvWriteOptions.of(options).compression_of(path.name))

    def sink_suffix(self, path: str, options: FormatOptions) -> str:
        """Return how names of the sink's files end: that of the path if it is one file, with the compression's."""
        own = next((suffix for suffix in self.suffixes[1:] if path.endswith(suffix)), "")
        codec = CsvWriteOptions.of(options).compression.codec
        packed = next((suffix for suffix, name in CODECS.items() if name == codec), "")
        return own if own and codec == "auto" else f".csv{packed}"

    def columns_of(self, file: OpenFile) -> list[str]:
        """Return the header."""
        import pyarrow as pa

        codec = codec_by_name(file.path.name)
        with (
            pa.CompressedInputStream(file.for_arrow(), codec) if codec else file.open() as source,
            TextIOWrapper(source, encoding="utf-8", newline="") as text,
        ):
            return [",".join(next(csv.reader(text), []))]
