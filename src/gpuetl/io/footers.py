"""Parquet footers, each read once: schema, row groups, the statistics by which row groups can be left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import inf
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gpuetl.expressions.types import DataType
from gpuetl.io.dataset import ColumnValues, DataFile, DatasetError, RowGroup, check_widens

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SAMPLED_FILES = 4
"""Of so many files, spread over all of them, the first and the last row group tell how wide texts and lists are."""
MOST_BITS = 32
OFFSET_BYTES = 4
"""Where a text or list begins: Parquet's length of a text and Arrow's offset take as many."""
MICROSECONDS = {"s": 1_000_000, "ms": 1000, "us": 1}


class Footers:
    """Reads and keeps the footers of a source's files."""

    def __init__(self) -> None:
        self._metadata: dict[Path, Any] = {}
        self._schemas: dict[Path, Any] = {}
        self._sampled: list[Any] = []
        self._values: dict[str, ColumnValues | None] = {}

    def metadata(self, file: DataFile) -> Any:
        """Return the file's footer.

        Raises
        ------
        DatasetError
            Where the file cannot be read or is not Parquet.
        """
        if file.path not in self._metadata:
            try:
                self._metadata[file.path] = pq.read_metadata(file.path)
            except (OSError, pa.ArrowException) as error:
                raise DatasetError(
                    f"{file.path} is not a Parquet file that can be read: {str(error).splitlines()[0]}"
                ) from None
        return self._metadata[file.path]

    def schema_of(self, file: DataFile) -> Any:
        """Return the file's Arrow schema, as stored."""
        if file.path not in self._schemas:
            schema = self.metadata(file).schema.to_arrow_schema()
            twice = {name for name in schema.names if schema.names.count(name) > 1}
            if twice:
                raise DatasetError(f"{file.path} has two columns named '{min(twice)}'")
            self._schemas[file.path] = schema
        return self._schemas[file.path]

    def column_values(self, files: Sequence[DataFile], name: str) -> ColumnValues | None:
        """Return what a few row groups tell of a column of texts or lists; None where there are no rows."""
        if name not in self._values:
            self._values[name] = self._column_values(files, name)
        return self._values[name]

    def _column_values(self, files: Sequence[DataFile], name: str) -> ColumnValues | None:
        if not self._sampled:
            step = max(1, len(files) // SAMPLED_FILES)
            for metadata in map(self.metadata, files[::step][:SAMPLED_FILES]):
                places = sorted({0, metadata.num_row_groups - 1} if metadata.num_row_groups else ())
                self._sampled += map(metadata.row_group, places)
        chunks = [_chunk(group, name) for group in self._sampled if group.num_rows]
        rows, values = sum(group.num_rows for group in self._sampled), sum(chunk.num_values for chunk in chunks)
        if not values:
            return None
        return ColumnValues(values / rows, sum(map(_text_bytes, chunks)) / values, max(map(_distinct, chunks)))

    def row_groups(
        self, file: DataFile, planned: Mapping[str, DataType], ranges: Mapping[str, tuple[Any, Any, int]]
    ) -> list[RowGroup]:
        """Return the file's row groups with their statistics; `ranges` are those of the partition columns.

        Raises
        ------
        DatasetError
            Where the file has not the planned columns, in types that widen to theirs.
        """
        metadata = self.metadata(file)
        stored = {field.name: field.type for field in self.schema_of(file)}
        for name, dtype in planned.items():
            check_widens(file, name, stored.get(name), dtype)
        return [self._row_group(file, metadata.row_group(i), i, stored, ranges) for i in range(metadata.num_row_groups)]

    def _row_group(self, file: DataFile, group: Any, index: int, stored: Mapping[str, Any], ranges: Any) -> RowGroup:
        columns = {column.path_in_schema: column for column in (group.column(i) for i in range(group.num_columns))}
        file_bytes: dict[str, int] = {}
        for path, column in columns.items():
            name = path.split(".")[0]
            file_bytes[name] = file_bytes.get(name, 0) + column.total_compressed_size
        return RowGroup(file, index, group.num_rows, file_bytes, _Ranges(columns, stored, ranges))


def _chunk(group: Any, name: str) -> Any:
    """Return a column's chunk of a row group; of a list that of its elements."""
    columns = (group.column(place) for place in range(group.num_columns))
    return next(column for column in columns if column.path_in_schema.split(".")[0] == name)


def _text_bytes(chunk: Any) -> float:
    """Return the bytes of a chunk's texts with their offsets.

    Encoded as PLAIN they are that long in the file, before it is compressed.  Other encodings are shorter; the least
    and the greatest text tell then how long one is.
    """
    size, statistics = float(chunk.total_uncompressed_size), chunk.statistics
    if "PLAIN" in chunk.encodings and not chunk.has_dictionary_page:
        return size
    bounds = (statistics.min, statistics.max) if statistics is not None and statistics.has_min_max else ()
    if len(bounds) != 2 or not all(isinstance(bound, str | bytes) for bound in bounds):
        return size
    return max(size, int(chunk.num_values) * (OFFSET_BYTES + sum(map(len, bounds)) / 2))


def _distinct(chunk: Any) -> float:
    """Return how many distinct values a chunk has at most: those that its codes, of so many bits a row, can tell apart.

    The bytes of the dictionary are among those of the codes; where they are many, the number is far too large.
    """
    bits = 8 * chunk.total_uncompressed_size / max(1, chunk.num_values)
    return float(2**bits) if chunk.has_dictionary_page and bits < MOST_BITS else inf


class _Ranges(Mapping[str, tuple[Any, Any, int]]):
    """The statistics of a row group, decoded when they are asked for: few columns are in a filter."""

    def __init__(
        self, columns: Mapping[str, Any], stored: Mapping[str, Any], known: Mapping[str, tuple[Any, Any, int]]
    ) -> None:
        self._columns, self._stored, self._found = columns, stored, dict(known)
        self._unknown: set[str] = set()

    def __getitem__(self, name: str) -> tuple[Any, Any, int]:
        if name not in self._found and name not in self._unknown and name in self._columns:
            limits = _range(self._columns[name].statistics, self._stored.get(name))
            if limits is None:
                self._unknown.add(name)
            else:
                self._found[name] = limits
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in {**self._columns, **self._found} if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _range(statistics: Any, stored: Any) -> tuple[Any, Any, int] | None:
    """Return (least, greatest, nulls) where the statistics bound every value.

    NaN is left out of a float's bounds; a long string's bounds may be cut short, outwards.
    """
    if statistics is None or not statistics.has_null_count:
        return None
    if not statistics.has_min_max:
        return (None, None, statistics.null_count) if statistics.num_values == 0 else None
    if stored is None or pa.types.is_decimal(stored) or pa.types.is_nested(stored):
        return None
    if pa.types.is_timestamp(stored) and stored.unit == "ns":
        return None
    try:
        least, greatest = _bounds(statistics, stored)
    except (OverflowError, ValueError):  # a time that Python has not
        return None
    if isinstance(least, bytes) or (isinstance(least, float) and (least != least or greatest != greatest)):
        return None
    return least, greatest, statistics.null_count


def _bounds(statistics: Any, stored: Any) -> tuple[Any, Any]:
    """Return the least and greatest value; of instants from their numbers, since pyarrow imports pandas for a zone."""
    if pa.types.is_timestamp(stored) and stored.tz is not None:
        unit = timedelta(microseconds=MICROSECONDS[stored.unit])
        return EPOCH + statistics.min_raw * unit, EPOCH + statistics.max_raw * unit
    return statistics.min, statistics.max
