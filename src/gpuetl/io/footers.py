"""Parquet footers, each read once: schema, row groups, the statistics by which row groups can be left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gpuetl.expressions.types import DataType
from gpuetl.io.dataset import DataFile, DatasetError, RowGroup, check_widens

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECONDS = {"s": 1_000_000, "ms": 1000, "us": 1}


class Footers:
    """Reads and keeps the footers of a source's files."""

    def __init__(self) -> None:
        self._metadata: dict[Path, Any] = {}
        self._schemas: dict[Path, Any] = {}

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
