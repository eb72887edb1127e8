"""ORC: files state their columns and the stripes in which they are read, by Arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from gpuetl.format_options import NO_OPTIONS, FormatOptions, option
from gpuetl.formats.compression import Compression, compression_form
from gpuetl.formats.described_files import DescribedFiles, FileDescription, columns_once, described
from gpuetl.formats.format import Encoding, Format, Piece
from gpuetl.formats.orc_tail import stripes_of
from gpuetl.io.data_file import DataFile, RowGroup
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.filesystem import OpenFile
from gpuetl.places.open_file import opened
from gpuetl.records import dataclass
from gpuetl.types.data_types import DURATION, NULL, TIME, DataType, is_opaque, language_type, type_name
from gpuetl.types.nested_types import is_nested, type_parts

if TYPE_CHECKING:
    from pyarrow import orc

    from gpuetl.formats.dataset import Dataset


@dataclass(frozen=True)
class OrcWriteOptions(FormatOptions):
    """How ORC files are written."""

    compression: Compression = option(
        compression_form("zstd", "snappy", "lz4", "zlib", "none", levels=False),
        Compression("zstd"),
        "the codec of stripes",
    )


DICTIONARY_SHARE = 0.5
"""Of distinct values among all, up to which a column of strings gets a dictionary."""


NOT_THERE = (DURATION, NULL, TIME)


class OrcFormat(Format):
    """ORC.  What reads files is imported when the first one is: a declared schema loads no ORC library."""

    name = "orc"
    title = "ORC"
    suffixes = (".orc",)
    write_options = OrcWriteOptions
    encoding = Encoding(1.0, 0, 1.1)

    def metadata(self) -> DescribedFiles:
        """Return the schemas and stripes."""
        return DescribedFiles()

    def stored(self, dataset: Dataset, file: DataFile) -> Mapping[str, DataType]:
        """Return the Arrow types of the columns."""
        return described(dataset, file, describe).types

    def pieces(self, dataset: Dataset, file: DataFile) -> Sequence[Piece]:
        """Return the stripes of a file."""
        return described(dataset, file, describe).pieces

    def holds(self, dtype: DataType) -> bool:
        """Tell whether ORC has a type: it has no unsigned integers, no durations and no times of day."""
        flat = [part for part in type_parts(dtype) if not is_nested(part)]
        return not any(pa.types.is_unsigned_integer(part) or is_opaque(part) or part in NOT_THERE for part in flat)

    def row_name(self, dataset: Dataset, group: RowGroup, row: int) -> str:
        """Name a row by its number in the file, and its stripe."""
        return f"{super().row_name(dataset, group, row)} (stripe {group.index})"

    def read(self, dataset: Dataset, file: DataFile, pieces: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """Read columns of stripes."""
        from pyarrow import orc

        known = described(dataset, file, describe)
        rows = sum(known.pieces[piece].rows for piece in pieces)
        names = [name for name in columns if name in known.types]
        if not names:
            return pa.table({":row": pa.nulls(rows)})
        with opened(file.path, file.state) as source, source.for_arrow() as stored:
            reader = orc.ORCFile(stored)
            table = read_stripes(reader, pieces, names, file)
        if table.num_rows != rows:
            raise pa.ArrowInvalid(f"stripes have {table.num_rows:,} rows, and the metadata declares {rows:,}")
        return table.select(names)

    def write(self, table: pa.Table, path: Path, options: FormatOptions = NO_OPTIONS) -> None:
        """Write stripes of 64 MB, with dictionaries where values repeat."""
        from pyarrow import orc

        codec = OrcWriteOptions.of(options).compression.codec
        compression = "uncompressed" if codec == "none" else codec
        orc.write_table(table, path, compression=compression, dictionary_key_size_threshold=DICTIONARY_SHARE)

    def columns_of(self, file: OpenFile) -> list[str]:
        """Return the columns with their types, in the order of their names."""
        from pyarrow import orc

        with file.for_arrow() as source:
            fields = orc.ORCFile(source).schema
        return sorted(f"{field.name} ({type_name(language_type(field.type) or field.type)})" for field in fields)


def describe(source: OpenFile) -> FileDescription:
    """Return the columns and stripes of a file."""
    from pyarrow import orc

    with source.for_arrow() as stored:
        reader = orc.ORCFile(stored)
        schema, stripes = reader.schema, stripes_of(reader.reader.serialized_file_tail())
    columns_once(source.path, schema.names)
    types = dict(zip(schema.names, schema.types, strict=True))
    return FileDescription(types, tuple(Piece(stripe.rows, {"": stripe.file_bytes}) for stripe in stripes))


def read_stripes(reader: orc.ORCFile, pieces: Sequence[int], names: Sequence[str], file: DataFile) -> pa.Table:
    """Read columns of stripes.

    Raises
    ------
    DatasetError
        For a timestamp before 1678 or after 2262: Arrow reads them in nanoseconds.
    """
    try:
        return pa.Table.from_batches([reader.read_stripe(piece, columns=list(names)) for piece in pieces])
    except pa.ArrowInvalid as error:
        if "out of range for nanosecond" not in str(error):
            raise
        hint = "Leave such columns out, or write the file again without such times."
        message = f"{file.path} has a timestamp before 1678 or after 2262, which Arrow's ORC reader does not hold"
        raise DatasetError(coded("GE1444", message), hint) from None
