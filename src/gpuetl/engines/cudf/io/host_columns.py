"""Columns of Parquet files that libcudf reads otherwise than Arrow: Arrow reads them, on the CPU.

libcudf does not check all that Arrow checks, and reads some files wrongly without an error.  What tells these files is
in the footer, and for two kinds of column chunks in the headers of their pages.

| what | libcudf 26.10 |
|---|---|
| a page of several gzip members | zeros after the first one |
| INT96 times before 1677 or after 2262 | wrap around (github.com/rapidsai/cudf/issues/22930) |
| delta encodings whose widths cannot be | values, without an error; what gpuetl wrote itself is read by libcudf |
| lists whose first value goes on with another list | values, without an error |
| other codecs than snappy, gzip, zstd and lz4_raw | not supported, or wrong in some versions (issues/9546, 10602) |
| metadata that contradicts the schema or the rows | values of another column, or an error of CUDA |
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

import pyarrow as pa

from gpuetl.formats.footers import Footer
from gpuetl.formats.parquet_chunks import Chunk, Leaf
from gpuetl.formats.parquet_footer import BYTE_ARRAY, INT96, StoredSchema
from gpuetl.formats.parquet_pages import (
    GZIP,
    LZ4_RAW,
    SNAPPY,
    UNCOMPRESSED,
    ZSTD,
    BadPages,
    check_checksums,
    check_first_repetition,
    check_gzip_members,
)
from gpuetl.threads import in_threads
from gpuetl.types.nested_types import children_of, is_list, is_map, is_nested

CODECS = (UNCOMPRESSED, SNAPPY, GZIP, ZSTD, LZ4_RAW)
PLAIN, PLAIN_DICTIONARY, RLE, BIT_PACKED, RLE_DICTIONARY, BYTE_STREAM_SPLIT = 0, 2, 3, 4, 8, 9
ENCODINGS = frozenset((PLAIN, PLAIN_DICTIONARY, RLE, BIT_PACKED, RLE_DICTIONARY, BYTE_STREAM_SPLIT))
DELTA_ENCODINGS = frozenset((5, 6, 7))
OWN = "gpuetl version "
Placed = tuple[Leaf, Chunk, int]
"""A chunk, its leaf, and the rows of its row group."""
Wanted = tuple[tuple[int, ...], tuple[str, ...]]
"""Row groups, and names of columns."""
MOST_KEPT = 16


class OfFooter(NamedTuple):
    """What a footer tells: the reasons by column, and the columns whose pages have to be looked at."""

    reasons: dict[str, str]
    walked: dict[str, list[Placed]]


_KEPT: WeakKeyDictionary[Footer, dict[Wanted, OfFooter]] = WeakKeyDictionary()
"""What footers told of the row groups and columns of earlier runs: a chunk of a column takes 2 µs."""


def host_columns(path: Path, footer: Footer, groups: Sequence[int], names: Sequence[str]) -> dict[str, str]:
    """Return the columns that Arrow has to read, each with the reason."""
    kept, wanted = _KEPT.setdefault(footer, {}), (tuple(groups), tuple(names))
    found = kept.get(wanted)
    if found is None:
        if len(kept) >= MOST_KEPT:
            kept.clear()
        found = kept[wanted] = of_footer(footer, groups, names)
    return found.reasons | (page_reasons(path, found.walked) if found.walked else {})


def of_footer(footer: Footer, groups: Sequence[int], names: Sequence[str]) -> OfFooter:
    """Return what the footer tells of some row groups and columns."""
    schema = footer.metadata.schema
    if schema.other_names:
        return OfFooter(dict.fromkeys(names, "the file has a column whose name is not UTF-8"), {})
    known = ENCODINGS | DELTA_ENCODINGS if footer.metadata.created_by.startswith(OWN) else ENCODINGS
    ambiguous, reasons, walked = nested_paths(schema.leaves), dict[str, str](), dict[str, list[Placed]]()
    old = old_lists(schema)
    decimals = decimal_leaves(schema, old)
    for name, placed in chunks_of(footer, groups, names).items():
        if name in ambiguous:
            reasons[name] = "a nested column has an inner column of that path"
        elif is_nested(schema.arrow.field(name).type) and any(
            "." in name or other.startswith(f"{name}.") for other in schema.arrow.names
        ):
            reasons[name] = "libcudf takes a dot in a name for a field"
        elif name in old:
            reasons[name] = "its lists are written in an old form"
        elif reason := next(filter(None, (footer_reason(*each, decimals, known) for each in placed)), ""):
            reasons[name] = reason
        elif any(chunk.codec == GZIP or leaf.most_repetitions for leaf, chunk, _ in placed):
            walked[name] = placed
    return OfFooter(reasons, walked)


def chunks_of(footer: Footer, groups: Sequence[int], names: Iterable[str]) -> dict[str, list[Placed]]:
    """Return the chunks of columns in row groups."""
    schema, wanted = footer.metadata.schema, dict.fromkeys(names)
    columns = schema.arrow.names
    places = [(place, leaf) for place, leaf in enumerate(schema.leaves) if columns[leaf.column] in wanted]
    found: dict[str, list[Placed]] = {}
    for rows, chunks in (footer.metadata.groups[group] for group in groups):
        for place, leaf in places:
            found.setdefault(columns[leaf.column], []).append((leaf, chunks[place], rows))
    return found


def nested_paths(leaves: Iterable[Leaf]) -> set[str]:
    """Return the paths of what lies inside columns, as libcudf writes them: a column may have such a name."""
    nested = (accumulate(leaf.path, lambda above, name: above + b"." + name) for leaf in leaves if len(leaf.path) > 1)
    return {path.decode() for paths in nested for path in list(paths)[1:]}


def old_lists(schema: StoredSchema) -> set[str]:
    """Return the columns with lists or maps that are not three levels each, as Parquet has had them since 2014.

    Readers have rules for older forms, which differ.
    """
    found = set[str]()
    for place, leaves in leaves_of(schema).items():
        dtype = schema.arrow.types[place]
        if is_nested(dtype) and [len(leaf.path) for leaf in leaves] != [depth for depth, _ in typed_leaves(dtype)]:
            found.add(schema.arrow.names[place])
    return found


def decimal_leaves(schema: StoredSchema, old: Container[str]) -> set[Leaf]:
    """Return the leaves that have decimals, of columns without lists of an old form."""
    found = set[Leaf]()
    for place, leaves in leaves_of(schema).items():
        types = [dtype for _, dtype in typed_leaves(schema.arrow.types[place])]
        if schema.arrow.names[place] not in old and len(types) == len(leaves):
            found |= {leaf for leaf, dtype in zip(leaves, types, strict=True) if pa.types.is_decimal(dtype)}
    return found


def leaves_of(schema: StoredSchema) -> dict[int, list[Leaf]]:
    """Return the leaves of each column by its place."""
    found = dict[int, list[Leaf]]()
    for leaf in schema.leaves:
        found.setdefault(leaf.column, []).append(leaf)
    return found


def typed_leaves(dtype: pa.DataType) -> Iterator[tuple[int, pa.DataType]]:
    """Yield for each leaf of a type how many names lead to it in Parquet, and its own type."""
    levels, children = 2 if is_list(dtype) or is_map(dtype) else 1, children_of(dtype)
    if not children:
        yield 1, dtype
    for child in children:
        yield from ((levels + depth, leaf) for depth, leaf in typed_leaves(child))


def footer_reason(leaf: Leaf, chunk: Chunk, rows: int, decimals: Container[Leaf], known: frozenset[int]) -> str:
    """Say why Arrow has to read a chunk, as far as the footer tells."""
    levels = leaf.most_definitions or leaf.most_repetitions
    if leaf.physical == INT96:
        return "it has INT96 times"
    if chunk.codec not in CODECS:
        return "libcudf does not support its compression"
    if not known.issuperset(chunk.encodings) or (
        BIT_PACKED in chunk.encodings and levels and RLE not in chunk.encodings
    ):
        return "libcudf does not check its encoding"
    if leaf.physical == BYTE_ARRAY and leaf in decimals:
        return "its decimals have different lengths"
    if chunk.path != leaf.path or (not leaf.most_repetitions and chunk.values != rows):
        return "its metadata contradicts the schema"
    return ""


def page_reasons(path: Path, columns: dict[str, list[Placed]]) -> dict[str, str]:
    """Return those of the columns that Arrow has to read because of their pages, with the reasons."""
    reasons: dict[str, str] = {}
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        for name, placed in columns.items():
            try:
                for leaf, chunk, _ in placed:
                    check_pages(descriptor, leaf, chunk)
            except BadPages as error:
                reasons[name] = str(error)
    finally:
        os.close(descriptor)
    return reasons


def check_pages(descriptor: int, leaf: Leaf, chunk: Chunk) -> None:
    """Raise `BadPages` for a chunk whose pages libcudf reads wrongly."""
    if chunk.codec == GZIP:
        check_gzip_members(descriptor, chunk)
    if leaf.most_repetitions:
        check_first_repetition(descriptor, chunk, leaf)


def verify_checksums(path: Path, footer: Footer, groups: Sequence[int], names: Sequence[str]) -> None:
    """Raise `BadPages` where a page of a column has another checksum than its header has; threads read all pages."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        chunks = [chunk for placed in chunks_of(footer, groups, names).values() for _, chunk, _ in placed]
        in_threads(lambda chunk: check_checksums(descriptor, chunk), chunks)
    finally:
        os.close(descriptor)
