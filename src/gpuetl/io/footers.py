"""Parquet footers, each read once while its file stays as it is: schema, row groups, and ranges of columns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from math import inf
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gpuetl.expressions.types import DataType
from gpuetl.io.dataset import ColumnValues, DataFile, DatasetError, RowGroup
from gpuetl.messages import coded

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SAMPLED_FILES = 4
"""Of so many files, spread over all of them, the first and the last row group tell how wide texts and lists are."""
MOST_BITS = 32
OFFSET_BYTES = 4
"""Where a text or list begins: Parquet's length of a text and Arrow's offset take as many."""
MICROSECONDS = {"s": 1_000_000, "ms": 1000, "us": 1}
Limits = tuple[Any, Any, int]
MOST_KEPT = 1024
SETTLED_NS = 1_000_000_000
"""A file that changed less than this ago may change again within one tick of its file system's clock."""


class Group:
    """A row group: its rows, the bytes of each column in the file, and the columns' limits, decoded when asked for.

    `leaves` has the column to which each of its chunks belongs.
    """

    def __init__(self, group: Any, leaves: Sequence[str], stored: Mapping[str, Any]) -> None:
        self.rows: int = group.num_rows
        self.stored = stored
        self.chunks: dict[str, list[Any]] = {}
        for place, name in enumerate(leaves):
            self.chunks.setdefault(name, []).append(group.column(place))
        self.file_bytes = {name: sum(one.total_compressed_size for one in each) for name, each in self.chunks.items()}
        self._limits: dict[str, Limits | None] = {}

    def limits(self, name: str) -> Limits | None:
        """Return (least, greatest, nulls) of a column, None where its statistics do not bound every value."""
        if name not in self._limits:
            known = name in self.chunks
            self._limits[name] = _range(self.chunks[name][0].statistics, self.stored[name]) if known else None
        return self._limits[name]


class Footer:
    """What the footer of one file says, which was in a `state`; None where that may not tell of a later change."""

    def __init__(self, metadata: Any, state: tuple[int, ...] | None) -> None:
        self.metadata, self.state = metadata, state
        self.schema = metadata.schema.to_arrow_schema()

    @cached_property
    def repeated(self) -> str | None:
        """The name of two columns, if there is one."""
        names = self.schema.names
        return min((name for name in names if names.count(name) > 1), default=None)

    @cached_property
    def stored(self) -> Mapping[str, Any]:
        """The Arrow types of the columns."""
        return {field.name: field.type for field in self.schema}

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The row groups."""
        schema = self.metadata.schema
        leaves = [column_of(schema.column(i).path, self.stored) for i in range(len(schema))]
        return tuple(
            Group(self.metadata.row_group(i), leaves, self.stored) for i in range(self.metadata.num_row_groups)
        )


def column_of(path: str, stored: Mapping[str, Any]) -> str:
    """Return the column that a leaf belongs to: itself, or a list whose elements it has.  Names may have dots."""
    return path if path in stored else max((name for name in stored if path.startswith(f"{name}.")), key=len)


def footer_of(path: Path) -> Footer:
    """Return a file's footer, read anew where the file is not what it was.

    Raises
    ------
    OSError, pa.ArrowException
        Where the file cannot be read or is not Parquet.
    """
    stat = path.stat()
    changed = max(stat.st_mtime_ns, stat.st_ctime_ns)
    state = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
    settled = time.time_ns() - changed > SETTLED_NS
    return kept_footer(path, state) if settled else Footer(read_metadata(path), None)


@lru_cache(MOST_KEPT)
def kept_footer(path: Path, state: tuple[int, ...]) -> Footer:
    """Return the footer of a file that is in this state."""
    return Footer(read_metadata(path), state)


def read_metadata(path: Path) -> Any:
    """Read a footer through a file of Arrow's, which looks for no file system."""
    with pa.OSFile(str(path)) as file:
        return pq.read_metadata(file)


