"""Parquet footers, each read once while its file stays as it is: schema, row groups, and ranges of columns."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import inf
from threading import Lock
from typing import Any

import pyarrow as pa

from gpuetl.errors import StoreFailure
from gpuetl.formats.parquet_chunks import Chunk, Chunks, Leaf
from gpuetl.formats.parquet_footer import (
    BOOLEAN,
    DECRYPT,
    DOUBLE,
    FIRST_READ,
    FLOAT,
    INT32,
    INT64,
    INT96,
    FileMetadata,
    StoredSchema,
    footer_at,
    read_footer,
)
from gpuetl.formats.row_group_limits import Limits, limits_of
from gpuetl.formats.thrift_reader import BadFooter
from gpuetl.io.data_file import ColumnValues, DataFile, RowGroup
from gpuetl.memory_limits import done_again, host_memory_text, release_host_memory
from gpuetl.messages import coded, recoded
from gpuetl.places.file_state import DatasetError, FileState
from gpuetl.places.filesystem import OpenFile
from gpuetl.places.open_file import opened
from gpuetl.places.paths import FilePath
from gpuetl.places.reading_ahead import results_ahead
from gpuetl.places.registry import local_path
from gpuetl.types.data_types import DataType

PLAIN = 0
SAMPLED_FILES = 4
"""The first and the last row group of this many files, spread over all of them, show how wide texts and lists are."""
MOST_BITS = 32
OFFSET_BYTES = 4
"""Bytes of a text's length in Parquet, and of an offset in Arrow."""
MOST_KEPT_BYTES = 64 << 20
"""Footers that are kept, by their bytes in the files: those of 20,000 files of 30 columns.

In memory a footer takes three to eight times its bytes in the file, so at most 512 MB are kept.  A count does not bound
the memory: the footer of a file of 1,000 columns takes as much as those of 100 files of 10 columns.
"""
MOST_ENDS = 2048
"""Files whose last `FIRST_READ` bytes are in memory at a time: 128 MB."""
SETTLED_NS = 1_000_000_000
"""A file that changed less than this ago may change again within one tick of its file system's clock."""


class Group:
    """A row group: its rows, the bytes of each column in the file, and the columns' limits, decoded when asked for."""

    def __init__(self, rows: int, chunks: Chunks, schema: StoredSchema) -> None:
        self.rows = rows
        self.file_bytes = FileBytes(chunks, schema)
        self._chunks, self._schema = chunks, schema
        self._limits: dict[str, Limits | None] = {}

    @property
    def names(self) -> Iterable[str]:
        """The names of the columns."""
        return self._schema.places

    def first_chunk(self, name: str) -> Chunk | None:
        """Return the chunk of a column's first leaf, None for a column that is not there."""
        places = self._schema.places.get(name)
        return None if places is None else self._chunks[places[0]]

    def leaves(self, name: str) -> Iterator[tuple[Leaf, Chunk]]:
        """Yield the leaves of a column with their chunks."""
        for place in self._schema.places.get(name, ()):
            yield self._schema.leaves[place], self._chunks[place]

    def limits(self, name: str) -> Limits | None:
        """Return (least, greatest, nulls) of a column, None where its statistics do not bound every value."""
        if name not in self._limits:
            self._limits[name] = self._read_limits(name)
        return self._limits[name]

    def _read_limits(self, name: str) -> Limits | None:
        chunk = self.first_chunk(name)
        if chunk is None:
            return None
        leaf = self._schema.leaves[self._schema.places[name][0]]
        return limits_of(chunk, leaf, self._schema.arrow.field(leaf.column).type)


class FileBytes(Mapping[str, int]):
    """The bytes of each column of a row group in the file, added up when they are asked for.

    Those of a field of a struct are asked for by its path, as `s.a`.
    """

    def __init__(self, chunks: Chunks, schema: StoredSchema) -> None:
        self._chunks, self._schema, self._places = chunks, schema, schema.places

    def __getitem__(self, name: str) -> int:
        places = self._places[name] if name in self._places else self._schema.field_places[name]
        return sum(map(self._chunks.compressed_bytes, places))

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to another process as a dict: the footer stays here."""
        return dict, ({name: self[name] for name in (*self._schema.field_places, *self._places)},)


class Footer:
    """The footer of one file, and the `state` in which the file was read.

    The state is None for a file that changed less than a second before: it may change again without a new state.
    """

    def __init__(self, metadata: FileMetadata, state: FileState | None) -> None:
        self.metadata, self.state = metadata, state
        self.schema = metadata.schema.arrow

    @property
    def stored(self) -> Mapping[str, Any]:
        """The Arrow types of the columns."""
        return self.metadata.schema.types

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The row groups."""
        return tuple(Group(rows, chunks, self.metadata.schema) for rows, chunks in self.metadata.groups)


