"""Arrow IPC: files and streams of record batches, also Feather V2, which are read batch by batch.

A file lists its batches, so each is a piece.  A stream does not, and is one piece of unknown rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gpuetl.format_options import NO_OPTIONS, FormatOptions, option
from gpuetl.formats.compression import Compression, compression_form
from gpuetl.formats.described_files import DescribedFiles, FileDescription, columns_once, described
from gpuetl.formats.format import Encoding, Format, Piece
from gpuetl.io.data_file import DataFile
from gpuetl.messages import coded
from gpuetl.places.file_state import DatasetError
from gpuetl.places.filesystem import OpenFile
from gpuetl.places.open_file import opened
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType, language_type, type_name

if TYPE_CHECKING:
    from gpuetl.formats.dataset import Dataset

FILE_MARK, FEATHER_1_MARK = b"ARROW1", b"FEA1"
BATCH_ROWS = 1 << 17
"""Of a written batch: small enough to be read a part at a time, and large enough to be compressed well."""


@dataclass(frozen=True)
class ArrowWriteOptions(FormatOptions):
    """How Arrow IPC files are written."""

    compression: Compression = option(
        compression_form("zstd", "lz4", "none"), Compression("zstd"), "the codec of the buffers"
    )


class ArrowFormat(Format):
    """Arrow IPC.  Which of the two layouts a file has is seen from its first bytes."""

    name = "arrow"
    title = "Arrow IPC"
    suffixes = (".arrow", ".feather", ".ipc", ".arrows")
    write_options = ArrowWriteOptions
    encoding = Encoding(1.0, 0, 1.1)

    def holds(self, dtype: DataType) -> bool:
        """Tell that it has all types."""
        return True

    def metadata(self) -> DescribedFiles:
        """Return the schemas and batches."""
        return DescribedFiles()

    def stored(self, dataset: Dataset, file: DataFile) -> Mapping[str, DataType]:
        """Return the types of the schema."""
        return described(dataset, file, describe).types

    def pieces(self, dataset: Dataset, file: DataFile) -> Sequence[Piece]:
        """Return the record batches of a file; a stream is one piece."""
        return described(dataset, file, describe).pieces

    def read(self, dataset: Dataset, file: DataFile, pieces: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """Read columns of record batches, and check their offsets and dictionary codes: Arrow trusts a file's."""
        with opened(file.path, file.state) as source, reading(source, columns) as (reader, is_file):
            own = map(reader.get_batch, pieces) if is_file else reader
            batches = [checked(batch) for batch in own]
            rows = pa.Table.from_batches(batches, reader.schema)
        names = [name for name in columns if name in rows.column_names]
        return rows.select(names) if names else pa.table({":row": pa.nulls(rows.num_rows)})

    def sink_suffix(self, path: str, options: FormatOptions) -> str:
        """Return how names of the sink's files end: as its path does, if it is one file."""
        return next((suffix for suffix in self.suffixes if path.endswith(suffix)), self.suffixes[0])

    def write(self, table: pa.Table, path: Path, options: FormatOptions = NO_OPTIONS) -> None:
        """Write a file of record batches."""
        codec, level = ArrowWriteOptions.of(options).compression
        compression = None if codec == "none" else pa.Codec(codec, level) if level else codec
        how = pa.ipc.IpcWriteOptions(compression=compression)
        with pa.ipc.new_file(path, table.schema, options=how) as writer:
            writer.write_table(table, max_chunksize=BATCH_ROWS)

    def columns_of(self, file: OpenFile) -> list[str]:
        """Return the columns with their types, in the order of their names."""
        with file.for_arrow() as source, pa.ipc.open_file(source) as reader:
            return sorted(
                f"{field.name} ({type_name(language_type(field.type) or field.type)})" for field in reader.schema
            )


def describe(source: OpenFile) -> FileDescription:
    """Return the columns and the batches of a file.

    The rows of a batch stand in its own metadata, which Arrow reads with one column: the narrowest.
    """
    with reading(source) as (reader, is_file):
        schema = reader.schema
    columns_once(source.path, schema.names)
    types = dict(zip(schema.names, schema.types, strict=True))
    if not is_file:
        return FileDescription(types, (Piece(-1, {"": source.state.size}),))
    fixed = [name for name, dtype in types.items() if pa.types.is_primitive(dtype)]
    narrow = min(fixed, key=lambda name: types[name].bit_width, default=None) or next(iter(types), None)
    with reading(source, () if narrow is None else (narrow,)) as (reader, _):
        rows = [reader.get_batch(number).num_rows for number in range(reader.num_record_batches)]
    size = source.state.size // max(len(rows), 1)
    return FileDescription(types, tuple(Piece(count, {"": size}) for count in rows))


@contextmanager
def reading(source: OpenFile, columns: Sequence[str] | None = None) -> Iterator[tuple[Any, bool]]:
    """Open a file or stream of Arrow's for the block; the flag says whether it is a file, whose batches can be chosen.

    Of a file the named columns are read, or all where it has none of them.

    Raises
    ------
    DatasetError
        For a file of the first version of Feather.
    pyarrow.ArrowInvalid
        For what is neither.
    """
    mark = source.read_at(0, len(FILE_MARK))
    if mark.startswith(FEATHER_1_MARK):
        hint = "Write it again as Feather V2: pyarrow.feather.write_feather(table, path)."
        raise DatasetError(coded("GE1403", f"{source.path} is a Feather V1 file, which gpuetl does not support"), hint)
    if mark != FILE_MARK:
        with source.for_arrow() as stored, pa.ipc.open_stream(stored) as stream:
            yield stream, False
        return
    places = list[int]()
    if columns:
        with source.for_arrow() as stored, pa.ipc.open_file(stored) as reader:
            places = [place for place, name in enumerate(reader.schema.names) if name in columns]
    options = pa.ipc.IpcReadOptions(included_fields=places or None)
    with source.for_arrow() as stored, pa.ipc.open_file(stored, options=options) as reader:
        yield reader, True


def checked(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch whose offsets, dictionary codes and strings are valid.

    Raises
    ------
    pyarrow.ArrowInvalid
        For a batch that is not: to use it could read outside of its memory.
    """
    batch.validate(full=True)
    return batch