class Footers:
    """The footers of a source's files, as they are when they are first asked for."""

    def __init__(self) -> None:
        self._footers: dict[Path, Footer] = {}
        self._alike: Any = None
        self._lacking: list[str] = []
        self._unordered: list[str] = []
        self._sampled: list[Group] = []
        self._values: dict[str, ColumnValues | None] = {}

    def footer(self, file: DataFile) -> Footer:
        """Return the file's footer.

        Raises
        ------
        DatasetError
            Where the file cannot be read or is not Parquet, or has two columns of one name.
        """
        if file.path not in self._footers:
            try:
                footer = footer_of(file.path)
            except (OSError, pa.ArrowException) as error:
                raise DatasetError(
                    coded("GE1403", f"{file.path} is not a Parquet file that can be read: {str(error).splitlines()[0]}")
                ) from None
            if footer.repeated is not None:
                raise DatasetError(coded("GE1412", f"{file.path} has two columns named '{footer.repeated}'"))
            self._footers[file.path] = footer
        return self._footers[file.path]

    def schema_of(self, file: DataFile) -> Any:
        """Return the file's Arrow schema, as stored."""
        return self.footer(file).schema

    def column_values(self, files: Sequence[DataFile], name: str) -> ColumnValues | None:
        """Return what a few row groups tell of a column of texts or lists; None where there are no rows."""
        if name not in self._values:
            self._values[name] = self._column_values(files, name)
        return self._values[name]

    def _column_values(self, files: Sequence[DataFile], name: str) -> ColumnValues | None:
        if not self._sampled:
            step = max(1, len(files) // SAMPLED_FILES)
            for footer in map(self.footer, files[::step][:SAMPLED_FILES]):
                self._sampled += [*footer.groups[:1], *footer.groups[1:][-1:]]
        chunks = [group.chunks[name][0] for group in self._sampled if group.rows and name in group.chunks]
        rows, values = sum(group.rows for group in self._sampled), sum(chunk.num_values for chunk in chunks)
        if not values:
            return None
        return ColumnValues(values / rows, sum(map(_text_bytes, chunks)) / values, max(map(_distinct, chunks)))

    def row_groups(
        self,
        file: DataFile,
        planned: Mapping[str, DataType],
        ranges: Mapping[str, Limits],
        check: Callable[[DataFile], None],
    ) -> list[RowGroup]:
        """Return the file's row groups with their statistics; `ranges` are those of the partition columns.

        A planned column that the file lacks is null in all rows.

        Raises
        ------
        DatasetError
            Where `check` refuses the file's columns.
        """
        footer = self.footer(file)
        if self._alike is None or not footer.schema.equals(self._alike):
            check(file)
            self._alike = footer.schema  # files of this schema need no further look
            self._lacking = [name for name in planned if name not in footer.stored]
            self._unordered = [
                n for n, t in planned.items() if n in footer.stored and is_other_time(footer.stored[n], t)
            ]
        unordered = dict.fromkeys(self._unordered)
        return [
            RowGroup(
                file,
                index,
                group.rows,
                group.file_bytes,
                _Ranges(group, {**ranges, **unordered, **dict.fromkeys(self._lacking, (None, None, group.rows))}),
            )
            for index, group in enumerate(footer.groups)
        ]


def is_other_time(stored: DataType, planned: DataType) -> bool:
    """Tell whether a column's limits are dates where it is read as timestamps: Python does not compare the two."""
    return bool(pa.types.is_date(stored) and pa.types.is_timestamp(planned))


def _text_bytes(chunk: Any) -> float:
    """Return the bytes of a chunk's texts with their offsets.

    Encoded as PLAIN they are that long in the file, before it is compressed.  Other encodings are shorter; the least
    and the greatest text tell then how long one is.
    """
    size, statistics = float(chunk.total_uncompressed_size), chunk.statistics
    if "PLAIN" in chunk.encodings and not chunk.has_dictionary_page:
        return size
    if chunk.physical_type != "BYTE_ARRAY" or statistics is None or not statistics.has_min_max:
        return size
    bounds = (statistics.min_raw, statistics.max_raw)  # bytes, whatever they mean
    return max(size, int(chunk.num_values) * (OFFSET_BYTES + sum(map(len, bounds)) / 2))


def _distinct(chunk: Any) -> float:
    """Return how many distinct values a chunk has at most: those that its codes, of so many bits a row, can tell apart.

    The bytes of the dictionary are among those of the codes; where they are many, the number is far too large.
    """
    bits = 8 * chunk.total_uncompressed_size / max(1, chunk.num_values)
    return float(2**bits) if chunk.has_dictionary_page and bits < MOST_BITS else inf


class _Ranges(Mapping[str, tuple[Any, Any, int]]):
    """The statistics of a row group, decoded when they are asked for: few columns are in a filter."""

    def __init__(self, group: Group, known: Mapping[str, Limits | None]) -> None:
        self._group, self._known = group, known

    def __getitem__(self, name: str) -> Limits:
        limits = self._known[name] if name in self._known else self._group.limits(name)
        if limits is None:
            raise KeyError(name)
        return limits

    def __iter__(self) -> Iterator[str]:
        return (name for name in {**self._group.chunks, **self._known} if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _range(statistics: Any, stored: Any) -> Limits | None:
    """Return (least, greatest, nulls) where the statistics bound every value.

    NaN is left out of a float's bounds; a long string's bounds may be cut short, outwards.
    """
    if statistics is None or not statistics.has_null_count or pa.types.is_nested(stored):
        return None
    if not statistics.has_min_max:
        return (None, None, statistics.null_count) if statistics.num_values == 0 else None
    if pa.types.is_decimal(stored):
        return None
    if (pa.types.is_timestamp(stored) or pa.types.is_duration(stored)) and stored.unit == "ns":
        return None
    try:
        least, greatest = _bounds(statistics, stored)
    except (OverflowError, ValueError):  # a time that Python has not
        return None
    if isinstance(least, bytes) or (isinstance(least, float) and (least != least or greatest != greatest)):
        return None
    return least, greatest, statistics.null_count


def _bounds(statistics: Any, stored: Any) -> tuple[Any, Any]:
    """Return the least and greatest value.

    Instants are made from their numbers, since pyarrow imports pandas for a zone; durations, too, since Parquet knows
    of no unit, and files of a source may have different ones.
    """
    if pa.types.is_duration(stored):
        unit = timedelta(microseconds=MICROSECONDS[stored.unit])
        return statistics.min_raw * unit, statistics.max_raw * unit
    if pa.types.is_timestamp(stored) and stored.tz is not None:
        unit = timedelta(microseconds=MICROSECONDS[stored.unit])
        return EPOCH + statistics.min_raw * unit, EPOCH + statistics.max_raw * unit
    return statistics.min, statistics.max