class KeptFooters:
    """The footers that were used last, by path, up to a number of bytes; threads may share it."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes, self.bytes, self.lock = most_bytes, 0, Lock()
        self.kept: OrderedDict[FilePath, tuple[Footer, int]] = OrderedDict()

    def find(self, path: FilePath, state: FileState) -> Footer | None:
        """Return the footer of a file that is in the same state as when it was read."""
        with self.lock:
            footer, _ = self.kept.get(path, (None, 0))
            if footer is None or footer.state != state:
                return None
            self.kept.move_to_end(path)
            return footer

    def keep(self, file: OpenFile, footer: Footer, size: int) -> None:
        """Keep a footer of `size` bytes, and drop those that were not used for longest."""
        with self.lock:
            self.bytes += size - self.kept.pop(file.path, (None, 0))[1]
            self.kept[file.path] = footer, size
            while self.bytes > self.most_bytes:
                self.bytes -= self.kept.popitem(last=False)[1][1]

    def clear(self) -> None:
        """Drop all footers."""
        with self.lock:
            self.kept.clear()
            self.bytes = 0


KEPT = KeptFooters(MOST_KEPT_BYTES)


def footer_of(path: FilePath, planned: FileState | None = None, end: Callable[[], bytes] | None = None) -> Footer:
    """Return a file's footer, read anew where the file is not what it was; `end` returns its last bytes, read before.

    One that is kept of the state that the plan saw is returned without a look at the file.  If the file has changed
    since, whoever reads it finds that.

    Raises
    ------
    DatasetError
        Where it is not what the plan saw.
    BadFooter, OSError, pa.ArrowException
        Where the file cannot be read or is not Parquet.
    """
    if planned is not None and (kept := KEPT.find(path, planned)) is not None:
        return kept
    with opened(path, planned) as file:
        is_settled = file.state.is_settled(SETTLED_NS)
        if is_settled and (kept := KEPT.find(path, file.state)) is not None:
            return kept
        read_at = file.read_at if end is None else FileWithEnd(file, end()).read_at
        data = footer_at(file.state.size, read_at)
        footer = Footer(read_footer(data), file.state if is_settled else None)
        if is_settled:
            KEPT.keep(file, footer, len(data))
        return footer


class FileWithEnd:
    """A file whose last bytes are in memory."""

    def __init__(self, file: OpenFile, end: bytes) -> None:
        self.file, self.end, self.start = file, end, file.state.size - len(end)

    def read_at(self, start: int, size: int) -> bytes:
        """Return bytes from a place on."""
        place = start - self.start
        return self.end[place : place + size] if place >= 0 else self.file.read_at(start, size)


def end_of(file: DataFile) -> bytes:
    """Return the last bytes of a file, in which a short footer is.

    Raises
    ------
    DatasetError, OSError
        For a file that has changed, or cannot be read.
    """
    with opened(file.path, file.state) as source:
        return source.read_at(max(0, source.state.size - FIRST_READ), FIRST_READ)


def release_kept_footers() -> None:
    """Drop the footers that are kept, collect garbage, and give back what Arrow's pool keeps."""
    KEPT.clear()
    release_host_memory()


