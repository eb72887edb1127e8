"""Parquet footers, each read once while its file stays as it is: schema, row groups, and ranges of columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from math import inf
from pathlib import Path
from typing import Any

import pyarrow as pa

from gpuetl.expressions.types import DataType
from gpuetl.io.dataset import ColumnValues, DataFile, DatasetError, RowGroup
from gpuetl.io.file_state import FileState
from gpuetl.io.open_file import OpenFile, opened
from gpuetl.io.parquet_footer import (
    DECRYPT,
    BadFooter,
    Chunk,
    FileMetadata,
    Leaf,
    StoredSchema,
    footer_bytes,
    read_footer,
)
from gpuetl.io.parquet_limits import Limits, limits_of
from gpuetl.messages import coded, recoded
from gpuetl.out_of_memory import done_again, release_host_memory, told_of_host

PLAIN = 0
SAMPLED_FILES = 4
"""Of so many files, spread over all of them, the first and the last row group tell how wide texts and lists are."""
MOST_BITS = 32
OFFSET_BYTES = 4
"""Where a text or list begins: Parquet's length of a text and Arrow's offset take as many."""
MOST_KEPT = 1024
SETTLED_NS = 1_000_000_000
"""A file that changed less than this ago may change again within one tick of its file system's clock."""


class Group:
    """A row group: its rows, the bytes of each column in the file, and the columns' limits, decoded when asked for.

    `chunks` has those of each column, with the leaves whose values they are.
    """

    def __init__(self, rows: int, chunks: Sequence[Chunk], schema: StoredSchema) -> None:
        self.rows = rows
        self.chunks: dict[str, list[Chunk]] = {}
        self._schema, self._first = schema, dict[str, Leaf]()
        names = schema.arrow.names
        for leaf, chunk in zip(schema.leaves, chunks, strict=True):
            name = names[leaf.column]
            self.chunks.setdefault(name, []).append(chunk)
            self._first.setdefault(name, leaf)
        self.file_bytes = {name: sum(one.compressed_bytes for one in each) for name, each in self.chunks.items()}
        self._limits: dict[str, Limits | None] = {}

    def limits(self, name: str) -> Limits | None:
        """Return (least, greatest, nulls) of a column, None where its statistics do not bound every value."""
        if name not in self._limits:
            leaf = self._first.get(name)
            stored = None if leaf is None else self._schema.arrow.field(leaf.column).type
            self._limits[name] = None if leaf is None else limits_of(self.chunks[name][0], leaf, stored)
        return self._limits[name]


class Footer:
    """What the footer of one file says, which was in a `state`; None where that may not tell of a later change."""

    def __init__(self, metadata: FileMetadata, state: FileState | None) -> None:
        self.metadata, self.state = metadata, state
        self.schema = metadata.schema.arrow

    @cached_property
    def repeated(self) -> str | None:
        """The name of two columns, if there is one."""
        names = Counter(self.schema.names)
        return min((name for name, count in names.items() if count > 1), default=None)

    @cached_property
    def stored(self) -> Mapping[str, Any]:
        """The Arrow types of the columns."""
        return {field.name: field.type for field in self.schema}

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The row groups."""
        return tuple(Group(rows, chunks, self.metadata.schema) for rows, chunks in self.metadata.groups)


def footer_of(path: Path, planned: FileState | None = None) -> Footer:
    """Return a file's footer, read anew where the file is not what it was.

    Raises
    ------
    DatasetError
        Where it is not what the plan saw.
    BadFooter, OSError, pa.ArrowException
        Where the file cannot be read or is not Parquet.
    """
    with opened(path, planned) as file:
        return kept_footer(file) if file.state.is_settled(SETTLED_NS) else Footer(read_metadata(file), None)


@lru_cache(MOST_KEPT)
def kept_footer(file: OpenFile) -> Footer:
    """Return the footer of a file that is in this state."""
    return Footer(read_metadata(file), file.state)


def read_metadata(file: OpenFile) -> FileMetadata:
    """Read a footer."""
    with file.open() as source:
        return read_footer(footer_bytes(source))


class Footers:
    """The footers of a source's files, as they are when they are first asked for."""

    def __init__(self) -> None:
        self.other_names: dict[str, bytes] = {}
        """Columns whose names are not UTF-8, by what stands for the names."""
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
            Where the file cannot be read or is not Parquet, has two columns of one name, or memory runs out.
        """
        if file.path not in self._footers:
            try:
                footer = done_again(lambda: footer_of(file.path, file.state), release_host_memory)
            except BadFooter as error:
                raise DatasetError(recoded(f"{file.path} {error}", error), error.hint) from None
            except MemoryError as error:
                what = f"out of memory: reading the metadata of {file.path}: {told_of_host(error)}"
                hint = "Write the file with fewer row groups or columns, or run where there is more memory."
                raise DatasetError(coded("GE2007", what), hint) from None
            except (OSError, pa.ArrowException) as error:
                raise DatasetError(
                    coded("GE1403", f"{file.path} is not a Parquet file that can be read: {str(error).splitlines()[0]}")
                ) from None
            if footer.repeated is not None:
                raise DatasetError(coded("GE1412", f"{file.path} has two columns named '{footer.repeated}'"))
            self.other_names |= footer.metadata.schema.other_names
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
        rows, values = sum(group.rows for group in self._sampled), sum(chunk.values for chunk in chunks)
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
        if hidden := footer.metadata.encrypted.intersection(planned):
            message = f"{file.path}: column '{min(hidden)}' is encrypted, and gpuetl has no keys"
            raise DatasetError(coded("GE1442", message), f"{DECRYPT}  Or leave it out: name the columns to read.")
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


def _text_bytes(chunk: Chunk) -> float:
    """Return the bytes of a chunk's texts with their offsets.

    Encoded as PLAIN they are that long in the file, before it is compressed.  Other encodings are shorter; the least
    and the greatest text tell then how long one is.
    """
    size, bounds = float(chunk.uncompressed_bytes), chunk.bounds or chunk.old_bounds
    if (PLAIN in chunk.encodings and chunk.dictionary_page is None) or bounds is None:
        return size
    return max(size, chunk.values * (OFFSET_BYTES + sum(map(len, bounds)) / 2))


def _distinct(chunk: Chunk) -> float:
    """Return how many distinct values a chunk has at most: those that its codes, of so many bits a row, can tell apart.

    The bytes of the dictionary are among those of the codes; where they are many, the number is far too large.
    """
    bits = 8 * chunk.uncompressed_bytes / max(1, chunk.values)
    return float(2**bits) if chunk.dictionary_page is not None and bits < MOST_BITS else inf


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
