"""Sources in memory: frames of other libraries as Arrow tables of the language's types, read in slices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gpuetl.errors import InvalidPipeline, first_line
from gpuetl.formats.dataset import Dataset
from gpuetl.formats.format import Format, Piece
from gpuetl.formats.nested_arrays import in_type
from gpuetl.io.data_file import ColumnValues, DataFile, RowGroup
from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType, language_type
from gpuetl.types.nested_types import is_list
from gpuetl.types.schema import Schema

# Arrow's texts with offsets of 64 bits as the language's, whose offsets have 32: as many arrays as hold them.


MOST_BYTES = (1 << 31) - 1
"""Of texts in one array of Arrow's `string`."""


def narrow_strings(texts: pa.Array) -> Iterator[pa.Array]:
    """Yield the texts of a `large_string` array, in order, as arrays of `string`.

    Raises
    ------
    pyarrow.ArrowInvalid
        For a single text of 2^31 bytes or more.
    """
    offsets = np.frombuffer(texts.buffers()[1] or bytes(8), np.int64)[texts.offset : texts.offset + len(texts) + 1]
    if not len(texts) or offsets[-1] <= MOST_BYTES:  # no byte is copied
        yield texts.cast(pa.string())
        return
    start = 0
    while start < len(texts):
        end = int(np.searchsorted(offsets, offsets[start] + MOST_BYTES, side="right")) - 1
        end = max(end, start + 1)
        own = pa.concat_arrays([texts.slice(start, end - start)])  # whose offsets begin at 0
        yield own.cast(pa.string())
        start = end


# Sources in memory: frames of other libraries as Arrow tables, read in slices as files are in row groups.


SLICE_ROWS = 1 << 20
UTC_ALIASES = ("Etc/UTC", "Etc/UCT", "Etc/Universal", "Etc/Zulu", "UCT", "Universal", "Zulu", "+00:00")
NARWHALS_HINT = '; for frames of other libraries: pip install "gpuetl[narwhals]"'


