"""The parts of a Parquet file of a store that a plan needs, as a local file: column chunks of row groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gpuetl.formats.footers import Footer
from gpuetl.formats.parquet_footer import MAGIC
from gpuetl.places.filesystem import OpenFile
from gpuetl.places.objects.ranges import Range
from gpuetl.places.partial_copy import partial_copy
from gpuetl.places.parts_in_memory import PartsInMemory
from gpuetl.types.data_types import DataType
from gpuetl.types.nested_types import is_struct


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


def chunks_in_memory(file: OpenFile, footer: Footer, groups: Sequence[int], types: Mapping[str, DataType]) -> Any:
    """Return the same as a `pyarrow.NativeFile` in memory, which the caller closes."""
    ranges = chunk_ranges(footer, groups, types, file.state.size)
    return PartsInMemory.of_ranges(file, ranges, metadata_parts(footer, file.state.size)).for_arrow()


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
