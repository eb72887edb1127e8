"""Parquet: files state their columns, the row groups in which they are read, and statistics of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from gpuetl.errors import have_hint
from gpuetl.format_options import NO_OPTIONS, FormatOptions
from gpuetl.formats.file_columns import check_columns
from gpuetl.formats.format import Encoding, Format, Piece
from gpuetl.formats.parquet_options import ParquetReadOptions, ParquetWriteOptions, parquet_options
from gpuetl.io.data_file import ColumnValues, DataFile, RowGroup
from gpuetl.messages import coded
from gpuetl.places.file_state import FileState
from gpuetl.places.watching import Look
from gpuetl.types.data_types import BOOL, OPAQUE, DataType, language_type, type_name
from gpuetl.types.nested_types import is_struct, type_parts

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset
    from gpuetl.formats.footers import Footers
    from gpuetl.places.filesystem import OpenFile


class ParquetFormat(Format):
    """Parquet.  What reads footers is imported when a footer is read: a declared schema loads no Parquet library."""

    name = "parquet"
    title = "Parquet"
    suffixes = (".parquet",)
    read_options = ParquetReadOptions
    write_options = ParquetWriteOptions
    keeps_plans = True
    reads_fields = True
    encoding = Encoding(0.5, 24 << 20, 1.1)

    def holds(self, dtype: DataType) -> bool:
        """Tell whether Arrow writes a type: intervals it does not, and structs without fields."""
        parts = list(type_parts(dtype))
        empty = any(is_struct(part) and not part.num_fields for part in parts)
        return not (empty or OPAQUE.intersection(parts))

    def metadata(self) -> Footers:
        """Return the footers."""
        from gpuetl.formats.footers import Footers

        return Footers()

    def stored(self, dataset: Dataset, file: DataFile) -> Mapping[str, DataType]:
        """Return the Arrow types of the columns, as the footer states them."""
        return footers_of(dataset).footer(file).stored

    def pieces(self, dataset: Dataset, file: DataFile) -> Sequence[Piece]:
        """Return the row groups of a file."""
        return [Piece(group.rows, group.file_bytes) for group in footers_of(dataset).footer(file).groups]

    def row_groups(self, dataset: Dataset) -> tuple[RowGroup, ...]:
        """Return all row groups with their statistics; of files with one schema only the first is checked."""
        planned, check, footers = dataset.own_schema, partial(check_columns, dataset), footers_of(dataset)
        groups, files, look = list[RowGroup](), dataset.files, Look("metadata of", str(dataset.path))
        for done, file in enumerate(footers.ahead(files)):
            look.at(done, len(files))
            groups += footers.row_groups(file, planned, dataset.partition_ranges(file), check)
        look.end(len(files))
        return tuple(groups)

    def column_values(self, dataset: Dataset, name: str) -> ColumnValues | None:
        """Estimate the values of a column from a few row groups; None of partition columns and where no file is."""
        if name in dataset.partitions or not dataset.files:
            return None
        return footers_of(dataset).column_values(dataset.files, name)

    def planned_state(self, dataset: Dataset, file: DataFile) -> FileState | None:
        """Return the state in which the footer was read, None of a file that had changed just before."""
        footers = footers_of(dataset)
        footers.load(dataset.files)
        return footers.footer(file).state

    def other_name(self, dataset: Dataset, name: str) -> bytes | None:
        """Return the bytes of a column's name if they are not UTF-8."""
        return footers_of(dataset).other_names.get(name)

    def row_name(self, dataset: Dataset, group: RowGroup, row: int) -> str:
        """Name a row by its number in the file, and its row group."""
        return f"{super().row_name(dataset, group, row)} (row group {group.index})"

    def read_files(
        self,
        dataset: Dataset,
        files: Sequence[tuple[DataFile, Sequence[int]]],
        columns: Sequence[str],
        fields: Mapping[str, DataType] | None = None,
    ) -> Iterator[pa.Table]:
        """Read columns of row groups, of structs in `fields` only the fields there; those of stores are read ahead."""
        from gpuetl.formats.parquet_parts import FileChunks
        from gpuetl.formats.parquet_rows import read_files

        footers, verify = footers_of(dataset), parquet_options(dataset).verify_checksums
        chunks = [FileChunks.of(file, footers.footer(file), groups, columns, fields or {}) for file, groups in files]
        return read_files(chunks, verify)

    def read(self, dataset: Dataset, file: DataFile, pieces: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """Read columns of row groups."""
        return next(self.read_files(dataset, [(file, pieces)], columns))

    def sink_problems(self, options: FormatOptions, columns: Mapping[str, DataType]) -> Iterator[tuple[str, str]]:
        """Yield columns of `bloom_filters` that are not written, or that have no Bloom filters."""
        for name in ParquetWriteOptions.of(options).bloom_filters:
            if name not in columns:
                message = coded("GE1003", f"bloom_filters: unknown column '{name}'")
                yield message, have_hint(name, columns, noun="Columns of the files")
            elif columns[name] == BOOL or pa.types.is_nested(columns[name]):
                kind = type_name(columns[name])
                yield coded("GE1505", f"bloom_filters: '{name}' is {kind}, which has no Bloom filter"), "Leave it out."

    def write(self, table: pa.Table, path: Path, options: FormatOptions = NO_OPTIONS) -> None:
        """Write a file as its options say."""
        from gpuetl.formats import parquet_rows

        parquet_rows.write_parquet(table, path, ParquetWriteOptions.of(options))

    def columns_of(self, file: OpenFile) -> list[str]:
        """Return the columns with their types, in the order of their names."""
        import pyarrow.parquet as pq

        with file.for_arrow() as source:
            fields = pq.read_schema(source)
        return sorted(f"{field.name} ({type_name(language_type(field.type) or field.type)})" for field in fields)


def footers_of(dataset: Dataset) -> Footers:
    """Return the footers of a source of Parquet files."""
    from gpuetl.formats.footers import Footers

    found = dataset.metadata
    assert isinstance(found, Footers)
    return found
