"""The parts of a Parquet file of a store that a plan needs, as a local file: column chunks of row groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from gpuetl.formats.footers import Footer
from gpuetl.formats.parquet_footer import MAGIC
from gpuetl.io.data_file import DataFile
from gpuetl.places.filesystem import OpenFile
from gpuetl.places.objects.ranges import SMALL_BYTES, Range
from gpuetl.places.open_file import opened
from gpuetl.places.partial_copy import partial_copy
from gpuetl.places.parts_in_memory import PartsInMemory
from gpuetl.places.reading_ahead import results_ahead
from gpuetl.places.registry import local_path
from gpuetl.types.data_types import DataType
from gpuetl.types.nested_types import is_struct, narrowed_type

NO_FIELDS: Mapping[str, DataType] = {}
PART_BYTES = 32 << 20
"""Bytes of column chunks of a store that are read and decoded at a time, while the next ones are under way."""


@contextmanager
def chunks_here(file: OpenFile, footer: Footer, groups: Sequence[int], types: Mapping[str, DataType]) -> Iterator[Path]:
    """Give the path of a local file with the metadata of a Parquet file, and the chunks of some columns.

    Of structs these are the leaves that the types have.

    The metadata was read before, and is not asked for again.

    Raises
    ------
    DatasetError, OSError
        For a file that has changed, or cannot be read.
    """
    ranges = chunk_ranges(footer, groups, types, file.state.size)
    with partial_copy(file, ranges, metadata_parts(footer, file.state.size)) as path:
        yield path


class FileChunks(NamedTuple):
    """Columns of row groups of one file that are read together."""

    file: DataFile
    footer: Footer
    groups: Sequence[int]
    types: Mapping[str, DataType]

    @classmethod
    def of(
        cls,
        file: DataFile,
        footer: Footer,
        groups: Sequence[int],
        names: Iterable[str],
        fields: Mapping[str, DataType] = NO_FIELDS,
    ) -> FileChunks:
        """Return those of the columns that a file has, of structs in `fields` only the fields that they have there."""
        stored = {name: footer.stored[name] for name in names if name in footer.stored}
        types = {name: narrowed_type(own, fields[name]) if name in fields else own for name, own in stored.items()}
        return cls(file, footer, groups, types)

    @property
    def rows(self) -> int:
        """The rows of the row groups, as the metadata declares them."""
        return sum(self.footer.metadata.groups[group][0] for group in self.groups)

    def ranges(self, size: int) -> list[Range]:
        """Return where the column chunks are in a file of `size` bytes."""
        return list(chunk_ranges(self.footer, self.groups, self.types, size))

    @property
    def is_remote(self) -> bool:
        """Whether the file is in a store."""
        return local_path(self.file.path) is None

    @property
    def bytes(self) -> int:
        """The bytes that are read of a file whose state is known."""
        size = self.file.state.size if self.file.state else 0
        return size if size <= SMALL_BYTES else sum(one.end - one.start for one in self.ranges(size))


def parts_of_chunks(chunks: FileChunks) -> list[FileChunks]:
    """Cut row groups of a file of a store into parts of at most `PART_BYTES` each, or one row group."""
    if len(chunks.groups) < 2 or not chunks.is_remote:
        return [chunks]
    parts, size = list[list[int]](), PART_BYTES
    for group in chunks.groups:
        own = chunks._replace(groups=[group]).bytes
        if size + own > PART_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(group)
        size += own
    return [chunks._replace(groups=part) for part in parts]


def sources_of(chunks: Sequence[FileChunks]) -> Iterator[AbstractContextManager[Any]]:
    """Yield for each of the chunks a context with a `pyarrow.NativeFile`.

    Threads read chunks of stores while earlier ones are used.  A context raises `DatasetError` or `OSError` for a file
    that has changed, or cannot be read.
    """
    if any(one.is_remote for one in chunks):
        yield from map(entered, results_ahead(chunks_in_memory, chunks, lambda one: one.bytes))
    else:
        yield from map(local_file, chunks)


@contextmanager
def entered(source: Callable[[], Any]) -> Iterator[Any]:
    """Give a file of Arrow when it is there, for the block."""
    with source() as file:
        yield file


@contextmanager
def local_file(chunks: FileChunks) -> Iterator[Any]:
    """Give a local file for the block."""
    with opened(chunks.file.path, chunks.file.state) as file, file.for_arrow() as source:
        yield source


def chunks_in_memory(chunks: FileChunks) -> Any:
    """Return a `pyarrow.NativeFile` in memory with column chunks of a file of a store; a small one is read whole."""
    with opened(chunks.file.path, chunks.file.state) as file:
        size = file.state.size
        if size <= SMALL_BYTES:
            return file.for_arrow()
        return PartsInMemory.of_ranges(file, chunks.ranges(size), metadata_parts(chunks.footer, size)).for_arrow()


def metadata_parts(footer: Footer, size: int) -> dict[int, bytes]:
    """Return the metadata of a file of `size` bytes, and the marks at its ends, by their offsets."""
    data = footer.metadata.data
    tail = data + len(data).to_bytes(4, "little") + MAGIC
    return {0: MAGIC, size - len(tail): tail}


def chunk_ranges(footer: Footer, groups: Sequence[int], types: Mapping[str, DataType], size: int) -> Iterator[Range]:
    """Yield where the chunks of columns in row groups are, as far as the file of `size` bytes goes."""
    places = leaf_places(footer, types)
    for group in groups:
        for place in places:
            chunk = footer.metadata.groups[group][1][place]
            start = max(0, min(chunk.start, size))
            yield Range(start, max(start, min(chunk.start + chunk.compressed_bytes, size)))


def leaf_places(footer: Footer, types: Mapping[str, DataType]) -> list[int]:
    """Return the places of the leaves of columns; of structs those of the fields that the types have."""
    schema = footer.metadata.schema
    fields = {name: field_paths(dtype) for name, dtype in types.items() if dtype != footer.stored[name]}
    found = list[int]()
    for place, leaf in enumerate(schema.leaves):
        name = schema.arrow.names[leaf.column]
        paths = fields.get(name, ((),))
        if name in types and any(leaf.path[1 : 1 + len(path)] == path for path in paths):
            found.append(place)
    return found


def field_paths(dtype: DataType) -> tuple[tuple[bytes, ...], ...]:
    """Return the paths of the fields of a struct, down to those that are no structs."""
    if not is_struct(dtype):
        return ((),)
    return tuple((field.name.encode(), *path) for field in dtype for path in field_paths(field.type))