class FrameFormat(Format):
    """Rows in memory, as far as they are read like files: slices are the pieces, and nothing is written."""

    name = "memory"
    title = "memory"
    suffixes = ()
    writes = False
    in_memory = True

    def stored(self, dataset: Dataset, file: DataFile) -> Mapping[str, DataType]:
        """Return the table's columns."""
        return dataset.schema

    def pieces(self, dataset: Dataset, file: DataFile) -> Sequence[Piece]:
        """Return the slices in which it is read."""
        return [Piece(group.rows, group.file_bytes) for group in dataset.row_groups]

    def row_name(self, dataset: Dataset, group: RowGroup, row: int) -> str:
        """Name a row by its number in the frame."""
        return f"Row {group.index * SLICE_ROWS + row:,} of the frame '{dataset.name}'"

    def read(self, dataset: Dataset, file: DataFile, pieces: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """Return columns of slices that follow each other, on the table's memory."""
        assert isinstance(dataset, FrameDataset)
        return dataset.rows(pieces, columns)


FRAMES = FrameFormat()


@dataclass(frozen=True, eq=False)
class FrameDataset(Dataset):
    """A source whose rows are `table`, of the language's types, read in slices of `slice_rows` rows."""

    table: Any = field(default=None, repr=False)
    slice_rows: int = SLICE_ROWS

    def __getstate__(self) -> dict[str, Any]:
        """Travel to another process without the rows, which are sent to where they are read."""
        return {**super().__getstate__(), "table": None}

    @classmethod
    def of(cls, name: str, table: pa.Table, slice_rows: int = SLICE_ROWS) -> FrameDataset:
        """Return the source of a table."""
        return cls(name, FRAMES.name, Path("/memory") / name, table=table, slice_rows=slice_rows)

    @property
    def file_format(self) -> FrameFormat:
        """That of rows in memory, which no file has."""
        return FRAMES

    @cached_property
    def files(self) -> tuple[DataFile, ...]:
        """The table, in the place of a file."""
        return (DataFile(self.path, {}),)

    @cached_property
    def schema(self) -> Schema:
        """The table's columns."""
        return Schema.of_arrow(self.table.schema)

    @cached_property
    def row_groups(self) -> tuple[RowGroup, ...]:
        """The slices in which it is read."""
        starts = range(0, self.table.num_rows, self.slice_rows)
        sizes = (min(self.slice_rows, self.table.num_rows - start) for start in starts)
        return tuple(RowGroup(self.files[0], index, rows, {}, {}) for index, rows in enumerate(sizes))

    def column_values(self, name: str) -> ColumnValues | None:
        """Return what the table's own column takes."""
        rows, column = self.table.num_rows, self.table.column(name)
        values = sum(len(chunk.flatten()) for chunk in column.chunks) if is_list(column.type) else rows
        return ColumnValues(values / rows, column.nbytes / values, row_bytes=column.nbytes / rows) if values else None

    def rows(self, slices: Sequence[int], names: Sequence[str]) -> pa.Table:
        """Return columns of slices that follow each other, on the table's memory."""
        start = slices[0] * self.slice_rows if slices else 0
        return self.table.select(list(names)).slice(start, len(slices) * self.slice_rows)


def to_table(frame: Any, within: str) -> pa.Table:
    """Return a frame of Arrow, pandas, Polars, cuDF or whatever else hands over Arrow, with types of the language.

    Nothing is copied that has such a type already, but for frames of cuDF, which come to host memory.  In columns of
    pandas that are not of Arrow types NaN is null, as pandas means it.

    Raises
    ------
    InvalidPipeline
        For what is no frame, and for a column that has no type of the language or loses by it.
    """
    try:
        table = as_arrow(frame, within)
    except pa.ArrowException as error:
        message = coded("GE1407", f"a column cannot be taken as Arrow: {'; '.join(map(str, error.args))}")
        raise InvalidPipeline.because(message, "Give it one type, or leave it out.", within) from None
    twice = {name for name in table.column_names if table.column_names.count(name) > 1}
    if twice:
        raise InvalidPipeline.because(coded("GE1412", f"two columns are named '{min(twice)}'"), "Rename one.", within)
    return pa.table({name: in_language(table.column(name), name, within) for name in table.column_names})


def as_arrow(frame: Any, within: str) -> pa.Table:
    """Return a frame as an Arrow table, with the types that it has."""
    if isinstance(frame, pa.Table):
        return frame
    library = type(frame).__module__.partition(".")[0]
    if library == "pandas" and hasattr(frame, "columns"):
        return pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata()
    if library == "cudf" and hasattr(frame, "columns"):
        return frame.to_arrow(preserve_index=False).replace_schema_metadata()
    if library == "polars" and hasattr(frame, "collect"):
        frame = frame.collect()
    if library == "polars" and hasattr(frame, "to_arrow") and hasattr(frame, "columns"):
        return frame.to_arrow()  # Arrow's own stream has categories as views, which Arrow casts to nothing
    if hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__"):
        return of_capsule(frame, within)
    if (native := of_narwhals(frame)) is not None:
        return as_arrow(native, within)
    raise no_frame(frame, within)


def of_capsule(frame: Any, within: str) -> pa.Table:
    """Return what an object hands over by the Arrow PyCapsule interface: a stream of record batches, or one."""
    stream = getattr(frame, "__arrow_c_stream__", None)
    try:
        if stream is None:
            return pa.Table.from_batches([pa.record_batch(frame)])
        return pa.RecordBatchReader._import_from_c_capsule(stream()).read_all()
    except pa.ArrowInvalid as error:
        if "non-struct type" in str(error):  # an array, such as a column
            raise no_frame(frame, within) from None
        raise


def of_narwhals(frame: Any) -> pa.Table | None:
    """Return a frame of any library that narwhals knows as an Arrow table; None for what is none, or without narwhals.

    Rows of a lazy frame, such as those of Ibis, Dask and PySpark, are computed.
    """
    try:
        import narwhals as nw
    except ModuleNotFoundError:
        return None
    known = nw.from_native(frame, pass_through=True)
    if isinstance(known, nw.LazyFrame):
        return known.collect(backend="pyarrow").to_native()
    return known.to_arrow() if isinstance(known, nw.DataFrame) else None


def no_frame(frame: Any, within: str) -> InvalidPipeline:
    """Word what is not a frame."""
    hint = (
        "It takes an Arrow table, a frame of pandas, Polars or cuDF, a relation of DuckDB, or any object with "
        f"__arrow_c_stream__{NARWHALS_HINT if find_spec('narwhals') is None else ''}."
    )
    return InvalidPipeline.because(coded("GE3008", f"a {type(frame).__name__} is not a frame"), hint, within)


def in_language(column: pa.ChunkedArray, name: str, within: str) -> pa.ChunkedArray:
    """Return a column in its type of the language; a zone that is UTC by another name is UTC."""
    dtype = language_type(column.type)
    if dtype is not None and pa.types.is_timestamp(dtype) and dtype.tz in UTC_ALIASES:
        dtype = pa.timestamp(dtype.unit, "UTC")  # DuckDB has the zone of its session, such as Etc/UTC
    if dtype is None:
        message = coded("GE1407", f"column '{name}' has type {column.type}, which gpuetl does not support")
        raise InvalidPipeline.because(message, "Leave it out, or convert it before.", within)
    try:
        if column.type == pa.large_string():  # one array may have more bytes than one of the language's holds
            return pa.chunked_array([part for chunk in column.chunks for part in narrow_strings(chunk)], dtype)
        return in_type(column, dtype)
    except pa.ArrowInvalid as error:
        message = coded("GE1407", f"column '{name}' cannot become {dtype} without loss: {first_line(error)}")
        raise InvalidPipeline.because(message, "Round or convert it before.", within) from None