class Footers:
    """The footers of a source's files, as they are when they are first asked for."""

    def __init__(self) -> None:
        self.other_names: dict[str, bytes] = {}
        """Columns whose names are not UTF-8, by what stands for the names."""
        self._footers: dict[FilePath, Footer] = {}
        self._ends: dict[FilePath, Callable[[], bytes]] = {}
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
                footer = done_again(
                    lambda: footer_of(file.path, file.state, self._ends.get(file.path)), release_kept_footers
                )
            except BadFooter as error:
                raise DatasetError(recoded(f"{file.path} {error}", error), error.hint) from None
            except MemoryError as error:
                what = f"out of memory: reading the metadata of {file.path}: {host_memory_text(error)}"
                hint = "Write the file with fewer row groups or columns, or run where there is more memory."
                raise DatasetError(coded("GE2007", what), hint) from None
            except StoreFailure as error:
                raise DatasetError(coded("GE1403", f"cannot read {file.path}: {error.strerror}")) from None
            except (OSError, pa.ArrowException) as error:
                raise DatasetError(
                    coded("GE1403", f"{file.path} is not a Parquet file that can be read: {str(error).splitlines()[0]}")
                ) from None
            if (repeated := footer.metadata.schema.repeated) is not None:
                raise DatasetError(coded("GE1412", f"{file.path} has two columns named '{repeated}'"))
            self.other_names |= footer.metadata.schema.other_names
            self._footers[file.path] = footer
        return self._footers[file.path]

    def ahead(self, files: Sequence[DataFile]) -> Iterator[DataFile]:
        """Yield files in order; threads read the ends of those of stores before their footers are asked for.

        The ends of `MOST_ENDS` files are read at a time, and then decoded: threads that wait for the interpreter while
        it decodes take longer for both.
        """
        unread = [file for file in files if local_path(file.path) is None and not self._is_known(file)]
        paths = {file.path: number for number, file in enumerate(unread)}
        for file in files:
            number = paths.get(file.path, -1)
            if number >= 0 and number % MOST_ENDS == 0:
                batch = unread[number : number + MOST_ENDS]
                ends = results_ahead(end_of, batch, lambda one: min(FIRST_READ, one.state.size if one.state else 0))
                self._ends = dict(zip((one.path for one in batch), list(ends), strict=True))
            yield file
            self._ends.pop(file.path, None)

    def load(self, files: Sequence[DataFile]) -> None:
        """Read the footers of all files that are not read yet, those of stores at the same time; see `footer`."""
        if len(self._footers) < len(files):
            for file in self.ahead(files):
                self.footer(file)

    def _is_known(self, file: DataFile) -> bool:
        kept = file.state is not None and KEPT.find(file.path, file.state) is not None
        return kept or file.path in self._footers

    def schema_of(self, file: DataFile) -> Any:
        """Return the file's Arrow schema, as stored."""
        return self.footer(file).schema

    def column_values(self, files: Sequence[DataFile], name: str) -> ColumnValues | None:
        """Estimate the values of a column of texts or lists from a few row groups; None where there are no rows."""
        if name not in self._values:
            self._values[name] = self._column_values(files, name)
        return self._values[name]

    def _column_values(self, files: Sequence[DataFile], name: str) -> ColumnValues | None:
        if not self._sampled:
            step = max(1, len(files) // SAMPLED_FILES)
            for footer in map(self.footer, files[::step][:SAMPLED_FILES]):
                self._sampled += [*footer.groups[:1], *footer.groups[1:][-1:]]
        chunks = list(filter(None, (group.first_chunk(name) for group in self._sampled if group.rows)))
        rows, values = sum(group.rows for group in self._sampled), sum(chunk.values for chunk in chunks)
        if not values:
            return None
        texts = sum(map(_text_bytes, chunks)) / values
        leaves = (leaf for group in self._sampled if group.rows for leaf in group.leaves(name))
        in_memory = sum(_leaf_bytes(*leaf) for leaf in leaves)
        return ColumnValues(values / rows, texts, max(map(_distinct, chunks)), in_memory / rows)

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
        if footer.schema is not self._alike and (self._alike is None or not footer.schema.equals(self._alike)):
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
    """Estimate the bytes of a chunk's texts with their offsets.

    With the encoding PLAIN, that is the size of the chunk before it is compressed.  Other encodings are shorter; then
    a text is taken to be as long as the mean of the least and the greatest one.
    """
    size, bounds = float(chunk.uncompressed_bytes), chunk.bounds or chunk.old_bounds
    if (PLAIN in chunk.encodings and chunk.dictionary_page is None) or bounds is None:
        return size
    return max(size, chunk.values * (OFFSET_BYTES + sum(map(len, bounds)) / 2))


LEAF_BYTES = {BOOLEAN: 1, INT32: 4, INT64: 8, INT96: 8, FLOAT: 4, DOUBLE: 8}


def _leaf_bytes(leaf: Leaf, chunk: Chunk) -> float:
    """Estimate the bytes in memory of a chunk's values, with an offset of each for every list that they are in."""
    offsets = float(OFFSET_BYTES * leaf.most_repetitions * chunk.values)
    if leaf.physical in LEAF_BYTES:
        return offsets + LEAF_BYTES[leaf.physical] * chunk.values
    return offsets + _text_bytes(chunk)


def _distinct(chunk: Chunk) -> float:
    """Return the most distinct values that a chunk with a dictionary can have: 2 to the power of the bits of a code.

    The bits of a code are the chunk's bits divided by its values.  They include the dictionary, so the number is far
    too large where that is large.
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
        return (name for name in dict.fromkeys((*self._group.names, *self._known)) if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
